"""What a tool's schema declares about a slot: type, default, whether it is required, how to compare.

This only looks things up; whether a value satisfies the schema is the processor's business. A
place may be declared by several schemas (``allOf``, branches of ``anyOf``, ``$ref``): all count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from callbench.dataset.slots import (
    ABSENT,
    Blocked,
    Path,
    find,
    list_index,
    lookup,
    to_pointer,
)
from corecall import pointer

_ALL_TYPES = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
_DATES = frozenset({"date", "date-time", "time"})
_TIMES = {"date": "date", "time": "time", "date-time": "datetime", "duration": "duration"}
_EVERY_WAY = ("else", "then", "oneOf", "anyOf", "allOf")
_MEMBERS = ("properties", "patternProperties", "additionalProperties")
_ITEMS = ("items",)
_MOST_PLACES = 4096
_CLOSED = ("enum", "const", "pattern", "format")


def json_type(value: Any) -> str:
    """Return the JSON type of a value; a number without a fraction is an ``integer``."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "integer" if value.is_integer() else "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


@dataclass(frozen=True, slots=True)
class Label:
    """What a schema says of a slot, and the slot's pointer.

    ``type`` is ``enum`` or ``date`` where the schema says so, else the declared JSON type, empty
    when there is none. ``required``: the tool cannot be called without it, since it and all above it
    are required. ``free_text``: no enum, const, pattern or format binds a string here. ``time`` is
    what kind of time the ``format`` says that a string here is, empty when it says nothing.
    """

    pointer: str
    type: str
    required: bool
    free_text: bool
    time: str = ""


