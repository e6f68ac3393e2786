"""What ``accept`` adds: further values, another comparison, leave to omit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from callbench.dataset import Accept, Case
from callbench.scoring import CaseScore, SlotScore

Make = Callable[..., Case]
Judge = Callable[..., CaseScore]
Verdicts = Callable[[CaseScore], dict[str, str]]
Slot = Callable[[CaseScore, str], SlotScore]

STRING = {"type": "string"}
LIST: dict[str, Any] = {"type": "array"}


class TestValues:
    @pytest.fixture
    def case(self, make_case: Make) -> Case:
        return make_case({"city": STRING}, {"city": "杭州"}, accept={"/city": Accept(("杭州市",))})

    @pytest.mark.parametrize("city", ["杭州", "杭州市"])
    def test_either_value_is_right_and_strict(self, case: Case, judge: Judge, city: str) -> None:
        assert judge(case, {"city": city}).exact_strict

    def test_any_other_is_wrong(self, case: Case, judge: Judge, verdicts: Verdicts) -> None:
        assert verdicts(judge(case, {"city": "杭"})) == {"/city": "wrong_value"}

    def test_the_expected_value_stays_the_preferred_one(
        self, case: Case, judge: Judge, slot: Slot
    ) -> None:
        assert slot(judge(case, {"city": "杭州市"}), "/city").expected == "杭州"

    def test_the_strictest_rung_of_all_values_counts(
        self, make_case: Make, judge: Judge, slot: Slot
    ) -> None:
        case = make_case({"a": STRING}, {"a": "X"}, accept={"/a": Accept(("y", "x"))})
        assert slot(judge(case, {"a": "x"}), "/a").rung == "json"
        assert slot(judge(case, {"a": "Y"}), "/a").rung == "text"
        last = make_case({"a": STRING}, {"a": "X"}, accept={"/a": Accept(("x", " X "))})
        assert slot(judge(last, {"a": "x"}), "/a").rung == "json"

    @pytest.mark.trap("D5")
    def test_d5_leave_to_omit_is_apart_from_an_empty_string(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        empty = make_case({"a": STRING}, {"a": "x"}, accept={"/a": Accept(("",))})
        assert verdicts(judge(empty, {"a": ""})) == {"/a": "correct"}
        assert verdicts(judge(empty, {})) == {"/a": "missing"}
        omit = make_case({"a": STRING}, {"a": "x"}, accept={"/a": Accept((), None, True)})
        assert verdicts(judge(omit, {"a": ""})) == {"/a": "wrong_value"}
        assert verdicts(judge(omit, {})) == {"/a": "correctly_omitted"}
        assert judge(omit, {}).exact_strict
        assert verdicts(judge(omit, {}, asked=False)) == {"/a": "correctly_omitted"}

    def test_leave_to_omit_an_object_is_leave_to_omit_all_of_it(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        case = make_case({"o": {}}, {"o": {"a": 1, "b": 2}}, accept={"/o": Accept((), None, True)})
        assert verdicts(judge(case, {})) == {
            "/o/a": "correctly_omitted",
            "/o/b": "correctly_omitted",
        }
        assert verdicts(judge(case, {"o": {"a": 1}})) == {"/o/a": "correct", "/o/b": "missing"}

    def test_leave_to_omit_is_no_leave_to_give_a_refused_value(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        case = make_case({"a": STRING}, {"a": "x"}, accept={"/a": Accept((), None, True)})
        assert verdicts(judge(case, {}, rejected=(("/a", 1, ""),))) == {"/a": "wrong_type"}

    def test_an_optional_slot_may_be_given_a_value_that_is_not_expected(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        case = make_case(
            {"a": STRING, "o": {}}, {}, accept={"/a": Accept(("x",)), "/o/n": Accept((1,))}
        )
        assert verdicts(judge(case, {})) == {}
        assert verdicts(judge(case, {"a": "X", "o": {"n": 1}})) == {
            "/a": "correct",
            "/o/n": "correct",
        }
        assert verdicts(judge(case, {"a": "y"})) == {"/a": "hallucinated"}

    def test_a_whole_object_may_be_another(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        case = make_case(
            {"o": {}},
            {"o": {"lat": 1, "lon": 2}},
            accept={"/o": Accept(({"name": "Center"},))},
        )
        assert verdicts(judge(case, {"o": {"name": "center"}})) == {"/o/name": "correct"}
        assert verdicts(judge(case, {"o": {"lat": 1, "lon": 2}})) == {
            "/o/lat": "correct",
            "/o/lon": "correct",
        }
        assert verdicts(judge(case, {"o": {"lat": 1, "name": "Center"}})) == {
            "/o/lat": "correct",
            "/o/lon": "missing",
            "/o/name": "hallucinated",
        }

    def test_a_like_object_in_accept_does_not_loosen_the_expected_one(
        self, make_case: Make, judge: Judge
    ) -> None:
        case = make_case({"o": {}}, {"o": {"n": "a"}}, accept={"/o": Accept(({"n": "A"},))})
        assert judge(case, {"o": {"n": "a"}}).exact_strict
        assert judge(case, {"o": {"n": "A"}}).exact_strict

    def test_an_item_of_a_list_may_be_another(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        case = make_case({"l": LIST}, {"l": ["a", "b"]}, accept={"/l/1": Accept(("c",))})
        assert verdicts(judge(case, {"l": ["a", "c"]})) == {"/l": "correct"}
        assert verdicts(judge(case, {"l": ["c", "b"]})) == {"/l": "wrong_value"}


class TestMatch:
    def test_exact_forbids_folding_and_text_allows_it(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        case = make_case(
            {"a": STRING, "b": {"enum": ["B", "b"]}},
            {"a": "A", "b": "B"},
            accept={"/a": Accept((), "exact"), "/b": Accept((), "text")},
        )
        assert verdicts(judge(case, {"a": "a", "b": "b"})) == {"/a": "wrong_value", "/b": "correct"}

    def test_a_match_holds_for_all_beneath_it(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        case = make_case(
            {"o": {}}, {"o": {"a": "A", "l": ["A"]}}, accept={"/o": Accept((), "exact")}
        )
        assert verdicts(judge(case, {"o": {"a": "a", "l": ["a"]}})) == {
            "/o/a": "wrong_value",
            "/o/l": "wrong_value",
        }


class TestSets:
    @pytest.mark.trap("D12")
    def test_d12_a_list_of_scalars_in_any_order(
        self, make_case: Make, judge: Judge, verdicts: Verdicts, slot: Slot
    ) -> None:
        case = make_case({"l": LIST}, {"l": ["a", "b"]}, accept={"/l": Accept((), "set")})
        score = judge(case, {"l": ["B", "a"]})
        assert (slot(score, "/l").verdict, slot(score, "/l").rung) == ("correct", "set")
        assert (score.exact, score.exact_strict) == (True, False)
        assert verdicts(judge(case, {"l": ["a", "a"]})) == {"/l": "wrong_value"}
        assert judge(case, {"l": ["a", "b"]}).exact_strict

    @pytest.mark.trap("D12")
    def test_d12_order_counts_where_no_set_is_declared(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        assert verdicts(judge(make_case({"l": LIST}, {"l": ["a", "b"]}), {"l": ["b", "a"]})) == {
            "/l": "wrong_value"
        }

    @pytest.fixture
    def guests(self, make_case: Make) -> Case:
        return make_case(
            {"l": LIST},
            {"l": [{"n": "Ann", "k": 1}, {"n": "Bob", "k": 1}, {"n": "Cy", "k": 2}]},
            accept={"/l": Accept((), "set")},
        )

    @pytest.mark.trap("D12")
    def test_d12_objects_are_paired_so_that_most_slots_are_right(
        self, guests: Case, judge: Judge, verdicts: Verdicts, slot: Slot
    ) -> None:
        """Greedily, the first given item (k = 1, no name) would take Ann's place from her."""
        score = judge(guests, {"l": [{"k": 1}, {"n": "Cy", "k": 2}, {"n": "ann", "k": 1}]})
        assert verdicts(score) == {
            "/l/0/n": "correct",
            "/l/0/k": "correct",
            "/l/1/n": "missing",
            "/l/1/k": "correct",
            "/l/2/n": "correct",
            "/l/2/k": "correct",
        }
        assert slot(score, "/l/2/k").rung == "set"

    @pytest.mark.trap("D12")
    def test_d12_fewer_items_leave_the_others_missing(
        self, guests: Case, judge: Judge, verdicts: Verdicts
    ) -> None:
        assert verdicts(judge(guests, {"l": [{"n": "Cy", "k": 2}]})) == {
            "/l/0/n": "missing",
            "/l/0/k": "missing",
            "/l/1/n": "missing",
            "/l/1/k": "missing",
            "/l/2/n": "correct",
            "/l/2/k": "correct",
        }

    @pytest.mark.trap("D12")
    def test_d12_more_items_are_made_up(self, guests: Case, judge: Judge) -> None:
        given = [
            {"n": "Dee", "k": 9},
            {"n": "Cy", "k": 2},
            {"n": "Bob", "k": 1},
            {"n": "Ann", "k": 1},
        ]
        score = judge(guests, {"l": given})
        assert score.counts == (6, 2, 0)

    @pytest.mark.trap("D12")
    def test_d12_the_same_order_is_strict(self, guests: Case, judge: Judge) -> None:
        assert judge(guests, guests.expected).exact_strict

    def test_stages_and_refusals_move_with_their_items(
        self, guests: Case, judge: Judge, slot: Slot, verdicts: Verdicts
    ) -> None:
        score = judge(
            guests,
            {"l": [{"n": "Cy", "k": 2}, {"n": "Bob", "k": 1}, {"n": "Ann"}]},
            filled_by={"/l/0": "stage2", "/l/1": "stage1", "/l/2": "stage1"},
            rejected=(("/l/2/k", "one", ""),),
            undeclared=(("/l/0/z", 1),),
        )
        assert slot(score, "/l/2/n").stage == "stage2"
        assert verdicts(score)["/l/0/k"] == "schema_invalid"
        assert verdicts(score)["/l/2/z"] == "undeclared"

    def test_items_are_put_in_order_before_what_is_in_them_is_looked_at(
        self, make_case: Make, judge: Judge
    ) -> None:
        case = make_case(
            {"l": LIST},
            {"l": [{"n": "Ann", "o": {"x": 1}}, {"n": "Bob", "o": {"x": 2}}]},
            accept={"/l/0/o": Accept(({"y": 9},)), "/l": Accept((), "set")},
        )
        given = [{"n": "Bob", "o": {"x": 2}}, {"n": "Ann", "o": {"y": 9}}]
        assert judge(case, {"l": given}).counts == (4, 0, 0)

    def test_an_empty_or_foreign_value_for_a_set_is_judged_as_it_is(
        self, guests: Case, judge: Judge, verdicts: Verdicts
    ) -> None:
        assert set(verdicts(judge(guests, {"l": []})).values()) == {"missing"}
        assert set(verdicts(judge(guests, {"l": "x"})).values()) == {"wrong_type"}
        assert set(verdicts(judge(guests, {})).values()) == {"missing"}


@pytest.mark.trap("D12")
def test_d12_in_a_set_a_time_and_the_names_of_a_day_are_one(make_case: Make, judge: Judge) -> None:
    """Equality must be one relation, however far the way from spelling to spelling."""
    case = make_case(
        {"l": {"type": "array", "items": {"type": "string", "format": "date"}}},
        {"l": ["2026-12-25", "2026-12-26"]},
        accept={"/l": Accept(match="set", aliases={"2026-12-25": ("Christmas", "the big day")})},
    )
    for christmas in ("2026-12-25", "Christmas", "the big day", "December 25, 2026"):
        assert judge(case, {"l": [christmas, "2026-12-26"]}).exact
        assert judge(case, {"l": ["26 December 2026", christmas]}).exact
        assert not judge(case, {"l": [christmas, christmas]}).exact
    given = make_case(
        {"d": {"type": "string", "format": "date"}},
        {"d": "Christmas"},
        accept={"/d": Accept(aliases={"2026-12-25": ("Christmas",)})},
    )
    assert judge(given, {"d": "December 25, 2026"}).exact
    assert not judge(given, {"d": "December 24, 2026"}).exact
