"""What a run with ``--repeats`` says beside its rates: pass@k, pass^k, the spread between repeats.

In the summary row, only for such a run::

    "repeats": {"repeats": 5, "cases": 216,
                "pass_at": {"1": rate, …}, "pass_all": {"1": rate, …},
                "between": {"exact": {"runs": 5, "sd": 0.011, "low": 0.41, "high": 0.44}, …}}

``pass_at[k]``: at least one of k answers exact; ``pass_all[k]`` (pass^k): all k. Both are means over
the cases with at least k scored answers, which their ``n`` counts. ``between``: each metric of each
repeat alone; ``sd`` is their standard deviation, ``low`` and ``high`` the least and the greatest.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from callbench.scoring.aggregate import SlotCounts, case_counts
from callbench.scoring.statistics.repeats import (
    mean_by_cluster,
    pass_all,
    pass_at,
    spread,
    steps,
)

METRICS = ("exact", "exact_strict", "slot_precision", "slot_recall", "slot_f1", "schema_valid")


@dataclass(slots=True)
class _Case:
    cluster: str
    right: int = 0
    answers: int = 0


@dataclass(slots=True)
class Repeated:
    """Adds up the records of a run with repeats."""

    _cases: dict[str, _Case] = field(default_factory=dict)
    _runs: defaultdict[int, list[int]] = field(
        default_factory=lambda: defaultdict(lambda: [0] * 11)
    )

    def add(self, record: dict[str, Any], counts: tuple[int, int, int], cluster: str) -> None:
        """Count one answer."""
        case = self._cases.setdefault(record["id"], _Case(cluster))
        if record["status"] != "provider_error":
            case.answers += 1
            case.right += record["exact"]
        sums = self._runs[record["repeat"]]
        for index, count in enumerate(case_counts(record, counts)):
            sums[index] += count

    def as_dict(self) -> dict[str, Any]:
        """Return ``{"repeats": …}``, nothing for a run without repeats."""
        if not self._runs:
            return {}
        most = max(self._runs) + 1
        return {
            "repeats": {
                "repeats": most,
                "cases": len(self._cases),
                "pass_at": self._passes(pass_at, most),
                "pass_all": self._passes(pass_all, most),
                "between": self._between(),
            }
        }

    def _passes(self, estimate: Any, most: int) -> dict[str, Any]:
        return {
            str(k): mean_by_cluster(
                (
                    estimate(case.right, case.answers, k),
                    "" if case.cluster.startswith("\0") else case.cluster,
                )
                for case in self._cases.values()
                if case.answers >= k
            ).as_dict()
            for k in steps(most)
        }

    def _between(self) -> dict[str, Any]:
        values: defaultdict[str, list[float]] = defaultdict(list)
        for _, sums in sorted(self._runs.items()):
            for name, value in _values(sums).items():
                if value is not None:
                    values[name].append(value)
        return {
            name: {
                "runs": len(values[name]),
                "sd": spread(values[name]),
                "low": min(values[name], default=None),
                "high": max(values[name], default=None),
            }
            for name in METRICS
        }


def _values(sums: list[int]) -> dict[str, float | None]:
    cases, failed, _, _, exact, strict, _, valid, *slots = sums
    scored = cases - failed
    counts = SlotCounts()
    counts.add((slots[0], slots[1], slots[2]))
    return {
        "exact": exact / scored if scored else None,
        "exact_strict": strict / scored if scored else None,
        "schema_valid": valid / scored if scored else None,
        **{name: rate.value for name, rate in counts.rates().items()},
    }
