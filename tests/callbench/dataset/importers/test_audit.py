"""The audit: what counts as a defect, and what is said somewhere in a case."""

from __future__ import annotations

from typing import Any

import pytest

from callbench.dataset.importers.audit import audit
from callbench.dataset.importers.base import KINDS, Defect, Draft, Excluded


def case(**fields: Any) -> dict[str, Any]:
    """A sound case."""
    return {
        "id": "1",
        "lang": "en",
        "tool": {"name": "t"},
        "schema": {"type": "object", "properties": {"a": {}}},
        "question": "q",
        "expected": {},
        **fields,
    }


def kinds(record: dict[str, Any], *defects: Defect) -> dict[str, str]:
    """Return the kind of each defect by its pointer."""
    found = audit(Draft("f#1", record, defects))
    assert not isinstance(found, Excluded)
    assert all(defect.kind in KINDS for defect in found[1])
    return {defect.pointer: defect.kind for defect in found[1]}


def said(value: Any, text: str, **fields: Any) -> bool:
    """Say whether the audit finds a value in the question."""
    return not kinds(case(question=text, expected={"a": value}, **fields))


class TestNotInCase:
    @pytest.mark.parametrize(
        ("value", "text"),
        [
            ("New York", "fly to NEW  YORK, please"),
            ("北京", "我想去北京玩"),
            ("ＡＢＣ", "code abc"),
            (5000, "a budget of 5,000 dollars"),
            (0.05, "at 5% interest"),
            (-3, "three below zero, so -3"),
            (2, "a table for two"),
            (2, "两个人"),
            (True, "nothing of it"),
            (None, "nothing of it"),
            (["x", 3], "x and 3"),
            ("", "nothing of it"),
        ],
    )
    def test_said(self, value: Any, text: str) -> None:
        schema = {"type": "object", "properties": {"a": {}}}
        assert said(value, text, schema=schema)

    @pytest.mark.trap("D18")
    @pytest.mark.parametrize(
        ("value", "text"),
        [
            ("York", "to Yorkshire"),
            ("Oslo", "to Bergen"),
            (1, "room 10"),
            (1.5, "15 of them"),
            ("上海", "我想去北京玩"),
            (["x", "y"], "only x"),
        ],
    )
    def test_not_said(self, value: Any, text: str) -> None:
        """TRAPS D18."""
        assert not said(value, text)

    @pytest.mark.parametrize(
        "fields",
        [
            {"facts": ["Oslo"]},
            {"summary": "Oslo"},
            {"conversation": [{"role": "user", "content": "Oslo"}]},
            {"steps": [{"step_id": "1", "output_data": {"city": "Oslo"}}]},
            {"schema": {"properties": {"a": {"enum": ["Oslo", "Rome"]}}}},
            {"schema": {"properties": {"a": {"default": "Oslo"}}}},
            {"schema": {"properties": {"a": {"description": "Use Oslo if unsure."}}}},
        ],
        ids=lambda fields: next(iter(fields)),
    )
    def test_every_part_of_a_case_counts(self, fields: dict[str, Any]) -> None:
        assert said("Oslo", "there", **fields)

    def test_it_is_reported_and_not_declared(self) -> None:
        found = audit(Draft("f#1", case(expected={"a": "Oslo"})))
        assert not isinstance(found, Excluded)
        record, (defect,) = found
        assert defect == Defect("/expected/a", "not-in-case", "'Oslo' occurs nowhere in the case.")
        assert "defects" not in record
        assert "tags" not in record


class TestDoubleEscaped:
    def test_text_with_one_level_too_many(self) -> None:
        record = case(question='say "hi" to 你好', expected={"a": '\\"hi\\"'})
        assert kinds(record) == {"/expected/a": "double-escaped"}

    def test_an_escape_the_user_wrote_himself_is_none(self) -> None:
        assert not kinds(case(question=r"the path C:\new", expected={"a": r"C:\new"}))

    def test_an_object_written_as_text(self) -> None:
        record = case(
            schema={"properties": {"a": {"type": "object"}}}, expected={"a": '{"b": [1]}'}
        )
        assert kinds(record) == {"/expected/a": "double-escaped"}


def test_what_the_importer_saw_is_kept_and_declared() -> None:
    defect = Defect("/id", "misaligned", "twice")
    found = audit(Draft("f#1", case(), (defect,)))
    assert not isinstance(found, Excluded)
    assert found[0]["defects"] == {"/id": "misaligned"}
    assert found[0]["tags"] == ["gold-defect"]


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"schema": {"type": "nonsense"}}, "unsound-schema"),
        ({"surprise": 1}, "unsound-unknown-field"),
        ({"expected": []}, "unsound-type"),
        ({"lang": "fr"}, "unsound-value"),
        ({"unfillable": ["/none"], "schema": {"additionalProperties": False}},
         "unsound-unfillable-pointer"),
        ({"data": {"a": 1}, "expected": {"a": 2}}, "unsound-expected-data"),
    ],
)  # fmt: skip
def test_what_no_case_can_be_is_left_out(fields: dict[str, Any], kind: str) -> None:
    found = audit(Draft("f#7", case(**fields)))
    assert isinstance(found, Excluded)
    assert (found.origin, found.kind) == ("f#7", kind)


@pytest.mark.trap("D17")
@pytest.mark.parametrize(
    ("schema", "value", "kind"),
    [
        ({"type": "string"}, None, "null-for-non-null"),
        ({"enum": ["a", "b"]}, "c", "outside-enum"),
        ({"type": "string", "enum": ["a", "b"]}, "a ", "outside-enum"),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, ["a", "c"], "outside-enum"),
        ({"type": "integer"}, "3", "breaks-schema"),
        ({"type": "integer"}, True, "breaks-schema"),
        ({"type": "array", "items": {"type": "integer"}}, ["3"], "breaks-schema"),
        ({"type": "string", "maxLength": 1}, "ab", "breaks-schema"),
        ({"type": "array"}, "[1]", "double-escaped"),
        ({"type": ["string", "null"]}, None, None),
        ({"type": "number"}, 3, None),
        ({}, None, None),
    ],
)
def test_the_kind_of_a_value_that_breaks_its_schema(schema: Any, value: Any, kind: Any) -> None:
    """The same kind whether the value is the expected one or merely accepted (TRAPS D17)."""
    made = {"type": "object", "properties": {"a": schema}}
    text = "a ab [1] 3 c b"
    found = kinds(case(schema=made, expected={"a": value}, question=text))
    assert {one for place, one in found.items() if one != "not-in-case"} == {kind} - {None}
    accepted = kinds(case(schema=made, accept={"/a": {"values": [value]}}, question=text))
    assert accepted == ({} if kind is None else {"/accept/~1a/values/0": kind})


def test_what_the_schema_does_not_declare() -> None:
    made = {"type": "object", "properties": {"a": {}}}
    found = kinds(case(schema=made, expected={"b": "q"}, accept={"/c": {"values": [1]}}))
    assert set(found.values()) == {"unknown-parameter"}
    assert set(found) == {"/expected/b", "/accept/~1c"}


@pytest.mark.parametrize(
    ("value", "text", "escaped"),
    [
        (r"a\\b", r"say a\b", True),
        (r"a\\b", r"say a\\b and a\b", False),
        (r"a\nb", "say a\nb", True),
        (r"a\nb", "say nothing", False),
    ],
)
def test_escaped_twice_only_where_the_case_has_it_once(
    value: str, text: str, escaped: bool
) -> None:
    found = kinds(case(question=text, expected={"a": value}))
    assert ("double-escaped" in found.values()) == escaped
