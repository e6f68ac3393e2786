"""The summary of a run: one pass over its records, keeping counts and never a record.

Counts are kept by cluster, and eight bytes a case for each latency and speed.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from callbench.report.repeated import Repeated
from callbench.scoring.aggregate import SlotCounts, Tally, case_counts
from callbench.scoring.result import FALSE_NEGATIVE, FALSE_POSITIVE, TRUE_POSITIVE


@dataclass(frozen=True, slots=True)
class Prices:
    """What a model's tokens cost, per million."""

    prompt: float
    completion: float
    currency: str = "USD"


def counts_of(slots: Iterable[dict[str, Any]]) -> tuple[int, int, int]:
    """Return true positives, false positives and false negatives of recorded slots."""
    tp = fp = fn = 0
    for slot in slots:
        verdict = slot["verdict"]
        tp += verdict in TRUE_POSITIVE
        fp += verdict in FALSE_POSITIVE
        fn += verdict in FALSE_NEGATIVE
    return tp, fp, fn


def cluster_of(record: dict[str, Any]) -> str:
    """Return what a record hangs together with: its dialogue, else the repeats of its case."""
    cluster = str(record.get("cluster") or "")
    return cluster or (f"\0{record['id']}" if "repeat" in record else "")


class Summary:
    """Adds up records; :meth:`as_dict` is one row of ``summary.json``.

    Models and baselines have rows of the same shape. Slices by language and by tag hold the case
    and slot rates, by slot type the slot rates, by stage how many of the values that it filled were
    right. A case with several tags counts in each of them.
    """

    def __init__(self, name: str, prices: Prices | None = None) -> None:
        self.name = name
        self._prices = prices
        self._all = Tally()
        self._by_lang: defaultdict[str, Tally] = defaultdict(Tally)
        self._by_tag: defaultdict[str, Tally] = defaultdict(Tally)
        self._by_type: defaultdict[str, SlotCounts] = defaultdict(SlotCounts)
        self._by_stage: defaultdict[str, SlotCounts] = defaultdict(SlotCounts)
        self._repeated = Repeated()
        self._verdicts: Counter[str] = Counter()
        self._rungs: Counter[str] = Counter()
        self._origins: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._calls = 0
        self._tokens = {"prompt_tokens": 0, "completion_tokens": 0}
        self._untold = 0
        self._ms = array("d")
        self._first_ms = array("d")
        self._first_token_ms = array("d")
        self._speed = array("d")

    def add(self, record: dict[str, Any]) -> None:
        """Count one record, see :func:`callbench.scoring.record.case_record`."""
        slots = record["slots"]
        counts = counts_of(slots)
        cluster = cluster_of(record)
        of_case = case_counts(record, counts)
        self._all.count(of_case, cluster)
        self._by_lang[record["lang"]].count(of_case, cluster)
        for tag in record["tags"]:
            self._by_tag[tag].count(of_case, cluster)
        if "repeat" in record:
            self._repeated.add(record, counts, cluster)
        of_type: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        of_stage: dict[str, list[int]] = {}
        for slot in slots:
            of_type[slot["type"]].append(slot)
            verdict = slot["verdict"]
            self._verdicts[verdict] += 1
            if slot["rung"]:
                self._rungs[slot["rung"]] += 1
            if slot.get("origin"):
                self._origins[verdict][slot["origin"]] += 1
            if slot["stage"] and verdict in TRUE_POSITIVE | FALSE_POSITIVE:
                of_stage.setdefault(slot["stage"], [0, 0])[verdict in FALSE_POSITIVE] += 1
        for name, group in of_type.items():
            self._by_type[name].add(counts_of(group), cluster)
        for name, (right, wrong) in of_stage.items():
            self._by_stage[name].add((right, wrong, 0), cluster)
        self._add_cost(record)

    def _add_cost(self, record: dict[str, Any]) -> None:
        self._calls += record["calls"]
        for key in self._tokens:
            self._tokens[key] += record[key] or 0
        told = record["prompt_tokens"] is not None and record["completion_tokens"] is not None
        self._untold += record["calls"] > 0 and not told
        if record["status"] != "provider_error":
            timing = record["timing"]
            self._ms.append(timing["ms"])
            if timing["first_event_ms"] is not None:
                self._first_ms.append(timing["first_event_ms"])
            if timing.get("first_token_ms") is not None:  # records of older versions lack it
                self._first_token_ms.append(timing["first_token_ms"])
            if timing.get("tokens_per_second") is not None:
                self._speed.append(timing["tokens_per_second"])

    def as_dict(self) -> dict[str, Any]:
        """Return the row. ``cost`` is ``None`` without prices or where a token count is unknown.

        ``repeats`` is there only for a run that asked each case several times.
        """
        return {
            "name": self.name,
            **self._all.as_dict(),
            "verdicts": dict(sorted(self._verdicts.items())),
            "rungs": dict(sorted(self._rungs.items())),
            "origins": {
                verdict: dict(sorted(one.items())) for verdict, one in sorted(self._origins.items())
            },
            **self._repeated.as_dict(),
            "calls": self._calls,
            **self._tokens,
            "cases_without_usage": self._untold,
            "cost": self._cost(),
            "latency_ms": _quantiles(self._ms),
            "first_event_ms": _quantiles(self._first_ms),
            "first_token_ms": _quantiles(self._first_token_ms),
            "tokens_per_second": _quantiles(self._speed),
            "by": {
                "lang": {key: tally.as_dict() for key, tally in sorted(self._by_lang.items())},
                "tag": {key: tally.as_dict() for key, tally in sorted(self._by_tag.items())},
                "type": {key: _slot_rates(one) for key, one in sorted(self._by_type.items())},
                "stage": {key: _stage_rates(one) for key, one in sorted(self._by_stage.items())},
            },
        }

    def _cost(self) -> dict[str, Any] | None:
        if self._prices is None or self._untold:
            return None
        prompt = self._tokens["prompt_tokens"] * self._prices.prompt
        completion = self._tokens["completion_tokens"] * self._prices.completion
        return {"value": (prompt + completion) / 1e6, "currency": self._prices.currency}


def summarize(
    name: str, records: Iterable[dict[str, Any]], prices: Prices | None = None
) -> dict[str, Any]:
    """Return the summary row of an iterable of records."""
    summary = Summary(name, prices)
    for record in records:
        summary.add(record)
    return summary.as_dict()


def _slot_rates(counts: SlotCounts) -> dict[str, Any]:
    tp, fp, fn = counts.total
    return {
        "tp": tp,
        "fp": fp,
        "fn": fn,
        **{name: rate.as_dict() for name, rate in counts.rates().items()},
    }


def _stage_rates(filled: SlotCounts) -> dict[str, Any]:
    tp, fp, _ = filled.total
    return {"tp": tp, "fp": fp, "slot_precision": filled.rates()["slot_precision"].as_dict()}


def _quantiles(values: array[float]) -> dict[str, float | int | None]:
    """Return the median and the 95th percentile, interpolated linearly, and their number."""
    ordered = sorted(values)
    return {"p50": _at(ordered, 0.5), "p95": _at(ordered, 0.95), "n": len(ordered)}


def _at(ordered: list[float], share: float) -> float | None:
    if not ordered:
        return None
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return round(ordered[below] + (ordered[above] - ordered[below]) * (place - below), 3)
