"""The line of a scored case in ``cases.jsonl``."""

from __future__ import annotations

import json
from collections.abc import Callable

from callbench.dataset import Case
from callbench.scoring import Outcome, Spent, case_record, record_line, score_case

Make = Callable[..., Case]


def test_the_record_says_everything_and_what_the_clock_decides_comes_last(make_case: Make) -> None:
    case = make_case(
        {"a": {"type": "string"}, "b": {"type": ["string", "null"]}},
        {"a": "x", "b": None},
        tags=("t",),
        cluster="d",
    )
    outcome = Outcome(slot_data={"a": "X"}, filled_by={"/a": "stage1"}, error="")
    record = case_record(case, outcome, score_case(case, outcome), Spent(2, 100, 7, 12.3456, 1.0))
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
                "type": "string",
                "required": False,
                "expected": None,
            },
        ],
        "error": "",
        "calls": 2,
        "prompt_tokens": 100,
        "completion_tokens": 7,
        "timing": {"ms": 12.346, "first_event_ms": 1.0},
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
