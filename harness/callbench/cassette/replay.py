"""A recorded response as an httpx2 response: event by event, failing as the recorded stream failed."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2

from callbench.cassette.interaction import Response

STREAM_ERRORS = (httpx2.TransportError, httpx2.DecodingError)
"""How a stream can fail for reasons that are not the caller's: these failures are recorded."""


def replay(response: Response) -> httpx2.Response:
    """The response to hand out for a recorded one."""
    return httpx2.Response(
        response.status, headers=dict(response.headers), stream=_ReplayStream(response)
    )


def error_text(error: BaseException) -> str:
    """How a failure is recorded: the name of its class and its message."""
    return f"{type(error).__name__}: {error}"


class _ReplayStream(httpx2.AsyncByteStream):
    def __init__(self, response: Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for event in self._response.events:
            yield event.data
        if self._response.error is not None:
            raise _as_exception(self._response.error)


def _as_exception(text: str) -> Exception:
    """The httpx2 exception a recorded error text names; a ``ReadError`` if it names none."""
    name, _, message = text.partition(": ")
    kind = getattr(httpx2, name, None)
    if isinstance(kind, type) and issubclass(kind, STREAM_ERRORS):
        return kind(message)
    return httpx2.ReadError(text)
