"""Paired differences: tests against enumeration and scipy, intervals and power by simulation."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, t

from callbench.scoring.statistics.paired import Difference, Pairing, difference, mcnemar
from callbench.scoring.statistics.power import detectable


def cases(*groups: tuple[int, int, int], cluster: str = "") -> list[Pairing]:
    """Pairs of right (1) and wrong (0): ``(baseline, other, how many)``."""
    return [
        Pairing(cluster, (first, 1), (second, 1))
        for first, second, times in groups
        for _ in range(times)
    ]


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemars_test_is_the_binomial_on_the_cases_that_differ(gained: int, lost: int) -> None:
    n = gained + lost
    expected = binomtest(gained, n).pvalue if n else 1.0
    assert mcnemar(gained, lost) == pytest.approx(expected)
    found = difference(cases((0, 1, gained), (1, 0, lost), (1, 1, 5)))
    assert (found.test, found.exact) == ("mcnemar", True)
    assert found.p == pytest.approx(expected)


def test_thousands_of_cases_that_differ_are_no_overflow() -> None:
    assert mcnemar(3000, 3000) == 1.0
    assert mcnemar(2000, 3000) == pytest.approx(binomtest(2000, 5000).pvalue)


@pytest.mark.trap("D19")
def test_d19_pairing_finds_what_two_separate_rates_hide() -> None:
    """100 cases: 29 right in both runs, 15 only in the other, 3 only in the baseline.

    Compared as two separate samples p = 0.080; that the cases are the same makes it 0.008.
    """
    both, gained, lost = 29, 15, 3
    before, after = both + lost, both + gained
    pooled = (before + after) / 200
    z = (after - before) / 100 / math.sqrt(2 * pooled * (1 - pooled) / 100)
    assert round(2 * (1 - NormalDist().cdf(z)), 3) == 0.080
    found = difference(cases((1, 1, both), (0, 1, gained), (1, 0, lost), (0, 0, 53)))
    assert found.p is not None
    assert round(found.p, 3) == 0.008
    assert found.verdict(found.p) == "better"
    back = difference(cases((1, 1, both), (1, 0, gained), (0, 1, lost), (0, 0, 53)))
    assert (back.p, back.verdict(back.p)) == (found.p, "worse")


def by_enumeration(pairings: list[Pairing]) -> float:
    """Exchange the two results of every set of clusters, with exact arithmetic."""
    sums: dict[str, list[Fraction]] = {}
    for index, one in enumerate(pairings):
        into = sums.setdefault(one.cluster or f"#{index}", [Fraction(0)] * 4)
        for at, number in enumerate((*one.baseline, *one.other)):
            into[at] += Fraction(number)

    def apart(exchanged: tuple[bool, ...]) -> Fraction:
        a1 = b1 = a2 = b2 = Fraction(0)
        for four, swap in zip(sums.values(), exchanged, strict=True):
            x1, y1, x2, y2 = (*four[2:], *four[:2]) if swap else four
            a1, b1, a2, b2 = a1 + x1, b1 + y1, a2 + x2, b2 + y2
        return abs(a2 / b2 - a1 / b1)

    observed = apart((False,) * len(sums))
    ways = list(product((False, True), repeat=len(sums)))
    return sum(apart(way) >= observed for way in ways) / len(ways)


RIGHT = st.tuples(st.sampled_from(["", "a", "b", "c"]), st.integers(0, 1), st.integers(0, 1))
F1 = st.tuples(st.sampled_from(["", "a", "b"]), *[st.integers(0, 3)] * 4)


@given(st.lists(RIGHT, min_size=1, max_size=9))
def test_the_permutation_of_clusters_is_enumerated_exactly(
    drawn: list[tuple[str, int, int]],
) -> None:
    pairings = [Pairing(cluster, (a, 1), (b, 1)) for cluster, a, b in drawn]
    found = difference(pairings)
    assert found.exact
    assert found.p == pytest.approx(by_enumeration(pairings))


@given(st.lists(F1, min_size=1, max_size=8))
def test_rates_of_slots_are_exchanged_whole_cluster_by_cluster(
    drawn: list[tuple[str, int, int, int, int]],
) -> None:
    """Each case has a slot to find, so that no rate is over nothing."""
    pairings = [
        Pairing(name, (2 * a, 2 * a + b + 1), (2 * c, 2 * c + d + 1)) for name, a, b, c, d in drawn
    ]
    found = difference(pairings)
    assert found.exact
    assert found.p == pytest.approx(by_enumeration(pairings))


def test_many_clusters_are_drawn_with_a_seed_near_the_enumeration() -> None:
    generator = np.random.default_rng(5)
    pairings = [
        Pairing("", (float(a), 1.0), (float(b), 1.0))
        for a, b in zip(generator.random(15), generator.random(15) + 0.1, strict=True)
    ]
    found = difference(pairings)
    assert not found.exact
    assert found.p is not None
    assert found.p == difference(reversed(pairings)).p
    signs = np.array(list(product((-1, 1), repeat=15)))
    steps = np.array([one.other[0] - one.baseline[0] for one in pairings])
    exact = np.mean(np.abs(signs @ steps) >= abs(steps.sum()) - 1e-12)
    assert found.p == pytest.approx(exact, abs=0.02)


def test_drawn_exchanges_never_give_a_p_of_zero() -> None:
    """The exchange that was observed is one of those that are as far apart."""
    found = difference([Pairing("", (0.25, 1), (0.5, 1)) for _ in range(60)])
    assert (found.p, found.exact) == (1 / 10_001, False)


def test_twenty_right_cases_of_one_dialogue_are_one_finding() -> None:
    alone = difference(cases((0, 1, 20), (1, 1, 20)))
    assert alone.verdict(alone.p) == "better"
    joined = difference([*cases((0, 1, 20), cluster="d"), *cases((1, 1, 20))])
    assert joined.test == "sign-flip"
    assert joined.p == 1.0
    assert joined.verdict(joined.p) == "inconclusive"


@given(st.lists(RIGHT, min_size=1, max_size=40))
def test_changing_places_turns_the_sign_and_nothing_else(drawn: list[tuple[str, int, int]]) -> None:
    found = difference([Pairing(cluster, (a, 1), (b, 1)) for cluster, a, b in drawn])
    back = difference([Pairing(cluster, (b, 1), (a, 1)) for cluster, a, b in drawn])
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    assert back.value == pytest.approx(-found.value)
    assert back.p == pytest.approx(found.p)
    assert found.low <= found.value <= found.high


def test_the_order_of_cases_decides_nothing() -> None:
    generator = np.random.default_rng(3)
    pairings = [
        Pairing(f"d{index % 30}", (int(a), 4), (int(b), 5))
        for index, (a, b) in enumerate(generator.integers(0, 5, (90, 2)))
    ]
    found = difference(pairings)
    assert not found.exact
    assert found == difference(reversed(pairings))


def test_equal_runs_are_not_claimed_to_be_equal_beyond_what_so_few_cases_tell() -> None:
    found = difference(cases((1, 1, 6), (0, 0, 4)))
    bound = binomtest(0, 10).proportion_ci(method="wilson").high
    assert (found.value, found.p, found.method) == (0, 1.0, "none-differ")
    assert (found.low, found.high) == pytest.approx((-bound, bound))
    assert found.detectable is None


@pytest.mark.parametrize(("gained", "lost"), [(0, 4), (0, 5), (0, 6), (1, 7), (3, 2)])
def test_where_few_cases_differ_the_interval_is_that_of_bonett_and_price(
    gained: int, lost: int
) -> None:
    n = 400
    found = difference(cases((0, 1, gained), (1, 0, lost), (1, 1, n - gained - lost)))
    up, down = (gained + 1) / (n + 2), (lost + 1) / (n + 2)
    half = 1.96 * math.sqrt((up + down - (up - down) ** 2) / (n + 2))
    assert found.method == "adjusted"
    assert found.low == pytest.approx(up - down - half, abs=4e-4)
    assert found.high == pytest.approx(up - down + half, abs=4e-4)


@pytest.mark.parametrize("lost", range(1, 10))
def test_the_interval_claims_no_loss_that_the_exact_test_does_not(lost: int) -> None:
    found = difference(cases((1, 0, lost), (1, 1, 200 - lost)))
    assert found.high is not None
    assert found.p is not None
    assert (found.high < 0) == (found.p < 0.05)


def test_all_of_few_dialogues_gaining_is_not_certain() -> None:
    found = difference([Pairing(f"d{index}", (0, 4), (4, 4)) for index in range(6)])
    assert (found.value, found.high, found.method) == (1.0, 1.0, "adjusted")
    assert found.low is not None
    assert 0 < found.low < 0.7


def test_twelve_dialogues_gaining_alike_are_not_certain_either() -> None:
    """Every resample is the same: the interval would have no width."""
    found = difference([Pairing(f"d{index}", (0, 4), (4, 4)) for index in range(12)])
    assert (found.value, found.high, found.method) == (1.0, 1.0, "adjusted")
    assert found.low is not None
    assert 0.5 < found.low < 0.95


@pytest.mark.parametrize("right", [0, 1])
def test_nothing_right_in_either_run_is_no_certain_tie(right: int) -> None:
    """F1 is 0 in both, though over other numbers of slots: no resample differs from 0."""
    found = difference(
        [Pairing("", (right * (1 + at % 2), 1 + at % 2), (right * 3, 3)) for at in range(20)]
    )
    assert (found.value, found.method) == (0, "none-differ")
    assert found.high is not None
    assert 0.1 < found.high < 0.25


def test_a_rate_over_nothing_has_no_difference() -> None:
    found = difference([Pairing("", (0, 0), (1, 2))])
    assert (found.value, found.low, found.p) == (None, None, None)
    assert found.verdict(None) == "inconclusive"
    assert difference([]).value is None


def test_a_margin_asks_for_more_than_a_difference() -> None:
    found = Difference(100, 100, 0.5, 0.55, 0.05, 0.01, 0.09, p=0.01)
    assert found.verdict(0.01) == "better"
    assert found.verdict(0.01, margin=0.02) == "inconclusive"
    assert found.verdict(0.06) == "inconclusive"
    worse = Difference(100, 100, 0.5, 0.45, -0.05, -0.09, -0.03, p=0.01)
    assert worse.verdict(0.01, margin=0.02) == "worse"


def drawn(generator: np.random.Generator, clusters: int, gain: float) -> list[Pairing]:
    """Dialogues of three cases with a difficulty each; the other run gains ``gain`` on the whole."""
    made = []
    for dialogue, ease in enumerate(generator.uniform(0.2, 0.7, clusters)):
        for _ in range(3):
            first = int(generator.random() < ease)
            second = int(generator.random() < ease + gain)
            made.append(Pairing(f"d{dialogue}", (first, 1), (second, 1)))
    return made


def test_the_interval_of_the_difference_is_covered_and_p_finds_one_in_twenty() -> None:
    runs = 250
    held = found = 0
    for seed in range(runs):
        one = difference(drawn(np.random.default_rng(seed), 40, 0.0))
        assert one.low is not None
        assert one.high is not None
        assert one.p is not None
        held += one.low <= 0 <= one.high
        found += one.p < 0.05
    assert 0.91 <= held / runs <= 0.985
    assert found / runs <= 0.08


def test_the_detectable_difference_is_found_four_times_in_five() -> None:
    clusters, gain = 60, 0.15
    runs = 200
    found, bounds = 0, []
    for seed in range(runs):
        one = difference(drawn(np.random.default_rng(1000 + seed), clusters, gain))
        assert one.p is not None
        bounds.append(one.detectable)
        found += one.p < 0.05
    # The simulated gain is close to what is said to be detectable, so the power is close to 80 %.
    assert np.mean([bound for bound in bounds if bound]) == pytest.approx(gain, abs=0.02)
    assert 0.7 <= found / runs <= 0.9


def test_a_dialogue_that_holds_nearly_everything_decides_no_interval() -> None:
    """One dialogue of 50 cases beside nine of 2, each with a rate of its own in either run."""
    runs = 250
    held = 0
    for seed in range(runs):
        generator = np.random.default_rng(seed)
        made = []
        for dialogue, size in enumerate([50] + [2] * 9):
            first, second = generator.beta(0.75, 0.75, 2)
            made += [
                Pairing(f"d{dialogue}", (int(a), 1), (int(b), 1))
                for a, b in zip(
                    generator.random(size) < first, generator.random(size) < second, strict=True
                )
            ]
        one = difference(made)
        assert one.low is not None
        assert one.high is not None
        held += one.low <= 0 <= one.high
    assert held / runs >= 0.93


def test_the_interval_of_unequal_clusters_is_on_the_jackknife_with_two_clusters_added() -> None:
    fours = [(1, 3, 2, 3), (4, 6, 3, 7), (0, 2, 0, 2), (5, 5, 5, 5), (2, 4, 3, 4)]
    fours += [(3, 4, 3, 4), (2, 2, 2, 2), (4, 5, 5, 5)]
    numbers = np.array(fours, dtype=float)

    def apart(of: np.ndarray) -> float:
        a1, b1, a2, b2 = of.sum(axis=0)
        return float(a2 / b2 - a1 / b1)

    size, value = len(fours), apart(numbers)
    moved = np.array([apart(np.delete(numbers, at, axis=0)) - value for at in range(size)])
    error = math.sqrt((size - 1) / size * (moved**2).sum())
    added = max(abs(moved).max() * (size - 1) / size, abs(value) / size)
    squares = error**2 * (size - 1) / size + 2 * added**2
    both = numbers[:, 1] + numbers[:, 3]
    free = int(both.sum() ** 2 / (both**2).sum() - 1)
    less = size / (size + 2)
    half = t.ppf(0.975, free) * less * math.sqrt(squares * (size + 2) / (size + 1))
    found = difference([Pairing("", (a, b), (c, d)) for a, b, c, d in fours])
    assert found.method == "adjusted"
    assert (found.low, found.high) == pytest.approx((value * less - half, value * less + half))


def test_without_the_one_cluster_that_a_rate_is_over_nothing_is_known() -> None:
    found = difference([Pairing("", (1, 2), (0, 0)), Pairing("", (0, 2), (3, 3))])
    assert (found.low, found.high, found.detectable) == (-1, 1, None)


def test_no_more_than_everything_is_detectable() -> None:
    """Two dialogues: with one degree of freedom it would be 845 points."""
    found = difference([Pairing("a", (0, 5), (5, 5)), Pairing("b", (3, 5), (2, 5))])
    assert found.detectable is None
    assert detectable(0.5, 40) is None


def test_nothing_is_detectable_with_five_clusters_of_which_no_exchange_is_rare() -> None:
    five, six = (
        difference([Pairing(f"d{at}", (at % 2, 9), (1 + at % 2, 9)) for at in range(clusters)])
        for clusters in (5, 6)
    )
    assert (five.p, five.detectable) == (2 / 2**5, None)
    assert six.p == 2 / 2**6
    varied = [Pairing(f"d{at}", (at, 99), (1 + 2 * at, 99)) for at in range(6)]
    assert difference(varied[:5]).detectable is None
    assert difference(varied).detectable is not None


def test_nothing_is_detectable_where_nothing_varies() -> None:
    assert detectable(0.0, 50) is detectable(0.1, 1) is None
