"""``--jobs``: several processes give what one gives, and none is left behind whatever happens."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from callbench.dataset.loader import load_dataset
from callbench.run.config import RunConfig
from callbench.run.jobs import Task, scored_by_workers

from .conftest import CASES, KEY, Invoke, case, right_answer, write_cases
from .synthetic_model import Answer, SyntheticModel
from .test_process import ignore_ctrl_c, result, start

RUN = ("run", "hotels.jsonl", "--model", "synthetic")
RECORD = ("record", "hotels.jsonl", "--model", "synthetic")
OWN = ("--system", "own_jobs:Own")

HEAD = """
import asyncio, os, socket, time
from pathlib import Path
from corecall.providers import TransportError
from corecall.slot.schema import SlotInput, SlotOutput
from corecall.slot.slot import Slot


class Own(Slot, input_model=SlotInput, output_model=SlotOutput):
    async def _exec(self, input_data):
        question = self._vars.question
        {what}
        async for chunk in super()._exec(input_data):
            yield chunk
"""


@pytest.fixture
def own(place: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], tuple[str, ...]]:
    """A Slot of the user's own that does something more, once it knows the ``question``."""
    monkeypatch.syspath_prepend(str(place))

    def write(what: str) -> tuple[str, ...]:
        monkeypatch.delitem(sys.modules, "own_jobs", raising=False)
        (place / "own_jobs.py").write_text(HEAD.format(what=what), encoding="utf-8")
        return OWN

    return write


def lines(directory: str | Path) -> list[bytes]:
    """The lines of ``cases.jsonl`` without what the clock decides, which stands last."""
    raw = Path(directory, "cases.jsonl").read_bytes()
    assert raw == b"" or raw.endswith(b"\n")
    return [re.sub(rb',"timing":\{[^}]*\}', b"", line) for line in raw.splitlines()]


def both(callbench: Invoke, *words: str) -> tuple[int, str]:
    """Run in one process and in three; what they end with and tell must be the same."""
    one = callbench(*RUN, *words, "--out", "one")
    several = callbench(*RUN, *words, "--out", "several", "--jobs", "3")
    assert (several.code, several.err) == (one.code, one.err)
    assert several.out.replace("several", "one") == one.out
    assert lines("several") == lines("one")
    return one.code, one.err


def gone(process: int) -> bool:
    """Whether a process ended, within ten seconds."""
    for _ in range(1000):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        if Path(f"/proc/{process}/stat").exists():
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
            if state == "Z":
                return True
        time.sleep(0.01)
    return False


