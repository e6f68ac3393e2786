"""Intervals: against formulas written out, by hand at the ends, and by how often they hold the truth."""

from __future__ import annotations

from collections import Counter
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, t

from callbench.scoring.statistics.intervals import NOTHING, Rate, f1, proportion, ratio
from callbench.scoring.statistics.sums import ClusterSums

CLUSTERS = st.lists(
    st.integers(0, 5).flatmap(lambda b: st.tuples(st.integers(0, b), st.just(b))), max_size=40
)


def written_out(clusters: list[tuple[int, int]]) -> tuple[float, float]:
    """Wilson's interval for R (1 - R) / V things, each cluster being left out once for V."""
    a, b = np.array(clusters, dtype=float).T
    size, rate = len(clusters), a.sum() / b.sum()
    without = np.array(
        [np.delete(a, at).sum() / np.delete(b, at).sum() for at in range(size)], dtype=float
    )
    variance = (size - 1) / size * ((without - rate) ** 2).sum()
    n = min(rate * (1 - rate) / variance, b.sum()) if variance > 1e-20 else b.sum()
    kish = b.sum() ** 2 / (b**2).sum()
    q = t.ppf(0.975, max(1, int(kish - 1 + 1e-9)))
    center = (rate + q**2 / (2 * n)) / (1 + q**2 / n)
    half = q / (1 + q**2 / n) * np.sqrt(rate * (1 - rate) / n + q**2 / (4 * n**2))
    return center - half, center + half


@given(CLUSTERS)
def test_clusters_give_the_interval_of_the_jackknife(clusters: list[tuple[int, int]]) -> None:
    clusters = [pair for pair in clusters if pair[1]]
    rate = ratio(Counter(clusters))
    a, b = sum(a for a, _ in clusters), sum(b for _, b in clusters)
    if rate.method != "cluster-robust" or a in (0, b) or len(clusters) == 1:
        return
    low, high = written_out(clusters)
    assert rate.value == pytest.approx(a / b)
    assert (rate.low, rate.high) == pytest.approx((low, high), abs=1e-7)
    assert (rate.n, rate.clusters) == (b, len(clusters))


@given(CLUSTERS)
def test_every_interval_holds_its_value_and_is_as_wide_as_for_independent_things(
    clusters: list[tuple[int, int]],
) -> None:
    rate = ratio(Counter(clusters))
    if rate.value is None or rate.low is None or rate.high is None:
        assert rate == NOTHING
        return
    assert 0 <= rate.low <= rate.value <= rate.high <= 1
    single = proportion(round(rate.value * rate.n), rate.n)
    assert single.low is not None
    assert single.high is not None
    assert rate.high - rate.low >= single.high - single.low - 1e-12


def test_independent_cases_have_wilsons() -> None:
    rate = ratio(Counter({(1, 1): 7, (0, 1): 13}))
    oracle = binomtest(7, 20).proportion_ci(method="wilson")
    assert (rate.method, rate.clusters) == ("wilson", None)
    assert (rate.low, rate.high) == pytest.approx((oracle.low, oracle.high))


def test_cases_that_are_copies_of_each_other_say_as_much_as_one() -> None:
    """Ten dialogues of four equal cases: the interval is that of ten cases, but for t."""
    rate = ratio(Counter({(4, 4): 6, (0, 4): 4}))
    q = t.ppf(0.975, 9)
    n = 0.6 * 0.4 / (10 / 9 * 0.24 / 10)  # V = G/(G-1) * R(1-R)/G: nine things
    assert n == pytest.approx(9)
    half = q * np.sqrt(0.24 / n + q**2 / (4 * n**2)) / (1 + q**2 / n)
    assert rate.high is not None
    assert rate.low is not None
    assert (rate.high - rate.low) / 2 == pytest.approx(half)


@pytest.mark.parametrize("right", [0, 3])
def test_at_the_ends_a_cluster_is_one_thing(right: int) -> None:
    rate = ratio(Counter({(right, 3): 8}))
    oracle = binomtest(8 if right else 0, 8).proportion_ci(method="wilson")
    assert (rate.low, rate.high) == pytest.approx((oracle.low, oracle.high))
    assert (rate.n, rate.clusters) == (24, 8)


def test_one_cluster_is_one_thing() -> None:
    rate = ratio(Counter({(30, 60): 1}))
    assert rate.low is not None
    assert rate.high is not None
    assert rate.high - rate.low > 0.8


def test_clusters_with_nothing_in_the_denominator_are_not_counted() -> None:
    with_them = ratio(Counter({(1, 2): 5, (2, 2): 5, (0, 0): 1000}))
    assert with_them == ratio(Counter({(1, 2): 5, (2, 2): 5}))


def covered(make: object, truth: float, runs: int = 400) -> float:
    held = 0
    for seed in range(runs):
        rate: Rate = make(np.random.default_rng(seed))  # type: ignore[operator]
        assert rate.low is not None
        assert rate.high is not None
        held += rate.low <= truth <= rate.high
    return held / runs


