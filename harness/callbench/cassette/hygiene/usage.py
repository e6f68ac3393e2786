"""``unused``: recordings that nobody asks for, of those a file holds."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from callbench.cassette.hygiene.places import Place
from callbench.cassette.interaction import REPEAT_MARK


@dataclass(frozen=True, slots=True)
class Usage:
    """The recordings of a file by whether they are asked for.

    ``undecided``: not asked, but of a case that ended at a missing recording; it may ask for them after
    that. Recordings of further repeats are used when the first one is.
    """

    used: tuple[Place, ...]
    unused: tuple[Place, ...]
    undecided: tuple[Place, ...]


def usage(
    places: Iterable[Place], answered: Collection[tuple[str, str, int]], open_cases: Collection[str]
) -> Usage:
    """Sort recordings by whether they ``answered``; ``open_cases`` ended at a miss."""
    used, unused, undecided = [], [], []
    for place in places:
        case = place.case.partition(REPEAT_MARK)[0]
        if place.identity in answered or (place.key, case, place.ordinal) in answered:
            used.append(place)
        elif case in open_cases:
            undecided.append(place)
        else:
            unused.append(place)
    return Usage(tuple(used), tuple(unused), tuple(undecided))
