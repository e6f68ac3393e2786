"""The patches of the clients: made when the first block is entered, taken away when the last one ends.

They belong to the process; what a patched client does is decided by the context of the request. Nobody
else's request changes: without a session each patch calls what was there before.
"""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from callbench.cassette import scope
from callbench.cassette.vcr import session


@dataclass(frozen=True, slots=True)
class Patch:
    """One attribute to replace: ``make`` gives the new value for the one that is there."""

    owner: Any
    name: str
    make: Callable[[Any], Any]


_lock = threading.Lock()
_users = 0
_undo: list[tuple[Any, str, Any]] = []
_INHERITED = object()


def install() -> None:
    """Patch the clients, unless they are patched already; count the user."""
    global _users
    with _lock:
        if _users == 0:
            for patch in list(_patches()):  # all or none
                own = vars(patch.owner).get(patch.name, _INHERITED)
                before = getattr(patch.owner, patch.name) if own is _INHERITED else own
                setattr(patch.owner, patch.name, patch.make(before))
                _undo.append((patch.owner, patch.name, own))
        _users += 1


def uninstall() -> None:
    """Take the patches away with the last user."""
    global _users
    with _lock:
        _users -= 1
        if _users == 0:
            while _undo:
                owner, name, own = _undo.pop()
                if own is _INHERITED:
                    delattr(owner, name)
                else:
                    setattr(owner, name, own)


def _patches() -> Iterator[Patch]:
    """The patches of all clients that are installed here; imports them, to be there before their user."""
    yield Patch(threading.Thread, "start", _start)
    yield Patch(ThreadPoolExecutor, "submit", _submit)
    from callbench.cassette.vcr import http_client_patch, sockets

    yield from sockets.patches()
    for name in ("httpx", "httpx2"):
        if importlib.util.find_spec(name) is not None:
            from callbench.cassette.vcr import httpx_patch

            yield from httpx_patch.patches(importlib.import_module(name))
    if importlib.util.find_spec("urllib3") is not None:  # requests, botocore and others stand on it
        from callbench.cassette.vcr import urllib3_patch

        yield from urllib3_patch.patches()
    if importlib.util.find_spec("aiohttp") is not None:
        from callbench.cassette.vcr import aiohttp_patch

        yield from aiohttp_patch.patches()
    yield from http_client_patch.patches()


# --- threads: they start without a context, but what a block starts belongs to it ------------------


def _start(before: Callable[[threading.Thread], None]) -> Callable[[threading.Thread], None]:
    def start(self: threading.Thread) -> None:
        if session.current_session() is not None:
            self.run = _here(self.run)  # type: ignore[method-assign]
        before(self)

    return start


def _submit(before: Callable[..., Any]) -> Callable[..., Any]:
    def submit(self: ThreadPoolExecutor, fn: Callable[..., Any], /, *args: Any, **kw: Any) -> Any:
        return before(self, _here(fn), *args, **kw)  # a worker may have been started elsewhere

    return submit


def _here(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, run elsewhere with the session and the case of here."""
    own_session, own_case = session._current.get(), scope.current_scope()

    def run(*args: Any, **kwargs: Any) -> Any:
        token, case_token = session._current.set(own_session), scope._current.set(own_case)
        try:
            return function(*args, **kwargs)
        finally:
            scope._current.reset(case_token)
            session._current.reset(token)

    return run
