"""What the slot code accepts as JSON at all, and the two errors that say otherwise.

Everything is measured without recursion, before anything recursive looks at it.

Contract: schema.limit.1, schema.limit.3, schema.limit.4, schema.limit.8, schema.engine.11.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from corecall.pointer import escape

MAX_DEPTH = 100
"""Deepest nesting of data, and deepest nesting of subschemas."""

MAX_SCHEMA_JSON_DEPTH = 250
"""Deepest nesting of a schema's JSON: two levels for each of 100 subschemas, and some values."""

MAX_CONTAINERS = 250_000
"""Most arrays and objects in data; one that stands in several places is counted in each."""

MAX_SCHEMA_CONTAINERS = 50_000
"""Most arrays and objects in a schema, counted alike."""

_MAX_INTEGER_BITS = 14_000  # Python refuses to write integers of more than 4,300 digits as text


_NESTING = frozenset({dict, list, tuple})
_WRITABLE = frozenset({bool, bytes, float, type(None)})


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


@dataclass(frozen=True, slots=True)
class _Limits:
    error: type[JsonError]
    depth: int
    containers: int

    def too_many(self) -> JsonError:
        return self.error("", f"more than {self.containers:,} arrays and objects")


_DATA = _Limits(DataError, MAX_DEPTH, MAX_CONTAINERS)
_SCHEMA = _Limits(SchemaError, MAX_SCHEMA_JSON_DEPTH, MAX_SCHEMA_CONTAINERS)


def plain_data(data: Any) -> tuple[Any, int]:
    """Return ``data`` as plain JSON values, and the length of its longest string.

    Data that is plain already comes back as the same object. Tuples become arrays, and subclasses
    of ``dict``, ``list``, ``str``, ``int`` and ``float`` (enum members too) their base type, in a
    copy. Raises :class:`DataError`.

    Contract: schema.valid.14, schema.limit.1, schema.limit.8, schema.engine.19.
    """
    longest = _longest_string(data, _DATA)
    if longest is not None:
        return data, longest
    plain = _plain_copy(data, _DATA)
    return plain, _longest_string(plain, _DATA) or 0


def plain_schema(schema: Any) -> Any:
    """Return ``schema`` as plain JSON values, itself when it is already. Raises :class:`SchemaError`.

    Contract: schema.valid.14, schema.limit.3.
    """
    if _longest_string(schema, _SCHEMA) is not None:
        return schema
    return _plain_copy(schema, _SCHEMA)


def check_size(schema: dict[str, Any]) -> None:
    """Raise :class:`SchemaError` for a schema of too many arrays and objects.

    Asked before anything writes the schema out: a few lists that hold one another twice are more
    than any memory has. What nests too deep or is not plain is for :func:`plain_schema` to say.

    Contract: schema.limit.8.
    """
    count = 1
    level: list[Any] = [schema]
    for _ in range(MAX_SCHEMA_JSON_DEPTH):
        level = [
            child
            for container in level
            for child in (container.values() if type(container) is dict else container)
            if type(child) in _NESTING
        ]
        if not level:
            return
        count += len(level)
        if count > MAX_SCHEMA_CONTAINERS:
            raise _SCHEMA.too_many()


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


def _longest_string(root: Any, limits: _Limits) -> int | None:
    """Return the longest string's length; ``None`` when something needs a second look.

    The hot path: level by level, exact types only, no path kept.
    """
    longest = 0
    count = 0
    level: list[Any] = [(root,)]
    for _ in range(limits.depth + 1):
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
        count += len(deeper)
        if count > limits.containers:
            raise limits.too_many()
        level = deeper
    return None


def _plain_copy(root: Any, limits: _Limits) -> Any:
    """Return a copy of ``root`` in plain JSON types, or raise the error where that cannot be.

    What a subclass of ``dict`` or ``list`` makes of its methods is not asked.
    """
    error = limits.error
    top: list[Any] = [None]
    count = 0
    stack: list[tuple[Any, Any, Any, str, int]] = [(root, top, 0, "", 0)]
    while stack:
        value, owner, place, pointer, level = stack.pop()
        made = owner[place] = _plain_value(value, pointer, error)
        if not isinstance(made, (dict, list)):
            continue
        count += 1
        if level >= limits.depth:
            raise error(pointer, f"nested deeper than {limits.depth}")
        if count > limits.containers:
            raise limits.too_many()
        if isinstance(made, dict):
            ordered = issubclass(type(value), OrderedDict)
            for key, child in OrderedDict.items(value) if ordered else dict.items(value):
                if not issubclass(type(key), str):
                    raise error(pointer, f"the key {_shown(key)} is not a string")
                name = str.__str__(key)
                made[name] = None  # keeps the order: the stack empties backwards
                stack.append((child, made, name, f"{pointer}/{escape(name)}", level + 1))
        else:
            items = (
                tuple.__iter__(value) if issubclass(type(value), tuple) else list.__iter__(value)
            )
            for index, child in enumerate(items):
                made.append(None)
                stack.append((child, made, index, f"{pointer}/{index}", level + 1))
    return top[0]


def _plain_value(value: Any, pointer: str, error: type[JsonError]) -> Any:
    kind = type(value)  # isinstance would believe an object that says it is a str
    if value is None or kind is bool:
        return value
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, int):
        if int.bit_length(value) > _MAX_INTEGER_BITS:
            raise error(pointer, "an integer of more than 4,200 digits")
        return int.__pos__(value)
    if issubclass(kind, float):
        plain = float.__pos__(value)
        if not math.isfinite(plain):
            raise error(pointer, f"{plain} is not JSON")
        return plain
    if issubclass(kind, dict):
        return {}
    if issubclass(kind, (list, tuple)):
        return []
    raise error(pointer, f"a Python {kind.__name__} is not JSON")


def _shown(key: Any) -> str:
    """Return a key as an error shows it; only of plain types is it sure that they can be written."""
    kind = type(key)
    if kind in _WRITABLE or (kind is int and key.bit_length() <= _MAX_INTEGER_BITS):
        return repr(key)[:80]
    return f"of type {kind.__name__}"
