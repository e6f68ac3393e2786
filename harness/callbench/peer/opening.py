"""What ``--impl`` names: a module of this process, or a command line."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable

from callbench.peer.errors import PeerError
from callbench.peer.peer import Peer
from callbench.peer.python import PythonPeer
from callbench.peer.stdio import StdioPeer

REFERENCE = "python:callbench.conformance.reference"
"""The reference implementation, in process."""

_PYTHON = "python:"


def in_process(impl: str) -> bool:
    """Tell whether ``impl`` names a Python module: one is enough, and it needs no restart."""
    return impl.startswith(_PYTHON)


def opener(impl: str) -> Callable[[], Peer]:
    """Return a function that makes a peer of ``impl``; a child is started at its first use.

    Raises :class:`PeerError` for what is neither a module nor a command line.
    """
    if in_process(impl):
        return lambda: PythonPeer(impl.removeprefix(_PYTHON))
    try:
        command = shlex.split(impl)
    except ValueError as error:
        raise PeerError(f"--impl {impl}: {error}", remedy="Quote it as for a shell.") from error
    if not command:
        raise PeerError("--impl is empty.", remedy="Give a command line, or python:package.module.")
    if sys.platform == "win32":
        raise PeerError("Peers on standard input and output need a POSIX system.")
    return lambda: StdioPeer(command)
