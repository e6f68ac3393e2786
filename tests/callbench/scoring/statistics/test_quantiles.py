"""Quantiles against scipy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from callbench.scoring.statistics.quantiles import normal_quantile, student_quantile


@given(st.floats(0.501, 0.9995), st.integers(1, 100_000))
def test_students_quantile_is_scipys(share: float, freedom: int) -> None:
    assert student_quantile(share, freedom) == pytest.approx(t.ppf(share, freedom), rel=1e-8)


def test_the_normal_one_is_the_limit() -> None:
    assert student_quantile(0.975, 10**9) == pytest.approx(normal_quantile(0.975), abs=1e-8)
