"""Inputs about calls: prompts and what they show, few-shot messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from callbench.fuzz.inputs.suite import (
    TURNS,
    Batch,
    Inputs,
    around,
    drawn,
    picked,
    pool,
    pools,
    whole,
)
from callbench.fuzz.strategies import json_objects, texts

# Always there: without it a prompt shows the time it is.
_NOW = {"now": "2024-02-29T23:05:09"}
_ROLES = ("user", "assistant", "system")


def _members(objects: tuple[Inputs, ...]) -> dict[str, tuple[Any, ...]]:
    found: dict[str, list[Any]] = {}
    for one in objects:
        for name, value in one.items():
            found.setdefault(name, []).append(value)
    return {name: tuple(values) for name, values in found.items()}


def _some_of(known: dict[str, tuple[Any, ...]], turn: int) -> Inputs:
    """Return an object of some of the members, each with a value of some case of the suite."""
    found = {}
    for number, (name, values) in enumerate(known.items(), 1):
        which = (turn // number + turn * number) % (2 * len(values))
        if which < len(values):
            found[name] = values[which]
    return found


def _known(draw: DrawFn) -> Inputs:
    """Draw what a task knows."""
    steps = [_step(draw, number) for number in range(draw(st.integers(0, 4)))]
    turns = [
        {"role": _ROLES[draw(st.integers(0, 2))], "content": draw(texts())}
        for _ in range(draw(st.integers(0, 5)))
    ]
    return {
        "language": ("zh", "en")[draw(st.integers(0, 1))],
        "question": draw(texts()),
        "steps": steps,
        "conversation": turns,
        "facts": draw(st.lists(texts(), max_size=2)),
        **_NOW,
    }


def _step(draw: DrawFn, number: int) -> Inputs:
    record = {"stepId": f"s{number}", "outputData": _spelled_alike(draw(json_objects(3)))}
    if draw(st.booleans()):
        record |= {"stepName": draw(texts()), "stepDescription": draw(texts())}
    return record


def _spelled_alike(value: Any) -> Any:
    """Return the value without numbers that languages write in different ways."""
    if isinstance(value, dict):
        return {name: _spelled_alike(child) for name, child in value.items()}
    if isinstance(value, list):
        return [_spelled_alike(child) for child in value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return value if isinstance(value, int) and abs(value) < 2**53 else 1.5


def _messages(op: str) -> Callable[[DrawFn], Batch]:
    def make(draw: DrawFn) -> Batch:
        known, calls, turn = _known(draw), _members(pools(op)["call"]), draw(TURNS)
        return [{"call": _some_of(calls, turn + 17 * n), "vars": known} for n in range(12)]

    return make


def _messages_of_suite(op: str) -> Callable[[DrawFn], Batch]:
    def make(draw: DrawFn) -> Batch:
        calls, known, turn = (*map(_members, (pools(op)["call"], pools(op)["vars"])), draw(TURNS))
        return [
            {"call": _some_of(calls, turn + n), "vars": {**_NOW, **_some_of(known, turn + 17 * n)}}
            for n in range(12)
        ]

    return make


def _fewshot(draw: DrawFn) -> Batch:
    examples = draw(
        st.lists(st.fixed_dictionaries({"input": texts(), "output": texts()}), max_size=3)
    )
    base = {"system": draw(texts()), "examples": examples, "message": draw(texts())}
    return around(base, draw(TURNS), system=3, message=3)


def _fewshot_of_suite(draw: DrawFn) -> Batch:
    base = {
        name: picked(draw, pool(name, "fewshot.messages"))
        for name in ("system", "examples", "message")
    }
    return [base]


_NEAR_FEWSHOT = whole("fewshot.messages", system=2, examples=4, message=2)

STRATEGIES: dict[str, Callable[[], SearchStrategy[Batch]]] = {
    "llm.messages": drawn(_messages("llm.messages"), _messages_of_suite("llm.messages")),
    "slot.messages": drawn(_messages("slot.messages"), _messages_of_suite("slot.messages")),
    "fewshot.messages": drawn(_fewshot, _fewshot_of_suite, _NEAR_FEWSHOT),
}
