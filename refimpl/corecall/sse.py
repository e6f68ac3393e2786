"""Incremental decoder of server-sent events (WHATWG HTML, "Server-sent events").

Lines end with LF, CRLF or CR and with nothing else. Cutting happens on bytes: no byte of a
multi-byte UTF-8 character looks like a line end, so a character split between two chunks is
whole again before it is decoded. Bytes that are no UTF-8 become U+FFFD, as the standard has it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"\r\n?|\n")


class ServerEvent(NamedTuple):
    """One dispatched event: its type, its data lines joined by LF, the last id seen."""

    event: str
    data: str
    id: str = ""


class SSEDecoder:
    """Turns chunks of bytes, split anywhere, into events. One decoder serves one stream.

    The field ``retry`` is passed over: nothing here connects a second time.

    Contract: stream.sse.1, stream.sse.2, stream.sse.3, stream.sse.4, stream.sse.5, stream.sse.6,
    stream.sse.7, stream.sse.8, stream.sse.9, stream.sse.10, stream.sse.11, stream.sse.12.
    """

    __slots__ = ("_data", "_event", "_id", "_skip_lf", "_started", "_tail")

    def __init__(self) -> None:
        self._started = False
        self._skip_lf = False
        self._tail = bytearray()
        self._data: list[str] = []
        self._event = ""
        self._id = ""

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """Return the events that ``chunk`` completes, in order.

        An event is complete at the end of its blank line; a CR ends it at once, and an LF
        that arrives next belongs to that CR.
        """
        if (
            chunk[:6] == b"data: "
            and chunk[-2:] == b"\n\n"
            and not (self._tail or self._data or self._event or self._skip_lf)
            and b"\r" not in chunk
        ):
            # The usual chunk: whole events of one data line each.
            parts = chunk[6:-2].split(b"\n\ndata: ")
            if chunk.count(b"\n") == 2 * len(parts):
                self._started = True
                last_id = self._id
                return [
                    ServerEvent("message", part.decode("utf-8", "replace"), last_id)
                    for part in parts
                ]
        return self._feed_lines(chunk)

    def close(self) -> ServerEvent | None:
        """End the stream; return what had arrived of an event that was cut, else ``None``.

        The standard discards such an event. Here the caller can tell a whole stream from one
        that was cut (or from a server that spares the last blank line). Comments, ``id`` and
        ``retry`` alone make no event.

        Contract: stream.end.1.
        """
        if self._tail:
            line = bytes(self._tail)
            if not self._started:
                line = line.removeprefix(_BOM)
            if line.partition(b":")[0] not in (b"", b"id", b"retry"):
                self._take_line(line)
                return self._cut()
        return self._cut() if self._data or self._event else None

    def _cut(self) -> ServerEvent:
        return ServerEvent(self._event or "message", "\n".join(self._data), self._id)

    def _feed_lines(self, chunk: bytes) -> list[ServerEvent]:
        if not chunk:
            return []
        start = 1 if self._skip_lf and chunk[:1] == b"\n" else 0
        self._skip_lf = chunk[-1:] == b"\r"
        events: list[ServerEvent] = []
        for line_end in _LINE_END.finditer(chunk, start):
            line = chunk[start : line_end.start()]
            start = line_end.end()
            if self._tail:
                line = bytes(self._tail) + line
                self._tail.clear()
            if not self._started:
                self._started = True
                line = line.removeprefix(_BOM)
            if line:
                self._take_line(line)
                continue
            if self._data:
                event = self._event or "message"
                events.append(ServerEvent(event, "\n".join(self._data), self._id))
                self._data.clear()
            self._event = ""
        self._tail += chunk[start:]
        return events

    def _take_line(self, line: bytes) -> None:
        field, _, raw = line.partition(b":")
        value = raw.removeprefix(b" ").decode("utf-8", "replace")
        if field == b"data":
            self._data.append(value)
        elif field == b"event":
            self._event = value
        elif field == b"id" and "\0" not in value:
            self._id = value
