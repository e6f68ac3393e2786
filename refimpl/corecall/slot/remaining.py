"""The remaining schema: what is still wrong or missing, keyed by JSON Pointer, standing alone.

``{"type": "object", "properties": {pointer: schema}, "required": [pointer, …]}``, with its own
``definitions`` when a schema in it refers to something.

Contract: schema.check.17.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from corecall.pointer import escape, join, unescape
from corecall.slot.compiled import Compiled, local_reference, reference
from corecall.slot.patterns import map_surrogates
from corecall.slot.references import Schema, Target

FORBIDDEN: dict[str, Any] = {"not": {}}
"""The schema of a key that must not be there. It is never asked of a model."""

_DROPPED = ("$id", "$schema", "definitions", "$defs")


def remaining_schema(
    compiled: Compiled, places: Iterable[tuple[tuple[str, ...], tuple[Schema, ...]]]
) -> dict[str, Any]:
    """Return the remaining schema for ``places``: the tokens of each, and the schemas that hold there.

    ``()`` as schemas gives ``{}``, several give an ``allOf``, one that is never valid gives
    :data:`FORBIDDEN`. The result shares nothing with the compiled schema.

    Contract: schema.check.2, schema.check.20.
    """
    writer = _Writer(compiled)
    properties = {join(tokens): writer.combined(schemas) for tokens, schemas in places}
    schema: dict[str, Any] = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
    }
    definitions = writer.definitions()
    if definitions:
        schema["definitions"] = definitions
    return schema


class _Writer:
    """Copies subschemas out of a compiled schema, gathering the definitions that they refer to."""

    def __init__(self, compiled: Compiled) -> None:
        self._compiled = compiled
        self._names: dict[str, str] = {}
        self._taken: set[str] = set()
        self._waiting: list[Target] = []

    def combined(self, schemas: tuple[Schema, ...]) -> dict[str, Any]:
        """Return the one schema for a place. Contract: schema.check.11, schema.check.12."""
        if any(self._compiled.is_never(schema) for schema in schemas):
            return {"not": {}}
        written: list[dict[str, Any]] = [
            self._copy(schema) for schema in schemas if isinstance(schema, dict) and schema
        ]
        if len(written) == 1:
            return written[0]
        return {"allOf": written} if written else {}

    def definitions(self) -> dict[str, Any]:
        """Return what the schemas written so far refer to, and what that refers to in turn."""
        found: dict[str, Any] = {}
        while self._waiting:
            waiting, self._waiting = self._waiting, []
            for target in waiting:
                found[self._name(target)] = self._copy(target.schema)
        return found

    def _copy(self, value: Any) -> Any:
        """Return a copy that means the same elsewhere. Contract: schema.check.19."""
        if isinstance(value, list):
            return [self._copy(child) for child in value]
        if not isinstance(value, dict):
            return value
        if id(value) not in self._compiled.index.pointers:
            return {key: self._copy(child) for key, child in value.items()}
        copied = {key: self._copy(child) for key, child in value.items() if key not in _DROPPED}
        target = self._compiled.target(value)
        if target is not None:
            copied["$ref"] = self._reference(target)
        return copied

    def _reference(self, target: Target) -> str:
        if target.pointer is None:
            return reference(target)
        return local_reference(f"/definitions/{escape(self._name(target))}")

    def _name(self, target: Target) -> str:
        """Return the name of ``target`` among the definitions: its own, made unique.

        Contract: schema.check.18.
        """
        pointer = target.pointer or ""
        if pointer not in self._names:
            name = map_surrogates(unescape(pointer.rpartition("/")[2])) or "root"
            unique, number = name, 2
            while unique in self._taken:
                unique, number = f"{name}_{number}", number + 1
            self._taken.add(unique)
            self._names[pointer] = unique
            self._waiting.append(target)
        return self._names[pointer]
