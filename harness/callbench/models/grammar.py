"""Schemas in the dialect that llama.cpp turns into grammars.

The converter refuses a whole request (HTTP 400) for some schemas and silently ignores or misreads
others. A request to an embedded model keeps the caller's schema; on its way to the engine the
schema is put into this dialect: the same property order, equivalent where the converter can,
looser where it cannot. The reply is checked against the caller's schema afterwards, as always.

What the converter of llama.cpp does with a schema, measured, and what stands here instead:

=====================================  =========================================================
``$ref`` to ``#``, with ``~1`` or      400: the target is copied to ``definitions`` under a plain
``%20``, or to nowhere                 name; what cannot be resolved becomes ``{}``
``true``, ``false`` as a schema        400: ``{}``; a property that may not be is left out
unknown ``type``, bounds over 2**63    400: left out
a pattern that is no regular           400: left out
expression
``\\d``, ``\\w``, ``\\s``, ``\\/`` in a      ignored: spelled out
pattern
a pattern not anchored at both ends    ignored: left out
``.`` or ``[^…]`` in a pattern         lets ``"`` through, so the text never closes: left out
``anyOf`` beside ``properties``        the properties are forgotten: merged into each branch
a fraction as bound of an integer      ignored: rounded inwards
``additionalProperties: true``         small models ramble on into made-up keys: left out
=====================================  =========================================================
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from callbench.models.references import resolve

Schema = dict[str, Any]

_TYPES = {"string", "number", "integer", "boolean", "null", "array", "object"}
_LOWER = {"minimum", "exclusiveMinimum"}
_UPPER = {"maximum", "exclusiveMaximum"}
_LARGEST = 2**53
_LIMITS = {"minLength", "maxLength", "minItems", "maxItems"}
_MAX_REPEATS = 2000  # llama.cpp refuses grammars with more repetitions than this
_BRANCHES = ("anyOf", "oneOf")
_SHAPE = {"properties", "type", "enum", "const", "$ref", "items", "allOf", "anyOf", "oneOf"}
_CLASSES = {"d": "0-9", "w": "A-Za-z0-9_", "s": " "}
_ESCAPES = re.compile(r"\\(.)|\[\^|(\[)|(\])|(\.)", re.DOTALL)
_REDUCED = {
    *_LOWER, *_UPPER, *_LIMITS, "pattern", "format", "multipleOf", "uniqueItems", "patternProperties",
    "propertyNames", "not", "if", "then", "else", "dependencies", "contains",
}  # fmt: skip


def for_llama(schema: Schema) -> Schema:
    """Return ``schema`` in the converter's dialect. The argument is not changed."""
    return _Dialect(schema).root()


def reduced(schema: Schema) -> Schema:
    """Return only the shape of ``schema``: types, properties, required, enumerations, branches.

    What a request falls back to when the converter refuses even the dialect.
    """
    return _Dialect(schema, leave_out=frozenset(_REDUCED)).root()


class _Dialect:
    def __init__(self, schema: Schema, leave_out: frozenset[str] = frozenset()) -> None:
        self._schema = schema
        self._leave_out = leave_out
        self._names: dict[str, str] = {}
        self._definitions: dict[str, Any] = {}

    def root(self) -> Schema:
        root = self._node(self._schema)
        if self._definitions:
            root["definitions"] = self._definitions
        return root

    def _node(self, node: Any) -> Schema:
        if not isinstance(node, dict):
            return {}  # true and false; a forbidden property was left out by its object
        if "$ref" in node:
            return self._reference(node["$ref"])
        node = self._merged(node)
        out: Schema = {}
        for key, value in node.items():
            if key in self._leave_out:
                continue
            step = _STEPS.get(key)
            if step is None:
                out[key] = value
            else:
                kept = step(self, value, node)
                if kept is not None:
                    out[key] = kept
        return out

    def _merged(self, node: Schema) -> Schema:
        """Lay what stands beside ``anyOf`` into each branch: the converter reads only one of them."""
        for key in _BRANCHES:
            branches = node.get(key)
            if isinstance(branches, list) and _SHAPE & (set(node) - {key}):
                base = {k: v for k, v in node.items() if k not in (key, "definitions", "$defs")}
                whole = [_over(base, branch) for branch in branches]
                return {key: [branch for branch in whole if branch is not None]} if whole else base
        return node

    def _reference(self, ref: Any) -> Schema:
        target = resolve(self._schema, ref)
        if target is None:
            return {}
        if ref not in self._names:
            self._names[ref] = name = f"d{len(self._names)}"
            self._definitions[name] = {}  # holds the place while the target refers to itself
            self._definitions[name] = self._node(target)
        return {"$ref": f"#/definitions/{self._names[ref]}"}

    def _properties(self, value: Any, node: Schema) -> Any:
        required = node.get("required", [])
        return {
            name: self._node(schema)
            for name, schema in value.items()
            if not _forbidden(schema) or name in required
        }

    def _list(self, value: Any, node: Schema) -> Any:
        return [self._node(item) for item in value]

    def _items(self, value: Any, node: Schema) -> Any:
        return [self._node(i) for i in value] if isinstance(value, list) else self._node(value)

    def _additional(self, value: Any, node: Schema) -> Any:
        if isinstance(value, dict) and value:
            return self._node(value)
        return None if value is not False and node.get("properties") else value

    def _type(self, value: Any, node: Schema) -> Any:
        if isinstance(value, list):
            return [name for name in value if name in _TYPES] or None
        return value if value in _TYPES else None

    def _pattern(self, value: Any, node: Schema) -> Any:
        return _plain_pattern(value)

    def _limit(self, value: Any, node: Schema) -> Any:
        return value if isinstance(value, int) and 0 <= value <= _MAX_REPEATS else None

    def _lower(self, value: Any, node: Schema) -> Any:
        return _bound(value, node, math.ceil)

    def _upper(self, value: Any, node: Schema) -> Any:
        return _bound(value, node, math.floor)

    def _drop(self, value: Any, node: Schema) -> Any:
        return None


