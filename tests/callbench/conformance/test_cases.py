"""The suite's files: what a case may hold, and what is said of one that breaks a rule."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from callbench.bundled import bundled
from callbench.conformance.cases import Case, InvalidSuite, load_suite, select
from callbench.dataset.loader import bundled_names
from callbench.errors import DatasetError, ExitCode, UsageError

LINE: dict[str, Any] = {
    "id": "schema.check.4-7",
    "rule": "schema.check.4",
    "op": "slot.check",
    "input": {"schema": {"minimum": {"$float": "1.0"}}, "data": 2},
    "gives": {},
}


def suite(directory: Path, *lines: dict[str, Any] | str, name: str = "mine.jsonl") -> Path:
    path = directory / name
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def changed(**members: Any) -> dict[str, Any]:
    return {key: value for key, value in {**LINE, **members}.items() if value is not ...}


def test_a_line_is_a_case(tmp_path: Path) -> None:
    line = {**LINE, "compare": "ordered", "note": "why"}
    (case,) = load_suite(suite(tmp_path, line))
    assert case == Case(
        id="schema.check.4-7",
        op="slot.check",
        given={"schema": {"minimum": 1.0}, "data": 2},
        gives={},
        rule="schema.check.4",
        title=case.title,
        compare="ordered",
        note="why",
    )
    assert isinstance(case.given["schema"]["minimum"], float)
    assert case.title
    assert case.area == "schema"


def test_an_expected_error(tmp_path: Path) -> None:
    (case,) = load_suite(suite(tmp_path, changed(gives=..., error="invalid_schema")))
    assert (case.error, case.gives) == ("invalid_schema", None)


def test_null_is_a_result(tmp_path: Path) -> None:
    (case,) = load_suite(suite(tmp_path, changed(gives=None)))
    assert (case.error, case.gives) == ("", None)


def test_a_case_that_was_found_needs_no_rule(tmp_path: Path) -> None:
    (case,) = load_suite(suite(tmp_path, changed(rule=...)))
    assert (case.rule, case.area) == ("", "slot")


def test_the_rule_says_whether_a_case_is_an_extension(tmp_path: Path) -> None:
    lines = [
        changed(id="a.1", rule="core.model.3"),
        changed(id="a.2", rule="core.model.3", extension=False),
        changed(id="a.3", extension=True),
        changed(id="a.4"),
    ]
    cases = load_suite(suite(tmp_path, *lines))
    assert [case.extension for case in cases] == [True, False, True, False]


def test_files_of_a_directory_are_read_in_name_order(tmp_path: Path) -> None:
    suite(tmp_path, changed(id="b.1"), name="b.jsonl")
    suite(tmp_path, changed(id="a.1"), "", name="a.jsonl")
    assert [case.id for case in load_suite(tmp_path)] == ["a.1", "b.1"]


def test_the_bundled_suite_is_sound() -> None:
    cases = load_suite()
    assert len(cases) > 900
    assert all(case.title for case in cases)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "[json] Not JSON"),
        ("[]", "[object] The line is a list."),
        (changed(id=...), "/id [required] It is missing."),
        (changed(op=...), "/op [required]"),
        (changed(input=...), "/input [required]"),
        (changed(id="Schema 1"), '/id [value] "Schema 1" is no id.'),
        (changed(rule="schema.check.999"), '"schema.check.999" is no rule of the contract'),
        (changed(op="check"), '/op [value] "check" is no operation'),
        (changed(input=[]), "/input [value] [] is no object"),
        (changed(gives=...), "[expected] It needs gives or error, one of them."),
        (changed(error="key_error"), "[expected]"),
        (changed(gives=..., error="SchemaError"), '"SchemaError" is no kind of error'),
        (changed(gives=..., error="internal"), '"internal" is no kind of error'),
        (changed(compare="names"), "Comparators: json, ordered, set."),
        (changed(extension=1), "/extension [value] 1 is neither true nor false"),
        (changed(note=1), "/note [value] 1 is no text"),
        (changed(expect={}), '/expect [member] A case has no member "expect".'),
        (changed(gives={"$int": "x"}), '/gives [tag] {"$int": "x"} is no value of the tag'),
        (changed(input={"data": {"$float": 1}}), "/input [tag]"),
    ],
)
def test_a_bad_line_names_file_line_field_and_rule(
    tmp_path: Path, line: dict[str, Any] | str, says: str
) -> None:
    path = suite(tmp_path, changed(id="a.1"), line)
    with pytest.raises(InvalidSuite) as caught:
        load_suite(path)
    assert f"{path}:2: " in str(caught.value)
    assert says in str(caught.value)
    assert caught.value.exit_code is ExitCode.DATASET


def test_an_id_is_taken_once(tmp_path: Path) -> None:
    suite(tmp_path, LINE, name="a.jsonl")
    suite(tmp_path, LINE, name="b.jsonl")
    with pytest.raises(InvalidSuite, match=r"b\.jsonl:1: /id \[duplicate-id\].*a\.jsonl:1"):
        load_suite(tmp_path)


def test_a_case_may_try_the_limit_of_depth_and_hold_at_most_what_a_line_may(tmp_path: Path) -> None:
    def nested(levels: int) -> str:
        schema = '{"a":' * levels + "1" + "}" * levels
        return json.dumps(LINE).replace('"data": 2', f'"data": {schema}')

    assert load_suite(suite(tmp_path, nested(480)))
    with pytest.raises(InvalidSuite, match="more than 500 levels"):
        load_suite(suite(tmp_path, nested(520)))


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(InvalidSuite) as caught:
        load_suite(suite(tmp_path, changed(op="x"), changed(note=1)))
    assert [problem.line for problem in caught.value.problems] == [1, 2]


def test_no_cases_and_no_file(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="has no cases"):
        load_suite(tmp_path)
    with pytest.raises(UsageError, match="no suite"):
        load_suite(tmp_path / "x")


def test_the_suite_is_no_dataset() -> None:
    assert bundled_names(bundled("datasets")) == ["everyday"]


class TestSelect:
    CASES = tuple(
        Case(id=f"{rule}-1", op=op, given={}, rule=rule)
        for rule, op in [
            ("schema.check.1", "slot.check"),
            ("schema.check.10", "slot.places"),
            ("schema.checks.1", "slot.check"),
            ("reply.scan.1", "reply.process"),
        ]
    )

    def ids(self, **options: Any) -> list[str]:
        return [case.id for case in select(self.CASES, **options)]

    def test_everything(self) -> None:
        assert len(self.ids()) == 4

    def test_by_a_rule_or_a_prefix_of_rules(self) -> None:
        assert self.ids(rules=["schema.check.1"]) == ["schema.check.1-1"]
        assert self.ids(rules=["schema.check"]) == ["schema.check.1-1", "schema.check.10-1"]
        assert self.ids(rules=["schema."]) == self.ids(rules=["schema"])

    def test_by_operation_and_id(self) -> None:
        assert self.ids(ops=["slot.check"]) == ["schema.check.1-1", "schema.checks.1-1"]
        assert self.ids(ids=["reply.scan.1-1"]) == ["reply.scan.1-1"]

    def test_all_must_hold(self) -> None:
        assert self.ids(ops=["slot.check"], rules=["schema.check"]) == ["schema.check.1-1"]

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            ({"ops": ["slot.chek"]}, 'no operation "slot.chek".\nDid you mean slot.check'),
            ({"rules": ["schema.chek"]}, 'no rule "schema.chek"'),
            ({"ids": ["x"]}, 'no case "x"'),
            ({"ops": ["slot.check"], "rules": ["reply"]}, "No case is selected"),
        ],
    )
    def test_what_selects_nothing_is_an_error(self, options: dict[str, Any], says: str) -> None:
        with pytest.raises(UsageError) as caught:
            self.ids(**options)
        assert says in str(caught.value)
