"""Draft 7 schemas: every keyword, odd names, references, recursion.

All are valid against the metaschema, refer only inside themselves, and never define a subschema by
itself alone: a definition's references that judge the same value lead to later definitions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any
from urllib.parse import quote

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from callbench.fuzz.strategies.values import json_values, names, scalars, texts

Schema = dict[str, Any] | bool
"""A Draft 7 schema: an object, or ``True`` / ``False``."""

_TYPES = ("string", "integer", "number", "boolean", "null", "object", "array")
_PATTERNS = ("^a", "b$", "^[ab]*$", "a{2}", "^(?!a)", "城", r"^\S+$", "[0-9]", "^$")
_NAME_PATTERNS = ("^a", "b", "^[a-c]$", "城", "/", "^$", "[0-9]+")
_FORMATS = ("date", "date-time", "email", "uri", "没有的格式")
_DEFINITIONS = ("text", "node", "收货 地址", "a/b", "m~n", "a%b", "", "type", "😀")

_count = st.integers(0, 3)
_bound = st.one_of(st.integers(-1, 4), st.sampled_from([0.5, 1.5, -2.5]))

_VALUE_KEYWORDS: dict[str, SearchStrategy[Any]] = {
    "type": st.one_of(
        st.sampled_from(_TYPES),
        st.lists(st.sampled_from(_TYPES), min_size=1, max_size=3, unique=True),
    ),
    "enum": st.lists(json_values(3), min_size=1, max_size=4),
    "const": json_values(3),
    "multipleOf": st.sampled_from([1, 2, 3, 0.1, 0.01, 0.5, 2.5]),
    "minimum": _bound,
    "maximum": _bound,
    "exclusiveMinimum": _bound,
    "exclusiveMaximum": _bound,
    "minLength": _count,
    "maxLength": _count,
    "pattern": st.sampled_from(_PATTERNS),
    "minItems": _count,
    "maxItems": _count,
    "uniqueItems": st.booleans(),
    "minProperties": _count,
    "maxProperties": _count,
    "required": st.lists(names(), max_size=3, unique=True),
}
_ANNOTATIONS: dict[str, SearchStrategy[Any]] = {
    "title": texts(),
    "description": texts(),
    "default": json_values(3),
    "examples": st.lists(scalars(), max_size=2),
    "readOnly": st.booleans(),
    "format": st.sampled_from(_FORMATS),
    "contentMediaType": st.just("application/json"),
    "contentEncoding": st.just("base64"),
    "$comment": texts(),
    "x-unknown": json_values(3),
}
_STRUCTURE = (
    "properties",
    "patternProperties",
    "additionalProperties",
    "propertyNames",
    "dependencies",
    "items",
    "additionalItems",
    "contains",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
)
_TOOL = (
    *_STRUCTURE[1:5],
    *_STRUCTURE[8:],
    "maxProperties",
    "minProperties",
    "description",
)
_LEAVES: tuple[tuple[str, ...], ...] = (
    ("type",),
    ("type",),
    ("enum",),
    ("const",),
    ("type", "minimum"),
    ("type", "enum"),
    ("minimum", "exclusiveMaximum"),
    ("multipleOf",),
    ("type", "minLength"),
    ("maxLength", "description"),
    ("pattern",),
    ("minItems", "uniqueItems"),
    ("maxItems",),
    ("minProperties",),
    ("maxProperties",),
    ("required",),
    (),
)

KEYWORDS = frozenset(
    [*_VALUE_KEYWORDS, *_ANNOTATIONS, *_STRUCTURE, "$ref", "$id", "$schema", "definitions"]
)
"""Every keyword that :func:`schemas` may draw; ``x-unknown`` stands for those nobody knows."""


@cache
def schemas() -> SearchStrategy[dict[str, Any]]:
    """Draw whole schemas, any root, as objects (never ``True`` or ``False`` at the root).

    Some are satisfied by nothing. ``format`` is only an annotation, and patterns mean the same to
    ECMA-262 and to most engines; decimals as ``multipleOf`` do occur::

        @given(schemas(), json_values())
        def test_verdicts_agree(schema, data):
            assert my_is_valid(schema, data) == oracle_is_valid(schema, data)
    """
    return st.composite(_document)(root=lambda writer: writer.node(_DEPTH))


@cache
def object_schemas() -> SearchStrategy[dict[str, Any]]:
    """Draw schemas as tools have them: ``{"type": "object", "properties": …, …}`` at the root.

    Use them where a call's parameters are described::

        @given(object_schemas())
        def test_the_empty_object_lacks_what_is_required(schema): ...
    """
    return st.composite(_document)(root=lambda writer: writer.tool(_DEPTH))


_DEPTH = 3


def _document(draw: DrawFn, root: Callable[[_Writer], dict[str, Any]]) -> dict[str, Any]:
    defined = draw(st.lists(st.sampled_from(_DEFINITIONS), max_size=3, unique=True))
    holder = draw(st.sampled_from(["definitions", "definitions", "$defs"]))
    references = [_reference(draw, holder, name) for name in defined]
    below = [*references, "#"]
    definitions: dict[str, Any] = {}
    for place, name in enumerate(defined):
        writer = _Writer(draw, references[place + 1 :], below)
        definitions[name] = writer.node(_DEPTH - 1) if draw(st.booleans()) else writer.leaf()
        if holder == "definitions" and "$ref" not in definitions[name] and _rarely(draw, 5):
            definitions[name]["$id"] = f"#anchor{place}"  # later schemas may call it by that
            references[place] = f"#anchor{place}"
    schema = root(_Writer(draw, references, [*references, "#"]))
    if definitions:
        schema[holder] = definitions
    if _rarely(draw, 9):
        schema["$schema"] = "http://json-schema.org/draft-07/schema#"
        schema["$id"] = "http://callbench.test/tool.json"
    return schema


def _rarely(draw: DrawFn, most: int) -> bool:
    """Say yes once in about ``most`` + 1 draws; the simplest draw says no."""
    return draw(st.integers(0, most)) == most


def _reference(draw: DrawFn, holder: str, name: str) -> str:
    safe = "" if draw(st.booleans()) else "城收货地址"
    token = name.replace("~", "~0").replace("/", "~1")
    return f"#/{holder}/" + "".join(
        letter if letter in safe else quote(letter, safe="~") for letter in token
    )


class _Writer:
    """Writes subschemas. ``here`` may be referred to for the same value, ``below`` for parts of it."""

    def __init__(self, draw: DrawFn, here: list[str], below: list[str]) -> None:
        self._draw = draw
        self._here = here
        self._below = below

    def tool(self, depth: int) -> dict[str, Any]:
        schema = {"type": "object", **self._object(depth)}
        for keyword in self._draw(st.lists(st.sampled_from(_TOOL), max_size=2, unique=True)):
            if keyword in ("allOf", "anyOf", "oneOf"):
                branches = range(self._draw(st.integers(1, 3)))
                schema[keyword] = [self._about_members(depth) for _ in branches]
            elif keyword in ("if", "then", "else", "not"):
                schema[keyword] = self._about_members(depth)
            else:
                schema[keyword] = self._keyword(keyword, depth)
        return schema

    def _about_members(self, depth: int) -> Schema:
        """Write a subschema that some objects satisfy, mostly."""
        kind = self._draw(st.integers(0, 7))
        if kind == 7:
            return self._subschema(depth, self._here)
        return self._object(depth - 1) if kind else {"required": [self._draw(names())]}

    def node(self, depth: int) -> dict[str, Any]:
        kind = self._draw(st.integers(0, 7)) if depth > 0 else 0
        if kind <= 1:
            return self.leaf()
        if kind <= 3:
            return {"type": "object", **self._object(depth)}
        if kind == 4:
            return {"type": "array", "items": self._keyword("items", depth)}
        pool = (*_STRUCTURE, *_STRUCTURE, *_VALUE_KEYWORDS, *_ANNOTATIONS)
        return {
            keyword: self._keyword(keyword, depth)
            for keyword in self._draw(
                st.lists(st.sampled_from(pool), min_size=1, max_size=4, unique=True)
            )
        }

    def leaf(self) -> dict[str, Any]:
        if self._here and _rarely(self._draw, 3):
            return self._referring(self._here)
        keywords = self._draw(st.sampled_from(_LEAVES))
        return {keyword: self._keyword(keyword, 0) for keyword in keywords}

    def _subschema(self, depth: int, references: list[str]) -> Schema:
        kind = self._draw(st.integers(0, 11))
        if kind == 11:
            return self._draw(st.booleans())
        if kind >= 9 and references:
            return self._referring(references)
        return self.node(depth - 1)

    def _part(self, depth: int) -> Schema:
        """Write a subschema for a part of the value: it may use every definition."""
        return _Writer(self._draw, self._below, self._below)._subschema(depth, self._below)

    def _referring(self, references: list[str]) -> dict[str, Any]:
        schema: dict[str, Any] = {"$ref": self._draw(st.sampled_from(references))}
        if _rarely(self._draw, 4):
            schema["description"] = "beside the reference"
        return schema

    def _object(self, depth: int) -> dict[str, Any]:
        properties = self._keyword("properties", depth)
        declared = list(properties)
        lacking = self._draw(st.lists(st.sampled_from(declared), unique=True)) if declared else []
        if _rarely(self._draw, 5):
            lacking = list(dict.fromkeys([*lacking, self._draw(names())]))
        return {"properties": properties, "required": lacking}

    def _keyword(self, keyword: str, depth: int) -> Any:
        draw = self._draw
        if keyword in _VALUE_KEYWORDS:
            return draw(_VALUE_KEYWORDS[keyword])
        if keyword in _ANNOTATIONS:
            return draw(_ANNOTATIONS[keyword])
        if keyword in ("properties", "patternProperties"):
            named = names() if keyword == "properties" else st.sampled_from(_NAME_PATTERNS)
            chosen = draw(st.lists(named, max_size=3, unique=True))
            return {name: self._part(depth) for name in chosen}
        if keyword == "dependencies":
            chosen = draw(st.lists(names(), min_size=1, max_size=2, unique=True))
            return {
                name: self._subschema(depth, self._here)
                if draw(st.booleans())
                else draw(_VALUE_KEYWORDS["required"])
                for name in chosen
            }
        if keyword == "items" and _rarely(draw, 2):
            return [self._part(depth) for _ in range(draw(st.integers(1, 2)))]
        if keyword in ("allOf", "anyOf", "oneOf"):
            return [self._subschema(depth, self._here) for _ in range(draw(st.integers(1, 3)))]
        if keyword in ("not", "if", "then", "else"):
            return self._subschema(depth, self._here)
        return self._part(depth)
