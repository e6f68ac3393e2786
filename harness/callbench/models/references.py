"""Local references of a schema put in place, for engines that do not follow them."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

_DEEPEST = 40


def inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with each local ``$ref`` replaced by its target, definitions left out.

    A reference inside its own target, one to another document, and one to nowhere become ``{}``:
    they admit anything. The argument is not changed.
    """
    placed = _place(schema, schema, ())
    return {key: value for key, value in placed.items() if key not in ("definitions", "$defs")}


def resolve(root: Any, ref: Any) -> Any:
    """Return what the local reference ``ref`` (``#``, ``#/a/b``) points to, ``None`` if nothing."""
    if not isinstance(ref, str) or not (ref == "#" or ref.startswith("#/")):
        return None
    node = root
    for token in unquote(ref).split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(node, dict) and key in node:
            node = node[key]
        elif isinstance(node, list) and key.isdecimal() and int(key) < len(node):
            node = node[int(key)]
        else:
            return None
    return node


def _place(node: Any, root: Any, within: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [_place(item, root, within) for item in node]
    if not isinstance(node, dict):
        return node
    ref = node.get("$ref")
    if isinstance(ref, str):
        target = None if ref in within or len(within) > _DEEPEST else resolve(root, ref)
        return {} if target is None else _place(target, root, (*within, ref))
    return {
        key: value
        if key in ("definitions", "$defs", "enum", "const")
        else _place(value, root, within)
        for key, value in node.items()
    }
