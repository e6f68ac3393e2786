"""What the strategies must know of a schema: references, verdicts, what applies together.

Verdicts are those of ``jsonschema``. They steer the strategies; they are no oracle.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

import jsonschema

from callbench.fuzz.strategies.schemas import Schema

_FOLLOWED = 100
"""So many references are followed in a row: more is a schema that never ends."""


class Reader:
    """One schema, read. Never raises on a schema it cannot make sense of."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._anchors = _anchors(root)
        # A part is judged with the root's resolver: "#" stays the root there.
        self._judge = jsonschema.Draft7Validator(root)

    def resolved(self, schema: Any) -> Any:
        """Follow ``$ref`` to a pointer or an anchor in the root; ``True`` where it leads nowhere."""
        for _ in range(_FOLLOWED):
            if not isinstance(schema, dict) or not isinstance(schema.get("$ref"), str):
                return schema
            schema = self._target(schema["$ref"])
        return True

    def _target(self, reference: str) -> Any:
        fragment = unquote(reference.partition("#")[2])
        if fragment and not fragment.startswith("/"):
            return self._anchors.get(fragment, True)
        found: Any = self._root
        for token in fragment.split("/")[1:]:
            token = token.replace("~1", "/").replace("~0", "~")
            try:
                found = found[int(token) if isinstance(found, list) else token]
            except (LookupError, TypeError, ValueError):
                return True
        return found

    def holds(self, schema: Schema, value: Any) -> bool:
        """Say whether ``value`` satisfies ``schema``, a part of the root."""
        try:
            return bool(self._judge.evolve(schema=schema).is_valid(value))
        except Exception:  # noqa: BLE001 - a strange reference or pattern: as good as valid
            return True


def _anchors(root: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    stack = [root]
    while stack:
        item = stack.pop()
        if isinstance(item, list):
            stack += item
        elif isinstance(item, dict):
            name = item.get("$id")
            if isinstance(name, str) and name.startswith("#"):
                found.setdefault(name[1:], item)
            stack += item.values()
    return found


def compiled(pattern: str) -> re.Pattern[str] | None:
    """Return ``pattern`` for Python: ``$`` is the very end there too. ``None``: it cannot be read."""
    pieces = re.findall(r"\\.|\[(?:\\.|[^\]\\])*\]|.", pattern, re.DOTALL)
    written = "".join(r"\Z" if piece == "$" else piece for piece in pieces)
    try:
        return re.compile(written, re.ASCII)
    except re.error:
        return None


def matches(pattern: str, name: str) -> bool:
    """Say whether ``pattern`` is found in ``name``; no, when it is nothing Python reads."""
    found = compiled(pattern)
    return found is not None and found.search(name) is not None


def member_schemas(nodes: list[dict[str, Any]], name: str) -> list[Schema]:
    """Return the subschemas that hold for the member ``name`` where all ``nodes`` hold."""
    found: list[Schema] = []
    for node in nodes:
        own = [node["properties"][name]] if name in node.get("properties", ()) else []
        keyed = node.get("patternProperties", {})
        own += [schema for pattern, schema in keyed.items() if matches(pattern, name)]
        if not own and "additionalProperties" in node:
            own = [node["additionalProperties"]]
        found += own
    return found


def item_schemas(nodes: list[dict[str, Any]], place: int) -> list[Schema]:
    """Return the subschemas that hold for the item at ``place`` where all ``nodes`` hold."""
    found: list[Schema] = []
    for node in nodes:
        items = node.get("items", True)
        if not isinstance(items, list):
            found.append(items)
        elif place < len(items):
            found.append(items[place])
        else:
            found.append(node.get("additionalItems", True))
    return found
