"""Comparing runs with the first of them: what ``callbench compare`` computes.

The object of ``--json``::

    {"metric": "exact", "level": 0.95, "margin": 0.0, "seed": 20260312, "by": null,
     "dataset": "everyday", "cases": 216,
     "baseline": {"name", "dir", "run_id", "cases", "scored", "unparsed", "provider_errors",
                  "left_out", "ended_early": null or a text, "rate": {…}},
     "models": [{…as the baseline…,
                 "difference": {"value", "low", "high", "method", "seed"?}, "pairs", "clusters",
                 "p", "test", "test_exact", "test_seed"?, "p_holm", "detectable", "verdict",
                 "provider_error_pairs": 0,
                 "changed": {"by": "exact", "gained": 3, "lost": 11, "gained_ids": […], "lost_ids": […]},
                 "slices": [{"name", "baseline", "other", "difference", …, "p_bh", "verdict"}]}]}

``rate`` is a run's own, over the joined cases. ``difference`` is over the ``pairs``: the joined cases
that both runs scored; ``provider_error_pairs`` counts those that one of them did not (``exact_all``
has none: there an error is wrong). With repeats a case counts with the mean of its scored answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from callbench.errors import UsageError
from callbench.report.cells import early
from callbench.report.joined import CaseResult, Joined, RunResults, join, metric_named
from callbench.scoring.aggregate import CASE_METRICS, METRICS, rate_of
from callbench.scoring.statistics.intervals import LEVEL, SEED, Pair
from callbench.scoring.statistics.multiplicity import benjamini_hochberg, holm
from callbench.scoring.statistics.paired import Difference, Pairing, difference
from callbench.scoring.statistics.sums import Counts

SLICED_BY = ("lang", "tag", "type")
SHOWN = 10
"""How many of the cases that changed are named."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of the runs; ``by`` slices, ``shown`` bounds the ids of changed cases."""

    metric: str = "exact"
    by: str | None = None
    margin: float = 0.0
    common: bool = False
    shown: int = SHOWN

    def check(self) -> None:
        """Raise :class:`UsageError` where it cannot be answered."""
        metric_named(self.metric)
        if self.by is not None and self.by not in SLICED_BY:
            raise UsageError(
                f'--by "{self.by}": there are no such slices.',
                remedy=f"Slices: {', '.join(SLICED_BY)}.",
            )
        if self.by == "type" and self.metric in CASE_METRICS:
            raise UsageError(
                f"--by type needs a metric of slots; {self.metric} is one of cases.",
                remedy="Take --metric slot_f1, slot_precision or slot_recall.",
            )
        if not 0 <= self.margin < 1:
            raise UsageError(f"--margin must be from 0 to 1, not {self.margin:g}.")


def compare(paths: Sequence[Path], question: Question) -> dict[str, Any]:
    """Compare runs with the first; return the object described above."""
    question.check()
    if len(paths) < 2:
        raise UsageError(
            "Comparing needs two runs or more.", remedy="callbench compare BASELINE RUN"
        )
    joined = join(paths, common=question.common)
    baseline, *others = joined.runs
    found = [_difference(joined, run, question.metric) for run in others]
    models = [
        {
            **_standing(joined, index, question.metric),
            **_told(one),
            "p_holm": corrected,
            "verdict": one.verdict(corrected, question.margin),
            "provider_error_pairs": len(joined.ids) - one.pairs,
            "changed": _changed(joined, run, question),
            **({} if question.by is None else {"slices": _slices(joined, run, question)}),
        }
        for index, (run, one, corrected) in enumerate(
            zip(others, found, _corrected(holm, found), strict=True), start=1
        )
    ]
    return {
        "metric": question.metric,
        "level": LEVEL,
        "margin": question.margin,
        "seed": SEED,
        "by": question.by,
        "dataset": baseline.info.get("dataset"),
        "cases": len(joined.ids),
        "baseline": _standing(joined, 0, question.metric),
        "models": models,
    }


def _told(one: Difference) -> dict[str, Any]:
    told = one.as_dict()
    del told["baseline"], told["other"]
    return told


def _standing(joined: Joined, index: int, metric: str) -> dict[str, Any]:
    run = joined.runs[index]
    groups: dict[str, list[int]] = {}
    for name in joined.ids:
        case = run.cases[name]
        sums = groups.setdefault(case.cluster or f"\0{name}", [0] * len(case.counts))
        for at, count in enumerate(case.counts):
            sums[at] += count
    sums_of_clusters = Counter(map(tuple, groups.values()))
    return {
        "name": run.name,
        "dir": str(run.directory),
        "run_id": run.info.get("run_id"),
        **_totals(joined, run),
        "left_out": joined.left_out[index],
        "ended_early": early(run.info, sum(case.answers for case in run.cases.values())) or None,
        "rate": rate_of(metric, sums_of_clusters).as_dict(),
    }


