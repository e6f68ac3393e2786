"""Tool schemas without contradictions, and data for them that lacks or breaks something.

What :mod:`callbench.fuzz.strategies` draws may be satisfied by nothing. Here everything can be: names
are declared once, with one kind of value, and conditions only require more names.
"""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from callbench.fuzz.strategies import instances

from .support import places

_NAMES = ("a", "b", "a/b", "", "m~n", "城市", "0")
_LEAVES: tuple[dict[str, Any], ...] = (
    {"type": "string", "minLength": 1},
    {"type": "integer", "minimum": 0, "maximum": 9},
    {"type": "number", "multipleOf": 0.1},
    {"type": "boolean"},
    {"enum": ["经济舱", "商务舱"]},
    {"$ref": "#/definitions/date"},
    {"type": "array", "items": {"type": "string"}, "minItems": 1},
)
_DEFINITIONS = {"date": {"type": "string", "pattern": "^[0-9]{4}-[01][0-9]$"}}


@st.composite
def plain_tools(draw: DrawFn) -> dict[str, Any]:
    """Draw a tool's schema that can be satisfied whatever is filled in first."""
    return {**_object(draw, 2), "definitions": copy.deepcopy(_DEFINITIONS)}


def _object(draw: DrawFn, depth: int) -> dict[str, Any]:
    declared = draw(st.lists(st.sampled_from(_NAMES), min_size=1, max_size=4, unique=True))
    some = st.lists(st.sampled_from(declared), max_size=3, unique=True)
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: _value(draw, depth) for name in declared},
        "required": draw(some),
        "additionalProperties": False,
    }
    if draw(st.booleans()):
        schema["dependencies"] = {draw(st.sampled_from(declared)): draw(some)}
    if draw(st.booleans()):
        condition = {"required": [draw(st.sampled_from(declared))]}
        schema |= {"if": condition, "then": {"required": draw(some)}}
    if draw(st.booleans()):
        schema["allOf"] = [{"required": draw(some)}]
    return schema


def _value(draw: DrawFn, depth: int) -> dict[str, Any]:
    kind = draw(st.integers(0, 3)) if depth > 0 else 0
    if kind == 2:
        return _object(draw, depth - 1)
    if kind == 3:
        return {"type": "array", "items": _object(draw, depth - 1)}
    return copy.deepcopy(draw(st.sampled_from(_LEAVES)))


def damaged(schema: dict[str, Any]) -> SearchStrategy[dict[str, Any]]:
    """Draw an instance of a plain tool with members taken out, and values made wrong."""
    return st.composite(_damaged)(schema)


def _damaged(draw: DrawFn, schema: dict[str, Any]) -> dict[str, Any]:
    value: dict[str, Any] = draw(instances(schema))
    for _ in range(draw(st.integers(0, 3))):
        objects = [place for _, place in places(value) if isinstance(place, dict) and place]
        if not objects:
            break
        chosen: dict[str, Any] = draw(st.sampled_from(objects))
        name = draw(st.sampled_from(list(chosen)))
        if draw(st.booleans()):
            del chosen[name]
        else:
            chosen[name] = None  # right for no plain value
    return value
