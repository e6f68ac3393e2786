"""``CassetteTransport``: an httpx2 transport that replays from a cassette, or records into it.

Whatever really answers, a server or a model in process, is the inner transport; it is made only when it is
needed, so replay never opens a socket. Recording is a tee: the caller sees every network chunk as it comes.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING

import httpx2

from callbench.cassette.format import encode_interaction
from callbench.cassette.interaction import Interaction, Request, Response
from callbench.cassette.key import canonical_request
from callbench.cassette.miss import cassette_miss
from callbench.cassette.replay import STREAM_ERRORS, Timing, as_exception, error_text, replay
from callbench.cassette.scope import CaseScope, Exchange, current_scope
from callbench.cassette.scrub import (
    RESPONSE_HEADERS,
    holds_secret,
    mask_request,
    secrets_of,
)
from callbench.cassette.store import Cassette
from callbench.cassette.take import Take
from callbench.errors import CassetteError

if TYPE_CHECKING:
    from callbench.cassette.faults.applying import Faults
    from callbench.cassette.faults.kind import Faulted

Inner = httpx2.AsyncBaseTransport | Callable[[], httpx2.AsyncBaseTransport]


class Mode(StrEnum):
    """What a transport does with its cassette."""

    REPLAY = "replay"
    """Answer from recordings only; a request without one is a ``CassetteMiss``."""
    RECORD = "record"
    """Answer from recordings; ask and record what is missing, or what had failed."""
    RERECORD = "rerecord"
    """Ask and record everything anew; the file changes when the cassette is closed."""
    LIVE = "live"
    """Ask, and neither read nor write recordings; times and tokens are still measured."""


class CassetteTransport(httpx2.AsyncBaseTransport):
    """Replays or records for one client; several may share a cassette.

    ``inner`` answers in every mode but replay: a transport, or a function that makes one at the first
    need (a plain HTTP transport by default). ``base_url`` is the endpoint's base, which is no part of a
    recording; without it the path up to a version segment counts as the base. ``secrets`` are masked beside
    the credentials found in a request's headers and query. ``command`` is what a miss tells the user to run.
    ``timing`` says how time passes in replay, ``faults`` are laid over replayed answers; neither is recorded.

    Closing the transport closes ``inner`` if it was used; the cassette stays open.
    """

    def __init__(
        self,
        cassette: Cassette,
        mode: Mode | str = Mode.REPLAY,
        inner: Inner | None = None,
        *,
        base_url: str = "",
        secrets: Sequence[str] = (),
        command: str = "",
        timing: Timing | None = None,
        faults: Faults | None = None,
    ) -> None:
        if faults is not None and Mode(mode) is not Mode.REPLAY:
            raise ValueError("faults are for replay: what they make must not be recorded")
        self.cassette = cassette
        self.mode = Mode(mode)
        self._inner = inner
        self._opened: httpx2.AsyncBaseTransport | None = None
        self._base_url = base_url
        self._secrets = tuple(secrets)
        self._command = command
        self._timing = timing
        self._faults = faults
        self._scope = CaseScope("")
        if self.mode in (Mode.RECORD, Mode.RERECORD):
            cassette.adopt()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer a request. Raises ``CassetteMiss``, or what the inner transport raises."""
        started = time.perf_counter()
        body = await request.aread()
        target = request.url.raw_path.decode("ascii")
        secrets = secrets_of(request.headers.raw, target, self._secrets, body)
        canonical = mask_request(
            canonical_request(request.method, target, body, base_url=self._base_url), secrets
        )
        key = self.cassette.key_of(canonical)
        scope = current_scope() or self._scope
        ordinal = scope.take(key)
        found = recorded(self.cassette, self.mode, key, scope.case, ordinal, canonical)
        if found is not None:
            if self._faults is not None:
                faulted = self._faults.answer(found, scope, ordinal)
                if faulted is not None and faulted.again:
                    scope.give_back(key, ordinal)
                return self._faulty(found, faulted, scope, request)
            scope.add(Exchange.of(found, "replayed"))
            return replay(found.response, self._timed(request))
        if self.mode is Mode.REPLAY:
            scope.give_back(key, ordinal)
            if self._faults is not None:
                follow = self._faults.follow_up(canonical, scope, self.cassette)
                if follow is not None:
                    return self._faulty(*follow, scope, request)
            raise cassette_miss(self.cassette, canonical, scope.case, ordinal, self._command)
        store = None if self.mode is Mode.LIVE else partial(record, self.cassette, self.mode)
        take = Take(canonical, key, scope, ordinal, secrets, started, store)
        return await self._ask(request, take)

    def _faulty(
        self,
        recorded: Interaction,
        faulted: Faulted | None,
        scope: CaseScope,
        request: httpx2.Request,
    ) -> httpx2.Response:
        """Answer with a recording and what a fault makes of it."""
        timing = self._timed(request) or Timing()
        if faulted is not None:
            recorded = replace(recorded, response=faulted.response)
            timing = replace(timing, waits=faulted.waits)
        scope.add(Exchange.of(recorded, "replayed"))
        if faulted is not None and faulted.refused:
            raise as_exception(recorded.response.error or "")
        return replay(recorded.response, timing)

    def _timed(self, request: httpx2.Request) -> Timing | None:
        """How time passes for this request, up to the timeout of its client."""
        if self._timing is None and self._faults is None:
            return None
        limit = request.extensions.get("timeout", {}).get("read")
        return replace(self._timing or Timing(), read_timeout=limit)

    async def aclose(self) -> None:
        """Close the inner transport, if it was ever used."""
        opened, self._opened = self._opened, None
        if opened is not None:
            await opened.aclose()

    @property
    def inner(self) -> httpx2.AsyncBaseTransport:
        """What really answers, made at the first need."""
        if self._opened is None:
            inner = self._inner
            if inner is None:
                self._opened = httpx2.AsyncHTTPTransport()
            elif isinstance(inner, httpx2.AsyncBaseTransport):
                self._opened = inner
            else:
                self._opened = inner()
        return self._opened

    async def _ask(self, request: httpx2.Request, take: Take) -> httpx2.Response:
        """Send the request; the response's stream feeds ``take`` while the caller reads it."""
        try:
            answer = await self.inner.handle_async_request(request)
        except STREAM_ERRORS as error:
            take.drop(error_text(error))  # no answer at all: nothing to record
            raise
        except BaseException:
            take.drop("abandoned")
            raise
        take.response = Response(
            status=answer.status_code,
            headers={
                name: answer.headers[name] for name in RESPONSE_HEADERS if name in answer.headers
            },
        )
        headers = answer.headers.copy()
        chunks: AsyncIterator[bytes]
        if "content-encoding" in headers:  # recordings are readable: take the compression off
            chunks = answer.aiter_bytes()
            del headers["content-encoding"]
            headers.pop("content-length", None)
        else:
            chunks = aiter(_byte_stream(answer))
        return httpx2.Response(
            answer.status_code,
            headers=headers,
            stream=_TeeStream(take, answer, chunks),
            extensions=answer.extensions,
        )


