"""Lists made comparable: against every order there is, and without end."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import combinations, permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callbench.dataset import Accept, Case, Tool
from callbench.scoring import CaseScore, Outcome, score_case, settling

Make = Callable[..., Case]
Judge = Callable[..., CaseScore]
LIST = {"l": {"type": "array"}}
ITEMS = st.lists(
    st.fixed_dictionaries({"a": st.integers(0, 2)}, optional={"b": st.integers(0, 1)}), max_size=4
)


def right(one: dict[str, int], other: dict[str, int]) -> int:
    return sum(key in other and other[key] == value for key, value in one.items())


@pytest.mark.trap("D12")
@given(ITEMS, ITEMS, st.booleans())
def test_as_many_slots_are_right_as_the_best_pairing_has(
    wanted: list[dict[str, int]], got: list[dict[str, int]], unordered: bool
) -> None:
    """The best of all pairings, in a list of those that do not cross, tried one by one."""
    accept = {"/l": Accept(match="set")} if unordered else {}
    case = Case("c", "en", Tool("t"), {"properties": LIST}, "q", {"l": wanted}, accept=accept)
    score = score_case(case, Outcome(slot_data={"l": got}))
    orders = permutations if unordered else combinations
    best = max(
        sum(right(wanted[row], got[column]) for row, column in zip(rows, columns, strict=True))
        for size in range(min(len(wanted), len(got)) + 1)
        for rows in combinations(range(len(wanted)), size)
        for columns in orders(range(len(got)), size)
    )
    if wanted:
        assert score.counts[0] == best


class TestEndlessLists:
    """More pairs than can be weighed one by one: the weighing itself must not be reached."""

    @pytest.fixture(autouse=True)
    def no_weighing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(gain: Any) -> Any:
            raise AssertionError("weighed")

        monkeypatch.setattr(settling, "best_assignment", refuse)
        monkeypatch.setattr(settling, "best_alignment", refuse)

    def test_a_set_in_another_order_is_right(self, make_case: Make, judge: Judge) -> None:
        items = [{"a": number, "b": str(number)} for number in range(300)]
        case = make_case(LIST, {"l": items}, accept={"/l": Accept(match="set")})
        shuffled = random.Random(0).sample(items, len(items))
        assert judge(case, {"l": shuffled}).exact
        wrong = [item | {"b": "x"} if item["a"] == 7 else item for item in shuffled]
        assert judge(case, {"l": wrong}).counts == (599, 1, 1)
        assert judge(case, {"l": wrong[:-1]}).counts[0] in (
            597,
            598,
        )  # the wrong one may be the last

    def test_an_item_too_many_or_too_few_costs_that_item(
        self, make_case: Make, judge: Judge
    ) -> None:
        items = [{"a": number} for number in range(300)]
        case = make_case(LIST, {"l": items})
        assert judge(case, {"l": items}).exact
        assert judge(case, {"l": [*items[:9], {"a": -1}, *items[9:]]}).counts == (300, 1, 0)
        assert judge(case, {"l": [*items[:9], *items[10:]]}).counts == (299, 0, 1)
        assert judge(case, {"l": [*items[:9], {"a": -1}, *items[10:]]}).counts == (299, 1, 1)

    def test_the_order_of_a_list_counts(self, make_case: Make, judge: Judge) -> None:
        items = [{"a": number} for number in range(300)]
        assert judge(make_case(LIST, {"l": items}), {"l": items[::-1]}).counts == (0, 300, 300)

    def test_each_twin_is_taken_once(self, make_case: Make, judge: Judge) -> None:
        case = make_case(LIST, {"l": [{"a": 1}] * 150}, accept={"/l": Accept(match="set")})
        assert judge(case, {"l": [{"a": 1}] * 149 + [{"a": 2}]}).counts == (149, 1, 1)


def test_a_date_order_declared_of_a_list_holds_in_it(make_case: Make, judge: Judge) -> None:
    dates = {"l": {"type": "array", "items": {"type": "string", "format": "date"}}}
    expected = {"l": ["2019-04-03"]}
    declared = make_case(dates, expected, accept={"/l": Accept(date_order="dmy")})
    assert judge(declared, {"l": ["3/4/2019"]}).exact
    assert not judge(declared, {"l": ["4/3/2019"]}).exact
    assert not judge(make_case(dates, expected), {"l": ["3/4/2019"]}).exact


def test_what_breaks_its_schema_is_told_of_the_item_that_does_when_items_move(
    make_case: Make, judge: Judge
) -> None:
    item = {"type": "object", "properties": {"a": {"type": "integer", "maximum": 9}, "b": {}}}
    case = make_case(
        {"l": {"type": "array", "items": item}},
        {"l": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]},
        accept={"/l": Accept(match="set")},
    )
    score = judge(case, {"l": [{"a": 10, "b": "y"}, {"a": 3, "b": "x"}]})
    found = {slot.pointer: slot.verdict for slot in score.slots}
    assert found["/l/0/a"] == "wrong_value"  # 3 for 1
    assert found["/l/1/a"] == "schema_invalid"  # 10 for 2