def _totals(joined: Joined, run: RunResults) -> dict[str, int]:
    counts = [run.cases[name].counts for name in joined.ids]
    cases, failed, unparsed = (sum(one[at] for one in counts) for at in range(3))
    return {
        "cases": cases,
        "scored": cases - failed,
        "unparsed": unparsed,
        "provider_errors": failed,
    }


def _mean(case: CaseResult, metric: str) -> Pair | None:
    """Return a metric's pair, the mean over the scored answers; ``None`` when there is none."""
    answers = case.answers if metric == "exact_all" else case.scored
    return _shared(METRICS[metric](case.counts), answers)


def _shared(pair: Pair, answers: int) -> Pair | None:
    if answers == 0:
        return None
    return pair if answers == 1 else (pair[0] / answers, pair[1] / answers)


def _mean_of_type(kind: str, metric: str) -> Callable[[CaseResult], Pair | None]:
    def mean(case: CaseResult) -> Pair | None:
        counts: Counts = (0,) * 8 + case.of_type(kind)
        return _shared(METRICS[metric](counts), case.scored)

    return mean


def _difference(joined: Joined, run: RunResults, metric: str) -> Difference:
    return difference(_pairings(joined, run, lambda case: _mean(case, metric)))


def _pairings(
    joined: Joined,
    run: RunResults,
    mean: Callable[[CaseResult], Pair | None],
    wanted: Callable[[CaseResult], bool] = lambda case: True,
) -> Iterator[Pairing]:
    cases = joined.runs[0].cases
    for name in joined.ids:
        if wanted(cases[name]):
            first, second = mean(cases[name]), mean(run.cases[name])
            if first is not None and second is not None:
                yield Pairing(cases[name].cluster, first, second)


def _corrected(
    correct: Callable[[Sequence[float]], list[float]], found: Sequence[Difference]
) -> list[float | None]:
    """Correct the p-values there are; a question without an answer was none."""
    adjusted = iter(correct([one.p for one in found if one.p is not None]))
    return [None if one.p is None else next(adjusted) for one in found]


def _slices(joined: Joined, run: RunResults, question: Question) -> list[dict[str, Any]]:
    cases = [joined.runs[0].cases[name] for name in joined.ids]
    metric = question.metric
    found: list[tuple[str, Difference]] = []
    if question.by == "type":
        both = (*cases, *(run.cases[name] for name in joined.ids))
        for kind in sorted({kind for case in both for kind, _ in case.types}):
            of_type = _mean_of_type(kind, metric)
            pairings = _pairings(joined, run, of_type)
            there = (one for one in pairings if one.baseline[1] or one.other[1])
            found.append((kind, difference(there)))
    else:
        for name in sorted({name for case in cases for name in _names(case, question.by)}):
            chosen = _pairings(
                joined,
                run,
                lambda case: _mean(case, metric),
                lambda case, name=name: name in _names(case, question.by),  # type: ignore[misc]
            )
            found.append((name, difference(chosen)))
    corrected = _corrected(benjamini_hochberg, [one for _, one in found])
    return [
        {
            "name": name,
            **one.as_dict(),
            "p_bh": p,
            "verdict": one.verdict(p, question.margin),
        }
        for (name, one), p in zip(found, corrected, strict=True)
    ]


def _names(case: CaseResult, by: str | None) -> tuple[str, ...]:
    return (case.lang,) if by == "lang" else case.tags


def _changed(joined: Joined, run: RunResults, question: Question) -> dict[str, Any]:
    """Return which cases turned, by the metric if cases have it, else by whether they are exact."""
    by = question.metric if question.metric in CASE_METRICS else "exact"
    gained: list[str] = []
    lost: list[str] = []
    for name in joined.ids:
        first, second = _mean(joined.runs[0].cases[name], by), _mean(run.cases[name], by)
        if first is not None and second is not None and first[0] != second[0]:
            (gained if second[0] > first[0] else lost).append(name)
    return {
        "by": by,
        "gained": len(gained),
        "lost": len(lost),
        "gained_ids": gained[: question.shown],
        "lost_ids": lost[: question.shown],
    }
