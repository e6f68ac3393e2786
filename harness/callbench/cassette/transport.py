"""``CassetteTransport``: an httpx2 transport that replays from a cassette, or records into it.

Whatever really answers, a server or a model in process, is the inner transport; it is made only when it is
needed, so replay never opens a socket. Recording is a tee: the caller sees every network chunk as it comes.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum

import httpx2

from callbench.cassette import events as sse
from callbench.cassette.format import encode_interaction
from callbench.cassette.interaction import Interaction, Request, Response
from callbench.cassette.key import canonical_request
from callbench.cassette.miss import cassette_miss
from callbench.cassette.replay import STREAM_ERRORS, error_text, replay
from callbench.cassette.scope import CaseScope, Exchange, current_scope
from callbench.cassette.scrub import (
    RESPONSE_HEADERS,
    holds_secret,
    mask_request,
    mask_response,
    secrets_of,
)
from callbench.cassette.store import Cassette
from callbench.errors import CassetteError

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
    ) -> None:
        self.cassette = cassette
        self.mode = Mode(mode)
        self._inner = inner
        self._opened: httpx2.AsyncBaseTransport | None = None
        self._base_url = base_url
        self._secrets = tuple(secrets)
        self._command = command
        self._scope = CaseScope("")
        if self.mode in (Mode.RECORD, Mode.RERECORD):
            cassette.adopt()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer a request. Raises ``CassetteMiss``, or what the inner transport raises."""
        started = time.perf_counter()
        body = await request.aread()
        target = request.url.raw_path.decode("ascii")
        secrets = secrets_of(request.headers.raw, target, self._secrets)
        canonical = mask_request(
            canonical_request(request.method, target, body, base_url=self._base_url), secrets
        )
        key = self.cassette.key_of(canonical)
        scope = current_scope() or self._scope
        ordinal = scope.take(key)
        recorded = self._recorded(key, scope.case, ordinal, canonical)
        if recorded is not None:
            scope.add(Exchange.of(recorded, "replayed"))
            return replay(recorded.response)
        if self.mode is Mode.REPLAY:
            scope.give_back(key, ordinal)
            raise cassette_miss(self.cassette, canonical, scope.case, ordinal, self._command)
        take = _Take(self, canonical, key, scope, ordinal, secrets, started)
        return await take.ask(request)

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

    def _recorded(self, key: str, case: str, ordinal: int, request: Request) -> Interaction | None:
        if self.mode is Mode.REPLAY:
            return self.cassette.find(key, case, ordinal, request=request)
        if self.mode is Mode.RECORD:
            found = self.cassette.find_exact(key, case, ordinal, request=request)
            return None if found is None or found.response.failed else found
        return None

    def store(self, interaction: Interaction, secrets: Sequence[str]) -> None:
        """Write a recording, unless a credential is still in it: then refuse."""
        if secrets and holds_secret(encode_interaction(interaction), secrets):
            raise CassetteError(
                f"Refusing to record case {interaction.case!r}: its label or its answer holds a "
                "credential that cannot be masked.",
                remedy="Take the credential out of the dataset, or use another key.",
            )
        if self.mode is Mode.RERECORD:
            self.cassette.replace(interaction)
        else:
            self.cassette.append(interaction)


class _Take:
    """One request on its way to the inner transport and back, measured and, if asked for, recorded."""

    def __init__(
        self,
        transport: CassetteTransport,
        request: Request,
        key: str,
        scope: CaseScope,
        ordinal: int,
        secrets: Sequence[str],
        started: float,
    ) -> None:
        self._transport = transport
        self._request = request
        self._key = key
        self._scope = scope
        self._ordinal = ordinal
        self._secrets = secrets
        self._started = started
        self._chunks: list[tuple[int, bytes]] = []
        self._open = True
        self.response = Response(status=0)

    async def ask(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request; the response's stream feeds this take while the caller reads it."""
        try:
            answer = await self._transport.inner.handle_async_request(request)
        except STREAM_ERRORS as error:
            self._drop(error_text(error))  # no answer at all: nothing to record
            raise
        except BaseException:
            self._drop("abandoned")
            raise
        self.response = Response(
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
            stream=_TeeStream(self, answer, chunks),
            extensions=answer.extensions,
        )

    def feed(self, chunk: bytes) -> None:
        """A chunk came from the network."""
        self._chunks.append((self._elapsed(), chunk))

    def finish(self, error: BaseException | None = None) -> None:
        """The stream ended, by itself or with an error: record it. Later calls do nothing."""
        if not self._open:
            return
        self._open = False
        text = None if error is None else error_text(error)
        interaction = self._interaction(text)
        live = self._transport.mode is Mode.LIVE
        if not live:
            self._transport.store(interaction, self._secrets)
        self._scope.add(Exchange.of(interaction, "live" if live else "recorded"))

    def leave(self) -> None:
        """The caller closes the stream: half an answer is not recorded, a said-all one is."""
        if not self._open:
            return
        stream = sse.is_event_stream(self.response.headers)
        if stream and sse.said_done(sse.split_events(self._chunks, event_stream=True)):
            self.finish()
        else:
            self._drop("abandoned")

    def _drop(self, error: str) -> None:
        self._open = False
        self._scope.give_back(self._key, self._ordinal)
        self._scope.add(Exchange.of(self._interaction(error), "live"))

    def _interaction(self, error: str | None) -> Interaction:
        stream = sse.is_event_stream(self.response.headers)
        events = sse.split_events(self._chunks, event_stream=stream)
        response = replace(self.response, events=events, error=error, elapsed_ms=self._elapsed())
        return Interaction(
            key=self._key,
            case=self._scope.case,
            ordinal=self._ordinal,
            request=self._request,
            response=mask_response(response, self._secrets),
            usage=sse.usage_of(events, event_stream=stream),
            recorded_at=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        )

    def _elapsed(self) -> int:
        return round((time.perf_counter() - self._started) * 1000)


class _TeeStream(httpx2.AsyncByteStream):
    """Passes every chunk on as it comes, and tells the take how it went."""

    def __init__(self, take: _Take, answer: httpx2.Response, chunks: AsyncIterator[bytes]) -> None:
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
