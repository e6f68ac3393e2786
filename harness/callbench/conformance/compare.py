"""When the value an implementation gave is the expected one. Compares as JSON, see PROTOCOL.md."""

from __future__ import annotations

import json
from typing import Any, Literal, get_args

Comparator = Literal["json", "ordered", "set"]
"""``json``; ``ordered``: members in the same order, too; ``set``: an array in any order."""

COMPARATORS: tuple[str, ...] = get_args(Comparator)


def same(expected: Any, got: Any, comparator: Comparator = "json") -> bool:
    """Tell whether ``got`` is ``expected``, both plain values as :mod:`callbench.peer.values` reads."""
    if comparator == "set" and isinstance(expected, list) and isinstance(got, list):
        return _sorted(expected) == _sorted(got)
    ordered = comparator == "ordered"
    return bool(_canonical(expected, ordered=ordered) == _canonical(got, ordered=ordered))


def _sorted(items: list[Any]) -> list[Any]:
    """Sort by what is equal for equal values: ``1`` and ``1.0`` stand at one place."""
    canonical = [_canonical(item) for item in items]
    return sorted(canonical, key=_sort_key)


def _sort_key(item: Any) -> str:
    return json.dumps(_whole(item), sort_keys=True, default=repr)


def _whole(item: Any) -> Any:
    if isinstance(item, dict):
        return {name: _whole(child) for name, child in item.items()}
    if isinstance(item, list | tuple):
        return [_whole(child) for child in item]
    return int(item) if isinstance(item, float) and item.is_integer() else item


def _canonical(value: Any, key: str = "", *, ordered: bool = False) -> Any:
    """Return ``value`` so that ``==`` compares it as JSON, a list of required names as a set."""
    if isinstance(value, dict):
        members = {name: _canonical(value[name], name, ordered=ordered) for name in value}
        return ("object", list(members.items())) if ordered else members
    if isinstance(value, list | tuple):
        items = [_canonical(child, ordered=ordered) for child in value]
        names = key == "required" and all(isinstance(child, str) for child in value)
        return sorted(items) if names else items
    # True is 1 for Python, and not for JSON.
    return ("boolean", value) if isinstance(value, bool) else value
