"""Faults of the way: statuses, times, connections, and the bytes of a stream."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from typing import Any

from callbench.cassette.events import is_event_stream, payload
from callbench.cassette.faults.answer import lost, read
from callbench.cassette.faults.kind import Apply, Draw, Faulted, Kind, Param, Params, Target
from callbench.cassette.interaction import Event, Response

RESET = "ReadError: connection reset by peer"

_MULTIBYTE = re.compile(rb"[\xc2-\xf4][\x80-\xbf]+")


def _status(target: Target, params: Params, draw: Draw) -> Faulted | None:
    code, after = params["code"], params["retry_after"]
    headers = {"content-type": "application/json"}
    if after is not None:
        headers["retry-after"] = f"{after:g}"
    error = {"message": f"synthetic fault: status {code}", "type": "synthetic_fault", "code": code}
    body = json.dumps({"error": error}).encode()
    response = Response(code, headers, (Event(0, body),))
    return Faulted(response, lost=_asked(target))


def _reset(target: Target, params: Params, draw: Draw) -> Faulted | None:
    if params["at"] == "start":
        return Faulted(Response(0, error=RESET), refused=True, lost=_asked(target))
    body = target.response.body
    if len(body) < 2:
        return None
    half = _cut_at(target.response, len(body) // 2)
    return _judged(target, replace(half, error=RESET))


def _slow_first_byte(target: Target, params: Params, draw: Draw) -> Faulted | None:
    return Faulted(target.response, waits={0: float(params["seconds"])})


def _stall(target: Target, params: Params, draw: Draw) -> Faulted | None:
    seconds = params["seconds"]
    at = len(target.response.events) // 2
    if seconds is not None:
        return Faulted(target.response, waits={at: float(seconds)})
    # Nothing that stands behind a stall without end can arrive.
    rest = replace(target.response, events=target.response.events[:at])
    return replace(_judged(target, rest), waits={at: math.inf})


def _cut_in_character(target: Target, params: Params, draw: Draw) -> Faulted | None:
    places = [found.start() + 1 for found in _MULTIBYTE.finditer(target.response.body)]
    return _cut(target, params, places[draw.below(len(places), "place")] if places else None)


def _cut_in_event(target: Target, params: Params, draw: Draw) -> Faulted | None:
    events = target.response.events
    if not events:
        return None
    number = draw.below(max(len(events) - 1, 1), "event")  # not in [DONE]
    before = sum(len(event.data) for event in events[:number])
    return _cut(target, params, before + len(events[number].data) // 2)


def _cut_in_json(target: Target, params: Params, draw: Draw) -> Faulted | None:
    """Between two events of a stream, so that only the answer's own JSON is cut; else in the body."""
    answer, response = target.answer, target.response
    if answer is None or not answer.object:
        return None
    if not target.streamed:
        # The middle of the answer as it stands, escaped, in the body.
        needle = json.dumps(answer.body)[1:-1].encode()
        at = response.body.find(needle)
        whole = len(response.body)
        return _cut(target, params, at + len(needle) // 2 if at >= 0 else whole // 2)
    places, seen = [], 0
    for number, event in enumerate(response.events):
        seen += len(event.data)
        part = read(replace(response, events=response.events[: number + 1]))
        if part is not None and part.body.lstrip().startswith("{") and lost(answer, part):
            places.append(seen)
    return _cut(target, params, places[len(places) // 2] if places else None)


def _cut(target: Target, params: Params, at: int | None) -> Faulted | None:
    if at is None:
        return None
    response = _cut_at(target.response, at)
    if not params["clean"]:
        response = replace(
            response,
            error="RemoteProtocolError: peer closed connection without sending complete message body",
        )
    return _judged(target, response)


def _cut_at(response: Response, at: int) -> Response:
    """The first ``at`` bytes of a response, and nothing that fails after them."""
    kept: list[Event] = []
    for event in response.events:
        if at <= 0:
            break
        kept.append(Event(event.at_ms, event.data[:at]))
        at -= len(event.data)
    return replace(response, events=tuple(kept), error=None)


def _trailing_garbage(target: Target, params: Params, draw: Draw) -> Faulted | None:
    last = target.response.elapsed_ms
    events = (*target.response.events, Event(last, b"\x00\xff}]garbage"))
    return Faulted(replace(target.response, events=events))


# --- the shape of a stream --------------------------------------------------------------------------


def _duplicated(target: Target, params: Params, draw: Draw) -> Faulted | None:
    events: list[Event] = []
    for event in target.response.events:
        events.append(event)
        if _delta(event):
            events.append(event)
    if len(events) == len(target.response.events):
        return None
    return _judged(target, replace(target.response, events=tuple(events)))


def _delta(event: Event) -> bool:
    """Whether an event brings a piece of the answer."""
    part = read(Response(200, {"content-type": "text/event-stream"}, (event,)))
    return part is not None and bool(part.text or any(call.arguments for call in part.calls))


def _usage_only(target: Target, params: Params, draw: Draw) -> Faulted | None:
    def chunk(count: int) -> bytes:
        usage = {"prompt_tokens": 0, "completion_tokens": count, "total_tokens": count}
        chunk = {"object": "chat.completion.chunk", "choices": [], "usage": usage}
        return b"data: " + json.dumps(chunk).encode() + b"\n\n"

    return _between(target, chunk)


def _keep_alives(target: Target, params: Params, draw: Draw) -> Faulted | None:
    return _between(target, lambda count: b": keep-alive\n\n")


def _between(target: Target, extra: Any) -> Faulted:
    events: list[Event] = []
    for count, event in enumerate(target.response.events):
        events += [Event(event.at_ms, extra(count)), event]
    return Faulted(replace(target.response, events=tuple(events)))


def _line_ends(end: bytes) -> Apply:
    def apply(target: Target, params: Params, draw: Draw) -> Faulted | None:
        return Faulted(
            replace(
                target.response,
                events=tuple(
                    Event(event.at_ms, re.sub(rb"\r\n|\n|\r", end, event.data))
                    for event in target.response.events
                ),
            )
        )

    return apply


def _missing_done(target: Target, params: Params, draw: Draw) -> Faulted | None:
    kept = tuple(e for e in target.response.events if payload(e.data).strip() != b"[DONE]")
    if len(kept) == len(target.response.events):
        return None
    return Faulted(replace(target.response, events=kept))


def _streams_only(apply: Apply) -> Apply:
    def only(target: Target, params: Params, draw: Draw) -> Faulted | None:
        if not is_event_stream(target.response.headers):
            return None
        return apply(target, params, draw)

    return only


def _asked(target: Target) -> bool:
    """Whether the answer gave anything that can be lost."""
    return target.answer is not None and bool(target.answer.object)


def _judged(target: Target, response: Response) -> Faulted:
    gone = target.answer is not None and lost(target.answer, read(response))
    return Faulted(response, lost=gone)


_CLEAN = {"clean": Param(True, kinds=(bool,))}
_SECONDS = (int, float)
_DAY = 86400

KINDS = (
    Kind(
        "status",
        "an HTTP error in place of the answer, with or without Retry-After",
        _status,
        {
            "code": Param(503, kinds=(int,), least=400, most=599),
            "retry_after": Param(None, kinds=_SECONDS, least=0, most=_DAY),
        },
        attempts=True,
    ),
    Kind(
        "reset",
        "the connection is reset, before a response or in the middle of it",
        _reset,
        {"at": Param("start", choices=("start", "middle"))},
        attempts=True,
    ),
    Kind(
        "slow-first-byte",
        "the first byte comes late",
        _slow_first_byte,
        {"seconds": Param(2.0, kinds=_SECONDS, least=0, most=_DAY)},
    ),
    Kind(
        "stall",
        "nothing comes after the first half: for some seconds, or ever",
        _stall,
        {"seconds": Param(None, kinds=_SECONDS, least=0, most=_DAY)},
    ),
    Kind("cut-in-character", "the body ends inside a character", _cut_in_character, _CLEAN),
    Kind("cut-in-event", "the body ends inside an event", _cut_in_event, _CLEAN),
    Kind("cut-in-json", "the body ends inside the answer's JSON", _cut_in_json, _CLEAN),
    Kind("trailing-garbage", "bytes without meaning after the end", _trailing_garbage),
    Kind(
        "duplicated-deltas",
        "each piece of the answer comes twice",
        _streams_only(_duplicated),
        rewrites=True,
    ),
    Kind(
        "usage-only-chunks",
        "chunks with usage and without choices, between all others",
        _streams_only(_usage_only),
    ),
    Kind("cr-line-ends", "lines end with CR", _streams_only(_line_ends(b"\r"))),
    Kind("crlf-line-ends", "lines end with CRLF", _streams_only(_line_ends(b"\r\n"))),
    Kind("missing-done", "the stream ends without [DONE]", _streams_only(_missing_done)),
    Kind(
        "keep-alive-comments",
        "comments between the events",
        _streams_only(_keep_alives),
    ),
)
