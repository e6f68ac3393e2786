"""``http.client`` (and so ``urllib.request``, ``xmlrpc``, ``httplib2``, …): a socket that speaks to the session.

A connection gets a ``Line`` in the place of its socket. It collects what the connection sends and, when the
answer is asked for, reads the request from that and hands back a recorded answer or a real one. urllib3 stands
on ``http.client`` too, but has a patch of its own: its connections are left alone.
"""

from __future__ import annotations

import builtins
import http.client
import io
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

from callbench.cassette.events import is_event_stream
from callbench.cassette.interaction import Interaction
from callbench.cassette.interaction import Response as Recorded
from callbench.cassette.replay import error_text
from callbench.cassette.take import Take
from callbench.cassette.transport import Mode
from callbench.cassette.vcr.answers import answer_headers, take_head
from callbench.cassette.vcr.compression import decompressed
from callbench.cassette.vcr.patching import Patch
from callbench.cassette.vcr.session import Asked, current_session

_CHUNK = 65536
_NO_BODY = frozenset({204, 304})
_FAILURES = (OSError, http.client.HTTPException)

_really: ContextVar[bool] = ContextVar("callbench_http_client_really", default=False)
"""Set while a ``Line`` opens the real connection."""


def patches() -> Iterator[Patch]:
    """The patches of ``http.client`` and of the connections made from it that open their sockets themselves."""
    yield Patch(http.client.HTTPConnection, "send", _send)
    for kind in _kinds(http.client.HTTPConnection):
        if "connect" in vars(kind):
            yield Patch(kind, "connect", _connect)


def _kinds(kind: type) -> Iterator[type]:
    if not kind.__module__.partition(".")[0].startswith("urllib3"):
        yield kind
        below: list[type] = kind.__subclasses__()
        for sub in below:
            yield from _kinds(sub)


def _of_urllib3(connection: object) -> bool:
    return any(k.__module__.partition(".")[0] == "urllib3" for k in type(connection).__mro__)


def _send(real: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
    def send(self: Any, data: Any) -> None:
        if (
            current_session() is not None
            and not _really.get()
            and not isinstance(self.sock, Line)
            and not _of_urllib3(self)
            and (self.sock is not None or self.auto_open)
        ):
            self.sock = Line(self, self.sock)
        real(self, data)

    return send


def _connect(real: Callable[[Any], None]) -> Callable[[Any], None]:
    def connect(self: Any) -> None:
        """Open the connection; not in replay, where nothing is opened."""
        session = current_session()
        if session is None or session.mode is not Mode.REPLAY or _of_urllib3(self):
            token = _really.set(True)  # what it sends now is for a proxy
            try:
                real(self)
            finally:
                _really.reset(token)
        else:
            self.sock = Line(self, None)

    return connect


class Line:
    """What a connection takes for its socket. ``real`` is the open one, if there is one."""

    def __init__(self, connection: Any, real: Any) -> None:
        self._connection = connection
        self._real = real
        self._sent = bytearray()

    def sendall(self, data: Any, flags: int = 0) -> None:
        """Collect a part of the request."""
        self._sent += data

    def makefile(self, mode: str, *_: Any, **__: Any) -> io.BufferedReader:
        """The bytes of the answer to what was sent since the last one."""
        sent, self._sent = bytes(self._sent), bytearray()
        session = current_session()
        if session is None:  # the block has ended: a connection like any other
            self._open().sendall(sent)
            return self._real.makefile(mode)  # type: ignore[no-any-return]
        asked = _asked(self._connection, sent)
        found = session.find(asked)
        if isinstance(found, Interaction):
            return io.BufferedReader(_Wire(_replay(found, asked.method)), _CHUNK)
        try:
            self._open().sendall(sent)
            answer = http.client.HTTPResponse(self._real, method=asked.method)
            answer.begin()
        except BaseException as error:
            found.drop(error_text(error))
            self.close()
            raise
        return io.BufferedReader(_Wire(_tee(found, answer), found, answer), _CHUNK)

    def _open(self) -> Any:
        if self._real is None:
            connection = self._connection
            connection.sock = None
            token = _really.set(True)
            try:
                type(connection).connect(connection)
                self._real = connection.sock
            finally:
                _really.reset(token)
                connection.sock = self
        return self._real

    def close(self) -> None:
        """Close the real connection; an answer that is being read keeps it until its end."""
        real, self._real = self._real, None
        if real is not None:
            real.close()

    def settimeout(self, value: float | None) -> None:
        """Pass it on, where there is a connection to time."""
        if self._real is not None:
            self._real.settimeout(value)

    def setsockopt(self, *option: Any) -> None:
        """Pass it on, where there is a connection to tune."""
        if self._real is not None:
            self._real.setsockopt(*option)

    def __getattr__(self, name: str) -> Any:
        if self._real is None:
            raise AttributeError(f"no socket is open here, so it has no {name!r}")
        return getattr(self._real, name)


class _Wire(io.RawIOBase):
    """An answer as bytes of HTTP/1.1, in the pieces in which they come."""

    def __init__(self, pieces: Iterator[bytes], take: Take | None = None, answer: Any = None):
        self._pieces = pieces
        self._take = take
        self._answer = answer
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._rest:
            self._rest = memoryview(next(self._pieces, b""))
        data, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            super().close()
            try:
                if self._answer is not None and self._answer.length == 0:
                    next(self._pieces, b"")  # all came that was announced: runs to its end
                if self._take is not None:
                    self._take.leave()
            finally:
                if self._answer is not None:
                    self._answer.close()


def _asked(connection: Any, sent: bytes) -> Asked:
    """The request in the bytes that were sent."""
    head, _, body = sent.partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    method, target, _ = first.decode("latin-1").split(" ", 2)
    fields = (line.partition(b":") for line in lines)
    headers = tuple((name.strip(), value.strip()) for name, _, value in fields)
    if any(n.lower() == b"transfer-encoding" and v.lower() == b"chunked" for n, v in headers):
        body = _joined(body)
    scheme = "https" if isinstance(connection, http.client.HTTPSConnection) else "http"
    url = target if "://" in target else f"{scheme}://{connection.host}:{connection.port}{target}"
    return Asked(method, url, headers, body)


def _joined(body: bytes) -> bytes:
    """A chunked body without its chunks."""
    source = io.BytesIO(body)
    parts = []
    while size := int(source.readline().partition(b";")[0] or b"0", 16):
        parts.append(source.read(size))
        source.readline()
    return b"".join(parts)


def _head(status: int, reason: str, fields: list[tuple[str, str]]) -> bytes:
    lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in fields), "", ""]
    return "\r\n".join(lines).encode("latin-1", "replace")


