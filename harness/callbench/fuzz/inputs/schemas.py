"""Inputs about schemas and the data they describe."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from callbench.fuzz.edits import edited, edited_texts
from callbench.fuzz.inputs.suite import TURNS, Batch, Inputs, around, drawn, picked, pool, whole
from callbench.fuzz.strategies import (
    data_for,
    json_values,
    names,
    object_schemas,
    pointer_replies,
    schemas,
    texts,
)

_OPS = (
    "slot.check",
    "slot.places",
    "slot.merge",
    "slot.convert",
    "slot.process",
    "slot.ask_schema",
)
_MODES = ("tools", "json_schema", "json_object", "prompt")


def _of_suite(draw: DrawFn) -> Any:
    return picked(draw, pool("schema", *_OPS, "slot.add_null", "provider.strict"))


def _object_of_suite(draw: DrawFn) -> Any:
    schema = _of_suite(draw)
    return schema if isinstance(schema, dict) else {}


def _data_of_suite(draw: DrawFn) -> Any:
    return picked(draw, pool("data", "slot.check", "slot.places", "slot.convert"))


def _reply_of_suite(draw: DrawFn) -> Any:
    return picked(draw, (*pool("new", "slot.merge"), *pool("data", "slot.convert")))


def _check(draw: DrawFn) -> Batch:
    schema = draw(schemas() if draw(st.booleans()) else object_schemas())
    base = {"schema": schema, "data": draw(data_for(schema))}
    return [*around(base, draw(TURNS), data=18, schema=3), {"schema": schema, "data": {}}]


def _check_of_suite(draw: DrawFn) -> Batch:
    base = {"schema": _of_suite(draw), "data": _data_of_suite(draw)}
    return around(base, draw(TURNS), data=6, schema=6)


def _convert(draw: DrawFn) -> Batch:
    schema = draw(object_schemas())
    base: Inputs = {"schema": schema, "data": draw(pointer_replies(schema))}
    more = {**base, "base": _object(draw(data_for(schema)))}
    turn = draw(TURNS)
    return [*around(base, turn, data=8), *around(more, turn, data=6, base=6)]


def _convert_of_suite(draw: DrawFn) -> Batch:
    base: Inputs = {"schema": _object_of_suite(draw), "data": _object(_reply_of_suite(draw))}
    if draw(st.booleans()):
        base["base"] = _object(picked(draw, pool("known", "slot.merge")))
    return around(base, draw(TURNS), data=6, base=4)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _process(draw: DrawFn) -> Batch:
    schema = draw(object_schemas())
    return _processed(schema, draw(data_for(schema)), draw(TURNS))


def _process_of_suite(draw: DrawFn) -> Batch:
    return _processed(_object_of_suite(draw), _data_of_suite(draw), draw(TURNS))


def _processed(schema: Any, value: Any, turn: int) -> Batch:
    values = [value, *edited(value, turn, 8), *_nulled(value)]
    given = [{"schema": schema, "value": near} for near in values]
    return [*given, *({"schema": schema, "text": json.dumps(near)} for near in values[:3])]


def _nulled(value: Any) -> list[Any]:
    """Return the object with one member null at a time, and with all of them null."""
    if not isinstance(value, dict):
        return []
    return [*({**value, name: None} for name in list(value)[:4]), dict.fromkeys(value)]


def _schema_alone(draw: DrawFn) -> Batch:
    schema = draw(schemas() if draw(st.booleans()) else object_schemas())
    return around({"schema": schema}, draw(TURNS), schema=10)


def _suite_schema_alone(draw: DrawFn) -> Batch:
    return around({"schema": _of_suite(draw)}, draw(TURNS), schema=6)


def _params(draw: DrawFn) -> Batch:
    # Only valid ones: whether another is refused here or later is left open.
    schema = draw(object_schemas())
    titles = [*edited_texts(draw(texts()), draw(TURNS), 3), "book hotel", "订酒店", "a" * 80]
    titled = [schema, *({**schema, "title": title} for title in titles)]
    return [{"mode": mode, "schema": one} for one in titled for mode in _MODES]


def _merge(draw: DrawFn) -> Batch:
    schema = draw(object_schemas())
    base = {
        "schema": schema,
        "known": _object(draw(data_for(schema))),
        "new": draw(pointer_replies(schema)),
    }
    turn = draw(TURNS)
    return [*around(base, turn, known=9, new=9), *around({**base, "known": {}}, turn, new=5)]


def _merge_of_suite(draw: DrawFn) -> Batch:
    base = {
        "schema": _object_of_suite(draw),
        "known": _object(picked(draw, pool("known", "slot.merge", "slot.ask_schema"))),
        "new": _object(_reply_of_suite(draw)),
    }
    return around(base, draw(TURNS), known=5, new=5, schema=2)


def _ask(draw: DrawFn) -> Batch:
    schema = draw(object_schemas())
    return _asked(schema, _object(draw(data_for(schema))), draw(TURNS))


def _ask_of_suite(draw: DrawFn) -> Batch:
    known = picked(draw, pool("known", "slot.merge", "slot.ask_schema"))
    return _asked(_object_of_suite(draw), _object(known), draw(TURNS))


def _asked(schema: Any, known: dict[str, Any], turn: int) -> Batch:
    found: Batch = []
    for optional in (False, True):
        base = {"schema": schema, "known": known, "optional": optional}
        found += [*around(base, turn, known=7), {**base, "known": {}}]
    return found


def _override(draw: DrawFn) -> Batch:
    schema = draw(object_schemas())
    override = {
        draw(names()): draw(st.sampled_from(_LEAVES)) for _ in range(draw(st.integers(0, 2)))
    }
    declared = list(schema["properties"])[:3]
    return [
        {"schema": schema, "override": override},
        {"schema": schema, "override": None},
        *({"schema": schema, "override": {**override, name: leaf}} for name in declared for leaf in _LEAVES),
    ]  # fmt: skip


_LEAVES: tuple[dict[str, Any], ...] = (
    {},
    {"type": "string"},
    {"enum": [1, "a"]},
    {"type": "object", "properties": {"x": {}}, "required": ["x"]},
)


_KEYWORDS: dict[str, tuple[Any, ...]] = {
    "type": ("string", "integer", "number", "boolean", "null", "object", "array", ["null", "integer"]),
    "enum": ([1], [None], [True, "a"], [0, ""], [[1], {"a": 1}], [1.0], [{"a": 1, "b": 2}]),
    "const": (1, 0, None, False, "", 1.0, [1], {"a": 1}, {"a": 1, "b": 2}),
    "minimum": (0, 1, 2, 1.5),
    "maximum": (0, 1, 2, 1.5),
    "exclusiveMinimum": (0, 1, 2),
    "exclusiveMaximum": (0, 1, 2),
    "multipleOf": (1, 2, 0.1, 0.5, 0.01),
    "minLength": (0, 1, 2, 3),
    "maxLength": (0, 1, 2, 3),
    "pattern": ("^a", "b$", "^[ab]+$", "^..$", "城", r"^\S+$", r"^\d$", r"^\w$", "^$"),
    "minItems": (0, 1, 2),
    "maxItems": (0, 1, 2),
    "uniqueItems": (True, False),
    "contains": ({"const": 1}, {"type": "string"}, True, False),
    "minProperties": (0, 1, 2),
    "maxProperties": (0, 1, 2),
    "required": (["a"], ["a", "b"], [""], ["a/b"], []),
    "propertyNames": ({"maxLength": 1}, {"pattern": "^a"}, False),
    "dependencies": ({"a": ["b"]}, {"a": {"required": ["b"]}}, {"a": False}),
    "additionalProperties": (False, True, {"type": "integer"}),
    "patternProperties": ({"^a": {"type": "integer"}}, {"b": False}),
    "items": (False, {"type": "integer"}, [{"type": "string"}], [True, {"type": "integer"}]),
    "additionalItems": (False, {"type": "string"}),
    "format": ("date", "email"),
}  # fmt: skip
_PROBES: tuple[Any, ...] = (
    None, True, False, 0, 1, 2, 3, -1, 1.0, 1.5, 0.3, 0.07, -0.0, 2**53 + 1, 1e21,
    "", "a", "ab", "b\n", "aaa", "😀", "😀😀", "城", "e\u0301", "1", "١", "\u00a0", "null",
    [], [1], [1, 1.0], [1, True], ["a"], ["a", 1], [{"a": 1, "b": 2}, {"b": 2, "a": 1}], [[1], [1]], [None],
    {}, {"a": 1}, {"a": None}, {"b": 1}, {"a": 1, "b": 2}, {"b": 2, "a": 1}, {"": 0}, {"a/b": 1}, {"ab": "x"},
)  # fmt: skip
_WRAPS: tuple[tuple[Callable[[Any], Any], Callable[[Any], Any]], ...] = (
    (lambda schema: schema, lambda data: data),
    (lambda schema: {"properties": {"a": schema}}, lambda data: {"a": data}),
    (lambda schema: {"items": schema}, lambda data: [data]),
    (lambda schema: {"additionalProperties": schema}, lambda data: {"x~y": data}),
    (lambda schema: {"anyOf": [schema, False]}, lambda data: data),
    (lambda schema: {"oneOf": [schema, {"type": "null"}]}, lambda data: data),
    (lambda schema: {"not": schema}, lambda data: data),
    (lambda schema: {"if": schema, "else": {"required": ["k"]}}, lambda data: data),
    (lambda schema: {"properties": {"a": {"$ref": "#/definitions/t"}}, "definitions": {"t": schema}},
     lambda data: {"a": data}),
)  # fmt: skip


def _probed(draw: DrawFn) -> Batch:
    """Draw a schema of one keyword or two, and data at its bounds."""
    schema: dict[str, Any] = {}
    for _ in range(draw(st.integers(1, 2))):
        name = picked(draw, tuple(_KEYWORDS))
        schema[name] = picked(draw, _KEYWORDS[name])
    around_schema, around_data = picked(draw, _WRAPS)
    turn = draw(TURNS)
    probes = [_PROBES[(turn + 7 * number) % len(_PROBES)] for number in range(16)]
    return [{"schema": around_schema(schema), "data": around_data(probe)} for probe in probes]


def _wide_values(draw: DrawFn) -> Batch:
    """Draw data that have nothing to do with the schema."""
    schema = _of_suite(draw)
    return around({"schema": schema, "data": draw(json_values(5))}, draw(TURNS), data=6)


_CHECKS = (whole("slot.check", "slot.places", data=12, schema=4), _probed, _probed)
_NEAR_CONVERT = whole("slot.convert", data=8, base=4, schema=2)

STRATEGIES: dict[str, Callable[[], SearchStrategy[Batch]]] = {
    "slot.check": drawn(_check, _check_of_suite, _wide_values, *_CHECKS),
    "slot.places": drawn(_check, _check_of_suite, _wide_values, *_CHECKS),
    "slot.convert": drawn(_convert, _convert_of_suite, _NEAR_CONVERT),
    "slot.convert_names": drawn(_convert, _convert_of_suite, _NEAR_CONVERT),
    "slot.process": drawn(
        _process, _process_of_suite, whole("slot.process", schema=3, value=8, text=8)
    ),
    "slot.add_null": drawn(_schema_alone, _suite_schema_alone),
    "slot.merge": drawn(
        _merge, _merge_of_suite, *[whole("slot.merge", known=8, new=8, schema=3)] * 2
    ),
    "slot.ask_schema": drawn(_ask, _ask_of_suite, whole("slot.ask_schema", known=6, schema=4)),
    "schema.override": drawn(_override),
    "provider.params": drawn(_params),
    "provider.strict": drawn(_schema_alone, _suite_schema_alone),
}
