"""How differences are told apart, and how inputs become smaller."""

from __future__ import annotations

from typing import Any

import pytest

from callbench.fuzz.edits import edited, edited_texts
from callbench.fuzz.places import Place, places
from callbench.fuzz.reduce import reduced
from callbench.peer import Answer, Failed, Misbehaved, Result, Unsupported


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (Result(1), Result(1.0)),
        (Result({"a": 1, "b": 2}), Result({"b": 2, "a": 1})),
        (Result({"required": ["a", "b"]}), Result({"required": ["b", "a"]})),
        (Failed("value_error", "one text"), Failed("value_error", "another")),
        (Result(1), Unsupported()),
    ],
)
def test_what_the_contract_counts_as_the_same_is_no_difference(
    expected: Answer, got: Answer
) -> None:
    assert not places(expected, got)


@pytest.mark.parametrize(
    ("expected", "got", "kind"),
    [
        (Result(1), Result(True), "value"),
        (Result([1, 2]), Result([2, 1]), "value"),
        (Result({"a": None}), Result({}), "value"),
        (Result(None), Failed("value_error"), "outcome"),
        (Failed("value_error"), Result(None), "outcome"),
        (Failed("value_error"), Failed("type_error"), "outcome"),
        (Result(1), Misbehaved("crash", ""), "misbehaved"),
        (Failed("internal", "KeyError"), Failed("internal", "KeyError"), "reference"),
        (Misbehaved("deadline", ""), Result(1), "reference"),
    ],
)
def test_a_difference_has_a_kind(expected: Answer, got: Answer, kind: str) -> None:
    assert {place.kind for place in places(expected, got)} == {kind}


def test_names_that_are_data_do_not_tell_differences_apart() -> None:
    first = places(Result({"properties": {"城市": {"type": "string"}}}), Result({"properties": {}}))
    other = places(Result({"properties": {"a/b": {"type": "string"}}}), Result({"properties": {}}))
    assert first == other == {Place("value", ("properties", "*"), "object", "nothing")}


def test_depth_does_not_tell_differences_apart() -> None:
    def nested(leaf: Any) -> Any:
        return {"properties": {"a": {"properties": {"b": leaf}}}}

    deep = places(Result(nested({"enum": [1]})), Result(nested({})))
    flat = places(Result({"properties": {"b": {"enum": [1]}}}), Result({"properties": {"b": {}}}))
    assert deep == flat


def test_keyword_and_types_tell_differences_apart() -> None:
    lost = places(Result({"type": "string"}), Result({}))
    other_keyword = places(Result({"enum": "string"}), Result({}))
    other_type = places(Result({"type": ["string"]}), Result({}))
    assert len(lost | other_keyword | other_type) == 3


def test_errors_of_another_check_are_another_difference() -> None:
    one = places(Failed("invalid_schema", '/a: "x" is no type'), Result(1))
    same = places(Failed("invalid_schema", '/b/c: "y" is no type'), Result(1))
    other = places(Failed("invalid_schema", "/a: the reference leads nowhere"), Result(1))
    assert one == same != other


def test_an_input_is_reduced_to_what_is_wanted() -> None:
    given = {
        "schema": {"properties": {"a": {"enum": [1, 2, 3]}, "b": {}}},
        "data": {"a": 1, "b": "x"},
    }
    small = reduced(given, lambda it: "enum" in str(it["schema"]) and "b" in it["data"], 500)
    assert small == {"schema": {"enum": []}, "data": {"b": ""}}


def test_reducing_keeps_the_type_of_every_value() -> None:
    given = {"text": "abcdef", "n": 12, "flag": True, "list": [[1], "x"], "object": {"a": {"b": 1}}}
    small = reduced(given, lambda it: True, 500)
    assert small == {"text": "", "n": 0, "flag": True, "list": [], "object": {}}


def test_reducing_renames_a_text_wherever_it_stands() -> None:
    def finds_its_step(given: dict[str, Any]) -> bool:
        steps = [record.get("stepId") for record in given["history"]]
        return given["path"].split("/")[0] in steps

    given = {"path": "step-one/k", "history": [{"stepId": "step-one"}]}
    assert reduced(given, finds_its_step, 500) == {"path": "a", "history": [{"stepId": "a"}]}


def test_reducing_stops_after_so_many_tries() -> None:
    tried: list[Any] = []
    reduced({"text": "x" * 1000}, lambda it: bool(tried.append(it)), 17)
    assert len(tried) == 17


def test_edits_leave_the_value_as_it_was_and_repeat() -> None:
    value = {"a": [1, {"b": None}], "c": "text"}
    before = str(value)
    assert edited(value, 12, 20) == edited(value, 12, 20)
    assert str(value) == before
    assert all(isinstance(near, dict) for near in edited(value, 12, 20))
    assert edited_texts("abc", 3, 5) == edited_texts("abc", 3, 5)
