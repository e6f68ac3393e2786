"""A model's reply is laid over known data; what the schema does not want of it is set aside.

The reply is converted onto the known data, valid known values are put back, and then the faults of
the result that the reply brought are dropped, deepest first, until nothing new is wrong but that
something may still be missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from corecall.pointer import array_index, join
from corecall.slot.compiled import Compiled
from corecall.slot.evaluate import Evaluator
from corecall.slot.limits import copy_json, plain_data
from corecall.slot.violations import Kind, Violation, undeclared, violations

Tokens = tuple[str, ...]

_TRIED = 16
"""So many new values are tried one by one when their combination breaks an object."""

_NO_MEMBER = frozenset({Kind.FORBIDDEN, Kind.UNDECLARED})

_ABSENT: Any = object()


@dataclass(frozen=True, slots=True)
class Refusal:
    """A value of a reply that was not merged: where it was meant to go, and why it did not.

    Contract: slot.merge.15.
    """

    pointer: str
    value: Any
    reason: str


@dataclass(frozen=True, slots=True)
class Merge:
    """Outcome of a merge. ``data`` is new throughout; ``filled`` names the leaves that are new in it.

    An array is one leaf when the reply gave it whole. ``rejected`` values break the schema of their
    own slot, ``undeclared`` ones have none.

    Contract: slot.merge.14, slot.merge.18, slot.merge.25.
    """

    data: dict[str, Any]
    filled: tuple[str, ...]
    rejected: tuple[Refusal, ...]
    undeclared: tuple[Refusal, ...]


def merge(compiled: Compiled, known: dict[str, Any], data: dict[str, Any]) -> Merge:
    """Merge ``data``, a reply converted onto ``known``; it is changed, ``known`` is not.

    Both are plain JSON within the limits. Defaults are never written in.

    Contract: slot.merge.1, slot.merge.30, slot.result.6, slot.result.7.
    """
    return _Merging(compiled, known).run(data)


class _Merging:
    def __init__(self, compiled: Compiled, known: dict[str, Any]) -> None:
        self._compiled = compiled
        self._known = known
        self._open = self._broken(known, partial=False) if known else frozenset[Tokens]()
        self._rejected: list[Refusal] = []
        self._undeclared: list[Refusal] = []

    def run(self, data: dict[str, Any]) -> Merge:
        if self._known:
            data = self._protected(self._known, data, ())
        new = self._new(data)
        while new and self._drop_faults(data, new):
            new = self._new(data)
        filled = tuple(join(leaf) for place in new for leaf in _leaves(data, place))
        return Merge(data, filled, tuple(self._rejected), tuple(self._undeclared))

    def _broken(self, data: dict[str, Any], *, partial: bool) -> frozenset[Tokens]:
        evaluator = Evaluator(self._compiled, partial=partial, branches=True)
        return frozenset(
            violation.tokens
            for violation in violations(evaluator, data, deep=True)
            if violation.kind in (Kind.BROKEN, Kind.FORBIDDEN)
        )

    def _protected(self, known: Any, data: Any, tokens: Tokens) -> Any:
        """Return ``data`` with every valid known value put back.

        Contract: slot.merge.2, slot.merge.3, slot.merge.4, slot.merge.5, slot.merge.6,
        slot.merge.8, slot.merge.9, slot.merge.28.
        """
        if isinstance(known, dict) and isinstance(data, dict):
            for name, value in known.items():
                if name in data:
                    data[name] = self._protected(value, data[name], (*tokens, name))
                else:
                    data[name] = copy_json(value)
            return data
        if tokens in self._open:
            return data
        if isinstance(known, list) and isinstance(data, list):
            kept = copy_json(known)
            for place, (old, new) in enumerate(zip(known, data, strict=False)):
                kept[place] = self._protected(old, new, (*tokens, str(place)))
            return kept
        return copy_json(known)

    # -- what is new ---------------------------------------------------------------------------

    def _new(self, data: dict[str, Any]) -> list[Tokens]:
        """Return the topmost places where ``data`` is not what is known."""
        return list(self._differences(self._known, data, ()))

    def _differences(self, known: Any, data: Any, tokens: Tokens) -> Iterator[Tokens]:
        if isinstance(known, dict) and isinstance(data, dict):
            for name, value in data.items():
                yield from self._differences(known.get(name, _ABSENT), value, (*tokens, name))
        elif isinstance(known, list) and isinstance(data, list) and tokens not in self._open:
            for place, value in enumerate(data):
                old = known[place] if place < len(known) else _ABSENT
                yield from self._differences(old, value, (*tokens, str(place)))
        elif not _same(known, data):
            yield tokens

    # -- what has to go ------------------------------------------------------------------------

    def _drop_faults(self, data: dict[str, Any], new: list[Tokens]) -> bool:
        """Drop the deepest faults at or beneath ``new`` places; say whether there were any.

        Contract: slot.merge.14, slot.merge.16, slot.merge.18, slot.merge.27.
        """
        evaluator = Evaluator(self._compiled, partial=True, branches=True)
        valid = self._compiled.fast_verdict(*plain_data(data)) is True
        found = list(
            undeclared(evaluator, data) if valid else violations(evaluator, data, deep=True)
        )
        places = frozenset(new)
        mine = list(_blamed(found, new, places))
        above = {fault.tokens[:end] for fault in mine for end in range(len(fault.tokens))}
        for fault in [fault for fault in mine if _not_given(data, fault)] or mine:
            if fault.tokens not in above:
                self._drop(data, fault, places)
        return bool(mine) or self._drop_combination(data, new, found)

    def _drop(self, data: dict[str, Any], fault: Violation, new: frozenset[Tokens]) -> None:
        """Take out what is at fault and report it; an array that the reply gave whole goes whole.

        Contract: slot.merge.7, slot.merge.10, slot.merge.11, slot.merge.12, slot.merge.17,
        slot.merge.21.
        """
        tokens = fault.tokens
        if _get(data, tokens) is _ABSENT:  # went with another fault of the same array
            return
        while tokens not in new and isinstance(_get(data, tokens[:-1]), list):
            tokens = tokens[:-1]  # an array that the reply gave whole is one value
        value = _get(data, tokens)
        self._take_out(data, tokens, new)
        if fault.kind is Kind.UNDECLARED:
            self._undeclared.append(Refusal(join(tokens), value, fault.reason))
        elif value is not None:  # a null that the schema does not admit means "not given"
            reason = fault.reason
            if tokens != fault.tokens:
                reason = f"{join(fault.tokens)}: {reason}"
            self._rejected.append(Refusal(join(tokens), value, reason))

    def _drop_combination(
        self, data: dict[str, Any], new: list[Tokens], found: list[Violation]
    ) -> bool:
        """Drop new values that, each valid, break an object around them together.

        Objects that share new values are mended one at a time, the outermost first: what holds in
        one depends on what is left in another.

        Contract: slot.merge.22, slot.merge.24.
        """
        places = frozenset(new)
        beneath: dict[Tokens, list[Tokens]] = {}
        for place in new:
            for end in range(len(place) + 1):
                beneath.setdefault(place[:end], []).append(place)
        seen: set[Tokens] = set()
        for fault in found:
            inside = beneath.get(fault.tokens, [])
            if fault.kind is not Kind.BROKEN or not inside or not seen.isdisjoint(inside):
                continue
            if fault.tokens in self._broken_before:
                continue
            seen.update(inside)
            for place in self._culprits(data, fault.tokens, inside):
                value = _get(data, place)
                self._take_out(data, place, places)
                where = join(fault.tokens) or "the object"
                reason = f"with it, {where} {fault.reason}"
                self._rejected.append(Refusal(join(place), value, reason))
        return bool(seen)

    @cached_property
    def _broken_before(self) -> frozenset[Tokens]:
        return self._broken(self._known, partial=True)

    def _culprits(self, data: dict[str, Any], tokens: Tokens, inside: list[Tokens]) -> list[Tokens]:
        """Return the last new value without which ``tokens`` holds, else the last; all, if many.

        Contract: slot.merge.22, slot.merge.23.
        """
        if len(inside) == 1 or len(inside) > _TRIED:
            return inside[::-1]
        for place in reversed(inside):
            without = copy_json(data)
            self._take_out(without, place, frozenset(inside))
            if tokens not in self._broken(without, partial=True):
                return [place]
        return inside[-1:]

    def _take_out(self, data: dict[str, Any], tokens: Tokens, new: frozenset[Tokens]) -> None:
        """Put back what is known at ``tokens``, or nothing; a new object emptied by that goes too.

        Contract: slot.merge.13.
        """
        parent = _get(data, tokens[:-1])
        known = _get(self._known, tokens) if tokens in new else _ABSENT
        if isinstance(parent, list):  # new places in an array are always those of known items
            parent[int(tokens[-1])] = copy_json(known)
            return
        if known is not _ABSENT:
            parent[tokens[-1]] = copy_json(known)
            return
        del parent[tokens[-1]]
        above = tokens[:-1]
        if parent or not _within(above, new):
            return
        if above in new or isinstance(_get(data, above[:-1]), dict):
            self._take_out(data, above, new)


def _blamed(
    found: list[Violation], new: list[Tokens], places: frozenset[Tokens]
) -> Iterator[Violation]:
    """Yield the faults at or beneath ``new`` places, and these where a known member should not be."""
    closed = {fault.tokens: fault for fault in found if fault.kind in _NO_MEMBER}
    inside: dict[Tokens, list[Tokens]] = {}
    for place in new if closed else ():
        for end in range(len(place)):
            if place[:end] in closed:
                inside.setdefault(place[:end], []).append(place)
    for fault in found:
        if _within(fault.tokens, places):
            yield fault
        elif fault.kind in _NO_MEMBER:
            for place in inside.get(fault.tokens, ()):
                yield replace(fault, tokens=place)


def _not_given(data: dict[str, Any], fault: Violation) -> bool:
    """Say whether a fault is a null in place of a member, which goes before others are judged."""
    return (
        fault.kind is not Kind.UNDECLARED
        and _get(data, fault.tokens) is None
        and isinstance(_get(data, fault.tokens[:-1]), dict)
    )


def _within(tokens: Tokens, places: frozenset[Tokens]) -> bool:
    """Say whether ``tokens`` is one of ``places`` or beneath one."""
    return any(tokens[:end] in places for end in range(len(tokens), -1, -1))


def _get(data: Any, tokens: Tokens) -> Any:
    value = data
    for token in tokens:
        if isinstance(value, dict):
            value = value.get(token, _ABSENT)
            continue
        place = array_index(token) if isinstance(value, list) else None
        if place is None or place >= len(value):
            return _ABSENT
        value = value[place]
    return value


def _same(one: Any, other: Any) -> bool:
    """Say whether two values are the same JSON: 1 is 1.0 and not true, at any depth.

    Contract: slot.merge.26.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return bool(one == other)


def _leaves(data: dict[str, Any], place: Tokens) -> Iterator[Tokens]:
    """Yield the leaves at or beneath ``place``: scalars, arrays and empty objects."""
    value = _get(data, place)
    if isinstance(value, dict) and value:
        for name in value:
            yield from _leaves(data, (*place, name))
    else:
        yield place
