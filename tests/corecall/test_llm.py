"""The LLM call: its attributes, the messages it prepares, the reply it streams."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corecall.context import clock, last
from corecall.core import CoreCall
from corecall.llm.llm import LLM
from corecall.llm.prompt import LLM_CONTEXT_PROMPT, LLM_DEFAULT_PROMPT
from corecall.llm.schema import LLMInput, LLMOutput
from corecall.templating import render
from corecall.types import CallError, CallOutputType, LanguageType

from ..contract.contract import rules
from .support import FakeReasoning, Pair, executor, history

CHINESE, ENGLISH = LanguageType.CHINESE, LanguageType.ENGLISH
NOW = datetime(2026, 3, 12, 9, 5, 7)
TALK = [
    {"role": "user", "content": "first"},
    {"role": "assistant", "content": "second"},
    {"role": "user", "content": "third"},
]

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
)


async def messages(runner: Any = None, **given: Any) -> list[dict[str, str]]:
    call = await LLM.instance(runner or executor(), None, **given)
    found: list[dict[str, str]] = call.input["message"]
    return found


async def prompt(template: str, runner: Any = None, **given: Any) -> str:
    """Return what the user prompt ``template`` renders to."""
    return (await messages(runner, user_prompt=template, **given))[-1]["content"]


class TestConfig:
    def build(self, **given: Any) -> LLM:
        return LLM(name="n", description="d", **given)

    @pytest.mark.rule("llm.config.1", "core.info.2")
    def test_names_of_the_seed(self) -> None:
        assert LLM.info() == LLM.info(CHINESE)
        assert LLM.info(CHINESE).model_dump() == {
            "name": "大模型",
            "description": "以指定的提示词和上下文信息调用大模型，并获得输出。",
        }
        assert LLM.info(ENGLISH).model_dump() == {
            "name": "LLM",
            "description": "Call the model with the given prompt and context information.",
        }

    @pytest.mark.rule("llm.config.2", "llm.prompt.3")
    def test_defaults_of_the_seed(self) -> None:
        call = self.build()
        assert call.to_user is True
        assert call.temperature == 0.7
        assert call.step_history_size == 3
        assert call.history_length == 0
        assert call.system_prompt == "You are a helpful assistant."
        assert call.user_prompt == LLM_DEFAULT_PROMPT[CHINESE]

    @pytest.mark.rule("llm.config.3")
    @pytest.mark.trap("A9")
    @pytest.mark.parametrize("language", list(LanguageType))
    async def test_a_prompt_left_out_is_in_the_tasks_language(self, language: LanguageType) -> None:
        text = (await messages(executor(language=language)))[-1]["content"]
        assert text.isascii() == (language is ENGLISH)

    @pytest.mark.rule("llm.config.4")
    async def test_a_prompt_that_is_given_stays(self) -> None:
        assert await prompt(LLM_DEFAULT_PROMPT[CHINESE]) != await prompt(
            LLM_DEFAULT_PROMPT[ENGLISH]
        )
        assert "你是" in await prompt(LLM_DEFAULT_PROMPT[CHINESE], executor(language=ENGLISH))
        assert await prompt("") == ""

    @pytest.mark.parametrize(
        "bad",
        [
            pytest.param({"step_history_size": 11}, marks=pytest.mark.rule("llm.config.5")),
            pytest.param({"step_history_size": -1}, marks=pytest.mark.rule("llm.config.5")),
            pytest.param({"step_history_size": 2.5}, marks=pytest.mark.rule("llm.config.5")),
            pytest.param({"step_history_size": None}, marks=pytest.mark.rule("llm.config.5")),
            pytest.param({"history_length": -1}, marks=pytest.mark.rule("llm.config.6")),
            pytest.param({"temperature": float("nan")}, marks=pytest.mark.rule("llm.config.7")),
            pytest.param({"temperature": float("inf")}, marks=pytest.mark.rule("llm.config.7")),
            pytest.param({"temperature": "hot"}, marks=pytest.mark.rule("llm.config.7")),
        ],
    )
    def test_what_is_out_of_range_is_refused(self, bad: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match=next(iter(bad))):
            self.build(**bad)

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            pytest.param("step_history_size", 0, marks=pytest.mark.rule("llm.config.5")),
            pytest.param("step_history_size", 10, marks=pytest.mark.rule("llm.config.5")),
            pytest.param("history_length", 0, marks=pytest.mark.rule("llm.config.6")),
            pytest.param("history_length", 10**9, marks=pytest.mark.rule("llm.config.6")),
            pytest.param("temperature", 0, marks=pytest.mark.rule("llm.config.7")),
            pytest.param("temperature", 2.5, marks=pytest.mark.rule("llm.config.7")),
        ],
    )
    def test_what_is_at_the_ends_is_taken(self, field: str, value: float) -> None:
        assert getattr(self.build(**{field: value}), field) == value

    @pytest.mark.rule("llm.config.8")
    def test_input_and_output(self) -> None:
        assert (LLM.input_model, LLM.output_model) == (LLMInput, LLMOutput)
        assert LLMInput.model_json_schema()["required"] == ["message"]
        assert LLMOutput.model_fields == {}
        assert issubclass(LLM, CoreCall)
        for bad in ({}, {"message": "hi"}, {"message": [{"role": "user", "content": None}]}):
            with pytest.raises(ValueError, match="message"):
                LLMInput(**bad)  # type: ignore[arg-type]


class TestMessages:
    @pytest.mark.rule("llm.message.1")
    async def test_conversation_then_system_then_user(self) -> None:
        runner = executor(conversation=TALK, question="fourth")
        found = await messages(runner, history_length=2, user_prompt="{{ question }}")
        assert found == [
            {"role": "assistant", "content": "second"},
            {"role": "user", "content": "third"},
            {"role": "system", "content": "You are a helpful assistant."},
            {"role": "user", "content": "fourth"},
        ]

    @pytest.mark.rule("llm.message.1")
    async def test_empty_prompts_are_messages_too(self) -> None:
        assert await messages(system_prompt="", user_prompt="") == [
            {"role": "system", "content": ""},
            {"role": "user", "content": ""},
        ]

    @pytest.mark.rule("llm.message.2", "llm.message.3")
    @pytest.mark.trap("A5", "A6")
    @pytest.mark.parametrize(
        ("length", "expected"),
        [
            (0, []),
            (1, ["third"]),
            (2, ["second", "third"]),
            (3, ["first", "second", "third"]),
            (9, ["first", "second", "third"]),
        ],
    )
    async def test_the_latest_records_oldest_first(self, length: int, expected: list[str]) -> None:
        found = await messages(executor(conversation=TALK), history_length=length)
        assert [message["content"] for message in found[:-2]] == expected

    @pytest.mark.rule("llm.message.2", "llm.message.3", "llm.context.1", "llm.context.2")
    @given(st.lists(st.integers(), max_size=12), st.integers(0, 14))
    def test_last_keeps_the_order_and_never_takes_more(self, items: list[int], count: int) -> None:
        expected = [item for place, item in enumerate(items) if place >= len(items) - count]
        assert last(items, count) == expected

    @pytest.mark.rule("llm.message.3")
    async def test_no_record_is_sent_by_default(self) -> None:
        assert len(await messages(executor(conversation=TALK))) == 2

    @pytest.mark.rule("core.type.13")
    async def test_the_backgrounds_num_does_not_count(self) -> None:
        runner = executor(conversation=TALK)
        runner.background.num = 1
        assert len(await messages(runner, history_length=3)) == 5

    @pytest.mark.rule("llm.message.4")
    async def test_only_role_and_content_are_sent(self) -> None:
        runner = executor(conversation=[{"role": "user", "content": "a", "id": "7"}])
        assert (await messages(runner, history_length=1))[0] == {"role": "user", "content": "a"}

    @pytest.mark.rule("llm.message.4", "llm.render.3")
    @pytest.mark.trap("A29")
    async def test_the_conversation_is_sent_as_it_is(self) -> None:
        record = {"role": "user", "content": " {{ question }}{% for %}\n"}
        assert (await messages(executor(conversation=[record]), history_length=1))[0] == record

    @pytest.mark.rule("llm.message.5")
    async def test_the_messages_are_the_input_and_are_not_rendered_anew(self) -> None:
        reasoning = FakeReasoning([["a"]])
        runner = executor(Pair(reasoning), question="before")
        call = await LLM.instance(runner, None, user_prompt="{{ question }}")
        assert list(call.input) == ["message"]
        runner.question = call.user_prompt = "after"
        async for _ in call.exec(runner, call.input):
            pass
        assert reasoning.requests[0]["messages"] == call.input["message"]
        assert call.input["message"][-1]["content"] == "before"


class TestPrompts:
    """The texts: quoted in the contract, and the seed's words in ours."""

    @pytest.mark.parametrize(
        ("rule_id", "text"),
        [
            pytest.param(
                "llm.prompt.1", LLM_CONTEXT_PROMPT[CHINESE], marks=pytest.mark.rule("llm.prompt.1")
            ),
            pytest.param(
                "llm.prompt.2", LLM_CONTEXT_PROMPT[ENGLISH], marks=pytest.mark.rule("llm.prompt.2")
            ),
            pytest.param(
                "llm.prompt.3", LLM_DEFAULT_PROMPT[CHINESE], marks=pytest.mark.rule("llm.prompt.3")
            ),
            pytest.param(
                "llm.prompt.4", LLM_DEFAULT_PROMPT[ENGLISH], marks=pytest.mark.rule("llm.prompt.4")
            ),
        ],
    )
    def test_the_contract_quotes_it_in_full(self, rule_id: str, text: str) -> None:
        (quoted,) = [
            fence
            for rule in rules()
            if rule.id == rule_id
            for language, fence in rule.fences
            if language == "text"
        ]
        assert f"{quoted}\n" == text

    @pytest.mark.rule("llm.prompt.3")
    async def test_chinese_is_the_seeds(self) -> None:
        runner = executor(language=CHINESE, question="今天北京的天气怎么样？", now=NOW)
        text = (await messages(runner))[-1]["content"]
        # Seed LLM §9.1; its blanks at the start of a line are one, ours two.
        seed = (
            "<instructions>\n 你是一个乐于助人的智能助手。请结合给出的背景信息, 回答用户的提问。\n"
            " 当前时间：2026-03-12 09:05:07，可以作为时间参照。\n"
            " 用户的问题将在<user_question>中给出，上下文背景信息将在<context>中给出。\n"
            " 注意：输出不要包含任何XML标签，不要编造任何信息。"
            "若你认为用户提问与背景信息无关，请忽略背景信息直接作答。\n"
            "</instructions>\n\n<user_question>\n 今天北京的天气怎么样？\n</user_question>\n\n"
            "<context>\n 无背景信息。\n</context>\n\n现在，输出你的回答："
        )
        assert text == re.sub("^ ", "  ", seed, flags=re.MULTILINE)

    @pytest.mark.rule("llm.prompt.4", "llm.context.8")
    async def test_english_has_the_same_parts(self) -> None:
        text = (await messages(executor(question="Why?", now=NOW)))[-1]["content"]
        assert re.findall(r"^</?\w+>$", text, flags=re.MULTILINE) == [
            "<instructions>",
            "</instructions>",
            "<user_question>",
            "</user_question>",
            "<context>",
            "</context>",
        ]
        assert "<user_question>\n  Why?\n</user_question>" in text
        assert "<context>\n  No background information.\n</context>" in text
        assert "Current time: 2026-03-12 09:05:07," in text

    @pytest.mark.rule("llm.prompt.1", "llm.prompt.2")
    @pytest.mark.parametrize(
        ("language", "sentences"),
        [
            (
                CHINESE,
                [
                    "以下是AI处理用户指令时所做的思考，在<reasoning>中给出：",
                    "你作为AI，在完成用户指令前，需要获取必要的信息。为此，你调用了一些工具，并获得了它们的输出：",
                ],
            ),
            (
                ENGLISH,
                [
                    "The following is the thinking of the AI when processing the user's "
                    "instruction, given in <reasoning>:",
                    "As an AI, before completing the user's instruction, you need to obtain "
                    "necessary information. For this purpose, you have called some tools and "
                    "obtained their outputs:",
                ],
            ),
        ],
    )
    async def test_the_context_speaks_in_the_seeds_sentences(
        self, language: LanguageType, sentences: list[str]
    ) -> None:
        past = [history("s", {"v": 1}, stepName="one", stepDescription="first")]
        text = await prompt(
            "{{ context }}", executor(context=past, reasoning="r", language=language)
        )
        assert text.splitlines() == [
            sentences[0],
            "<reasoning>",
            "r",
            "</reasoning>",
            sentences[1],
            "<tool_data>",
            "<name>one</name>",
            "<description>first</description>",
            '<output>{"v": 1}</output>',
            "</tool_data>",
        ]


