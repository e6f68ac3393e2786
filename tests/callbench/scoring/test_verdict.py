"""The verdict on each slot and on the case; one test a rule, values set by hand."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from callbench.dataset import Accept, Case
from callbench.dataset.slots import ABSENT
from callbench.scoring import CaseScore, Outcome, SlotScore, score_case

Make = Callable[..., Case]
Judge = Callable[..., CaseScore]
Verdicts = Callable[[CaseScore], dict[str, str]]
Slot = Callable[[CaseScore, str], SlotScore]

STRING = {"type": "string"}
INTEGER = {"type": "integer"}
NUMBER = {"type": "number"}
UNIT = {"city": STRING, "unit": {"enum": ["C", "F"], "default": "C"}}


class TestExpectedSlots:
    @pytest.mark.trap("D6")
    def test_d6_every_slot_has_a_verdict_whatever_the_others_are(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        case = make_case(
            {"a": STRING, "b": INTEGER, "c": STRING, "d": NUMBER, "e": {"type": "boolean"}},
            {"a": "x", "b": 1, "c": "y", "d": 2.5, "e": False},
        )
        score = judge(case, {"a": "x", "b": 2, "d": 2.5, "e": False}, rejected=(("/c", 5, ""),))
        assert verdicts(score) == {
            "/a": "correct",
            "/b": "wrong_value",
            "/c": "wrong_type",
            "/d": "correct",
            "/e": "correct",
        }
        assert score.counts == (3, 2, 2)
        assert (score.exact, score.exact_strict, score.schema_valid) == (False, False, True)

    def test_gold_is_exact_and_strict(self, make_case: Make, judge: Judge) -> None:
        case = make_case({"a": STRING, "l": {"type": "array"}}, {"a": "x", "l": [{"b": 1}, {}]})
        score = judge(case, copy.deepcopy(case.expected))
        assert (score.exact, score.exact_strict, score.schema_valid) == (True, True, True)
        assert score.counts == (3, 0, 0)

    def test_a_missing_slot_is_a_false_negative_only(self, make_case: Make, judge: Judge) -> None:
        assert judge(make_case({"a": STRING}, {"a": "x"}), {}).counts == (0, 0, 1)

    def test_a_wrong_value_is_both(self, make_case: Make, judge: Judge) -> None:
        assert judge(make_case({"a": STRING}, {"a": "x"}), {"a": "y"}).counts == (0, 1, 1)

    @pytest.mark.trap("D13")
    def test_d13_null_absent_and_empty_text_are_three_things(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        properties = {"a": {"type": ["string", "null"]}}
        null, empty = make_case(properties, {"a": None}), make_case(properties, {"a": ""})
        assert verdicts(judge(null, {"a": None})) == {"/a": "correct"}
        assert verdicts(judge(null, {"a": ""})) == {"/a": "wrong_value"}
        assert verdicts(judge(null, {})) == {"/a": "missing"}
        assert verdicts(judge(empty, {"a": ""})) == {"/a": "correct"}
        assert verdicts(judge(empty, {"a": None})) == {"/a": "wrong_value"}
        assert verdicts(judge(make_case(properties, {}), {"a": None})) == {"/a": "hallucinated"}

    def test_a_type_that_the_schema_does_not_admit_is_a_wrong_type(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        case = make_case({"a": INTEGER, "b": {}}, {"a": 1, "b": 1})
        assert verdicts(judge(case, {"a": "1", "b": "1"})) == {
            "/a": "wrong_type",
            "/b": "wrong_value",
        }

    @pytest.mark.trap("D2")
    def test_d2_a_boolean_for_a_number_is_wrong(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        case = make_case({"a": INTEGER}, {"a": 1})
        assert verdicts(judge(case, {"a": True})) == {"/a": "wrong_type"}

    @pytest.mark.trap("D3")
    def test_d3_a_number_written_otherwise_is_right_and_strict(
        self, make_case: Make, judge: Judge, slot: Slot
    ) -> None:
        case = make_case({"a": NUMBER, "l": {"type": "array"}}, {"a": 1, "l": [1, 2]})
        score = judge(case, {"a": 1.0, "l": [1.0, 2.0]})
        assert [slot(score, "/a").rung, slot(score, "/l").rung] == ["number", "number"]
        assert score.exact_strict

    @pytest.mark.trap("D7")
    def test_d7_any_change_to_a_scalar_changes_the_score(
        self, make_case: Make, judge: Judge
    ) -> None:
        case = make_case({"n": INTEGER, "o": {"type": "object"}}, {"n": 3, "o": {"deep": [1, 2]}})
        assert judge(case, {"n": 4, "o": {"deep": [1, 2]}}).counts == (1, 1, 1)
        assert judge(case, {"n": 3, "o": {"deep": [1, 3]}}).counts == (1, 1, 1)

    def test_an_item_too_few_and_an_item_too_many(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        case = make_case({"l": {"type": "array"}}, {"l": [{"x": 1}, {"x": 2}]})
        assert verdicts(judge(case, {"l": [{"x": 1}]})) == {
            "/l/0/x": "correct",
            "/l/1/x": "missing",
        }
        assert verdicts(judge(case, {"l": [{"x": 1}, {"x": 2}, {"x": 3}]})) == {
            "/l/0/x": "correct",
            "/l/1/x": "correct",
            "/l/2/x": "hallucinated",
        }

    def test_a_list_of_scalars_is_right_as_a_whole_or_wrong(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        case = make_case({"l": {"type": "array"}}, {"l": ["a", "b"]})
        assert judge(case, {"l": ["a"]}).counts == (0, 1, 1)
        assert verdicts(judge(case, {"l": [{"a": 1}]})) == {"/l": "wrong_value"}

    def test_a_scalar_where_an_object_should_be_is_wrong_in_each_of_its_slots(
        self, make_case: Make, judge: Judge, verdicts: Verdicts, slot: Slot
    ) -> None:
        case = make_case({"o": {"type": "object"}}, {"o": {"a": 1, "b": 2}})
        score = judge(case, {"o": "text"})
        assert verdicts(score) == {"/o/a": "wrong_type", "/o/b": "wrong_type"}
        assert slot(score, "/o/a").got == "text"

    def test_an_object_where_a_scalar_should_be_is_one_wrong_slot(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        case = make_case({"a": STRING}, {"a": "x"})
        assert verdicts(judge(case, {"a": {"name": "x", "more": 1}})) == {"/a": "wrong_type"}

    def test_an_empty_object_is_a_slot(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        case = make_case({"o": {"type": "object"}}, {"o": {}})
        assert verdicts(judge(case, {"o": {}})) == {"/o": "correct"}
        assert verdicts(judge(case, {})) == {"/o": "missing"}
        assert verdicts(judge(case, {"o": {"a": 1}})) == {"/o": "correct", "/o/a": "hallucinated"}
        assert verdicts(judge(case, {"o": []})) == {"/o": "wrong_type"}

    def test_an_emptied_object_leaves_its_slots_missing_and_is_nothing_more(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        case = make_case({"o": {"type": "object"}}, {"o": {"a": 1}})
        assert verdicts(judge(case, {"o": {}})) == {"/o/a": "missing"}

    def test_an_empty_list_is_wrong_where_one_with_items_should_be_and_the_other_way(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        properties = {"l": {"type": "array"}}
        assert verdicts(judge(make_case(properties, {"l": []}), {"l": [{"x": 1}]})) == {
            "/l": "wrong_value"
        }
        assert verdicts(judge(make_case(properties, {"l": [1]}), {"l": []})) == {
            "/l": "wrong_value"
        }
        assert verdicts(judge(make_case(properties, {"l": [{"x": 1}]}), {"l": []})) == {
            "/l/0/x": "missing"
        }

    def test_keys_that_look_like_indexes_or_hold_slashes(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        case = make_case({"m": {}, "a/b~c": STRING}, {"m": {"0": "x"}, "a/b~c": "y"})
        assert verdicts(judge(case, {"m": ["x"], "a/b~c": "y"})) == {
            "/m/0": "wrong_value",
            "/a~1b~0c": "correct",
        }


class TestTextByDefault:
    @pytest.mark.trap("D14")
    def test_d14_a_free_string_is_compared_folded_which_is_not_strict(
        self, make_case: Make, judge: Judge, slot: Slot
    ) -> None:
        case = make_case({"city": STRING}, {"city": "São Paulo"})
        score = judge(case, {"city": "SÃO　PAULO"})
        assert (slot(score, "/city").verdict, slot(score, "/city").rung) == ("correct", "text")
        assert (score.exact, score.exact_strict) == (True, False)

    @pytest.mark.parametrize(
        ("binding", "verdict"),
        [
            ({"enum": ["Up"]}, "schema_invalid"),
            ({"enum": ["Up", "UP"]}, "wrong_value"),
            ({"const": "Up"}, "schema_invalid"),
            ({"pattern": "^U"}, "wrong_value"),
            ({"pattern": "^Up"}, "schema_invalid"),
            ({"format": "email"}, "wrong_value"),
        ],
    )
    def test_a_bound_string_is_compared_exactly(
        self,
        make_case: Make,
        judge: Judge,
        verdicts: Verdicts,
        binding: dict[str, Any],
        verdict: str,
    ) -> None:
        case = make_case({"a": STRING | binding}, {"a": "Up"})
        score = judge(case, {"a": "UP"})
        assert verdicts(score) == {"/a": verdict}
        assert score.counts == (0, 1, 1)

    def test_strings_in_a_list_are_compared_as_its_items_are(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        free = make_case({"l": {"type": "array", "items": STRING}}, {"l": ["A", "B"]})
        bound = make_case({"l": {"type": "array", "items": {"enum": ["A", "a"]}}}, {"l": ["A"]})
        assert verdicts(judge(free, {"l": ["a", "b"]})) == {"/l": "correct"}
        assert verdicts(judge(bound, {"l": ["a"]})) == {"/l": "wrong_value"}

    @pytest.mark.trap("D15")
    @pytest.mark.parametrize("day", ["2026-03-13", "2026-03-11", "2025-03-12", "202603120"])
    def test_d15_a_date_off_by_one_is_wrong(
        self, make_case: Make, judge: Judge, verdicts: Verdicts, slot: Slot, day: str
    ) -> None:
        case = make_case({"d": STRING | {"format": "date"}}, {"d": "2026-03-12"})
        score = judge(case, {"d": day})
        assert verdicts(score) == {"/d": "wrong_value"}
        assert slot(score, "/d").type == "date"

    @pytest.mark.trap("D1", "D8")
    @pytest.mark.parametrize(
        ("gold", "given"), [("-5", "5"), ("1.5", "15"), ("192.168.1.1", "19.216.811"), ("10", "1")]
    )
    def test_d1_d8_through_the_whole_scorer(
        self, make_case: Make, judge: Judge, verdicts: Verdicts, gold: str, given: str
    ) -> None:
        assert verdicts(judge(make_case({"a": STRING}, {"a": gold}), {"a": given})) == {
            "/a": "wrong_value"
        }


class TestMadeUp:
    def test_what_nothing_expects_is_hallucinated(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        case = make_case({"a": STRING, "note": STRING}, {"a": "x"})
        score = judge(case, {"a": "x", "note": "y"})
        assert verdicts(score) == {"/a": "correct", "/note": "hallucinated"}
        assert score.counts == (1, 1, 0)
        assert score.exact is False
        assert score.schema_valid is True

    def test_an_undeclared_key_is_a_false_positive_of_its_own_kind(
        self, make_case: Make, judge: Judge, verdicts: Verdicts, slot: Slot
    ) -> None:
        case = make_case({"a": STRING}, {"a": "x"})
        score = judge(case, {"a": "x"}, undeclared=(("/b", 1), ("/c", {"d": 2}), ("/b", 3)))
        assert verdicts(score) == {"/a": "correct", "/b": "undeclared", "/c": "undeclared"}
        assert score.counts == (1, 2, 0)
        assert score.exact is False
        assert (slot(score, "/b").got, slot(score, "/b").type) == (3, "integer")
        assert slot(score, "/b").expected is ABSENT

    def test_an_open_slot_left_open_is_correctly_omitted(
        self, make_case: Make, judge: Judge, verdicts: Verdicts, slot: Slot
    ) -> None:
        case = make_case(
            {"a": STRING, "phone": STRING},
            {"a": "x"},
            required=("a", "phone"),
            unfillable=("/phone",),
        )
        score = judge(case, {"a": "x"})
        assert verdicts(score) == {"/a": "correct", "/phone": "correctly_omitted"}
        assert score.counts == (1, 0, 0)
        assert (score.exact, score.exact_strict, score.schema_valid) == (True, True, False)
        assert slot(score, "/phone").required

    @pytest.mark.parametrize(
        ("slot_data", "rejected"),
        [({"a": "x", "phone": "1"}, ()), ({"a": "x"}, (("/phone", 1, ""),))],
        ids=["merged", "refused"],
    )
    def test_an_open_slot_that_is_filled_is_hallucinated(
        self, make_case: Make, judge: Judge, verdicts: Verdicts, slot_data: Any, rejected: Any
    ) -> None:
        case = make_case({"a": STRING, "phone": STRING}, {"a": "x"}, unfillable=("/phone",))
        score = judge(case, slot_data, rejected=rejected)
        assert verdicts(score) == {"/a": "correct", "/phone": "hallucinated"}
        assert score.counts == (1, 1, 0)
        assert score.exact is False

    def test_what_is_filled_beneath_an_open_slot_is_hallucinated(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        case = make_case({"contact": {"type": "object"}}, {}, unfillable=("/contact",))
        assert verdicts(judge(case, {"contact": {"phone": "1", "mail": "m"}})) == {
            "/contact/phone": "hallucinated",
            "/contact/mail": "hallucinated",
        }

    def test_an_object_emptied_of_what_must_stay_open_is_not_made_up(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        case = make_case({"contact": {"type": "object"}}, {}, unfillable=("/contact/phone",))
        assert verdicts(judge(case, {"contact": {}})) == {"/contact/phone": "correctly_omitted"}

    @pytest.mark.trap("D16")
    def test_d16_nothing_expected_and_nothing_filled_is_exact_over_no_slots(
        self, make_case: Make, judge: Judge
    ) -> None:
        score = judge(make_case({"a": STRING}, {}), {})
        assert (score.exact, score.counts, score.slots) == (True, (0, 0, 0), ())


class TestRefused:
    def test_a_refused_value_is_wrong_and_not_missing_as_well(
        self, make_case: Make, judge: Judge, verdicts: Verdicts, slot: Slot
    ) -> None:
        case = make_case({"n": INTEGER | {"minimum": 1}}, {"n": 3})
        score = judge(case, {}, rejected=(("/n", 0, "too small"),))
        assert verdicts(score) == {"/n": "schema_invalid"}
        assert slot(score, "/n").got == 0
        assert verdicts(judge(case, {}, rejected=(("/n", "3", "no integer"),))) == {
            "/n": "wrong_type"
        }

    def test_a_value_refused_first_and_filled_later_counts_as_filled(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        case = make_case({"n": INTEGER}, {"n": 3})
        assert verdicts(judge(case, {"n": 3}, rejected=(("/n", "3", ""),))) == {"/n": "correct"}
        assert verdicts(judge(case, {"n": 4}, rejected=(("/n", "3", ""),))) == {"/n": "wrong_value"}

    def test_a_value_refused_twice_is_one_slot_with_the_last_value(
        self, make_case: Make, judge: Judge, slot: Slot
    ) -> None:
        case = make_case({"n": INTEGER}, {"n": 3})
        score = judge(case, {}, rejected=(("/n", "3", ""), ("/n", 3.5, "")))
        assert slot(score, "/n").got == 3.5

    def test_a_refused_object_is_judged_in_the_slots_that_it_holds(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        case = make_case({"o": {"type": "object"}}, {"o": {"a": 1, "b": 2}})
        assert verdicts(judge(case, {}, rejected=(("/o", {"a": 1, "z": 9}, ""),))) == {
            "/o/a": "schema_invalid",
            "/o/b": "missing",
        }
        assert verdicts(judge(case, {}, rejected=(("/o", "text", ""),))) == {
            "/o/a": "wrong_type",
            "/o/b": "wrong_type",
        }

    def test_a_refused_item_makes_its_list_wrong(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        case = make_case({"l": {"type": "array", "items": INTEGER}}, {"l": [1, 2]})
        assert verdicts(judge(case, {}, rejected=(("/l/1", "2", ""),))) == {"/l": "schema_invalid"}

    def test_a_refused_value_that_nothing_expects_is_hallucinated(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        case = make_case({"a": STRING, "n": INTEGER}, {"a": "x"})
        score = judge(case, {"a": "x"}, rejected=(("/n", "many", ""),))
        assert verdicts(score) == {"/a": "correct", "/n": "hallucinated"}
        assert score.counts == (1, 1, 0)

    def test_a_refused_object_with_none_of_the_expected_slots_is_made_up(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        case = make_case({"o": {"type": "object"}}, {"o": {"a": 1}})
        assert verdicts(judge(case, {}, rejected=(("/o", {"z": 9}, ""),))) == {
            "/o/a": "missing",
            "/o": "hallucinated",
        }


@pytest.mark.trap("D17")
class TestGoldWithDefects:
    """TRAPS D17: scored as it stands, without a crash and without a second verdict."""

    def test_what_the_tool_does_not_have_can_never_be_filled(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        schema = {"additionalProperties": False}
        case = make_case({"a": STRING}, {"a": "x", "b": 1, "c": {"d": 2}}, schema=schema)
        score = judge(case, {"a": "x"}, undeclared=(("/b", 1), ("/c", {"d": 2}), ("/e", 3)))
        assert verdicts(score) == {
            "/a": "correct",
            "/b": "missing",
            "/c/d": "missing",
            "/e": "undeclared",
        }
        assert score.counts == (1, 1, 2)

    @pytest.mark.parametrize(
        ("inner", "wanted"),
        [(STRING, None), ({"enum": ["a"]}, "b"), ({"type": "integer", "minimum": 1}, 0)],
    )
    def test_a_gold_value_that_the_tool_would_refuse(
        self, make_case: Make, judge: Judge, verdicts: Verdicts, inner: Any, wanted: Any
    ) -> None:
        case = make_case({"a": inner}, {"a": wanted})
        assert verdicts(judge(case, {})) == {"/a": "missing"}
        refused = judge(case, {}, rejected=(("/a", wanted, "schema"),))
        assert refused.counts == (0, 1, 1)
        assert judge(case, {"a": wanted}).exact  # a system that is held to no schema


class TestDefaults:
    @pytest.mark.trap("D4")
    def test_d4_leaving_out_an_expected_default_is_right_and_reported(
        self, make_case: Make, judge: Judge, verdicts: Verdicts, slot: Slot
    ) -> None:
        case = make_case(UNIT, {"city": "x", "unit": "C"})
        score = judge(case, {"city": "x"})
        assert verdicts(score) == {"/city": "correct", "/unit": "correct"}
        assert slot(score, "/unit").rung == "default"
        assert slot(score, "/unit").got is ABSENT
        assert (score.exact, score.exact_strict) == (True, False)

    @pytest.mark.trap("D4")
    def test_d4_giving_a_default_that_is_not_expected_is_right_and_reported(
        self, make_case: Make, judge: Judge, verdicts: Verdicts, slot: Slot
    ) -> None:
        score = judge(make_case(UNIT, {"city": "x"}), {"city": "x", "unit": "C"})
        assert verdicts(score) == {"/city": "correct", "/unit": "correctly_omitted"}
        assert slot(score, "/unit").rung == "default"
        assert score.counts == (1, 0, 0)
        assert (score.exact, score.exact_strict) == (True, False)

    def test_another_value_than_the_default_is_wrong_either_way(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        assert verdicts(judge(make_case(UNIT, {"unit": "F"}), {})) == {"/unit": "missing"}
        assert verdicts(judge(make_case(UNIT, {}), {"unit": "F"})) == {"/unit": "hallucinated"}

    def test_a_default_does_not_stand_for_a_slot_that_must_be_there(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        case = make_case(UNIT, {"unit": "C"}, required=("unit",))
        assert verdicts(judge(case, {})) == {"/unit": "missing"}

    def test_a_default_of_the_object_above_counts(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        case = make_case({"o": {"type": "object", "default": {"dry": True}}}, {"o": {"dry": True}})
        assert verdicts(judge(case, {})) == {"/o/dry": "correct"}

    def test_a_required_member_of_an_absent_optional_object_may_rest_on_its_default(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        inner = {
            "type": "object",
            "properties": {"dry": {"type": "boolean", "default": True}},
            "required": ["dry"],
        }
        case = make_case({"o": inner}, {"o": {"dry": True}})
        assert verdicts(judge(case, {})) == {"/o/dry": "correct"}
        assert verdicts(judge(case, {"o": {}})) == {"/o/dry": "missing"}

    @pytest.mark.trap("D4")
    def test_d4_half_of_a_default_of_the_object_above_is_another_value(
        self, make_case: Make, judge: Judge
    ) -> None:
        properties = {"o": {"type": "object", "default": {"a": 1, "b": 2}}}
        for expected, given in (({}, {"o": {"a": 1}}), ({"o": {"a": 1}}, {})):
            assert not judge(make_case(properties, expected), given).exact
        for expected, given in (({}, {"o": {"a": 1, "b": 2}}), ({"o": {"b": 2, "a": 1}}, {})):
            assert judge(make_case(properties, expected), given).exact

    @pytest.mark.trap("D4")
    def test_d4_a_default_of_the_object_above_is_none_within_an_object_that_is_there(
        self, make_case: Make, judge: Judge
    ) -> None:
        properties = {"o": {"type": "object", "default": {"a": 1}}}
        assert not judge(make_case(properties, {"o": {"b": 2}}), {"o": {"b": 2, "a": 1}}).exact
        assert not judge(make_case(properties, {"o": {"b": 2, "a": 1}}), {"o": {"b": 2}}).exact

    @pytest.mark.trap("D4")
    def test_d4_a_default_does_not_excuse_a_required_object(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        inner = {"type": "object", "properties": {"a": INTEGER | {"default": 1}}}
        case = make_case({"o": inner}, {"o": {"a": 1}}, required=("o",))
        assert verdicts(judge(case, {})) == {"/o/a": "missing"}
        assert judge(case, {"o": {}}).exact

    @pytest.mark.trap("D4")
    def test_d4_a_default_makes_no_item_of_a_list(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        item = {"type": "object", "properties": {"a": INTEGER | {"default": 1}}}
        properties = {"l": {"type": "array", "items": item}}
        one, two = {"l": [{"a": 1}]}, {"l": [{"a": 1}, {"a": 1}]}
        fewer, more = judge(make_case(properties, two), one), judge(make_case(properties, one), two)
        assert verdicts(fewer) == {"/l/0/a": "correct", "/l/1/a": "missing"}
        assert verdicts(more) == {"/l/0/a": "correct", "/l/1/a": "hallucinated"}
        assert judge(make_case(properties, one), {"l": [{}]}).exact

    def test_a_slot_that_may_be_left_out_of_an_item_does_not_excuse_the_item(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        case = make_case(
            {"l": {"type": "array"}},
            {"l": [{"a": 1}, {"a": 2}]},
            accept={"/l/1/a": Accept(may_omit=True)},
        )
        assert judge(case, {"l": [{"a": 1}, {}]}).exact
        assert verdicts(judge(case, {"l": [{"a": 1}]})) == {
            "/l/0/a": "correct",
            "/l/1/a": "missing",
        }

    def test_a_value_beneath_an_open_slot_is_no_default(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        case = make_case(UNIT, {}, unfillable=("/unit",))
        assert verdicts(judge(case, {"unit": "C"})) == {"/unit": "hallucinated"}


class TestKnownData:
    def test_known_data_that_is_kept_is_not_scored(
        self, make_case: Make, judge: Judge, verdicts: Verdicts, slot: Slot
    ) -> None:
        case = make_case({"a": STRING, "n": INTEGER}, {"a": "x", "n": 2}, data={"n": 2.0})
        score = judge(case, {"a": "x", "n": 2}, filled_by={"/n": "known", "/a": "stage1"})
        assert verdicts(score) == {"/a": "correct", "/n": "known"}
        assert score.counts == (1, 0, 0)
        assert score.exact_strict
        assert (slot(score, "/n").stage, slot(score, "/a").stage) == ("", "stage1")

    def test_known_data_that_is_changed_or_dropped_is_scored(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        """A11: it must never be overwritten."""
        case = make_case({"n": INTEGER}, {"n": 2}, data={"n": 2})
        assert verdicts(judge(case, {"n": 3})) == {"/n": "wrong_value"}
        assert verdicts(judge(case, {})) == {"/n": "missing"}

    def test_known_data_that_expected_corrects_is_scored(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        case = make_case({"n": INTEGER | {"minimum": 1}}, {"n": 2}, data={"n": 0})
        assert verdicts(judge(case, {"n": 2})) == {"/n": "correct"}
        assert verdicts(judge(case, {"n": 0})) == {"/n": "schema_invalid"}

    def test_known_data_beside_what_is_expected_is_not_made_up(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        case = make_case({"n": INTEGER}, {}, data={"n": "bad"})
        assert verdicts(judge(case, {"n": "bad"})) == {"/n": "known"}
        assert verdicts(judge(case, {"n": 1})) == {"/n": "hallucinated"}


class TestNotAsked:
    def test_with_nothing_to_ask_the_result_is_what_was_known(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        case = make_case({"n": INTEGER}, {"n": 2}, data={"n": 2})
        score = judge(case, {}, asked=False)
        assert verdicts(score) == {"/n": "known"}
        assert (score.exact, score.schema_valid, score.counts) == (True, True, (0, 0, 0))

    def test_a_system_that_hands_over_the_known_data_all_the_same_is_judged_by_it(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        case = make_case({"n": INTEGER}, {"n": 2}, data={"n": 2})
        assert verdicts(judge(case, {"n": 3}, asked=False)) == {"/n": "wrong_value"}

    def test_an_optional_slot_nobody_asked_for_is_its_own_class_and_not_exact(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        score = judge(make_case({"n": INTEGER}, {"n": 2}), {}, asked=False)
        assert verdicts(score) == {"/n": "not_asked"}
        assert (score.exact, score.counts) == (False, (0, 0, 0))

    def test_a_default_nobody_asked_for_is_correctly_omitted(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        score = judge(make_case({"n": INTEGER | {"default": 2}}, {"n": 2}), {}, asked=False)
        assert verdicts(score) == {"/n": "correctly_omitted"}
        assert (score.exact, score.counts) == (True, (0, 0, 0))


class TestWholeCase:
    @pytest.mark.trap("D9")
    def test_d9_an_unparsed_reply_is_wrong_and_no_abstention(
        self, make_case: Make, judge: Judge, verdicts: Verdicts
    ) -> None:
        case = make_case(
            {"a": STRING, "k": INTEGER, "u": {"type": "string", "default": "C"}, "p": STRING},
            {"a": "x", "k": 1, "u": "C"},
            data={"k": 1},
            unfillable=("/p",),
        )
        score = judge(case, {}, status="unparsed")
        assert verdicts(score) == {"/a": "missing", "/k": "known", "/u": "missing"}
        assert score.counts == (0, 0, 2)
        assert (score.status, score.exact, score.exact_strict, score.schema_valid) == (
            "unparsed",
            False,
            False,
            False,
        )

    @pytest.mark.trap("D9")
    def test_d9_not_even_when_nothing_was_expected(self, make_case: Make, judge: Judge) -> None:
        score = judge(make_case({"p": STRING}, {}, unfillable=("/p",)), {}, status="unparsed")
        assert (score.exact, score.slots) == (False, ())

    @pytest.mark.trap("D10")
    def test_d10_a_provider_error_is_judged_in_nothing(self, make_case: Make, judge: Judge) -> None:
        score = judge(make_case({"a": STRING}, {"a": "x"}), {}, status="provider_error")
        assert (score.exact, score.exact_strict, score.schema_valid) == (None, None, None)
        assert (score.slots, score.counts) == ((), (0, 0, 0))

    def test_b5_a_repaired_reply_is_exact_apart_from_strict(
        self, make_case: Make, judge: Judge
    ) -> None:
        score = judge(make_case({"a": STRING}, {"a": "x"}), {"a": "x"}, repaired=True)
        assert (score.exact, score.exact_strict, score.repaired) == (True, False, True)

    def test_a31_schema_valid_is_found_out_and_not_believed(
        self, make_case: Make, judge: Judge
    ) -> None:
        case = make_case({"a": STRING}, {"a": "x"}, required=("a",))
        assert judge(case, {}, remaining_schema={}).schema_valid is False

    def test_arguments_no_validator_takes_are_not_valid(
        self, make_case: Make, judge: Judge
    ) -> None:
        """A system of the user's own may hand over anything."""
        deep: list[Any] = []
        for _ in range(150):
            deep = [deep]
        assert judge(make_case({"a": {}}, {"a": []}), {"a": deep}).schema_valid is False

    def test_stages_are_found_above_and_beneath_a_slot(
        self, make_case: Make, judge: Judge, slot: Slot
    ) -> None:
        case = make_case({"o": {}, "l": {}, "m": {}}, {"o": {"a": 1}, "l": [1, 2], "m": 1})
        score = judge(
            case,
            {"o": {"a": 1}, "l": [1, 2], "m": 1},
            filled_by={"/o": "stage1", "/l/1": "stage2", "/mm": "stage2"},
        )
        assert [slot(score, at).stage for at in ("/o/a", "/l", "/m")] == ["stage1", "stage2", ""]

    def test_a_missing_slot_was_filled_by_no_stage(
        self, make_case: Make, judge: Judge, slot: Slot
    ) -> None:
        case = make_case({"o": {}}, {"o": {"a": 1, "b": 2}})
        score = judge(case, {"o": {"a": 1}}, filled_by={"/o": "stage1"})
        assert (slot(score, "/o/a").stage, slot(score, "/o/b").stage) == ("stage1", "")

    def test_a_slot_bears_type_requirement_and_both_values(
        self, make_case: Make, judge: Judge
    ) -> None:
        case = make_case({"a": STRING, "f": {}}, {"a": "x", "f": 1.5}, required=("a",))
        score = judge(case, {"a": "y", "f": 1.5}, filled_by={"/a": "stage2"})
        assert score.slots == (
            SlotScore("/a", "wrong_value", "string", True, "x", "y", "", "stage2", "nowhere"),
            SlotScore("/f", "correct", "number", False, 1.5, 1.5, "json", ""),
        )

    def test_nothing_passed_in_is_mutated(self, make_case: Make) -> None:
        case = make_case(
            {"l": {"type": "array"}},
            {"l": [{"x": 1}, {"x": 2}]},
            accept={"/l": Accept((), "set")},
        )
        outcome = Outcome(slot_data={"l": [{"x": 2}, {"x": 1}]}, rejected=(("/l/0/y", 1, ""),))
        before = copy.deepcopy((case, outcome))
        score_case(case, outcome)
        assert (case, outcome) == before
