"""Synthetic recordings of one answer, streamed and whole, for tests of faults."""

from __future__ import annotations

import json
from typing import Any

from callbench.cassette import Event, Interaction, Request, Response, canonical_request, request_key

OBJECT = {"city": "杭州", "nights": 3, "pets": False}
TEXT = json.dumps(OBJECT, ensure_ascii=False)


def request(streamed: bool, content: str = "3 nights", tool: str = "book") -> Request:
    schema = {"name": tool, "schema": {"type": "object"}, "strict": True}
    body = {
        "model": "synthetic",
        "messages": [{"role": "user", "content": content}],
        "stream": streamed,
        "response_format": {"type": "json_schema", "json_schema": schema},
    }
    return canonical_request("POST", "/v1/chat/completions", json.dumps(body).encode())


def event(value: Any) -> bytes:
    return b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n"


def stream(text: str = TEXT) -> Response:
    deltas: list[dict[str, Any]] = [{"content": piece} for piece in text]
    chunks = [event({"choices": [{"index": 0, "delta": delta}]}) for delta in deltas]
    chunks.append(event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}))
    chunks.append(b"data: [DONE]\n\n")
    events = tuple(Event(10 + number, data) for number, data in enumerate(chunks))
    return Response(200, {"content-type": "text/event-stream"}, events, elapsed_ms=400)


def whole(message: dict[str, Any] | None = None) -> Response:
    message = message or {"role": "assistant", "content": TEXT}
    body = {"id": "synthetic-1", "choices": [{"message": message, "finish_reason": "stop"}]}
    data = json.dumps(body, ensure_ascii=False).encode()
    return Response(200, {"content-type": "application/json"}, (Event(400, data),), elapsed_ms=400)


def recording(
    *,
    streamed: bool = True,
    case: str = "a",
    ordinal: int = 0,
    response: Response | None = None,
    content: str = "3 nights",
) -> Interaction:
    asked = request(streamed, content)
    answer = response or (stream() if streamed else whole())
    return Interaction(request_key(asked), case, ordinal, asked, answer)
