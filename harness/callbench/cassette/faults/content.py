"""Faults of what a model says: each edits the assembled answer, which is then sent anew."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from callbench.cassette.faults.answer import Answer, lost, send
from callbench.cassette.faults.kind import Draw, Faulted, Kind, Param, Params, Target
from corecall.deltas import ToolCall

Edit = Callable[[Answer, Params, Draw], Answer | None]

OTHER_TOOL = "no_such_tool"
REFUSAL = "I'm sorry, I can't help with that."


def _edited(edit: Edit, *, withheld: bool = False) -> Callable[..., Faulted | None]:
    """A fault out of an edit. ``withheld``: the object may still be seen, but it is not given as answer."""

    def apply(target: Target, params: Params, draw: Draw) -> Faulted | None:
        if target.answer is None:
            return None
        after = edit(target.answer, params, draw)
        if after is None:
            return None
        response = send(after, target.response, streamed=target.streamed)
        gone = bool(target.answer.object) if withheld else lost(target.answer, after)
        return Faulted(response, lost=gone)

    return apply


def _malformed(answer: Answer, params: Params, draw: Draw) -> Answer | None:
    if answer.object is None:
        return None
    text = _dumps(answer.object)
    ways = ("brace", "comma", "quote") if '"' in text else ("brace",)
    how = params["how"] if params["how"] != "any" else ways[draw.below(len(ways), "how")]
    if how == "brace":
        return answer.with_body(text[:-1])
    if how == "comma":
        return answer.with_body(f"{text[:-1]},}}")
    return answer.with_body(text.replace('"', "", 1)) if '"' in text else None


def _truncated(answer: Answer, params: Params, draw: Draw) -> Answer | None:
    text = answer.body.rstrip()
    start = text.find("{")
    middle = (start + len(text)) // 2
    if start < 0 or middle <= start:
        return None
    return replace(answer.with_body(text[: middle or 1]), finish_reason="length")


def _fenced(answer: Answer, params: Params, draw: Draw) -> Answer | None:
    return answer.with_body(f"```json\n{answer.body}\n```")


def _prose_before(answer: Answer, params: Params, draw: Draw) -> Answer | None:
    return answer.with_body(f"Sure! Here are the arguments {{as asked}} in JSON:\n\n{answer.body}")


def _prose_after(answer: Answer, params: Params, draw: Draw) -> Answer | None:
    return answer.with_body(
        f"{answer.body}\n\nEvery value stands in the question, see {{above}}. Anything else?"
    )


def _thought_open(answer: Answer, params: Params, draw: Draw) -> Answer | None:
    return answer.with_body(f"<think>\nThe user gave these values: {answer.body}")


def _thought_closed_only(answer: Answer, params: Params, draw: Draw) -> Answer | None:
    return answer.with_body(f'The values {{"are": "clear"}} enough.\n</think>\n{answer.body}')


def _members(change: Callable[[Any], Any]) -> Edit:
    def edit(answer: Answer, params: Params, draw: Draw) -> Answer | None:
        found = answer.object
        if not found:
            return None
        changed = {key: change(value) for key, value in found.items()}
        return None if changed == found else answer.with_body(_dumps(changed))

    return edit


def _other_type(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float)):
        return json.dumps(value)
    if isinstance(value, str):
        return [value]
    return _dumps(value)


def _extra_keys(answer: Answer, params: Params, draw: Draw) -> Answer | None:
    found = answer.object
    if found is None:
        return None
    extra = {"confidence": 0.97, "explanation": "taken from the question"}
    return answer.with_body(_dumps({**found, **{k: v for k, v in extra.items() if k not in found}}))


def _empty(answer: Answer, params: Params, draw: Draw) -> Answer | None:
    return replace(answer, text="", calls=(), finish_reason="stop") if answer.body else None


def _refusal(answer: Answer, params: Params, draw: Draw) -> Answer | None:
    return replace(answer, text="", calls=(), refusal=REFUSAL, finish_reason="stop")


def _two_calls(answer: Answer, params: Params, draw: Draw) -> Answer | None:
    mine = answer.calls[0] if answer.calls else ToolCall("call_0", "", answer.body)
    other = ToolCall("call_1", OTHER_TOOL, '{"query": "unrelated"}')
    calls = (other, mine) if params["order"] == "other-first" else (mine, other)
    return replace(answer, text="", calls=calls, finish_reason="tool_calls")


def _wrong_name(answer: Answer, params: Params, draw: Draw) -> Answer | None:
    call = ToolCall("call_0", OTHER_TOOL, answer.body)
    return replace(answer, text="", calls=(call,), finish_reason="tool_calls")


def _two_calls_applied(target: Target, params: Params, draw: Draw) -> Faulted | None:
    named = _named(target)
    return None if named is None else _edited(_two_calls)(named, params, draw)


def _named(target: Target) -> Target | None:
    """The target with its answer as a call of the tool that was asked for; ``None`` if none was named."""
    answer = target.answer
    if answer is None or answer.calls:
        return target
    name = asked_tool(target.interaction.request.json())
    if not name:
        return None
    return replace(target, answer=replace(answer, calls=(ToolCall("call_0", name, answer.text),)))


def asked_tool(body: Any) -> str:
    """The name of the function, or of the schema, that a request binds the answer to; ``""`` if none."""
    try:
        if tools := body.get("tools"):
            return str(tools[0]["function"]["name"])
        return str(body["response_format"]["json_schema"]["name"])
    except (AttributeError, KeyError, TypeError, IndexError):
        return ""


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


_ORDER = {"order": Param("other-last", choices=("other-last", "other-first"))}

KINDS = tuple(
    Kind(name, text, apply, params, rewrites=True)
    for name, text, apply, params in (
        (
            "malformed-json",
            "the object has a comma too many, or lacks a quote or its last brace",
            _edited(_malformed),
            {"how": Param("any", choices=("any", "brace", "comma", "quote"))},
        ),
        ("truncated", "the token limit ends the answer half-way", _edited(_truncated), {}),
        ("fenced-json", "the object stands in a Markdown fence", _edited(_fenced), {}),
        ("prose-before", "a sentence, with braces, before the object", _edited(_prose_before), {}),
        ("prose-after", "a sentence, with braces, after the object", _edited(_prose_after), {}),
        (
            "thought-open",
            "a thought begins and never ends; the object is part of it",
            _edited(_thought_open, withheld=True),
            {},
        ),
        (
            "thought-closed-only",
            "a thought ends that never began; the object follows",
            _edited(_thought_closed_only),
            {},
        ),
        ("wrong-types", "every value has another type", _edited(_members(_other_type)), {}),
        ("nulls", "every value is null", _edited(_members(lambda value: None)), {}),
        ("extra-keys", "two members that nobody asked for", _edited(_extra_keys), {}),
        ("empty-content", "the answer is empty", _edited(_empty), {}),
        ("refusal", "the model refuses", _edited(_refusal), {}),
        (
            "two-tool-calls",
            "a call of another tool beside the one asked for",
            _two_calls_applied,
            _ORDER,
        ),
        (
            "wrong-tool-name",
            "the object comes as a call of another tool",
            _edited(_wrong_name, withheld=True),
            {},
        ),
    )
)
