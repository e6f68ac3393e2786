"""The rungs for time and for aliases through the whole scorer, and lists aligned in their order."""

from __future__ import annotations

import copy
from collections.abc import Callable
from datetime import datetime
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callbench.dataset import Accept, Case, Tool
from callbench.dataset.slots import flatten
from callbench.scoring import CaseScore, Outcome, SlotScore, score_case
from callbench.scoring.assignment import best_alignment
from callbench.scoring.compare import Rung

Make = Callable[..., Case]
Judge = Callable[..., CaseScore]
Verdicts = Callable[[CaseScore], dict[str, str]]
Slot = Callable[[CaseScore, str], SlotScore]

STRING = {"type": "string"}
NOW = datetime(2019, 3, 1, 10, 0)


def test_the_rungs_stand_in_their_order() -> None:
    assert [rung.label for rung in sorted(Rung)] == [
        "json", "number", "text", "time", "alias", "set",
    ]  # fmt: skip


class TestTime:
    @pytest.mark.parametrize(
        ("inner", "accept", "wanted", "got"),
        [
            ({"format": "date"}, {}, "2019-03-02", "tomorrow"),
            ({"format": "time"}, {}, "15:00", "下午三点"),
            ({"format": "date-time"}, {}, "2019-03-06T15:00:00", "下周三下午三点"),
            ({"format": "duration"}, {}, "PT90M", "1.5 hours"),
            ({}, {"match": "date"}, "the day after tomorrow", "2019-03-03"),
            ({}, {"match": "time"}, "3 pm", "15:00"),
            ({}, {"match": "datetime"}, "tomorrow at 3pm", "明天15:00"),
            ({}, {"match": "duration"}, "一个半小时", "90 minutes"),
            ({}, {"match": "date", "date_order": "dmy"}, "2019-04-03", "3/4"),
            ({}, {"match": "date", "values": ("2019-03-04",)}, "2020-03-04", "March 4"),
        ],
    )
    def test_where_it_is_declared_what_says_the_same_is_right_and_not_strict(
        self,
        make_case: Make,
        judge: Judge,
        slot: Slot,
        inner: Any,
        accept: Any,
        wanted: str,
        got: str,
    ) -> None:
        case = make_case(
            {"t": STRING | inner}, {"t": wanted}, accept={"/t": Accept(**accept)}, now=NOW
        )
        score = judge(case, {"t": got})
        assert (slot(score, "/t").verdict, slot(score, "/t").rung) == ("correct", "time")
        assert (score.exact, score.exact_strict) == (True, False)

    @pytest.mark.parametrize(
        "accept", [{}, {"match": "text"}, {"match": "exact"}, {"match": "time"}]
    )
    def test_elsewhere_it_is_wrong(self, make_case: Make, judge: Judge, accept: Any) -> None:
        case = make_case(
            {"t": STRING}, {"t": "2019-03-02"}, accept={"/t": Accept(**accept)}, now=NOW
        )
        assert not judge(case, {"t": "tomorrow"}).exact

    @pytest.mark.parametrize("match", ["exact", "text"])
    def test_the_case_has_the_last_word_over_a_format(
        self, make_case: Make, judge: Judge, match: Any
    ) -> None:
        case = make_case(
            {"t": STRING | {"format": "date"}},
            {"t": "2019-03-02"},
            accept={"/t": Accept(match=match)},
            now=NOW,
        )
        assert not judge(case, {"t": "tomorrow"}).exact

    @pytest.mark.trap("D15")
    @pytest.mark.parametrize("got", ["2019-03-03", "today", "2019-03-02 10:00", "yesterday", ""])
    def test_a_day_off_is_wrong(self, make_case: Make, judge: Judge, got: str) -> None:
        case = make_case(
            {"t": STRING}, {"t": "tomorrow"}, accept={"/t": Accept(match="date")}, now=NOW
        )
        assert judge(case, {"t": got}).counts == (0, 1, 1)

    def test_it_holds_beneath_the_pointer_and_in_sets(self, make_case: Make, judge: Judge) -> None:
        dates = {"type": "array", "items": STRING | {"format": "date"}}
        case = make_case(
            {"l": dates, "m": {"type": "array"}},
            {"l": ["2019-03-02", "2019-03-03"], "m": ["3 pm", "4 pm"]},
            accept={"/l": Accept(match="set"), "/m": Accept(match="time")},
            now=NOW,
        )
        score = judge(case, {"l": ["后天", "明天"], "m": ["15:00", "16:00"]})
        assert [slot.rung for slot in score.slots] == ["set", "time"]
        assert judge(case, {"l": ["明天", "明天"], "m": ["16:00", "15:00"]}).counts == (0, 2, 2)

    def test_a_default_is_compared_on_the_same_ladder(
        self, make_case: Make, judge: Judge, slot: Slot
    ) -> None:
        inner = STRING | {"format": "date", "default": "2019-03-02"}
        score = judge(make_case({"t": inner}, {"t": "tomorrow"}, now=NOW), {})
        assert (slot(score, "/t").verdict, slot(score, "/t").rung) == ("correct", "default")


