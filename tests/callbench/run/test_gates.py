"""Gates: what they read, what they refuse, when they fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from callbench.errors import ExitCode, ProviderError, UsageError
from callbench.run.gates import (
    Gate,
    Judged,
    beside,
    failure,
    gates_of,
    judge_regression,
    judge_value,
)
from callbench.scoring.aggregate import proportion


def test_thresholds_are_read() -> None:
    gates = gates_of(["exact=0.5", "slot_f1=.8"], ["exact=0.02"], Path("r"))
    assert gates.fail_under == (Gate("exact", 0.5), Gate("slot_f1", 0.8))
    assert gates.max_regression == (Gate("exact", 0.02),)
    assert gates
    assert not gates_of([], [], None)


@pytest.mark.parametrize(
    ("fail_under", "max_regression", "baseline", "said"),
    [
        (["exact"], [], None, "METRIC=NUMBER"),
        (["exact="], [], None, "METRIC=NUMBER"),
        (["exact=80"], [], None, "from 0 to 1"),
        (["exact=nan"], [], None, "METRIC=NUMBER"),
        (["exact=0_1"], [], None, "METRIC=NUMBER"),
        (["slot_fl=0.8"], [], None, "Did you mean slot_f1"),
        ([], ["exact=0.1"], None, "--baseline"),
        ([], [], Path("r"), "--max-regression"),
        ([], ["exact_repaired=0.1"], Path("r"), "Metrics: exact,"),
    ],
)
def test_what_is_no_threshold_is_a_usage_error(
    fail_under: list[str], max_regression: list[str], baseline: Path | None, said: str
) -> None:
    with pytest.raises(UsageError) as error:
        gates_of(fail_under, max_regression, baseline)
    assert said in str(error.value)


def row(right: int, n: int) -> dict[str, Any]:
    return {"exact": proportion(right, n).as_dict()}


@pytest.mark.parametrize(("right", "result"), [(79, "failed"), (80, "passed"), (81, "passed")])
def test_a_lower_bound_is_held_against_the_value(right: int, result: str) -> None:
    judged = judge_value(Gate("exact", 0.8), row(right, 100))
    assert judged.result == result
    assert f"exact is {right / 100:.4f} (95 % interval " in judged.text
    assert "n = 100" in judged.text
    assert judged.as_dict()["result"] == result


def test_a_rate_over_nothing_holds_no_bound() -> None:
    assert judge_value(Gate("exact", 0.0), row(0, 0)).result == "failed"


def model(
    value: float | None, low: float, high: float, method: str = "bootstrap"
) -> dict[str, Any]:
    return {
        "difference": {"value": value, "low": low, "high": high, "method": method},
        "p": 0.1,
        "pairs": 100,
        "changed": {"lost": 1},
    }


@pytest.mark.parametrize(
    ("found", "result"),
    [
        (model(-0.10, -0.15, -0.021), "failed"),
        (model(-0.10, -0.15, -0.02), "inconclusive"),
        (model(-0.10, -0.25, 0.05), "inconclusive"),
        (model(-0.01, -0.02, 0.01), "passed"),
        (model(0.10, 0.05, 0.15), "passed"),
        (model(0.0, -0.2, 0.2, "none-differ"), "passed"),
        (model(None, 0, 0), "failed"),
    ],
)
def test_a_regression_counts_when_its_whole_interval_is_beyond_the_bound(
    found: dict[str, Any], result: str
) -> None:
    judged = judge_regression(Gate("exact", 0.02), found, "which turned")
    assert judged.result == result
    if found["difference"]["value"] is not None:
        assert "which turned" in judged.text


def test_all_that_failed_are_named_with_exit_1() -> None:
    judged = [
        Judged("failed", "one", {}),
        Judged("passed", "two", {}),
        Judged("failed", "three", {}),
    ]
    error = failure(judged)
    assert error is not None
    assert error.exit_code == ExitCode.FINDING
    assert "one" in str(error)
    assert "two" not in str(error)
    assert "three" in str(error)
    assert failure(judged[1:2]) is None


def test_a_graver_error_keeps_its_code_and_names_them_too() -> None:
    problem = ProviderError("the model failed", remedy="Run again.")
    both = beside(problem, [Judged("failed", "exact is low", {})])
    assert both.exit_code == ExitCode.PROVIDER
    assert both.message.startswith("the model failed")
    assert "exact is low" in both.message
    assert both.remedy == "Run again."
    assert beside(problem, [Judged("passed", "fine", {})]) is problem
    assert "not judged" in beside(problem, None).message
