"""Where a schema's subschemas are, and what each ``$ref`` in it points at.

One walk over the schema positions (so an ``enum`` that holds ``{"$ref": …}`` stays data) records every
subschema with its pointer, follows ``$id`` and resolves ``$ref``. Nothing is ever fetched: a
reference must end inside the schema, or in the Draft 7 metaschema.

Contract: schema.valid.16, schema.valid.17, schema.valid.18, schema.valid.19, schema.engine.8,
schema.engine.9.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from jsonschema import Draft7Validator

from corecall.pointer import PointerError, array_index, escape, split
from corecall.slot.limits import MAX_DEPTH, SchemaError

Schema = dict[str, Any] | bool
"""A Draft 7 schema: an object, or ``True`` / ``False``."""

METASCHEMA_URI = "http://json-schema.org/draft-07/schema"
METASCHEMA: dict[str, Any] = {
    **Draft7Validator.META_SCHEMA,
    "properties": {**Draft7Validator.META_SCHEMA["properties"], "writeOnly": {"type": "boolean"}},
}
"""As json-schema.org has it today; ``jsonschema`` has the text of 2017, without ``writeOnly``."""

SINGLE = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "contains",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
    }
)
LISTS = frozenset({"allOf", "anyOf", "items", "oneOf"})
MAPS = frozenset({"$defs", "definitions", "dependencies", "patternProperties", "properties"})
UNREAD = frozenset({"$id", "$schema", "contentEncoding", "contentMediaType"})
"""Keywords that the fast engine must not see: it resolves references by the first two, and asserts
the others, which are annotations here as ``format`` is."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a ``$ref`` points at: its pointer in the schema, or ``None`` in the metaschema."""

    pointer: str | None
    schema: Schema
    uri: str


@dataclass(slots=True)
class Index:
    """Every subschema of a schema, by ``id``; valid as long as the schema object lives."""

    root: dict[str, Any]
    pointers: dict[int, str | None] = field(default_factory=dict)
    """Pointer of each subschema object; ``None`` for those of the metaschema."""
    nodes: list[dict[str, Any]] = field(default_factory=list)
    targets: dict[int, Target] = field(default_factory=dict)
    """What the ``$ref`` of a subschema object points at."""
    patterns: dict[str, str] = field(default_factory=dict)
    """Every regular expression, and the pointer where it stands first."""
    has_unread: bool = False
    """Whether a subschema has one of :data:`UNREAD`."""


def subschemas(node: dict[str, Any]) -> Iterator[tuple[str, str | None, Schema]]:
    """Yield each subschema right below ``node``: its keyword, its name or place there, itself.

    In document order, whatever the shape: the metaschema need not have been asked yet.
    """
    for keyword, value in node.items():
        if keyword in SINGLE and isinstance(value, (dict, bool)):
            yield keyword, None, value
        elif keyword in LISTS and isinstance(value, list):
            for place, child in enumerate(value):
                if isinstance(child, (dict, bool)):
                    yield keyword, str(place), child
        elif keyword in MAPS and isinstance(value, dict):
            for name, child in value.items():
                if isinstance(child, (dict, bool)):
                    yield keyword, name, child


def build_index(root: dict[str, Any]) -> Index:
    """Index ``root``. Raises :class:`SchemaError` for a reference that leads nowhere or outside."""
    return _Indexer(root).run()


