"""Inputs about paths, pointers, replies and callbacks."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from callbench.fuzz.edits import edited, edited_texts
from callbench.fuzz.inputs.suite import TURNS, Batch, around, drawn, picked, pool, pools, whole
from callbench.fuzz.strategies import (
    histories,
    json_objects,
    json_values,
    names,
    paths,
    pointers,
    rendered_replies,
    texts,
)


def _history(draw: DrawFn) -> Batch:
    history: list[dict[str, Any]] = [
        {**record, "stepId": str(record["stepId"])} for record in draw(histories(3))
    ]
    turn = draw(TURNS)
    odd = draw(paths(history))
    found: Batch = [{"path": None if isinstance(odd, bytes) else odd, "history": history}]
    if history:  # a step that ran twice
        first = history[turn % len(history)]
        again = [*history, {**first, "outputData": draw(json_objects(3))}]
        step = first["stepId"]
        found += [{"path": path, "history": again} for path in (step, step.upper())]
    return [*found, *_looked_up(history, turn, 8)]


def _looked_up(history: list[dict[str, Any]], turn: int, count: int) -> Batch:
    """Return inputs that look up ``count`` values of the history, and what is near to them."""
    found = []
    for number, (path, value) in enumerate(_right_paths(history)[:count]):
        found += [path, *_near_paths(path, value, turn + number)]
    return [{"path": path, "history": history} for path in found]


_TAILS = ("", "0", "length", "-1", "keys", "#", "*", "/0", "a", "１")
_INDEXES = ("-1", "01", "1", "99", " 0", "+0", "0.0", "-", "1e0", "１", "length", "")


def _near_paths(path: str, value: Any, turn: int) -> list[str]:
    """Return paths near to one that leads to ``value``: on from it, beside it, in capitals, edited."""
    parent, _, last = path.rpartition("/")
    tails = _INDEXES if isinstance(value, list) else _TAILS
    on = [f"{path}/{tails[(turn + number) % len(tails)]}" for number in range(2)]
    beside = f"{parent}/{_INDEXES[turn % len(_INDEXES)]}"
    return [*on, beside, f"{parent}/{last.swapcase()}", *edited_texts(path, turn, 2)]


def _right_paths(history: list[dict[str, Any]]) -> list[tuple[str, Any]]:
    """Return the paths of values in the history, and these."""
    found: list[tuple[str, Any]] = []
    stack: list[tuple[str, Any]] = [(r["stepId"], r["outputData"]) for r in history]
    while stack and len(found) < 12:
        path, value = stack.pop()
        found.append((path, value))
        if isinstance(value, dict):
            stack += [(f"{path}/{name}", child) for name, child in value.items()]
        elif isinstance(value, list):
            stack += [(f"{path}/{index}", child) for index, child in enumerate(value)]
    return found


def _history_of_suite(draw: DrawFn) -> Batch:
    known = pools("history.extract")
    base = {"path": picked(draw, known["path"]), "history": picked(draw, known["history"])}
    turn = draw(TURNS)
    outputs = [{**base, "history": _outputs(base["history"], turn + n)} for n in range(4)]
    found = _looked_up(base["history"], turn, 6)
    return [*around(base, turn, path=2 if isinstance(base["path"], str) else 0), *found, *outputs]


def _outputs(history: list[dict[str, Any]], turn: int) -> list[dict[str, Any]]:
    return [
        {**record, "outputData": (edited(record["outputData"], turn, 1) or [{}])[0]}
        for record in history
    ]


def _pointer(draw: DrawFn) -> Batch:
    text = draw(pointers({"a": [{"b/c": 1, "m~n": 2}], "城市": 0, "": 1}))
    return around({"pointer": text}, draw(TURNS), pointer=8)


def _tokens(draw: DrawFn) -> Batch:
    tokens = draw(st.lists(names(), max_size=3))
    turn = draw(TURNS)
    edits = [edited_texts(token, turn, 3) for token in tokens]
    return [
        {"tokens": tokens},
        *({"tokens": [*tokens[:n], e, *tokens[n + 1 :]]} for n, es in enumerate(edits) for e in es),
    ]


def _replies(op: str, **options: tuple[Any, ...]) -> tuple[Callable[[DrawFn], Batch], ...]:
    """Return two makers: replies as drawn, and those of the suite; each with texts near to them."""

    def with_options(draw: DrawFn, text: str) -> Batch:
        base: dict[str, Any] = {"text": text}
        for name, values in options.items():
            if (value := picked(draw, values)) is not None:
                base[name] = value
        return around(base, draw(TURNS), text=12)

    def rendered(draw: DrawFn) -> Batch:
        return with_options(draw, draw(rendered_replies(json_objects(5)))[0])

    def of_suite(draw: DrawFn) -> Batch:
        known = pool("text", op, "slot.parse_reply", "reply.process", "reply.json")
        return with_options(draw, picked(draw, known))

    return rendered, of_suite, of_suite


def _json_texts(op: str) -> tuple[Callable[[DrawFn], Batch], ...]:
    def written(draw: DrawFn) -> Batch:
        value = draw(json_values(6) if op == "reply.json" else json_objects(6))
        text = json.dumps(value, ensure_ascii=draw(st.booleans()))
        return around({"text": text}, draw(TURNS), text=12)

    return written, _replies(op)[1]


def _convert(draw: DrawFn) -> Batch:
    value = draw(
        st.one_of(texts(), json_values(4), st.sampled_from(pool("value", "callback.convert")))
    )
    return [{"to": to, "value": value} for to in ("input", "output")]


_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 1.0, -0.0, 1.5, "", "1", "true", [], [1], {}, {"a": 1}, 2**60, 1e21,
)  # fmt: skip
_KINDS = ("string", "integer", "number", "boolean", "object", "array")


def _extra(draw: DrawFn) -> Batch:
    extra, turn = draw(json_objects(4)), draw(TURNS)
    keys = [*extra, draw(names())]
    found = [{"extra": extra, "key": key, "type": kind} for key in keys for kind in _KINDS]
    key, value = keys[turn % len(keys)], _VALUES[turn % len(_VALUES)]
    return [
        *found,
        *({"extra": {**extra, key: value}, "key": key, "type": kind} for kind in _KINDS),
    ]


def _record(draw: DrawFn) -> Batch:
    known = pools("callback.record")
    base = {"kind": picked(draw, known["kind"]), "fields": picked(draw, known["fields"])}
    return around(base, draw(TURNS), fields=4)


STRATEGIES: dict[str, Callable[[], SearchStrategy[Batch]]] = {
    "history.extract": drawn(_history, _history_of_suite),
    "pointer.split": drawn(_pointer, whole("pointer.split", pointer=8)),
    "pointer.join": drawn(_tokens),
    "slot.parse_reply": drawn(*_replies("slot.parse_reply", repair=(None, False, True))),
    "reply.process": drawn(*_replies("reply.process")),
    "reply.duplicates": drawn(*_replies("reply.duplicates", repair=(None, True))),
    "reply.json": drawn(*_json_texts("reply.json")),
    "reply.arguments": drawn(*_replies("reply.arguments", repair=(None, True))),
    "callback.arguments": drawn(*_json_texts("callback.arguments")),
    "callback.convert": drawn(_convert),
    "callback.extra": drawn(_extra),
    "callback.record": drawn(_record, whole("callback.record", fields=8)),
}
