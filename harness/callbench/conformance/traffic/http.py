"""As much of HTTP/1.1 as an endpoint on loopback needs, on asyncio's streams."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from callbench.conformance.traffic.script import Reply

MOST_HEAD = 1024 * 1024
_MOST_BODY = 64 * 1024 * 1024
_REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 500: "Internal Server Error"}


class BadRequest(ValueError):
    """Bytes that are no request; ``status`` is how HTTP says so."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it came; names of headers in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes
    version: str = "HTTP/1.1"

    @property
    def keep(self) -> bool:
        """Whether the client may ask again on this connection."""
        words = {word.strip().lower() for word in self.headers.get("connection", "").split(",")}
        return "keep-alive" in words if self.version == "HTTP/1.0" else "close" not in words


async def read_request(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> Received | None:
    """Read one request; ``None`` when the client left without one. Raises :class:`BadRequest`."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as error:
        if not error.partial:
            return None
        raise BadRequest("the head of the request has no end") from error
    except asyncio.LimitOverrunError as error:
        raise BadRequest("the head of the request is too long", 431) from error
    method, target, version, headers = (_parsed if len(head) <= _SHORT_HEAD else _parse)(head)
    if headers.get("expect", "").lower() == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    try:
        body = await _body(reader, headers)
    except asyncio.IncompleteReadError as error:
        raise BadRequest("the body of the request is cut") from error
    except asyncio.LimitOverrunError as error:
        raise BadRequest("a line between the chunks of the body is too long") from error
    return Received(method, target, headers, body, version)


def _parse(head: bytes) -> tuple[str, str, str, Mapping[str, str]]:
    """Method, target, version and headers."""
    try:
        text = head.decode()
    except UnicodeDecodeError:
        text = head.decode("latin-1")
    first, *lines = text.lstrip("\r\n").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise BadRequest(f"no request line of HTTP/1: {first[:80]!r}")
    pairs = (line.partition(":") for line in lines if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    return words[0], words[1], words[2], MappingProxyType(headers)


_SHORT_HEAD = 4096
_parsed = lru_cache(maxsize=1024)(_parse)  # clients send the same head again and again


async def _body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    if "chunked" in headers.get("transfer-encoding", "").lower():
        body = bytearray()
        while size := _size((await reader.readuntil(b"\n")).partition(b";")[0], 16):
            body += await reader.readexactly(size)
            if len(body) > _MOST_BODY:
                raise BadRequest(f"a body of more than {_MOST_BODY} bytes", 413)
            await reader.readexactly(2)
        while (await reader.readuntil(b"\n")).strip():
            pass
        return bytes(body)
    return await reader.readexactly(_size(headers.get("content-length", "0").encode(), 10))


def _size(digits: bytes, base: int) -> int:
    try:
        size = int(digits.strip(), base)
    except ValueError as error:
        raise BadRequest(f"no length: {digits[:40]!r}") from error
    if not 0 <= size <= _MOST_BODY:
        told = f"a body of {size} bytes, of {_MOST_BODY} at most"
        raise BadRequest(told, 400 if size < 0 else 413)
    return size


async def write_reply(writer: asyncio.StreamWriter, reply: Reply) -> None:
    """Send an answer: a stream event by event, each an HTTP chunk of its own, else as one body."""
    reason = _REASONS.get(reply.status, "Status")
    kind = "text/event-stream" if reply.stream else "application/json"
    head = f"HTTP/1.1 {reply.status} {reason}\r\nConnection: close\r\nContent-Type: {kind}\r\n"
    if not reply.stream:
        body = b"".join(reply.events)
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()
        return
    writer.write(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
    for event in reply.events:
        if event:  # a chunk of no bytes would end the body
            writer.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")
            await writer.drain()
    if not reply.cut:
        writer.write(b"0\r\n\r\n")
    await writer.drain()
