"""What is wrong with a value, place by place: the walk behind ``check_json`` and ``merge``.

Places come in document order: members in the order of ``properties``, then further members as the
data has them, then further required names; a place before what is beneath it.

Contract: schema.check.14, schema.check.15, schema.check.16, schema.limit.7.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from corecall.slot.evaluate import Evaluator, item_schema, required, type_name
from corecall.slot.references import Schema

_SHOWN = 80
"""Longest piece of a schema that a reason quotes."""


class Kind(Enum):
    """What kind of fault a violation is."""

    MISSING = auto()
    """A required or dependent property is not there."""
    BROKEN = auto()
    """A value breaks a keyword of its own place."""
    FORBIDDEN = auto()
    """A member, or item, that may not be there at all."""
    UNDECLARED = auto()
    """Valid, but no subschema knows the member; only reported by a deep walk."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One fault at one place. ``schemas`` are all that hold there, ``reason`` is for people."""

    kind: Kind
    tokens: tuple[str, ...]
    schemas: tuple[Schema, ...]
    reason: str = ""


def violations(evaluator: Evaluator, data: Any, *, deep: bool = False) -> Iterator[Violation]:
    """Yield the faults of ``data`` against the evaluator's whole schema.

    A place with a fault of its own hides what is beneath it, unless ``deep``; a deep walk also
    reports undeclared members.

    Contract: schema.check.6, schema.check.13.
    """
    is_never = evaluator.compiled.is_never
    stack: list[Violation | _Place] = [_Place((), (evaluator.compiled.root,), data)]
    while stack:
        entry = stack.pop()
        if isinstance(entry, Violation):
            yield entry
            continue
        value = entry.value
        if entry.tokens and any(map(is_never, entry.schemas)):
            yield Violation(Kind.FORBIDDEN, entry.tokens, entry.schemas, "must not be there")
            continue
        applying = evaluator.applying(entry.schemas, value)
        nodes = [schema for schema in applying if isinstance(schema, dict)]
        reason = "nothing is valid here" if len(nodes) < len(applying) else ""
        reason = reason or fault(evaluator, nodes, value)
        if reason:
            yield Violation(Kind.BROKEN, entry.tokens, entry.schemas, reason)
            if not deep:
                continue
        if isinstance(value, dict):
            stack += list(_members(evaluator, nodes, entry, deep=deep))[::-1]
        elif isinstance(value, list):
            stack += list(_items(nodes, entry))[::-1]


def undeclared(evaluator: Evaluator, data: Any) -> Iterator[Violation]:
    """Yield what a deep walk would for ``data`` that is valid: its undeclared members."""
    stack: list[Violation | _Place] = [_Place((), (evaluator.compiled.root,), data)]
    while stack:
        place = stack.pop()
        if isinstance(place, Violation):
            yield place
            continue
        nodes = evaluator.applying_nodes(place.schemas, place.value)
        below: list[Violation | _Place] = []
        if isinstance(place.value, dict):
            declared = declares(evaluator, place.schemas, place.value)
            for name in _ordered(nodes, place.value):
                tokens, child = (*place.tokens, name), place.value[name]
                if declared is not None and name not in declared:
                    below.append(_undeclared(tokens))
                elif isinstance(child, (dict, list)):
                    below.append(_Place(tokens, member_schemas(evaluator, nodes, name), child))
        else:
            below += (item for item in _items(nodes, place) if isinstance(item.value, (dict, list)))
        stack += reversed(below)


def _ordered(nodes: list[dict[str, Any]], value: dict[str, Any]) -> Iterator[str]:
    """Yield the names in ``value``, those of ``properties`` first."""
    order = dict.fromkeys(name for node in nodes for name in node.get("properties", ()))
    return (name for name in (order | dict.fromkeys(value)) if name in value)


def _undeclared(tokens: tuple[str, ...]) -> Violation:
    return Violation(Kind.UNDECLARED, tokens, (), "the schema does not declare it")


@dataclass(frozen=True, slots=True)
class _Place:
    tokens: tuple[str, ...]
    schemas: tuple[Schema, ...]
    value: Any


def fault(evaluator: Evaluator, nodes: list[dict[str, Any]], value: Any) -> str:
    """Return why ``value`` itself, not a part of it, breaks one of ``nodes``; ``""`` if it does not.

    Contract: schema.check.4, schema.check.5.
    """
    for node in nodes:
        keyword = evaluator.leaf_fault(node, value) or evaluator.combined_fault(node, value)
        if keyword == "type":
            return f"expected {_listed(node['type'])}, got {type_name(value)}"
        if keyword:
            return f"breaks {keyword}: {_shortened(node[keyword])}"
        if isinstance(value, list):
            keyword = _surplus(evaluator, node, value)
            if keyword:
                return f"breaks {keyword}: too many items"
    return ""


