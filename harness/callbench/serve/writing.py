"""Putting a response on the wire: whole or event by event, and breaking off as it is told to."""

from __future__ import annotations

import asyncio
import contextlib
import math
import re
import socket
import struct
from dataclasses import dataclass
from http import HTTPStatus

from callbench.cassette.events import is_event_stream
from callbench.cassette.faults.kind import Faulted
from callbench.cassette.interaction import Response
from callbench.cassette.replay import Timing, emitted
from callbench.serve.kept import Kept

_END = b"0\r\n\r\n"
_RESET = "ReadError"
_TIMEOUT = "ReadTimeout"
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Framing:
    """How a client can be answered: whether the connection stays, HTTP chunks are known, a body is wanted."""

    keep: bool = True
    chunks: bool = True
    body: bool = True


KeptBytes = Kept[tuple[int, Framing], tuple[Response, bytes, bool]]
"""Answers as they were sent at once, and whether the connection stayed. Each holds its response: so no other
object has its id meanwhile."""


async def write(
    writer: asyncio.StreamWriter,
    faulted: Faulted,
    timing: Timing,
    framing: Framing,
    kept: KeptBytes | None = None,
) -> bool:
    """Send a response; return whether the connection can be used again.

    A stream goes in HTTP chunks, one for each event (to HTTP/1.0 until the connection ends). A response that
    ends in an error has no end: the connection is reset, left silent until the client goes, or closed, as the
    error says. ``kept`` spares what is sent at once, again and again, its making.
    """
    response = faulted.response
    known = None if kept is None or faulted.waits else kept.get((id(response), framing))
    if known is not None and not faulted.refused:
        writer.write(known[1])
        await writer.drain()
        return known[2]
    if faulted.refused:
        reset(writer)
        return False
    failure = response.error or ""
    unmeasured = is_event_stream(response.headers) or bool(failure)
    chunked = unmeasured and framing.chunks
    keep = framing.keep and not failure and unmeasured == chunked
    head = _head(response, chunked=chunked, measured=not unmeasured, keep=keep)
    if not framing.body:
        writer.write(head)
        await writer.drain()
        return keep
    if timing.pace is None and not faulted.waits and not failure:
        ready = head + _body(response, chunked=chunked)
        if kept is not None:
            kept.put((id(response), framing), (response, ready, keep), len(ready))
        writer.write(ready)
        await writer.drain()
        return keep
    at_first = faulted.waits.get(0, 0.0) > 0 and not math.isinf(faulted.waits[0])
    if not at_first:  # else the head comes late, too
        writer.write(head)
        await writer.drain()
        head = b""
    async for data in emitted(response, timing):
        if data:
            writer.write(head + (_chunk(data) if chunked else data))
            await writer.drain()
            head = b""
    if not failure:
        writer.write(head + (_END if chunked else b""))
        await writer.drain()
        return keep
    writer.write(head)
    await writer.drain()
    if failure.startswith(_TIMEOUT):
        await timing.sleep(math.inf)
    elif failure.startswith(_RESET):
        reset(writer)
    return False


def _head(response: Response, *, chunked: bool, measured: bool, keep: bool) -> bytes:
    try:
        reason = HTTPStatus(response.status).phrase
    except ValueError:
        reason = "Status"
    lines = [f"HTTP/1.1 {response.status} {reason}"]
    lines += [f"{name}: {_CONTROL.sub(' ', value)}" for name, value in response.headers.items()]
    if chunked:
        lines.append("transfer-encoding: chunked")
    elif measured:
        lines.append(f"content-length: {sum(len(event.data) for event in response.events)}")
    if not keep:
        lines.append("connection: close")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")


def _body(response: Response, *, chunked: bool) -> bytes:
    if not chunked:
        return response.body
    return b"".join([_chunk(event.data) for event in response.events if event.data]) + _END


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def reset(writer: asyncio.StreamWriter) -> None:
    """End a connection with a reset, as a peer that crashed does."""
    found = writer.get_extra_info("socket")
    if found is not None:
        with contextlib.suppress(OSError):
            found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
