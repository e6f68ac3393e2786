"""Gates of a run: thresholds that end ``callbench run`` with exit code 1.

``--fail-under METRIC=VALUE`` looks at the metric's own value: a threshold is a promise about this
run. Its interval is shown beside it. A rate over nothing fails.

``--baseline RUN --max-regression METRIC=SIZE`` looks at the interval of the paired difference (this
run less the baseline): it fails only when a regression of more than ``SIZE`` is established, that is when
the whole 95 % interval lies below minus ``SIZE``. It passes when the whole interval lies at or above
minus ``SIZE``, or when no case turned; between these it is *inconclusive*, which is said and is no
failure: more cases, or repeats, would decide it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from callbench.errors import CallbenchError, ExitCode, UsageError
from callbench.scoring.aggregate import METRICS

Result = Literal["passed", "failed", "inconclusive"]

RATES = (*METRICS, "exact_repaired")
"""The rates of a summary that may have a lower bound."""


class GateFailed(CallbenchError):
    """A run that is worse than it was allowed to be."""

    exit_code = ExitCode.FINDING


@dataclass(frozen=True, slots=True)
class Gate:
    """One threshold: a metric and its bound."""

    metric: str
    bound: float


@dataclass(frozen=True, slots=True)
class Gates:
    """What a run must hold; ``baseline`` is a run's directory, for ``max_regression``."""

    fail_under: tuple[Gate, ...] = ()
    max_regression: tuple[Gate, ...] = ()
    baseline: Path | None = None

    def __bool__(self) -> bool:
        return bool(self.fail_under or self.max_regression)


@dataclass(frozen=True, slots=True)
class Judged:
    """A gate and what came of it; ``text`` is what a person reads, ``told`` what a program does."""

    result: Result
    text: str
    told: Mapping[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """Return it as it stands under ``gates`` in the object of ``run --json``."""
        return {**self.told, "result": self.result}


def gates_of(
    fail_under: Sequence[str], max_regression: Sequence[str], baseline: Path | None
) -> Gates:
    """Read the options; ``UsageError`` for what is no threshold, before anything is run."""
    if max_regression and baseline is None:
        raise UsageError(
            "--max-regression needs a run to compare with.",
            remedy="Name it: --baseline reports/<run-id>",
        )
    if baseline is not None and not max_regression:
        raise UsageError(
            "--baseline alone decides nothing.",
            remedy="Add --max-regression exact=0.02, or compare the runs with callbench compare.",
        )
    return Gates(
        tuple(_gate("--fail-under", text, RATES) for text in fail_under),
        tuple(_gate("--max-regression", text, tuple(METRICS)) for text in max_regression),
        baseline,
    )


def _gate(option: str, text: str, metrics: Sequence[str]) -> Gate:
    metric, equals, number = text.partition("=")
    try:
        bound = math.nan if "_" in number else float(number)
    except ValueError:
        bound = math.nan
    if not equals or not 0 <= bound <= 1:
        raise UsageError(
            f'{option} "{text}" is not METRIC=NUMBER with a number from 0 to 1.',
            remedy=f"As in {option} slot_f1=0.8",
        )
    if metric not in metrics:
        near = get_close_matches(metric, metrics, n=1)
        raise UsageError(
            f'{option}: there is no metric "{metric}".',
            remedy=(f"Did you mean {near[0]}? " if near else "")
            + f"Metrics: {', '.join(metrics)}.",
        )
    return Gate(metric, bound)


def judge_value(gate: Gate, row: Mapping[str, Any]) -> Judged:
    """Hold the value of a summary row against its lower bound."""
    rate = row[gate.metric]
    told = {"gate": "fail_under", "metric": gate.metric, "bound": gate.bound, "rate": dict(rate)}
    if rate["value"] is None:
        text = f"{gate.metric} has no value: it is over nothing; wanted at least {gate.bound:g}"
        return Judged("failed", text, told)
    failed = rate["value"] < gate.bound
    text = (
        f"{gate.metric} is {rate['value']:.4f} (95 % interval {rate['low']:.4f} to {rate['high']:.4f}, "
        f"n = {rate['n']}), {'below' if failed else 'at least'} {gate.bound:g}"
    )
    return Judged("failed" if failed else "passed", text, told)


def judge_regression(gate: Gate, model: Mapping[str, Any], turned: str) -> Judged:
    """Hold the paired difference against the regression that is allowed.

    ``model`` is this run in the object of ``report.comparison``; ``turned`` says which cases turned.
    """
    found, changed = model["difference"], model["changed"]
    told = {
        "gate": "max_regression",
        "metric": gate.metric,
        "bound": gate.bound,
        "difference": dict(found),
        "p": model["p"],
        "changed": dict(changed),
    }
    if found["value"] is None:
        text = f"{gate.metric} cannot be compared: one of its rates is over nothing"
        return Judged("failed", text, told)
    result: Result = "inconclusive"
    if found["high"] < -gate.bound:
        result = "failed"
    elif found["low"] >= -gate.bound or found["method"] == "none-differ":
        result = "passed"
    said = {
        "failed": f"the whole interval is below {-gate.bound:g}: a regression is established",
        "passed": f"no regression of more than {gate.bound:g}",
        "inconclusive": f"inconclusive: neither a regression of more than {gate.bound:g} nor its "
        "absence is established by so few cases that differ",
    }[result]
    text = (
        f"{gate.metric} changed by {found['value']:+.4f} (95 % interval {found['low']:+.4f} to "
        f"{found['high']:+.4f}, {model['pairs']} pairs); {said}\n  {turned}"
    )
    return Judged(result, text, told)


def failure(judged: Sequence[Judged]) -> GateFailed | None:
    """Return the error of the gates that failed, naming all of them."""
    failed = [one.text for one in judged if one.result == "failed"]
    if not failed:
        return None
    return GateFailed("\n".join(["The run did not pass:", *(f"- {text}" for text in failed)]))


def beside(problem: CallbenchError, judged: Sequence[Judged] | None) -> CallbenchError:
    """Return a graver error that also names the gates; ``None``: the run could not be judged."""
    if judged is None:
        also = "The gates were not judged: cases are missing."
    else:
        failed = failure(judged)
        if failed is None:
            return problem
        also = f"Beside that: {failed.message}"
    return type(problem)(f"{problem.message}\n{also}", remedy=problem.remedy)
