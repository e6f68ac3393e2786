"""What the slot code accepts as JSON at all, and the two errors that say otherwise.

Everything is measured without recursion, before anything recursive looks at it.

Contract: schema.limit.1, schema.limit.3, schema.limit.4, schema.engine.11.
"""

from __future__ import annotations

import math
from typing import Any

from corecall.pointer import escape

MAX_DEPTH = 100
"""Deepest nesting of data, and deepest nesting of subschemas."""

MAX_SCHEMA_JSON_DEPTH = 250
"""Deepest nesting of a schema's JSON: two levels for each of 100 subschemas, and some values."""

_MAX_INTEGER_BITS = 14_000  # Python refuses to write integers of more than 4,300 digits as text


class JsonError(ValueError):
    """A value that cannot be worked on. ``pointer`` says where, ``reason`` why."""

    def __init__(self, pointer: str, reason: str) -> None:
        super().__init__(f"{pointer}: {reason}" if pointer else reason)
        self.pointer = pointer
        self.reason = reason

    def __reduce__(self) -> tuple[type[JsonError], tuple[str, str]]:
        """Survive the way to another process; ``args`` is the text, not what made it."""
        return type(self), (self.pointer, self.reason)


class SchemaError(JsonError):
    """The schema is no valid Draft 7 schema, refers outside itself, or is nested too deep."""


class DataError(JsonError):
    """The data is not JSON (NaN, Infinity, a Python object) or is nested too deep."""


def plain_data(data: Any) -> tuple[Any, int]:
    """Return ``data`` as plain JSON values, and the length of its longest string.

    Data that is plain already comes back as the same object. Tuples become arrays, and subclasses
    of ``dict``, ``list``, ``str``, ``int`` and ``float`` (enum members too) their base type, in a
    copy. Raises :class:`DataError`.

    Contract: schema.valid.14, schema.limit.1, schema.engine.19.
    """
    longest = _longest_string(data, MAX_DEPTH)
    if longest is not None:
        return data, longest
    plain = _plain_copy(data, MAX_DEPTH, DataError)
    return plain, _longest_string(plain, MAX_DEPTH) or 0


def plain_schema(schema: Any) -> Any:
    """Return ``schema`` as plain JSON values, itself when it is already. Raises :class:`SchemaError`.

    Contract: schema.valid.14, schema.limit.3.
    """
    if _longest_string(schema, MAX_SCHEMA_JSON_DEPTH) is not None:
        return schema
    return _plain_copy(schema, MAX_SCHEMA_JSON_DEPTH, SchemaError)


def depth(value: Any) -> int:
    """Return how deep ``value`` nests, counted no further than :data:`MAX_DEPTH` + 1. A scalar is 0."""
    level = [value] if isinstance(value, (dict, list)) else []
    levels = 0
    while level and levels <= MAX_DEPTH:
        levels += 1
        level = [
            child
            for container in level
            for child in (container.values() if isinstance(container, dict) else container)
            if isinstance(child, (dict, list))
        ]
    return levels


def copy_json(value: Any) -> Any:
    """Return a deep copy of a JSON value that is known to nest no deeper than the limits."""
    if isinstance(value, dict):
        copied: dict[str, Any] = {}
        for key, child in value.items():
            copied[key] = copy_json(child) if isinstance(child, (dict, list)) else child
        return copied
    if isinstance(value, list):
        items: list[Any] = []
        for child in value:
            items.append(copy_json(child) if isinstance(child, (dict, list)) else child)
        return items
    return value


def _longest_string(root: Any, max_depth: int) -> int | None:
    """Return the longest string's length; ``None`` when something needs a second look.

    The hot path: level by level, exact types only, no path kept.
    """
    longest = 0
    level: list[Any] = [(root,)]
    for _ in range(max_depth + 1):
        deeper: list[Any] = []
        for container in level:
            if type(container) is dict:
                for key in container:
                    if type(key) is not str:
                        return None
                container = container.values()
            for value in container:
                kind = type(value)
                if kind is str:
                    if len(value) > longest:
                        longest = len(value)
                elif kind is dict or kind is list:
                    deeper.append(value)
                elif kind is int:
                    if value.bit_length() > _MAX_INTEGER_BITS:
                        return None
                elif kind is float:
                    if not math.isfinite(value):
                        return None
                elif value is not None and kind is not bool:
                    return None
        if not deeper:
            return longest
        level = deeper
    return None


def _plain_copy(root: Any, max_depth: int, error: type[JsonError]) -> Any:
    """Return a copy of ``root`` in plain JSON types, or raise ``error`` where that cannot be."""
    top: list[Any] = [None]
    stack: list[tuple[Any, Any, Any, str, int]] = [(root, top, 0, "", 0)]
    while stack:
        value, owner, place, pointer, level = stack.pop()
        owner[place] = _plain_value(value, pointer, error)
        made = owner[place]
        if not isinstance(made, (dict, list)):
            continue
        if level >= max_depth:
            raise error(pointer, f"nested deeper than {max_depth}")
        if isinstance(made, dict):
            for key, child in value.items():
                if not isinstance(key, str):
                    raise error(pointer, f"the key {key!r} is not a string")
                name = str.__str__(key)
                made[name] = None  # keeps the order: the stack empties backwards
                stack.append((child, made, name, f"{pointer}/{escape(name)}", level + 1))
        else:
            made.extend([None] * len(value))
            for index, child in enumerate(value):
                stack.append((child, made, index, f"{pointer}/{index}", level + 1))
    return top[0]


def _plain_value(value: Any, pointer: str, error: type[JsonError]) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        if value.bit_length() > _MAX_INTEGER_BITS:
            raise error(pointer, "an integer of more than 4,200 digits")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise error(pointer, f"{float(value)} is not JSON")
        return float(value)
    if isinstance(value, dict):
        return {}
    if isinstance(value, (list, tuple)):
        return []
    raise error(pointer, f"a Python {type(value).__name__} is not JSON")
