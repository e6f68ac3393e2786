"""How the slots of one case are compared: its schema's defaults and its ``accept`` entries.

Also the two things that must happen before slots are compared one by one: an accepted value for a
whole object or list takes the place of the expected one when that is what was given, and a list
declared a set is put into the order of the expected one by best assignment (TRAPS D12).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from callbench.dataset.case import Accept, Case
from callbench.dataset.declared import Declared
from callbench.dataset.slots import (
    ABSENT,
    Blocked,
    Path,
    ancestors,
    beneath,
    flatten,
    lookup,
    resolve,
    to_pointer,
)
from callbench.scoring.assignment import best_assignment
from callbench.scoring.compare import Rung, equal
from callbench.scoring.outcome import Outcome

_NOTHING = Accept()


@dataclass(frozen=True, slots=True)
class Matcher:
    """Compares values at a place as the case declares it."""

    case: Case
    declared: Declared

    def at(self, path: Path, expected: Any, got: Any) -> Rung | None:
        """Return the strictest rung on which ``got`` equals the expected or an accepted value."""
        if type(got) is type(expected) and got == expected and isinstance(got, str | int | None):
            return Rung.JSON  # nearly every right answer; bool is an int, and equal to its own only
        accept = self._accept(path)
        best: Rung | None = None
        for value in (expected, *accept.values):
            rung = self.one(path, value, got)
            if rung is not None and (best is None or rung < best):
                best = rung
        return best

    def one(self, path: Path, expected: Any, got: Any) -> Rung | None:
        """Compare with one value only."""

        def folds(inner: Path) -> bool:
            return self._folds((*path, *inner))

        accept = self._accept(path)
        return equal(expected, got, folds=folds, unordered=accept.match == "set")

    def _accept(self, path: Path) -> Accept:
        if not self.case.accept:
            return _NOTHING
        return self.case.accept.get(to_pointer(path), _NOTHING)

    def _folds(self, path: Path) -> bool:
        if self.case.accept:
            text = to_pointer(path)
            for place in (text, *ancestors(text)):
                match = self.case.accept.get(place, _NOTHING).match
                if match in ("exact", "text"):
                    return match == "text"
        return self.declared.label(path).free_text


@dataclass(frozen=True, slots=True)
class Settled:
    """Expected and outcome made comparable place by place.

    ``reordered`` holds the pointers of lists whose items were given in another order.
    """

    expected: dict[str, Any]
    given: dict[str, Any]
    outcome: Outcome
    reordered: tuple[str, ...] = ()


def settle(matcher: Matcher, given: dict[str, Any], outcome: Outcome) -> Settled:
    """Apply what ``accept`` says of whole objects and lists. Nothing passed in is mutated."""
    expected = matcher.case.expected
    if not matcher.case.accept:
        return Settled(expected, given, outcome)
    leaves = {to_pointer(path) for path in flatten(expected)}
    settled = Settled(expected, given, outcome)
    # From the outside in: a set is put in order before the items in it are looked at.
    for place in sorted(matcher.case.accept, key=lambda text: text.count("/")):
        if place in leaves:
            continue
        accept = matcher.case.accept[place]
        settled = _choose(matcher, settled, place, accept)
        if accept.match == "set":
            settled = _align(matcher, settled, place)
    return settled


def _choose(matcher: Matcher, settled: Settled, place: str, accept: Accept) -> Settled:
    """Let an accepted value that was given stand as the expected one."""
    path = resolve(settled.given, place)
    if path is None:
        return settled
    got = lookup(settled.given, path)
    wanted = lookup(settled.expected, path)
    if isinstance(wanted, Blocked):
        return settled
    values = accept.values if wanted is ABSENT else (wanted, *accept.values)
    ranked = [(matcher.one(path, value, got), index) for index, value in enumerate(values)]
    equals = [(rung, index) for rung, index in ranked if rung is not None]
    if not equals:
        return settled
    _, index = min(equals)
    return replace(settled, expected=_put(settled.expected, path, values[index]))


def _put(root: Any, path: Path, value: Any) -> Any:
    """Return a copy of a document with ``value`` at ``path``; missing parents become objects."""
    if not path:
        return value
    token, rest = path[0], path[1:]
    if isinstance(root, list) and isinstance(token, int):
        return [
            *root[:token],
            _put(root[token] if token < len(root) else {}, rest, value),
            *root[token + 1 :],
        ]
    return {**root, token: _put(root.get(token, {}), rest, value)}


def _align(matcher: Matcher, settled: Settled, place: str) -> Settled:
    path = resolve(settled.expected, place)
    if path is None:
        return settled
    wanted, got = lookup(settled.expected, path), lookup(settled.given, path)
    if not isinstance(wanted, list) or not isinstance(got, list):
        return settled
    order = _assignment(matcher, path, wanted, got)
    if order == list(range(len(got))):
        return settled
    new_index = {old: new for new, old in enumerate(order) if old is not None}

    def moved(pointer: str) -> str:
        if not beneath(pointer, place) or pointer == place:
            return pointer
        head, _, tail = pointer[len(place) + 1 :].partition("/")
        if not head.isdigit() or int(head) not in new_index:
            return pointer
        return f"{place}/{new_index[int(head)]}" + (f"/{tail}" if tail else "")

    outcome = settled.outcome
    return Settled(
        expected=settled.expected,
        given=_put(settled.given, path, [ABSENT if old is None else got[old] for old in order]),
        outcome=replace(
            outcome,
            filled_by={moved(place): stage for place, stage in outcome.filled_by.items()},
            rejected=tuple((moved(at), value, why) for at, value, why in outcome.rejected),
            undeclared=tuple((moved(at), value) for at, value in outcome.undeclared),
        ),
        reordered=(*settled.reordered, place),
    )


def _assignment(
    matcher: Matcher, path: Path, wanted: list[Any], got: list[Any]
) -> list[int | None]:
    """Return which given item stands at each place so that the most slots are right.

    ``None`` where an expected item has no partner; given items without one come last.
    """
    parts = [flatten({"item": item}) for item in wanted]

    def likeness(index: int, other: Any) -> int:
        """Count the slots of expected item ``index`` that ``other`` has right."""
        right = 0
        for inner, value in parts[index].items():
            found = lookup({"item": other}, inner)
            if found is not ABSENT and not isinstance(found, Blocked):
                right += matcher.at((*path, index, *inner[1:]), value, found) is not None
        return right

    as_given: list[int | None] = list(range(len(got)))
    if not wanted or not got:
        return as_given
    gain = [[likeness(index, other) for other in got] for index in range(len(wanted))]
    partner = best_assignment(gain)
    best = sum(gain[row][column] for row, column in partner.items())
    if best == sum(gain[index][index] for index in range(min(len(wanted), len(got)))):
        return as_given
    taken = set(partner.values())
    rest = [index for index in range(len(got)) if index not in taken]
    return [partner.get(index) for index in range(len(wanted))] + rest