_Step = Callable[[_Dialect, Any, Schema], Any]
_STEPS: dict[str, _Step] = {
    "properties": _Dialect._properties,
    "anyOf": _Dialect._list,
    "oneOf": _Dialect._list,
    "allOf": _Dialect._list,
    "items": _Dialect._items,
    "additionalProperties": _Dialect._additional,
    "type": _Dialect._type,
    "pattern": _Dialect._pattern,
    **dict.fromkeys(_LIMITS, _Dialect._limit),
    **dict.fromkeys(_LOWER, _Dialect._lower),
    **dict.fromkeys(_UPPER, _Dialect._upper),
    **dict.fromkeys(("definitions", "$defs", "$id", "$schema"), _Dialect._drop),
}


def _forbidden(schema: Any) -> bool:
    return schema is False or schema == {"not": {}} or schema == {"not": True}


def _over(base: Schema, branch: Any) -> Schema | None:
    """Return ``branch`` with what ``base`` says too; ``None`` for a branch that admits nothing."""
    if not isinstance(branch, dict):
        return None if branch is False else base
    if "$ref" in branch:
        return branch  # read alone, like anywhere in Draft 7
    both = {**base, **branch}
    if "type" in base and "type" in branch:
        common = [name for name in _names(branch["type"]) if name in _names(base["type"])]
        if not common:
            return None
        both["type"] = common[0] if len(common) == 1 else common
    for key in ("properties", "definitions"):
        if key in base and key in branch:
            both[key] = {**base[key], **branch[key]}
    if "required" in base and "required" in branch:
        both["required"] = [*dict.fromkeys([*base["required"], *branch["required"]])]
    return both


def _names(kind: Any) -> list[str]:
    return kind if isinstance(kind, list) else [kind]


def _bound(value: Any, node: Schema, inwards: Callable[[float], int]) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or abs(value) > _LARGEST:
        return None
    return inwards(value) if node.get("type") == "integer" else value


def _plain_pattern(pattern: Any) -> str | None:
    """Return the pattern as the converter understands it, or ``None`` if it would not."""
    if not isinstance(pattern, str) or not pattern.startswith("^") or not pattern.endswith("$"):
        return None
    if any(pair in pattern for pair in ("--", "&&", "||", "~~")):
        return None  # set operations in some dialects: ``re`` warns of them
    if "(?" in pattern.replace("(?:", "") or "^" in pattern[1:] or "$" in pattern[:-1]:
        return None
    inside = False
    out = []
    at = 0
    for found in _ESCAPES.finditer(pattern):
        out.append(pattern[at : found.start()])
        at = found.end()
        escaped = found[1]
        if escaped in _CLASSES:
            out.append(_CLASSES[escaped] if inside else f"[{_CLASSES[escaped]}]")
        elif escaped is not None and (escaped == "/" or escaped in "@:,;_ '%#=&!~<>`"):
            out.append(escaped)
        elif escaped is not None and (escaped.isalnum() and escaped not in "nrtu"):
            return None
        elif found[2]:
            if inside:
                return None
            inside = True
            out.append("[")
        elif found[3]:
            inside = False
            out.append("]")
        elif found[4] and not inside:
            return None
        else:
            out.append(found[0])
    plain = "".join([*out, pattern[at:]])
    try:
        re.compile(plain)
    except re.error:
        return None
    return plain
