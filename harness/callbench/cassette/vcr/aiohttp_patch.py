"""aiohttp: a client middleware of its own, put innermost, sees each request a session really sends.

Redirects, cookies and the middlewares of the session stay aiohttp's own. Event streams are a tee; other
answers are read whole before the caller gets them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from http.client import responses
from types import SimpleNamespace
from typing import Any

from callbench.cassette.events import is_event_stream
from callbench.cassette.interaction import Interaction
from callbench.cassette.interaction import Response as Recorded
from callbench.cassette.replay import error_text
from callbench.cassette.take import Take
from callbench.cassette.vcr.answers import answer_headers, take_head
from callbench.cassette.vcr.patching import Patch
from callbench.cassette.vcr.session import Asked, current_session
from callbench.errors import UsageError

_LINE_LIMIT = 2**20


def patches() -> Iterator[Patch]:
    """The patch of aiohttp. Raises ``UsageError`` for a version without client middlewares."""
    import aiohttp

    if not hasattr(aiohttp, "ClientMiddlewareType"):
        raise UsageError(
            f"use_cassette needs aiohttp 3.12 or newer; {aiohttp.__version__} is installed.",
            remedy="Upgrade it: pip install -U aiohttp",
        )
    yield Patch(aiohttp.ClientSession, "_request", _request)


def _request(real: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def request(self: Any, method: str, url: Any, **options: Any) -> Any:
        if current_session() is None:
            return await real(self, method, url, **options)
        own = options.pop("middlewares", None)
        outer = self._middlewares if own is None else own
        return await real(self, method, url, middlewares=(*outer, _middleware), **options)

    return request


async def _middleware(request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
    session = current_session()
    if session is None:
        return await handler(request)
    body = request.body
    whole = await body.as_bytes() if hasattr(body, "as_bytes") else bytes(body or b"")
    raw = tuple((k.encode(), v.encode("utf-8")) for k, v in request.headers.items())
    found = session.find(Asked(request.method, str(request.url), raw, whole))
    if isinstance(found, Interaction):
        return await _replayed(request, found)
    try:
        response = await handler(request)
    except BaseException as error:
        found.drop(error_text(error))
        raise
    await _take_in(found, response)
    return response


async def _take_in(take: Take, response: Any) -> None:
    """Put a content in the response's place of its own that feeds ``take`` as it is read."""
    take_head(take, response.status, response.headers.items())
    content = _pulled(_tee(take, response.content), take.leave)
    if not is_event_stream(take.response.headers):
        await content.fill()
    response.content = content


async def _tee(take: Take, content: Any) -> AsyncIterator[bytes]:
    import aiohttp

    try:
        while chunk := await content.readany():
            take.feed(chunk)
            yield chunk
    except (aiohttp.ClientError, TimeoutError) as error:
        take.finish(error)
        raise
    take.finish()


async def _replayed(request: Any, found: Interaction) -> Any:
    from aiohttp import HttpVersion11
    from aiohttp.http_parser import RawResponseMessage
    from multidict import CIMultiDict, CIMultiDictProxy

    fields = answer_headers(found)
    status = found.response.status
    message = RawResponseMessage(
        HttpVersion11,
        status,
        responses.get(status, ""),
        CIMultiDictProxy(CIMultiDict(fields)),
        tuple((name.encode(), value.encode()) for name, value in fields),
        should_close=False,
        compression=None,
        upgrade=False,
        chunked=False,
    )
    response = request.response_class(
        request.method,
        request.original_url,
        writer=None,
        continue100=None,
        timer=request._timer,
        request_info=request.request_info,
        traces=request._traces,
        loop=request.loop,
        session=request._session,
        stream_writer=SimpleNamespace(output_size=0),
    )
    content = _pulled(_replay(found.response))

    async def read() -> Any:
        return message, content

    await response.start(SimpleNamespace(protocol=SimpleNamespace(read=read)))
    response._connection = None  # nothing to release
    return response


async def _replay(response: Recorded) -> AsyncIterator[bytes]:
    import aiohttp

    for event in response.events:
        yield event.data
    if response.error is not None:
        if "Timeout" in response.error.partition(": ")[0]:
            raise aiohttp.SocketTimeoutError(response.error)
        raise aiohttp.ClientPayloadError(response.error)


def _pulled(chunks: AsyncIterator[bytes], left: Callable[[], None] = lambda: None) -> Any:
    """A stream reader that takes the next chunk when its reader waits for more.

    ``left`` is called when the response is released before its end.
    """
    from aiohttp.base_protocol import BaseProtocol
    from aiohttp.streams import StreamReader

    class Pulled(StreamReader):
        async def fill(self) -> None:
            while not self._eof:
                await self._wait("fill")

        async def _wait(self, func_name: str) -> None:
            try:
                chunk = await anext(chunks, b"")
            except Exception as error:
                self.set_exception(error)
                raise
            if chunk:
                self.feed_data(chunk)
            else:
                self.feed_eof()

        def set_exception(self, *told: Any) -> None:
            left()
            super().set_exception(*told)

    class Unpaced(BaseProtocol):
        """No transport is behind it that could be told to wait: chunks come when they are asked for."""

        def pause_reading(self, *_: Any, **__: Any) -> None:
            pass

        def resume_reading(self, *_: Any, **__: Any) -> None:
            pass

    loop = asyncio.get_running_loop()
    return Pulled(Unpaced(loop), _LINE_LIMIT, loop=loop)
