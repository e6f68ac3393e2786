"""``bfcl-ast`` against the official checker, on the same function, arguments and answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callbench.dataset import Accept, Case, Tool, load_dataset
from callbench.dataset.importers.writing import import_dataset
from callbench.scoring.official import SCORERS, score
from callbench.scoring.official.bfcl import check, inputs

from .conftest import CRASH, Official, lines, shared

FUNCTION = {
    "name": "geo.book",
    "parameters": {
        "type": "dict",
        "properties": {
            "city": {"type": "string"},
            "nights": {"type": "integer"},
            "price": {"type": "float"},
            "quiet": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "point": {"type": "tuple", "items": {"type": "float"}},
            "guest": {"type": "dict"},
            "stops": {"type": "array", "items": {"type": "dict"}},
            "free": {"type": "any"},
        },
        "required": ["city"],
    },
}
ANSWERS: dict[str, list[Any]] = {
    "city": ["New York, NY", "NYC"],
    "nights": [2],
    "price": [1.5, ""],
    "quiet": [True, ""],
    "tags": [["near sea", "A"], ""],
    "point": [[1.0, 2.5], ""],
    "guest": [{"name": ["Ann", "Anna"], "age": [30, ""]}, ""],
    "stops": [[{"at": ["Rome"]}, {"at": ["Bari", ""]}], ""],
    "free": ["x", ""],
}
GOLD = {"city": "NYC", "nights": 2}
HAND: list[tuple[dict[str, Any], str]] = [
    (GOLD, ""),
    ({"city": "new york ny", "nights": 2}, ""),  # D1: case, spaces, punctuation
    ({"city": "N.Y.C", "nights": 2}, ""),
    ({"nights": 2}, "simple_function_checker:missing_required"),
    ({"city": "NYC"}, "simple_function_checker:missing_optional"),
    ({**GOLD, "what": 1}, "simple_function_checker:unexpected_param"),
    ({"city": "Rome", "nights": 2}, "value_error:string"),
    ({"city": 5, "nights": 2}, "type_error:simple"),
    ({"city": "NYC", "nights": 3}, "value_error:others"),
    ({"city": "NYC", "nights": 2.0}, "type_error:simple"),  # a float does not do for an integer
    ({"city": "NYC", "nights": True}, "type_error:simple"),
    ({"city": "NYC", "nights": None}, "type_error:simple"),
    ({**GOLD, "price": 1.5}, ""),
    ({**GOLD, "price": 15}, "value_error:others"),  # an integer is taken for a float first
    ({**GOLD, "quiet": False}, "value_error:others"),
    ({**GOLD, "tags": ["Near-Sea", "a"]}, ""),
    ({**GOLD, "tags": ["a", "near sea"]}, "value_error:list/tuple"),
    ({**GOLD, "tags": []}, ""),  # "" among the answers of a list accepts the empty list
    ({**GOLD, "tags": [1]}, "value_error:list/tuple"),
    ({**GOLD, "point": [1.0, 2.5]}, ""),
    ({**GOLD, "guest": {"name": "anna"}}, ""),
    ({**GOLD, "guest": {"name": "Ann", "age": 31}}, "value_error:dict_value"),
    ({**GOLD, "guest": {"name": "Ann", "x": 1}}, "value_error:dict_key"),
    ({**GOLD, "guest": {"age": 30}}, "value_error:dict_key"),
    ({**GOLD, "stops": [{"at": "rome"}, {}]}, ""),
    (
        {**GOLD, "stops": [{"at": "Bari"}, {"at": "Rome"}]},
        "value_error:list_dict_count",
    ),  # of the last answer, ""
    ({**GOLD, "stops": [{"at": "Rome"}]}, "value_error:list_dict_count"),
    ({**GOLD, "free": "X"}, ""),
]


@pytest.mark.parametrize(("arguments", "error"), HAND)
def test_small_cases_by_hand(arguments: dict[str, Any], error: str) -> None:
    assert check(FUNCTION, arguments, ANSWERS) == error


@pytest.mark.parametrize("arguments", [arguments for arguments, _ in HAND])
def test_small_cases_as_the_official_code_has_them(
    arguments: dict[str, Any], bfcl_official: Official
) -> None:
    assert check(FUNCTION, arguments, ANSWERS) == bfcl_official(FUNCTION, arguments, ANSWERS)


SCALARS = st.sampled_from(["NYC", "nyc.", "", "x", "-5", "5", 2, 2.0, 1.5, 15, 0, True, None, -5])
ANYTHING = (
    SCALARS
    | st.lists(SCALARS, max_size=2)
    | st.dictionaries(st.sampled_from(["name", "age", "at"]), SCALARS, max_size=2)
    | st.lists(st.dictionaries(st.sampled_from(["at"]), SCALARS, max_size=1), max_size=2)
)


@given(
    arguments=st.dictionaries(st.sampled_from([*ANSWERS, "what"]), ANYTHING, max_size=4),
    full=st.booleans(),
)
def test_any_arguments_as_the_official_code_has_them(
    arguments: dict[str, Any], full: bool, bfcl_official: Official
) -> None:
    given_ = {**GOLD, **arguments} if full else arguments
    agree(check(FUNCTION, given_, ANSWERS), bfcl_official(FUNCTION, given_, ANSWERS))


def agree(ours: str, official: str) -> None:
    """Where the official code raises there is no verdict of it; ours is then wrong, and no crash."""
    assert ours == official or (official == CRASH and ours)


# -- BFCL's own files -----------------------------------------------------------------------------

PUBLIC = [("simple_python", 400, 399), ("live_simple", 258, 256)]


def answered(answers: dict[str, list[Any]]) -> dict[str, Any]:
    """The first answer of each parameter; those that may be left out first are left out."""
    first = {name: values[0] for name, values in answers.items() if values}
    return {name: plain(value) for name, value in first.items() if value != ""}


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: plain(right[0] if isinstance(right, list) and right else right)
            for key, right in value.items()
            if right[:1] != [""]
        }
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def mutations(arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Each slot dropped, altered, of another type, with and without punctuation."""
    for name, value in arguments.items():
        yield {key: other for key, other in arguments.items() if key != name}
        others: list[Any] = [f"{value}", [value], {"a": value}, None, True, 3, 3.5, "", []]
        if isinstance(value, str):
            others += [f"-{value}.", value.upper(), f"{value}x", value.replace(" ", "")]
        if isinstance(value, bool):
            others.append(not value)
        elif isinstance(value, int | float):
            others += [-value, float(value), value + 1]
        if isinstance(value, list):
            others += [value[::-1], [*value, *value[:1]], [str(item) for item in value]]
        if isinstance(value, dict):
            others += [{**value, "added": 1}, dict(list(value.items())[1:])]
            others += [{**value, key: f"{value[key]}?"} for key in value]
        yield from ({**arguments, name: other} for other in others)
    yield {**arguments, "added": 1}