class TestTheSameAsOneProcess:
    @pytest.mark.parametrize(
        "words",
        [
            (),
            ("--system", "stage2"),
            ("--system", "fewshot", "--shots", "1"),
            ("--repeats", "2"),
            ("--ask-optional", "--repair"),
            ("--concurrency", "2"),
            ("--lang", "en", "--tag", "odd"),
            ("--limit", "3", "--skip-tag", "even"),
        ],
        ids=" ".join,
    )
    def test_lines_of_a_run(self, callbench: Invoke, place: Path, words: tuple[str, ...]) -> None:
        write_cases(place / "hotels.jsonl", [*CASES, case(5, "南京", "zh"), case(6, "Riga")])
        assert callbench(*RECORD, *words).code == 0
        assert both(callbench, *words)[0] == 0
        assert len(lines("one")) > 1

    def test_a_system_of_the_users_own_that_also_prints(
        self, callbench: Invoke, own: Callable[[str], tuple[str, ...]]
    ) -> None:
        assert callbench(*RECORD).code == 0
        system = own("os.write(1, b'told on the way')")
        one = callbench(*RUN, *system, "--out", "one")
        several = callbench(*RUN, *system, "--out", "several", "--jobs", "2")
        assert (one.code, several.code) == (0, 0)
        assert several.err.count("told on the way") == len(CASES)
        assert lines("several") == lines("one")
        assert len(lines("one")) == len(CASES)

    def test_systems_that_ask_no_model(self, callbench: Invoke, place: Path) -> None:
        write_cases(place / "hotels.jsonl", [case(number, "Oslo") for number in range(1, 200)])
        assert both(callbench, "--system", "copy")[0] == 0
        assert [json.loads(line)["id"] for line in lines("several")] == [
            f"hotel-{number}" for number in range(1, 200)
        ]

    def test_missing_recordings(self, callbench: Invoke, place: Path) -> None:
        assert callbench(*RECORD).code == 0
        cases = [case(5, "Riga"), *CASES, case(6, "Bonn"), case(7, "Kyiv")]
        write_cases(place / "hotels.jsonl", cases)
        code, told = both(callbench)
        assert code == 5
        assert "3 of 7 cases lack a recording" in told
        assert "of case 'hotel-5'" in told

    def test_provider_errors(self, callbench: Invoke, model: SyntheticModel) -> None:
        def decide(body: dict[str, object]) -> Answer:
            return 400 if "Lyon" in str(body) or "Rome" in str(body) else right_answer(body)

        model.decide = decide
        assert callbench(*RECORD).code == 4
        code, told = both(callbench)
        assert code == 4
        assert "2 of 4 cases failed at the model" in told
        assert "(case hotel-3)" in told

    def test_an_endpoint_that_never_answered_is_given_up(
        self, callbench: Invoke, place: Path, own: Callable[[str], tuple[str, ...]]
    ) -> None:
        write_cases(place / "hotels.jsonl", [case(number, "Oslo") for number in range(1, 9)])
        code, told = both(callbench, *own("raise TransportError('synthetic outage')"))
        assert code == 4
        assert "The first 5 cases all failed" in told

    def test_a_deadline(self, callbench: Invoke, own: Callable[[str], tuple[str, ...]]) -> None:
        assert callbench(*RECORD).code == 0
        system = own("'Lyon' in question and await asyncio.sleep(60)")
        code, told = both(callbench, *system, "--deadline", "0.7")
        assert code == 4
        assert "no result within 0.7 seconds (case hotel-3)" in told

    def test_a_system_that_fails(
        self, callbench: Invoke, own: Callable[[str], tuple[str, ...]]
    ) -> None:
        assert callbench(*RECORD).code == 0
        code, told = both(callbench, *own("'Lyon' in question and {}['key']"))
        assert code == 2
        assert "case hotel-3: Own failed: KeyError: 'key'" in told
        assert len(lines("several")) == 2

    def test_no_network(self, callbench: Invoke, own: Callable[[str], tuple[str, ...]]) -> None:
        assert callbench(*RECORD).code == 0
        system = own("'Lyon' in question and socket.create_connection(('127.0.0.1', 9))")
        code, told = both(callbench, *system)
        assert code == 5
        assert "Replay opens no connection" in told

    def test_credentials_are_masked(
        self, callbench: Invoke, own: Callable[[str], tuple[str, ...]], place: Path
    ) -> None:
        assert callbench(*RECORD).code == 0
        system = own("raise TransportError('key ' + os.environ['SYNTHETIC_KEY'])")
        both(callbench, *system, "--limit", "3")
        raw = (place / "several" / "cases.jsonl").read_bytes()
        assert raw.count(b"key ***") == 3
        assert KEY.encode() not in raw


class TestWorkersThatDie:
    @pytest.mark.parametrize(
        ("how", "told"),
        [
            ("os.kill(os.getpid(), 9)", "was killed by SIGKILL"),
            ("os._exit(3)", "ended with code 3"),
        ],
    )
    def test_it_is_an_error_and_what_was_scored_before_is_kept(
        self, callbench: Invoke, own: Callable[[str], tuple[str, ...]], how: str, told: str
    ) -> None:
        assert callbench(*RECORD).code == 0
        system = own(f"'Lyon' in question and {how}")
        found = callbench(*RUN, *system, "--jobs", "2", "--out", "cut")
        assert found.code == 70
        assert re.search(rf"Worker \d of --jobs \(process \d+\) {told}", found.err)
        assert "fewer --jobs" in found.err
        assert [json.loads(line)["id"] for line in lines("cut")] == ["hotel-1", "hotel-2"]

    def test_all_of_them_before_they_begin(
        self, callbench: Invoke, own: Callable[[str], tuple[str, ...]], place: Path
    ) -> None:
        system = own("pass")
        with (place / "own_jobs.py").open("a", encoding="utf-8") as file:
            file.write("if os.getppid() == int(os.environ['PARENT']): os._exit(9)\n")
        os.environ["PARENT"] = str(os.getpid())
        try:
            found = callbench(*RUN, *system, "--jobs", "2")
        finally:
            del os.environ["PARENT"]
        assert found.code == 70
        assert "ended with code 9" in found.err


