"""Streams through the bridge: the caller sees a byte when it comes (TRAPS C3); uploads; the openai package."""

from __future__ import annotations

import asyncio
import io
import json
import socket
import urllib.request
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import httpx
import httpx2
import openai
import pytest
import requests
import urllib3

from callbench.cassette import Cassette, CassetteMiss
from callbench.cassette.vcr import use_cassette

from .loopback import PIECES, Server

CHAT: dict[str, Any] = {"model": "synthetic", "messages": [{"role": "user", "content": "?"}]}
STREAM = {**CHAT, "stream": True}


def _requests(url: str) -> Iterator[bytes]:
    with requests.post(url, json=STREAM, stream=True, timeout=5) as got:
        yield from got.iter_content(None)


def _urllib3(url: str) -> Iterator[bytes]:
    body = json.dumps(STREAM)
    got = urllib3.PoolManager().request("POST", url, body=body, preload_content=False, timeout=5)
    yield from got.stream()


def _urllib(url: str) -> Iterator[bytes]:
    asked = urllib.request.Request(url, json.dumps(STREAM).encode())
    with urllib.request.urlopen(asked, timeout=5) as got:
        while chunk := got.read1(65536):
            yield chunk


def _httpx(module: Any) -> Any:
    def chunks(url: str) -> Iterator[bytes]:
        with module.Client(timeout=5) as client, client.stream("POST", url, json=STREAM) as got:
            yield from got.iter_bytes()

    return chunks


def _httpx_async(module: Any) -> Any:
    async def chunks(url: str) -> AsyncIterator[bytes]:
        async with (
            module.AsyncClient(timeout=5) as client,
            client.stream("POST", url, json=STREAM) as got,
        ):
            async for chunk in got.aiter_bytes():
                yield chunk

    return chunks


async def _aiohttp(url: str) -> AsyncIterator[bytes]:
    async with aiohttp.ClientSession() as session, session.post(url, json=STREAM) as got:
        async for chunk in got.content.iter_any():
            yield chunk


SYNC = {
    "requests": _requests,
    "urllib3": _urllib3,
    "urllib": _urllib,
    "httpx": _httpx(httpx),
    "httpx2": _httpx(httpx2),
}
ASYNC = {"httpx": _httpx_async(httpx), "httpx2": _httpx_async(httpx2), "aiohttp": _aiohttp}


@pytest.mark.trap("C3")
@pytest.mark.parametrize("name", SYNC)
def test_recording_passes_on_what_came(server: Server, path: Path, name: str) -> None:
    url = f"{server.url}/chat/completions"
    server.gate.clear()
    with use_cassette(path, mode="record"):
        chunks = SYNC[name](url)
        live = [next(chunks)]
        assert PIECES[0].encode() in live[0]  # the server waits before its third event
        server.gate.set()
        live += chunks
    server.stop()
    with use_cassette(path):
        replayed = list(SYNC[name](url))
    assert b"".join(replayed) == b"".join(live)
    assert len(replayed) == len(PIECES) + 1
    [interaction] = Cassette.open(path)
    times = [event.at_ms for event in interaction.response.events]
    assert times == sorted(times)


@pytest.mark.trap("C3")
@pytest.mark.parametrize("name", ASYNC)
async def test_recording_passes_on_what_came_async(server: Server, path: Path, name: str) -> None:
    url = f"{server.url}/chat/completions"
    server.gate.clear()
    with use_cassette(path, mode="record"):
        live = []
        async for chunk in ASYNC[name](url):
            live.append(chunk)
            server.gate.set()
        assert PIECES[0].encode() in live[0]
    server.stop()
    with use_cassette(path):
        replayed = [chunk async for chunk in ASYNC[name](url)]
    assert b"".join(replayed) == b"".join(live)
    assert len(replayed) == len(PIECES) + 1


def test_a_stream_that_was_left_is_not_recorded(server: Server, path: Path) -> None:
    with use_cassette(path, mode="record"):
        for chunks in (SYNC["requests"], SYNC["httpx"], SYNC["httpx2"]):
            stream = chunks(f"{server.url}/chat/completions")
            next(stream)
            stream.close()
    assert not path.exists()


def test_a_stream_that_was_left_is_not_recorded_async(server: Server, path: Path) -> None:
    async def leave() -> None:
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{server.url}/chat/completions", json=STREAM) as got,
        ):
            await got.content.readany()
        await asyncio.sleep(0.05)  # aiohttp closes its socket in a later turn of the loop

    with use_cassette(path, mode="record"):
        asyncio.run(leave())
    assert len(Cassette.open(path)) == 0


