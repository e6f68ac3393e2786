"""Best assignment, against scipy's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from callbench.scoring.assignment import best_assignment


@pytest.mark.trap("D12")
@given(st.data(), st.integers(1, 6), st.integers(1, 6))
def test_d12_the_sum_of_gains_is_the_greatest(data: st.DataObject, rows: int, columns: int) -> None:
    numbers = st.lists(st.integers(0, 5), min_size=columns, max_size=columns)
    gain = data.draw(st.lists(numbers, min_size=rows, max_size=rows))
    partner = best_assignment(gain)
    assert len(partner) == min(rows, columns)
    assert len(set(partner.values())) == len(partner)
    best = [
        gain[row][column]
        for row, column in zip(*linear_sum_assignment(gain, maximize=True), strict=True)
    ]
    assert sum(gain[row][column] for row, column in partner.items()) == sum(best)


@pytest.mark.trap("D12")
def test_d12_greedy_would_take_the_wrong_pair() -> None:
    assert best_assignment([[3, 2], [3, 0]]) == {0: 1, 1: 0}


def test_nothing_to_assign() -> None:
    assert best_assignment([]) == {}
    assert best_assignment([[], []]) == {}
