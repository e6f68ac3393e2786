"""What the calls of a run did, as the callbacks of ``corecall`` tell it: ``callbench run --trace``.

``trace.jsonl`` holds one event a line, those of a case together and in their order::

    {"case": "hotel-1", "call": "Slot", "event": "start", "seconds": 0.0,
     "arguments": "{\"remaining_schema\": …}", "extra": {"name": …, "description": …}}

``case`` is the case's id, ``call`` the class of the Call, ``seconds`` the time since it started,
``extra`` what the callbacks add: name and description of the tool. Each event has one more key,
a text: ``start`` the ``arguments`` (JSON), ``chunk`` a ``chunk`` of the output, ``end`` the whole
``response``, ``error`` the ``error``, its class first. A call that was cancelled, as at a deadline,
has neither end nor error. Keys are masked like everywhere else.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from callbench.cassette.scrub import mask_bytes
from callbench.run.directory import named
from callbench.scoring.record import record_line
from corecall.callbacks import CallbackHandlers, CallbackInput, CallbackOutput, OutputStream

Kind = Literal["start", "chunk", "end", "error"]
Show = Callable[[str], None]

_TEXT: dict[Kind, str] = {
    "start": "arguments",
    "chunk": "chunk",
    "end": "response",
    "error": "error",
}


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a call; ``text`` is its arguments, chunk, response or error."""

    case: str
    call: str
    kind: Kind
    seconds: float
    text: str
    extra: dict[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """Return the line of ``trace.jsonl``."""
        return {
            "case": self.case,
            "call": self.call,
            "event": self.kind,
            "seconds": round(self.seconds, 6),
            _TEXT[self.kind]: self.text,
            "extra": self.extra,
        }


class Tracer:
    """Collects events per case, until they are taken; several cases may run at a time."""

    def __init__(self) -> None:
        self._events: dict[str, list[Event]] = {}

    def handlers(self, case: str, call: str) -> CallbackHandlers:
        """Return handlers that collect the events of one call."""
        events = self._events.setdefault(case, [])
        started = 0.0
        extra: dict[str, Any] = {}

        def note(kind: Kind, text: str) -> None:
            events.append(Event(case, call, kind, time.perf_counter() - started, text, extra))

        def start(value: CallbackInput) -> None:
            nonlocal started, extra
            events.append(Event(case, call, "start", 0.0, value.arguments_in_json, value.extra))
            started, extra = time.perf_counter(), value.extra

        def end(value: CallbackOutput) -> None:
            note("end", value.response)

        async def stream(pieces: OutputStream) -> None:
            whole = events.pop()  # told before its pieces, though they came before it
            async for piece in pieces:
                events.append(Event(case, call, "chunk", whole.seconds, piece.response, extra))
            events.append(whole)

        def error(error: Exception) -> None:
            note("error", f"{type(error).__name__}: {error}")

        handlers = CallbackHandlers()
        handlers.on_start(start)
        handlers.on_end(end)
        handlers.on_end_with_stream(stream)
        handlers.on_error(error)
        return handlers

    def take(self, case: str) -> list[Event]:
        """Return the events of a case and forget them."""
        return self._events.pop(case, [])

    def rest(self) -> Iterator[Event]:
        """Yield the events that were not taken, case by case, and forget them."""
        for case in list(self._events):
            yield from self.take(case)


@contextmanager
def tracing(
    tracer: Tracer | None, path: Path, secrets: Sequence[str], show: Show
) -> Iterator[Callable[[str], None]]:
    """Give a function that writes a case's events to ``path`` and shows them to a person.

    What no case took is written at the end, however that comes. Without a tracer there is no
    file.
    """
    if tracer is None:
        yield lambda case: None
        return
    with named(path):
        path.write_bytes(b"")

    def write(events: Iterable[Event]) -> None:
        lines = [_line(event, secrets) for event in events]
        with named(path), path.open("ab") as file:
            file.writelines(lines)
        for line in lines:
            show(told(json.loads(line)))

    try:
        yield lambda case: write(tracer.take(case))
    finally:
        write(tracer.rest())


def _line(event: Event, secrets: Sequence[str]) -> bytes:
    """Return an event's line; keys in JSON inside its text are masked too."""
    raw = event.text.encode("utf-8", "surrogatepass")
    text = mask_bytes(raw, secrets).decode("utf-8", "surrogatepass")
    return mask_bytes(record_line(replace(event, text=text).as_dict()), secrets)


def told(line: dict[str, Any]) -> str:
    """Return a line of ``trace.jsonl`` as a person reads it; a start says whose call it is."""
    text = line[_TEXT[line["event"]]]
    shown = text if text.isprintable() else json.dumps(text)
    body = f"  {line['event']:<5} {line['seconds']:8.3f} s  {shown}"
    if line["event"] != "start":
        return body
    return f"{line['case']}: {line['call']} {json.dumps(line['extra'], ensure_ascii=False)}\n{body}"
