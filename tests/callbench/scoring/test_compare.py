"""Equality by rungs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callbench.scoring.compare import Rung, always, equal

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.floats(-2, 2)
    | st.sampled_from(["", "a", "A", "１"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    ),
    max_leaves=6,
)


@pytest.mark.parametrize("value", [None, True, 0, 1.5, "", "x", [], {}, [1, {"a": [None]}]])
def test_a_value_equals_itself_on_the_first_rung(value: Any) -> None:
    assert equal(value, value) is Rung.JSON


@pytest.mark.trap("D2", "D3")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        ([1, 2], [1.0, 2]),
        ({"a": [{"b": 3}]}, {"a": [{"b": 3.0}]}),
        (0, -0.0),
        (1.50, 1.5),
    ],
)
def test_d2_d3_numbers_are_equal_by_value_at_any_depth(one: Any, other: Any) -> None:
    assert equal(one, other) in (Rung.JSON, Rung.NUMBER)
    assert equal(other, one) in (Rung.JSON, Rung.NUMBER)


@pytest.mark.trap("D3")
def test_d3_the_rung_says_that_a_number_was_written_otherwise() -> None:
    assert equal(1, 1.0) is Rung.NUMBER
    assert equal([1, 2.0], [1, 2]) is Rung.NUMBER
    assert equal([1, 2.0], [1, 2.0]) is Rung.JSON


@pytest.mark.trap("D2")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (True, 1),
        (1, True),
        (False, 0),
        (1.0, True),
        ([1], [True]),
        ({"a": {"b": 1}}, {"a": {"b": True}}),
    ],
)
def test_d2_a_boolean_is_never_a_number(one: Any, other: Any) -> None:
    assert equal(one, other, folds=always) is None


@pytest.mark.trap("D13")
@pytest.mark.parametrize(
    ("one", "other"),
    [(None, ""), ("", None), (None, 0), (None, False), (None, []), ("", []), ({}, [])],
)
def test_d13_null_empty_text_and_nothing_are_different(one: Any, other: Any) -> None:
    assert equal(one, other, folds=always) is None


@pytest.mark.trap("D8", "D15")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (9007199254740993, 9007199254740992),
        (9007199254740993, 9007199254740992.0),
        (10, 100),
        ("1", 1),
        ("true", True),
        ("10", "1"),
        ("35%", "35"),
        (35, 0.35),
        ("2026-03-12", "2026-03-13"),
        (["a", "b"], ["b", "a"]),
        (["a"], ["a", "a"]),
        ({"a": 1}, {"a": 1, "b": None}),
        ({"a": 1}, {"A": 1}),
    ],
)
def test_d8_d15_near_is_not_equal(one: Any, other: Any) -> None:
    """Reports r204, r205: no digit is lost, none is skipped."""
    assert equal(one, other, folds=always) is None


@pytest.mark.trap("D14")
def test_d14_text_is_folded_only_where_asked() -> None:
    assert equal("Beijing", "beijing") is None
    assert equal("Beijing", "beijing", folds=always) is Rung.TEXT
    assert equal(["ａ", 1], ["a", 1.0], folds=always) is Rung.TEXT
    assert (
        equal({"x": "A", "y": "A"}, {"x": "a", "y": "A"}, folds=lambda path: path == ("x",))
        is Rung.TEXT
    )
    assert (
        equal({"x": "A", "y": "A"}, {"x": "A", "y": "a"}, folds=lambda path: path == ("x",)) is None
    )


@pytest.mark.trap("D12")
def test_d12_order_counts_unless_a_set_is_declared() -> None:
    assert equal([1, 2, 3], [3, 1, 2]) is None
    assert equal([1, 2, 3], [3, 1, 2], unordered=True) is Rung.SET
    assert equal([1, 2, 3], [1, 2, 3], unordered=True) is Rung.JSON
    assert equal([1, 2], [1.0, 2], unordered=True) is Rung.NUMBER


@pytest.mark.trap("D12")
@pytest.mark.parametrize(
    ("one", "other"),
    [([1, 1, 2], [1, 2, 2]), ([1], [1, 1]), ([1, True], [1, 1]), ([[1, 2]], [[2, 1]]), ([], [1])],
)
def test_d12_a_set_is_a_multiset_and_only_on_the_outside(one: Any, other: Any) -> None:
    """Report r206: two equal items are two."""
    assert equal(one, other, unordered=True) is None


@pytest.mark.trap("D12")
def test_d12_a_set_of_objects_is_compared_with_folding_too() -> None:
    one = [{"n": "Ann", "k": 1}, {"n": "Bob", "k": 2}]
    other = [{"k": 2.0, "n": "bob"}, {"k": 1, "n": "ANN"}]
    assert equal(one, other, unordered=True) is None
    assert equal(one, other, folds=always, unordered=True) is Rung.SET


@given(JSON, JSON)
def test_equality_is_symmetric(one: Any, other: Any) -> None:
    assert equal(one, other, folds=always) == equal(other, one, folds=always)


@given(st.lists(JSON, max_size=4), st.randoms())
def test_any_shuffle_of_a_set_is_equal(items: list[Any], random: Any) -> None:
    shuffled = list(items)
    random.shuffle(shuffled)
    assert equal(items, shuffled, unordered=True) is not None


@given(st.lists(JSON, max_size=4), st.lists(JSON, max_size=4))
def test_a_set_is_equal_exactly_when_some_order_is(one: list[Any], other: list[Any]) -> None:
    from itertools import permutations

    some = any(equal(one, list(order), folds=always) for order in permutations(other))
    assert (equal(one, other, folds=always, unordered=True) is not None) == some
