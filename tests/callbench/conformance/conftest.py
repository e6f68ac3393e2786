"""The command in process, a small suite of its own, and the broken peers of the tests of peers."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from callbench import cli

BROKEN = Path(__file__).parents[1] / "peer" / "broken"


@dataclass
class Told:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Invoke = Callable[..., Told]


@pytest.fixture
def callbench(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Invoke:
    """Run ``callbench conform`` with these words, as the entry point does."""

    def invoke(*words: str) -> Told:
        monkeypatch.setattr("sys.argv", ["callbench", "conform", *words])
        capfd.readouterr()
        with pytest.raises(SystemExit) as stop:
            cli.main()
        told = capfd.readouterr()
        return Told(int(stop.value.code or 0), told.out, told.err)  # type: ignore[arg-type]

    return invoke


def split(number: int, pointer: str, gives: list[str]) -> dict[str, Any]:
    return {
        "id": f"schema.pointer.1-{number}",
        "rule": "schema.pointer.1",
        "op": "pointer.split",
        "input": {"pointer": pointer},
        "gives": gives,
    }


CASES = [split(1, "/a", ["a"]), split(2, "/a/b", ["a", "b"]), split(3, "/c", ["c"])]


@pytest.fixture
def suite(tmp_path: Path) -> str:
    """Three cases; the second is the one at which peers crash and hang."""
    path = tmp_path / "suite.jsonl"
    path.write_text("".join(json.dumps(case) + "\n" for case in CASES), encoding="utf-8")
    return str(path)


@pytest.fixture
def broken() -> Callable[[str], str]:
    """Return the command line of a broken peer."""
    # -S: without site-packages a start takes a third of the time.
    return lambda name: shlex.join([sys.executable, "-S", str(BROKEN / f"{name}.py")])
