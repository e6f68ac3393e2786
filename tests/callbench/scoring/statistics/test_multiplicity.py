"""Corrections against what they are defined by."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from callbench.scoring.statistics.multiplicity import benjamini_hochberg, holm

VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=7)


@given(VALUES)
def test_holm_is_bonferroni_on_every_set_that_holds_the_question(values: list[float]) -> None:
    """The closure principle: a p-value is the greatest over all sets of hypotheses with it."""
    indices = range(len(values))
    closed = [
        max(
            min(1.0, len(chosen) * min(values[other] for other in chosen))
            for size in range(1, len(values) + 1)
            for chosen in combinations(indices, size)
            if index in chosen
        )
        for index in indices
    ]
    assert holm(values) == pytest.approx(closed)


@given(VALUES)
def test_benjamini_hochberg_is_scipys(values: list[float]) -> None:
    assert benjamini_hochberg(values) == pytest.approx(list(false_discovery_control(values)))


def test_no_question_needs_no_correction() -> None:
    assert holm([]) == benjamini_hochberg([]) == []