def _replay(found: Interaction, method: str) -> Iterator[bytes]:
    recorded: Recorded = found.response
    fields = answer_headers(found)
    empty = method == "HEAD" or recorded.status in _NO_BODY
    if not empty:
        streamed = is_event_stream(recorded.headers) or recorded.error is not None
        length = ("content-length", str(len(recorded.body)))
        fields.append(("connection", "close") if streamed else length)
    yield _head(recorded.status, http.client.responses.get(recorded.status, ""), fields)
    for event in recorded.events:
        yield event.data
    if recorded.error is not None:
        raise _failure(recorded.error)


def _failure(text: str) -> Exception:
    """The exception a recorded error text names; a ``ConnectionError`` if it names none."""
    name, _, message = text.partition(": ")
    if name == "IncompleteRead":
        return http.client.IncompleteRead(b"")
    kind = TimeoutError if "Timeout" in name else getattr(builtins, name, None)
    kind = kind or getattr(http.client, name, None)
    if isinstance(kind, type) and issubclass(kind, _FAILURES):
        return kind(message)
    return ConnectionError(text)


def _tee(take: Take, answer: Any) -> Iterator[bytes]:
    fields = list(answer.getheaders())
    take_head(take, answer.status, fields)
    gone = {"transfer-encoding"}
    whole: bytes | None = None
    try:
        encoding = answer.headers.get("content-encoding", "")
        if encoding and (packed := b"".join(_body(answer))):
            whole = decompressed(packed, encoding)
            gone |= set() if whole is None else {"content-encoding", "content-length"}
            whole = packed if whole is None else whole
        fields = [(name, value) for name, value in fields if name.lower() not in gone]
        if "content-length" in gone and whole is not None:
            fields.append(("Content-Length", str(len(whole))))
        elif "content-length" not in {name.lower() for name, _ in fields}:
            fields.append(("Connection", "close"))
        yield _head(answer.status, answer.reason, fields)
        for chunk in _body(answer) if whole is None else iter([whole]):
            take.feed(chunk)
            yield chunk
    except _FAILURES as error:
        take.finish(error)
        raise
    take.finish()


def _body(answer: Any) -> Iterator[bytes]:
    """The body in pieces as they come, not chunked."""
    while chunk := answer.read1(_CHUNK):
        yield chunk
    if answer.length:  # read1 does not tell that the answer was cut
        raise http.client.IncompleteRead(b"", answer.length)
