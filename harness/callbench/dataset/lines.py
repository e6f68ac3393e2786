"""Reading one line of JSON Lines strictly: every way a line can fail to be one JSON object."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from callbench.dataset.problems import Fault
from corecall import pointer
from corecall.jsontext import MAX_DEPTH

_AROUND = 10
"""Levels of a line around a schema or a value."""

_BOM = b"\xef\xbb\xbf"
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_HALF_PAIR = re.compile("[\ud800-\udfff]")


class _NotANumber:
    """Stands in a parsed document where the text has a number that JSON does not."""

    def __init__(self, text: str) -> None:
        self.text = text


def content(raw: bytes, *, first: bool) -> bytes:
    """Return a line without its ending and, on the ``first`` of a file, without a BOM."""
    if first:
        raw = raw.removeprefix(_BOM)
    return raw.strip(b" \t\r\n")


def parse(raw: bytes, *, levels: int = MAX_DEPTH) -> dict[str, Any] | Fault:
    """Parse one line into an object, or say which rule it breaks.

    ``levels`` is how deeply a schema or a value in it may be nested.
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        return Fault(
            "",
            "utf-8",
            f"Byte {error.start + 1} of the line (0x{raw[error.start]:02x}) is not UTF-8.",
            "Save the file as UTF-8.",
        )
    doubles: list[tuple[dict[str, Any], str]] = []
    odd_numbers: list[_NotANumber] = []

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for place, name in enumerate(names) if name in names[:place])
            doubles.append((found, twice))
        return found

    def constant(word: str) -> _NotANumber:
        odd_numbers.append(_NotANumber(word))
        return odd_numbers[-1]

    def number(digits: str) -> float | _NotANumber:
        value = float(digits)
        return value if math.isfinite(value) else constant(digits)

    try:
        value = json.loads(
            text, object_pairs_hook=members, parse_constant=constant, parse_float=number
        )
    except json.JSONDecodeError as error:
        return Fault(
            "",
            "json",
            f"Not JSON at character {error.pos + 1}: {error.msg}.",
            "Each line is one JSON object; nothing else, no comma after it.",
        )
    except (ValueError, RecursionError):
        return Fault(
            "",
            "json",
            "A number of this line is too long to read, or the line is nested too deeply.",
            "Shorten it.",
        )
    if not isinstance(value, dict):
        return Fault("", "object", f"The line is {_kind(value)}.", "Each line is one JSON object.")
    return _depth(value, levels) or _impurity(value, text, doubles, odd_numbers) or value


def _depth(value: dict[str, Any], levels: int) -> Fault | None:
    """Look for a field that is nested so deeply that no validator would take it."""
    for name, field in value.items():
        level = [field]
        for _ in range(levels + _AROUND):
            level = [
                inner
                for outer in level
                if isinstance(outer, dict | list)
                for inner in (outer.values() if isinstance(outer, dict) else outer)
            ]
            if not level:
                break
        else:
            return Fault(
                pointer.join([name]),
                "depth",
                f"Nested more than {levels + _AROUND} levels deep.",
                f"Schemas and values may have {levels} levels.",
            )
    return None


def _impurity(
    value: dict[str, Any],
    text: str,
    doubles: list[tuple[dict[str, Any], str]],
    odd_numbers: list[_NotANumber],
) -> Fault | None:
    """Look for what parses but must not stand in a case."""
    for found, name in doubles:
        place = _place(value, found)
        return Fault(
            pointer.join([*place, name]),
            "duplicate-key",
            f'The key "{name}" stands twice in one object.',
            "Keep one of the two.",
        )
    for odd in odd_numbers:
        return Fault(
            pointer.join(_place(value, odd)),
            "number",
            f"{odd.text} is no JSON number, or too large for one.",
            "Write a finite number, null or a string.",
        )
    if _SURROGATE.search(text):
        for path, part in _walk(value, []):
            if isinstance(part, str) and _HALF_PAIR.search(part):
                return Fault(
                    pointer.join(path),
                    "unicode",
                    "The text holds half of a surrogate pair, which no UTF-8 can carry.",
                    "Write the character itself, or both halves.",
                )
    return None


def _place(root: Any, wanted: Any) -> list[str]:
    return next((path for path, part in _walk(root, []) if part is wanted), [])


def _walk(value: Any, path: list[str]) -> Iterator[tuple[list[str], Any]]:
    yield path, value
    if isinstance(value, dict):
        for key, member in value.items():
            yield [*path, key], key
            yield from _walk(member, [*path, key])
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _walk(item, [*path, str(index)])


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case str():
            return "a string"
        case list():
            return "a list"
        case _:
            return "a number"