@pytest.mark.parametrize(("category", "records", "right"), PUBLIC)
def test_public_gold_and_its_mutations_case_by_case(
    category: str, records: int, right: int, bfcl_official: Official
) -> None:
    questions = lines(shared("bfcl", f"BFCL_v4_{category}.json"))
    gold = lines(shared("bfcl", "possible_answer", f"BFCL_v4_{category}.json"))
    assert len(questions) == records
    by_id = {one["id"]: next(iter(one["ground_truth"][0].values())) for one in gold}
    official_right = compared = 0
    for question in questions:
        (function,) = question["function"]
        answers = by_id[question["id"]]
        arguments = answered(answers)
        official = bfcl_official(function, arguments, answers)
        assert check(function, arguments, answers) == official, question["id"]
        official_right += official == ""
        for mutated in mutations(arguments):
            official = bfcl_official(function, mutated, answers)
            agree(check(function, mutated, answers), official)
            compared += official != CRASH
    # Gold itself is not all right: some of it lacks a parameter its function requires.
    assert official_right == right
    assert compared > 10 * records


# -- through an import ------------------------------------------------------------------------------


def verdicts_agree(
    question: dict[str, Any], answers: dict[str, Any], case: Case, official: Official
) -> tuple[bool, int]:
    """Whether gold as the case has it is right for the official code, and how many were compared.

    The official code has BFCL's own function and answers, ours what the case holds of them.
    """
    (function,) = question["function"]
    ours = inputs(case)
    compared = 0
    for arguments in (case.expected, answered(answers), *mutations(answered(answers))):
        found = official(function, arguments, answers)
        agreed = found == CRASH or (found == "") == (check(ours[0], arguments, ours[1]) == "")
        assert agreed, (case.id, arguments, found)
        compared += found != CRASH
    return official(function, case.expected, answers) == "", compared