class TestOpenAI:
    def client(self, server: Server) -> openai.OpenAI:
        return openai.OpenAI(base_url=server.url, api_key="sk-synthetic-000000000", max_retries=0)

    def aclient(self, server: Server) -> openai.AsyncOpenAI:
        key = "sk-synthetic-000000000"
        return openai.AsyncOpenAI(base_url=server.url, api_key=key, max_retries=0)

    def test_plain(self, server: Server, path: Path) -> None:
        with use_cassette(path, mode="record"):
            live = self.client(server).chat.completions.create(**CHAT)
        server.stop()
        with use_cassette(path):
            replayed = self.client(server).chat.completions.create(**CHAT)
        assert replayed == live
        assert live.choices[0].message.content == "杭州 ✓"
        [interaction] = Cassette.open(path)
        assert interaction.request.path == "/chat/completions"
        assert interaction.usage == {
            "prompt_tokens": 3,
            "completion_tokens": 2,
            "total_tokens": 5,
        }
        assert "sk-synthetic" not in path.read_text()

    def test_streamed(self, server: Server, path: Path) -> None:
        with use_cassette(path, mode="record"):
            live = list(self.client(server).chat.completions.create(**STREAM))
        server.stop()
        with use_cassette(path):
            replayed = list(self.client(server).chat.completions.create(**STREAM))
        assert replayed == live
        assert "".join(chunk.choices[0].delta.content or "" for chunk in live) == "".join(PIECES)

    async def test_async(self, server: Server, path: Path) -> None:
        async def ask() -> Any:
            async with self.aclient(server) as client:
                return await client.chat.completions.create(**CHAT)

        with use_cassette(path, mode="record"):
            live = await ask()
        server.stop()
        with use_cassette(path):
            assert await ask() == live

    async def test_async_streamed(self, server: Server, path: Path) -> None:
        async def chunks() -> list[Any]:
            async with self.aclient(server) as client:
                stream = await client.chat.completions.create(**STREAM)
                return [chunk async for chunk in stream]

        with use_cassette(path, mode="record"):
            live = await chunks()
        server.stop()
        with use_cassette(path):
            assert await chunks() == live
        assert len(live) == len(PIECES)

    @pytest.mark.trap("C9")
    def test_a_miss_is_told(self, server: Server, path: Path) -> None:
        with pytest.raises(CassetteMiss, match="POST /chat/completions"), use_cassette(path):
            self.client(server).chat.completions.create(**CHAT)
        assert server.asked == []

    def test_retries_of_the_client_find_their_answers(self, server: Server, path: Path) -> None:
        client = self.client(server).with_options(base_url=f"{server.url}/busy")
        with use_cassette(path, mode="record"), pytest.raises(openai.RateLimitError, match="busy"):
            client.chat.completions.create(**CHAT)
        server.stop()
        with use_cassette(path), pytest.raises(openai.RateLimitError, match="busy"):
            client.chat.completions.create(**CHAT)


class TestUploads:
    def test_multipart_with_a_new_boundary_each_time(self, server: Server, path: Path) -> None:
        url = f"{server.url}/echo"

        def upload() -> list[int]:
            files = {"file": ("a.txt", b"abc", "text/plain")}
            return [
                requests.post(url, files=files, timeout=5).status_code,
                httpx.post(url, files=files).status_code,
                httpx2.post(url, files=files).status_code,
            ]

        async def upload_async() -> int:
            form = aiohttp.FormData()
            form.add_field("file", b"abc", filename="b.txt")
            async with aiohttp.ClientSession() as session, session.post(url, data=form) as got:
                await got.read()
                return got.status

        with use_cassette(path, mode="record"):
            upload()
            asyncio.run(upload_async())
        server.stop()
        with use_cassette(path):
            assert upload() == [200, 200, 200]
            assert asyncio.run(upload_async()) == 200

    def test_bodies_that_are_files_and_iterators(self, server: Server, path: Path) -> None:
        url = f"{server.url}/echo"

        def upload() -> list[bytes]:
            return [
                requests.post(url, data=io.BytesIO(b"file"), timeout=5).content,
                requests.post(url, data=iter([b"in ", b"parts"]), timeout=5).content,
                httpx.post(url, content=iter([b"httpx ", b"parts"])).content,
                urllib3.PoolManager().request("POST", url, body=io.BytesIO(b"3")).data,
            ]

        async def upload_async() -> bytes:
            async def parts() -> AsyncIterator[bytes]:
                yield b"aio "
                yield b"parts"

            async with aiohttp.ClientSession() as session, session.post(url, data=parts()) as got:
                return await got.read()

        with use_cassette(path, mode="record"):
            live = [*upload(), asyncio.run(upload_async())]
        assert [answer.partition(b"None ")[2] for answer in live] == [
            b"file", b"in parts", b"httpx parts", b"3", b"aio parts"
        ]  # fmt: skip
        server.stop()
        with use_cassette(path):
            assert [*upload(), asyncio.run(upload_async())] == live


def test_replay_opens_no_socket(
    server: Server, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{server.url}/chat/completions"

    async def both() -> None:
        async for _ in ASYNC["aiohttp"](url):
            pass
        async for _ in ASYNC["httpx"](url):
            pass

    def ask() -> None:
        for chunks in SYNC.values():
            list(chunks(url))
        asyncio.run(both())

    with use_cassette(path, mode="record"):
        ask()

    def refuse(*_: Any) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    with use_cassette(path):
        ask()
    with use_cassette(path), pytest.raises(CassetteMiss):
        requests.post(f"https://api.example.com{url[-5:]}", timeout=5)
