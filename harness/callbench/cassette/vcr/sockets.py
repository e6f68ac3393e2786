"""No socket in replay: what a block asks of the network past the patched clients is refused, and says so.

A client that is not patched would otherwise reach the real server, or hang where there is none, and its
answers would be in no cassette. Unix sockets, servers, and connections opened before the block stay as they
are; so does what C libraries such as libcurl open by themselves, which no patch of Python sees.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Iterator
from typing import Any

from callbench.cassette.network import NetworkDenied
from callbench.cassette.transport import Mode
from callbench.cassette.vcr.patching import Patch
from callbench.cassette.vcr.session import current_session, outside


def patches() -> Iterator[Patch]:
    """The patches of ``socket``: of its own class only, for the methods are inherited from C."""
    for name in ("connect", "connect_ex", "sendto", "sendmsg"):
        yield Patch(socket.socket, name, _refusing)
    yield Patch(socket, "getaddrinfo", _resolving)
    yield Patch(socket, "socketpair", _pairing)


def _refusing(real: Callable[..., Any]) -> Callable[..., Any]:
    def refusing(self: Any, *args: Any) -> Any:
        if self.family in (socket.AF_INET, socket.AF_INET6) and (place := _address(real, args)):
            _refuse(f"connect to {place[0]}:{place[1]}", self)
        return real(self, *args)

    return refusing


def _address(real: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Where a call would send; ``None`` on a connection that is open."""
    number = {"sendmsg": 3}.get(real.__name__, len(args) - 1)
    place = args[number] if 0 <= number < len(args) else None
    return place if isinstance(place, tuple) and len(place) >= 2 else None


def _resolving(real: Callable[..., Any]) -> Callable[..., Any]:
    def getaddrinfo(host: Any, *args: Any, **options: Any) -> Any:
        name = host.decode("latin-1") if isinstance(host, bytes) else host
        if name and name != "localhost" and not _is_address(name):
            _refuse(f"look up {name}")
        return real(host, *args, **options)

    return getaddrinfo


def _pairing(real: Callable[..., Any]) -> Callable[..., Any]:
    def socketpair(*args: Any, **options: Any) -> Any:
        """On Windows a pair is made by a connection on loopback."""
        with outside():
            return real(*args, **options)

    return socketpair


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return True


def _refuse(what: str, refused: socket.socket | None = None) -> None:
    session = current_session()
    if session is not None and session.mode is Mode.REPLAY:
        if refused is not None:
            refused.close()  # callers close it for an OSError only
        raise NetworkDenied(
            f"{session.cassette.path} is replayed here, and something tried to {what}: a client that "
            "use_cassette does not patch, or a service beside it.",
            remedy="Use requests, urllib3, httpx, httpx2, aiohttp or http.client; open other connections "
            "before the block.",
        )
