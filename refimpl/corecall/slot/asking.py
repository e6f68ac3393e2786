"""What a model is shown of a remaining schema: plain nested objects instead of pointers.

Models write nested JSON; pointers are the contract's form, not theirs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from corecall.pointer import join, split
from corecall.slot.compiled import Compiled
from corecall.slot.evaluate import Evaluator
from corecall.slot.limits import copy_json
from corecall.slot.nullable import admitting_null
from corecall.slot.references import Schema
from corecall.slot.remaining import FORBIDDEN, remaining_schema
from corecall.slot.violations import item_schemas, member_schemas, violations

_ANNOTATIONS = ("title", "description")


def asked(
    compiled: Compiled, remaining: dict[str, Any], known: dict[str, Any], *, optional: bool
) -> dict[str, Any]:
    """Return what of ``remaining``, the check of ``known``, a model can be asked for; ``{}``: nothing.

    The form is that of a remaining schema; one that holds nothing forbidden comes back itself.
    With ``optional`` the declared properties that ``known`` may have and has not come after the
    rest, each admitting null, for "unknown".

    Contract: slot.ask.5, slot.ask.7, slot.ask.8, slot.ask.9.
    """
    pointers = set(_askable(remaining))
    if not optional and len(pointers) == len(remaining.get("properties", ())):
        return remaining
    places = [
        (found.tokens, found.schemas)
        for found in violations(Evaluator(compiled), known)
        if join(found.tokens) in pointers
    ]
    more = []
    if optional:
        above = {tokens for tokens, _ in places}
        more = [
            tokens
            for tokens in missing_optional(compiled, known)
            if not any(tokens[:end] in above for end in range(len(tokens)))
        ]
    places += [(tokens, schemas_at(compiled, tokens, known)) for tokens in more]
    if not places:
        return {}
    schema = remaining_schema(compiled, places)
    evaluator = Evaluator(compiled)
    for tokens in more:
        if not all(evaluator.holds(found, None) for found in schemas_at(compiled, tokens, known)):
            pointer = join(tokens)
            schema["properties"][pointer] = admitting_null(schema["properties"][pointer])
    return schema


def ask_schema(
    compiled: Compiled, remaining: dict[str, Any], known: dict[str, Any]
) -> dict[str, Any]:
    """Return the nested schema that asks for the same as ``remaining``, given ``known``.

    Members nest; beneath an array of ``known`` the items stand in an object under their indexes.
    Forbidden keys are left out; with nothing left to ask the result is ``{}``. A remaining root is
    the whole schema. Titles and descriptions of the objects on the way are kept.

    Contract: slot.ask.1, slot.ask.2, slot.ask.3, slot.ask.4, slot.ask.5, slot.ask.6.
    """
    places = _askable(remaining)
    if not places:
        return {}
    if "" in places:
        nested: dict[str, Any] = copy_json(places[""])
    else:
        evaluator = Evaluator(compiled, branches=True)
        nested = _object(evaluator, (compiled.root,), known)
        for pointer, schema in places.items():
            _nest(evaluator, nested, split(pointer), copy_json(schema), known)
    if "definitions" in remaining:
        nested["definitions"] = copy_json(remaining["definitions"])
    return nested


def _askable(remaining: dict[str, Any]) -> dict[str, dict[str, Any]]:
    properties: dict[str, dict[str, Any]] = remaining.get("properties", {})
    return {pointer: schema for pointer, schema in properties.items() if schema != FORBIDDEN}


def missing_optional(compiled: Compiled, known: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield the tokens of declared properties that are neither in ``known`` nor required of it.

    Objects inside ``known`` are searched too, in document order. A property whose schema is
    ``false`` is not declared.

    Contract: slot.ask.8.
    """
    evaluator = Evaluator(compiled, branches=True)
    stack: list[tuple[tuple[str, ...], tuple[Schema, ...], Any]] = [((), (compiled.root,), known)]
    while stack:
        tokens, schemas, value = stack.pop()
        nodes = evaluator.applying_nodes(schemas, value)
        below: list[tuple[tuple[str, ...], tuple[Schema, ...], Any]] = []
        if isinstance(value, dict):
            lacking = {name for node in nodes for name in evaluator.missing(node, value)}
            for name in dict.fromkeys(
                name for node in nodes for name in node.get("properties", ())
            ):
                found = member_schemas(evaluator, nodes, name)
                absent = name not in value and name not in lacking
                if absent and not any(map(compiled.is_never, found)):
                    yield (*tokens, name)
            for name, child in value.items():
                below.append(((*tokens, name), member_schemas(evaluator, nodes, name), child))
        elif isinstance(value, list):
            for place, child in enumerate(value):
                below.append(((*tokens, str(place)), item_schemas(nodes, place), child))
        stack += reversed(below)


def schemas_at(
    compiled: Compiled, tokens: tuple[str, ...], known: dict[str, Any]
) -> tuple[Schema, ...]:
    """Return the subschemas that hold at ``tokens``, a place in ``known`` or a member missing there."""
    evaluator = Evaluator(compiled, branches=True)
    schemas: tuple[Schema, ...] = (compiled.root,)
    value: Any = known
    for token in tokens:
        schemas, value = _step(evaluator, schemas, value, token)
    return schemas


def _step(
    evaluator: Evaluator, schemas: tuple[Schema, ...], value: Any, token: str
) -> tuple[tuple[Schema, ...], Any]:
    nodes = evaluator.applying_nodes(schemas, value)
    if isinstance(value, list):
        return item_schemas(nodes, int(token)), value[int(token)]
    return member_schemas(evaluator, nodes, token), value.get(token)


def _nest(
    evaluator: Evaluator,
    asked: dict[str, Any],
    tokens: tuple[str, ...],
    schema: dict[str, Any],
    known: Any,
) -> None:
    """Put ``schema`` at ``tokens`` beneath ``asked``, making the objects on the way."""
    schemas: tuple[Schema, ...] = (evaluator.compiled.root,)
    value = known
    for place, token in enumerate(tokens):
        properties = asked["properties"]
        if token not in properties:
            asked["required"].append(token)
        if place == len(tokens) - 1:
            properties[token] = schema
            return
        schemas, value = _step(evaluator, schemas, value, token)
        asked = properties.setdefault(token, _object(evaluator, schemas, value))


def _object(evaluator: Evaluator, schemas: tuple[Schema, ...], value: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "object"}
    nodes = [*_referring(evaluator, schemas), *evaluator.applying_nodes(schemas, value)]
    for keyword in _ANNOTATIONS:
        said = [node[keyword] for node in nodes if keyword in node]
        if said:
            made[keyword] = said[0]
    made["properties"] = {}
    made["required"] = []
    return made


def _referring(evaluator: Evaluator, schemas: tuple[Schema, ...]) -> Iterator[dict[str, Any]]:
    """Yield the subschemas that lead on by ``$ref``: what stands beside it is said of this place."""
    for schema in schemas:
        while (
            isinstance(schema, dict) and (target := evaluator.compiled.target(schema)) is not None
        ):
            yield schema
            schema = target.schema
