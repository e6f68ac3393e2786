"""``use_cassette``: the block, or the function, whose HTTP traffic is recorded or replayed."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Sequence
from contextvars import Token
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, ParamSpec, TypeVar, cast

from callbench.cassette.interaction import Normalizer
from callbench.cassette.scrubbers import Scrubber
from callbench.cassette.store import Cassette
from callbench.cassette.transport import Mode
from callbench.cassette.vcr import patching
from callbench.cassette.vcr.session import Session, _current
from callbench.errors import CassetteError, UsageError

P = ParamSpec("P")
R = TypeVar("R")

_VCR_FILES = frozenset({".yaml", ".yml", ".json"})


class use_cassette:
    """Record or replay what requests, urllib3, httpx, httpx2, aiohttp, http.client, and what stands on them, send.

    A context manager, synchronous and asynchronous, that gives the ``Session``; and a decorator of plain
    and of coroutine functions. ``mode``: ``"replay"`` (the default: recordings only, no socket),
    ``"record"`` (ask for what is missing), ``"rerecord"`` (ask for everything), ``"live"`` (ask, store
    nothing). ``base_url``, ``secrets``, ``command``: as for ``CassetteTransport``; ``normalize`` and
    ``scrubbers``: as for ``Cassette.open``.

    * The block's own tasks and the threads it starts, pool workers included, use this cassette; everything
      else has its real clients. Blocks nest: the inner one counts. Inside ``case_scope`` requests are
      filed under the case.
    * Without a recording, replay raises ``CassetteMiss``; what another client or service tries to connect
      to, ``NetworkDenied``. A client that wraps these in an error of its own does not hide them: where that
      error leaves the block, ours is raised from it. Sockets of C libraries (libcurl) are not seen.
    * Recorded are the bytes after decompression, event by event for event streams; of the headers only
      those that ``CassetteTransport`` stores. The host is no part of a request.

    Raises ``CassetteError`` for a broken file, ``UsageError`` for a vcrpy cassette.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        mode: Mode | Literal["replay", "record", "rerecord", "live"] = "replay",
        base_url: str = "",
        secrets: Sequence[str] = (),
        command: str = "",
        normalize: Normalizer | None = None,
        scrubbers: Sequence[Scrubber | str] = (),
    ) -> None:
        self._path = Path(path)
        self._options: dict[str, Any] = {
            "base_url": base_url,
            "secrets": secrets,
            "command": command or 'use_cassette(…, mode="record")',
        }
        self._opening: dict[str, Any] = {"normalize": normalize, "scrubbers": scrubbers}
        self._entered: list[tuple[Session, Token[Session | None]]] = []
        if self._path.suffix in _VCR_FILES:
            raise UsageError(
                f"{self._path} is a cassette of vcrpy; use_cassette needs one of callbench.",
                remedy=f"Convert it once: callbench cassette convert {self._path} "
                f"{self._path.with_suffix('.cassette.jsonl')}",
            )
        try:
            self._mode = Mode(mode)
        except ValueError:
            raise UsageError(
                f"use_cassette has no mode {mode!r}.",
                remedy=f"Use one of {', '.join(Mode)}.",
            ) from None

    def __enter__(self) -> Session:
        session = Session(Cassette.open(self._path, **self._opening), self._mode, **self._options)
        patching.install()
        self._entered.append((session, _current.set(session)))
        return session

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        session, token = self._entered.pop()
        session.closed = True
        with contextlib.suppress(ValueError):  # left in another context than it was entered in
            _current.reset(token)
        patching.uninstall()
        session.cassette.close()
        hidden = _behind(exc)
        if hidden is not None and hidden is not exc:
            raise hidden from exc

    async def __aenter__(self) -> Session:
        return self.__enter__()

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.__exit__(exc_type, exc, traceback)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Run each call of ``function`` inside a block of its own."""
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(
                "use_cassette decorates functions and coroutine functions; in a generator, write "
                "`with use_cassette(...)` around what it does between two yields"
            )
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def run_async(*args: P.args, **kwargs: P.kwargs) -> Any:
                with self._anew():
                    return await function(*args, **kwargs)

            return cast(Callable[P, R], run_async)

        @functools.wraps(function)
        def run(*args: P.args, **kwargs: P.kwargs) -> R:
            with self._anew():
                return function(*args, **kwargs)

        return run

    def _anew(self) -> use_cassette:
        """A block with the same settings: calls of a decorated function may overlap."""
        return use_cassette(self._path, mode=self._mode, **self._opening, **self._options)


def _behind(error: BaseException | None) -> CassetteError | None:
    """The error of ours that an error says it was caused by."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, CassetteError):
            return error
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return None
