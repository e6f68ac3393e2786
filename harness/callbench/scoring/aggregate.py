"""Counts over many cases and their rates: one definition of each, shared by every report.

How intervals are made stands in :mod:`callbench.scoring.statistics.intervals`. A rate over nothing
has no value (``None``, shown as a dash): empty against empty is neither 1 nor 0 here (TRAPS D16).
Memory grows with the number of clusters, by one entry each; cases of no cluster are kept only as
how often each set of counts came up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from callbench.scoring.statistics.intervals import (
    LEVEL,
    RESAMPLES,
    SEED,
    Pair,
    Rate,
    proportion,
    ratio,
)
from callbench.scoring.statistics.intervals import f1 as f1_rate
from callbench.scoring.statistics.sums import ClusterSums, Counts

Metric = Callable[[Counts], Pair]

__all__ = [
    "CASE_METRICS",
    "LEVEL",
    "METRICS",
    "RESAMPLES",
    "SEED",
    "Rate",
    "SlotCounts",
    "Tally",
    "case_counts",
    "proportion",
    "rate_of",
]

_CASE = (
    "cases",
    "provider_errors",
    "unparsed",
    "repaired",
    "exact",
    "exact_strict",
    "exact_repaired",
    "schema_valid",
)
_SLOT = ("tp", "fp", "fn")
_AT = {name: index for index, name in enumerate((*_CASE, *_SLOT))}


@dataclass(slots=True)
class SlotCounts:
    """True positives, false positives and false negatives, summed by cluster."""

    _sums: ClusterSums = field(default_factory=ClusterSums)

    def add(self, counts: tuple[int, int, int], cluster: str = "") -> None:
        """Count one case."""
        self._sums.add(counts, cluster)

    @property
    def total(self) -> tuple[int, int, int]:
        """The sums over all cases."""
        tp, fp, fn = self._sums.total(3)
        return (tp, fp, fn)

    def rates(self) -> dict[str, Rate]:
        """Return precision (of those filled), recall (of those expected) and F1 by name."""
        return _slot_rates(self._sums.groups(), 0)


@dataclass(slots=True)
class Tally:
    """Counts over the cases of one group, fed record by record (see ``record.py``)."""

    _sums: ClusterSums = field(default_factory=ClusterSums)

    def add(self, record: dict[str, Any], counts: tuple[int, int, int], cluster: str = "") -> None:
        """Count one record; ``counts`` are those of its slots, ``cluster`` what it belongs to."""
        self.count(case_counts(record, counts), cluster)

    def count(self, counts: Counts, cluster: str = "") -> None:
        """Count one record by its :func:`case_counts`, made once for several tallies."""
        self._sums.add(counts, cluster)

    def as_dict(self) -> dict[str, Any]:
        """Return counts and rates; ``cases == scored + provider_errors`` always.

        Every rate is over the scored cases, which are all but provider errors; unparsed ones are
        wrong. ``exact_all`` is over all cases, ``exact_repaired`` over the repaired.
        """
        groups = self._sums.groups()
        total = dict(zip(_AT, self._sums.total(len(_AT)), strict=True))
        slots = _slot_rates(groups, len(_CASE))
        return {
            "cases": total["cases"],
            "scored": total["cases"] - total["provider_errors"],
            "unparsed": total["unparsed"],
            "provider_errors": total["provider_errors"],
            "repaired": total["repaired"],
            "exact": rate_of("exact", groups).as_dict(),
            "exact_strict": rate_of("exact_strict", groups).as_dict(),
            "exact_all": rate_of("exact_all", groups).as_dict(),
            "exact_repaired": ratio(_pairs(groups, _repaired)).as_dict(),
            **{name: rate.as_dict() for name, rate in slots.items()},
            "schema_valid": rate_of("schema_valid", groups).as_dict(),
        }


def case_counts(record: dict[str, Any], counts: tuple[int, int, int]) -> Counts:
    """Return a record's counts, one for each thing that is counted."""
    if record["status"] == "provider_error":
        return (1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    repaired, exact = record["repaired"], record["exact"]
    return (
        1,
        0,
        int(record["status"] == "unparsed"),
        int(repaired),
        int(exact),
        int(record["exact_strict"]),
        int(repaired and exact),
        int(record["schema_valid"]),
        *counts,
    )


def _of_scored(name: str) -> Metric:
    at = _AT[name]
    return lambda counts: (counts[at], counts[0] - counts[1])


METRICS: dict[str, Metric] = {
    "exact": _of_scored("exact"),
    "exact_strict": _of_scored("exact_strict"),
    "exact_all": lambda counts: (counts[_AT["exact"]], counts[0]),
    "slot_precision": lambda counts: (counts[-3], counts[-3] + counts[-2]),
    "slot_recall": lambda counts: (counts[-3], counts[-3] + counts[-1]),
    "slot_f1": lambda counts: (2 * counts[-3], 2 * counts[-3] + counts[-2] + counts[-1]),
    "schema_valid": _of_scored("schema_valid"),
}
"""Every metric that runs are compared by: the two numbers, from :func:`case_counts`, whose sums it
is the ratio of."""

CASE_METRICS = frozenset({"exact", "exact_strict", "exact_all", "schema_valid"})
"""Those that a case either has or has not."""


def rate_of(metric: str, groups: Counter[Counts]) -> Rate:
    """Return a metric of :data:`METRICS` from the sums of case counts by cluster."""
    if metric in CASE_METRICS:
        return ratio(_pairs(groups, METRICS[metric]))
    return _slot_rates(groups, len(_CASE))[metric]


def _pairs(groups: Counter[Counts], metric: Metric) -> Counter[Pair]:
    pairs: Counter[Pair] = Counter()
    for sums, times in groups.items():
        pairs[metric(sums)] += times
    return pairs


def _repaired(counts: Counts) -> Pair:
    return (counts[_AT["exact_repaired"]], counts[_AT["repaired"]])


def _slot_rates(groups: Counter[Counts], start: int) -> dict[str, Rate]:
    filled: Counter[Pair] = Counter()
    expected: Counter[Pair] = Counter()
    triples: Counter[tuple[int, int, int]] = Counter()
    for sums, times in groups.items():
        tp, fp, fn = sums[start : start + 3]
        filled[(tp, tp + fp)] += times
        expected[(tp, tp + fn)] += times
        triples[(tp, fp, fn)] += times
    return {
        "slot_precision": ratio(filled),
        "slot_recall": ratio(expected),
        "slot_f1": f1_rate(triples),
    }
