"""urllib3 2 (and so ``requests``, ``botocore``, …): patched where a pool asks one server once.

That is below retries and redirects, which stay urllib3's own, and above the connection, which replay never
opens.
"""

from __future__ import annotations

import functools
import inspect
import io
from collections.abc import Callable, Generator, Iterator
from typing import Any

from callbench.cassette.interaction import Interaction
from callbench.cassette.interaction import Response as Recorded
from callbench.cassette.replay import error_text
from callbench.cassette.take import Take
from callbench.cassette.transport import Mode
from callbench.cassette.vcr.answers import answer_headers, take_head
from callbench.cassette.vcr.patching import Patch
from callbench.cassette.vcr.session import Asked, current_session
from callbench.errors import UsageError

_CHUNK = 65536


def patches() -> Iterator[Patch]:
    """The patches of urllib3. Raises ``UsageError`` for an older one, or another package of that name."""
    import urllib3
    import urllib3.connectionpool as pools

    if "version_string" not in inspect.signature(urllib3.HTTPResponse).parameters:
        version = vars(urllib3)["__version__"]
        raise UsageError(
            f"use_cassette needs urllib3 2.3 or newer; {version} is installed"
            " (from 2.900 on: urllib3-future, which takes its place).",
            remedy="Upgrade it: pip install -U urllib3; niquests and urllib3-future must go.",
        )
    yield Patch(pools.HTTPConnectionPool, "_make_request", _make_request)
    for kind in (pools.HTTPConnectionPool, pools.HTTPSConnectionPool):
        if "_prepare_proxy" in vars(kind):
            yield Patch(kind, "_prepare_proxy", _prepare_proxy)


def _make_request(real: Callable[..., Any]) -> Callable[..., Any]:
    def make_request(
        self: Any,
        conn: Any,
        method: str,
        url: str,
        body: Any = None,
        headers: Any = None,
        **options: Any,
    ) -> Any:
        session = current_session()
        if session is None:
            return real(self, conn, method, url, body=body, headers=headers, **options)
        body = _whole(body)
        found = session.find(_asked(self, method, url, body, headers))
        if isinstance(found, Interaction):
            answer: Any = None
            recorded = found.response
            source: _Body = _Body(_replay(recorded, self, url), None, None)
            fields = answer_headers(found)
            status, reason = recorded.status, None
        else:
            answer = _ask(found, real, self, conn, method, url, body, headers, options)
            source = _Body(_tee(found, answer), found, answer)
            fields = _as_passed_on(answer)
            status, reason = answer.status, answer.reason
        return _response(self, method, url, source, fields, status, reason, answer, options)

    return make_request


def _prepare_proxy(real: Callable[..., None]) -> Callable[..., None]:
    def prepare_proxy(self: Any, conn: Any) -> None:
        """Open the tunnel; not in replay, where nothing is opened."""
        session = current_session()
        if session is None or session.mode is not Mode.REPLAY:
            real(self, conn)

    return prepare_proxy


def _asked(pool: Any, method: str, url: str, body: bytes, headers: Any) -> Asked:
    absolute = url if "://" in url else f"{pool.scheme}://{pool.host}:{pool.port}{url}"
    items = (headers or {}).items()
    raw = tuple((_bytes(name), _bytes(value)) for name, value in items)
    return Asked(method, absolute, raw, body)


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8")


def _whole(body: Any) -> bytes:
    """A request body, read to its end: text, bytes, a file or an iterable of them."""
    if body is None:
        return b""
    if isinstance(body, str):
        return body.encode()
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body)
    parts = [body.read()] if hasattr(body, "read") else body
    return b"".join(part.encode() if isinstance(part, str) else bytes(part) for part in parts)


def _ask(
    take: Take,
    real: Callable[..., Any],
    pool: Any,
    conn: Any,
    method: str,
    url: str,
    body: bytes,
    headers: Any,
    options: dict[str, Any],
) -> Any:
    live = {**options, "preload_content": False, "chunked": False}
    sent = headers
    if options.get("chunked"):  # the body is whole now: it goes with its length
        sent = {k: v for k, v in headers.items() if str(k).lower() != "transfer-encoding"}
    try:
        answer = real(pool, conn, method, url, body=body or None, headers=sent, **live)
    except BaseException as error:
        take.drop(error_text(error))
        raise
    take_head(take, answer.status, answer.headers.items())
    return answer