@pytest.mark.trap("D19")
@pytest.mark.parametrize(("clusters", "truth"), [(8, 0.5), (20, 0.3), (60, 0.9)])
def test_d19_dialogues_are_covered_where_wilsons_interval_is_not(
    clusters: int, truth: float
) -> None:
    """Dialogues of 3 to 9 cases, each with a rate of its own around the true one."""

    def draw(generator: np.random.Generator) -> list[tuple[int, int]]:
        sizes = generator.integers(3, 10, clusters)
        rates = generator.beta(truth * 2, (1 - truth) * 2, clusters)
        return [(int(generator.binomial(n, p)), int(n)) for n, p in zip(sizes, rates, strict=True)]

    robust = covered(lambda generator: ratio(Counter(draw(generator))), truth)
    naive = covered(
        lambda generator: proportion(*(sum(x) for x in zip(*draw(generator), strict=True))), truth
    )
    assert 0.92 <= robust <= 0.995
    assert naive < 0.85


@pytest.mark.parametrize(("small", "truth"), [(4, 0.5), (9, 0.5), (29, 0.8)])
def test_a_dialogue_that_holds_nearly_everything_is_nearly_alone(small: int, truth: float) -> None:
    """One dialogue of 50 cases beside some of 2: its own rate is not the rate of dialogues."""

    def draw(generator: np.random.Generator) -> Rate:
        sizes = [50] + [2] * small
        rates = generator.beta(truth, 1 - truth, small + 1)
        return ratio(
            Counter((int(generator.binomial(n, p)), n) for n, p in zip(sizes, rates, strict=True))
        )

    assert covered(draw, truth) >= 0.93


def test_at_the_ends_unequal_clusters_are_as_many_as_equal_ones_that_say_as_much() -> None:
    rate = ratio(Counter({(6, 6): 1, (1, 1): 4}))
    n = 10**2 / (6**2 + 4)  # 2.5 things
    q = NormalDist().inv_cdf(0.975) ** 2
    assert (rate.low, rate.high) == (pytest.approx(n / (n + q)), 1.0)


def test_f1_of_a_dozen_clusters_is_covered() -> None:
    """Where resampling holds the truth in 84 runs of 100 only."""

    def draw(generator: np.random.Generator) -> Rate:
        groups: Counter[tuple[int, int, int]] = Counter()
        for p in generator.beta(9, 1, 12):
            tp = int(generator.binomial(4, p))
            groups[(tp, int(generator.binomial(4 - tp, 0.5)), 4 - tp)] += 1
        return f1(groups)

    # E tp = 3.6, E fn = 0.4, E fp = 0.2
    assert covered(draw, 2 * 3.6 / (2 * 3.6 + 0.4 + 0.2)) >= 0.92


def test_f1_is_resampled_from_forty_clusters_on() -> None:
    assert f1(Counter({(3, 1, 0): 20, (1, 1, 1): 19})).method == "cluster-robust"
    assert f1(Counter({(3, 1, 0): 20, (2, 1, 1): 20})).method == "bootstrap"
    assert f1(Counter({(300, 1, 0): 1, (1, 1, 1): 60})).method == "cluster-robust"


def test_the_order_in_which_cases_ended_decides_no_bootstrap() -> None:
    generator = np.random.default_rng(2)
    triples = [(int(a), int(b), int(c)) for a, b, c in generator.integers(0, 5, (60, 3))]
    assert f1(Counter(triples)) == f1(Counter(reversed(triples)))
    assert f1(Counter(triples)).method == "bootstrap"


def test_f1_of_many_clusters_is_covered() -> None:
    """Cases of 4 slots, whose right ones hang together; the truth from the expectations."""

    def draw(generator: np.random.Generator) -> Rate:
        groups: Counter[tuple[int, int, int]] = Counter()
        for p in generator.beta(1.2, 0.8, 60):
            tp = int(generator.binomial(4, p))
            groups[(tp, int(generator.binomial(4 - tp, 0.5)), 4 - tp)] += 1
        rate = f1(groups)
        assert (rate.method, rate.clusters, rate.seed) == ("bootstrap", 60, 20260312)
        return rate

    # E tp = 2.4, E fn = 1.6, E fp = 0.8
    assert 0.91 <= covered(draw, 2 * 2.4 / (2 * 2.4 + 1.6 + 0.8), runs=250) <= 0.985


def test_f1_of_few_clusters_is_carried_over_from_the_share() -> None:
    rate = f1(Counter({(3, 1, 0): 2, (1, 1, 1): 3}))
    share = ratio(Counter({(3, 4): 2, (1, 3): 3}))
    assert rate.method == "cluster-robust"
    assert rate.value == 18 / (18 + 5 + 3)
    assert share.low is not None
    assert share.high is not None
    assert rate.low == pytest.approx(2 * share.low / (1 + share.low))
    assert rate.high == pytest.approx(2 * share.high / (1 + share.high))


@given(st.lists(st.tuples(st.sampled_from(["", "a", "b"]), st.integers(0, 3)), max_size=20))
def test_sums_are_by_cluster(cases: list[tuple[str, int]]) -> None:
    sums = ClusterSums()
    for cluster, count in cases:
        sums.add((1, count), cluster)
    expected = Counter((1, count) for cluster, count in cases if not cluster)
    for name in ("a", "b"):
        inside = [count for cluster, count in cases if cluster == name]
        if inside:
            expected[(len(inside), sum(inside))] += 1
    assert sums.groups() == expected
    assert sums.total(2) == (len(cases), sum(count for _, count in cases))
