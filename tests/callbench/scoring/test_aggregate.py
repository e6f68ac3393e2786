"""Rates and their intervals: by hand, and against scipy."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from callbench.scoring.aggregate import Rate, SlotCounts, Tally, proportion

TRIPLES = st.tuples(*[st.integers(0, 4)] * 3)


def counts(*triples: tuple[int, int, int]) -> SlotCounts:
    made = SlotCounts()
    for triple in triples:
        made.add(triple)
    return made


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_of_a_proportion_is_wilsons(pair: tuple[int, int]) -> None:
    successes, n = pair
    oracle = binomtest(successes, n).proportion_ci(confidence_level=0.95, method="wilson")
    rate = proportion(successes, n)
    assert rate.value == successes / n
    assert rate.low == pytest.approx(oracle.low, abs=1e-12)
    assert rate.high == pytest.approx(oracle.high, abs=1e-12)
    assert rate.n == n


@pytest.mark.parametrize(("successes", "end"), [(0, 0.0), (7, 1.0)])
def test_the_interval_reaches_the_end_exactly(successes: int, end: float) -> None:
    rate = proportion(successes, 7)
    assert end in (rate.low, rate.high)


@pytest.mark.trap("D16")
def test_d16_a_rate_over_nothing_has_no_value() -> None:
    nothing = Rate(None, None, None, 0)
    assert proportion(0, 0) == nothing
    assert set(counts().rates().values()) == {nothing}
    assert counts((0, 0, 0)).rates()["slot_f1"] == nothing


def test_precision_recall_and_f1_by_hand() -> None:
    made = counts((3, 1, 2), (1, 0, 0), (1, 0, 0))
    assert made.total == (5, 1, 2)
    assert made.rates()["slot_precision"].value == 5 / 6
    assert made.rates()["slot_precision"].n == 6
    assert made.rates()["slot_recall"].value == 5 / 7
    assert made.rates()["slot_recall"].n == 7
    assert made.rates()["slot_f1"].value == 10 / 13
    assert made.rates()["slot_f1"].n == 8


def test_nothing_filled_has_no_precision_but_a_recall_and_an_f1_of_zero() -> None:
    made = counts((0, 0, 3), (0, 0, 2))
    assert made.rates()["slot_precision"].value is None
    assert made.rates()["slot_recall"].value == 0
    f1 = made.rates()["slot_f1"]
    assert (f1.value, f1.low) == (0, 0)
    # Cases of 3 and 2 slots say as much as 5²/(3² + 2²) = 1.9231 equal ones. Wilson's bound for
    # 0 of n is z²/(n + z²) = 0.6664; carried over: 2 × 0.6664 / 1.6664.
    assert f1.high == pytest.approx(0.7998, abs=1e-4)


def test_a_perfect_score_of_a_few_is_not_certain() -> None:
    f1 = counts((2, 0, 0), (3, 0, 0)).rates()["slot_f1"]
    assert (f1.value, f1.high) == (1, 1)
    # Wilson's bound for n of n is n/(n + z²), n = 25/13: 0.3336; carried over: 2 × 0.3336 / 1.3336.
    assert f1.low == pytest.approx(0.5003, abs=1e-4)


def test_one_case_has_an_interval_too() -> None:
    f1 = counts((3, 1, 2)).rates()["slot_f1"]
    assert f1.low is not None
    assert f1.high is not None
    assert f1.low < 6 / 9 < f1.high


@pytest.mark.trap("D19")
@given(st.lists(TRIPLES, max_size=30), st.randoms())
def test_d19_the_interval_of_f1_is_the_same_whatever_the_order(triples: Any, random: Any) -> None:
    shuffled = list(triples)
    random.shuffle(shuffled)
    assert counts(*triples).rates()["slot_f1"] == counts(*shuffled).rates()["slot_f1"]


@given(st.lists(TRIPLES, max_size=30))
def test_every_interval_holds_its_value(triples: list[tuple[int, int, int]]) -> None:
    made = counts(*triples)
    for rate in made.rates().values():
        if rate.value is not None:
            assert rate.low is not None
            assert rate.high is not None
            assert 0 <= rate.low <= rate.value <= rate.high <= 1


def test_the_bootstrap_of_f1_agrees_with_resampling_the_cases_one_by_one() -> None:
    import numpy as np

    triples = [(2, 0, 0)] * 30 + [(1, 1, 1)] * 15 + [(0, 1, 2)] * 10
    draws = np.random.default_rng(7).integers(0, len(triples), size=(4000, len(triples)))
    sums = np.array(triples)[draws].sum(axis=1)
    f1 = 2 * sums[:, 0] / (2 * sums[:, 0] + sums[:, 1] + sums[:, 2])
    low, high = np.quantile(f1, [0.025, 0.975])
    rate = counts(*triples).rates()["slot_f1"]
    assert rate.low == pytest.approx(low, abs=0.02)
    assert rate.high == pytest.approx(high, abs=0.02)


def record(status: str = "ok", *, exact: bool = False, repaired: bool = False) -> dict[str, Any]:
    judged = status != "provider_error"
    return {
        "status": status,
        "exact": exact if judged else None,
        "exact_strict": (exact and not repaired) if judged else None,
        "schema_valid": (status == "ok") if judged else None,
        "repaired": repaired,
    }


@pytest.mark.trap("D10")
def test_d10_every_case_is_counted_in_exactly_one_class() -> None:
    """Report r208: the denominator does not shrink without a word."""
    tally = Tally()
    tally.add(record(exact=True), (1, 0, 0))
    tally.add(record(exact=True, repaired=True), (1, 0, 0))
    tally.add(record(), (0, 1, 1))
    tally.add(record("unparsed"), (0, 0, 1))
    tally.add(record("provider_error"), (0, 0, 0))
    summary = tally.as_dict()
    assert (summary["cases"], summary["scored"], summary["provider_errors"]) == (5, 4, 1)
    assert (summary["unparsed"], summary["repaired"]) == (1, 1)
    assert (summary["exact"]["value"], summary["exact"]["n"]) == (2 / 4, 4)
    assert (summary["exact_strict"]["value"], summary["exact_strict"]["n"]) == (1 / 4, 4)
    assert (summary["exact_all"]["value"], summary["exact_all"]["n"]) == (2 / 5, 5)
    assert (summary["exact_repaired"]["value"], summary["exact_repaired"]["n"]) == (1, 1)
    assert (summary["schema_valid"]["value"], summary["schema_valid"]["n"]) == (3 / 4, 4)
    assert (summary["slot_precision"]["value"], summary["slot_recall"]["value"]) == (2 / 3, 2 / 4)


def test_only_provider_errors_leave_no_rate() -> None:
    tally = Tally()
    tally.add(record("provider_error"), (0, 0, 0))
    summary = tally.as_dict()
    assert summary["scored"] == 0
    assert summary["exact"] == {"value": None, "low": None, "high": None, "n": 0, "method": None}
    assert (summary["exact_all"]["value"], summary["exact_all"]["n"]) == (0, 1)


def test_a_repaired_reply_may_be_wrong() -> None:
    tally = Tally()
    tally.add(record(exact=True, repaired=True), (1, 0, 0))
    tally.add(record(repaired=True), (0, 1, 1))
    found = tally.as_dict()["exact_repaired"]
    assert (found["value"], found["n"]) == (1 / 2, 2)
