"""A watchdog around each test here: what should end at once fails instead of hanging or filling memory."""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

SECONDS = 120  # far more than any test takes: it is there to fail, not to measure
BYTES = 1 << 30


@pytest.fixture(autouse=True)
def watchdog() -> Iterator[None]:
    def bark(signum: int, frame: FrameType | None) -> None:
        raise AssertionError(f"still running after {SECONDS} seconds")

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    before = signal.signal(signal.SIGALRM, bark)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + BYTES, hard))
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.signal(signal.SIGALRM, before)
