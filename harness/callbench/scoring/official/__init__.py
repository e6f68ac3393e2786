"""Official scorers: the published rules of public sets, named and versioned, beside our own.

>>> from callbench.scoring import official
>>> official.score("bfcl-ast", cases, {case.id: arguments})["metrics"]   # doctest: +SKIP

A prediction is an argument object, ``None`` for a reply that could not be read, or an
:class:`~callbench.scoring.outcome.Outcome`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from callbench.dataset.case import Case
from callbench.errors import DatasetError, UsageError
from callbench.scoring.official import bfcl, hammerbench, sgd, spans, trade
from callbench.scoring.official.scorer import Arguments, Result, Scorer, said
from callbench.scoring.outcome import Outcome

SCORERS: dict[str, Scorer] = {
    one.name: one
    for one in (
        bfcl.SCORER,
        sgd.FUZZY,
        sgd.EXACT,
        trade.SCORER,
        spans.SCORER,
        hammerbench.SCORER,
    )
}
"""The official scorers by name."""

__all__ = ["SCORERS", "Scorer", "Scoring", "said", "score", "scorer"]


def scorer(name: str) -> Scorer:
    """Return a scorer by name, or by ``name@version``.

    Raises :class:`UsageError` for an unknown one and for a version that is not this one's.
    """
    found = SCORERS.get(name.partition("@")[0])
    if found is None or name not in (found.name, found.label):
        known = ", ".join(one.label for one in SCORERS.values())
        raise UsageError(f"There is no scorer {name}.", remedy=f"There are: {known}.")
    return found


class Scoring:
    """Scores predictions one by one with one scorer; :meth:`as_dict` is ``scores.<name>.json``."""

    def __init__(self, rule: Scorer) -> None:
        self.rule = rule
        self._judged: list[tuple[str, Result]] = []
        self._results: list[dict[str, Any]] = []
        self._provider_errors = 0
        self._unparsed = 0

    def add(self, case: Case, prediction: Outcome | Arguments | None, **place: int) -> None:
        """Score one prediction; ``place`` (as ``repeat``) tells those of one case apart."""
        if isinstance(prediction, Outcome):
            if prediction.status == "provider_error":
                self._provider_errors += 1
                self._results.append({"id": case.id, **place, "status": "provider_error"})
                return
            prediction = said(case, prediction)
        result = self.rule.judge(case, prediction)
        self._unparsed += prediction is None
        # Answers to one case hang together as the turns of a dialogue do.
        self._judged.append((case.cluster or (f"case {case.id}" if place else ""), result))
        self._results.append({"id": case.id, **place, **result})

    def as_dict(self) -> dict[str, Any]:
        """Return metrics with intervals, counts, and the result of each case.

        ``cases == scored + provider_errors``; every metric is over the scored, unparsed ones included.
        """
        rule = self.rule
        return {
            "scorer": rule.label,
            "summary": rule.summary,
            "source": rule.source,
            "cases": len(self._results),
            "scored": len(self._judged),
            "unparsed": self._unparsed,
            "provider_errors": self._provider_errors,
            "metrics": {name: rate.as_dict() for name, rate in rule.total(self._judged).items()},
            "results": self._results,
        }


def score(
    name: str,
    cases: Iterable[Case],
    predictions: Mapping[str, Outcome | Arguments | None],
) -> dict[str, Any]:
    """Score predictions by case id, see :meth:`Scoring.as_dict`.

    Raises :class:`DatasetError` unless every case has a prediction and every prediction a case.
    """
    scoring = Scoring(scorer(name))
    left = dict(predictions)
    for case in cases:
        if case.id not in left:
            raise DatasetError(
                f"Case {case.id} has no prediction.",
                remedy="Give None for a reply that could not be read.",
            )
        scoring.add(case, left.pop(case.id))
    if left:
        raise DatasetError(f"There is no case {next(iter(left))} for a prediction of that id.")
    return scoring.as_dict()
