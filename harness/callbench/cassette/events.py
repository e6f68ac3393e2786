"""Network chunks to events, and what events say: their payloads, the token usage, the end of the stream.

A chunk is what the network gave; an event is what the server meant. Recordings keep events, since chunk
borders are chance (TRAPS C3), each with the time of the chunk that completed it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from callbench.cassette import jsontext
from callbench.cassette.interaction import Event

# Two line ends in a row. Atomic groups: a CRLF is one line end, never a CR and an LF.
_EVENT_END = re.compile(rb"(?>\r\n|\n|\r)(?>\r\n|\n|\r)")
_LINE_END = re.compile(rb"\r\n|\n|\r")
_DONE = b"[DONE]"


def is_event_stream(headers: Mapping[str, str]) -> bool:
    """Whether the response headers (lower-case names) announce server-sent events."""
    return headers.get("content-type", "").split(";")[0].strip().lower() == "text/event-stream"


def split_events(chunks: Sequence[tuple[int, bytes]], *, event_stream: bool) -> tuple[Event, ...]:
    """Cut timed chunks ``(at_ms, bytes)`` into events; joined, the events are the joined chunks.

    An event ends with its blank line (LF, CRLF or CR, however the chunks split them). Bytes after the last
    one, from a stream that was cut, stay as they came. Anything but an event stream is one event.
    """
    body = b"".join(data for _, data in chunks)
    if not body:
        return ()
    if not event_stream:
        return (Event(chunks[-1][0], body),)
    clock = _Clock(chunks)
    events: list[Event] = []
    start = 0
    for found in _EVENT_END.finditer(body):
        events.append(Event(clock.at(found.end()), body[start : found.end()]))
        start = found.end()
    if start < len(body):
        events.append(Event(clock.at(len(body)), body[start:]))
    return tuple(events)


def rechunked(events: Sequence[Event], borders: Iterable[int]) -> tuple[Event, ...]:
    """The same bytes cut at these positions instead (inside a character, between CR and LF, …): for tests.

    A network may cut a response anywhere; what a client makes of it must not change. Each piece comes when
    the event that holds its last byte came. Positions outside the response count for nothing.
    """
    clock = _Clock((event.at_ms, event.data) for event in events)
    body = b"".join(event.data for event in events)
    ends = sorted({at for at in borders if 0 < at < len(body)} | ({len(body)} if body else set()))
    return tuple(
        Event(clock.at(end), body[start:end]) for start, end in zip([0, *ends], ends, strict=False)
    )


class _Clock:
    """Tells when the byte before a position came; positions must be asked in rising order."""

    def __init__(self, chunks: Iterable[tuple[int, bytes]]) -> None:
        self._chunks = iter(chunks)
        self._end = 0
        self._at_ms = 0

    def at(self, position: int) -> int:
        while self._end < position:
            self._at_ms, data = next(self._chunks)
            self._end += len(data)
        return self._at_ms


def payload(event: bytes) -> bytes:
    """The data of one server-sent event: its ``data`` lines joined by LF (the field name off)."""
    values = []
    for line in _LINE_END.split(event):
        name, _, value = line.partition(b":")
        if name == b"data":
            values.append(value.removeprefix(b" "))
    return b"\n".join(values)


def documents(events: Iterable[Event], *, event_stream: bool) -> Iterable[bytes]:
    """What each event carries, one text per event: the payload of an event stream, else the body."""
    for event in events:
        yield payload(event.data) if event_stream else event.data


def said_done(events: Sequence[Event]) -> bool:
    """Whether a stream has said ``[DONE]``: all that matters came, whoever closes it now."""
    return any(payload(event.data).strip() == _DONE for event in reversed(events))


def usage_of(events: Sequence[Event], *, event_stream: bool) -> dict[str, Any] | None:
    """The token usage a response reports (its last ``usage`` object with numbers), else ``None``."""
    for document in documents(reversed(events), event_stream=event_stream):
        if b'"usage"' not in document:
            continue
        try:
            value = jsontext.loads(document)
        except ValueError:
            continue
        usage = value.get("usage") if isinstance(value, dict) else None
        if isinstance(usage, dict) and isinstance(usage.get("prompt_tokens"), int):
            return usage
    return None
