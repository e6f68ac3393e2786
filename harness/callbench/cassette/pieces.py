"""The texts in a response and what they are pieces of: a stream cuts one text into many events.

The texts at one place of successive events (``choices/0/delta/content``) are read as one. Scrubbing and
scanning use it, so that nothing is missed because it was streamed piece by piece.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from callbench.cassette import jsontext
from callbench.cassette.events import payload, split_events
from callbench.cassette.interaction import Event

Place = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Span:
    """The characters ``start`` to ``end`` of a text, and what to write in their place."""

    start: int
    end: int
    text: str


Find = Callable[[str, Place], Sequence[Span]]
"""Gives the spans of a text to replace, in order and apart; told where in its document the text stands."""


def document(data: bytes, *, event_stream: bool) -> Any:
    """The JSON value an event carries; a text that is not JSON stands for itself."""
    text = payload(data) if event_stream else data
    try:
        return jsontext.loads(text)
    except ValueError:
        return text.decode("utf-8", "surrogateescape")


def written(data: bytes, value: Any, *, event_stream: bool) -> bytes:
    """The event ``data`` with ``value`` as its payload; its other fields stay."""
    text = (
        value.encode("utf-8", "surrogateescape")
        if isinstance(value, str)
        else jsontext.dumps(value)
    )
    if not event_stream:
        ended = data[len(data.rstrip(b"\r\n")) :] if not isinstance(value, str) else b""
        return text + ended
    fields = [line for line in data.splitlines() if line and line.partition(b":")[0] != b"data"]
    return b"\n".join([*fields, *(b"data: " + line for line in text.split(b"\n"))]) + b"\n\n"


def texts(value: Any, place: Place = (), group: Place = ()) -> Iterator[tuple[Place, Place, str]]:
    """Every string value as ``(place, group, text)``.

    ``group`` is the place with the ``index`` that list items state instead of their position: what
    tells the parallel answers and tool calls of a stream apart.
    """
    pending: list[tuple[Any, Place, Place]] = [(value, place, group)]
    while pending:  # the hot loop of scanning: most events hold little beside texts
        value, place, group = pending.pop()
        if isinstance(value, str):
            yield place, group, value
        elif isinstance(value, dict):
            for name, member in value.items():
                if isinstance(member, str):
                    yield (*place, name), (*group, name), member
                elif isinstance(member, (dict, list)):
                    pending.append((member, (*place, name), (*group, name)))
        elif isinstance(value, list):
            for position, member in enumerate(value):
                stated = member.get("index") if isinstance(member, dict) else None
                index = stated if isinstance(stated, int) else position
                pending.append((member, (*place, position), (*group, index)))


@dataclass(frozen=True, slots=True)
class _Unit:
    """What carries one document: the number of its event, its bytes, whether they are a server-sent event."""

    event: int
    data: bytes
    event_stream: bool


def _units(events: Sequence[Event], *, event_stream: bool) -> Iterator[_Unit]:
    """Events, and what a body that is a stream without saying so (SSE, lines of JSON) consists of."""
    for number, event in enumerate(events):
        data = event.data
        start = data[:6].lstrip()
        if event_stream:
            yield _Unit(number, data, event_stream=True)
        elif start.startswith((b"data:", b"event:")):
            for part in split_events([(0, data)], event_stream=True):
                yield _Unit(number, part.data, event_stream=True)
        elif (
            start[:1] == b"{" and b"\n{" in data and _are_documents(lines := data.splitlines(True))
        ):
            yield from (_Unit(number, line, event_stream=False) for line in lines)
        else:
            yield _Unit(number, data, event_stream=False)


def _are_documents(lines: Sequence[bytes]) -> bool:
    try:
        return all(isinstance(jsontext.loads(line), dict) for line in lines if line.strip())
    except ValueError:
        return False


def joined(events: Sequence[Event], *, event_stream: bool) -> Iterator[tuple[Place, str]]:
    """The texts of a response, each whole, with its place; one that every event repeats once."""
    pieces: dict[Place, list[str]] = defaultdict(list)
    for unit in _units(events, event_stream=event_stream):
        value = document(unit.data, event_stream=unit.event_stream)
        for _, group, text in texts(value):
            pieces[group].append(text)
    for place, parts in pieces.items():
        yield place, parts[0] if len(set(parts)) == 1 else "".join(parts)


def replace_spread(
    events: Sequence[Event], find: Find, *, event_stream: bool, repeated: bool = True
) -> tuple[Event, ...]:
    """Replace in the texts of a response, whole ones and ones spread over several events.

    An event with a part of a match is written anew, all others keep their bytes. Where a match is spread,
    its replacement stands in the piece that it begins in. Without ``repeated``, a text that all events
    have alike is not read as one long text.
    """
    units = list(_units(events, event_stream=event_stream))
    values = [document(unit.data, event_stream=unit.event_stream) for unit in units]
    pieces: dict[Place, list[tuple[int, Place, str]]] = defaultdict(list)
    for number, value in enumerate(values):
        for place, group, text in texts(value):
            pieces[group].append((number, place, text))
    changed: set[int] = set()
    for group, found in pieces.items():
        parts = [text for _, _, text in found]
        if repeated or len(set(parts)) > 1:
            new_parts = _replace_joined(parts, lambda text, at=group: find(text, at))  # type: ignore[misc]
        else:
            new_parts = [replaced(parts[0], find(parts[0], group))] * len(parts)
        for (number, place, text), new in zip(found, new_parts, strict=True):
            if new != text:
                values[number] = _with_text(values[number], place, new)
                changed.add(number)
    data: dict[int, list[bytes]] = defaultdict(list)
    for number, unit in enumerate(units):
        data[unit.event].append(
            written(unit.data, values[number], event_stream=unit.event_stream)
            if number in changed
            else unit.data
        )
    touched = {units[number].event for number in changed}
    return tuple(
        replace(event, data=b"".join(data[number])) if number in touched else event
        for number, event in enumerate(events)
    )


def replaced(text: str, spans: Iterable[Span]) -> str:
    """The text with the spans replaced."""
    spans = list(spans)
    return _cut(text, 0, len(text), spans) if spans else text


def _with_text(value: Any, place: Place, text: str) -> Any:
    if not place:
        return text
    parent = value
    for step in place[:-1]:
        parent = parent[step]
    parent[place[-1]] = text
    return value


def _replace_joined(parts: list[str], find: Callable[[str], Sequence[Span]]) -> list[str]:
    whole = "".join(parts)
    spans = sorted(find(whole), key=lambda span: (span.start, span.end))
    if not spans:
        return parts
    ends = [0]
    for part in parts:
        ends.append(ends[-1] + len(part))
    # One pass over pieces and spans: both rise.
    result = []
    first = 0
    for begin, end in pairwise(ends):
        while first < len(spans) and spans[first].end <= begin and spans[first].end < end:
            first += 1
        result.append(_cut(whole, begin, end, spans[first:]))
    return result


def _cut(whole: str, begin: int, end: int, spans: Sequence[Span]) -> str:
    """The part ``begin:end`` of ``whole`` with the given spans replaced."""
    parts: list[str] = []
    position = begin
    for span in spans:
        if span.start >= end:
            break
        if span.end <= position:
            continue
        parts.append(whole[position : max(span.start, position)])
        if span.start >= begin:
            parts.append(span.text)
        position = min(span.end, end)
    parts.append(whole[position:end])
    return "".join(parts)
