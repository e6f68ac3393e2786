"""A synthetic cassette and a server over it; requests as raw bytes where a client would be too polite."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from callbench.cassette import (
    Cassette,
    Event,
    Interaction,
    Response,
    canonical_request,
    request_key,
)
from callbench.cassette.faults import Faults, Plan
from callbench.cassette.faults.declared import fault
from callbench.serve.answering import Answering
from callbench.serve.server import ReplayServer

PATH = "/v1/chat/completions"
TOOL = {
    "type": "function",
    "function": {"name": "book", "parameters": {"type": "object", "properties": {}}},
}


def body(content: str, *, stream: bool = False, **more: Any) -> bytes:
    messages = [{"role": "user", "content": content}]
    asked = {"model": "synthetic", "messages": messages, "stream": stream, **more}
    return json.dumps(asked, ensure_ascii=False).encode()


def streamed(*texts: str) -> Response:
    head = {"id": "synthetic-1", "created": 1, "model": "synthetic"}
    head["object"] = "chat.completion.chunk"
    deltas: list[tuple[dict[str, Any], str | None]] = [({"content": text}, None) for text in texts]
    chunks = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
        for delta, finish in [*deltas, ({}, "stop")]
    ]
    data = [b"data: " + json.dumps(one, ensure_ascii=False).encode() + b"\n\n" for one in chunks]
    events = [Event(n, one) for n, one in enumerate([*data, b"data: [DONE]\n\n"])]
    return Response(200, {"content-type": "text/event-stream"}, tuple(events), elapsed_ms=9)


def whole(text: str | None, **message: Any) -> Response:
    said = {"role": "assistant", "content": text, **message}
    answer = {
        "id": "synthetic-1",
        "created": 1,
        "model": "synthetic",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": said, "finish_reason": "stop"}],
    }
    data = json.dumps(answer, ensure_ascii=False).encode()
    return Response(200, {"content-type": "application/json"}, (Event(9, data),), elapsed_ms=9)


def recording(
    content: str, response: Response, case: str = "", ordinal: int = 0, **more: Any
) -> Interaction:
    stream = response.headers["content-type"] == "text/event-stream"
    request = canonical_request("POST", PATH, body(content, stream=stream, **more))
    return Interaction(request_key(request), case, ordinal, request, response)


def made(path: Path, *recordings: Interaction) -> Cassette:
    with Cassette.open(path, models=["synthetic"]) as cassette:
        for one in recordings:
            cassette.append(one)
    return Cassette.open(path)


def faults(*declared: dict[str, Any]) -> Faults:
    return Faults(Plan(tuple(fault(one) for one in declared)))


@asynccontextmanager
async def serving(answering: Answering, **options: Any) -> AsyncIterator[str]:
    server = ReplayServer(answering, **options)
    try:
        yield await server.start()
    finally:
        await server.close()


async def connect(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    place = urlsplit(url)
    return await asyncio.open_connection(place.hostname, place.port)


def raw(content: bytes, path: str = PATH, headers: Iterable[str] = ()) -> bytes:
    lines = [
        f"POST {path} HTTP/1.1",
        "host: localhost",
        f"content-length: {len(content)}",
        *headers,
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + content


async def reply(reader: asyncio.StreamReader) -> tuple[int, dict[str, str], bytes]:
    """Read one response as the standard says, whatever its framing."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
    if "content-length" in headers:
        content = await reader.readexactly(int(headers["content-length"]))
    else:
        content = b""
        while size := int(await reader.readline(), 16):
            content += await reader.readexactly(size)
            await reader.readexactly(2)
        await reader.readexactly(2)
    return int(head[0].split()[1]), headers, content
