"""Schemas of public sets written as Draft 7."""

from __future__ import annotations

import re
from typing import Any

_TYPES = {
    **dict.fromkeys(("string", "str", "char", "text", "date", "datetime", "time"), "string"),
    **dict.fromkeys(("integer", "int", "long", "short", "byte", "bigint"), "integer"),
    **dict.fromkeys(("number", "float", "double", "numeric", "decimal"), "number"),
    **dict.fromkeys(("boolean", "bool"), "boolean"),
    **dict.fromkeys(
        ("array", "list", "tuple", "set", "arraylist", "queue", "stack", "vector", "objectarray"),
        "array",
    ),
    **dict.fromkeys(("object", "dict", "dictionary", "hashmap", "hashtable", "map"), "object"),
    **dict.fromkeys(("null", "none", "nonetype"), "null"),
}
_ANYTHING = ("any", "enum", "")
_LIST_OF = re.compile(r"(?:list|array|tuple|set|arraylist)\s*[(\[<]\s*(.+?)\s*[)\]>]", re.I)


def draft7(source: Any) -> dict[str, Any]:
    """Return a set's schema of an argument object as Draft 7.

    Type names of other languages are translated (``dict``, ``float``, ``tuple``, ``any``,
    ``list(string)``, ``HashMap`` …); a name that is not known is kept as ``x-type`` and admits
    anything. ``required`` on a property itself moves to its object. All else is kept as it is, in
    its order. What is no object at all declares no parameters.
    """
    if not isinstance(source, dict):
        return {"type": "object", "properties": {}}
    schema: dict[str, Any] = _node(source)
    schema.setdefault("type", "object")
    return schema


def _node(source: Any) -> Any:
    if not isinstance(source, dict):
        return source
    node: dict[str, Any] = {}
    for key, value in source.items():
        match key:
            case "type":
                node.update(_type(value))
            case "properties" | "patternProperties" | "definitions" if isinstance(value, dict):
                node[key] = {name: _node(member) for name, member in value.items()}
            case "items" | "additionalProperties" | "not" | "contains":
                node[key] = (
                    [_node(part) for part in value] if isinstance(value, list) else _node(value)
                )
            case "anyOf" | "oneOf" | "allOf" if isinstance(value, list):
                node[key] = [_node(part) for part in value]
            case "required" if isinstance(value, bool):
                pass  # the object above takes it
            case _:
                node[key] = value
    inner = source.get("properties")
    if isinstance(inner, dict):
        marked = [
            name
            for name, member in inner.items()
            if isinstance(member, dict) and member.get("required") is True
        ]
        listed = node.get("required", [])
        if marked and isinstance(listed, list):
            node["required"] = [*listed, *(name for name in marked if name not in listed)]
    if "required" in node and isinstance(node["required"], list):
        node["required"] = list(dict.fromkeys(node["required"]))
    return node


def _type(value: Any) -> dict[str, Any]:
    if isinstance(value, list):
        names = [_TYPES.get(str(name).strip().lower()) for name in value]
        known = list(dict.fromkeys(name for name in names if name))
        return {"type": known} if known and None not in names else {"x-type": value}
    name = str(value).strip().lower()
    if name in _ANYTHING:
        return {}
    if name in _TYPES:
        return {"type": _TYPES[name]}
    inner = _LIST_OF.fullmatch(name)
    if inner:
        return {"type": "array", "items": _type(inner[1])}
    return {"x-type": value}
