"""What the transport tests ask with: a client, a synthetic model in process, a recorder. For tests only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2

from callbench.cassette import (
    Cassette,
    CassetteTransport,
    Interaction,
    case_scope,
)

from .synthetic_server import Reply, SyntheticServer, serve

BODY = {
    "model": "synthetic",
    "messages": [{"role": "user", "content": "Hangzhou?"}],
    "stream": True,
}


JSON = {"content-type": "application/json"}


class Client:
    """Sends chat requests through a cassette transport and gives the bytes back, chunk by chunk."""

    def __init__(
        self, cassette: Cassette, mode: str, url: str = "http://never.invalid/v1", **options: Any
    ) -> None:
        self.transport = CassetteTransport(cassette, mode, **options)
        self.url = url

    async def __aenter__(self) -> Client:
        self.http = httpx2.AsyncClient(transport=self.transport, base_url=self.url, timeout=5)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.http.aclose()

    async def chunks(self, body: Any = BODY, **options: Any) -> list[bytes]:
        async with self.http.stream("POST", "/chat/completions", json=body, **options) as response:
            return [chunk async for chunk in response.aiter_raw()]

    async def post(self, body: Any = BODY, **options: Any) -> httpx2.Response:
        return await self.http.post("/chat/completions", json=body, **options)


class InProcess(httpx2.AsyncBaseTransport):
    """A model in process: an inner transport that counts its answers."""

    def __init__(self) -> None:
        self.asked = 0
        self.closed = False

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.asked += 1
        return httpx2.Response(
            200, headers={"content-type": "text/plain"}, content=b"answer %d" % self.asked
        )

    async def aclose(self) -> None:
        self.closed = True


async def record(path: Path, *replies: Reply, **options: Any) -> SyntheticServer:
    """Record one request of case ``a`` per reply."""
    async with serve(*replies) as server:
        with Cassette.open(path) as cassette:
            async with Client(cassette, "record", server.url) as client:
                with case_scope("a"):
                    for _ in replies:
                        await client.chunks(**options)
    return server


def only(path: Path) -> Interaction:
    (interaction,) = Cassette.open(path)
    return interaction