class Declared:
    """The declarations of one schema. It is never mutated."""

    __slots__ = ("_at", "_labels", "_root", "_tops")

    def __init__(self, schema: dict[str, Any]) -> None:
        self._root = schema
        self._tops: dict[Path, tuple[Any, ...]] = {(): (schema,)}
        self._at: dict[Path, tuple[dict[str, Any], ...]] = {}
        self._labels: dict[Path, Label] = {}

    def at(self, path: Path) -> tuple[dict[str, Any], ...]:
        """Return every schema that applies, or may apply, to the value at a path."""
        known = self._at.get(path)
        if known is None:
            known = self._at[path] = tuple(self._expand(self._declared(path), _EVERY_WAY))
        return known

    def path(self, place: str) -> Path:
        """Return the path of a pointer: digits are a list index where the schema has a list."""
        path: Path = ()
        for token in pointer.split(place):
            index = list_index(token)
            named = any(token in node.get("properties", ()) for node in self.at(path))
            if (index is not None and not named) and any(
                "items" in node or node.get("type") == "array" for node in self.at(path)
            ):
                path = (*path, index)
            else:
                path = (*path, token)
        return path

    def declares(self, path: Path) -> bool:
        """Say whether the schema speaks of this place; an object without properties takes any key."""
        if not path or self._declared(path):
            return True
        parent, token = path[:-1], path[-1]
        nodes = self.at(parent)
        if not self.declares(parent):
            return False
        if any(token in node.get("required", ()) for node in nodes):
            return True
        bounds = _ITEMS if isinstance(token, int) else _MEMBERS
        return not any(word in node for node in nodes for word in bounds)

    def label(self, path: Path) -> Label:
        """Return what the schema says of a slot at a path, whatever its value."""
        known = self._labels.get(path)
        if known is None:
            self._keep_small()
            nodes = self.at(path)
            known = self._labels[path] = Label(
                pointer=to_pointer(path),
                type=_slot_type(nodes),
                required=all(
                    isinstance(token, int) or self.requires(path[:depth], token)
                    for depth, token in enumerate(path)
                ),
                free_text=not any(word in node for node in nodes for word in _CLOSED),
                time=next((_TIMES[n["format"]] for n in nodes if n.get("format") in _TIMES), ""),
            )
        return known

    def _keep_small(self) -> None:
        """Forget the places when an endless reply has named too many."""
        if len(self._labels) > _MOST_PLACES:
            self._labels.clear()
            self._at.clear()
            self._tops = {(): (self._root,)}

    def requires(self, parent: Path, key: str) -> bool:
        """Say whether an object at ``parent`` must have a member ``key``, whatever branch it takes."""
        always = self._expand(self._declared(parent), ("allOf",))
        return any(key in node.get("required", ()) for node in always)

    def admits_type(self, path: Path, value: Any) -> bool:
        """Say whether the schema admits a value of this JSON type here."""
        name = json_type(value)
        return all(name in self._types(top, frozenset()) for top in self._declared(path))

    def default(self, path: Path) -> Any:
        """Return the default of a slot, its own or from one above, or ``ABSENT``."""
        for depth in range(len(path), 0, -1):
            for node in self.at(path[:depth]):
                if "default" in node:
                    value = lookup(node["default"], path[depth:])
                    return ABSENT if isinstance(value, Blocked) else value
        return ABSENT

    def own_default(self, path: Path) -> Any:
        """Return the default written for a slot itself, or ``ABSENT``."""
        return next((node["default"] for node in self.at(path) if "default" in node), ABSENT)

    def _declared(self, path: Path) -> tuple[Any, ...]:
        """Return the schemas written for a place, before references and branches are followed."""
        known = self._tops.get(path)
        if known is None:
            token = path[-1]
            known = tuple(child for node in self.at(path[:-1]) for child in _children(node, token))
            self._tops[path] = known
        return known

    def _expand(self, schemas: Iterable[Any], ways: tuple[str, ...]) -> Iterator[dict[str, Any]]:
        """Yield the object schemas among these, references followed, and their branches."""
        seen: set[int] = set()
        queue = list(schemas)[::-1]
        while queue:
            schema = queue.pop()
            if not isinstance(schema, dict) or id(schema) in seen:
                continue
            seen.add(id(schema))
            if "$ref" in schema:
                # Draft 7: what stands beside a reference does not count.
                queue.append(self._follow(schema["$ref"]))
                continue
            yield schema
            for way in ways:
                queue.extend(_branches(schema, way)[::-1])

    def _follow(self, reference: Any) -> Any:
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        target = find(self._root, unquote(reference[1:]))
        return None if target is ABSENT else target

    def _types(self, schema: Any, seen: frozenset[int]) -> frozenset[str]:
        if not isinstance(schema, dict) or id(schema) in seen:
            return _ALL_TYPES
        seen |= {id(schema)}
        if "$ref" in schema:
            return self._types(self._follow(schema["$ref"]), seen)
        types = _ALL_TYPES
        declared = schema.get("type")
        if declared is not None:
            names = {declared} if isinstance(declared, str) else set(declared)
            types = frozenset(names | {"integer"} if "number" in names else names)
        if "enum" in schema:
            types &= {json_type(value) for value in schema["enum"]}
        if "const" in schema:
            types &= {json_type(schema["const"])}
        for branch in _branches(schema, "allOf"):
            types &= self._types(branch, seen)
        for word in ("anyOf", "oneOf"):
            branches = _branches(schema, word)
            if branches:
                types &= frozenset().union(*(self._types(branch, seen) for branch in branches))
        return types


def _slot_type(nodes: Iterable[dict[str, Any]]) -> str:
    nodes = tuple(nodes)
    if any("enum" in node or "const" in node for node in nodes):
        return "enum"
    if any(node.get("format") in _DATES for node in nodes):
        return "date"
    for node in nodes:
        declared = node.get("type")
        for name in [declared] if isinstance(declared, str) else declared or ():
            if name != "null":
                return str(name)
    return ""


def _branches(schema: dict[str, Any], word: str) -> list[Any]:
    value = schema.get(word)
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def _children(node: dict[str, Any], token: str | int) -> Iterator[Any]:
    """Yield the schemas that a node writes for one of its members or items."""
    if isinstance(token, int):
        items = node.get("items")
        if isinstance(items, list):
            items = items[token] if token < len(items) else node.get("additionalItems")
        found = [items]
    else:
        properties = node.get("properties", {})
        found = [properties[token]] if token in properties else []
        found += [
            schema
            for pattern, schema in node.get("patternProperties", {}).items()
            if _matches(pattern, token)
        ]
        found = found or [node.get("additionalProperties")]
    for schema in found:
        if schema is not None and schema is not False:
            yield {} if schema is True else schema


def _matches(pattern: str, name: str) -> bool:
    try:
        return re.search(pattern, name) is not None
    except re.error:
        # ECMA-262 knows patterns that Python does not; the name then counts as not matching,
        # which costs the slot its label in the report and nothing else.
        return False
