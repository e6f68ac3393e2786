"""Which cases of a dataset are shown as examples before a case: never one that gives it away."""

from __future__ import annotations

import hashlib
from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from callbench.dataset.case import Case
from callbench.dataset.folding import fold
from callbench.dataset.loader import Dataset
from callbench.errors import UsageError


@dataclass(frozen=True, slots=True, order=True)
class _Place:
    """Where a case stands in its ring; ``index`` is its place in the dataset."""

    position: bytes
    index: int
    family: str
    question: int


class ExamplePool:
    """The cases of a whole dataset, one ring per language, each case where its id's hash puts it.

    A case's examples are those that follow it in the ring, so they depend on the ids alone:
    not on the order of the files, nor on which cases a run is over. Left out are the case
    itself, its cluster (the dialogue it was cut from, where its translation is too), other
    languages, and cases that ask the very same question. Only the places are kept in memory.
    """

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._cases: Sequence[Case] = dataset.cases
        self._rings: defaultdict[str, list[_Place]] = defaultdict(list)
        for index, case in enumerate(self._cases):
            self._rings[case.lang].append(_place(case, index))
        for ring in self._rings.values():
            ring.sort()

    def check(self, cases: Iterable[Case], count: int) -> None:
        """Raise ``UsageError`` if one of ``cases`` has less than ``count`` examples."""
        for case in cases:
            found = sum(1 for _ in self._others(case, count))
            if found < count:
                raise UsageError(
                    f"--shots {count} is more than {self._dataset.name} offers: case {case.id} "
                    f"has {found} others in its language ({case.lang}) that do not give it away.",
                    remedy="Ask for fewer.",
                )

    def examples(self, case: Case, count: int) -> list[Case]:
        """Return the ``count`` examples of a case, less only where there are no more."""
        return [self._cases[place.index] for place in self._others(case, count)]

    def _others(self, case: Case, count: int) -> Iterator[_Place]:
        own = _place(case, -1)
        ring = self._rings[case.lang]
        start = bisect(ring, own)
        following = chain(range(start, len(ring)), range(start))
        others = (
            place
            for place in map(ring.__getitem__, following)
            if place.family != own.family and place.question != own.question
        )
        return islice(others, count)


def _place(case: Case, index: int) -> _Place:
    return _Place(
        position=hashlib.sha256(case.id.encode("utf-8", "surrogatepass")).digest(),
        index=index,
        # Without a cluster a case is a dialogue of its own; no cluster's name begins like this.
        family=case.cluster or f"\0{case.id}",
        question=hash(fold(case.question)),
    )
