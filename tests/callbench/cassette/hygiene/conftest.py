"""Cassettes for the checks: a sound one, and one line of it changed by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from callbench.cassette import Cassette, Interaction
from callbench.cassette.hygiene.check import Limits, check_file
from callbench.cassette.hygiene.findings import Finding

LONG = "You fill the parameters of a tool from what the user said. " * 5

Spoil = Callable[[Callable[[list[dict[str, Any]]], None]], Path]


@pytest.fixture
def sound(path: Path, recording: Callable[..., Interaction]) -> Path:
    """Three cases, one asking twice alike; two share a long text."""
    with Cassette.open(path) as cassette:
        cassette.append(recording("one", "a"))
        cassette.append(recording("one", "a", 1, "again"))
        cassette.append(recording(LONG, "b"))
        cassette.append(recording(LONG, "c", answer="other"))
    return path


@pytest.fixture
def spoil(sound: Path) -> Spoil:
    """Gives the lines to a function that changes them, and writes them back."""

    def change(by: Callable[[list[dict[str, Any]]], None]) -> Path:
        lines = [json.loads(line) for line in sound.read_text("utf-8").splitlines()]
        by(lines)
        sound.write_text(
            "".join(
                json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines
            ),
            "utf-8",
        )
        return sound

    return change


def rules(path: Path, **limits: Any) -> list[tuple[int, str]]:
    """Line and rule of each finding."""
    return [(found.line, found.rule) for found in findings(path, **limits)]


def findings(path: Path, **limits: Any) -> list[Finding]:
    return list(check_file(path, Limits(**limits)))