class TestAliases:
    @pytest.fixture
    def case(self, make_case: Make) -> Case:
        aliases = {"New York": ("NYC", "纽约"), "Boston": ("BOS",)}
        return make_case(
            {"a": STRING, "b": STRING},
            {"a": "New York", "b": "New York"},
            accept={"/a": Accept(values=("Boston",), aliases=aliases)},
        )

    @pytest.mark.parametrize("got", ["NYC", "nyc ", "纽约", "BOS"])
    def test_a_declared_spelling_is_right_and_not_strict(
        self, case: Case, judge: Judge, slot: Slot, got: str
    ) -> None:
        score = judge(case, {"a": got, "b": "New York"})
        assert (slot(score, "/a").verdict, slot(score, "/a").rung) == ("correct", "alias")
        assert (score.exact, score.exact_strict) == (True, False)

    def test_an_earlier_rung_goes_first(self, case: Case, judge: Judge, slot: Slot) -> None:
        assert slot(judge(case, {"a": "new york"}), "/a").rung == "text"
        assert slot(judge(case, {"a": "Boston"}), "/a").rung == "json"

    @pytest.mark.parametrize("got", ["NY", "NYC!", "New", "BO", "Chicago"])
    def test_nothing_else_is(self, case: Case, judge: Judge, got: str) -> None:
        assert not judge(case, {"a": got, "b": "New York"}).exact

    def test_nor_is_it_elsewhere(self, case: Case, judge: Judge, slot: Slot) -> None:
        assert slot(judge(case, {"a": "NYC", "b": "NYC"}), "/b").verdict == "wrong_value"

    def test_any_two_spellings_of_one_thing_are_equal_and_in_sets_too(
        self, make_case: Make, judge: Judge
    ) -> None:
        aliases = {"New York": ("NYC", "纽约")}
        case = make_case(
            {"a": STRING | {"enum": ["NYC", "纽约", "x"]}, "l": {"type": "array"}},
            {"a": "NYC", "l": ["New York", "x"]},
            accept={
                "/a": Accept(aliases=aliases),
                "/l": Accept(match="set", aliases=aliases),
            },
        )
        score = judge(case, {"a": "纽约", "l": ["x", "nyc"]})
        assert [slot.rung for slot in score.slots] == ["alias", "set"]


