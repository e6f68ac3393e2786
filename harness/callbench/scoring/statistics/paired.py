"""Two runs on the same cases: the difference of a rate, its interval, its test.

A case gives each run a pair ``(a, b)``; the rate is sum(a) / sum(b). Everything is done by cluster,
a case of no cluster being one of its own (TRAPS D19: paired, clustered, seeded).

Tests, two-sided, of "it is all the same which of the two runs is which":

``mcnemar``
    Exact, where each cluster is one case that is right or wrong: binomial on the cases that differ.
``sign-flip``
    Permutation: each cluster's two results change places, all together or not. All ways are counted
    where the differences are whole numbers, or at most 14 clusters differ; else 10,000 seeded ones are drawn.

Intervals: percentiles of 1,000 seeded resamples of whole clusters, both runs together
(``bootstrap``). Where fewer than ten clusters differ, resampling claims too much: four cases lost
and none gained would be a sure loss, though p = 0.125. Then the interval is that of Bonett and Price
(2012), with two clusters added of which one gains and one loses, on the jackknife's standard error with
Student's t (``adjusted``). When no cluster differs, at most as large a share of them does as Wilson's
bound for none allows (``none-differ``). So it is where all clusters agree, as when nothing was right in
either run (``none-differ``) or all gained alike (``adjusted``): resampling would be certain. Clusters of different sizes are counted for all this as the number
of one size that say as much (``intervals.effective``): a dialogue that holds most cases is nearly alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from callbench.scoring.statistics.intervals import (
    LEVEL,
    RESAMPLES,
    ROUNDING,
    SEED,
    Pair,
    effective,
    freedom,
    wilson,
)
from callbench.scoring.statistics.power import detectable
from callbench.scoring.statistics.quantiles import student_quantile

ALPHA = round(1 - LEVEL, 10)
DRAWS = 10_000
ENUMERATED = 14
"""At most so many differing clusters have all their 2^n exchanges tried."""

FEW_CLUSTERS = 10
"""When fewer clusters differ, nothing is resampled."""

_LARGEST_COUNT = 50_000_000  # clusters times range of sums: some tenths of a second
_CELLS = 4_000_000  # of an array of draws held in memory at a time
_TIE = 1e-12

Verdict = Literal["better", "worse", "inconclusive"]
Group = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Pairing:
    """One case in both runs; ``cluster`` is ``""`` for none."""

    cluster: str
    baseline: Pair
    other: Pair


@dataclass(frozen=True, slots=True)
class Difference:
    """The other run's rate less the baseline's over the same ``pairs`` cases in ``clusters`` clusters.

    ``value`` and all that follows from it are ``None`` where one of the rates is over nothing.
    ``exact`` says that the test counted and did not draw. ``detectable``: see ``power``.
    """

    pairs: int
    clusters: int
    baseline: float | None = None
    other: float | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    method: str | None = None
    p: float | None = None
    test: str | None = None
    exact: bool = True
    detectable: float | None = None

    def verdict(self, p: float | None, margin: float = 0.0) -> Verdict:
        """Say what ``p``, corrected, and the interval allow to say.

        Better (worse): ``p`` is below 5 % and the whole interval is above ``margin`` (below minus
        ``margin``).
        """
        if p is None or p >= ALPHA or self.low is None or self.high is None:
            return "inconclusive"
        if self.low > margin:
            return "better"
        return "worse" if self.high < -margin else "inconclusive"

    def as_dict(self) -> dict[str, Any]:
        """Return it as it stands in the object of ``compare --json``."""
        told: dict[str, Any] = {
            "pairs": self.pairs,
            "clusters": self.clusters,
            "baseline": self.baseline,
            "other": self.other,
            "difference": {
                "value": self.value,
                "low": self.low,
                "high": self.high,
                "method": self.method,
            },
            "p": self.p,
            "test": self.test,
            "test_exact": self.exact,
            "detectable": self.detectable,
        }
        if self.method == "bootstrap":
            told["difference"]["seed"] = SEED
        if not self.exact:
            told["test_seed"] = SEED
        return told


def difference(pairings: Iterable[Pairing]) -> Difference:
    """Return the difference of two runs, from what each case gave in both."""
    sums: dict[str, list[float]] = {}
    alone: Counter[Group] = Counter()
    pairs = 0
    for one in pairings:
        pairs += 1
        four = (*one.baseline, *one.other)
        if not one.cluster:
            alone[four] += 1
            continue
        into = sums.setdefault(one.cluster, [0.0] * 4)
        for index, number in enumerate(four):
            into[index] += number
    groups = alone + Counter((f[0], f[1], f[2], f[3]) for f in sums.values())
    there = Counter({four: times for four, times in groups.items() if four[1] or four[3]})
    clusters = there.total()
    of_baseline = [math.fsum(four[i] * times for four, times in there.items()) for i in (0, 1)]
    of_other = [math.fsum(four[i] * times for four, times in there.items()) for i in (2, 3)]
    if not of_baseline[1] or not of_other[1]:
        return Difference(pairs, clusters)
    first, second = of_baseline[0] / of_baseline[1], of_other[0] / of_other[1]
    value = second - first
    squares, largest = _jackknife(there, (first, of_baseline[1]), (second, of_other[1]))
    error = math.sqrt(squares * (clusters - 1) / clusters)
    alike = effective((four[1] + four[3], times) for four, times in there.items())
    low, high, method = _interval(there, clusters, alike, value, error, largest)
    p, test, exact = _test(there)
    return Difference(
        pairs, clusters, first, second, value, low, high, method, p, test, exact,
        detectable(error, alike),
    )  # fmt: skip


def mcnemar(gained: int, lost: int) -> float:
    """Return the exact two-sided p-value of so many cases turned right and so many turned wrong."""
    n = gained + lost
    term = tail = 1  # binomial coefficients from n over 0
    for k in range(min(gained, lost)):
        term = term * (n - k) // (k + 1)
        tail += term
    return min(1.0, 2 * tail / (1 << n))


def _jackknife(
    groups: Counter[Group], first: tuple[float, float], second: tuple[float, float]
) -> tuple[float, float]:
    """Return the sum of the squares, and the greatest, of what the difference moves by without a cluster.

    ``first`` and ``second`` are the rates with their denominators. Infinite where one cluster is all
    that a rate is over.
    """
    squares, largest = [], 0.0
    for (a1, b1, a2, b2), times in groups.items():
        left1, left2 = first[1] - b1, second[1] - b2
        if min(left1 / first[1], left2 / second[1]) < ROUNDING:
            return math.inf, math.inf
        moved = (a2 - second[0] * b2) / left2 - (a1 - first[0] * b1) / left1
        squares.append(moved**2 * times)
        largest = max(largest, abs(moved))
    return math.fsum(squares), largest


def _interval(
    groups: Counter[Group], clusters: int, alike: float, value: float, error: float, largest: float
) -> tuple[float, float, str]:
    differing = [(f[1] + f[3], times) for f, times in groups.items() if f[:2] != f[2:]]
    if not differing or (value == 0 and error < ROUNDING):
        _, bound = wilson(0.0, alike)
        return -bound, bound, "none-differ"
    if not math.isfinite(error):
        return -1.0, 1.0, "adjusted"
    if effective(differing) < FEW_CLUSTERS - ROUNDING or error < ROUNDING:
        low, high = _adjusted(clusters, alike, value, error, largest)
        return max(-1.0, min(low, value)), min(1.0, max(high, value)), "adjusted"
    low, high = _bootstrap(groups, clusters)
    return min(low, value), max(high, value), "bootstrap"


def _adjusted(
    clusters: int, alike: float, value: float, error: float, largest: float
) -> tuple[float, float]:
    """Add a cluster that gains and one that loses as much as any."""
    less = clusters / (clusters + 2)
    added = max(largest * (clusters - 1) / clusters, abs(value) / clusters)
    squares = error**2 * (clusters - 1) / clusters + 2 * added**2
    variance = squares * less**2 * (clusters + 2) / (clusters + 1)
    half = student_quantile((1 + LEVEL) / 2, freedom(alike)) * math.sqrt(variance)
    return value * less - half, value * less + half


def _bootstrap(groups: Counter[Group], clusters: int) -> tuple[float, float]:
    import numpy as np

    fours = sorted(groups)
    numbers = np.array(fours, dtype=np.float64)
    times = np.array([groups[four] for four in fours], dtype=np.float64)
    generator = np.random.default_rng(SEED)
    drawn = []
    left = RESAMPLES
    while left:
        size = min(left, max(1, _CELLS // len(fours)))
        left -= size
        a1, b1, a2, b2 = (generator.multinomial(clusters, times / clusters, size) @ numbers).T
        both = (b1 > 0) & (b2 > 0)
        drawn.append(a2[both] / b2[both] - a1[both] / b1[both])
    low, high = np.quantile(np.concatenate(drawn), [ALPHA / 2, 1 - ALPHA / 2])
    return float(low), float(high)


def _test(groups: Counter[Group]) -> tuple[float, str, bool]:
    """Return the p-value, the name of the test, and whether it counted all ways."""
    same = all(b1 == b2 for _, b1, _, b2 in groups)
    changes: Counter[float] = Counter()
    for (a1, _, a2, _), times in groups.items():
        changes[a2 - a1] += times
    if all(four in _RIGHT_OR_WRONG for four in groups):
        return mcnemar(changes[1], changes[-1]), "mcnemar", True
    if same and all(float(change).is_integer() for change in changes):
        steps = [abs(int(change)) for change in changes.elements() if change]
        if len(steps) * sum(steps) <= _LARGEST_COUNT:
            total = sum(int(change) * times for change, times in changes.items())
            return _counted(sorted(steps), abs(total)), "sign-flip", True
    return _exchanged(groups)


_RIGHT_OR_WRONG = frozenset((a1, 1, a2, 1) for a1 in (0, 1) for a2 in (0, 1))


def _counted(steps: list[int], total: int) -> float:
    """Return the share of all sums of plus or minus ``steps`` that are as far from 0 as ``total``."""
    import numpy as np

    reach = sum(steps)
    chance = np.zeros(2 * reach + 1)
    chance[reach] = 1.0
    for step in steps:
        chance = (np.roll(chance, step) + np.roll(chance, -step)) / 2
    far = np.abs(np.arange(-reach, reach + 1)) >= total
    return min(1.0, float(chance[far].sum()))


def _exchanged(groups: Counter[Group]) -> tuple[float, str, bool]:
    """Exchange the two results of clusters and see how often the rates lie as far apart."""
    import numpy as np

    fours = np.array(sorted(groups.elements()), dtype=np.float64)
    moving = fours[(fours[:, :2] != fours[:, 2:]).any(axis=1)]
    totals = fours.sum(axis=0)
    change = moving[:, [2, 3, 0, 1]] - moving
    observed = abs(totals[2] / totals[3] - totals[0] / totals[1])
    number = len(moving)

    def as_far(exchanged: Any) -> int:
        sums = totals + exchanged @ change
        with np.errstate(invalid="ignore", divide="ignore"):
            apart = np.abs(sums[:, 2] / sums[:, 3] - sums[:, 0] / sums[:, 1])
        # A rate over nothing is not known to lie nearer.
        return int(np.count_nonzero(~(apart < observed - _TIE)))

    if number <= ENUMERATED:
        ways = (np.arange(2**number)[:, None] >> np.arange(number)) & 1
        return as_far(ways.astype(np.float64)) / 2**number, "sign-flip", True
    generator = np.random.default_rng(SEED)
    far = 0
    left = DRAWS
    while left:
        size = min(left, max(1, _CELLS // number))
        left -= size
        far += as_far(generator.integers(0, 2, (size, number)).astype(np.float64))
    return (far + 1) / (DRAWS + 1), "sign-flip", False
