"""``callbench run --trace``: what each call did, in the terminal and in ``trace.jsonl``."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from .conftest import CASES, KEY, Invoke, right_answer, write_cases
from .synthetic_model import SyntheticModel
from .test_run import without_times

RUN = ("run", "hotels.jsonl", "--model", "synthetic")
RECORD = ("record", "hotels.jsonl", "--model", "synthetic")
TRACED = (*RUN, "--mode", "live", "--trace", "--out", "run")

EXTRA = {"name": "book_hotel", "description": "Book a hotel"}


def events(directory: str = "run") -> list[dict[str, Any]]:
    text = Path(directory, "trace.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def own_slot(place: Path, body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "own_traced.py").write_text(
        "from corecall import *\n"
        "class Mine(Slot, input_model=SlotInput, output_model=SlotOutput):\n"
        f"    async def _exec(self, input_data):\n        {body}\n        yield\n"
    )
    monkeypatch.syspath_prepend(str(place))
    monkeypatch.delitem(sys.modules, "own_traced", raising=False)


class TestFile:
    def test_a_call_starts_gives_its_chunk_and_ends(self, callbench: Invoke) -> None:
        assert callbench(*TRACED, "--limit", "1").code == 0
        start, chunk, end = events()
        keys = {"case", "call", "event", "seconds", "extra"}
        assert set(start) == keys | {"arguments"}
        assert set(chunk) == keys | {"chunk"}
        assert set(end) == keys | {"response"}
        for event in (start, chunk, end):
            assert (event["case"], event["call"]) == ("hotel-1", "Slot")
            assert event["extra"] == EXTRA
        assert [event["event"] for event in (start, chunk, end)] == ["start", "chunk", "end"]
        required = json.loads(start["arguments"])["remaining_schema"]["required"]
        assert required == ["/city", "/nights"]
        filled = {"slot_data": {"city": "Oslo", "nights": 1}, "remaining_schema": {}}
        assert json.loads(chunk["chunk"]) == json.loads(end["response"]) == filled

    def test_times_count_from_the_start_of_the_call(
        self, callbench: Invoke, model: SyntheticModel
    ) -> None:
        def slow(body: dict[str, Any]) -> Any:
            time.sleep(0.05)
            return right_answer(body)

        model.decide = slow
        callbench(*TRACED, "--concurrency", "1")
        found = events()
        assert [one["seconds"] for one in found if one["event"] == "start"] == [0.0] * 4
        ends = [one["seconds"] for one in found if one["event"] == "end"]
        assert all(0.05 <= seconds < 10 for seconds in ends)

    def test_events_of_a_case_stay_together_in_the_order_of_the_dataset(
        self, callbench: Invoke
    ) -> None:
        callbench(*TRACED, "--concurrency", "4")
        cases = [one["id"] for one in CASES for _ in range(3)]
        assert [event["case"] for event in events()] == cases
        assert [event["event"] for event in events()] == ["start", "chunk", "end"] * 4

    def test_an_error_takes_the_place_of_the_end(
        self, callbench: Invoke, model: SyntheticModel
    ) -> None:
        model.decide = lambda body: 400 if "Lyon" in str(body) else right_answer(body)
        assert callbench(*TRACED).code == 4
        start, error = [event for event in events() if event["case"] == "hotel-3"]
        assert (start["event"], error["event"]) == ("start", "error")
        assert error["error"].startswith("TransportError: ")
        assert "HTTP 400" in error["error"]
        assert error["extra"] == EXTRA

    def test_a_call_that_a_deadline_cuts_off_has_only_begun(
        self, callbench: Invoke, model: SyntheticModel
    ) -> None:
        def slow(body: dict[str, Any]) -> Any:
            time.sleep(0.6 if "Oslo" in str(body) else 0)
            return right_answer(body)

        model.decide = slow
        assert callbench(*TRACED, "--deadline", "0.3").code == 4
        assert [event["event"] for event in events() if event["case"] == "hotel-1"] == ["start"]

    def test_each_chunk_is_an_event_before_the_end(
        self, callbench: Invoke, place: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        text = "yield CallOutputChunk(type=CallOutputType.TEXT, content='{}')"
        own_slot(place, f"{text.format('a')}; {text.format('b')}; return", monkeypatch)
        callbench(*TRACED, "--system", "own_traced:Mine", "--concurrency", "1")
        _, *chunks, end = [event for event in events() if event["case"] == "hotel-1"]
        assert [event["chunk"] for event in chunks] == ["a", "b"]
        assert end["response"] == "ab"

    def test_a_missing_recording_is_an_error_too(self, callbench: Invoke) -> None:
        assert callbench(*RUN, "--trace", "--out", "run").code == 5
        assert [event["event"] for event in events()] == ["start", "error"] * 4
        assert events()[1]["error"].startswith("CassetteMiss: ")

    def test_the_fault_that_ends_a_run_is_in_it(
        self, callbench: Invoke, place: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        own_slot(place, "raise KeyError('lost')", monkeypatch)
        assert callbench(*TRACED, "--system", "own_traced:Mine").code == 2
        start, error = events()[:2]
        assert (start["case"], start["call"]) == ("hotel-1", "Mine")
        assert error["error"] == "KeyError: 'lost'"

    @pytest.mark.parametrize("word", ["--quiet", "--json"])
    def test_a_key_is_masked_in_it(
        self, callbench: Invoke, place: Path, model: SyntheticModel, word: str
    ) -> None:
        model.decide = lambda body: json.dumps({"city": KEY, "nights": 3})
        write_cases(place / "hotels.jsonl", CASES[:1])
        assert callbench(*TRACED, word).code == 0
        assert KEY not in Path("run/trace.jsonl").read_text(encoding="utf-8")
        assert json.loads(events()[-1]["response"])["slot_data"]["city"] == "***"

    def test_only_a_traced_run_has_one(self, callbench: Invoke) -> None:
        assert callbench(*RECORD, "--out", "run").code == 0
        assert not Path("run/trace.jsonl").exists()

    def test_tracing_changes_no_result(self, callbench: Invoke, model: SyntheticModel) -> None:
        model.decide = lambda body: "sorry" if "Rome" in str(body) else right_answer(body)
        callbench(*RECORD, "--out", "plain")
        assert callbench(*RUN, "--trace", "--out", "traced").code == 0
        assert without_times("plain") == without_times("traced")

    def test_a_system_without_calls_leaves_it_empty(self, callbench: Invoke) -> None:
        found = callbench("run", "hotels.jsonl", "--system", "copy", "--trace", "--out", "run")
        assert found.code == 0
        assert events() == []

    @pytest.mark.parametrize("system", ["stage1", "stage2", "fewshot"])
    def test_it_names_the_system_that_was_called(self, callbench: Invoke, system: str) -> None:
        shots = ("--shots", "0") if system == "fewshot" else ()
        callbench(*TRACED, "--system", system, *shots, "--limit", "1")
        assert events()[0]["call"].lower() == system

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is full")
    def test_a_full_disk_is_named(self, callbench: Invoke, place: Path) -> None:
        (place / "run").mkdir()
        (place / "run" / "trace.jsonl").symlink_to("/dev/full")
        found = callbench(*TRACED)
        assert found.code == 2
        assert "run/trace.jsonl: No space left on device." in found.err


class TestTerminal:
    def test_it_is_shown_on_stderr_beside_the_tables(self, callbench: Invoke) -> None:
        found = callbench(*TRACED, "--concurrency", "4")
        assert "slot_data" not in found.out
        lines = found.err.splitlines()
        heads = [line for line in lines if not line.startswith(" ")]
        assert heads == [f"{one['id']}: Slot {json.dumps(EXTRA)}" for one in CASES]
        assert [line.split()[0] for line in lines[1:4]] == ["start", "chunk", "end"]
        assert '"required": ["/city", "/nights"]' in lines[1]
        assert lines[2].endswith(
            '{"slot_data": {"city": "Oslo", "nights": 1}, "remaining_schema": {}}'
        )

    def test_json_is_one_object_and_nothing_else(self, callbench: Invoke) -> None:
        found = callbench(*TRACED, "--json")
        assert found.json["cases"] == 4
        assert found.err == ""
        assert len(events()) == 12

    def test_quiet_shows_nothing(self, callbench: Invoke) -> None:
        found = callbench(*TRACED, "--quiet")
        assert (found.code, found.out, found.err) == (0, "", "")
        assert len(events()) == 12

    def test_a_text_cannot_write_over_the_terminal(
        self, callbench: Invoke, place: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        own_slot(place, r"raise ValueError('\x1b[2Jgone')", monkeypatch)
        found = callbench(*TRACED, "--system", "own_traced:Mine", "--concurrency", "1")
        (line,) = [line for line in found.err.splitlines() if line.startswith("  error")]
        assert "\x1b" not in line
        assert "gone" in line

    def test_a_key_is_masked_there(self, callbench: Invoke, model: SyntheticModel) -> None:
        model.decide = lambda body: json.dumps({"city": KEY, "nights": 3})
        found = callbench(*TRACED)
        assert '"city": "***"' in found.err
        assert KEY not in found.err
