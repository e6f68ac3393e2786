"""ACEBench: turns, time and profile, tools, numbered calls, alternatives, the special categories."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from callbench.scoring.outcome import Outcome
from callbench.scoring.verdict import score_case

Import = Callable[..., Any]
Lines = Callable[..., Path]

HIRE = {
    "name": "Cars_hire",
    "description": "Hires a car.",
    "arguments": {
        "type": "object",
        "properties": {
            "city": {"type": "string", "pattern": "^[A-Za-z ]+$"},
            "days": {"type": "integer"},
            "options": {"type": "list(string)"},
            "driver": {"type": "object", "properties": {"age": {"type": "integer"}}},
        },
        "required": ["city"],
    },
}
OTHER = {"name": "Other", "parameters": {"type": "dict", "properties": {"x": {"type": "float"}}}}


@pytest.fixture
def ace(lines: Lines, imported: Import) -> Callable[..., Any]:
    """Import questions with their gold as a category in a language."""

    def run(category: str, *pairs: tuple[dict[str, Any], Any], lang: str = "en") -> Any:
        questions, gold = [], []
        for number, (entry, truth) in enumerate(pairs):
            name = f"{category}_{number}"
            questions.append({"id": name, "question": "user: A car in Oslo for 3 days\n",
                              "function": [OTHER, HIRE], "time": "", **entry})  # fmt: skip
            gold.append({"id": entry.get("id", name), "ground_truth": truth})
        file = lines(f"data_{lang}/data_{category}.json", *questions)
        lines(f"data_{lang}/possible_answer/data_{category}.json", *gold)
        return imported("acebench", file)

    return run


CALL = {"Cars_hire": {"city": "Oslo", "days": 3}}


class TestQuestion:
    def test_turns_become_conversation_and_question(self, ace: Import) -> None:
        text = "user: A car.\nsystem: Where?\n- in Norway\nuser: Oslo, 3 days\nor so\n"
        (record,) = ace("normal_atom_bool", ({"question": text}, CALL)).records
        assert record["question"] == "Oslo, 3 days\nor so"
        assert record["conversation"] == [
            {"role": "user", "content": "A car."},
            {"role": "assistant", "content": "Where?\n- in Norway"},
        ]

    def test_a_line_that_only_looks_like_a_turn_is_text(self, ace: Import) -> None:
        text = "user: Oslo, 3\nusername: ann\nThe user: me"
        (record,) = ace("normal_atom_bool", ({"question": text}, CALL)).records
        assert record["question"] == "Oslo, 3\nusername: ann\nThe user: me"

    @pytest.mark.parametrize(
        ("said", "now"),
        [
            ("Today is 2025-07-21, Monday.", "2025-07-21T00:00:00"),
            ("The current time is June 10, 2023, Saturday。", "2023-06-10T00:00:00"),
            ("The current time is March 09, 2020 14:05", "2020-03-09T14:05:00"),
            ("今天是2025年09月25日，星期四。", "2025-09-25T00:00:00"),
            ("现在是2025年9月5日 08:30", "2025-09-05T08:30:00"),
            ("Today is 2025-02-30.", None),
            ("Some day in May", None),
        ],
    )
    def test_time_is_now_and_stays_a_fact(self, ace: Import, said: str, now: str | None) -> None:
        (record,) = ace("normal_atom_bool", ({"time": said}, CALL)).records
        assert record.get("now") == now
        assert record["facts"] == [said]

    def test_a_profile_becomes_facts(self, ace: Import) -> None:
        profile = (
            "{'basic': {'UserName': \"O'Neill\", 'Age': 30}, 'history': {'shop': ['a', 'b']}}。"
        )
        (record,) = ace("normal_preference", ({"profile": profile}, CALL)).records
        assert record["facts"] == ["UserName: O'Neill", "Age: 30", "shop: a; b"]

    def test_a_profile_that_cannot_be_read_is_a_fact_as_it_stands(self, ace: Import) -> None:
        (record,) = ace("normal_preference", ({"profile": "likes {tea"}, CALL)).records
        assert record["facts"] == ["likes {tea"]

    def test_the_directory_says_the_language(self, ace: Import) -> None:
        assert ace("normal_atom_bool", ({}, CALL), lang="zh").records[0]["lang"] == "zh"
        assert ace("normal_atom_enum", ({}, CALL)).records[0]["lang"] == "en"


class TestNormal:
    def test_the_gold_tool_is_the_case_with_its_schema(self, ace: Import) -> None:
        (record,) = ace("normal_atom_bool", ({}, CALL)).records
        assert record["tool"] == {"name": "Cars_hire", "description": "Hires a car."}
        assert record["schema"]["properties"]["options"] == {
            "type": "array", "items": {"type": "string"}}  # fmt: skip
        assert record["expected"] == CALL["Cars_hire"]
        assert record["tags"] == ["acebench", "normal_atom_bool", "multiple-tools"]

    def test_numbered_calls_are_one_case_each(self, ace: Import) -> None:
        gold = {"Cars_hire_1": {"city": "Oslo"}, "Cars_hire_2": {"city": "Oslo", "days": 3}}
        first, second = ace("normal_single_turn_parallel_function", ({}, gold)).records
        assert first["tool"] == second["tool"]
        assert second["steps"][0]["step_name"] == "Cars_hire"
        assert second["id"] == "normal_single_turn_parallel_function_0/2"

    def test_a_tool_whose_own_name_ends_in_a_number(self, ace: Import) -> None:
        tool = {**HIRE, "name": "Cars_1"}
        found = ace("normal_similar_api", ({"function": [tool]}, {"Cars_1": {"city": "Oslo"}}))
        assert found.records[0]["tool"]["name"] == "Cars_1"

    def test_alternatives_are_accepted(self, ace: Import) -> None:
        gold = [CALL, {"Cars_hire": {"city": "Oslo city"}}, {"Other": {"x": 1}}]
        found = ace("normal_atom_bool", ({}, gold))
        assert found.records[0]["accept"] == {
            "/city": {"values": ["Oslo city"]},
            "/days": {"may_omit": True},
        }
        assert found.report["excluded"] == {"other-answer": 1}

    def test_turns_of_one_dialogue_are_one_cluster(self, ace: Import) -> None:
        found = ace(
            "normal_multi_turn_user_adjust",
            ({"id": "normal_multi_turn_user_adjust_4_0"}, CALL),
            ({"id": "normal_multi_turn_user_adjust_4_1"}, CALL),
        )
        assert {record["cluster"] for record in found.records} == {
            "normal_multi_turn_user_adjust_4"
        }

    def test_agent_categories_are_out_of_scope(self, ace: Import) -> None:
        found = ace("agent_multi_step", ({"initial_config": {}}, [{"State": {}}]))
        assert found.report["excluded"] == {"agent": 1}
        assert not found.records

    def test_both_languages_at_once_keep_apart(
        self, lines: Lines, imported: Import, tmp_path: Path
    ) -> None:
        for lang in ("en", "zh"):
            lines(f"data_{lang}/data_normal_atom_bool.json",
                  {"id": "a_0", "question": "user: Oslo", "function": [HIRE]})  # fmt: skip
            lines(f"data_{lang}/possible_answer/data_normal_atom_bool.json",
                  {"id": "a_0", "ground_truth": {"Cars_hire": {"city": "Oslo"}}})  # fmt: skip
        found = imported("acebench", tmp_path)
        assert [(each["id"], each["cluster"], each["lang"]) for each in found.records] == [
            ("a_0", "a_0", "en"), ("a_0#2", "a_0#2", "zh")]  # fmt: skip
        assert not found.report["defects"]


class TestSpecial:
    def test_incomplete_names_what_is_missing(self, ace: Import) -> None:
        found = ace("special_incomplete", ({}, {"Cars_hire": [" days ", "age", "city"]}))
        (record,) = found.records
        assert record["unfillable"] == ["/days", "/driver/age", "/city"]
        assert record["expected"] == {}
        assert not found.report["defects"]
        assert score_case(found.cases[0], Outcome(slot_data={})).exact
        assert not score_case(found.cases[0], Outcome(slot_data={"days": 3})).exact

    def test_what_the_gold_does_not_give_is_a_defect(self, ace: Import) -> None:
        found = ace("special_incomplete", ({}, {"Cars_hire": ["days"]}))
        assert found.kinds() == {"special_incomplete_0 /expected/city": "required-but-absent"}

    def test_wrong_values_by_parameter(self, ace: Import) -> None:
        (record,) = ace("special_error_param", ({}, {"city": ["Os#lo"]})).records
        assert record["tool"]["name"] == "Cars_hire"
        assert record["unfillable"] == ["/city"]
        assert "wrong-value" in record["tags"]

    def test_wrong_values_by_tool(self, ace: Import) -> None:
        (record,) = ace("special_error_param", ({}, {"Cars_hire": ["'Os#lo'"]})).records
        assert record["unfillable"] == ["/city"]

    def test_what_names_nothing_is_left_out(self, ace: Import) -> None:
        found = ace(
            "special_error_param",
            ({}, {"city": ["x"]}), ({}, {"wheels": ["x"]}), ({}, {"Cars_hire": ["Oslo"]}),
        )  # fmt: skip
        assert found.report["excluded"] == {"unknown-slot": 2}

    def test_a_name_among_others_that_is_no_parameter(self, ace: Import) -> None:
        found = ace("special_incomplete", ({}, {"Cars_hire": ["city", "wheels"]}))
        assert found.kinds() == {"special_incomplete_0 /unfillable": "misaligned"}

    def test_irrelevant_supports_nothing(self, ace: Import) -> None:
        (record,) = ace("special_irrelevant", ({}, "Due to the limitations …")).records
        assert (record["tool"]["name"], record["unfillable"]) == ("Other", ["/x"])
        assert "irrelevance" in record["tags"]


def test_what_only_some_alternatives_have_is_accepted_and_not_asked_for(ace: Import) -> None:
    answers = [{"Cars_hire": {"city": "Oslo"}}, {"Cars_hire": {"city": "Oslo", "days": 3}},
               {"Cars_hire": {"city": "Oslo"}}]  # fmt: skip
    (record,) = ace("normal_atom_bool", ({}, answers)).records
    assert record["expected"] == {"city": "Oslo"}
    assert record["accept"] == {"/days": {"values": [3]}}


def test_a_wrong_value_that_two_parameters_refuse_names_neither(ace: Import) -> None:
    """Which of the two holds it is not said, and is not guessed."""
    letters = {"type": "string", "pattern": "^[A-Za-z ]+$"}
    tool = {"name": "Compare", "parameters": {
        "type": "dict", "properties": {"one": letters, "two": letters}}}  # fmt: skip
    single = {"name": "Compare", "parameters": {"type": "dict", "properties": {"one": letters}}}
    gold = {"Compare": ["China123"]}
    found = ace("special_error_param", ({"function": [tool]}, gold), ({"function": [single]}, gold))
    assert found.report["excluded"] == {"unknown-slot": 1}
    assert [record["unfillable"] for record in found.records] == [["/one"]]


def test_full_width_colons_and_text_before_the_first_mark(ace: Import) -> None:
    text = "我要租车\nsystem：在哪里？\nuser：Oslo, 3 days\n"
    (record,) = ace("normal_atom_bool", ({"question": text}, CALL), lang="zh").records
    assert record["question"] == "Oslo, 3 days"
    assert record["conversation"] == [
        {"role": "user", "content": "我要租车"},
        {"role": "assistant", "content": "在哪里？"},
    ]