def test_an_imported_case_is_judged_as_its_source(tmp_path: Path, bfcl_official: Official) -> None:
    question = {
        "id": "simple_python_0",
        "question": [[{"role": "user", "content": "Two nights in New York near the sea for Ann"}]],
        "function": [{**FUNCTION, "description": "Book."}],
    }
    gold = {"id": "simple_python_0", "ground_truth": [{"geo.book": ANSWERS}]}
    (tmp_path / "possible_answer").mkdir()
    (tmp_path / "BFCL_v4_simple_python.json").write_text(json.dumps(question) + "\n", "utf-8")
    (tmp_path / "possible_answer" / "BFCL_v4_simple_python.json").write_text(
        json.dumps(gold) + "\n", "utf-8"
    )
    import_dataset("bfcl", [tmp_path / "BFCL_v4_simple_python.json"], tmp_path / "out")
    (case,) = load_dataset(tmp_path / "out").cases
    assert verdicts_agree(question, ANSWERS, case, bfcl_official)[0]


@pytest.mark.parametrize(("category", "records", "right"), [(*PUBLIC[0][:2], 400), PUBLIC[1]])
def test_imported_public_cases_are_judged_as_their_source(
    category: str, records: int, right: int, tmp_path: Path, bfcl_official: Official
) -> None:
    path = shared("bfcl", f"BFCL_v4_{category}.json")
    import_dataset("bfcl", [path], tmp_path / "out")
    questions = {one["id"]: one for one in lines(path)}
    gold = lines(shared("bfcl", "possible_answer", f"BFCL_v4_{category}.json"))
    by_id = {one["id"]: next(iter(one["ground_truth"][0].values())) for one in gold}
    cases = load_dataset(tmp_path / "out").cases
    assert len(cases) == records
    found = [
        verdicts_agree(questions[case.id], by_id[case.id], case, bfcl_official) for case in cases
    ]
    # What the case expects is right wherever any answer can be.
    assert sum(gold_right for gold_right, _ in found) == right
    assert sum(compared for _, compared in found) > 10 * records


# -- from a case ------------------------------------------------------------------------------------

CASE = Case(
    id="c",
    lang="en",
    tool=Tool("geo.book"),
    schema={
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "price": {"type": ["number", "null"]},
            "tags": {"type": "array", "items": {"type": "integer"}},
            "guest": {"type": "object", "properties": {"name": {"type": "string"}}},
            "phone": {"type": "string"},
            "unit": {"type": "string"},
        },
        "required": ["city", "phone"],
    },
    question="q",
    expected={"city": "New York, NY", "price": 1.5, "tags": [1, 2], "guest": {"name": "Ann"}},
    accept={
        "/city": Accept(("NYC",)),
        "/price": Accept(may_omit=True),
        "/guest/name": Accept(("Anna",), may_omit=True),
        "/unit": Accept(may_omit=True),
    },
    unfillable=("/phone",),
)


def test_a_case_becomes_the_official_inputs() -> None:
    function, answers = inputs(CASE)
    assert function == {
        "name": "geo.book",
        "parameters": {
            "type": "dict",
            "properties": {
                "city": {"type": "string"},
                "price": {"type": "float"},
                "tags": {"type": "array", "items": {"type": "integer"}},
                "guest": {"type": "dict"},
                "phone": {"type": "string"},
                "unit": {"type": "string"},
            },
            "required": ["city"],
        },
    }
    assert answers == {
        "city": ["New York, NY", "NYC"],
        "price": [1.5, ""],
        "tags": [[1, 2]],
        "guest": [{"name": ["Ann", "Anna", ""]}],
        "unit": [""],
    }


def right(arguments: dict[str, Any] | None) -> int:
    found: int = score("bfcl-ast", [CASE], {"c": arguments})["results"][0]["right"]
    return found


def test_gold_scores_one_and_any_mutated_slot_zero() -> None:
    assert right(CASE.expected) == 1
    for name, value in CASE.expected.items():
        assert right({**CASE.expected, name: [value, "other"]}) == 0, name
        dropped = {key: one for key, one in CASE.expected.items() if key != name}
        assert right(dropped) == int(name == "price"), name  # the one that may be left out
    assert right({**CASE.expected, "phone": "1"}) == 0
    assert right({**CASE.expected, "what": "1"}) == 0
    assert right({**CASE.expected, "guest": {"name": "Bob"}}) == 0
    assert right(None) == 0


@pytest.mark.trap("D1")
def test_the_official_rule_is_blind_to_signs_and_points_in_text() -> None:
    """TRAPS D1: what the documentation calls surprising is really so."""
    case = Case(
        "c", "en", Tool("t"),
        {"type": "object", "properties": {"a": {"type": "string"}}}, "q", {"a": "-5"},
    )  # fmt: skip
    for text, found in (("5", 1), ("-5", 1), ("50", 0)):
        assert SCORERS["bfcl-ast"].judge(case, {"a": text})["right"] == found