def member_schemas(
    evaluator: Evaluator, nodes: list[dict[str, Any]], name: str
) -> tuple[Schema, ...]:
    """Return the subschemas, each once, that hold for the member ``name`` where ``nodes`` hold."""
    if len(nodes) == 1:
        return tuple(evaluator.compiled.member_schemas(nodes[0], name))
    found = [schema for node in nodes for schema in evaluator.compiled.member_schemas(node, name)]
    return tuple({id(schema): schema for schema in found}.values())


def item_schemas(nodes: list[dict[str, Any]], place: int) -> tuple[Schema, ...]:
    """Return the subschemas, each once, that hold for the item at ``place`` where ``nodes`` hold."""
    found = [item_schema(node, place) for node in nodes]
    return tuple({id(schema): schema for schema in found if schema is not None}.values())


def declares(
    evaluator: Evaluator, schemas: tuple[Schema, ...], value: dict[str, Any]
) -> Declared | None:
    """Return what the schemas that apply to an object know of its members; ``None``: anything goes.

    Every branch of ``anyOf`` and ``oneOf`` that is made for objects counts, and ``if`` too: what
    they mention is declared, whether or not they hold at the moment.

    Contract: slot.merge.19, slot.merge.20.
    """
    names: set[str] = set()
    nodes: list[dict[str, Any]] = []
    closed = False
    seen: set[int] = set()
    stack = list(schemas)
    while stack:
        for schema in evaluator.applying((stack.pop(),), value):
            if not isinstance(schema, dict) or id(schema) in seen:
                continue
            seen.add(id(schema))
            extra = schema.get("additionalProperties")
            if extra is not None and not evaluator.compiled.is_never(extra):
                return None
            closed = closed or extra is not None
            if "properties" in schema or "patternProperties" in schema:
                closed = True
                nodes.append(schema)
            names.update(required(schema, value))
            for keyword in ("anyOf", "oneOf"):
                stack += evaluator.fitting_branches(schema.get(keyword, []), value)
            if "if" in schema:
                stack.append(schema["if"])
    return Declared(evaluator, frozenset(names), nodes) if closed else None


@dataclass(frozen=True, slots=True)
class Declared:
    """The members that an object's schemas know."""

    evaluator: Evaluator
    names: frozenset[str]
    nodes: list[dict[str, Any]]

    def __contains__(self, name: str) -> bool:
        if name in self.names:
            return True
        return any(
            name in node.get("properties", ())
            or any(
                self.evaluator.compiled.matchers[pattern].matches(name)
                for pattern in node.get("patternProperties", ())
            )
            for node in self.nodes
        )


def _members(
    evaluator: Evaluator, nodes: list[dict[str, Any]], place: _Place, *, deep: bool
) -> Iterator[Violation | _Place]:
    value: dict[str, Any] = place.value
    lacking = dict.fromkeys(name for node in nodes for name in evaluator.missing(node, value))
    declared = declares(evaluator, place.schemas, value) if deep and value else None
    order: dict[str, None] = {}
    for node in nodes:
        order |= dict.fromkeys(node.get("properties", ()))
    order |= dict.fromkeys(value)
    order |= lacking
    for name in order:
        if name not in value and name not in lacking:
            continue
        schemas = member_schemas(evaluator, nodes, name)
        tokens = (*place.tokens, name)
        if name in lacking:
            yield Violation(Kind.MISSING, tokens, schemas, "required, and not there")
        elif declared is not None and name not in declared:
            yield _undeclared(tokens)
        elif schemas:
            yield _Place(tokens, schemas, value[name])


def _items(nodes: list[dict[str, Any]], place: _Place) -> Iterator[_Place]:
    for index, item in enumerate(place.value):
        schemas = item_schemas(nodes, index)
        if schemas:
            yield _Place((*place.tokens, str(index)), schemas, item)


def _surplus(evaluator: Evaluator, node: dict[str, Any], value: list[Any]) -> str | None:
    """Return the keyword that forbids an item: a matter of count, so of the array.

    Contract: schema.check.10.
    """
    items = node.get("items")
    if isinstance(items, list):
        for schema in items[: len(value)]:
            if evaluator.compiled.is_never(schema):
                return "items"
        if len(value) > len(items) and evaluator.compiled.is_never(
            node.get("additionalItems", True)
        ):
            return "additionalItems"
    elif items is not None and value and evaluator.compiled.is_never(items):
        return "items"
    return None


def _listed(types: str | list[str]) -> str:
    return types if isinstance(types, str) else " or ".join(types)


def _shortened(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
