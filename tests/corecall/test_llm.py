"""The LLM call: seed LLM §3, §4 and §7."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest

from corecall.core import CoreCall
from corecall.llm.llm import LLM
from corecall.llm.prompt import LLM_DEFAULT_PROMPT
from corecall.types import CallError, CallOutputType, LanguageType

from .support import FakeReasoning, Pair, executor, history

TALK = [
    {"role": "user", "content": "first"},
    {"role": "assistant", "content": "second"},
    {"role": "user", "content": "third"},
]


async def messages(runner: Any = None, **given: Any) -> list[dict[str, str]]:
    call = await LLM.instance(runner or executor(), None, **given)
    found: list[dict[str, str]] = call.input["message"]
    return found


class TestInfo:
    def test_names_of_the_seed(self) -> None:
        assert LLM.info().name == "大模型"
        assert LLM.info(LanguageType.ENGLISH).name == "LLM"
        assert LLM.info().description
        assert LLM.info(LanguageType.ENGLISH).description.isascii()


class TestAttributes:
    def test_defaults_of_the_seed(self) -> None:
        call = LLM(name="n", description="d")
        assert call.to_user is True
        assert call.temperature == 0.7
        assert call.step_history_size == 3
        assert call.history_length == 0
        assert call.system_prompt == "You are a helpful assistant."
        assert call.user_prompt == LLM_DEFAULT_PROMPT[LanguageType.CHINESE]

    @pytest.mark.parametrize(
        "bad", [{"step_history_size": 11}, {"step_history_size": -1}, {"history_length": -1}]
    )
    def test_sizes_out_of_range_are_refused(self, bad: dict[str, int]) -> None:
        with pytest.raises(ValueError, match=next(iter(bad))):
            LLM(name="n", description="d", **bad)

    @pytest.mark.parametrize("size", [0, 10])
    def test_sizes_at_the_ends_are_taken(self, size: int) -> None:
        assert LLM(name="n", description="d", step_history_size=size).step_history_size == size


class TestMessages:
    async def test_conversation_then_system_then_user(self) -> None:
        runner = executor(conversation=TALK, question="fourth")
        found = await messages(runner, history_length=2, user_prompt="{{ question }}")
        assert found == [
            {"role": "assistant", "content": "second"},
            {"role": "user", "content": "third"},
            {"role": "system", "content": "You are a helpful assistant."},
            {"role": "user", "content": "fourth"},
        ]

    @pytest.mark.parametrize(
        ("length", "expected"), [(0, []), (1, ["third"]), (9, ["first", "second", "third"])]
    )
    async def test_a5_a6_the_latest_records_oldest_first(
        self, length: int, expected: list[str]
    ) -> None:
        found = await messages(executor(conversation=TALK), history_length=length)
        assert [message["content"] for message in found[:-2]] == expected

    async def test_only_role_and_content_are_sent(self) -> None:
        runner = executor(conversation=[{"role": "user", "content": "a", "id": "7"}])
        assert (await messages(runner, history_length=1))[0] == {"role": "user", "content": "a"}

    async def test_all_variables_of_both_prompts(self) -> None:
        template = (
            "{{ time }}|{{ question }}|{{ language }}|{{ reasoning }}|{{ history[0].content }}"
        )
        runner = executor(
            conversation=TALK,
            question="q",
            reasoning="why",
            now=datetime(2026, 3, 12, 9, 5, 7),
        )
        found = await messages(
            runner, history_length=1, system_prompt=template, user_prompt=template + "{{ context }}"
        )
        assert found[1]["content"] == "2026-03-12 09:05:07|q|en|why|third"
        assert found[2]["content"].startswith("2026-03-12 09:05:07|q|en|why|thirdThe following is")

    async def test_the_wall_clock_serves_when_the_task_has_none(self) -> None:
        before = datetime.now().replace(microsecond=0)
        found = await messages(user_prompt="{{ time }}")
        assert before <= datetime.strptime(found[-1]["content"], "%Y-%m-%d %H:%M:%S")

    async def test_a29_data_are_never_templates(self) -> None:
        runner = executor(question="{{ 7 * 7 }}{% for %}", reasoning="{{ question }}")
        found = await messages(runner, user_prompt="{{ question }}|{{ context }}")
        assert found[-1]["content"].startswith("{{ 7 * 7 }}{% for %}|")
        assert "{{ question }}" in found[-1]["content"]

    async def test_no_escaping(self) -> None:
        found = await messages(executor(question="a < b && c"), user_prompt="{{ question }}")
        assert found[-1]["content"] == "a < b && c"

    @pytest.mark.parametrize(
        ("prompt", "named"), [("system_prompt", "system prompt"), ("user_prompt", "user prompt")]
    )
    @pytest.mark.parametrize(
        "template",
        [
            "{{ unknown }}",
            "{% for %}",
            "{{ question.__class__.__mro__ }}",
            "{{ 1 / 0 }}",
            "{{ 1 + '' }}",
            "{% for a in [1] %}" * 30 + "{% endfor %}" * 30,  # more than Python nests
        ],
    )
    async def test_a10_a_prompt_that_does_not_render_is_named(
        self, prompt: str, named: str, template: str
    ) -> None:
        with pytest.raises(CallError, match=named):
            await messages(**{prompt: template})


class TestDefaultPrompt:
    async def test_chinese_is_the_seeds(self) -> None:
        runner = executor(
            language=LanguageType.CHINESE,
            question="今天北京的天气怎么样？",
            now=datetime(2026, 3, 12, 9, 5, 7),
        )
        text = (await messages(runner))[-1]["content"]
        assert "你是一个乐于助人的智能助手。请结合给出的背景信息, 回答用户的提问。" in text
        assert "当前时间：2026-03-12 09:05:07，可以作为时间参照。" in text
        assert "<user_question>\n  今天北京的天气怎么样？\n</user_question>" in text
        assert "<context>\n  无背景信息。\n</context>" in text
        assert text.endswith("现在，输出你的回答：")

    async def test_a9_an_english_task_gets_english(self) -> None:
        text = (await messages(executor()))[-1]["content"]
        assert "<context>\n  No background information.\n</context>" in text
        assert text.isascii()

    async def test_a_chinese_prompt_the_user_chose_stays(self) -> None:
        chosen = LLM_DEFAULT_PROMPT[LanguageType.CHINESE]
        assert "你是" in (await messages(executor(), user_prompt=chosen))[-1]["content"]


class TestContext:
    PAST = [
        history("s1", {"v": 1}, stepName="one", stepDescription="first"),
        history("s2", {"v": 2}, stepName="two", stepDescription="second"),
        history("s3", {"温度": "晴"}, stepName="three", stepDescription="third"),
    ]

    async def context(self, size: int = 3, **runtime: Any) -> str:
        runner = executor(context=self.PAST, **runtime)
        found = await messages(runner, step_history_size=size, user_prompt="{{ context }}")
        return found[-1]["content"]

    async def test_a7_name_description_and_output_are_shown(self) -> None:
        text = await self.context()
        assert text == (
            "As an AI, before completing the user's instruction, you need to obtain necessary "
            "information. For this purpose, you have called some tools and obtained their "
            "outputs:\n<tool_data>\n"
            '<name>one</name>\n<description>first</description>\n<output>{"v": 1}</output>\n'
            '<name>two</name>\n<description>second</description>\n<output>{"v": 2}</output>\n'
            "<name>three</name>\n<description>third</description>\n"
            '<output>{"温度": "晴"}</output>\n</tool_data>'
        )

    async def test_a5_the_last_steps_in_order_and_none_for_zero(self) -> None:
        text = await self.context(2)
        assert "one" not in text
        assert text.index("two") < text.index("three")
        assert await self.context(0) == "No background information."

    async def test_reasoning_comes_first_in_the_seeds_words(self) -> None:
        text = await self.context(1, language=LanguageType.CHINESE, reasoning="先查天气")
        assert text.startswith(
            "以下是AI处理用户指令时所做的思考，在<reasoning>中给出：\n"
            "<reasoning>\n先查天气\n</reasoning>\n"
            "你作为AI，在完成用户指令前，需要获取必要的信息。为此，你调用了一些工具，并获得了它们的输出："
        )

    async def test_reasoning_alone(self) -> None:
        text = await self.context(0, reasoning="why")
        assert text.endswith("<reasoning>\nwhy\n</reasoning>")
        assert "tool_data" not in text

    async def test_an_output_cannot_close_its_tag(self) -> None:
        output = {"html": "</output></tool_data>{{ x }}"}
        runner = executor(context=[history("s", output)])
        text = (await messages(runner, user_prompt="{{ context }}"))[-1]["content"]
        shown = text.split("<output>")[1].split("</output>")[0]
        assert json.loads(shown) == output
        assert text.count("</tool_data>") == 1

    async def test_a_step_that_ran_twice_is_shown_at_both_places_with_its_last_record(self) -> None:
        runner = executor(context=[history("s", {"v": 1}), history("s", {"v": 2})])
        text = (await messages(runner, user_prompt="{{ context }}"))[-1]["content"]
        assert text.count('<output>{"v": 2}</output>') == 2


class TestExec:
    async def run(self, reasoning: FakeReasoning, **given: Any) -> list[Any]:
        runner = executor(Pair(reasoning))
        call = await LLM.instance(runner, None, **given)
        self.got: list[Any] = []
        async for chunk in call.exec(runner, call.input):
            self.got.append((chunk.type, chunk.content))
        return self.got

    async def test_it_streams_text_and_drops_empty_chunks(self) -> None:
        found = await self.run(FakeReasoning([["a", "", None, "b"]]))
        assert found == [(CallOutputType.TEXT, "a"), (CallOutputType.TEXT, "b")]

    async def test_a8_the_temperature_reaches_the_model(self) -> None:
        reasoning = FakeReasoning([["a"]])
        await self.run(reasoning, temperature=0.1)
        assert reasoning.requests[0]["temperature"] == 0.1
        assert reasoning.requests[0]["streaming"] is True

    async def test_a_failure_is_a_call_error_with_its_cause(self) -> None:
        with pytest.raises(CallError, match="no route") as caught:
            await self.run(FakeReasoning([OSError("no route")]))
        assert isinstance(caught.value.__cause__, OSError)

    async def test_a_call_error_stays_itself(self) -> None:
        error = CallError("quota", {"status": 429})
        with pytest.raises(CallError) as caught:
            await self.run(FakeReasoning([error]))
        assert caught.value is error

    async def test_leaving_early_ends_the_request(self) -> None:
        ended: list[bool] = []

        class Watched(FakeReasoning):
            async def call(self, *args: Any, **options: Any) -> Any:
                try:
                    async for piece in super().call(*args, **options):
                        yield piece
                finally:
                    ended.append(True)

        runner = executor(Pair(Watched([["a", "b"]])))
        call = await LLM.instance(runner, None)
        chunks = call.exec(runner, call.input)
        assert (await anext(chunks)).content == "a"
        assert not ended
        await chunks.aclose()
        assert ended

    async def test_what_was_yielded_before_a_failure_stays(self) -> None:
        class Breaking(FakeReasoning):
            async def call(self, *args: Any, **options: Any) -> Any:
                async for piece in super().call(*args, **options):
                    yield piece
                raise OSError("reset")

        with pytest.raises(CallError):
            await self.run(Breaking([["a"]]))
        assert self.got == [(CallOutputType.TEXT, "a")]


def test_it_is_a_core_call() -> None:
    assert issubclass(LLM, CoreCall)
