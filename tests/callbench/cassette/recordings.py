"""Helpers of the tests that record straight into a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from callbench.cassette import (
    Cassette,
    Interaction,
)

Build = Callable[..., Interaction]


LONG = "You fill the parameters of a tool from what the user said. " * 5


def answers(cassette: Cassette) -> list[tuple[str, int, str]]:
    return [(it.case, it.ordinal, it.response.body.decode()) for it in cassette]


def fill(path: Path, *interactions: Interaction) -> None:
    """Record without closing: the file stays in the order of recording."""
    cassette = Cassette.open(path)
    for interaction in interactions:
        cassette.append(interaction)
