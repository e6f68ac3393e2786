"""Streams that end badly, recorded over a real socket: every byte and the failure come back in replay (C3, B1, B2, B4)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx2
import pytest

from callbench.cassette import Cassette, case_scope

from .synthetic_client import BODY, Client, only
from .synthetic_server import DONE, Reply, delta, serve

CHARACTER = delta("杭州").replace(b"\n\n", b"\r\n\r\n")
AT = CHARACTER.index("杭".encode()) + 1


async def got(client: Client, seconds: float) -> tuple[bytes, str]:
    """What a client reads, and how it ends for it."""
    pieces = b""
    try:
        async with client.http.stream(
            "POST", "/chat/completions", json=BODY, timeout=seconds
        ) as response:
            async for chunk in response.aiter_raw():
                pieces += chunk
    except httpx2.TransportError as error:
        return pieces, type(error).__name__
    return pieces, ""


@pytest.mark.parametrize(
    ("reply", "ends"),
    [
        (Reply([delta("a"), delta("b")]), ""),
        (Reply([delta("a"), DONE, b"data: {garbage\n\n", b"\xff\x00tail"]), ""),
        (Reply([CHARACTER[:AT], CHARACTER[AT:-3], CHARACTER[-3:], DONE]), ""),
        (Reply([delta("a"), b'data: {"x":"\xe6'], cut=True), "RemoteProtocolError"),
        (Reply([delta("a"), delta("b")], gate=asyncio.Event()), "ReadTimeout"),
    ],
    ids=["no [DONE]", "garbage after [DONE]", "cut character and CRLF", "cut", "stall"],
)
async def test_as_it_was(path: Path, reply: Reply, ends: str) -> None:
    async with serve(reply) as server:
        with Cassette.open(path) as cassette:
            async with Client(cassette, "record", server.url) as client:
                with case_scope("a"):
                    live = await got(client, 0.4)
    assert live[1] == ends
    assert only(path).response.body == live[0]
    async with Client(Cassette.open(path), "replay") as client:
        with case_scope("a"):
            assert await got(client, 5) == live
    if not ends:
        assert live[0] == b"".join(reply.chunks)