def _as_passed_on(answer: Any) -> list[tuple[str, str]]:
    """The headers of a live answer whose body is passed on decoded and not chunked."""
    gone = {"transfer-encoding"}
    if "content-encoding" in answer.headers:
        gone |= {"content-encoding", "content-length"}
    return [(name, value) for name, value in answer.headers.items() if name.lower() not in gone]


def _response(
    pool: Any,
    method: str,
    url: str,
    source: _Body,
    fields: list[tuple[str, str]],
    status: int,
    reason: str | None,
    answer: Any,
    options: dict[str, Any],
) -> Any:
    from http.client import responses

    from urllib3 import HTTPHeaderDict

    headers = HTTPHeaderDict()
    for name, value in fields:
        headers.add(name, value)
    response = _passing()(
        body=source,
        headers=headers,
        status=status,
        version=11,
        version_string="HTTP/1.1",
        reason=responses.get(status, "") if reason is None else reason,
        preload_content=options.get("preload_content", True),
        decode_content=options.get("decode_content", True),
        original_response=None if answer is None else answer._original_response,
        retries=options.get("retries"),
        request_method=method,
        request_url=url,
    )
    if answer is None:  # the connection was never opened: it goes back to the pool as it is
        response._pool, response._connection = pool, options.get("response_conn")
        source.at_end = response.release_conn
    return response


@functools.cache
def _passing() -> Any:
    """A response whose ``stream`` gives each chunk as it comes, however much was asked for."""
    from urllib3.response import HTTPResponse

    class Passing(HTTPResponse):
        def stream(
            self, amt: int | None = _CHUNK, decode_content: bool | None = None
        ) -> Generator[bytes, None, None]:
            while data := self.read1(amt or _CHUNK, decode_content=decode_content):
                yield data

    return Passing


class _Body(io.RawIOBase):
    """A body that gives each chunk as it comes."""

    def __init__(self, chunks: Iterator[bytes], take: Take | None, answer: Any) -> None:
        self._chunks = chunks
        self._take = take
        self._answer = answer
        self._rest = memoryview(b"")  # of the last chunk: cutting a view copies nothing
        self.at_end: Callable[[], Any] = lambda: None

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        if size is None or size < 0:
            parts = [bytes(self._rest), *self._chunks]
            self._rest = memoryview(b"")
            self.at_end()
            return b"".join(parts)
        if size and not self._rest:
            self._rest = memoryview(next(self._chunks, b""))
            if not self._rest:
                self.at_end()
        data, self._rest = bytes(self._rest[:size]), self._rest[size:]
        return data

    def read1(self, size: int = _CHUNK) -> bytes:
        return self.read(size if size >= 0 else _CHUNK)

    def _said_all(self) -> bool:
        """Whether as much came as was announced: then urllib3 asks for no more, and closes."""
        if self._answer is None or self._rest:
            return False
        announced = self._answer.headers.get("content-length", "")
        return bool(announced.isdigit()) and self._answer.length_remaining == 0

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            super().close()
            try:
                if self._said_all():
                    next(self._chunks, b"")  # runs to its end
                if self._take is not None:
                    self._take.leave()
            finally:
                if self._answer is not None:
                    self._answer.close()
                self.at_end()


def _tee(take: Take, answer: Any) -> Iterator[bytes]:
    from urllib3.exceptions import HTTPError

    try:
        for chunk in _network_chunks(answer):
            take.feed(chunk)
            yield chunk
    except HTTPError as error:
        take.finish(error)
        raise
    take.finish()
    answer.release_conn()


def _network_chunks(answer: Any) -> Iterator[bytes]:
    """The decoded body in pieces as they come."""
    if answer.chunked and answer.supports_chunked_reads():
        yield from answer.stream(_CHUNK, decode_content=True)
        return
    while chunk := answer.read1(_CHUNK, decode_content=True):
        yield chunk


def _replay(response: Recorded, pool: Any, url: str) -> Iterator[bytes]:
    from urllib3.exceptions import ProtocolError, ReadTimeoutError

    for event in response.events:
        yield event.data
    if response.error is not None:
        if "Timeout" in response.error.partition(": ")[0]:
            raise ReadTimeoutError(pool, url, response.error)
        raise ProtocolError(response.error)
