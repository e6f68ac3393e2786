"""Optional values in strict structured output: null on the way out, dropped on the way back.

Strict modes want every property listed as required, so a value that may be left out has to admit
null (:func:`add_null`); a null that the original schema does not admit means "not given"
(:func:`drop_nulls`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from corecall.slot.compiled import Compiled
from corecall.slot.evaluate import Evaluator
from corecall.slot.limits import copy_json
from corecall.slot.references import Schema, subschemas
from corecall.slot.violations import item_schemas, member_schemas

_BASIC = frozenset({"boolean", "integer", "number", "string"})
_STRICT = frozenset({"if", "not", "oneOf"})
"""Keywords by which a schema that admits more makes the whole admit less, or may."""
_IN_PLACE = frozenset({"$ref", "allOf", "anyOf", "if", "not", "oneOf"})
"""Keywords by which a schema may refuse a null that its own type admits."""
_SCALARS = (str, int, float, bool, type(None))


def add_null(compiled: Compiled) -> dict[str, Any]:
    """Return a copy of the schema whose basic-typed values also admit null.

    Reached are ``properties``, ``items``, ``additionalProperties`` and ``patternProperties``, at any
    depth, through ``anyOf``, ``allOf`` and definitions. ``enum`` and ``const`` gain null; one that lists
    only scalars counts as basic without a ``type`` too. A ``$ref`` to something basic becomes
    ``anyOf`` of it and null. ``oneOf``, ``not`` and ``if``, and definitions that such a keyword uses,
    stay as they are: widened, they would make valid data invalid.

    Contract: schema.null.1, schema.null.4, schema.null.5, schema.null.10.
    """
    widened: dict[str, Any] = _Widening(compiled).inside(compiled.root)
    return widened


def admitting_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of ``schema``, which admits no null, that does, in the plainest form for it."""
    widened: dict[str, Any] = copy_json(schema)
    if _is_basic(schema) and _IN_PLACE.isdisjoint(schema):
        _add_null_here(widened)
        return widened
    return {"anyOf": [widened, {"type": "null"}]}


class _Widening:
    def __init__(self, compiled: Compiled) -> None:
        self._compiled = compiled
        self._frozen = _frozen(compiled)
        self._holders = _holders(compiled)

    def inside(self, schema: Schema) -> Any:
        """Return a copy of ``schema`` with the values inside it widened, not itself."""
        if isinstance(schema, bool) or id(schema) in self._frozen:
            return copy_json(schema)
        return self._copied(schema, self.inside)

    def _copied(self, schema: dict[str, Any], branch: Callable[[Schema], Any]) -> dict[str, Any]:
        """Return a copy with the values inside widened, and its branches as ``branch`` gives them."""
        copied: dict[str, Any] = {}
        for keyword, value in schema.items():
            if keyword in ("properties", "patternProperties"):
                copied[keyword] = {name: self._admitting(child) for name, child in value.items()}
            elif keyword in ("definitions", "$defs"):
                copied[keyword] = {name: self.inside(child) for name, child in value.items()}
            elif keyword == "additionalProperties":
                copied[keyword] = self._admitting(value)
            elif keyword == "items":
                copied[keyword] = (
                    [self._admitting(child) for child in value]
                    if isinstance(value, list)
                    else self._admitting(value)
                )
            elif keyword in ("anyOf", "allOf"):
                copied[keyword] = [branch(child) for child in value]
            else:
                copied[keyword] = copy_json(value)
        return copied

    def _admitting(self, schema: Schema) -> Any:
        """Return a copy of ``schema`` that admits null, if it is basic, with its inside widened.

        Contract: schema.null.6, schema.null.7.
        """
        if isinstance(schema, bool) or id(schema) in self._frozen:
            return copy_json(schema)
        if "$ref" in schema:
            found = self._compiled.resolve(schema)
            if isinstance(found, dict) and _is_basic(found) and id(schema) not in self._holders:
                return {"anyOf": [copy_json(schema), {"type": "null"}]}
            return copy_json(schema)
        widened = self._copied(schema, self._admitting)
        if {"type": "null"} in schema.get("anyOf", ()):  # it admits null without the references
            widened["anyOf"] = [
                copy_json(branch) if isinstance(branch, dict) and "$ref" in branch else wide
                for branch, wide in zip(schema["anyOf"], widened["anyOf"], strict=True)
            ]
        if _is_basic(schema):
            _add_null_here(widened)
        return widened