def recorded(
    cassette: Cassette, mode: Mode, key: str, case: str, ordinal: int, request: Request
) -> Interaction | None:
    """The recording that answers in this mode, if any; while recording, none that had failed."""
    if mode is Mode.REPLAY:
        return cassette.find(key, case, ordinal, request=request)
    if mode is Mode.RECORD:
        found = cassette.find_exact(key, case, ordinal, request=request)
        return None if found is None or found.response.failed else found
    return None


def record(
    cassette: Cassette, mode: Mode, interaction: Interaction, secrets: Sequence[str]
) -> None:
    """Write a recording, unless a credential is still in it: then refuse with ``CassetteError``."""
    if secrets and holds_secret(encode_interaction(interaction), secrets):
        raise CassetteError(
            f"Refusing to record case {interaction.case!r}: its label or its answer holds a "
            "credential that cannot be masked.",
            remedy="Take the credential out of the case, or use another key.",
        )
    if mode is Mode.RERECORD:
        cassette.replace(interaction)
    else:
        cassette.append(interaction)


class _TeeStream(httpx2.AsyncByteStream):
    """Passes every chunk on as it comes, and tells the take how it went."""

    def __init__(self, take: Take, answer: httpx2.Response, chunks: AsyncIterator[bytes]) -> None:
        self._take = take
        self._answer = answer
        self._chunks = chunks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._chunks:
                self._take.feed(chunk)
                yield chunk
        except STREAM_ERRORS as error:
            self._take.finish(error)
            raise
        finally:
            if isinstance(self._chunks, AsyncGenerator):
                await self._chunks.aclose()
        self._take.finish()

    async def aclose(self) -> None:
        try:
            self._take.leave()
        finally:
            await self._answer.aclose()


def _byte_stream(answer: httpx2.Response) -> httpx2.AsyncByteStream:
    if not isinstance(answer.stream, httpx2.AsyncByteStream):
        raise TypeError("the inner transport must answer with an asynchronous stream")
    return answer.stream