class TestContext:
    PAST = [
        history("s1", {"v": 1}, stepName="one", stepDescription="first"),
        history("s2", {"v": 2}, stepName="two", stepDescription="second"),
        history("s3", {"温度": "晴"}, stepName="three", stepDescription="third"),
        history("s4", {"v": 4}, stepName="four", stepDescription="fourth"),
    ]

    async def context(self, past: Any = None, runtime: Any = None, **given: Any) -> str:
        runner = executor(context=self.PAST if past is None else past, **(runtime or {}))
        return await prompt("[{{ context }}]", runner, **given)

    def names(self, text: str) -> list[str]:
        return re.findall("<name>(.*)</name>", text)

    @pytest.mark.rule("llm.context.3")
    @pytest.mark.trap("A7")
    async def test_name_description_and_output_are_shown(self) -> None:
        text = await self.context(step_history_size=2)
        assert text.endswith(
            "outputs:\n<tool_data>\n"
            "<name>three</name>\n<description>third</description>\n"
            '<output>{"温度": "晴"}</output>\n'
            "<name>four</name>\n<description>fourth</description>\n"
            '<output>{"v": 4}</output>\n</tool_data>]'
        )

    @pytest.mark.rule("llm.context.3")
    async def test_a_record_without_a_name_is_shown(self) -> None:
        assert "<name></name>\n<description></description>" in await self.context(
            [history("s", {})]
        )

    @pytest.mark.rule("llm.context.1", "llm.context.2")
    @pytest.mark.trap("A5")
    @pytest.mark.parametrize("size", [0, 1, 2, 4, 10])
    async def test_the_last_steps_in_the_order_they_ran(self, size: int) -> None:
        text = await self.context(step_history_size=size)
        names = ["one", "two", "three", "four"]
        assert self.names(text) == [name for place, name in enumerate(names) if place >= 4 - size]

    @pytest.mark.rule("llm.context.2")
    async def test_three_steps_by_default(self) -> None:
        assert self.names(await self.context()) == ["two", "three", "four"]

    @pytest.mark.rule("llm.context.4", "llm.context.5")
    @given(st.dictionaries(st.text(max_size=5), JSON))
    def test_an_output_can_be_read_back(self, output: dict[str, Any]) -> None:
        text = asyncio.run(self.context([history("s", output)]))
        shown = text.partition("<output>")[2].partition("</output>")[0]
        assert json.loads(shown) == output

    @pytest.mark.rule("llm.context.4")
    async def test_an_output_is_json_on_one_line(self) -> None:
        output = {"温度": [25, 1.5, None, True], "z": {"a": 'x"\n'}, "b": "é"}
        text = await self.context([history("s", output)])
        assert re.findall("<output>(.*)</output>", text) == [json.dumps(output, ensure_ascii=False)]

    @pytest.mark.rule("llm.context.4")
    async def test_values_without_a_json_form_get_one(self) -> None:
        text = await self.context([history("s", {"at": NOW, "rate": float("nan")})])
        assert '<output>{"at": "2026-03-12T09:05:07", "rate": null}</output>' in text

    @pytest.mark.rule("llm.context.5")
    @given(st.text(alphabet=["<", "/", "\\", '"', "o"]) | st.text())
    def test_an_output_cannot_close_its_tag(self, data: str) -> None:
        output = {"html": data, data: "</output></tool_data>{{ x }}"}
        text = asyncio.run(self.context([history("s", output)]))
        shown = text.split("<output>")[1].split("</output>")[0]
        assert json.loads(shown) == output
        assert text.count("</tool_data>") == 1

    @pytest.mark.rule("llm.context.6")
    async def test_reasoning_comes_first_as_it_is(self) -> None:
        text = await self.context(runtime={"reasoning": " {{ a }} <b>\n"})
        assert text.index("</reasoning>") < text.index("<tool_data>")
        assert "<reasoning>\n {{ a }} <b>\n\n</reasoning>\n" in text

    @pytest.mark.rule("llm.context.7", "llm.context.9")
    async def test_reasoning_alone(self) -> None:
        text = await self.context([], {"reasoning": "why"})
        assert text.startswith("[The following")
        assert text.endswith("<reasoning>\nwhy\n</reasoning>]")
        assert "tool" not in text

    @pytest.mark.rule("llm.context.7", "llm.context.9")
    async def test_steps_alone(self) -> None:
        text = await self.context(step_history_size=1)
        assert text.startswith("[As an AI")
        assert text.endswith("</tool_data>]")
        assert "thinking" not in text
        assert "reasoning" not in text

    @pytest.mark.rule("llm.context.8")
    @pytest.mark.trap("A9")
    @pytest.mark.parametrize(
        ("language", "sentence"),
        [(CHINESE, "无背景信息。"), (ENGLISH, "No background information.")],
    )
    async def test_with_neither_a_sentence_says_so(
        self, language: LanguageType, sentence: str
    ) -> None:
        runtime = {"language": language}
        assert await self.context([], runtime) == f"[{sentence}]"
        assert await self.context(None, runtime, step_history_size=0) == f"[{sentence}]"

    @pytest.mark.rule("llm.context.10")
    async def test_a_step_that_ran_twice_is_shown_at_both_places_with_its_last_record(self) -> None:
        past = [history("s", {"v": 1}), history("z", {}), history("s", {"v": 2})]
        text = await self.context(past)
        assert re.findall("<output>(.*)</output>", text) == ['{"v": 2}', "{}", '{"v": 2}']

    @pytest.mark.rule("llm.context.11")
    @pytest.mark.parametrize("kind", ["cycle", "depth"])
    async def test_an_output_that_cannot_be_written_is_a_call_error(self, kind: str) -> None:
        value: list[Any] = []
        if kind == "cycle":
            value.append(value)
        for _ in range(100_000 if kind == "depth" else 0):
            value = [value]
        past = [history("s-7", {"a": value})]
        with pytest.raises(CallError, match="s-7"):
            await self.context(past)
        assert await self.context(past, step_history_size=0) == "[No background information.]"


