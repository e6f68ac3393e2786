"""The Slot: two-stage filling (seed Slot), DESIGN §3.3, TRAPS A11–A15, A26–A32."""

from __future__ import annotations

import copy
import json
from datetime import datetime
from typing import Any

import pytest

from corecall.generator import GenerationError, JsonGenerator
from corecall.slot.processor import SlotProcessor
from corecall.slot.slot import Slot
from corecall.types import CallError, CallOutputType, LanguageType

from .support import FakeFunction, FakeReasoning, Pair, executor, history

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "nights": {"type": "integer", "minimum": 1},
        "breakfast": {"type": "boolean", "default": True},
    },
    "required": ["city", "nights"],
}


class Filled:
    """One run of a Slot against scripted models."""

    def __init__(self, slot: Slot, output: dict[str, Any], models: Pair) -> None:
        self.slot = slot
        self.data = output["slot_data"]
        self.remaining = output["remaining_schema"]
        self.reasoning: FakeReasoning = models.reasoning
        self.function: FakeFunction = models.function


async def fill(
    *,
    first: str | Exception | None = None,
    second: dict[str, Any] | CallError | None = None,
    schema: dict[str, Any] = SCHEMA,
    runner: dict[str, Any] | None = None,
    reply_mode: str = "text",
    **given: Any,
) -> Filled:
    replies: list[Any] = (
        [] if first is None else [first if isinstance(first, Exception) else [first]]
    )
    models = Pair(FakeReasoning(replies), FakeFunction([] if second is None else [second]))
    models.reasoning.reply_mode = reply_mode
    task = executor(models, **(runner or {}))
    slot = await Slot.instance(task, None, current_schema=schema, **given)
    chunks = [chunk async for chunk in slot.exec(task, slot.input)]
    assert [chunk.type for chunk in chunks] == [CallOutputType.DATA]
    content = chunks[0].content
    assert isinstance(content, dict)
    return Filled(slot, content, models)


class TestAttributes:
    def test_defaults_of_the_seed(self) -> None:
        slot = Slot(name="n", description="d")
        assert (slot.data, slot.current_schema, slot.summary, slot.facts) == ({}, {}, "", [])
        assert (slot.step_num, slot.to_user, slot.enable_filling) == (1, False, False)

    def test_info_in_both_languages(self) -> None:
        assert Slot.info().name != Slot.info(LanguageType.ENGLISH).name

    async def test_summary_and_facts_are_the_executors_unless_given(self) -> None:
        runner = {"reasoning": "a summary", "facts": ["a fact"]}
        found = await fill(first="{}", second={}, runner=runner)
        assert (found.slot.summary, found.slot.facts) == ("a summary", ["a fact"])
        found = await fill(first="{}", second={}, runner=runner, summary="mine", facts=[])
        assert (found.slot.summary, found.slot.facts) == ("mine", [])


class TestFlow:
    async def test_stage_1_alone_when_it_fills_everything(self) -> None:
        found = await fill(first='{"city": "Oslo", "nights": 2}')
        assert found.data == {"city": "Oslo", "nights": 2}
        assert found.remaining == {}
        assert found.function.requests == []
        assert found.slot.trace.filled_by == {"/city": "stage1", "/nights": "stage1"}

    async def test_a12_stage_2_adds_to_stage_1(self) -> None:
        found = await fill(first='{"city": "Oslo"}', second={"nights": 2})
        assert found.data == {"city": "Oslo", "nights": 2}
        assert found.remaining == {}
        assert found.slot.trace.filled_by == {"/city": "stage1", "/nights": "stage2"}

    async def test_a12_stage_2_does_not_overwrite_stage_1(self) -> None:
        found = await fill(first='{"city": "Oslo"}', second={"city": "Rome", "nights": 2})
        assert found.data == {"city": "Oslo", "nights": 2}

    async def test_a31_what_is_still_missing_is_said(self) -> None:
        found = await fill(first='{"city": "Oslo"}', second={})
        assert found.data == {"city": "Oslo"}
        assert found.remaining == {
            "type": "object",
            "properties": {"/nights": {"type": "integer", "minimum": 1}},
            "required": ["/nights"],
        }

    async def test_a14_nothing_to_fill_is_the_empty_result_without_a_model(self) -> None:
        found = await fill(data={"city": "Oslo", "nights": 2})
        assert (found.data, found.remaining) == ({}, {})
        assert found.reasoning.requests == []
        assert not found.slot.trace.asked

    async def test_a28_a_second_run_starts_from_what_was_given(self) -> None:
        replies = ('{"city": "Oslo", "nights": 2, "x": 1}', '{"city": "Rome", "nights": 3}')
        task = executor(Pair(FakeReasoning([[text] for text in replies])))
        slot = await Slot.instance(task, None, current_schema=SCHEMA)
        found = [[chunk.content async for chunk in slot.exec(task, slot.input)] for _ in replies]
        assert found == [
            [{"slot_data": {"city": city, "nights": nights}, "remaining_schema": {}}]
            for city, nights in (("Oslo", 2), ("Rome", 3))
        ]
        assert slot.trace.undeclared == []

    async def test_the_input_is_the_remaining_schema(self) -> None:
        slot = await Slot.instance(executor(), None, current_schema=SCHEMA, data={"city": "Oslo"})
        assert slot.input == {
            "remaining_schema": {
                "type": "object",
                "properties": {"/nights": {"type": "integer", "minimum": 1}},
                "required": ["/nights"],
            }
        }

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


