"""Expected and given made comparable place by place, before slots are judged one by one.

An accepted value for a whole object or list takes the place of the expected one when that is what
was given. A list of objects is aligned with the expected one so that the most slots are right: in
any order where it is declared a set, else in the order given, so that an item left out or put in
between costs that item and not all behind it (TRAPS D12). Where more than 10,000 pairs of items
would have to be weighed, as after an endless reply, only equal items find each other (in a list:
from both ends), and the rest stays in the order given: that bounds the time, and can but lower the
score.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from callbench.dataset.case import Accept
from callbench.dataset.slots import (
    ABSENT,
    Blocked,
    Path,
    beneath,
    flatten,
    list_index,
    lookup,
    resolve,
    to_pointer,
)
from callbench.scoring.assignment import best_alignment, best_assignment
from callbench.scoring.matching import Matcher
from callbench.scoring.outcome import Outcome
from corecall import pointer

_NOTHING = Accept()
_MOST_PAIRS = 10_000


@dataclass(frozen=True, slots=True)
class Settled:
    """Expected and outcome made comparable place by place.

    ``broken`` holds the pointers of given values that break their schema, ``reordered`` those of
    sets whose items were given in another order.
    """

    expected: dict[str, Any]
    given: dict[str, Any]
    outcome: Outcome
    broken: tuple[str, ...] = ()
    reordered: tuple[str, ...] = ()


def settle(
    matcher: Matcher, given: dict[str, Any], outcome: Outcome, broken: tuple[str, ...] = ()
) -> Settled:
    """Apply what ``accept`` says of wholes, and align lists. Nothing passed in is mutated."""
    accept = matcher.case.accept
    settled = Settled(matcher.case.expected, given, outcome, broken)
    lists = set(_lists(settled.expected, ""))
    if not accept and not lists:
        return settled
    leaves = {to_pointer(path) for path in flatten(settled.expected)} if accept else set()
    # From the outside in: a list is put in order before the items in it are looked at.
    waiting = {place for place in accept if place not in leaves} | lists
    while waiting:
        place = min(waiting, key=lambda text: (text.count("/"), text))
        waiting.remove(place)
        if place in accept:
            # Lists within what is chosen need no aligning: it equals what was given.
            settled = _choose(matcher, settled, place, accept[place])
        settled = _align(matcher, settled, place)
    return settled


def _lists(value: Any, place: str) -> Iterator[str]:
    """Yield the pointers of the lists that are taken apart, those that hold an object or a list."""
    members: Iterable[tuple[Any, Any]]
    if isinstance(value, dict):
        members = value.items()
    else:
        members = enumerate(value)
        if any(isinstance(item, dict | list) for item in value):
            yield place
    for token, member in members:
        if isinstance(member, dict | list):
            yield from _lists(member, place + pointer.join([str(token)]))


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
    if not isinstance(wanted, list) or not isinstance(got, list) or not wanted or not got:
        return settled
    unordered = matcher.case.accept.get(place, _NOTHING).match == "set"
    order = _order(matcher, path, wanted, got, unordered=unordered)
    if order == list(range(len(got))):
        return settled
    new_index = {old: new for new, old in enumerate(order) if old is not None}

    def moved(at: str) -> str:
        if not beneath(at, place) or at == place:
            return at
        head, _, tail = at[len(place) + 1 :].partition("/")
        index = list_index(head)
        if index is None or index not in new_index:
            return at
        return f"{place}/{new_index[index]}" + (f"/{tail}" if tail else "")

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
        broken=tuple(moved(at) for at in settled.broken),
        reordered=(*settled.reordered, place) if unordered else settled.reordered,
    )


def _order(
    matcher: Matcher, path: Path, wanted: list[Any], got: list[Any], *, unordered: bool
) -> list[int | None]:
    """Return which given item stands at each place so that the most slots are right.

    ``None`` where an expected item has no partner; given items without one come last. As given
    when no order has more slots right.
    """
    if len(wanted) * len(got) > _MOST_PAIRS:
        twins = _twins if unordered else _twins_at_the_ends
        return _placed(len(wanted), len(got), twins(*map(_texts, (wanted, got))))
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
    both = min(len(wanted), len(got))
    kept = [likeness(index, got[index]) for index in range(both)]
    if len(wanted) == len(got) and kept == [len(part) for part in parts]:
        return as_given
    gain = [[likeness(index, other) for other in got] for index in range(len(wanted))]
    partner = best_assignment(gain) if unordered else best_alignment(gain)
    if sum(gain[row][column] for row, column in partner.items()) == sum(kept):
        return as_given
    taken = set(partner.values())
    rest = [index for index in range(len(got)) if index not in taken]
    return [partner.get(index) for index in range(len(wanted))] + rest


def _texts(items: list[Any]) -> list[str]:
    return [json.dumps(item, sort_keys=True) for item in items]


def _twins(wanted: list[str], got: list[str]) -> dict[int, int]:
    """Pair equal items, each of them once."""
    places: dict[str, list[int]] = {}
    for index in range(len(got) - 1, -1, -1):
        places.setdefault(got[index], []).append(index)
    return {row: places[text].pop() for row, text in enumerate(wanted) if places.get(text)}


def _twins_at_the_ends(wanted: list[str], got: list[str]) -> dict[int, int]:
    """Pair equal items from the front, and then from the back, up to the first that differ."""
    both = min(len(wanted), len(got))
    front = next((at for at in range(both) if wanted[at] != got[at]), both)
    back = next((at for at in range(both - front) if wanted[-1 - at] != got[-1 - at]), both - front)
    rows, columns = len(wanted), len(got)
    pairs = {at: at for at in range(front)}
    return pairs | {rows - 1 - at: columns - 1 - at for at in range(back)}


def _placed(rows: int, columns: int, partner: dict[int, int]) -> list[int | None]:
    """Give expected items without a partner what is left over, in order."""
    taken = set(partner.values())
    left = iter([column for column in range(columns) if column not in taken])
    return [partner[row] if row in partner else next(left, None) for row in range(rows)] + list(
        left
    )
