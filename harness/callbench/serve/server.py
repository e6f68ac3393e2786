"""An HTTP/1.1 server on 127.0.0.1 that answers from a cassette."""

from __future__ import annotations

import asyncio
import contextlib
import math
from dataclasses import replace

from callbench.cassette.replay import Timing
from callbench.conformance.traffic.http import MOST_HEAD, BadRequest, Received, read_request
from callbench.errors import CallbenchError, UsageError
from callbench.serve.answering import Answering, error
from callbench.serve.kept import Kept
from callbench.serve.writing import Framing, KeptBytes, write

HOST = "127.0.0.1"
GRACE = 5.0
"""Seconds that answers under way have when the server is closed."""

_PATIENCE = 2.0
_GLANCE = 0.2  # seconds after which a wait looks whether its client is still there


class ReplayServer:
    """Serves one :class:`Answering` until it is closed.

    ``pace``: 1 sends events in their recorded times, 2 twice as fast, ``None`` at once.
    """

    def __init__(
        self, answering: Answering, *, pace: float | None = None, grace: float = GRACE
    ) -> None:
        self._answering = answering
        self._pace = pace
        self._grace = grace
        self._server: asyncio.Server | None = None
        self._busy: set[asyncio.Task[None]] = set()
        self._all: set[asyncio.Task[None]] = set()
        self._closing = False
        self._written: KeptBytes = Kept()

    async def start(self, port: int = 0) -> str:
        """Listen and return the base URL. Raises ``UsageError`` when the port is taken."""
        try:
            self._server = await asyncio.start_server(
                self._connection, HOST, port, limit=MOST_HEAD, backlog=1024
            )
        except OSError as cause:
            raise UsageError(
                f"Port {port} of {HOST} cannot be used: {cause.strerror or cause}.",
                remedy="Take another, or --port 0 for one that is free.",
            ) from cause
        return f"http://{HOST}:{self._server.sockets[0].getsockname()[1]}/v1"

    async def close(self) -> None:
        """Stop listening; answers under way have the grace to end, idle connections none."""
        self._closing = True
        if self._server is not None:
            self._server.close()
        for task in self._all - self._busy:
            task.cancel()
        if self._busy:
            await asyncio.wait(self._busy, timeout=self._grace)
        rest = set(self._all)
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._all.add(task)
        try:
            while not self._closing:
                try:
                    received = await read_request(reader, writer)
                except BadRequest as problem:
                    told = f"no request that can be read: {problem}"
                    bad = error(problem.status, told, "bad_request")
                    await write(writer, bad, Timing(), Framing(keep=False))
                    await _drained(reader)
                    break
                if received is None:
                    break
                self._busy.add(task)
                keep = await self._answer(received, reader, writer)
                self._busy.discard(task)
                if not keep:
                    break
        except (ConnectionError, asyncio.CancelledError):
            pass  # the client left, or the server is closing: both are ordinary
        finally:
            self._busy.discard(task)
            self._all.discard(task)
            writer.close()

    async def _answer(
        self, received: Received, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        try:
            faulted = self._answering.answer(received)
        except CallbenchError as problem:
            faulted = error(500, str(problem), "callbench_error")
        framing = Framing(
            keep=received.keep and not self._closing,
            chunks=received.version != "HTTP/1.0",
            body=received.method != "HEAD",
        )

        async def sleep(seconds: float) -> None:
            await _while_there(seconds, reader)

        timing = Timing(pace=self._pace, sleep=sleep)
        if faulted.waits:
            timing = replace(timing, waits=faulted.waits)
        return await write(writer, faulted, timing, framing, self._written)


async def _drained(reader: asyncio.StreamReader) -> None:
    """Read what a client still sends, for a while: closed before, its connection would be reset unread."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_PATIENCE):
            while await reader.read(1 << 16):
                pass


async def _while_there(seconds: float, reader: asyncio.StreamReader) -> None:
    """Wait; raise ``ConnectionAbortedError`` when the client goes meanwhile."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while (left := end - loop.time()) > 0:
        await asyncio.sleep(left if math.isfinite(left) and left < _GLANCE else _GLANCE)
        if reader.at_eof():
            raise ConnectionAbortedError
