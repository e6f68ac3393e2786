"""The Slot: two-stage filling."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from corecall.core import CoreCall
from corecall.generator import GenerationError, JsonGenerator
from corecall.llm.llm import LLM
from corecall.slot.processor import SchemaError, SlotProcessor
from corecall.slot.schema import SlotInput, SlotOutput
from corecall.slot.slot import Slot
from corecall.types import CallError, LanguageType

from .slot_support import SCHEMA, fill
from .support import FakeReasoning, Pair, executor

NIGHTS = {
    "type": "object",
    "properties": {"/nights": {"type": "integer", "minimum": 1}},
    "required": ["/nights"],
}
GUEST: dict[str, Any] = {
    "type": "object",
    "properties": {
        "guest": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
            "required": ["name", "age"],
        }
    },
    "required": ["guest"],
}


class TestAttributes:
    @pytest.mark.rule("slot.config.1")
    def test_info_is_chinese_unless_asked(self) -> None:
        info = Slot.info()
        assert (info.name, info.description) == (
            "参数自动填充",
            "根据步骤历史和背景信息，自动填充工具的参数。",
        )
        assert Slot.info(LanguageType.CHINESE) == info

    @pytest.mark.rule("slot.config.1")
    def test_info_in_english(self) -> None:
        info = Slot.info(LanguageType.ENGLISH)
        assert (info.name, info.description) == (
            "Slot",
            "Fill a tool's parameters from step history and background.",
        )

    @pytest.mark.rule("slot.config.2")
    def test_defaults_of_the_seed(self) -> None:
        slot = Slot(name="n", description="d")
        assert (slot.data, slot.current_schema, slot.summary, slot.facts) == ({}, {}, "", [])
        assert (slot.step_num, slot.to_user, slot.enable_filling) == (1, False, False)

    @pytest.mark.rule("slot.config.2")
    def test_defaults_are_not_shared(self) -> None:
        Slot(name="n", description="d").data["a"] = 1
        assert Slot(name="n", description="d").data == {}

    @pytest.mark.rule("slot.config.3")
    def test_a_negative_number_of_steps_is_refused(self) -> None:
        with pytest.raises(ValueError, match="step_num"):
            Slot(name="n", description="d", step_num=-1)
        assert Slot(name="n", description="d", step_num=0).step_num == 0

    @pytest.mark.rule("slot.config.4")
    def test_it_is_hidden_and_other_calls_are_not(self) -> None:
        assert (Slot.hidden, CoreCall.hidden, LLM.hidden) == (True, False, False)

    @pytest.mark.rule("slot.config.5")
    def test_input_and_output(self) -> None:
        assert SlotInput().model_dump() == {"remaining_schema": {}}
        assert SlotOutput().model_dump() == {"slot_data": {}, "remaining_schema": {}}
        assert (Slot.input_model, Slot.output_model) == (SlotInput, SlotOutput)

    @pytest.mark.rule("slot.config.6")
    def test_extensions_are_off(self) -> None:
        slot = Slot(name="n", description="d")
        assert (slot.ask_optional, slot.repair, slot.prompt) == (False, False, None)


class TestPreparing:
    RUNNER: dict[str, Any] = {"reasoning": "a summary", "facts": ["a fact"]}

    @pytest.mark.rule("slot.init.1", "slot.init.2")
    async def test_summary_and_facts_are_the_executors(self) -> None:
        found = await fill(first="{}", second={}, runner=self.RUNNER)
        assert (found.slot.summary, found.slot.facts) == ("a summary", ["a fact"])

    @pytest.mark.rule("slot.init.1", "slot.init.2")
    @pytest.mark.parametrize(
        "given", [{"summary": "mine", "facts": ["f"]}, {"summary": "", "facts": []}]
    )
    async def test_unless_they_are_given(self, given: dict[str, Any]) -> None:
        found = await fill(first="{}", second={}, runner=self.RUNNER, **given)
        assert {"summary": found.slot.summary, "facts": found.slot.facts} == given

    @pytest.mark.rule("slot.init.1")
    async def test_without_reasoning_the_summary_is_empty(self) -> None:
        found = await fill(first="{}", second={})
        assert found.slot.summary == ""

    @pytest.mark.rule("slot.init.2")
    async def test_the_executors_facts_are_copied(self) -> None:
        task = executor(facts=["a fact"])
        slot = await Slot.instance(task, None)
        slot.facts.append("another")
        assert task.background.facts == ["a fact"]

    @pytest.mark.rule("slot.init.3")
    async def test_the_input_is_the_remaining_schema(self) -> None:
        slot = await Slot.instance(executor(), None, current_schema=SCHEMA, data={"city": "Oslo"})
        assert slot.input == {"remaining_schema": NIGHTS}

    @pytest.mark.rule("slot.init.3")
    async def test_nulls_of_the_schema_survive_in_the_input(self) -> None:
        """The input is dumped without nulls; those inside a schema are its own."""
        own = {"enum": [None, "x"], "default": None, "const": None}
        schema = {"properties": {"a": own}, "required": ["a"]}
        slot = await Slot.instance(executor(), None, current_schema=schema)
        assert slot.input["remaining_schema"]["properties"] == {"/a": own}

    @pytest.mark.rule("slot.init.7")
    async def test_an_invalid_schema_is_a_value_error(self) -> None:
        with pytest.raises(SchemaError, match="/properties/a/type") as caught:
            await fill(schema={"properties": {"a": {"type": "nonsense"}}})
        assert isinstance(caught.value, ValueError)

    @pytest.mark.rule("slot.init.8", "slot.result.6")
    @pytest.mark.trap("A17")
    async def test_nothing_of_the_callers_is_changed_and_no_default_written(self) -> None:
        schema, data = copy.deepcopy(SCHEMA), {"city": "Oslo"}
        found = await fill(schema=schema, data=data, first='{"nights": 2}')
        assert (schema, data) == (SCHEMA, {"city": "Oslo"})
        assert found.data == {"city": "Oslo", "nights": 2}

    @pytest.mark.rule("slot.init.8")
    async def test_the_output_shares_nothing_with_the_callers_values(self) -> None:
        schema, known = copy.deepcopy(GUEST), {"guest": {"name": "Ida"}}
        found = await fill(schema=schema, data=known, first="{}", second={})
        found.data["guest"]["name"] = "changed"
        found.remaining["properties"]["/guest/age"]["type"] = "changed"
        assert (schema, known) == (GUEST, {"guest": {"name": "Ida"}})


class TestKnownData:
    @pytest.mark.rule("slot.merge.2", "slot.stage2.1")
    @pytest.mark.trap("A11")
    async def test_it_is_never_asked_for_nor_overwritten(self) -> None:
        found = await fill(
            data={"city": "Oslo"}, first='{"city": "Rome"}', second={"city": "Rome", "nights": 2}
        )
        assert found.data == {"city": "Oslo", "nights": 2}
        assert list(found.function.requests[0][1]["properties"]) == ["nights"]

    @pytest.mark.rule("slot.merge.6")
    async def test_what_is_known_but_invalid_is_asked_again(self) -> None:
        found = await fill(data={"city": "Oslo", "nights": 0}, first='{"nights": 3}')
        assert found.data == {"city": "Oslo", "nights": 3}

    @pytest.mark.rule("slot.merge.28")
    @pytest.mark.trap("A13")
    async def test_a_known_parent_with_a_missing_child_is_still_missing(self) -> None:
        known = {"guest": {"name": "Ida"}}
        for reply in ("nothing", '{"guest": null}', '{"guest": "Ida"}'):
            found = await fill(schema=GUEST, data=known, first=reply, second={})
            assert found.data == known
            assert found.remaining["required"] == ["/guest/age"]

    @pytest.mark.rule("slot.merge.3")
    @pytest.mark.trap("A15")
    async def test_siblings_of_a_filled_member_stay(self) -> None:
        known = {"guest": {"name": "Ida"}}
        found = await fill(schema=GUEST, data=known, first='{"guest": {"age": 41}}')
        assert found.data == {"guest": {"name": "Ida", "age": 41}}

    @pytest.mark.rule("slot.init.4", "slot.stage1.3")
    async def test_pointer_keys_in_replies_and_data(self) -> None:
        found = await fill(data={"/city": "Oslo"}, first='{"/nights": 2}')
        assert found.data == {"city": "Oslo", "nights": 2}

    @pytest.mark.rule("slot.init.4")
    @pytest.mark.trap("A19")
    async def test_a_known_name_that_looks_like_a_pointer_stays_a_name(self) -> None:
        found = await fill(data={"/~1nights": 5, "city": "Oslo"}, first="{}", second={})
        assert found.data == {"/nights": 5, "city": "Oslo"}
        assert found.slot.trace.filled_by == {}

    @pytest.mark.rule("slot.merge.29")
    async def test_a_declared_name_with_a_slash_is_answered_as_it_is_shown(self) -> None:
        schema = {"properties": {"/a": {"type": "integer"}}, "required": ["/a"]}
        found = await fill(schema=schema, first="{}", second={"/a": 1})
        assert list(found.function.requests[0][1]["properties"]) == ["/a"]
        assert (found.data, found.remaining) == ({"/a": 1}, {})

    @pytest.mark.rule("slot.merge.29")
    async def test_so_is_a_known_one(self) -> None:
        schema = {"properties": {"/a": {"type": "integer"}}, "required": ["/a"]}
        slot = await Slot.instance(executor(), None, current_schema=schema, data={"/a": 1})
        assert slot.input == {"remaining_schema": {}}

    @pytest.mark.rule("slot.init.5")
    async def test_a_null_that_is_not_admitted_is_missing(self) -> None:
        found = await fill(data={"city": None, "nights": 2}, first="{}", second={})
        assert "null" not in found.prompt
        assert found.data == {"nights": 2}
        assert found.remaining["required"] == ["/city"]

    @pytest.mark.rule("slot.init.5")
    async def test_an_optional_one_is_not_asked_for(self) -> None:
        found = await fill(data={"city": "Oslo", "nights": 2, "breakfast": None})
        assert (found.data, found.remaining) == ({}, {})

    @pytest.mark.rule("slot.init.5")
    async def test_at_any_depth_and_under_pointer_keys(self) -> None:
        for known in ({"guest": {"name": None, "age": 4}}, {"/guest/name": None, "/guest/age": 4}):
            found = await fill(schema=GUEST, data=known, first="{}", second={})
            assert found.data == {"guest": {"age": 4}}
            assert found.remaining["required"] == ["/guest/name"]

    @pytest.mark.rule("slot.init.6")
    async def test_a_null_that_is_admitted_is_known(self) -> None:
        schema = {"properties": {"a": {"enum": [None, 1]}, "b": {}}, "required": ["a", "b"]}
        found = await fill(schema=schema, data={"a": None}, first='{"a": 1, "b": null}')
        assert (found.data, found.remaining) == ({"a": None, "b": None}, {})


class TestFlow:
    @pytest.mark.rule("slot.stage2.1", "slot.trace.3")
    async def test_stage_1_alone_when_it_fills_everything(self) -> None:
        found = await fill(first='{"city": "Oslo", "nights": 2}')
        assert found.data == {"city": "Oslo", "nights": 2}
        assert found.remaining == {}
        assert found.function.requests == []
        assert found.slot.trace.filled_by == {"/city": "stage1", "/nights": "stage1"}

    @pytest.mark.rule("slot.merge.1", "slot.trace.3")
    @pytest.mark.trap("A12")
    async def test_stage_2_adds_to_stage_1(self) -> None:
        found = await fill(first='{"city": "Oslo"}', second={"city": "Rome", "nights": 2})
        assert found.data == {"city": "Oslo", "nights": 2}
        assert found.remaining == {}
        assert found.slot.trace.filled_by == {"/city": "stage1", "/nights": "stage2"}

    @pytest.mark.rule("slot.stage1.4", "slot.stage1.2", "slot.stage2.7")
    async def test_the_sequence_of_the_seeds_diagram(self, monkeypatch: pytest.MonkeyPatch) -> None:
        seen: list[str] = []

        def watch(owner: type, name: str) -> None:
            inner = getattr(owner, name)

            def watched(*args: Any, **kwargs: Any) -> Any:
                seen.append(name)
                return inner(*args, **kwargs)

            wrapped: Any = staticmethod(watched) if name == "process_response" else watched
            monkeypatch.setattr(owner, name, wrapped)

        watch(SlotProcessor, "check_json")
        watch(SlotProcessor, "convert_json")
        watch(JsonGenerator, "process_response")
        for name in ("_llm", "_json"):
            watch(Slot, name)
        await fill(first='{"city": "Oslo"}', second={"nights": 2})
        kept = [n for i, n in enumerate(seen) if n != (seen[i - 1] if i else "")]
        assert kept == [
            "convert_json", "check_json",  # _init
            "_llm", "process_response", "convert_json", "check_json",
            "_json", "convert_json", "check_json",
        ]  # fmt: skip

    @pytest.mark.rule("slot.stage1.1")
    async def test_the_pieces_of_the_reply_are_joined(self) -> None:
        found = await fill(first=['{"city": "Os', None, 'lo", "nights"', "", ": 2}"])
        assert found.data == {"city": "Oslo", "nights": 2}
        assert found.slot.trace.answers == {"stage1": '{"city": "Oslo", "nights": 2}'}
        (request,) = found.reasoning.requests
        assert request["streaming"] is True

    @pytest.mark.rule("slot.stage1.1")
    async def test_llm_slot_fill_gives_reply_and_object(self) -> None:
        models = Pair(FakeReasoning([['Sure: {"a": 1}']]))
        slot = await Slot.instance(executor(models), None, current_schema={"required": ["a"]})
        filled = await slot._llm_slot_fill(slot.input["remaining_schema"])
        assert filled == ('Sure: {"a": 1}', {"a": 1})

    @pytest.mark.rule("slot.stage1.2")
    @pytest.mark.trap("A26")
    async def test_braces_in_thought_and_prose(self) -> None:
        reply = (
            '<think>{"city": "Rome"}</think>{so} ```json\n{"city": "Oslo", "nights": 2}\n``` {.}'
        )
        found = await fill(first=reply)
        assert found.data == {"city": "Oslo", "nights": 2}

    @pytest.mark.rule("slot.stage2.7")
    async def test_the_function_model_is_asked_once(self) -> None:
        found = await fill(first="{}", second={"city": "Oslo"})
        assert len(found.function.requests) == 1
        assert found.remaining == NIGHTS

    @pytest.mark.rule("slot.stage2.8")
    async def test_a_function_model_without_a_valid_object_leaves_what_it_gave(self) -> None:
        error = GenerationError("no", answer="nights: 2", partial={"nights": 2})
        found = await fill(first="{}", second=error)
        assert found.data == {"nights": 2}
        assert found.remaining["required"] == ["/city"]


class TestReplies:
    @pytest.mark.rule("slot.error.1", "slot.trace.5")
    @pytest.mark.trap("A23")
    @pytest.mark.parametrize("text", ["", "sorry", "[1]", '"x"', "{broken", "null", "0", "NaN"])
    async def test_replies_without_an_object_count_as_empty(self, text: str) -> None:
        found = await fill(first=text, second={"city": "Oslo", "nights": 2})
        assert found.data == {"city": "Oslo", "nights": 2}
        assert found.slot.trace.unparsed == ["stage1"]

    @pytest.mark.rule("slot.trace.4", "slot.merge.14", "slot.merge.18")
    async def test_undeclared_and_rejected_values_are_recorded_not_merged(self) -> None:
        found = await fill(
            first='{"city": "Oslo", "nights": "two", "price": 5}', second={"nights": 0, "tax": 1}
        )
        assert found.data == {"city": "Oslo"}
        trace = found.slot.trace
        assert [(r.pointer, r.value) for r in trace.rejected] == [
            ("/nights", "two"),
            ("/nights", 0),
        ]
        assert [(r.pointer, r.value) for r in trace.undeclared] == [("/price", 5), ("/tax", 1)]

    @pytest.mark.rule("slot.merge.10")
    async def test_null_means_not_given(self) -> None:
        found = await fill(first='{"city": null, "nights": 2}', second={})
        assert found.data == {"nights": 2}
        assert found.slot.trace.rejected == []

    @pytest.mark.rule("slot.result.7")
    @pytest.mark.trap("A32")
    async def test_an_optional_parameter_may_be_left_out_or_given(self) -> None:
        found = await fill(first='{"city": "Oslo", "nights": 2, "breakfast": false}')
        assert found.data == {"city": "Oslo", "nights": 2, "breakfast": False}
        found = await fill(first='{"city": "Oslo", "nights": 2}')
        assert (found.data, found.remaining) == ({"city": "Oslo", "nights": 2}, {})


class TestResult:
    @pytest.mark.rule("slot.result.1", "slot.trace.1")
    @pytest.mark.trap("A14")
    async def test_nothing_to_fill_is_the_empty_result_without_a_model(self) -> None:
        found = await fill(data={"city": "Oslo", "nights": 2})
        assert (found.data, found.remaining) == ({}, {})
        assert found.reasoning.requests == []
        assert not found.slot.trace.asked

    @pytest.mark.rule("slot.result.2")
    async def test_what_no_model_can_mend_is_told_without_asking(self) -> None:
        schema = {"properties": {"never": False, "a": {}}}
        found = await fill(schema=schema, data={"never": 1, "a": 2})
        assert found.data == {"never": 1, "a": 2}
        assert found.remaining["properties"] == {"/never": {"not": {}}}
        assert not found.slot.trace.asked

    @pytest.mark.rule("slot.result.3", "slot.result.5")
    async def test_the_whole_argument_object_in_one_chunk(self) -> None:
        found = await fill(data={"city": "Oslo"}, first='{"/nights": 2}')
        assert found.output == {"slot_data": {"city": "Oslo", "nights": 2}, "remaining_schema": {}}

    @pytest.mark.rule("slot.result.5")
    async def test_one_data_chunk_after_both_stages_too(self) -> None:
        found = await fill(first="{}", second={})  # fill() checks the chunks
        assert set(found.output) == {"slot_data", "remaining_schema"}

    @pytest.mark.rule("slot.result.4")
    @pytest.mark.trap("A31")
    async def test_what_is_still_missing_is_said(self) -> None:
        found = await fill(first='{"city": "Oslo"}', second={})
        assert found.data == {"city": "Oslo"}
        assert found.remaining == NIGHTS

    @pytest.mark.rule("slot.result.4")
    async def test_what_stage_2_filled_is_no_longer_missing(self) -> None:
        found = await fill(first='{"city": "Oslo"}', second={"nights": 2})
        assert found.output == {"slot_data": {"city": "Oslo", "nights": 2}, "remaining_schema": {}}

    @pytest.mark.rule("slot.result.8", "slot.trace.1")
    @pytest.mark.trap("A28")
    async def test_a_second_run_starts_from_what_was_given(self) -> None:
        replies = ('{"city": "Oslo", "nights": 2, "x": 1}', '{"city": "Rome", "nights": 3}')
        task = executor(Pair(FakeReasoning([[text] for text in replies])))
        slot = await Slot.instance(task, None, current_schema=SCHEMA)
        found = [[chunk.content async for chunk in slot.exec(task, slot.input)] for _ in replies]
        assert found == [
            [{"slot_data": {"city": city, "nights": nights}, "remaining_schema": {}}]
            for city, nights in (("Oslo", 2), ("Rome", 3))
        ]
        assert slot.trace.undeclared == []

    @pytest.mark.rule("slot.result.9")
    async def test_a_run_goes_by_the_input_it_is_handed(self) -> None:
        task = executor()
        slot = await Slot.instance(task, None, current_schema=SCHEMA)
        chunks = [chunk async for chunk in slot.exec(task, {"remaining_schema": {}})]
        assert [c.content for c in chunks] == [{"slot_data": {}, "remaining_schema": {}}]


class TestErrors:
    @pytest.mark.rule("slot.error.2")
    @pytest.mark.trap("A30")
    @pytest.mark.parametrize(
        "replies", [{"first": CallError("down")}, {"first": "{}", "second": CallError("down")}]
    )
    async def test_a_failing_endpoint_is_an_error(self, replies: dict[str, Any]) -> None:
        with pytest.raises(CallError, match="down"):
            await fill(**replies)

    @pytest.mark.rule("slot.error.3")
    async def test_no_function_model_is_an_error_only_when_it_is_needed(self) -> None:
        task = executor(Pair(FakeReasoning([['{"a": 1}'], ["{}"]])))
        slot = await Slot.instance(task, None, current_schema={"required": ["a"]})
        (chunk,) = [chunk async for chunk in slot.exec(task, slot.input)]
        assert chunk.content == {"slot_data": {"a": 1}, "remaining_schema": {}}
        with pytest.raises(CallError, match="no function model"):
            _ = [chunk async for chunk in slot.exec(task, slot.input)]


class TestTrace:
    @pytest.mark.rule("slot.trace.1")
    async def test_asked_means_that_a_model_was_called(self) -> None:
        found = await fill(first="{}", second={})
        assert found.slot.trace.asked is True

    @pytest.mark.rule("slot.trace.2")
    async def test_raw_answers(self) -> None:
        found = await fill(first="Sure: {}", second={"city": "杭州", "nights": 2})
        answers = {"stage1": "Sure: {}", "stage2": '{"city": "杭州", "nights": 2}'}
        assert found.slot.trace.answers == answers

    @pytest.mark.rule("slot.trace.2", "slot.trace.5")
    async def test_the_last_answer_of_a_function_model_that_gave_up(self) -> None:
        error = GenerationError("no", answer="sorry", partial={})
        found = await fill(first="hm", second=error)
        assert found.data == {}
        assert found.slot.trace.answers == {"stage1": "hm", "stage2": "sorry"}
        assert found.slot.trace.unparsed == ["stage1", "stage2"]

    @pytest.mark.rule("slot.trace.5")
    async def test_an_empty_object_is_an_answer(self) -> None:
        error = GenerationError("no", answer="{}", partial={})
        found = await fill(first="{}", second=error)
        assert found.slot.trace.unparsed == []

    @pytest.mark.rule("slot.trace.6")
    async def test_repair_only_when_asked_and_reported(self) -> None:
        reply = '{"city": "Oslo", "nights": 2,}'
        strict = await fill(first=reply, second={})
        assert strict.data == {}
        assert (strict.slot.trace.repairs, strict.slot.trace.unparsed) == ([], ["stage1"])
        mended = await fill(first=reply, repair=True)
        assert mended.data == {"city": "Oslo", "nights": 2}
        assert mended.slot.trace.repairs
        assert mended.slot.trace.unparsed == []

    @pytest.mark.rule("slot.trace.6")
    async def test_repair_in_stage_2(self) -> None:
        error = GenerationError("no", answer='{"city": "Oslo", "nights": 2,}', partial={})
        mended = await fill(first="{}", second=error, repair=True)
        assert mended.data == {"city": "Oslo", "nights": 2}
        assert mended.slot.trace.repairs
        assert mended.slot.trace.filled_by == {"/city": "stage2", "/nights": "stage2"}

    @pytest.mark.rule("slot.trace.6")
    async def test_a_valid_object_is_never_repaired(self) -> None:
        found = await fill(first='{"city": "Oslo", "nights": 2} {x: 1,}', repair=True)
        assert found.data == {"city": "Oslo", "nights": 2}
        assert found.slot.trace.repairs == []


class TestAskOptional:
    SCHEMA = {"type": "object", "properties": {"note": {"type": "string"}}}

    @pytest.mark.rule("slot.ask.9")
    async def test_without_it_a_tool_with_only_optional_parameters_asks_nothing(self) -> None:
        found = await fill(schema=self.SCHEMA)
        assert found.data == {}
        assert not found.slot.trace.asked

    @pytest.mark.rule("slot.ask.9")
    async def test_with_it_optional_parameters_are_filled(self) -> None:
        found = await fill(schema=self.SCHEMA, ask_optional=True, first='{"note": "hi"}')
        assert (found.data, found.remaining) == ({"note": "hi"}, {})
        assert found.function.requests == []

    @pytest.mark.rule("slot.ask.7", "slot.ask.9")
    async def test_and_may_stay_unknown(self) -> None:
        found = await fill(schema=self.SCHEMA, ask_optional=True, first="{}", second={"note": None})
        assert (found.data, found.remaining) == ({}, {})
        asked = found.function.requests[0][1]["properties"]["note"]
        assert json.dumps(asked) == '{"type": ["string", "null"]}'
