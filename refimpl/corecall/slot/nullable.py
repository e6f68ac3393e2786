"""Optional values in strict structured output: null on the way out, dropped on the way back.

Strict modes want every property listed as required, so a value that may be left out has to admit
null (:func:`add_null`); a null that the original schema does not admit means "not given"
(:func:`drop_nulls`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from corecall import pointer
from corecall.slot.compiled import Compiled
from corecall.slot.evaluate import Evaluator
from corecall.slot.limits import copy_json
from corecall.slot.references import Schema
from corecall.slot.violations import item_schemas, member_schemas

_BASIC = frozenset({"boolean", "integer", "number", "string"})
_WIDENED = ("properties", "patternProperties", "items", "additionalProperties")
_SCALARS = (str, int, float, bool, type(None))


def add_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of ``schema`` whose basic-typed values also admit null (DESIGN 3.4).

    Reached are ``properties``, ``items``, ``additionalProperties`` and ``patternProperties``, at any
    depth, through ``anyOf``, ``allOf`` and definitions. ``enum`` and ``const`` gain null; one that lists
    only scalars counts as basic without a ``type`` too. A ``$ref`` to something basic becomes
    ``anyOf`` of it and null. ``oneOf``, ``not`` and ``if``, and definitions that such a keyword uses,
    stay as they are: widened, they would make valid data invalid.
    """
    return _Widening(schema).run()


def admitting_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of ``schema`` that admits null as well, in the plainest form there is for it."""
    widened: dict[str, Any] = copy_json(schema)
    if _is_basic(schema):
        _add_null_here(widened)
        return widened
    return {"anyOf": [widened, {"type": "null"}]} if schema else widened


class _Widening:
    def __init__(self, schema: dict[str, Any]) -> None:
        self._root = schema
        self._frozen = _frozen(schema)

    def run(self) -> dict[str, Any]:
        widened = self._inside(self._root, "")
        return widened if isinstance(widened, dict) else self._root

    def _inside(self, schema: Any, place: str) -> Any:
        """Return a copy of ``schema`` with the values inside it widened, not itself."""
        if not isinstance(schema, dict) or place in self._frozen:
            return copy_json(schema)
        copied: dict[str, Any] = {}
        for keyword, value in schema.items():
            below = f"{place}/{keyword}"
            if keyword in ("properties", "patternProperties") and isinstance(value, dict):
                copied[keyword] = {
                    name: self._admitting(child, f"{below}/{pointer.escape(name)}")
                    for name, child in value.items()
                }
            elif keyword in ("definitions", "$defs") and isinstance(value, dict):
                copied[keyword] = {
                    name: self._inside(child, f"{below}/{pointer.escape(name)}")
                    for name, child in value.items()
                }
            elif keyword in ("items", "additionalProperties") and isinstance(value, dict):
                copied[keyword] = self._admitting(value, below)
            elif keyword == "items" and isinstance(value, list):
                copied[keyword] = [
                    self._admitting(child, f"{below}/{number}")
                    for number, child in enumerate(value)
                ]
            elif keyword in ("anyOf", "allOf") and isinstance(value, list):
                copied[keyword] = [
                    self._inside(child, f"{below}/{number}") for number, child in enumerate(value)
                ]
            else:
                copied[keyword] = copy_json(value)
        return copied

    def _admitting(self, schema: Any, place: str) -> Any:
        """Return a copy of ``schema`` that admits null, if it is basic, with its inside widened."""
        if not isinstance(schema, dict) or place in self._frozen:
            return copy_json(schema)
        if "$ref" in schema:
            if self._is_basic_reference(schema):
                return {"anyOf": [copy_json(schema), {"type": "null"}]}
            return copy_json(schema)
        widened: dict[str, Any] = self._inside(schema, place)
        for keyword in ("anyOf", "allOf"):
            branches = schema.get(keyword)
            if isinstance(branches, list):
                has_null = keyword == "anyOf" and {"type": "null"} in branches
                widened[keyword] = [
                    copy_json(branch)
                    if has_null and isinstance(branch, dict) and "$ref" in branch
                    else self._admitting(branch, f"{place}/{keyword}/{number}")
                    for number, branch in enumerate(branches)
                ]
        if _is_basic(schema):
            _add_null_here(widened)
        return widened

    def _is_basic_reference(self, schema: dict[str, Any]) -> bool:
        seen: list[Any] = []
        found: Any = schema
        while isinstance(found, dict) and isinstance(found.get("$ref"), str) and found not in seen:
            seen.append(found)
            found = _local(self._root, found["$ref"])
        return isinstance(found, dict) and _is_basic(found)


def _is_basic(schema: dict[str, Any]) -> bool:
    declared = schema.get("type")
    if declared is not None:
        return not _BASIC.isdisjoint([declared] if isinstance(declared, str) else declared)
    values = [*schema.get("enum", ()), *([schema["const"]] if "const" in schema else ())]
    return bool(values) and all(isinstance(value, _SCALARS) for value in values)


def _add_null_here(schema: dict[str, Any]) -> None:
    declared = schema.get("type")
    if isinstance(declared, str):
        schema["type"] = [declared, "null"]
    elif isinstance(declared, list) and "null" not in declared:
        declared.append("null")
    if "const" in schema and schema["const"] is not None:
        constant = schema.pop("const")
        if "enum" not in schema or constant in schema["enum"]:
            schema["enum"] = [constant]
    if "enum" in schema and None not in schema["enum"]:
        schema["enum"].append(None)


def _frozen(root: dict[str, Any]) -> frozenset[str]:
    """Return the pointers of subschemas that a keyword like ``oneOf`` uses, directly or by ``$ref``."""
    frozen: set[str] = set()
    seen: set[tuple[str, bool]] = set()
    stack: list[tuple[Any, str, bool]] = [(root, "", False)]
    while stack:
        schema, place, inside = stack.pop()
        if not isinstance(schema, (dict, list)) or (place, inside) in seen:
            continue
        seen.add((place, inside))
        if inside:
            frozen.add(place)
        for key, child in _children(schema):
            stack.append((child, f"{place}/{pointer.escape(key)}", inside or key in _STRICT))
        reference = schema.get("$ref") if isinstance(schema, dict) else None
        if inside and isinstance(reference, str) and reference.startswith("#"):
            target = _local(root, reference)
            if isinstance(target, (dict, list)):
                stack.append((target, unquote(reference[1:]), True))
    return frozenset(frozen)


_STRICT = frozenset({"oneOf", "not", "if", "contains", "propertyNames"})


def _children(container: dict[str, Any] | list[Any]) -> Iterator[tuple[str, Any]]:
    if isinstance(container, dict):
        yield from container.items()
    else:
        yield from ((str(number), child) for number, child in enumerate(container))


def _local(root: dict[str, Any], reference: str) -> Any:
    """Return what a local ``$ref`` points at, ``None`` for any other."""
    try:
        return pointer.get(root, unquote(reference[1:])) if reference.startswith("#") else None
    except (LookupError, pointer.PointerError):
        return None


def drop_nulls(compiled: Compiled, data: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of ``data`` without the members that are null where the schema admits no null."""
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
