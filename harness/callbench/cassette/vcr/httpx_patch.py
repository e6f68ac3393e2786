"""httpx and its fork httpx2 (and so ``openai``, ``anthropic``, …): patched at the network transports.

Streams are a tee: the client sees each chunk when it comes, and a recorded one event by event.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from types import ModuleType
from typing import Any, cast

from callbench.cassette.interaction import Interaction
from callbench.cassette.interaction import Response as Recorded
from callbench.cassette.replay import error_text
from callbench.cassette.take import Take
from callbench.cassette.vcr.answers import answer_headers, take_head
from callbench.cassette.vcr.patching import Patch
from callbench.cassette.vcr.session import Asked, current_session


def patches(httpx: ModuleType) -> Iterator[Patch]:
    """The patches of one of the two packages."""
    streams = _streams(httpx)

    def handle(real: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        def handle_request(self: Any, request: Any) -> Any:
            session = current_session()
            if session is None:
                return real(self, request)
            found = session.find(_asked(request, request.read()))
            if isinstance(found, Interaction):
                return _replayed(httpx, found, streams.replay)
            try:
                answer = real(self, request)
            except BaseException as error:
                found.drop(error_text(error))
                raise
            return _taken(httpx, found, answer, streams.tee)

        return handle_request

    def handle_async(
        real: Callable[[Any, Any], Awaitable[Any]],
    ) -> Callable[[Any, Any], Awaitable[Any]]:
        async def handle_async_request(self: Any, request: Any) -> Any:
            session = current_session()
            if session is None:
                return await real(self, request)
            found = session.find(_asked(request, await request.aread()))
            if isinstance(found, Interaction):
                return _replayed(httpx, found, streams.replay_async)
            try:
                answer = await real(self, request)
            except BaseException as error:
                found.drop(error_text(error))
                raise
            return _taken(httpx, found, answer, streams.tee_async)

        return handle_async_request

    yield Patch(httpx.HTTPTransport, "handle_request", handle)
    yield Patch(httpx.AsyncHTTPTransport, "handle_async_request", handle_async)


def _asked(request: Any, body: bytes) -> Asked:
    return Asked(request.method, str(request.url), tuple(request.headers.raw), body)


def _replayed(httpx: ModuleType, found: Interaction, stream: type) -> Any:
    return httpx.Response(
        found.response.status, headers=answer_headers(found), stream=stream(found.response)
    )


def _taken(httpx: ModuleType, take: Take, answer: Any, stream: type) -> Any:
    take_head(take, answer.status_code, answer.headers.multi_items())
    headers = answer.headers.copy()
    encoded = "content-encoding" in headers
    if encoded:  # recordings are readable: take the compression off
        del headers["content-encoding"]
        headers.pop("content-length", None)
    return httpx.Response(
        answer.status_code,
        headers=headers,
        stream=stream(take, answer, encoded),
        extensions=answer.extensions,
    )


class _Streams:
    """The four kinds of response stream, as classes of one of the two packages."""

    replay: type
    replay_async: type
    tee: type
    tee_async: type


def _streams(httpx: ModuleType) -> _Streams:
    failures = (httpx.TransportError, httpx.DecodingError)
    kinds = _Streams()

    def failure(text: str) -> Exception:
        """The exception a recorded error text names; a ``ReadError`` if it names none."""
        name, _, message = text.partition(": ")
        kind = getattr(httpx, name, None)
        if not (isinstance(kind, type) and issubclass(kind, failures)):
            kind, message = httpx.ReadError, text
        return cast(Exception, kind(message))

    class Replay(httpx.SyncByteStream):  # type: ignore[misc, name-defined]
        def __init__(self, response: Recorded) -> None:
            self._response = response

        def __iter__(self) -> Iterator[bytes]:
            for event in self._response.events:
                yield event.data
            if self._response.error is not None:
                raise failure(self._response.error)

    class ReplayAsync(httpx.AsyncByteStream):  # type: ignore[misc, name-defined]
        def __init__(self, response: Recorded) -> None:
            self._response = response

        async def __aiter__(self) -> AsyncIterator[bytes]:
            for event in self._response.events:
                yield event.data
            if self._response.error is not None:
                raise failure(self._response.error)

    class Tee(httpx.SyncByteStream):  # type: ignore[misc, name-defined]
        def __init__(self, take: Take, answer: Any, encoded: bool) -> None:
            self._take = take
            self._answer = answer
            self._encoded = encoded

        def __iter__(self) -> Iterator[bytes]:
            try:
                for chunk in self._answer.iter_bytes() if self._encoded else self._answer.stream:
                    self._take.feed(chunk)
                    yield chunk
            except failures as error:
                self._take.finish(error)
                raise
            self._take.finish()

        def close(self) -> None:
            try:
                self._take.leave()
            finally:
                self._answer.close()

    class TeeAsync(httpx.AsyncByteStream):  # type: ignore[misc, name-defined]
        def __init__(self, take: Take, answer: Any, encoded: bool) -> None:
            self._take = take
            self._answer = answer
            self._encoded = encoded

        async def __aiter__(self) -> AsyncIterator[bytes]:
            chunks = self._answer.aiter_bytes() if self._encoded else self._answer.stream
            try:
                async for chunk in chunks:
                    self._take.feed(chunk)
                    yield chunk
            except failures as error:
                self._take.finish(error)
                raise
            self._take.finish()

        async def aclose(self) -> None:
            try:
                self._take.leave()
            finally:
                await self._answer.aclose()

    kinds.replay, kinds.replay_async, kinds.tee, kinds.tee_async = (
        Replay,
        ReplayAsync,
        Tee,
        TeeAsync,
    )
    return kinds
