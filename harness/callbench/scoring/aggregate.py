"""Rates over many cases: one definition of each statistic, shared by every report.

Intervals are 95 %. Proportions have Wilson's; F1 has a seeded percentile bootstrap of the counts
over cases. A rate over nothing has no value (``None``, shown as a dash): empty against empty is
neither 1 nor 0 here (TRAPS D16). Memory does not grow with the number of cases: only how often each
triple of counts came up is kept.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

LEVEL = 0.95
SEED = 20260312
RESAMPLES = 1000

_Z = NormalDist().inv_cdf((1 + LEVEL) / 2)


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate with its interval and the number of things it is over."""

    value: float | None
    low: float | None
    high: float | None
    n: int

    def as_dict(self) -> dict[str, float | int | None]:
        """Return the rate as it stands in ``summary.json`` and in ``--json`` output."""
        return {"value": self.value, "low": self.low, "high": self.high, "n": self.n}


def proportion(successes: int, n: int) -> Rate:
    """Return ``successes`` out of ``n`` with Wilson's score interval (no continuity correction)."""
    if n == 0:
        return Rate(None, None, None, 0)
    share = successes / n
    spread = _Z * _Z / n
    center = share + spread / 2
    half = _Z * math.sqrt(share * (1 - share) / n + spread / (4 * n))
    # At the ends the bound is the end itself; the division leaves it a rounding error away.
    low = 0.0 if successes == 0 else (center - half) / (1 + spread)
    high = 1.0 if successes == n else (center + half) / (1 + spread)
    return Rate(share, low, high, n)


@dataclass(slots=True)
class SlotCounts:
    """True positives, false positives and false negatives, summed and by case."""

    by_case: Counter[tuple[int, int, int]] = field(default_factory=Counter)

    def add(self, counts: tuple[int, int, int]) -> None:
        """Count one case."""
        self.by_case[counts] += 1

    @property
    def total(self) -> tuple[int, int, int]:
        """The sums over all cases."""
        sums = [0, 0, 0]
        for triple, times in self.by_case.items():
            for index, count in enumerate(triple):
                sums[index] += count * times
        return (sums[0], sums[1], sums[2])

    def precision(self) -> Rate:
        """Right slots among those filled."""
        tp, fp, _ = self.total
        return proportion(tp, tp + fp)

    def recall(self) -> Rate:
        """Right slots among those expected."""
        tp, _, fn = self.total
        return proportion(tp, tp + fn)

    def f1(self) -> Rate:
        """2 tp / (2 tp + fp + fn); ``n`` is the number of slots filled or expected.

        The interval resamples cases, not slots, since the slots of one case hang together. Where
        every slot has the same result resampling cannot vary; the interval is then Wilson's for
        the share tp / (tp + fp + fn), carried over by F1 = 2 share / (1 + share).
        """
        tp, fp, fn = self.total
        n = tp + fp + fn
        if n == 0:
            return Rate(None, None, None, 0)
        value = 2 * tp / (2 * tp + fp + fn)
        if tp == 0 or fp + fn == 0 or self.by_case.total() == 1:
            share = proportion(tp, n)
            return Rate(value, _f1_of(share.low), _f1_of(share.high), n)
        low, high = self._bootstrap()
        return Rate(value, min(low, value), max(high, value), n)

    def _bootstrap(self) -> tuple[float, float]:
        import numpy as np

        # Sorted, so that the order in which cases ended decides nothing.
        triples = sorted(self.by_case)
        times = np.array([self.by_case[triple] for triple in triples], dtype=np.float64)
        cases = int(times.sum())
        draws = np.random.default_rng(SEED).multinomial(cases, times / cases, size=RESAMPLES)
        tp, fp, fn = (draws @ np.array(triples, dtype=np.int64)).T
        below = 2 * tp + fp + fn
        f1 = np.divide(2 * tp, below, out=np.ones(RESAMPLES), where=below > 0)
        low, high = np.quantile(f1[below > 0], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return float(low), float(high)


def _f1_of(share: float | None) -> float | None:
    return None if share is None else 2 * share / (1 + share)


@dataclass(slots=True)
class Tally:
    """Counts over the cases of one group, fed record by record (see ``record.py``)."""

    cases: int = 0
    provider_errors: int = 0
    unparsed: int = 0
    repaired: int = 0
    exact: int = 0
    exact_strict: int = 0
    exact_repaired: int = 0
    schema_valid: int = 0
    counts: SlotCounts = field(default_factory=SlotCounts)

    def add(self, record: dict[str, Any], counts: tuple[int, int, int]) -> None:
        """Count one record; ``counts`` are those of its slots."""
        self.cases += 1
        if record["status"] == "provider_error":
            self.provider_errors += 1
            return
        self.unparsed += record["status"] == "unparsed"
        self.repaired += record["repaired"]
        self.exact += record["exact"]
        self.exact_strict += record["exact_strict"]
        self.exact_repaired += record["repaired"] and record["exact"]
        self.schema_valid += record["schema_valid"]
        self.counts.add(counts)

    @property
    def scored(self) -> int:
        """Cases in every rate's denominator: all but provider errors; unparsed ones are wrong."""
        return self.cases - self.provider_errors

    def as_dict(self) -> dict[str, Any]:
        """Return counts and rates; ``cases == scored + provider_errors`` always."""
        return {
            "cases": self.cases,
            "scored": self.scored,
            "unparsed": self.unparsed,
            "provider_errors": self.provider_errors,
            "repaired": self.repaired,
            "exact": proportion(self.exact, self.scored).as_dict(),
            "exact_strict": proportion(self.exact_strict, self.scored).as_dict(),
            "exact_all": proportion(self.exact, self.cases).as_dict(),
            "exact_repaired": proportion(self.exact_repaired, self.repaired).as_dict(),
            "slot_precision": self.counts.precision().as_dict(),
            "slot_recall": self.counts.recall().as_dict(),
            "slot_f1": self.counts.f1().as_dict(),
            "schema_valid": proportion(self.schema_valid, self.scored).as_dict(),
        }
