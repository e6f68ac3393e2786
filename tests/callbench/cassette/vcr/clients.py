"""Every client the bridge speaks for, behind one signature, so that each test runs with each of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

Headers = dict[str, str] | None


@dataclass(frozen=True)
class Answer:
    """What the caller of a client sees."""

    status: int
    kind: str | None
    body: bytes


def _requests(method: str, url: str, body: bytes, headers: Headers) -> Answer:
    import requests

    with requests.Session() as session:
        got = session.request(method, url, data=body, headers=headers, timeout=5)
        return Answer(got.status_code, got.headers.get("content-type"), got.content)


def _requests_stream(method: str, url: str, body: bytes, headers: Headers) -> Answer:
    import requests

    with (
        requests.Session() as session,
        session.request(method, url, data=body, headers=headers, timeout=5, stream=True) as got,
    ):
        data = b"".join(got.iter_content(7))
        return Answer(got.status_code, got.headers.get("content-type"), data)


def _urllib3(method: str, url: str, body: bytes, headers: Headers) -> Answer:
    import urllib3

    with urllib3.PoolManager() as pool:
        got = pool.request(method, url, body=body, headers=headers, timeout=5, retries=False)
        return Answer(got.status, got.headers.get("content-type"), got.data)


def _urllib3_stream(method: str, url: str, body: bytes, headers: Headers) -> Answer:
    import urllib3

    with urllib3.PoolManager() as pool:
        got = pool.request(
            method, url, body=body, headers=headers, timeout=5, preload_content=False, retries=False
        )
        data = b"".join(got.stream(16))
        got.release_conn()
        return Answer(got.status, got.headers.get("content-type"), data)


def _http_client(method: str, url: str, body: bytes, headers: Headers) -> Answer:
    import gzip
    import http.client
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=5)
    try:
        connection.request(method, url[url.index(parts.path) :], body, headers or {})
        got = connection.getresponse()
        data = got.read()
        if got.headers.get("content-encoding") == "gzip":  # no client does it here
            data = gzip.decompress(data)
        return Answer(got.status, got.headers.get("content-type"), data)
    finally:
        connection.close()


def _urllib(method: str, url: str, body: bytes, headers: Headers) -> Answer:
    import gzip
    import urllib.error
    import urllib.request

    asked = urllib.request.Request(url, body or None, headers or {}, method=method)
    try:
        got = urllib.request.urlopen(asked, timeout=5)
    except urllib.error.HTTPError as error:
        got = error
    with got:
        data = got.read()
        if got.headers.get("content-encoding") == "gzip":
            data = gzip.decompress(data)
        return Answer(got.status, got.headers.get("content-type"), data)


def _httpx(module: Any) -> Callable[[str, str, bytes, Headers], Answer]:
    def send(method: str, url: str, body: bytes, headers: Headers) -> Answer:
        with module.Client(timeout=5) as client:
            got = client.request(method, url, content=body, headers=headers)
            return Answer(got.status_code, got.headers.get("content-type"), got.content)

    return send


def _httpx_async(module: Any) -> Callable[[str, str, bytes, Headers], Awaitable[Answer]]:
    async def send(method: str, url: str, body: bytes, headers: Headers) -> Answer:
        async with module.AsyncClient(timeout=5) as client:
            got = await client.request(method, url, content=body, headers=headers)
            return Answer(got.status_code, got.headers.get("content-type"), got.content)

    return send


async def _aiohttp(method: str, url: str, body: bytes, headers: Headers) -> Answer:
    import aiohttp

    async with (
        aiohttp.ClientSession() as session,
        session.request(method, url, data=body, headers=headers) as got,
    ):
        return Answer(got.status, got.headers.get("content-type"), await got.read())


async def _aiohttp_stream(method: str, url: str, body: bytes, headers: Headers) -> Answer:
    import aiohttp

    async with (
        aiohttp.ClientSession() as session,
        session.request(method, url, data=body, headers=headers) as got,
    ):
        data = b"".join([chunk async for chunk in got.content.iter_any()])
        return Answer(got.status, got.headers.get("content-type"), data)


def _modules() -> tuple[Any, Any]:
    import httpx
    import httpx2

    return httpx, httpx2


_HTTPX, _HTTPX2 = _modules()
SYNC: dict[str, Callable[[str, str, bytes, Headers], Answer]] = {
    "requests": _requests,
    "requests-stream": _requests_stream,
    "urllib3": _urllib3,
    "urllib3-stream": _urllib3_stream,
    "http.client": _http_client,
    "urllib": _urllib,
    "httpx": _httpx(_HTTPX),
    "httpx2": _httpx(_HTTPX2),
}
ASYNC: dict[str, Callable[[str, str, bytes, Headers], Awaitable[Answer]]] = {
    "httpx-async": _httpx_async(_HTTPX),
    "httpx2-async": _httpx_async(_HTTPX2),
    "aiohttp": _aiohttp,
    "aiohttp-stream": _aiohttp_stream,
}
NAMES = (*SYNC, *ASYNC)


def send(
    name: str, url: str, body: bytes = b"", *, method: str = "POST", headers: Headers = None
) -> Answer:
    """Send with the client of that name."""
    if name in SYNC:
        return SYNC[name](method, url, body, headers)

    async def run() -> Answer:
        return await ASYNC[name](method, url, body, headers)

    return asyncio.run(run())