class TestRendering:
    @pytest.mark.rule("llm.render.1")
    async def test_all_variables_of_both_prompts(self) -> None:
        template = (
            "{{ time }}|{{ question }}|{{ language }}|{{ reasoning }}|"
            "{% for record in history %}{{ record.role }} {{ record.content }};{% endfor %}"
        )
        runner = executor(conversation=TALK, question="q", reasoning="why", now=NOW)
        found = await messages(
            runner, history_length=2, system_prompt=template, user_prompt=template + "{{ context }}"
        )
        expected = "2026-03-12 09:05:07|q|en|why|assistant second;user third;"
        assert found[2]["content"] == expected
        assert found[3]["content"].startswith(f"{expected}The following is")

    @pytest.mark.rule("llm.render.1")
    async def test_the_system_prompt_sees_the_context(self) -> None:
        found = await messages(executor(language=CHINESE), system_prompt="{{ context }}")
        assert found[0]["content"] == "无背景信息。"

    @pytest.mark.rule("llm.render.2")
    @given(st.datetimes(timezones=st.none() | st.timezones()))
    def test_the_time_is_what_the_clock_shows(self, now: datetime) -> None:
        date = f"{now.year:04}-{now.month:02}-{now.day:02}"
        assert clock(now) == f"{date} {now.hour:02}:{now.minute:02}:{now.second:02}"

    @pytest.mark.rule("llm.render.2")
    async def test_the_tasks_time_is_not_converted(self) -> None:
        now = NOW.replace(microsecond=999_999, tzinfo=timezone(timedelta(hours=8)))
        assert await prompt("{{ time }}", executor(now=now)) == "2026-03-12 09:05:07"

    @pytest.mark.rule("llm.render.2")
    async def test_the_wall_clock_serves_when_the_task_has_none(self) -> None:
        before = datetime.now().replace(microsecond=0)
        found = await prompt("{{ time }}")
        assert before <= datetime.strptime(found, "%Y-%m-%d %H:%M:%S") <= datetime.now()

    @pytest.mark.rule("llm.render.3")
    @pytest.mark.trap("A29")
    async def test_data_are_never_templates(self) -> None:
        hostile = "{{ 7 * 7 }}{% for %}{# x #}"
        past = [history("s", {"v": hostile}, stepName=hostile, stepDescription=hostile)]
        runner = executor(question=hostile, reasoning=hostile, context=past)
        found = await prompt("{{ question }}|{{ context }}", runner)
        assert found.startswith(f"{hostile}|")
        assert found.count(hostile) == 5

    @pytest.mark.rule("llm.render.3", "llm.render.4")
    @given(st.text(alphabet="{}%#<>&'\"\\ \n") | st.text())
    def test_a_question_is_put_in_as_it_is(self, question: str) -> None:
        assert asyncio.run(prompt("[{{ question }}]", executor(question=question))) == (
            f"[{question}]"
        )

    @pytest.mark.rule("llm.render.4")
    async def test_nothing_is_escaped(self) -> None:
        text = "a < b && 'c' > \"d\""
        found = await messages(
            executor(question=text), system_prompt=f"<i> {text}", user_prompt="{{ question }}"
        )
        assert [message["content"] for message in found] == [f"<i> {text}", text]

    @pytest.mark.rule("llm.render.6")
    async def test_a_line_that_holds_only_a_block_leaves_no_line(self) -> None:
        assert await prompt("a\n  {% if 1 %}\n  b\n\t{% endif %}\nc") == "a\n  b\nc"
        assert await prompt("{{ 1 }}\n  {{ 2 }}\n.") == "1\n  2\n."

    @pytest.mark.rule("llm.render.7")
    async def test_one_line_break_at_the_end_is_dropped(self) -> None:
        assert await prompt("u\n") == "u"
        assert await prompt("u\n\n") == "u\n"
        assert await prompt("u \n") == "u "
        assert await prompt("{{ question }}", executor(question="q\n")) == "q\n"

    @pytest.mark.rule("llm.render.9")
    @pytest.mark.trap("A10")
    @pytest.mark.parametrize("which", ["system prompt", "user prompt"])
    @pytest.mark.parametrize(
        "template",
        [
            pytest.param("{{ unknown }}", marks=pytest.mark.rule("llm.render.5")),
            pytest.param("{{ unknown.x }}", marks=pytest.mark.rule("llm.render.5")),
            pytest.param("{{ question.unknown }}", marks=pytest.mark.rule("llm.render.5")),
            pytest.param("{% if unknown %}{% endif %}", marks=pytest.mark.rule("llm.render.5")),
            pytest.param(
                "{% for x in unknown %}{% endfor %}", marks=pytest.mark.rule("llm.render.5")
            ),
            pytest.param(
                "{{ question.__class__.__mro__ }}", marks=pytest.mark.rule("llm.render.8")
            ),
            pytest.param(
                "{{ '{0.__class__}'.format(question) }}", marks=pytest.mark.rule("llm.render.8")
            ),
            pytest.param("{{ cycler.__init__ }}", marks=pytest.mark.rule("llm.render.8")),
            pytest.param("{{ history.append(1) }}", marks=pytest.mark.rule("llm.render.8")),
            pytest.param("{% include 'a' %}", marks=pytest.mark.rule("llm.render.8")),
            "{% for %}",
            "{{ 1 / 0 }}",
            "{{ 1 + '' }}",
            "{% for a in [1] %}" * 30 + "{% endfor %}" * 30,  # more than Python nests
        ],
    )
    async def test_a_prompt_that_does_not_render_is_named(self, which: str, template: str) -> None:
        with pytest.raises(CallError, match=f"^the {which} does not render") as caught:
            await messages(**{which.replace(" ", "_"): template})
        assert caught.value.data == {"prompt": which}

    @pytest.mark.rule("llm.render.5")
    async def test_an_unknown_variable_may_be_asked_for(self) -> None:
        assert await prompt("{{ unknown | default('none') }}") == "none"
        assert await prompt("{% if unknown is defined %}a{% else %}b{% endif %}") == "b"

    @pytest.mark.rule("llm.render.11")
    async def test_the_language_is_jinjas(self) -> None:
        runner = executor(question="x y", conversation=TALK)
        loop = "{% for r in history %}{{ loop.index }}{{ r.role | upper }}{% endfor %}"
        assert await prompt(loop, runner, history_length=2) == "1ASSISTANT2USER"
        assert await prompt("{% set w = question.split() %}{{ w | join('+') }}", runner) == "x+y"
        assert await prompt("a {%- if question is string %} b{% endif %}{# c #}", runner) == "a b"
        assert await prompt("{{ [1, 'e'] | tojson }}{% raw %}{{ a }}{% endraw %}") == (
            '[1, "e"]{{ a }}'
        )

    @pytest.mark.rule("llm.render.11")
    async def test_without_extensions(self) -> None:
        for template in ("{% do history.append(1) %}", "{% trans %}a{% endtrans %}"):
            with pytest.raises(CallError, match="user prompt"):
                await prompt(template)

    @pytest.mark.rule("llm.render.9")
    async def test_a_syntax_error_says_the_line(self) -> None:
        with pytest.raises(CallError, match="line 3"):
            await prompt("a\nb\n{% for %}")

    @pytest.mark.rule("llm.render.9")
    def test_an_error_without_a_text_is_named_by_its_kind(self) -> None:
        class Silent:
            def __str__(self) -> str:
                raise LookupError

        with pytest.raises(CallError, match=r"the prompt does not render: LookupError$"):
            render("prompt", "{{ value }}", {"value": Silent()})

    @pytest.mark.rule("llm.render.10")
    @pytest.mark.trap("A10")
    async def test_the_system_prompt_is_rendered_first(self) -> None:
        with pytest.raises(CallError, match=r"system prompt.*'a'"):
            await messages(system_prompt="{{ a }}", user_prompt="{{ b }}")


