"""Requests a second of the replay server, beside a bare server of the same stack, both in one run.

    .venv/bin/python benchmarks/serve.py

Bare: asyncio's streams, the same reader of requests, one ready answer. Ours: the request is made canonical,
its key looked up, the recording sent event by event. The traffic is synthetic; clients run in a process of
their own, and each server in its own.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import statistics
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

from callbench.cassette import (
    Cassette,
    Event,
    Interaction,
    Response,
    canonical_request,
    request_key,
)
from callbench.conformance.traffic.http import read_request
from callbench.serve.answering import Answering, UsedUp
from callbench.serve.server import ReplayServer

RECORDINGS = 200
EVENTS = 20
CLIENTS = 8
REQUESTS = 250
ROUNDS = 5


def body(number: int) -> bytes:
    """Return a synthetic request of about the size of a slot prompt."""
    text = f"{number} nights in Hangzhou. " + "You fill the arguments of a tool call. " * 40
    messages = [{"role": "user", "content": text}]
    return json.dumps({"model": "synthetic", "messages": messages, "stream": True}).encode()


def response() -> Response:
    """Return a synthetic stream."""
    chunk = {"id": "synthetic", "choices": [{"index": 0, "delta": {"content": "a few words"}}]}
    data = b"data: " + json.dumps(chunk).encode() + b"\n\n"
    events = (*(Event(n, data) for n in range(EVENTS - 1)), Event(EVENTS, b"data: [DONE]\n\n"))
    return Response(200, {"content-type": "text/event-stream"}, events, elapsed_ms=EVENTS)


def record(path: Path) -> None:
    """Write the cassette that ours answers from."""
    with Cassette.open(path, models=["synthetic"]) as cassette:
        for number in range(RECORDINGS):
            request = canonical_request("POST", "/v1/chat/completions", body(number))
            key = request_key(request)
            cassette.append(Interaction(key, f"synthetic-{number}", 0, request, response()))


def bare(told: Connection) -> None:
    """Serve one ready answer."""
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(e.data), e.data) for e in response().events)
    head = (
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    ready = head + chunks + b"0\r\n\r\n"

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await read_request(reader, writer) is not None:
            writer.write(ready)
            await writer.drain()
        writer.close()

    async def main() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        told.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


def ours(told: Connection, path: Path) -> None:
    """Serve the cassette."""

    async def main() -> None:
        server = ReplayServer(Answering(Cassette.open(path), used_up=UsedUp.LOOP))
        told.send(int((await server.start()).rsplit(":", 1)[1].partition("/")[0]))
        await asyncio.Event().wait()

    asyncio.run(main())


async def load(port: int) -> float:
    """Ask, several clients at a time, each on one connection; return requests a second."""
    bodies = [body(number) for number in range(RECORDINGS)]

    async def client(first: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for number in range(REQUESTS):
            content = bodies[(first + number) % RECORDINGS]
            head = b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: %d\r\n\r\n"
            writer.write(head % len(content) + content)
            answer = await reader.readuntil(b"\r\n0\r\n\r\n")
            assert answer.startswith(b"HTTP/1.1 200")
        writer.close()

    started = time.perf_counter()
    await asyncio.gather(*(client(number * RECORDINGS // CLIENTS) for number in range(CLIENTS)))
    return CLIENTS * REQUESTS / (time.perf_counter() - started)


def main() -> None:
    """Print both speeds and their ratio, medians of interleaved rounds."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "synthetic.cassette.jsonl"
        record(path)
        mine, theirs = multiprocessing.Pipe()
        servers = [
            multiprocessing.Process(target=bare, args=(theirs,), daemon=True),
            multiprocessing.Process(target=ours, args=(theirs, path), daemon=True),
        ]
        ports = []
        for server in servers:
            server.start()
            ports.append(mine.recv())
        rounds = [[asyncio.run(load(port)) for port in ports] for _ in range(ROUNDS)]
        for server in servers:
            server.terminate()
    floor, full = (statistics.median(one[place] for one in rounds) for place in (0, 1))
    ratio = statistics.median(one[1] / one[0] for one in rounds)
    print(f"bare: {floor:,.0f} requests/s   callbench serve: {full:,.0f}   ratio: {ratio:.2f}")


if __name__ == "__main__":
    main()
