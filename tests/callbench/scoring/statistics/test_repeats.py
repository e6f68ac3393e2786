"""pass@k and pass^k by trying every choice of k answers."""

from __future__ import annotations

from itertools import combinations
from statistics import stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callbench.scoring.statistics.repeats import mean_by_cluster, pass_all, pass_at, spread, steps

CHOICE = st.integers(1, 9).flatmap(
    lambda n: st.tuples(st.integers(0, n), st.just(n), st.integers(1, n))
)


@given(CHOICE)
def test_both_are_the_share_of_all_choices(choice: tuple[int, int, int]) -> None:
    right, answers, k = choice
    chosen = list(combinations([True] * right + [False] * (answers - right), k))
    assert pass_at(right, answers, k) == pytest.approx(sum(map(any, chosen)) / len(chosen))
    assert pass_all(right, answers, k) == pytest.approx(sum(map(all, chosen)) / len(chosen))


def test_many_answers_are_reported_at_few_k() -> None:
    assert steps(3) == [1, 2, 3]
    assert steps(64) == [*range(1, 11), 20, 50, 64]


@given(st.lists(st.floats(0, 1), min_size=2, max_size=10))
def test_the_spread_is_the_standard_deviation(values: list[float]) -> None:
    assert spread(values) == pytest.approx(stdev(values), abs=1e-9)


def test_one_run_has_no_spread() -> None:
    assert spread([0.5]) is spread([]) is None


def test_the_mean_is_over_cases_and_its_interval_over_clusters() -> None:
    alone = mean_by_cluster([(1.0, ""), (0.5, ""), (0.0, ""), (0.5, "")])
    joined = mean_by_cluster([(1.0, "a"), (0.5, "a"), (0.0, "b"), (0.5, "b")])
    assert alone.value == joined.value == 0.5
    assert (alone.n, alone.clusters) == (4, 4)
    assert (joined.n, joined.clusters) == (4, 2)