@pytest.mark.trap("D12")
class TestAlignment:
    """TRAPS D12: an item too few costs that item, and not all behind it."""

    ITEMS = [{"n": "Ann", "k": 1}, {"n": "Bob", "k": 2}, {"n": "Cy", "k": 3}]

    @pytest.fixture
    def case(self, make_case: Make) -> Case:
        return make_case({"l": {"type": "array"}}, {"l": copy.deepcopy(self.ITEMS)})

    @pytest.mark.trap("D12")
    @pytest.mark.parametrize("gone", [0, 1, 2])
    def test_a_missing_item(self, case: Case, judge: Judge, verdicts: Verdicts, gone: int) -> None:
        score = judge(case, {"l": [item for at, item in enumerate(self.ITEMS) if at != gone]})
        assert score.counts == (4, 0, 2)
        assert verdicts(score) == {
            f"/l/{at}/{key}": "missing" if at == gone else "correct"
            for at in range(3)
            for key in "nk"
        }
        assert {slot.rung for slot in score.slots} == {"json", ""}

    @pytest.mark.trap("D12")
    @pytest.mark.parametrize("at", [0, 1, 2, 3])
    def test_an_item_too_many(self, case: Case, judge: Judge, at: int) -> None:
        given_ = [*self.ITEMS[:at], {"n": "Dee", "k": 9}, *self.ITEMS[at:]]
        assert judge(case, {"l": given_}).counts == (6, 2, 0)

    def test_order_counts_all_the_same(self, case: Case, judge: Judge) -> None:
        score = judge(case, {"l": [self.ITEMS[1], self.ITEMS[0], self.ITEMS[2]]})
        assert not score.exact
        assert score.counts == (4, 2, 2)

    def test_a_wrong_item_stands_for_the_one_in_its_place(
        self, case: Case, judge: Judge, verdicts: Verdicts
    ) -> None:
        found = verdicts(judge(case, {"l": [{"n": "X", "k": 7}, *self.ITEMS[1:]]}))
        assert (found["/l/0/n"], found["/l/0/k"]) == ("wrong_value", "wrong_value")

    def test_lists_in_lists_and_in_objects(self, make_case: Make, judge: Judge) -> None:
        inner = [{"x": 1}, {"x": 2}, {"x": 3}]
        case = make_case({"o": {}}, {"o": {"l": [{"n": "a", "m": inner}, {"n": "b", "m": inner}]}})
        given_ = {"o": {"l": [{"n": "b", "m": inner[1:]}]}}
        assert judge(case, given_).counts == (3, 0, 5)

    def test_a_declared_list_is_one_in_its_order(self, make_case: Make, judge: Judge) -> None:
        case = make_case({"l": {}}, {"l": ["a", "b"]}, accept={"/l": Accept(match="list")})
        assert judge(case, {"l": ["A", "b"]}).exact
        assert not judge(case, {"l": ["b", "a"]}).exact

    @given(
        st.integers(1, 4).flatmap(
            lambda columns: st.lists(
                st.lists(st.integers(0, 3), min_size=columns, max_size=columns), max_size=4
            )
        )
    )
    def test_no_pairing_in_order_is_better(self, gain: list[list[int]]) -> None:
        rows, columns = len(gain), len(gain[0]) if gain else 0
        most = max(
            sum(gain[row][column] for row, column in zip(some, others, strict=True))
            for size in range(min(rows, columns) + 1)
            for some in combinations(range(rows), size)
            for others in combinations(range(columns), size)
        )
        pairs = best_alignment(gain)
        assert sum(gain[row][column] for row, column in pairs.items()) == most
        assert list(pairs.values()) == sorted(set(pairs.values()))
        assert list(pairs) == sorted(pairs)

    @pytest.mark.trap("D7")
    @given(
        st.lists(
            st.fixed_dictionaries(
                {"n": st.sampled_from("ab"), "m": st.lists(st.sampled_from([0, 1, {"x": 1}]))}
            ),
            min_size=1,
            max_size=4,
        ),
        st.data(),
    )
    def test_any_changed_leaf_of_any_list_is_noticed(
        self, items: list[Any], data: st.DataObject
    ) -> None:
        case = Case("c", "en", Tool("t"), {"type": "object"}, "q", {"l": items})
        path = data.draw(st.sampled_from(list(flatten(case.expected))))
        given_ = copy.deepcopy(case.expected)
        parent: Any = given_
        for token in path[:-1]:
            parent = parent[token]
        parent[path[-1]] = "another"
        score = score_case(case, Outcome(slot_data=given_))
        assert score.exact is False
        tp, fp, fn = score.counts
        assert fp + fn > 0
        assert tp < len(flatten(case.expected))

    @given(
        st.lists(st.fixed_dictionaries({"n": st.sampled_from("abc")}), min_size=1, max_size=5),
        st.data(),
    )
    def test_one_item_gone_is_one_item_missing(self, items: list[Any], data: st.DataObject) -> None:
        case = Case("c", "en", Tool("t"), {"type": "object"}, "q", {"l": items})
        gone = data.draw(st.integers(0, len(items) - 1))
        rest = [item for at, item in enumerate(items) if at != gone]
        if rest:
            assert score_case(case, Outcome(slot_data={"l": rest})).counts == (len(rest), 0, 1)
