"""``no_network``: nothing in this process opens a connection while recorded answers are replayed.

with no_network():
    ...  # a connection or a name look-up, on any thread, raises NetworkDenied
"""

from __future__ import annotations

import ipaddress
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from callbench.errors import CassetteError

_DIALS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
_LOOKS_UP = frozenset({"socket.getaddrinfo", "socket.gethostbyname"})
_LOCAL_NAMES = frozenset({"", "localhost", "localhost.localdomain", "ip6-localhost"})


class NetworkDenied(CassetteError):
    """Something tried to reach the network while recorded answers were replayed."""


class _Guard:
    """How many ask for no network at all, and how many let loopback through."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.strict = 0
        self.local = 0
        self.installed = False

    def audit(self, event: str, args: tuple[Any, ...]) -> None:
        """Called by the interpreter on whatever thread does something that can be audited."""
        if not (self.strict or self.local):
            return
        if event in _DIALS:
            address = args[1]
            if address is None:  # on a socket that is connected already
                return
        elif event in _LOOKS_UP:
            address = args[:2]
        else:
            return
        if self.strict or not _is_local(address):
            raise NetworkDenied(
                f"Replay opens no connection, and something tried to reach {_described(address)}.",
                remedy="Ask models through what the system is given; record what it needs with "
                "--mode record, or run without recordings with --mode live.",
            )


_guard = _Guard()


@contextmanager
def no_network(*, loopback: bool = False) -> Iterator[None]:
    """Refuse every outbound connection, datagram and name look-up of this process for the block.

    On every thread and in every task, whoever opens it: what tries raises ``NetworkDenied`` (inside an
    ``ExceptionGroup`` where a client connects in a task group), which is no ``OSError``, so that no code
    takes it for an outage. ``loopback`` lets through what stays on this machine
    (127.0.0.0/8, ::1, local names, Unix sockets). Blocks may nest and overlap; the strictest holds.

    It sees what Python's ``socket`` module does, below every HTTP client written in Python. It does not see
    child processes, nor libraries that call the operating system themselves.
    """
    with _guard.lock:
        if not _guard.installed:
            sys.addaudithook(_guard.audit)  # stays for good: there is no way to take one away
            _guard.installed = True
        _count(loopback=loopback, step=1)
    try:
        yield
    finally:
        with _guard.lock:
            _count(loopback=loopback, step=-1)


def _count(*, loopback: bool, step: int) -> None:
    if loopback:
        _guard.local += step
    else:
        _guard.strict += step


def _is_local(address: object) -> bool:
    if isinstance(address, str | bytes):  # a Unix socket
        return True
    host = address[0] if isinstance(address, tuple) and address else address
    if host is None:
        return True
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if not isinstance(host, str):
        return False
    if host.lower() in _LOCAL_NAMES:
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


def _described(address: object) -> str:
    if isinstance(address, tuple) and address:
        host, port = address[0], address[1] if len(address) > 1 else None
        host = host.decode("ascii", "replace") if isinstance(host, bytes) else host
        return f"{host}:{port}" if port is not None else str(host)
    return str(address)