class TestKnownData:
    async def test_a11_it_is_never_asked_for_nor_overwritten(self) -> None:
        found = await fill(
            data={"city": "Oslo"}, first='{"city": "Rome"}', second={"city": "Rome", "nights": 2}
        )
        assert found.data == {"city": "Oslo", "nights": 2}
        assert "city" not in found.function.requests[0][1]["properties"]

    async def test_what_is_known_but_invalid_is_asked_again(self) -> None:
        found = await fill(data={"city": "Oslo", "nights": 0}, first='{"nights": 3}')
        assert found.data == {"city": "Oslo", "nights": 3}

    async def test_a13_a_known_parent_with_a_missing_child_is_still_missing(self) -> None:
        schema = {
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
        known = {"guest": {"name": "Ida"}}
        found = await fill(schema=schema, data=known, first="nothing", second={})
        assert found.data == known
        assert found.remaining["required"] == ["/guest/age"]
        found = await fill(schema=schema, data=known, first='{"guest": {"age": 41}}')  # A15
        assert found.data == {"guest": {"name": "Ida", "age": 41}}

    async def test_pointer_keys_in_replies_and_data(self) -> None:
        found = await fill(data={"/city": "Oslo"}, first='{"/nights": 2}')
        assert found.data == {"city": "Oslo", "nights": 2}

    async def test_a19_a_known_name_that_looks_like_a_pointer_stays_a_name(self) -> None:
        found = await fill(data={"/~1nights": 5, "city": "Oslo"}, first="{}", second={})
        assert found.data == {"/nights": 5, "city": "Oslo"}
        assert found.slot.trace.filled_by == {}

    async def test_a17_nothing_of_the_callers_is_changed_and_no_default_written(self) -> None:
        schema, data = copy.deepcopy(SCHEMA), {"city": "Oslo"}
        found = await fill(schema=schema, data=data, first='{"nights": 2}')
        assert (schema, data) == (SCHEMA, {"city": "Oslo"})
        assert "breakfast" not in found.data


class TestReplies:
    async def test_a23_a26_replies_without_an_object_count_as_empty(self) -> None:
        for text in ("", "sorry", "[1]", '"x"', "{broken", "null"):
            found = await fill(first=text, second={"city": "Oslo", "nights": 2})
            assert found.data == {"city": "Oslo", "nights": 2}
            assert found.slot.trace.unparsed == ["stage1"]

    async def test_an_empty_object_is_an_answer(self) -> None:
        found = await fill(first="{}", second={})
        assert found.slot.trace.unparsed == []

    async def test_undeclared_and_rejected_values_are_recorded_not_merged(self) -> None:
        found = await fill(
            first='{"city": "Oslo", "nights": "two", "price": 5}', second={"nights": 2}
        )
        assert found.data == {"city": "Oslo", "nights": 2}
        assert [(r.pointer, r.value) for r in found.slot.trace.rejected] == [("/nights", "two")]
        assert [(r.pointer, r.value) for r in found.slot.trace.undeclared] == [("/price", 5)]

    async def test_null_means_not_given(self) -> None:
        found = await fill(first='{"city": null, "nights": 2}', second={})
        assert found.data == {"nights": 2}
        assert found.slot.trace.rejected == []

    async def test_a32_an_optional_parameter_may_be_left_out_or_given(self) -> None:
        found = await fill(first='{"city": "Oslo", "nights": 2, "breakfast": false}')
        assert found.data == {"city": "Oslo", "nights": 2, "breakfast": False}

    async def test_repair_only_when_asked_and_reported(self) -> None:
        reply = '{"city": "Oslo", "nights": 2,}'
        strict = await fill(first=reply, second={})
        assert strict.data == {}
        assert (strict.slot.trace.repairs, strict.slot.trace.unparsed) == ([], ["stage1"])
        mended = await fill(first=reply, repair=True)
        assert mended.data == {"city": "Oslo", "nights": 2}
        assert mended.slot.trace.repairs
        assert mended.slot.trace.unparsed == []


class TestFailures:
    async def test_a30_a_failing_endpoint_is_an_error(self) -> None:
        with pytest.raises(CallError, match="down"):
            await fill(first=CallError("down"))
        with pytest.raises(CallError, match="down"):
            await fill(first="{}", second=CallError("down"))

    async def test_a_function_model_without_a_valid_object_leaves_what_it_gave(self) -> None:
        error = GenerationError("no", answer='{"nights": 2}', partial={"nights": 2})
        found = await fill(first="{}", second=error)
        assert found.data == {"nights": 2}
        assert found.remaining["required"] == ["/city"]

    async def test_unparsed_in_both_stages(self) -> None:
        error = GenerationError("no", answer="sorry", partial={})
        found = await fill(first="sorry", second=error)
        assert found.data == {}
        assert found.slot.trace.unparsed == ["stage1", "stage2"]

    async def test_an_invalid_schema_is_a_value_error(self) -> None:
        with pytest.raises(ValueError, match="type"):
            await fill(schema={"type": "nonsense"})

    async def test_a_template_that_does_not_render_is_named(self) -> None:
        with pytest.raises(CallError, match="slot prompt"):
            await fill(first="{}", prompt="{{ nope }}")


class TestAskOptional:
    SCHEMA = {"type": "object", "properties": {"note": {"type": "string"}}}

    async def test_without_it_a_tool_with_only_optional_parameters_asks_nothing(self) -> None:
        found = await fill(schema=self.SCHEMA)
        assert found.data == {}
        assert not found.slot.trace.asked

    async def test_with_it_optional_parameters_are_asked_and_may_stay_unknown(self) -> None:
        found = await fill(schema=self.SCHEMA, ask_optional=True, first='{"note": "hi"}')
        assert (found.data, found.remaining) == ({"note": "hi"}, {})
        found = await fill(schema=self.SCHEMA, ask_optional=True, first="{}", second={"note": None})
        assert (found.data, found.remaining) == ({}, {})
        assert found.slot.trace.asked


class TestMessages:
    RUNNER: dict[str, Any] = {
        "question": "Two nights {{ please }}",
        "conversation": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}],
        "facts": ["likes fjords"],
        "reasoning": "a summary",
        "now": datetime(2026, 3, 12, 9, 30),
        "context": [
            history("s1", {"old": 1}, stepName="older", stepDescription="d1"),
            history("s2", {"html": "</output>"}, stepName="newer", stepDescription="d2"),
        ],
    }

    async def test_conversation_first_then_the_sections_in_the_seeds_order(self) -> None:
        found = await fill(first='{"city": "Oslo", "nights": 2}', runner=self.RUNNER)
        sent = found.reasoning.requests[0]
        assert sent["streaming"] is True
        assert sent["messages"][:2] == self.RUNNER["conversation"]
        assert [m["role"] for m in sent["messages"]] == ["user", "assistant", "user"]
        text = sent["messages"][-1]["content"]
        body = text[text.index("</example>") :]
        sections = ("context", "question", "tool_info", "tool_call", "output")
        places = [body.rindex(f"<{tag}>") for tag in sections]
        assert places == sorted(places)
        assert text.index("<instructions>") < text.index("<example>")
        for shown in ("a summary", "likes fjords", "newer", "d2", "Two nights {{ please }}",
                      "book", "Book a hotel", json.dumps(SCHEMA), "2026-03-12 09:30:00"):  # fmt: skip
            assert shown in body
        assert '{"html": "<\\/output>"}' in body

    @pytest.mark.parametrize(("num", "shown"), [(0, []), (1, ["newer"]), (5, ["older", "newer"])])
    async def test_a5_step_num_is_how_many_of_the_latest_steps_are_shown(
        self, num: int, shown: list[str]
    ) -> None:
        found = await fill(first="{}", second={}, runner=self.RUNNER, step_num=num)
        text = found.reasoning.requests[0]["messages"][-1]["content"]
        assert [name for name in ("older", "newer") if f"<name>{name}</name>" in text] == shown

    @pytest.mark.parametrize("language", list(LanguageType))
    async def test_the_tasks_language(self, language: LanguageType) -> None:
        found = await fill(first="{}", second={}, runner={"language": language})
        texts = [m["content"] for m in found.function.requests[0][0]]
        for text in (texts[0], texts[-1]):
            assert ("参数" in text) == (language is LanguageType.CHINESE)

    async def test_stage_2_continues_the_talk_and_ends_on_a_user_turn(self) -> None:
        found = await fill(first='Sure: {"city": "Oslo"}', second={}, runner=self.RUNNER)
        messages, schema = found.function.requests[0]
        assert messages[:3] == found.reasoning.requests[0]["messages"]
        assert messages[3] == {"role": "assistant", "content": 'Sure: {"city": "Oslo"}'}
        assert messages[4]["role"] == "user"
        assert len(messages) == 5
        assert "/nights" in messages[4]["content"]
        assert '{"city": "Oslo"}' in messages[4]["content"]
        assert list(schema["properties"]) == ["nights"]
        assert (schema["title"], schema["description"]) == ("book", "Book a hotel")

    async def test_a_prompt_of_the_users_own(self) -> None:
        found = await fill(first="{}", second={}, prompt="{{ question }} {{ schema }}")
        text = found.reasoning.requests[0]["messages"][-1]["content"]
        assert text == f"What is it? {json.dumps(SCHEMA)}"

    async def test_how_stage_1_is_bound(self) -> None:
        free = await fill(first="{}", second={})
        assert "response_schema" not in free.reasoning.requests[0]
        bound = await fill(first="{}", second={}, reply_mode="json_schema")
        schema = bound.reasoning.requests[0]["response_schema"]
        assert schema["properties"] == SCHEMA["properties"]
        assert schema["title"] == "book"
