"""Equality of two JSON values, by rungs: how far one must look away for them to be the same.

The ladder, strictest first:

* ``json``: the same JSON text up to the order of object members; ``1`` and ``1.0`` differ.
* ``number``: numbers equal by value at any depth; a boolean is never a number (TRAPS D2, D3).
* ``text``: strings equal after folding (:mod:`callbench.dataset.folding`).
* ``set``: lists equal after reordering, only where the case declares it (TRAPS D12).

The rung of a structure is the weakest that any part of it needed. Strict scores count the first
two rungs only. There is no partial equality: a substring or a near date is a difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from enum import IntEnum
from typing import Any

from callbench.dataset.folding import fold


class Rung(IntEnum):
    """How two values came to be equal. ``label`` is the name in records and reports."""

    JSON = 1
    NUMBER = 2
    TEXT = 3
    SET = 4

    @property
    def label(self) -> str:
        """Name of the rung in records and reports."""
        return self.name.lower()


FoldsText = Callable[[tuple[str | int, ...]], bool]
"""Whether strings at a path inside the compared value are compared folded."""


def never(path: tuple[str | int, ...]) -> bool:
    """Compare no string folded."""
    return False


def always(path: tuple[str | int, ...]) -> bool:
    """Compare every string folded."""
    return True


def equal(
    expected: Any, got: Any, *, folds: FoldsText = never, unordered: bool = False
) -> Rung | None:
    """Return the rung on which two JSON values are equal, or ``None`` when they are not.

    ``folds`` says where strings are compared folded; ``unordered`` lets the outermost list
    stand in any order. Object keys are always compared exactly.
    """
    rung = _equal(expected, got, folds, ())
    if rung is None and unordered and isinstance(expected, list) and isinstance(got, list):
        return _equal_as_set(expected, got, folds)
    return rung


def _equal(expected: Any, got: Any, folds: FoldsText, path: tuple[str | int, ...]) -> Rung | None:
    if isinstance(expected, bool) or isinstance(got, bool) or expected is None or got is None:
        same = type(expected) is type(got) and expected == got
        return Rung.JSON if same else None
    if isinstance(expected, int | float) and isinstance(got, int | float):
        # Python compares int with float exactly, so 2**53 + 1 does not equal 2.0**53.
        if expected != got:
            return None
        return Rung.JSON if type(expected) is type(got) else Rung.NUMBER
    if isinstance(expected, str) and isinstance(got, str):
        if expected == got:
            return Rung.JSON
        return Rung.TEXT if folds(path) and fold(expected) == fold(got) else None
    if isinstance(expected, list) and isinstance(got, list):
        if len(expected) != len(got):
            return None
        return _weakest(
            _equal(one, other, folds, (*path, index))
            for index, (one, other) in enumerate(zip(expected, got, strict=True))
        )
    if isinstance(expected, dict) and isinstance(got, dict):
        if expected.keys() != got.keys():
            return None
        return _weakest(_equal(expected[key], got[key], folds, (*path, key)) for key in expected)
    return None


def _weakest(rungs: Iterable[Rung | None]) -> Rung | None:
    weakest = Rung.JSON
    for rung in rungs:
        if rung is None:
            return None
        weakest = max(weakest, rung)
    return weakest


def _equal_as_set(expected: list[Any], got: list[Any], folds: FoldsText) -> Rung | None:
    """Compare two lists as multisets, in linear time.

    Equality is an equivalence here, so a complete pairing exists exactly when every class of
    equal items has the same size on both sides.
    """
    if len(expected) != len(got):
        return None
    # One path for every item: in a set no item has a place of its own.
    same = Counter(_key(item, folds, (0,)) for item in expected) == Counter(
        _key(item, folds, (0,)) for item in got
    )
    return Rung.SET if same else None


def _key(value: Any, folds: FoldsText, path: tuple[str | int, ...]) -> Hashable:
    """Return a key that two values share exactly when :func:`_equal` accepts them."""
    if isinstance(value, bool) or value is None:
        return ("literal", value)
    if isinstance(value, int | float):
        return ("number", value)
    if isinstance(value, str):
        return ("string", fold(value) if folds(path) else value)
    if isinstance(value, list):
        items = (_key(item, folds, (*path, index)) for index, item in enumerate(value))
        return ("array", tuple(items))
    members = ((name, _key(member, folds, (*path, name))) for name, member in value.items())
    return ("object", frozenset(members))