def _is_basic(schema: dict[str, Any]) -> bool:
    """Say whether ``schema`` is of basic type. Contract: schema.null.2."""
    declared = schema.get("type")
    if declared is not None:
        return not _BASIC.isdisjoint([declared] if isinstance(declared, str) else declared)
    values = [*schema.get("enum", ()), *([schema["const"]] if "const" in schema else ())]
    return bool(values) and all(isinstance(value, _SCALARS) for value in values)


def _add_null_here(schema: dict[str, Any]) -> None:
    """Let ``schema``, which is basic, admit null. Contract: schema.null.3."""
    declared = schema.get("type")
    if isinstance(declared, str):
        schema["type"] = [declared, "null"]
    elif isinstance(declared, list) and "null" not in declared:
        declared.append("null")
    if "const" in schema and schema["const"] is not None:
        constant = schema.pop("const")
        listed = schema.get("enum", [constant])
        if any(
            value == constant and isinstance(value, bool) is isinstance(constant, bool)
            for value in listed
        ):
            schema["enum"] = [constant]
    if "enum" in schema and None not in schema["enum"]:
        schema["enum"].append(None)


def _frozen(compiled: Compiled) -> frozenset[int]:
    """Return the ids of the subschemas that ``oneOf``, ``not`` or ``if`` use, by ``$ref`` too.

    Contract: schema.null.9.
    """
    stack: list[Schema] = [
        child
        for node in compiled.index.nodes
        for keyword, _, child in subschemas(node)
        if keyword in _STRICT
    ]
    frozen: set[int] = set()
    while stack:
        schema = stack.pop()
        if isinstance(schema, bool) or id(schema) in frozen:
            continue
        frozen.add(id(schema))
        target = compiled.target(schema)
        if target is not None:
            stack.append(target.schema)
        stack += [child for _, _, child in subschemas(schema)]
    return frozenset(frozen)


def _holders(compiled: Compiled) -> frozenset[int]:
    """Return the ids of the subschemas with a ``$ref`` whose siblings another ``$ref`` leads into.

    Contract: schema.null.8.
    """
    pointers = {target.pointer for target in compiled.index.targets.values() if target.pointer}
    above = {place[:end] for place in pointers for end in range(len(place)) if place[end] == "/"}
    return frozenset(
        node for node in compiled.index.targets if compiled.index.pointers[node] in above
    )


def drop_nulls(compiled: Compiled, data: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of ``data`` without the members that are null where the schema admits no null.

    Contract: schema.process.3.
    """
    copied: dict[str, Any] = copy_json(data)
    evaluator = Evaluator(compiled, partial=True, branches=True)
    stack: list[tuple[tuple[Schema, ...], Any]] = [((compiled.root,), copied)]
    while stack:
        schemas, value = stack.pop()
        nodes = evaluator.applying_nodes(schemas, value)
        if isinstance(value, dict):
            for name in [name for name, child in value.items() if child is None]:
                if not _admits_null(evaluator, nodes, name, value):
                    del value[name]
            for name, child in value.items():
                stack.append((member_schemas(evaluator, nodes, name), child))
        elif isinstance(value, list):
            for place, child in enumerate(value):
                stack.append((item_schemas(nodes, place), child))
    return copied


def _admits_null(
    evaluator: Evaluator, nodes: list[dict[str, Any]], name: str, value: dict[str, Any]
) -> bool:
    """Say whether the member ``name`` may be null. Contract: schema.process.4."""
    if not all(evaluator.holds(schema, None) for schema in member_schemas(evaluator, nodes, name)):
        return False
    for node in nodes:
        for keyword in ("anyOf", "oneOf"):
            fitting = evaluator.fitting_branches(node.get(keyword, []), value)
            if fitting and not any(
                all(
                    evaluator.holds(schema, None)
                    for branch in evaluator.applying_nodes((option,), value)
                    for schema in evaluator.compiled.member_schemas(branch, name)
                )
                for option in fitting
            ):
                return False
    return True
