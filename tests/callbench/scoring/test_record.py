"""The line of a scored case in ``cases.jsonl``."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callbench.dataset import Case, Tool
from callbench.scoring import (
    Outcome,
    Spent,
    case_record,
    record_line,
    score_case,
    scored_again,
    stored_outcome,
)
from corecall import pointer

Make = Callable[..., Case]


def test_the_record_says_everything_and_what_the_clock_decides_comes_last(make_case: Make) -> None:
    case = make_case(
        {"a": {"type": "string"}, "b": {"type": ["string", "null"]}},
        {"a": "x", "b": None},
        tags=("t",),
        cluster="d",
    )
    outcome = Outcome(slot_data={"a": "X"}, filled_by={"/a": "stage1"}, error="")
    record = case_record(
        case, outcome, score_case(case, outcome), Spent(2, 100, 7, 12.3456, 1.0, 1.23456, 50.0)
    )
    assert record == {
        "id": "c",
        "lang": "en",
        "tags": ["t"],
        "cluster": "d",
        "question": "q",
        "status": "ok",
        "exact": False,
        "exact_strict": False,
        "schema_valid": True,
        "repaired": False,
        "slot_data": {"a": "X"},
        "slots": [
            {
                "pointer": "/a",
                "verdict": "correct",
                "rung": "text",
                "stage": "stage1",
                "origin": "",
                "type": "string",
                "required": False,
                "expected": "x",
                "got": "X",
            },
            {
                "pointer": "/b",
                "verdict": "missing",
                "rung": "",
                "stage": "",
                "origin": "",
                "type": "string",
                "required": False,
                "expected": None,
            },
        ],
        "outcome": {"filled_by": {"/a": "stage1"}},
        "error": "",
        "calls": 2,
        "prompt_tokens": 100,
        "completion_tokens": 7,
        "timing": {
            "ms": 12.346,
            "first_event_ms": 1.0,
            "first_token_ms": 1.235,
            "tokens_per_second": 50.0,
        },
    }
    assert list(record)[-1] == "timing"


def test_a_provider_error_has_the_same_keys(make_case: Make) -> None:
    case = make_case({}, {})
    failed = Outcome(status="provider_error", error="429")
    fine = Outcome()
    records = [case_record(case, one, score_case(case, one), Spent()) for one in (failed, fine)]
    assert list(records[0]) == list(records[1])
    assert (records[0]["exact"], records[0]["error"]) == (None, "429")
    assert records[0]["prompt_tokens"] is None
    assert records[0]["timing"]["first_event_ms"] is None


def test_two_replays_differ_in_timing_only(make_case: Make) -> None:
    case = make_case({"a": {}}, {"a": 1})
    outcome = Outcome(slot_data={"a": 1})
    lines = [
        record_line(case_record(case, outcome, score_case(case, outcome), Spent(1, 2, 3, ms, ms)))
        for ms in (1.5, 2.5)
    ]
    heads = [line.partition(b',"timing":')[0] for line in lines]
    assert heads[0] == heads[1]
    assert lines[0] != lines[1]


def test_a_line_is_utf8_json_with_one_newline() -> None:
    line = record_line({"a": "杭州\n", "n": 1.0})
    assert line == '{"a":"杭州\\n","n":1.0}\n'.encode()


def test_what_orjson_cannot_write_is_written_all_the_same() -> None:
    record = {"n": 123456789012345678901234567890, "half": "\ud83d"}
    line = record_line(record)
    assert line.endswith(b"}\n")
    assert line.count(b"\n") == 1
    assert json.loads(line) == record


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=3)
POINTERS = st.text().map(lambda name: pointer.join([name]))
OUTCOMES = st.builds(
    Outcome,
    status=st.sampled_from(["ok", "unparsed", "provider_error"]),
    slot_data=OBJECTS,
    remaining_schema=OBJECTS,
    filled_by=st.dictionaries(POINTERS, st.sampled_from(["known", "stage1", "stage2"])),
    rejected=st.lists(st.tuples(POINTERS, VALUES, st.text())).map(tuple),
    undeclared=st.lists(st.tuples(POINTERS, VALUES)).map(tuple),
    asked=st.booleans(),
    repaired=st.booleans(),
    error=st.text(),
)
PLAIN = Case("c", "en", Tool("t"), {"type": "object"}, "q", {})


@given(OUTCOMES)
def test_the_outcome_is_rebuilt_exactly_and_the_line_with_it(outcome: Outcome) -> None:
    score = score_case(PLAIN, outcome)
    line = record_line(case_record(PLAIN, outcome, score, Spent(1, None, 7, 1.5, 1.0)))
    record = json.loads(line)
    rebuilt = stored_outcome(record)
    # repr: 1, 1.0 and true are told apart, and so is the order of keys.
    assert repr(rebuilt) == repr(outcome)
    assert rebuilt is not None
    assert record_line(scored_again(record, PLAIN, score_case(PLAIN, rebuilt))) == line


def test_what_a_record_has_beside_the_score_stays_where_it_is(make_case: Make) -> None:
    case = make_case({"a": {}}, {"a": 1})
    outcome = Outcome(slot_data={"a": 2})
    record = case_record(case, outcome, score_case(case, outcome), Spent(3))
    record = {"id": "c", "repeat": 4, **record}
    moved = make_case({"a": {}}, {"a": 2}, tags=("new",))
    again = scored_again(record, moved, score_case(moved, outcome))
    assert list(again) == list(record)
    assert (again["repeat"], again["calls"]) == (4, 3)
    assert (again["exact"], again["tags"], again["slots"][0]["expected"]) == (True, ["new"], 2)
    assert record["exact"] is False


def test_a_record_without_its_outcome_cannot_be_rebuilt(make_case: Make) -> None:
    case = make_case({}, {})
    record = case_record(case, Outcome(), score_case(case, Outcome()), Spent())
    del record["outcome"]
    assert stored_outcome(record) is None


@pytest.mark.parametrize(
    "broken",
    [
        {"slot_data": None},
        {"status": "fine"},
        {"outcome": 5},
        {"outcome": {"asked": True, "what": 2}},
        {"outcome": {"rejected": [1]}},
        {"outcome": {"filled_by": ["/a"]}},
    ],
)
def test_a_broken_outcome_is_an_error(make_case: Make, broken: dict[str, object]) -> None:
    case = make_case({}, {})
    record = case_record(case, Outcome(), score_case(case, Outcome()), Spent()) | broken
    with pytest.raises((KeyError, TypeError, ValueError)):
        stored_outcome(record)
