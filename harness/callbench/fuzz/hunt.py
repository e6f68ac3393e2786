"""The hunt for differences in one operation: draw, let both answer, compare, shrink, go on."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis.errors import HypothesisException
from hypothesis.strategies import SearchStrategy

from callbench.fuzz.places import Place, places
from callbench.fuzz.reduce import reduced, size
from callbench.peer import Answer, Misbehaved, Peer, Unsupported

Batch = Sequence[dict[str, Any]]

_SHRINKS = {"value": 150, "outcome": 150, "reference": 150, "misbehaved": 40}
_REDUCTIONS = {"value": 3000, "outcome": 3000, "reference": 1000, "misbehaved": 120}
_LATE = 12
"""Tries for a peer that gives no answer in time: each costs the whole deadline."""
_MOST_TROUBLES = 20
"""So often a peer may misbehave before an operation is given up: each time it is started anew."""
_DECLINED = 200
"""So many inputs a peer may decline before an operation that answered none counts as not there."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A difference: the smallest input it was found with, both answers, how they differ.

    ``repeats`` is false when the peer answered otherwise when it was asked once more.
    """

    op: str
    given: dict[str, Any]
    expected: Answer
    got: Answer
    places: frozenset[Place]
    repeats: bool = True


class _Differs(Exception):
    """An input on which the answers differ, for Hypothesis."""


class _Enough(BaseException):
    """Enough tries; no Exception, so that it ends Hypothesis' run."""


class Hunt:
    """Looks for differences between two peers in one operation.

    ``known`` differences are passed over and counted; what is found becomes known.
    """

    def __init__(
        self, op: str, peer: Peer, reference: Peer, *, deadline: float, known: frozenset[Place]
    ) -> None:
        self.op = op
        self.known = set(known)
        self.done = 0
        self.declined = 0
        self.met = 0
        self.troubles = 0
        self.shrinking = 0.0
        self._peer = peer
        self._reference = reference
        self._deadline = deadline
        self._aim: Place | None = None
        self._first: frozenset[Place] = frozenset()
        self._best: Finding | None = None
        self._tries = 0
        self._most = 0
        self._met_at = 0.0
        self._seen: set[int] = set()

    @property
    def given_up(self) -> bool:
        """Whether the peer misbehaves, or declines, all the time."""
        return self.troubles >= _MOST_TROUBLES or self.declined == self.done >= _DECLINED

    def run(
        self, batches: SearchStrategy[Batch], *, examples: int, number: int, most: int
    ) -> Iterator[Finding]:
        """Try ``examples`` inputs; give each difference that is not known, at most ``most``.

        The same ``number`` gives the same inputs. A ``KeyboardInterrupt`` passes, after what was
        found when it came.
        """
        self._most = examples
        turn = found = barren = 0
        while self.done < examples and found < most and barren < 3 and not self.given_up:
            before = self.done
            finding = yield from self._round(batches, _derived(number, self.op, turn))
            turn += 1
            found += finding
            # A strategy may have no more to draw than it has drawn.
            barren = 0 if finding or self.done > before + 10 else barren + 1

    def _round(self, batches: SearchStrategy[Batch], number: int) -> Generator[Finding, None, bool]:
        self._aim = self._best = None
        self._tries = 0
        try:
            with suppress(_Differs, _Enough, HypothesisException):
                self._search(batches, number)
            if self._best is not None:
                self._reduce()
        except KeyboardInterrupt:
            if self._best is not None:
                yield self._best
            raise
        if self._best is None:
            return False
        finding = self._checked(self._best)
        self.shrinking += time.perf_counter() - self._met_at
        # Also as it was met first: the same cause, most likely.
        assert self._aim is not None
        first = {place for place in self._first if place.sort == self._aim.sort}
        self.known |= finding.places | first
        yield finding
        return True

    def _search(self, batches: SearchStrategy[Batch], number: int) -> None:
        @seed(number)
        @settings(
            max_examples=max(1, self._most - self.done),
            database=None,
            deadline=None,
            derandomize=False,
            phases=[Phase.generate, Phase.shrink],
            print_blob=False,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
            verbosity=Verbosity.quiet,
        )
        @given(batches)
        def search(batch: Batch) -> None:
            for inputs in batch:
                if self._aim is not None:
                    if self._wanted(inputs):
                        raise _Differs
                elif self.done >= self._most or self.given_up:
                    raise _Enough
                elif self._is_new(inputs) and self._tried(inputs):
                    raise _Differs

        search()

    def _is_new(self, inputs: dict[str, Any]) -> bool:
        """Tell whether an input was not tried before; simple ones are drawn again and again."""
        written = hash(repr(inputs))
        new = written not in self._seen
        self._seen.add(written)
        return new

    def _tried(self, inputs: dict[str, Any]) -> bool:
        """Try one more input; tell whether it shows a new difference, which is aimed at from then on."""
        self.done += 1
        finding = self._asked(inputs)
        self.declined += isinstance(finding.got, Unsupported)
        self.troubles += isinstance(finding.got, Misbehaved)
        new = finding.places - self.known
        if not new:
            self.met += bool(finding.places)
            return False
        self._aim = min(new, key=_rank)
        self._best, self._first = finding, new
        self._met_at = time.perf_counter()
        return True

    def _wanted(self, inputs: dict[str, Any]) -> bool:
        """Tell whether a smaller input still shows the sort of difference that is aimed at."""
        aim, best = self._aim, self._best
        assert aim is not None
        assert best is not None
        self._tries += 1
        late = isinstance(best.got, Misbehaved) and best.got.kind == "deadline"
        if self._tries > (_LATE if late else _SHRINKS[aim.kind]):
            raise _Enough
        return self._keeps(inputs)

    def _keeps(self, inputs: dict[str, Any]) -> bool:
        assert self._aim is not None
        assert self._best is not None
        finding = self._asked(inputs)
        # It must not slip into a difference that is known.
        if not any(place.sort == self._aim.sort for place in finding.places - self.known):
            return False
        if size(inputs) <= size(self._best.given):
            self._best = finding
        return True

    def _reduce(self) -> None:
        assert self._aim is not None
        assert self._best is not None
        late = isinstance(self._best.got, Misbehaved) and self._best.got.kind == "deadline"
        reduced(self._best.given, self._keeps, _LATE if late else _REDUCTIONS[self._aim.kind])

    def _checked(self, finding: Finding) -> Finding:
        again = self._asked(finding.given)
        if again.places == finding.places:
            return finding
        return Finding(
            self.op, finding.given, finding.expected, finding.got, finding.places, repeats=False
        )

    def _asked(self, inputs: dict[str, Any]) -> Finding:
        expected = self._reference.run(self.op, inputs, self._deadline)
        got = self._peer.run(self.op, inputs, self._deadline)
        return Finding(self.op, inputs, expected, got, places(expected, got))


def _rank(place: Place) -> tuple[str, ...]:
    return (place.kind, place.expected, place.got, place.hint, *place.path)


def _derived(number: int, op: str, turn: int) -> int:
    digest = hashlib.sha256(f"{number}/{op}/{turn}".encode()).digest()
    return int.from_bytes(digest[:8], "big")
