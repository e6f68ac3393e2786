"""What a peer asked, judged by its structure, since a port has its own wording.

A case's ``asked`` is an array with one expectation for each request, in order. Members, all optional
but ``model``:

| member | the request |
| --- | --- |
| ``model`` | asks this model |
| ``stream`` | streams, or does not |
| ``temperature`` | has this temperature; null: has none |
| ``roles`` | its messages have these roles, in this order |
| ``turns`` | ``{"0": "hi"}``: the content of that message is this text (``-1`` is the last) |
| ``says`` | ``{"-1": ["hi"]}``: that message's content holds these texts, one after another |
| ``hides`` | ``{"-1": ["hi"]}``: … holds none of these |
| ``shows`` | the last message holds these values as JSON, in this order |
| ``names`` | the name of the one tool it is bound to |
| ``parameters`` | that tool's parameters, compared as JSON |
| ``rules`` | the rule that a member (or ``ends``, the last turn) holds here, not the usual one |

Beside these every request has a method, a path, a key and a body as the protocol says, and ends on
a turn of the user.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from callbench.conformance.compare import same
from callbench.conformance.diff import show
from callbench.conformance.traffic.endpoint import Asked
from callbench.conformance.traffic.script import MODELS

KEY = "conformance"
"""The key a peer sends, as a bearer token."""

Expectation = dict[str, Any]

_LLM = {
    "model": "core.model.1",
    "stream": "llm.exec.1",
    "temperature": "llm.exec.2",
    "roles": "llm.message.1",
    "turns": "llm.message.2",
    "says": "llm.render.1",
    "hides": "llm.context.1",
    "shows": "llm.context.4",
    "ends": "llm.message.1",
}
_STAGE1 = {
    "model": "core.model.1",
    "stream": "slot.stage1.1",
    "temperature": "slot.stage1.5",
    "roles": "slot.prompt.13",
    "turns": "slot.prompt.13",
    "says": "slot.prompt.1",
    "hides": "slot.prompt.9",
    "shows": "slot.prompt.11",
    "ends": "slot.prompt.13",
}
_STAGE2 = {
    "model": "core.model.5",
    "stream": "provider.function.1",
    "temperature": "provider.reasoning.3",
    "roles": "slot.stage2.2",
    "turns": "slot.stage2.2",
    "says": "slot.stage2.6",
    "hides": "slot.stage2.1",
    "shows": "slot.stage2.6",
    "names": "provider.mode.2",
    "parameters": "slot.stage2.6",
    "ends": "slot.stage2.2",
}
MEMBERS = (*_STAGE2.keys() - {"ends"}, "rules")


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with what was asked, and the rule that it breaks."""

    rule: str
    text: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.text}"


def judge_requests(
    op: str, rule: str, expected: Sequence[Expectation], asked: Sequence[Asked]
) -> list[Fault]:
    """Return what is wrong with the requests of a case of this operation and rule."""
    faults: list[Fault] = []
    for number, (one, request) in enumerate(zip(expected, asked, strict=False), 1):
        rules = _rules(op, one)
        where = f"request {number} ({request.model or 'unknown model'})"
        faults += [Fault(rules.get(r, r), f"{where} {text}") for r, text in _wrong(one, request)]
    if len(asked) != len(expected):
        want = "no request" if not expected else _count(expected)
        faults.append(Fault(rule, f"{_count(asked)} came, expected {want}"))
    faults += [
        Fault(rule, f"request {number} was refused: {request.problem}")
        for number, request in enumerate(asked, 1)
        if request.problem and number > len(expected)
    ]
    return faults


def _count(requests: Sequence[Any]) -> str:
    return "1 request" if len(requests) == 1 else f"{len(requests) or 'no'} requests"


def _rules(op: str, one: Expectation) -> dict[str, str]:
    usual = _LLM if op == "llm.exec" else _STAGE1 if one["model"] == "reasoning" else _STAGE2
    return {**usual, **one.get("rules", {})}


def _wrong(one: Expectation, request: Asked) -> Iterator[tuple[str, str]]:
    """Yield the members (or rules) that do not hold, and what came instead."""
    if request.path != "/chat/completions" or request.method != "POST":
        yield "provider.request.1", f"went to {request.method} {request.path}"
    if request.authorization != f"Bearer {KEY}":
        yield "provider.request.3", f"has no header Authorization: Bearer {KEY}"
    if request.model != one["model"]:
        yield "model", f"asked for the model {show(request.body.get('model'))}, not {one['model']}"
        return  # the rest would be judged by another request's expectations
    messages = request.messages
    if not messages or messages[-1].get("role") != "user":
        yield "ends", "does not end on a turn of the user"
    for name, check in _CHECKS.items():
        if name in one and (text := check(one[name], request)):
            yield name, text


def _stream(wanted: Any, request: Asked) -> str:
    got = request.body.get("stream", False)
    return "" if got is wanted else f"has stream {show(got)}, expected {show(wanted)}"


