"""Slots: the parts of an argument object that are judged one by one.

Every scalar leaf is a slot. A list of scalars is one slot, and so is an empty object or list.
A list that holds an object or a list is taken apart by index. Inside the harness a slot is
addressed by its path, where a list index is an ``int`` and an object key a ``str``, so that
``{"0": …}`` and ``[…]`` are never mixed up; outside by its RFC 6901 pointer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Literal

from corecall import pointer

Path = tuple[str | int, ...]
_LONGEST_INDEX = 18  # digits; no list is longer, and int() refuses thousands of them


class Absent(Enum):
    """The type of :data:`ABSENT`, which stands where there is no value: absent is not null."""

    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final[Literal[Absent.ABSENT]] = Absent.ABSENT


@dataclass(frozen=True, slots=True)
class Blocked:
    """The way to a slot is barred: ``value`` at ``path`` is not the container it should be."""

    path: Path
    value: Any


def to_pointer(path: Path) -> str:
    """Return the RFC 6901 pointer of a path."""
    return pointer.join([str(token) for token in path])


def ancestors(text: str) -> Iterator[str]:
    """Yield the pointers above a pointer, nearest first, without the root."""
    end = text.rfind("/")
    while end > 0:
        text = text[:end]
        yield text
        end = text.rfind("/")


def beneath(text: str, above: str) -> bool:
    """Say whether a pointer is ``above`` itself or stands beneath it."""
    return text == above or text.startswith(above + "/")


def related(one: str, other: str) -> bool:
    """Say whether one of two pointers is the other or stands beneath it."""
    return beneath(one, other) or beneath(other, one)


def flatten(value: dict[str, Any]) -> dict[Path, Any]:
    """Return the slots of an argument object by path, in document order.

    The object itself is no slot, so ``{}`` has none. A list item may be :data:`ABSENT`, a gap
    left by alignment.
    """
    slots: dict[Path, Any] = {}
    for key, member in value.items():
        _flatten(member, (key,), slots)
    return slots


def _flatten(value: Any, path: Path, slots: dict[Path, Any]) -> None:
    if isinstance(value, dict) and value:
        for key, member in value.items():
            _flatten(member, (*path, key), slots)
    elif isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        for index, item in enumerate(value):
            _flatten(item, (*path, index), slots)
    elif value is not ABSENT:
        slots[path] = value


def lookup(root: Any, path: Path) -> Any:
    """Return the value at a path, :data:`ABSENT`, or where the way there is :class:`Blocked`."""
    value = root
    for depth, token in enumerate(path):
        if isinstance(token, int):
            if not isinstance(value, list):
                return Blocked(path[:depth], value)
            if token >= len(value):
                return ABSENT
            value = value[token]
        else:
            if not isinstance(value, dict):
                return Blocked(path[:depth], value)
            if token not in value:
                return ABSENT
            value = value[token]
        if value is ABSENT:
            return ABSENT
    return value


def find(root: Any, text: str) -> Any:
    """Return the value a pointer names in a document, or :data:`ABSENT`."""
    path = resolve(root, text)
    return ABSENT if path is None else lookup(root, path)


def list_index(text: str) -> int | None:
    """Return the list index that a token of a pointer is, by RFC 6901: ASCII digits, no leading zero."""
    if not text.isascii() or not text.isdigit() or len(text) > _LONGEST_INDEX:
        return None
    return int(text) if text == "0" or text[0] != "0" else None


def resolve(root: Any, text: str) -> Path | None:
    """Return the path of a pointer in a document, ``None`` when it names nothing there."""
    value = root
    path: list[str | int] = []
    for token in pointer.split(text):
        if isinstance(value, list):
            index = list_index(token)
            if index is None or index >= len(value):
                return None
            path.append(index)
            value = value[index]
        elif isinstance(value, dict) and token in value:
            path.append(token)
            value = value[token]
        else:
            return None
    return tuple(path)


def same(one: Any, other: Any) -> bool:
    """Say whether two slot values are equal as JSON: numbers by value, a boolean is no number."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)
