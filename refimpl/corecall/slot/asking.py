"""What a model is shown of a remaining schema: plain nested objects instead of pointers.

Models write nested JSON; pointers are the contract's form, not theirs (DESIGN 3.3).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from corecall.pointer import split
from corecall.slot.compiled import Compiled
from corecall.slot.evaluate import Evaluator
from corecall.slot.limits import copy_json
from corecall.slot.remaining import FORBIDDEN
from corecall.slot.violations import item_schemas, member_schemas

_ANNOTATIONS = ("title", "description")


def ask_schema(
    compiled: Compiled, remaining: dict[str, Any], known: dict[str, Any]
) -> dict[str, Any]:
    """Return the nested schema that asks for the same as ``remaining``, given ``known``.

    Members nest; beneath an array of ``known`` the items stand in an object under their indexes.
    Forbidden keys are left out; with nothing left to ask the result is ``{}``. A remaining root is
    the whole schema. Titles and descriptions of the objects on the way are kept.
    """
    places: dict[str, Any] = {
        pointer: schema
        for pointer, schema in remaining.get("properties", {}).items()
        if schema != FORBIDDEN
    }
    if not places:
        return {}
    if "" in places:
        asked: dict[str, Any] = copy_json(places[""])
    else:
        evaluator = Evaluator(compiled, branches=True)
        asked = _object(evaluator, [compiled.root], known)
        for pointer, schema in places.items():
            _nest(evaluator, asked, split(pointer), copy_json(schema), known)
    if "definitions" in remaining:
        asked["definitions"] = copy_json(remaining["definitions"])
    return asked


def missing_optional(compiled: Compiled, known: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield the tokens of declared properties that are neither in ``known`` nor required of it.

    Objects inside ``known`` are searched too, in document order. A property whose schema is
    ``false`` is not declared.
    """
    evaluator = Evaluator(compiled, branches=True)
    stack: list[tuple[tuple[str, ...], list[Any], Any]] = [((), [compiled.root], known)]
    while stack:
        tokens, schemas, value = stack.pop()
        nodes = _nodes(evaluator, schemas, value)
        below: list[tuple[tuple[str, ...], list[Any], Any]] = []
        if isinstance(value, dict):
            lacking = {name for node in nodes for name in evaluator.missing(node, value)}
            for name in dict.fromkeys(
                name for node in nodes for name in node.get("properties", ())
            ):
                found = member_schemas(evaluator, nodes, name)
                if name in value or name in lacking or any(map(compiled.is_never, found)):
                    continue
                yield (*tokens, name)
            for name, child in value.items():
                below.append(((*tokens, name), [*member_schemas(evaluator, nodes, name)], child))
        elif isinstance(value, list):
            for place, child in enumerate(value):
                below.append(((*tokens, str(place)), [*item_schemas(nodes, place)], child))
        stack += reversed(below)


def schemas_at(
    compiled: Compiled, tokens: tuple[str, ...], known: dict[str, Any]
) -> tuple[Any, ...]:
    """Return the subschemas that hold at ``tokens``, a place in ``known`` or a member missing there."""
    evaluator = Evaluator(compiled, branches=True)
    schemas: tuple[Any, ...] = (compiled.root,)
    value: Any = known
    for token in tokens:
        schemas, value = _step(evaluator, schemas, value, token)
    return schemas


def _step(
    evaluator: Evaluator, schemas: tuple[Any, ...], value: Any, token: str
) -> tuple[tuple[Any, ...], Any]:
    nodes = _nodes(evaluator, list(schemas), value)
    if isinstance(value, list):
        return item_schemas(nodes, int(token)), value[int(token)]
    return member_schemas(evaluator, nodes, token), value.get(token)


def _nodes(evaluator: Evaluator, schemas: list[Any], value: Any) -> list[dict[str, Any]]:
    return [node for node in evaluator.applying(schemas, value) if isinstance(node, dict)]


def _nest(
    evaluator: Evaluator,
    asked: dict[str, Any],
    tokens: tuple[str, ...],
    schema: dict[str, Any],
    known: Any,
) -> None:
    """Put ``schema`` at ``tokens`` beneath ``asked``, making the objects on the way."""
    schemas: tuple[Any, ...] = (evaluator.compiled.root,)
    value = known
    for place, token in enumerate(tokens):
        properties = asked["properties"]
        if token not in asked["required"]:
            asked["required"].append(token)
        if place == len(tokens) - 1:
            properties[token] = schema
            return
        schemas, value = _step(evaluator, schemas, value, token)
        asked = properties.setdefault(token, _object(evaluator, list(schemas), value))


def _object(evaluator: Evaluator, schemas: list[Any], value: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "object"}
    for node in _nodes(evaluator, schemas, value):
        for keyword in _ANNOTATIONS:
            if keyword in node:
                made.setdefault(keyword, node[keyword])
    made["properties"] = {}
    made["required"] = []
    return made
