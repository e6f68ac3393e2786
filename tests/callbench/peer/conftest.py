"""Broken peers, by the name of their file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from callbench.peer import StdioPeer

HERE = Path(__file__).parent

Broken = Callable[..., StdioPeer]


@pytest.fixture
def broken() -> Iterator[Broken]:
    opened: list[StdioPeer] = []

    def of(name: str, hello_within: float = 10.0) -> StdioPeer:
        # -S: without site-packages a start takes a third of the time.
        command = [sys.executable, "-S", str(HERE / "broken" / f"{name}.py")]
        opened.append(StdioPeer(command, hello_within=hello_within))
        return opened[-1]

    yield of
    for peer in opened:
        peer.close()