class Watched(FakeReasoning):
    """Streams the pieces, raises ``error``, and says when its stream was closed."""

    def __init__(self, pieces: list[str | None], error: BaseException | None = None) -> None:
        super().__init__([pieces])
        self.error = error
        self.closed = False

    async def call(self, *args: Any, **options: Any) -> Any:
        try:
            async for piece in super().call(*args, **options):
                yield piece
            if self.error:
                raise self.error
        finally:
            self.closed = True


class TestExec:
    async def run(self, reasoning: FakeReasoning, **given: Any) -> list[Any]:
        runner = executor(Pair(reasoning))
        call = await LLM.instance(runner, None, **given)
        self.got: list[Any] = []
        async for chunk in call.exec(runner, call.input):
            self.got.append((chunk.type, chunk.content))
        return self.got

    @pytest.mark.rule("llm.exec.1")
    async def test_it_sends_the_input_it_is_given_and_streams(self) -> None:
        reasoning = FakeReasoning([["a"]])
        runner = executor(Pair(reasoning))
        call = await LLM.instance(runner, None)
        other = [{"role": "user", "content": "other"}]
        async for _ in call.exec(runner, {"message": other}):
            pass
        (request,) = reasoning.requests
        assert (request["messages"], request["streaming"]) == (other, True)

    @pytest.mark.rule("llm.exec.2")
    @pytest.mark.trap("A8")
    @pytest.mark.parametrize(
        ("given", "sent"), [({}, 0.7), ({"temperature": 0.1}, 0.1), ({"temperature": 0}, 0)]
    )
    async def test_the_temperature_reaches_the_model(
        self, given: dict[str, float], sent: float
    ) -> None:
        reasoning = FakeReasoning([["a"]])
        await self.run(reasoning, **given)
        assert reasoning.requests[0]["temperature"] == sent

    @pytest.mark.rule("llm.exec.3", "llm.exec.4")
    async def test_it_streams_text_and_drops_empty_pieces(self) -> None:
        found = await self.run(FakeReasoning([["a", "", None, " b\n", "\n", " "]]))
        assert found == [(CallOutputType.TEXT, text) for text in ("a", " b\n", "\n", " ")]

    @pytest.mark.rule("llm.exec.3", "llm.exec.4")
    @given(st.lists(st.none() | st.text(max_size=3), max_size=8))
    def test_the_chunks_are_the_pieces_that_hold_text(self, pieces: list[str | None]) -> None:
        found = asyncio.run(self.run(FakeReasoning([pieces])))
        assert found == [(CallOutputType.TEXT, text) for text in pieces if text]

    @pytest.mark.rule("llm.exec.4")
    async def test_a_chunk_comes_before_the_next_piece(self) -> None:
        reasoning = Watched(["a", "b"])
        runner = executor(Pair(reasoning))
        call = await LLM.instance(runner, None)
        chunks = call.exec(runner, call.input)
        assert (await anext(chunks)).content == "a"
        assert not reasoning.closed
        assert [chunk.content async for chunk in chunks] == ["b"]

    @pytest.mark.rule("llm.exec.5")
    @pytest.mark.parametrize(
        ("error", "said"),
        [
            (OSError("no route"), "no route"),
            (TimeoutError(), "TimeoutError"),
            (ValueError("bad"), "bad"),
        ],
    )
    async def test_a_failure_is_a_call_error_with_its_cause(
        self, error: Exception, said: str
    ) -> None:
        with pytest.raises(CallError, match=f"'book'.*{said}$") as caught:
            await self.run(FakeReasoning([error]))
        assert caught.value.__cause__ is error

    @pytest.mark.rule("llm.exec.6")
    async def test_a_call_error_stays_itself(self) -> None:
        error = CallError("quota", {"status": 429})
        with pytest.raises(CallError) as caught:
            await self.run(FakeReasoning([error]))
        assert caught.value is error

    @pytest.mark.rule("llm.exec.7")
    async def test_what_was_yielded_before_a_failure_stays(self) -> None:
        with pytest.raises(CallError, match="reset"):
            await self.run(Watched(["a", "b"], OSError("reset")))
        assert self.got == [(CallOutputType.TEXT, "a"), (CallOutputType.TEXT, "b")]

    @pytest.mark.rule("llm.exec.8")
    async def test_leaving_early_ends_the_request(self) -> None:
        reasoning = Watched(["a", "b"])
        runner = executor(Pair(reasoning))
        call = await LLM.instance(runner, None)
        chunks = call.exec(runner, call.input)
        assert (await anext(chunks)).content == "a"
        assert not reasoning.closed
        await chunks.aclose()
        assert reasoning.closed

    @pytest.mark.rule("llm.exec.9")
    @pytest.mark.parametrize("data", [{}, {"message": "hi"}, {"message": [{"role": None}]}])
    async def test_input_that_is_none_is_a_call_error(self, data: dict[str, Any]) -> None:
        reasoning = FakeReasoning([["a"]])
        runner = executor(Pair(reasoning))
        call = await LLM.instance(runner, None)
        with pytest.raises(CallError, match="message"):
            async for _ in call.exec(runner, data):
                pass
        assert reasoning.requests == []

    @pytest.mark.rule("llm.exec.10")
    async def test_cancellation_passes(self) -> None:
        with pytest.raises(asyncio.CancelledError):
            await self.run(Watched(["a"], asyncio.CancelledError()))
