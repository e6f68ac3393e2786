"""The command in process, and hunts in peers with a fault."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis.configuration
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


@pytest.fixture(autouse=True)
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Drop log lines, as the command does, and undo what it sets for the whole process."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)
    hypothesis.configuration.set_hypothesis_home_dir(None)


@pytest.fixture
def callbench(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> Invoke:
    """Run ``callbench`` with these words in an empty directory, as the entry point does."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CALLBENCH_CACHE", str(tmp_path / "cache"))

    def invoke(*words: str) -> Told:
        monkeypatch.setattr("sys.argv", ["callbench", *words])
        capfd.readouterr()
        with pytest.raises(SystemExit) as stop:
            cli.main()
        told = capfd.readouterr()
        return Told(int(stop.value.code or 0), told.out, told.err)  # type: ignore[arg-type]

    return invoke
