"""What differs between the expected result and the one that came, place by place, for people."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from callbench.conformance.compare import Comparator, same
from callbench.peer.values import encode
from corecall import pointer

MOST_DIFFERENCES = 12
"""Further ones are only counted."""

_LONG_TEXT = 60
_LONGEST = 200


def differences(expected: Any, got: Any, comparator: Comparator = "json") -> list[str]:
    """Return one line for each place; an empty list for results that are the same."""
    if same(expected, got, comparator):
        return []
    if comparator == "set" and isinstance(expected, list) and isinstance(got, list):
        found = list(_as_sets(expected, got, []))
    else:
        found = list(_values(expected, got, [], ordered=comparator == "ordered"))
    if len(found) > MOST_DIFFERENCES:
        rest = len(found) - MOST_DIFFERENCES
        found[MOST_DIFFERENCES:] = [f"… and {rest} more"]
    return found


def show(value: Any, longest: int = _LONGEST) -> str:
    """Return a value as JSON on one line, shortened in the middle."""
    text = json.dumps(encode(value), ensure_ascii=False)
    half = longest // 2
    return text if len(text) <= longest else f"{text[:half]} … {text[-half:]}"


def _values(expected: Any, got: Any, path: list[str], *, ordered: bool) -> Iterator[str]:
    if same(expected, got, "ordered" if ordered else "json"):
        return
    if isinstance(expected, dict) and isinstance(got, dict):
        yield from _objects(expected, got, path, ordered=ordered)
    elif isinstance(expected, list) and isinstance(got, list):
        if path and path[-1] == "required" and _names(expected) and _names(got):
            yield from _as_sets(expected, got, path)
        else:
            yield from _lists(expected, got, path, ordered=ordered)
    elif isinstance(expected, str) and isinstance(got, str) and len(expected) > _LONG_TEXT:
        # Slow to import, and only needed here.
        from callbench.cassette.diff import text_difference

        yield f"{_place(path)}: {text_difference(expected, got)}"
    else:
        yield f"{_place(path)}: expected {show(expected)}, got {show(got)}"


def _objects(
    expected: dict[str, Any], got: dict[str, Any], path: list[str], *, ordered: bool
) -> Iterator[str]:
    for name, value in expected.items():
        if name in got:
            yield from _values(value, got[name], [*path, name], ordered=ordered)
        else:
            yield f"{_place([*path, name])}: expected {show(value)}, got nothing"
    for name, value in got.items():
        if name not in expected:
            yield f"{_place([*path, name])}: expected nothing, got {show(value)}"
    if ordered and expected.keys() == got.keys() and list(expected) != list(got):
        yield f"{_place(path)}: expected the order {show(list(expected))}, got {show(list(got))}"


def _lists(expected: list[Any], got: list[Any], path: list[str], *, ordered: bool) -> Iterator[str]:
    for index, (left, right) in enumerate(zip(expected, got, strict=False)):
        yield from _values(left, right, [*path, str(index)], ordered=ordered)
    for index, missing in enumerate(expected[len(got) :], len(got)):
        yield f"{_place([*path, str(index)])}: expected {show(missing)}, got nothing"
    for index, surplus in enumerate(got[len(expected) :], len(expected)):
        yield f"{_place([*path, str(index)])}: expected nothing, got {show(surplus)}"


def _as_sets(expected: list[Any], got: list[Any], path: list[str]) -> Iterator[str]:
    left = list(got)
    for item in expected:
        index = next((i for i, other in enumerate(left) if same(item, other)), None)
        if index is None:
            yield f"{_place(path)}: lacks {show(item)}"
        else:
            del left[index]
    for item in left:
        yield f"{_place(path)}: has {show(item)} too much"


def _names(value: list[Any]) -> bool:
    return all(isinstance(item, str) for item in value)


def _place(path: list[str]) -> str:
    return pointer.join(path) if path else "the whole"
