"""What a recorded response says, apart from how it was sent: read it, change it, send it again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from callbench.cassette.events import is_event_stream, payload
from callbench.cassette.interaction import Event, Response
from corecall.deltas import Completion, ToolCall
from corecall.reply import parse_reply

PIECE = 4
"""Characters of a delta when an answer is streamed anew."""

_HEAD = ("id", "created", "model", "system_fingerprint", "service_tier")


@dataclass(frozen=True, slots=True)
class Answer:
    """An assistant's message. ``head`` holds what stands beside the choices (id, model, time)."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    refusal: str = ""
    reasoning: str = ""
    finish_reason: str | None = "stop"
    usage: Mapping[str, Any] | None = None
    head: Mapping[str, Any] = field(default_factory=dict)

    @property
    def body(self) -> str:
        """Where the object is looked for: the arguments of the first call, else the text."""
        return self.calls[0].arguments if self.calls else self.text

    @property
    def object(self) -> dict[str, Any] | None:
        """The object that the body holds, ``None`` if none."""
        return parse_reply(self.body).object

    def with_body(self, body: str) -> Answer:
        """The same with another body."""
        if not self.calls:
            return replace(self, text=body)
        first, *others = self.calls
        return replace(self, calls=(ToolCall(first.id, first.name, body), *others))


def read(response: Response) -> Answer | None:
    """What a response says, as far as it came; ``None`` when it is no chat completion."""
    if not 200 <= response.status < 300:
        return None
    head: dict[str, Any] = {}
    if is_event_stream(response.headers):
        completion = Completion()
        for event in response.events:
            chunk = _json(payload(event.data))
            if chunk is not None:
                completion.add(chunk)
                head = head or _head(chunk)
    else:
        whole = _json(response.body)
        if whole is None:
            return None
        completion = Completion.from_message(whole)
        head = _head(whole)
    if completion.error is not None:
        return None
    return Answer(
        text=completion.content,
        calls=tuple(completion.tool_calls),
        refusal=completion.refusal,
        reasoning=completion.reasoning,
        finish_reason=completion.finish_reason,
        usage=completion.usage,
        head=head,
    )


def _json(data: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _head(chunk: Mapping[str, Any]) -> dict[str, Any]:
    return {name: chunk[name] for name in _HEAD if name in chunk}


def send(answer: Answer, like: Response, *, streamed: bool) -> Response:
    """A response that says ``answer``, with the other headers and the times of the response ``like``."""
    kind = "text/event-stream" if streamed else "application/json"
    parts = list(_chunks(answer)) if streamed else [_whole(answer)]
    first = like.events[0].at_ms if like.events else 0
    last = max(like.elapsed_ms, first)
    steps = max(len(parts) - 1, 1)
    events = tuple(
        Event(first + (last - first) * number // steps if streamed else last, part)
        for number, part in enumerate(parts)
    )
    return replace(like, headers={**like.headers, "content-type": kind}, events=events, error=None)


def _whole(answer: Answer) -> bytes:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
    if answer.text == "" and not answer.calls and not answer.refusal:
        message["content"] = ""
    if answer.reasoning:
        message["reasoning_content"] = answer.reasoning
    if answer.refusal:
        message["refusal"] = answer.refusal
    if answer.calls:
        message["tool_calls"] = [_call(call) for call in answer.calls]
    body: dict[str, Any] = {**answer.head, "object": "chat.completion"}
    body["choices"] = [{"index": 0, "message": message, "finish_reason": answer.finish_reason}]
    if answer.usage is not None:
        body["usage"] = answer.usage
    return _dumps(body)


def _chunks(answer: Answer) -> Iterator[bytes]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _event({**answer.head, "object": "chat.completion.chunk", "choices": [choice]})

    yield chunk({"role": "assistant", "content": None if answer.calls else ""})
    for name, text in (
        ("reasoning_content", answer.reasoning),
        ("content", answer.text),
        ("refusal", answer.refusal),
    ):
        for piece in _pieces(text):
            yield chunk({name: piece})
    for index, call in enumerate(answer.calls):
        yield chunk({"tool_calls": [{"index": index, **_call(ToolCall(call.id, call.name, ""))}]})
        for piece in _pieces(call.arguments):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, answer.finish_reason)
    if answer.usage is not None:
        yield _event(
            {
                **answer.head,
                "object": "chat.completion.chunk",
                "choices": [],
                "usage": answer.usage,
            }
        )
    yield b"data: [DONE]\n\n"


def _pieces(text: str) -> Iterator[str]:
    return (text[at : at + PIECE] for at in range(0, len(text), PIECE))


def _call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id or "call_0", "type": "function", "function": function}


def _event(chunk: Mapping[str, Any]) -> bytes:
    return b"data: " + _dumps(chunk) + b"\n\n"


def _dumps(value: Mapping[str, Any]) -> bytes:
    # Half a surrogate pair is what a model may send; UTF-8 has none, so then all is escaped.
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()


def lost(before: Answer, after: Answer | None) -> bool:
    """Whether no JSON object that ``after`` delivers holds the object that ``before`` gave.

    This is the yardstick of false success, and reads independently of any implementation under test: an
    answer is lost when none of the objects that stand complete in the text, or in the arguments of a call,
    has every member of the original with its value. An original without members cannot be lost.
    """
    known = before.object
    if not known:
        return False
    if after is None:
        return True
    texts = (after.text, *(call.arguments for call in after.calls))
    return not any(_holds(found, known) for text in texts for found in _objects(text))


def _objects(text: str) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder()
    at = text.find("{")
    while at >= 0:
        try:
            value, _ = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            pass
        else:
            if isinstance(value, dict):
                yield value
        at = text.find("{", at + 1)


def _holds(found: dict[str, Any], known: dict[str, Any]) -> bool:
    return all(key in found and _same(found[key], value) for key, value in known.items())


def _same(one: Any, other: Any) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