def _temperature(wanted: Any, request: Asked) -> str:
    got = request.body.get("temperature")
    if same(wanted, got):
        return ""
    return f"has {_or_none('temperature', got)}, expected {_or_none('temperature', wanted)}"


def _or_none(what: str, value: Any) -> str:
    return f"no {what}" if value is None else f"{what} {show(value)}"


def _roles(wanted: Any, request: Asked) -> str:
    got = [message.get("role") for message in request.messages]
    return "" if got == wanted else f"has the roles {show(got)}, expected {show(wanted)}"


def _turns(wanted: dict[str, str], request: Asked) -> str:
    for place, text in wanted.items():
        got = _content(request, place)
        if got != text:
            return f"says {show(got)} in message {place}, expected {show(text)}"
    return ""


def _says(wanted: dict[str, list[str]], request: Asked) -> str:
    for place, texts in wanted.items():
        rest = _content(request, place)
        for text in texts:
            before, found, rest = rest.partition(text)
            if not found:
                return f"does not say {show(text)} in message {place}{_there(before, texts, text)}"
    return ""


def _there(rest: str, texts: list[str], text: str) -> str:
    after = texts[texts.index(text) - 1] if texts.index(text) else ""
    return f" after {show(after)}" if after else f": {show(rest, 200)}"


def _hides(wanted: dict[str, list[str]], request: Asked) -> str:
    for place, texts in wanted.items():
        content = _content(request, place)
        for text in texts:
            if text in content:
                return f"says {show(text)} in message {place}, where it must not stand"
    return ""


def _shows(wanted: list[Any], request: Asked) -> str:
    found = iter(_values(_content(request, "-1")))
    for value in wanted:
        if not any(same(value, got) for got in found):
            return f"does not show {show(value)} as JSON in the last message"
    return ""


def _values(text: str) -> Iterator[Any]:
    """Yield the JSON objects and arrays in a text, those within others too."""
    decoder = json.JSONDecoder()
    for place, character in enumerate(text):
        if character in "{[":
            try:
                yield decoder.raw_decode(text, place)[0]
            except (ValueError, RecursionError):
                continue


def _content(request: Asked, place: str) -> str:
    """Return the text of a message, ``""`` when it is not there; it may come in parts."""
    try:
        content = request.messages[int(place)].get("content")
    except IndexError:
        return ""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _names(wanted: str, request: Asked) -> str:
    got = _function(request).get("name")
    choice = request.body.get("tool_choice")
    forced = choice.get("function", {}).get("name") if isinstance(choice, dict) else choice
    if got == wanted == forced:
        return ""
    return f"has the tool {show(got)} and the choice {show(forced)}, expected {show(wanted)}"


def _parameters(wanted: Any, request: Asked) -> str:
    got = _function(request).get("parameters")
    return "" if same(wanted, got) else f"has the parameters {show(got)}, expected {show(wanted)}"


def _function(request: Asked) -> dict[str, Any]:
    match request.body.get("tools"):
        case [{"type": "function", "function": dict(function)}]:
            return function
    return {}


_CHECKS: dict[str, Callable[[Any, Asked], str]] = {
    "stream": _stream,
    "temperature": _temperature,
    "roles": _roles,
    "turns": _turns,
    "says": _says,
    "hides": _hides,
    "shows": _shows,
    "names": _names,
    "parameters": _parameters,
}


def expectation_problem(one: Any, known: set[str]) -> str:
    """Return what is wrong with how an expectation is written, ``""``: nothing."""
    if not isinstance(one, dict) or one.get("model") not in MODELS:
        return "an expectation is an object whose model is reasoning or function"
    if unknown := sorted(set(one) - set(MEMBERS)):
        return f"an expectation has no member {unknown[0]}"
    for name, value in one.items():
        if not _WRITTEN.get(name, lambda value: True)(value):
            return f"{name} is of another type"
    rules = one.get("rules", {})
    if unknown := sorted(rule for rule in rules.values() if rule not in known):
        return f"{unknown[0]} is no rule of the contract"
    if unknown := sorted(set(rules) - set(one) - {"ends"}):
        return f"rules names {unknown[0]}, which is not expected"
    return ""


def _by_place(kind: type) -> Callable[[Any], bool]:
    return lambda value: (
        isinstance(value, dict)
        and all(place.lstrip("-").isdecimal() for place in value)
        and all(isinstance(one, kind) for one in value.values())
    )


_WRITTEN: dict[str, Callable[[Any], bool]] = {
    "stream": lambda value: isinstance(value, bool),
    "roles": lambda value: isinstance(value, list),
    "turns": _by_place(str),
    "says": _by_place(list),
    "hides": _by_place(list),
    "shows": lambda value: isinstance(value, list),
    "names": lambda value: isinstance(value, str),
    "parameters": lambda value: isinstance(value, dict),
    "rules": lambda value: isinstance(value, dict),
}
