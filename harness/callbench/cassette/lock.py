"""Opening a file to write whole lines to it while other processes may do the same, or replace it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform != "win32":
    import fcntl

    def _acquire(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
else:

    def _acquire(descriptor: int) -> None:
        """Windows has no advisory lock of this kind: there, record with one process at a time."""


@contextmanager
def exclusive(path: Path) -> Iterator[int]:
    """Open ``path`` for reading and appending (made when missing), alone among all who use this function.

    The lock ends with the block, or with the process, however it ends. Whoever waited while the file was
    replaced gets the new one.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            _acquire(descriptor)
            if _still_at(path, descriptor):
                yield descriptor
                return
        finally:
            os.close(descriptor)


def _still_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
