"""A schema, checked and made ready: its index, its patterns and its fast verdict engine.

The engine is ``jsonschema-rs``: it agrees with the Draft 7 suite, is exact on decimals and huge
integers, and accepts a small object in under a microsecond. It is given a rewritten copy of the
schema: references as plain local pointers, patterns as :mod:`corecall.slot.patterns` writes them.
Compiled schemas are kept, so that a schema seen before costs one hash.

Contract: schema.valid.3, schema.valid.6, schema.valid.7, schema.valid.8, schema.valid.9,
schema.engine.1, schema.engine.5, schema.engine.6, schema.engine.14.
"""

from __future__ import annotations

import marshal
import re
from functools import lru_cache
from typing import Any
from urllib.parse import quote

import jsonschema_rs

from corecall.pointer import join
from corecall.slot import graph
from corecall.slot.limits import SchemaError, check_size, plain_schema
from corecall.slot.patterns import (
    BACKTRACK_LIMIT,
    NORMAL_LENGTH,
    Matcher,
    PatternError,
    map_surrogates,
    mapped,
)
from corecall.slot.references import UNREAD, Index, Schema, Target, build_index
from corecall.slot.shape import check_shape

_KEPT = 1024
_KEPT_LARGE = 8
_LARGE = 100_000  # bytes; a thousand that large would be all the memory there is
_OPTIONS = jsonschema_rs.FancyRegexOptions(backtrack_limit=BACKTRACK_LIMIT)
_SURROGATE_BYTES = re.compile(rb"\xed[\xa0-\xbf]")
"""A lone surrogate as ``marshal`` writes it, or, at worst, a number that looks like one."""

_LEAF_KEYWORDS = frozenset(
    {
        "const",
        "enum",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minimum",
        "multipleOf",
        "uniqueItems",
    }
)
"""Keywords that look at one value and at no other schema, but for ``type`` and ``pattern``."""


