"""What was made of a request or read from the cassette lately: a server is asked for the same again and again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

MOST_BYTES = 12 * 1024 * 1024
"""Bytes that are kept; what was not asked for longest goes first."""


class Kept(Generic[Key, Value]):
    """A cache that is bounded by the bytes of what it holds, as its user counts them."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._size = 0
        self._kept: OrderedDict[Key, tuple[Value, int]] = OrderedDict()

    def get(self, key: Key) -> Value | None:
        """Return what is kept under ``key``, ``None`` if nothing is."""
        kept = self._kept.get(key)
        if kept is None:
            return None
        self._kept.move_to_end(key)
        return kept[0]

    def put(self, key: Key, value: Value, size: int) -> None:
        """Keep ``value``, which takes about ``size`` bytes."""
        if (old := self._kept.pop(key, None)) is not None:
            self._size -= old[1]
        self._kept[key] = (value, size)
        self._size += size
        while self._size > self._most:
            self._size -= self._kept.popitem(last=False)[1][1]