class TestSignals:
    @pytest.mark.parametrize(
        ("number", "before", "code"),
        [
            (signal.SIGINT, None, 130),
            (signal.SIGTERM, None, 143),
            (signal.SIGTERM, ignore_ctrl_c, 143),
            (signal.SIGKILL, None, -9),
        ],
        ids=["Ctrl-C", "SIGTERM", "SIGTERM in the background", "SIGKILL"],
    )
    def test_no_worker_outlives_the_command(
        self,
        callbench: Invoke,
        own: Callable[[str], tuple[str, ...]],
        place: Path,
        number: signal.Signals,
        before: Callable[[], None] | None,
        code: int,
    ) -> None:
        assert callbench(*RECORD).code == 0
        system = own(
            "Path(f'{os.getpid()}.pid').touch(); await asyncio.sleep(20 * ('Oslo' not in question))"
        )
        process = start(*RUN, *system, "--jobs", "2", "--out", "cut", before=before)
        found: list[int] = []
        while len(found) < 2 and process.poll() is None:
            time.sleep(0.01)
            found = [int(path.stem) for path in place.glob("*.pid")]
        assert len(found) == 2
        process.send_signal(number)
        ended = result(process)
        assert ended.code == code, ended
        assert "Traceback" not in ended.err
        if number != signal.SIGKILL:
            assert "interrupted" in ended.err
        assert all(map(gone, found))


class TestUsage:
    @pytest.mark.parametrize(
        "words",
        [
            ("--mode", "live"),
            ("--trace",),
            ("--impl", "python:corecall"),
            ("--faults", "all"),
            ("--pace", "real"),
        ],
        ids=" ".join,
    )
    def test_what_it_does_not_go_with(self, callbench: Invoke, words: tuple[str, ...]) -> None:
        found = callbench(*RUN, *words, "--jobs", "2")
        assert found.code == 2
        assert f"--jobs does not go with {words[0]}" in found.err

    @pytest.mark.parametrize("jobs", ["0", "-1", "many"])
    def test_a_number_of_at_least_one(self, callbench: Invoke, jobs: str) -> None:
        found = callbench(*RUN, "--jobs", jobs)
        assert found.code == 2
        assert "--jobs" in found.err

    def test_it_is_for_replay_and_not_of_record(self, callbench: Invoke) -> None:
        assert callbench(*RECORD, "--jobs", "2").code == 2


async def test_workers_do_not_run_far_ahead(
    place: Path, own: Callable[[str], tuple[str, ...]]
) -> None:
    """Memory stays flat: while nobody takes results, no more than a few ranges are worked on."""
    write_cases(place / "hotels.jsonl", [case(number, "Oslo") for number in range(1, 2001)])
    system = own("open('begun', 'ab', 0).write(b'.'); raise TransportError('synthetic')")
    dataset = load_dataset("hotels.jsonl")
    config = RunConfig("hotels.jsonl", "synthetic", system=system[1], jobs=2)
    results = scored_by_workers(Task(config, dataset, dataset))
    assert (await anext(results)).id == "hotel-1"
    await asyncio.sleep(1.5)  # they would get through all of it in this time
    before = (place / "begun").stat().st_size
    await results.aclose()
    assert 32 <= before <= 2 * 2 * 2 * 32 + 32
