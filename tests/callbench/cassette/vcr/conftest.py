"""The server of the bridge's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .loopback import Server, running


@pytest.fixture
def server() -> Iterator[Server]:
    """A real server on loopback, in a thread; ``stop()`` takes it down before the test ends."""
    with running() as state:
        yield state
