"""The command as a process of its own: signals, streams, terminals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import Invoke, Result, right_answer
from .synthetic_model import SyntheticModel

RECORD = ("record", "hotels.jsonl", "--model", "synthetic")
RUN = ("run", "hotels.jsonl", "--model", "synthetic")


def start(
    *words: str, before: Callable[[], None] | None = None, **environment: str
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "callbench", *words],
        preexec_fn=before,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=os.environ
        | {"PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
        | environment,
    )


def result(process: subprocess.Popen[str]) -> Result:
    out, err = process.communicate(timeout=60)
    return Result(process.returncode, out, err)


def ignore_ctrl_c() -> None:
    """As a shell without job control starts what it puts into the background."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@pytest.mark.parametrize(
    ("number", "before", "code"),
    [
        (signal.SIGINT, None, 130),
        (signal.SIGTERM, None, 143),
        (signal.SIGTERM, ignore_ctrl_c, 143),
    ],
    ids=["Ctrl-C", "SIGTERM", "SIGTERM in the background"],
)
def test_a_signal_ends_it_with_its_code_says_so_and_the_rest_is_recorded_later(
    callbench: Invoke,
    place: Path,
    model: SyntheticModel,
    number: signal.Signals,
    before: Callable[[], None] | None,
    code: int,
) -> None:
    third = threading.Event()

    def slow(body: dict[str, Any]) -> Any:
        if "Lyon" in str(body):
            third.set()
            time.sleep(2)
        return right_answer(body)

    model.decide = slow
    process = start(*RECORD, "--concurrency", "1", "--out", "cut", before=before)
    assert third.wait(60)
    process.send_signal(number)
    interrupted = result(process)
    assert interrupted.code == code
    assert "interrupted" in interrupted.err
    assert "Traceback" not in interrupted.err
    assert (place / "cut" / "cases.jsonl").read_bytes().count(b"\n") == 2
    asked = len(model.bodies)
    model.decide = right_answer
    assert callbench(*RECORD).code == 0
    assert len(model.bodies) == asked + 2


@pytest.mark.usefixtures("place")
def test_signals_are_handled_as_before_when_the_command_is_done(callbench: Invoke) -> None:
    before = signal.getsignal(signal.SIGTERM)
    assert callbench("run", "hotels.jsonl", "--system", "copy").code == 0
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_terminal_that_lacks_characters_gets_question_marks(callbench: Invoke) -> None:
    assert callbench(*RECORD).code == 0
    shown = result(start(*RUN, PYTHONIOENCODING="ascii"))
    assert (shown.code, shown.err) == (0, "")
    assert "hotels ? slot" in shown.out


@pytest.mark.usefixtures("place")
def test_a_fault_of_ours_is_exit_70(callbench: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any) -> None:
        raise ZeroDivisionError("of ours")

    monkeypatch.setattr("callbench.run.execute.load_dataset", broken)
    found = callbench(*RUN, "--json")
    assert (found.code, found.out) == (70, "")
    assert "Traceback" in found.err
    assert "a fault of ours: ZeroDivisionError: of ours" in found.err


def test_a_cut_run_log_is_told_in_one_line(callbench: Invoke, place: Path) -> None:
    directory = callbench(*RECORD, "--json").json["dir"]
    log = Path(directory, "cases.jsonl")
    log.write_bytes(log.read_bytes()[:-9])
    shown = result(start("report", directory, "--json"))
    assert shown.code == 0
    assert shown.err == f"callbench: warning: {log}:4: the last line is cut off and was left out.\n"


def test_what_was_scored_before_a_kill_is_on_disk(place: Path, model: SyntheticModel) -> None:
    third = threading.Event()

    def slow(body: dict[str, Any]) -> Any:
        if "Lyon" in str(body):
            third.set()
            time.sleep(1)
        return right_answer(body)

    model.decide = slow
    process = start(*RUN, "--mode", "live", "--concurrency", "1", "--out", "run")
    assert third.wait(60)
    process.kill()
    assert result(process).code == -signal.SIGKILL
    assert (place / "run" / "cases.jsonl").read_bytes().count(b"\n") == 2
