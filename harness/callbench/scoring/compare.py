"""Equality of two JSON values, by rungs: how far one must look away for them to be the same.

The ladder, strictest first:

* ``json``: the same JSON text up to the order of object members; ``1`` and ``1.0`` differ.
* ``number``: numbers equal by value at any depth; a boolean is never a number (TRAPS D2, D3).
* ``text``: strings equal after folding (:mod:`callbench.dataset.folding`).
* ``time``: strings that denote the same date, time or duration
  (:mod:`callbench.scoring.temporal`), only where the schema's ``format`` or the case says that
  they are such.
* ``alias``: strings that the case declares to be spellings of one thing.
* ``set``: lists equal after reordering, only where the case declares it (TRAPS D12).

The rung of a structure is the weakest that any part of it needed. Strict scores count the first
two rungs only. There is no partial equality: a substring or a near date is a difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Protocol

from callbench.dataset.folding import fold


class Rung(IntEnum):
    """How two values came to be equal. ``label`` is the name in records and reports."""

    JSON = 1
    NUMBER = 2
    TEXT = 3
    TIME = 4
    ALIAS = 5
    SET = 6

    @property
    def label(self) -> str:
        """Name of the rung in records and reports."""
        return self.name.lower()


class Words(Protocol):
    """What a case declares of the texts at one place beyond their spelling."""

    def moment(self, text: str) -> Hashable | None:
        """Return a key that texts share which mean the same date, time or duration."""

    def thing(self, text: str) -> str | None:
        """Return a key that the declared spellings of one thing share, and what means the same time."""


FoldsText = Callable[[tuple[str | int, ...]], bool]
"""Whether strings at a path inside the compared value are compared folded."""

ReadsText = Callable[[tuple[str | int, ...]], Words | None]
"""What is declared of strings at a path inside the compared value."""


def never(path: tuple[str | int, ...]) -> bool:
    """Compare no string folded."""
    return False


def always(path: tuple[str | int, ...]) -> bool:
    """Compare every string folded."""
    return True


def nothing(path: tuple[str | int, ...]) -> Words | None:
    """Declare nothing of any string."""
    return None


@dataclass(frozen=True, slots=True)
class Ladder:
    """How the strings in two values are compared, by their path in it."""

    folds: FoldsText = never
    reads: ReadsText = nothing


def equal(
    expected: Any,
    got: Any,
    *,
    folds: FoldsText = never,
    reads: ReadsText = nothing,
    unordered: bool = False,
) -> Rung | None:
    """Return the rung on which two JSON values are equal, or ``None`` when they are not.

    ``folds`` says where strings are compared folded, ``reads`` where they are read as times or
    have aliases; ``unordered`` lets the outermost list stand in any order. Object keys are always
    compared exactly.
    """
    ladder = Ladder(folds, reads)
    rung = _equal(expected, got, ladder, ())
    if rung is None and unordered and isinstance(expected, list) and isinstance(got, list):
        return _equal_as_set(expected, got, ladder)
    return rung


def _equal(expected: Any, got: Any, ladder: Ladder, path: tuple[str | int, ...]) -> Rung | None:
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
        if ladder.folds(path) and fold(expected) == fold(got):
            return Rung.TEXT
        return _equal_words(expected, got, ladder.reads(path))
    if isinstance(expected, list) and isinstance(got, list):
        if len(expected) != len(got):
            return None
        return _weakest(
            _equal(one, other, ladder, (*path, index))
            for index, (one, other) in enumerate(zip(expected, got, strict=True))
        )
    if isinstance(expected, dict) and isinstance(got, dict):
        if expected.keys() != got.keys():
            return None
        return _weakest(_equal(expected[key], got[key], ladder, (*path, key)) for key in expected)
    return None


def _equal_words(expected: str, got: str, words: Words | None) -> Rung | None:
    if words is None:
        return None
    moment = words.moment(expected)
    if moment is not None and moment == words.moment(got):
        return Rung.TIME
    thing = words.thing(expected)
    return Rung.ALIAS if thing is not None and thing == words.thing(got) else None


def _weakest(rungs: Iterable[Rung | None]) -> Rung | None:
    weakest = Rung.JSON
    for rung in rungs:
        if rung is None:
            return None
        weakest = max(weakest, rung)
    return weakest


def _equal_as_set(expected: list[Any], got: list[Any], ladder: Ladder) -> Rung | None:
    """Compare two lists as multisets, in linear time.

    Equality is an equivalence here, so a complete pairing exists exactly when every class of
    equal items has the same size on both sides.
    """
    if len(expected) != len(got):
        return None
    # One path for every item: in a set no item has a place of its own.
    same = Counter(_key(item, ladder, (0,)) for item in expected) == Counter(
        _key(item, ladder, (0,)) for item in got
    )
    return Rung.SET if same else None


def _key(value: Any, ladder: Ladder, path: tuple[str | int, ...]) -> Hashable:
    """Return a key that two values share exactly when :func:`_equal` accepts them."""
    if isinstance(value, bool) or value is None:
        return ("literal", value)
    if isinstance(value, int | float):
        return ("number", value)
    if isinstance(value, str):
        return _text_key(value, ladder, path)
    if isinstance(value, list):
        items = (_key(item, ladder, (*path, index)) for index, item in enumerate(value))
        return ("array", tuple(items))
    members = ((name, _key(member, ladder, (*path, name))) for name, member in value.items())
    return ("object", frozenset(members))


def _text_key(value: str, ladder: Ladder, path: tuple[str | int, ...]) -> Hashable:
    words = ladder.reads(path)
    if words is not None:
        # A spelling of a thing may be a time as well: all that equal it share the thing's key.
        thing = words.thing(value)
        if thing is not None:
            return ("thing", thing)
        moment = words.moment(value)
        if moment is not None:
            return ("moment", moment)
    return ("string", fold(value) if ladder.folds(path) else value)
