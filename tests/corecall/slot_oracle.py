"""The walk of ``schema.check`` written down once more, plainly and slowly, as the contract states it.

Whether a keyword holds is asked of ``jsonschema``. Only references to ``#/definitions/…`` are known.
"""

from __future__ import annotations

import json
from typing import Any

from corecall import pointer

from ..properties.oracle import accepts

WHOLE = (
    *("type", "enum", "const", "multipleOf", "maximum", "exclusiveMaximum", "minimum"),
    *("exclusiveMinimum", "maxLength", "minLength", "pattern", "maxItems", "minItems"),
    *("uniqueItems", "contains", "maxProperties", "minProperties", "propertyNames"),
    *("anyOf", "oneOf", "not"),
)

_NAMING = frozenset({"$defs", "$id", "$schema"})


def is_plain(schema: dict[str, Any]) -> bool:
    """Say whether references and definitions are only those known here."""
    names = schema.get("definitions", {})
    waiting: list[Any] = [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if not value.keys().isdisjoint(_NAMING) or (
                value is not schema and "definitions" in value
            ):
                return False
            reference = value.get("$ref")
            if isinstance(reference, str):
                name = reference.removeprefix("#/definitions/")
                if name in ("", reference) or name not in names:
                    return False
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return True


class Oracle:
    """What ``check_json`` of a schema has to give."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.root = json.loads(json.dumps(schema))  # no two places are one object
        self.definitions = self.root.get("definitions", {})

    def check(self, data: Any) -> dict[str, Any]:
        places = dict(self.walk((), [self.root], data))
        if not places:
            return {}
        result = {"type": "object", "properties": places, "required": list(places)}
        used: dict[str, Any] = {}
        waiting = [places]
        while waiting:
            for name in references(waiting.pop()):
                if name not in used:
                    used[name] = bare(self.definitions[name])
                    waiting.append(used[name])
        return {**result, "definitions": used} if used else result

    def walk(self, tokens: tuple[str, ...], schemas: list[Any], value: Any) -> Any:
        place = pointer.join(tokens)
        if tokens and any(map(self.never, schemas)):
            yield place, {"not": {}}
            return
        nodes = self.applying(schemas, value)
        if False in nodes or any(self.faulty(node, value) for node in nodes):
            yield place, self.written(schemas)
            return
        if isinstance(value, dict):
            required = [name for node in nodes for name in self.required(node, value)]
            declared = [name for node in nodes for name in node.get("properties", {})]
            for name in dict.fromkeys([*declared, *value, *required]):
                below = distinct([s for node in nodes for s in self.member(node, name)])
                if name in value:
                    yield from self.walk((*tokens, name), below, value[name]) if below else ()
                elif name in required:
                    yield pointer.join((*tokens, name)), self.written(below)
        if isinstance(value, list):
            for index, item in enumerate(value):
                below = distinct([s for node in nodes for s in self.item(node, index)])
                yield from self.walk((*tokens, str(index)), below, item) if below else ()

    def resolved(self, schema: Any) -> Any:
        while isinstance(schema, dict) and "$ref" in schema:
            schema = self.definitions[schema["$ref"].removeprefix("#/definitions/")]
        return schema

    def never(self, schema: Any) -> bool:
        schema = self.resolved(schema)
        if isinstance(schema, bool):
            return not schema
        return schema.get("not") in ({}, True) or any(map(self.never, schema.get("allOf", [])))

    def applying(self, schemas: list[Any], value: Any) -> list[Any]:
        found: list[Any] = []

        def add(schema: Any) -> None:
            schema = self.resolved(schema)
            if schema is True or any(schema is other for other in found):
                return
            found.append(schema)
            if schema is False:
                return
            for child in schema.get("allOf", []):
                add(child)
            if "if" in schema:
                branch = "then" if self.holds(schema["if"], value) else "else"
                add(schema.get(branch, True))
            for name, child in schema.get("dependencies", {}).items():
                if isinstance(value, dict) and name in value and not isinstance(child, list):
                    add(child)

        for schema in schemas:
            add(schema)
        return found

    def holds(self, schema: Any, value: Any) -> bool:
        if isinstance(schema, bool):
            return schema
        whole = {"allOf": [schema], "definitions": self.definitions}
        return accepts(whole, value)

    def faulty(self, node: dict[str, Any], value: Any) -> bool:
        if any(not self.holds({key: node[key]}, value) for key in WHOLE if key in node):
            return True
        if not isinstance(value, list) or "items" not in node:
            return False
        return any(self.never(s) for index in range(len(value)) for s in self.item(node, index))

    def required(self, node: dict[str, Any], value: dict[str, Any]) -> list[str]:
        names = list(node.get("required", []))
        for name, listed in node.get("dependencies", {}).items():
            if name in value and isinstance(listed, list):
                names += listed
        return [name for name in names if name not in value]

    def member(self, node: dict[str, Any], name: str) -> list[Any]:
        found = [node["properties"][name]] if name in node.get("properties", {}) else []
        for pattern, schema in node.get("patternProperties", {}).items():
            if self.holds({"pattern": pattern}, name):
                found.append(schema)
        if not found and "additionalProperties" in node:
            found = [node["additionalProperties"]]
        return found

    def item(self, node: dict[str, Any], index: int) -> list[Any]:
        items = node.get("items", [])
        if not isinstance(items, list):
            return [items]
        if index < len(items):
            return [items[index]]
        return [node["additionalItems"]] if "items" in node and "additionalItems" in node else []

    def written(self, schemas: list[Any]) -> dict[str, Any]:
        if any(map(self.never, schemas)):
            return {"not": {}}
        kept = [bare(schema) for schema in schemas if schema is not True and schema != {}]
        if len(kept) == 1:
            return dict(kept[0])
        return {"allOf": kept} if kept else {}


def distinct(schemas: list[Any]) -> list[Any]:
    """Return ``schemas``, each that is an object once."""
    found: list[Any] = []
    for schema in schemas:
        if isinstance(schema, bool) or not any(schema is other for other in found):
            found.append(schema)
    return found


def bare(schema: Any) -> Any:
    """Return a schema without its definitions, which only its root has here."""
    if isinstance(schema, dict) and isinstance(schema.get("definitions"), dict):
        return {key: value for key, value in schema.items() if key != "definitions"}
    return schema


def references(value: Any) -> list[str]:
    """Return the names of the definitions that a schema refers to."""
    if isinstance(value, list):
        return [name for child in value for name in references(child)]
    if not isinstance(value, dict):
        return []
    own = value.get("$ref")
    found = [own.removeprefix("#/definitions/")] if isinstance(own, str) else []
    return found + [name for child in value.values() for name in references(child)]