class Compiled:
    """One valid schema. Everything handed out belongs to it: copy before giving it to a caller."""

    def __init__(self, root: dict[str, Any], *, has_surrogates: bool = False) -> None:
        """Take over ``root``, a private plain copy. Raises :class:`SchemaError`."""
        self.root = root
        self.has_surrogates = has_surrogates
        self.index: Index = build_index(root)
        self.matchers: dict[str, Matcher] = {}
        for pattern, pointer in self.index.patterns.items():
            try:
                self.matchers[pattern] = Matcher(pattern)
            except PatternError as error:
                raise SchemaError(pointer, str(error)) from error
        self.backtracks = not all(matcher.linear for matcher in self.matchers.values())
        self._leaves: dict[int, jsonschema_rs.Draft7Validator | None] = {}
        self.engine = self._build_engine()
        """The fast engine, or ``None`` where only the Python one is safe."""

    def fast_verdict(self, plain: Any, longest: int) -> bool | None:
        """Say whether ``plain``, whose longest string is ``longest``, is valid; ``None``: ask slowly.

        That is for schemas whose paths multiply, for lone surrogates, and for what backtracking patterns do
        not accept or would take long for; :class:`corecall.slot.evaluate.Evaluator` takes them all.

        Contract: schema.limit.5, schema.limit.6, schema.engine.18.
        """
        if self.engine is None or (self.backtracks and longest > NORMAL_LENGTH):
            return None
        try:
            valid = self.engine.is_valid(plain)
        except UnicodeEncodeError:
            return None
        # The engine calls everything around a pattern it gave up on invalid, a "not" included.
        return None if self.backtracks and not valid else valid

    def target(self, node: dict[str, Any]) -> Target | None:
        """Return what the ``$ref`` of ``node`` points at, if it has one."""
        return self.index.targets.get(id(node))

    def resolve(self, schema: Schema) -> Schema:
        """Follow ``$ref`` until there is none."""
        while isinstance(schema, dict):
            target = self.index.targets.get(id(schema))
            if target is None:
                break
            schema = target.schema
        return schema

    def leaf(self, node: dict[str, Any]) -> jsonschema_rs.Draft7Validator | None:
        """Return the engine for the keywords of ``node`` that look at the value alone."""
        try:
            return self._leaves[id(node)]
        except KeyError:
            own = {keyword: node[keyword] for keyword in node if keyword in _LEAF_KEYWORDS}
            found = jsonschema_rs.Draft7Validator(mapped(own)) if own else None
            self._leaves[id(node)] = found
            return found

    def member_schemas(self, node: dict[str, Any], name: str) -> list[Schema]:
        """Return the subschemas of ``node`` that hold for its member ``name``.

        Contract: schema.check.8.
        """
        found: list[Schema] = []
        if "properties" in node and name in node["properties"]:
            found.append(node["properties"][name])
        if "patternProperties" in node:
            for pattern, schema in node["patternProperties"].items():
                if self.matchers[pattern].matches(name):
                    found.append(schema)
        if not found and "additionalProperties" in node:
            found.append(node["additionalProperties"])
        return found

    def is_never(self, schema: Schema) -> bool:
        """Say whether ``schema`` is ``false`` or ``{"not": {}}``: itself, by reference or ``allOf``.

        Contract: schema.check.12.
        """
        if schema is True:
            return False
        seen: set[int] = set()
        stack = [schema]
        while stack:
            schema = self.resolve(stack.pop())
            if isinstance(schema, bool):
                if not schema:
                    return True
            elif id(schema) not in seen:
                seen.add(id(schema))
                if "not" in schema and schema["not"] in ({}, True):
                    return True
                stack += schema.get("allOf", ())
        return False

    def _build_engine(self) -> jsonschema_rs.Draft7Validator | None:
        index = self.index
        slow = graph.multiplies(index) or self.has_surrogates
        if slow or index.targets or any("$defs" in node for node in index.nodes):
            check_shape(index)  # there the engine does not look everywhere
        if slow:
            return None
        try:
            as_is = not (index.targets or index.patterns or index.has_unread)
            schema = self.root if as_is else self._rewritten(self.root)
            return _engine(schema)
        except jsonschema_rs.ValidationError as error:
            check_shape(index)
            raise SchemaError(join(error.instance_path), error.message) from error

    def _rewritten(self, value: Any) -> Any:
        """Return the engine's copy of ``value``: see the module's docstring.

        Contract: schema.valid.4, schema.engine.13, schema.engine.15, schema.engine.16,
        schema.engine.17.
        """
        if isinstance(value, list):
            return [self._rewritten(child) for child in value]
        if not isinstance(value, dict):
            return map_surrogates(value) if isinstance(value, str) else value
        is_schema = id(value) in self.index.pointers
        copied: dict[str, Any] = {}
        for key, child in value.items():
            if is_schema and isinstance(child, str) and key in UNREAD:
                continue
            name = map_surrogates(key)
            if is_schema and key == "patternProperties" and isinstance(child, dict):
                copied[name] = self._rewritten_patterns(child)
            elif is_schema and isinstance(child, str) and key == "pattern":
                copied[name] = self.matchers[child].source
            else:
                copied[name] = self._rewritten(child)
        target = self.index.targets.get(id(value))
        if target is not None:
            copied["$ref"] = reference(target)
        return copied

    def _rewritten_patterns(self, keyed: dict[str, Any]) -> dict[str, Any]:
        copied: dict[str, Any] = {}
        for pattern, child in keyed.items():
            source = self.matchers[pattern].source
            while source in copied:  # two spellings of one pattern
                source += "(?:)"
            copied[source] = self._rewritten(child)
        return copied


def reference(target: Target) -> str:
    """Return the ``$ref`` that leads to ``target`` from anywhere in a copy without ``$id``."""
    if target.pointer is None:
        return target.uri
    return local_reference(target.pointer)


def local_reference(pointer: str) -> str:
    """Return ``pointer`` as a URI fragment reference."""
    return "#" + quote(map_surrogates(pointer), safe="/~!$&'()*+,;=:@")


def compile_schema(schema: Any) -> Compiled:
    """Return the compiled form of ``schema``, from the cache when an equal one was seen.

    Equal means equal as JSON text: key order counts, and ``1``, ``1.0`` and ``true`` differ. The
    caller's object is copied, never kept. Raises :class:`SchemaError`.

    Contract: schema.valid.2, schema.check.21.
    """
    if not isinstance(schema, dict):
        raise SchemaError("", f"a schema is an object, not a {type(schema).__name__}")
    check_size(schema)
    try:
        key = marshal.dumps(schema, 2)  # version 2 writes values only, no object identities
    except ValueError:
        key = marshal.dumps(plain_schema(schema), 2)
    return (_compiled if len(key) <= _LARGE else _compiled_large)(key)


def _compile(key: bytes) -> Compiled:
    root = marshal.loads(key)  # noqa: S302 - bytes made right above
    return Compiled(plain_schema(root), has_surrogates=bool(_SURROGATE_BYTES.search(key)))


_compiled = lru_cache(maxsize=_KEPT)(_compile)
_compiled_large = lru_cache(maxsize=_KEPT_LARGE)(_compile)


def _engine(schema: dict[str, Any]) -> jsonschema_rs.Draft7Validator:
    return jsonschema_rs.Draft7Validator(
        schema, validate_formats=False, offline=True, pattern_options=_OPTIONS
    )
