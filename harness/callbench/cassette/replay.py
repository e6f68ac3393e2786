"""A recorded response as an httpx2 response: event by event, failing as the recorded stream failed.

``emitted`` is the one place where recorded events pass on their way to a client, in process or over a
socket: how time passes there is said by ``Timing``.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field

import httpx2

from callbench.cassette.interaction import Response
from callbench.errors import UsageError

STREAM_ERRORS = (httpx2.TransportError, httpx2.DecodingError)
"""How a stream can fail for reasons that are not the caller's: these failures are recorded."""

Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Timing:
    """How time passes while a response is replayed.

    ``pace``: 1 is as recorded, 2 twice as fast, ``None`` all at once. Events are due at their recorded times
    after the request, by ``clock`` (seconds): one that is late does not make those after it late. ``waits`` maps the number of an event
    (the number of events: the end) to seconds to wait before it, beside that. A wait of more than
    ``read_timeout`` seconds ends in ``httpx2.ReadTimeout``, as it does on a socket.
    """

    pace: float | None = None
    sleep: Sleep = asyncio.sleep
    clock: Callable[[], float] = time.monotonic
    waits: Mapping[int, float] = field(default_factory=dict)
    read_timeout: float | None = None

    def before(self, number: int, since_ms: int) -> float:
        """Seconds to wait before event ``number``, recorded ``since_ms`` after the one before it."""
        recorded = max(since_ms, 0) / 1000 / self.pace if self.pace else 0.0
        return recorded + self.waits.get(number, 0.0)


async def emitted(response: Response, timing: Timing) -> AsyncIterator[bytes]:
    """Yield the events in their time. How the stream failed, if it did, is left to the caller."""
    started = timing.clock()
    due = 0.0
    before_ms = 0
    for number, event in enumerate(response.events):
        step = timing.before(number, event.at_ms - before_ms)
        due += step
        await _wait(step, started + due, timing)
        before_ms = max(event.at_ms, before_ms)
        yield event.data
    step = timing.before(len(response.events), response.elapsed_ms - before_ms)
    await _wait(step, started + due + step, timing)


async def _wait(seconds: float, until: float, timing: Timing) -> None:
    if seconds <= 0:
        return
    limit = timing.read_timeout
    if limit is not None and seconds > limit:
        await timing.sleep(limit)
        raise httpx2.ReadTimeout(f"no byte for {limit:g} seconds")
    left = until - timing.clock() if timing.pace else seconds
    if left > 0:
        await timing.sleep(left)


def read_pace(text: str) -> float | None:
    """The pace that a user asked for: ``instant``, ``real``, or a factor as in ``2x`` or ``2×``.

    Raises ``UsageError`` for anything else.
    """
    given = text.strip().lower()
    if given in ("instant", "real"):
        return 1.0 if given == "real" else None
    try:
        pace = float(given.rstrip("x×"))
    except ValueError:
        pace = 0.0
    if not 0 < pace < float("inf"):
        raise UsageError(
            f"--pace {text}: it is instant, real, or a factor as in 10x (ten times as fast)."
        )
    return pace


def replay(response: Response, timing: Timing | None = None) -> httpx2.Response:
    """The response to hand out for a recorded one; without ``timing`` all at once."""
    stream: httpx2.AsyncByteStream
    stream = _ReplayStream(response) if timing is None else _TimedStream(response, timing)
    return httpx2.Response(response.status, headers=dict(response.headers), stream=stream)


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
            raise as_exception(self._response.error)


class _TimedStream(_ReplayStream):
    def __init__(self, response: Response, timing: Timing) -> None:
        super().__init__(response)
        self._timing = timing

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for data in emitted(self._response, self._timing):
            yield data
        if self._response.error is not None:
            raise as_exception(self._response.error)


def as_exception(text: str) -> Exception:
    """The httpx2 exception a recorded error text names; a ``ReadError`` if it names none."""
    name, _, message = text.partition(": ")
    kind = getattr(httpx2, name, None)
    if isinstance(kind, type) and issubclass(kind, STREAM_ERRORS):
        return kind(message)
    return httpx2.ReadError(text)