class _Indexer:
    def __init__(self, root: dict[str, Any]) -> None:
        self._index = Index(root)
        self._bases: dict[int, str] = {}
        self._resources: dict[str, tuple[dict[str, Any], str | None]] = {"": (root, "")}
        self._anchors: dict[tuple[str, str], dict[str, Any]] = {}
        self._references: list[dict[str, Any]] = []

    def run(self) -> Index:
        index = self._index
        self._walk(index.root, "", "", 1)
        while (
            self._references
        ):  # a target may lie outside the schema positions, with refs of its own
            pending, self._references = self._references, []
            for node in pending:
                index.targets[id(node)] = self._resolve(node)
        return index

    def _walk(self, start: dict[str, Any], pointer: str | None, base: str, level: int) -> None:
        """Index ``start`` and all beneath it. Contract: schema.limit.2, schema.valid.18."""
        index = self._index
        stack: list[tuple[dict[str, Any], str | None, str, int]] = [(start, pointer, base, level)]
        while stack:
            node, pointer, base, level = stack.pop()
            if id(node) in index.pointers:
                continue
            if level > MAX_DEPTH:
                raise SchemaError(pointer or "", f"subschemas nested deeper than {MAX_DEPTH}")
            index.pointers[id(node)] = pointer
            index.nodes.append(node)
            base = self._register(node, pointer, base)
            self._bases[id(node)] = base
            below: list[tuple[dict[str, Any], str | None, str, int]] = []
            for keyword, name, child in subschemas(node):
                if not isinstance(child, dict):
                    continue
                place = pointer
                if place is not None:
                    place += f"/{keyword}" if name is None else f"/{keyword}/{escape(name)}"
                below.append((child, place, base, level + 1))
            stack += reversed(below)  # so that what stands first is met first
            if "pattern" in node or "patternProperties" in node:
                self._note_patterns(node, pointer)

    def _register(self, node: dict[str, Any], pointer: str | None, base: str) -> str:
        """Note the node's ``$ref`` or ``$id``; return the base URI that holds inside it.

        Contract: schema.valid.15, schema.valid.20.
        """
        if not UNREAD.isdisjoint(node):
            self._index.has_unread = True
        if isinstance(node.get("$ref"), str):
            self._references.append(node)
            return base  # siblings of $ref are ignored in Draft 7, $id among them
        identifier = node.get("$id")
        if not isinstance(identifier, str):
            return base
        uri, fragment = _absolute(base, identifier)
        if fragment:
            self._anchors.setdefault((uri, fragment), node)
            return base if uri == base else uri
        self._resources.setdefault(uri, (node, pointer))
        return uri

    def _note_patterns(self, node: dict[str, Any], pointer: str | None) -> None:
        pattern = node.get("pattern")
        if isinstance(pattern, str):
            self._index.patterns.setdefault(pattern, f"{pointer or ''}/pattern")
        keyed = node.get("patternProperties")
        if isinstance(keyed, dict):
            for name in keyed:
                place = f"{pointer or ''}/patternProperties/{escape(name)}"
                self._index.patterns.setdefault(name, place)

    def _resolve(self, node: dict[str, Any]) -> Target:
        place = f"{self._index.pointers[id(node)] or ''}/$ref"
        reference: str = node["$ref"]
        uri, fragment = _absolute(self._bases[id(node)], reference)
        if uri == METASCHEMA_URI and uri not in self._resources:
            self._resources[uri] = (METASCHEMA, None)
            self._walk(METASCHEMA, None, "", 1)
        if uri not in self._resources:
            raise SchemaError(place, f"{reference!r} is outside the schema, and nothing is fetched")
        resource, pointer = self._resources[uri]
        absolute = f"{uri}#{fragment}"
        fragment = unquote(fragment)
        if fragment and not fragment.startswith("/"):
            anchored = self._anchors.get((uri, fragment))
            if anchored is None:
                raise SchemaError(place, f"nothing in the schema is called {reference!r}")
            return Target(self._index.pointers[id(anchored)], anchored, absolute)
        found: Any = resource
        base = uri
        try:
            tokens = split(fragment)
        except PointerError as error:
            raise SchemaError(place, f"{reference!r}: {error}") from error
        for token in tokens:
            found = _step(found, token, place, reference)
            pointer = None if pointer is None else f"{pointer}/{escape(token)}"
            base = self._bases.get(id(found), base)
        if isinstance(found, dict):
            self._walk(found, pointer, base, 1)
        elif not isinstance(found, bool):
            raise SchemaError(place, f"{reference!r} does not point at a schema")
        return Target(pointer, found, absolute)


def _step(container: Any, token: str, place: str, reference: str) -> Any:
    if isinstance(container, dict) and token in container:
        return container[token]
    if isinstance(container, list):
        index = array_index(token)
        if index is not None and index < len(container):
            return container[index]
    raise SchemaError(place, f"{reference!r} points at nothing")


def _absolute(base: str, reference: str) -> tuple[str, str]:
    """Return the URI and fragment of ``reference`` seen from ``base`` (which has no fragment)."""
    if reference.startswith("#"):  # urljoin would forget a base that is a URN
        return base, reference[1:]
    try:
        uri, fragment = urldefrag(urljoin(base, reference))
    except ValueError:
        return reference, ""
    return uri, fragment
