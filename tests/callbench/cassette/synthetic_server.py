"""A synthetic endpoint on loopback, for tests only: it answers with scripted bytes, chunk by chunk.

It is a real HTTP/1.1 server over a real socket, so that what a test records went through the network stack.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

EVENT_STREAM = {"content-type": "text/event-stream"}


@dataclass
class Reply:
    """What to answer: chunks are flushed one by one; ``gate`` is awaited before the second one.

    ``cut``: close the connection in the middle of the body.
    """

    chunks: list[bytes]
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: dict(EVENT_STREAM))
    gate: asyncio.Event | None = None
    cut: bool = False


@dataclass
class SyntheticServer:
    """Gives ``replies`` in order (the last one again and again) and keeps every request as it came."""

    replies: list[Reply]
    url: str = ""
    requests: list[bytes] = field(default_factory=list)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = 0
                for line in head.split(b"\r\n"):
                    name, _, value = line.partition(b":")
                    if name.lower() == b"content-length":
                        length = int(value)
                self.requests.append(head + await reader.readexactly(length))
                reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
                await self._answer(writer, reply)
                if reply.cut:
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()

    async def _answer(self, writer: asyncio.StreamWriter, reply: Reply) -> None:
        headers = {**reply.headers, "transfer-encoding": "chunked"}
        lines = [f"HTTP/1.1 {reply.status} X", *(f"{k}: {v}" for k, v in headers.items()), "", ""]
        writer.write("\r\n".join(lines).encode())
        for number, chunk in enumerate(reply.chunks):
            if number == 1 and reply.gate is not None:
                await reply.gate.wait()
            writer.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            await writer.drain()
            await asyncio.sleep(0.002)  # so that chunks stay apart on the wire
        if not reply.cut:
            writer.write(b"0\r\n\r\n")
        await writer.drain()


@asynccontextmanager
async def serve(*replies: Reply) -> AsyncIterator[SyntheticServer]:
    """Run a server for the block."""
    endpoint = SyntheticServer(list(replies))
    server = await asyncio.start_server(endpoint.handle, "127.0.0.1", 0)
    endpoint.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    async with server:
        yield endpoint


def delta(text: str) -> bytes:
    """One chunk of a streamed chat completion, as endpoints send it."""
    return (
        'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","model":"synthetic",'
        f'"choices":[{{"index":0,"delta":{{"content":"{text}"}},"finish_reason":null}}]}}\n\n'
    ).encode()


USAGE = (
    b'data: {"id":"chatcmpl-1","choices":[],"usage":{"prompt_tokens":11,"completion_tokens":3,'
    b'"completion_tokens_details":{"reasoning_tokens":2}}}\n\n'
)
DONE = b"data: [DONE]\n\n"


def stream(*texts: str) -> Reply:
    """A whole streamed answer."""
    return Reply([*map(delta, texts), USAGE, DONE])
