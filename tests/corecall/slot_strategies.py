"""Hypothesis strategies for schemas and for data that comes near to satisfying them.

Keywords on which the oracle (``jsonschema``) is known to deviate are left out or kept harmless:
``multipleOf`` on decimals, and patterns beyond plain ASCII classes.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "b", "c", "", "a/b", "m~n", "0", "城市"])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 5),
    st.sampled_from([0.0, 1.0, 1.5, 2.5, -1.0]),
    st.sampled_from(["", "a", "b", "ab", "aaaa", "é", "你好"]),
)
DATA = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=4)),
    max_leaves=8,
)
OBJECTS = st.dictionaries(NAMES, DATA, max_size=4)

_TYPES = ["string", "integer", "number", "boolean", "null", "object", "array"]
_LEAVES: list[st.SearchStrategy[dict[str, Any]]] = [
    st.sampled_from(_TYPES).map(lambda name: {"type": name}),
    st.lists(st.sampled_from(_TYPES), min_size=1, unique=True).map(lambda names: {"type": names}),
    st.lists(SCALARS, min_size=1, max_size=3).map(lambda values: {"enum": values}),
    DATA.map(lambda value: {"const": value}),
    st.integers(-1, 3).map(lambda bound: {"type": "integer", "minimum": bound}),
    st.integers(-1, 3).map(lambda bound: {"exclusiveMaximum": bound}),
    st.integers(1, 3).map(lambda step: {"multipleOf": step}),
    st.integers(0, 3).map(lambda length: {"type": "string", "minLength": length}),
    st.integers(0, 3).map(lambda length: {"maxLength": length, "description": "short"}),
    st.sampled_from(["^a", "b$", "^[ab]*$", "a{2}", "^(?!a)"]).map(lambda text: {"pattern": text}),
    st.integers(0, 2).map(lambda count: {"maxItems": count}),
    st.integers(0, 2).map(lambda count: {"minItems": count, "uniqueItems": True}),
    st.integers(0, 3).map(lambda count: {"minProperties": count}),
    st.integers(0, 3).map(lambda count: {"maxProperties": count}),
    st.sampled_from(["deep", "text", "loop"]).map(lambda name: {"$ref": f"#/definitions/{name}"}),
    st.just({}),
]
_DEFINITIONS: dict[str, Any] = {
    "text": {"type": "string", "minLength": 1},
    "deep": {"$ref": "#/definitions/text"},
    "loop": {
        "type": "object",
        "properties": {"a": {"$ref": "#/definitions/loop"}, "b": {"$ref": "#/definitions/deep"}},
        "required": ["b"],
    },
}


def _compound(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    members = st.dictionaries(NAMES, inner, max_size=3)
    some = st.lists(inner, min_size=1, max_size=3)
    required = st.lists(NAMES, max_size=3, unique=True)
    keywords: dict[str, st.SearchStrategy[Any]] = {
        "properties": members,
        "required": required,
        "additionalProperties": inner,
        "patternProperties": st.dictionaries(st.sampled_from(["^a", "b"]), inner, max_size=2),
        "dependencies": st.dictionaries(NAMES, st.one_of(required, inner), max_size=2),
        "propertyNames": inner,
        "items": st.one_of(inner, st.lists(inner, min_size=1, max_size=2)),
        "additionalItems": inner,
        "contains": inner,
        "allOf": some,
        "anyOf": some,
        "oneOf": some,
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
        "title": st.just("T"),
    }
    return st.one_of(
        st.lists(st.sampled_from(sorted(keywords)), min_size=1, max_size=4, unique=True).flatmap(
            lambda names: st.fixed_dictionaries({name: keywords[name] for name in names})
        ),
        st.fixed_dictionaries(
            {"type": st.just("object"), "properties": members, "required": required}
        ),
    )


_SUBSCHEMAS = st.recursive(st.one_of(st.booleans(), *_LEAVES), _compound, max_leaves=10)
SCHEMAS = st.one_of(_compound(_SUBSCHEMAS), st.one_of(*_LEAVES)).map(
    lambda schema: {**schema, "definitions": _DEFINITIONS}
)
"""Whole schemas, any root."""

OBJECT_SCHEMAS = st.fixed_dictionaries(
    {
        "type": st.just("object"),
        "properties": st.dictionaries(NAMES, _SUBSCHEMAS, max_size=4),
        "required": st.lists(NAMES, max_size=3, unique=True),
    },
    optional={
        "additionalProperties": _SUBSCHEMAS,
        "allOf": st.lists(_SUBSCHEMAS, min_size=1, max_size=2),
        "anyOf": st.lists(_SUBSCHEMAS, min_size=1, max_size=2),
        "if": _SUBSCHEMAS,
        "then": _SUBSCHEMAS,
        "else": _SUBSCHEMAS,
        "maxProperties": st.integers(0, 3),
    },
).map(lambda schema: {**schema, "definitions": _DEFINITIONS})
"""Schemas of tools: the root is an object."""
