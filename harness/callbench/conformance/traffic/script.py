"""What an endpoint answers, turn by turn: a queue for each model.

The answers of a case are written as one of

| members | sent |
| --- | --- |
| ``pieces``: texts, or deltas as objects | a stream: an event for each, then ``[DONE]`` |
| ``events``: texts, or ``{"base64"}`` | a stream: these bytes, each event apart, nothing added |
| ``content``: a text or null | a whole completion |
| ``call``: ``{"name", "arguments"}``, arguments as text | a whole completion with this tool call |
| ``status``, and ``body`` | that status with this JSON body |

A stream with ``"cut": true`` breaks off after the last event: the connection ends inside the body.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any

MODELS = ("reasoning", "function")

_KINDS: dict[str, Any] = {
    "pieces": list,
    "events": list,
    "content": (str, type(None)),
    "call": dict,
    "status": int,
}
_BESIDE = {"pieces": {"cut"}, "events": {"cut"}, "status": {"body"}}


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer: its ``events`` are sent one by one when it is a ``stream``, else together."""

    events: tuple[bytes, ...] = ()
    status: int = 200
    stream: bool = False
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    """The answers of each model, in order.

    With ``again`` the function model's last one answers every further request: what a model
    that was recorded with one trial says to the second. ``what`` names them in an error.
    """

    reasoning: tuple[Reply, ...] = ()
    function: tuple[Reply, ...] = ()
    again: bool = False
    what: str = "the case has"

    def of(self, model: str) -> tuple[Reply, ...]:
        """Return the answers of a model, one of ``MODELS``."""
        return self.reasoning if model == "reasoning" else self.function


def script_of(written: dict[str, Any]) -> Script:
    """Return the script of a case's ``model``; ``ValueError`` says what is wrong with it."""
    if unknown := sorted(set(written) - set(MODELS)):
        raise ValueError(f"there is no model {unknown[0]!r}, only reasoning and function")
    reasoning, function = (_replies(model, written.get(model, [])) for model in MODELS)
    return Script(reasoning, function)


def _replies(model: str, written: Any) -> tuple[Reply, ...]:
    if not isinstance(written, list):
        raise ValueError(f"{model} is no array of answers")
    found = []
    for number, one in enumerate(written):
        try:
            found.append(reply_of(one))
        except (ValueError, TypeError, KeyError) as error:
            raise ValueError(f"{model}/{number}: {error}") from error
    return tuple(found)


def reply_of(written: Any) -> Reply:
    """Return the answer that is written as the table above says, or raise ``ValueError``."""
    kind = next((name for name in _KINDS if isinstance(written, dict) and name in written), None)
    if kind is None:
        raise ValueError(f"an answer has one of {', '.join(_KINDS)}")
    if unknown := sorted(set(written) - {kind} - _BESIDE.get(kind, set())):
        raise ValueError(f"{unknown[0]} does not go with {kind}")
    value: Any = written[kind]
    if not isinstance(value, _KINDS[kind]):
        raise ValueError(f"{kind} is of another type")
    match kind:
        case "pieces":
            events = tuple(_event(piece) for piece in value)
            done = () if written.get("cut") else (b"data: [DONE]\n\n",)
            return Reply((*events, *done), stream=True, cut=bool(written.get("cut")))
        case "events":
            return Reply(tuple(map(_bytes, value)), stream=True, cut=bool(written.get("cut")))
        case "status":
            return Reply((_json(written.get("body", {})),), status=value)
        case "call":
            function = {"name": str(value["name"]), "arguments": str(value["arguments"])}
            call = {"id": "call_1", "type": "function", "function": function}
            return _whole({"role": "assistant", "content": None, "tool_calls": [call]})
        case _:
            return _whole({"role": "assistant", "content": value})


def _whole(message: dict[str, Any]) -> Reply:
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return Reply((_json({"object": "chat.completion", "choices": [choice]}),))


def _event(piece: str | dict[str, Any]) -> bytes:
    delta = {"content": piece} if isinstance(piece, str) else piece
    choice = {"index": 0, "delta": delta, "finish_reason": None}
    chunk = {"object": "chat.completion.chunk", "choices": [choice]}
    return b"data: " + _json(chunk) + b"\n\n"


def _bytes(event: str | dict[str, str]) -> bytes:
    return event.encode() if isinstance(event, str) else base64.b64decode(event["base64"])


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def error_reply(status: int, message: str) -> Reply:
    """Return an answer that says what is wrong, as OpenAI's endpoints say it."""
    return Reply((_json({"error": {"message": message}}),), status=status)
