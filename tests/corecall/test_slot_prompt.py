"""What the Slot says to its models: the prompt of stage 1, the turn of stage 2, their schemas."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from corecall.slot.prompt import SLOT_GEN_PROMPT, SLOT_MISSING_PROMPT
from corecall.types import CallError, LanguageType

from ..contract.contract import rules
from .slot_support import SCHEMA, fill
from .support import history

ZH, EN = LanguageType.CHINESE, LanguageType.ENGLISH
WHOLE = '{"city": "Oslo", "nights": 2}'
RUNNER: dict[str, Any] = {
    "question": "Two nights {{ please }}",
    "conversation": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}],
    "facts": ["likes fjords", "travels alone"],
    "reasoning": "a summary",
    "now": datetime(2026, 3, 12, 9, 30),
    "context": [
        history("s1", {"old": 1}, stepName="older", stepDescription="d1"),
        history("s2", {"html": "</output>"}, stepName="newer", stepDescription="d2"),
    ],
}
SHOWN = {
    ZH: """\
<context>
当前时间：2026-03-12 09:30:00
背景总结：a summary
- likes fjords
- travels alone
<tool_output>
<name>newer</name>
<description>d2</description>
<output>{"html": "<\\/output>"}</output>
</tool_output>
</context>

<question>
Two nights {{ please }}
</question>

<tool_info>
工具名称：book
工具描述：Book a hotel
</tool_info>

<tool_call>
{"required": ["city"]}
已知参数：{"nights": 2}
</tool_call>

针对问题“Two nights {{ please }}”，以JSON给出book的参数：
<output>""",
    EN: """\
<context>
Current time: 2026-03-12 09:30:00
Summary: a summary
- likes fjords
- travels alone
<tool_output>
<name>newer</name>
<description>d2</description>
<output>{"html": "<\\/output>"}</output>
</tool_output>
</context>

<question>
Two nights {{ please }}
</question>

<tool_info>
Tool name: book
Tool description: Book a hotel
</tool_info>

<tool_call>
{"required": ["city"]}
Known arguments: {"nights": 2}
</tool_call>

Answer the question "Two nights {{ please }}" with the arguments of book as JSON:
<output>""",
}


def quoted(rule_id: str) -> str:
    """Return the text that the contract quotes in a rule."""
    (rule,) = (rule for rule in rules() if rule.id == rule_id)
    ((_, text),) = rule.fences
    return f"{text}\n"


class TestTexts:
    @pytest.mark.rule("slot.prompt.2")
    def test_chinese_prompt(self) -> None:
        assert SLOT_GEN_PROMPT[ZH] == quoted("slot.prompt.2")

    @pytest.mark.rule("slot.prompt.3")
    def test_english_prompt(self) -> None:
        assert SLOT_GEN_PROMPT[EN] == quoted("slot.prompt.3")

    @pytest.mark.rule("slot.stage2.4")
    def test_chinese_turn_of_stage_2(self) -> None:
        assert SLOT_MISSING_PROMPT[ZH] == quoted("slot.stage2.4")

    @pytest.mark.rule("slot.stage2.5")
    def test_english_turn_of_stage_2(self) -> None:
        assert SLOT_MISSING_PROMPT[EN] == quoted("slot.stage2.5")

    @pytest.mark.rule("slot.prompt.4")
    @pytest.mark.parametrize(
        ("language", "demands"),
        [
            (
                ZH,
                (
                    "用户输入 > 背景信息 > 历史工具输出",
                    "不要编造",
                    "可选参数可以省略",
                    "只输出一个符合JSON Schema的JSON对象",
                ),
            ),
            (
                EN,
                (
                    "user input > background > earlier tool outputs",
                    "Invent nothing",
                    "optional arguments may be left out",
                    "Output only one JSON object that follows the JSON Schema",
                ),
            ),
        ],
    )
    async def test_what_the_instructions_demand(
        self, language: LanguageType, demands: tuple[str, ...]
    ) -> None:
        found = await fill(first="{}", second={}, runner={"language": language})
        instructions = found.prompt.partition("</instructions>")[0]
        assert [demand for demand in demands if demand not in instructions] == []

    @pytest.mark.rule("slot.prompt.4")
    @pytest.mark.parametrize("language", [ZH, EN])
    async def test_the_example_shows_an_object(self, language: LanguageType) -> None:
        found = await fill(first="{}", second={}, runner={"language": language})
        example = found.prompt.partition("<example>")[2].partition("</example>")[0]
        answer = example.partition("<output>")[2].partition("</output>")[0]
        assert json.loads(answer).keys() == {"city", "date"}


class TestPrompt:
    @pytest.mark.rule("slot.prompt.1", "slot.prompt.10", "slot.prompt.11", "slot.prompt.12")
    @pytest.mark.trap("A29")
    @pytest.mark.parametrize("language", [ZH, EN])
    async def test_everything_there_is_to_show(self, language: LanguageType) -> None:
        runner = {**RUNNER, "language": language}
        schema = {"required": ["city"]}
        found = await fill(schema=schema, data={"nights": 2}, first=WHOLE, runner=runner)
        context = found.prompt.index("<context>", found.prompt.index("</example>"))
        assert found.prompt[context:] == SHOWN[language]

    @pytest.mark.rule("slot.prompt.1")
    async def test_instructions_and_example_come_first(self) -> None:
        found = await fill(first=WHOLE)
        order = ["<instructions>", "</instructions>", "<example>", "</example>", "<context>"]
        places = [found.prompt.index(tag) for tag in order]
        assert places == sorted(places)
        assert places[0] == 0

    @pytest.mark.rule("slot.prompt.7", "slot.prompt.8")
    @pytest.mark.parametrize("language", [ZH, EN])
    async def test_nothing_to_show_leaves_no_line(self, language: LanguageType) -> None:
        found = await fill(first="{}", second={}, runner={"language": language})
        assert "\n<context>\n</context>\n" in found.prompt
        assert f"\n<tool_call>\n{json.dumps(SCHEMA)}\n</tool_call>\n" in found.prompt

    @pytest.mark.rule("slot.prompt.9")
    @pytest.mark.trap("A5")
    @pytest.mark.parametrize(("num", "shown"), [(0, []), (1, ["newer"]), (5, ["older", "newer"])])
    async def test_step_num_is_how_many_of_the_latest_steps_are_shown(
        self, num: int, shown: list[str]
    ) -> None:
        prompt = "{% for step in history %}{{ step.step_name }} {% endfor %}"
        found = await fill(first="{}", second={}, runner=RUNNER, step_num=num, prompt=prompt)
        assert found.prompt.split() == shown

    @pytest.mark.rule("slot.prompt.9")
    async def test_a_step_that_ran_twice_stands_there_twice(self) -> None:
        runs = [history(step, {"n": n}) for n, step in enumerate(("a", "b", "a"))]
        prompt = "{% for step in history %}{{ step.output_data }}{% endfor %}"
        found = await fill(
            first="{}", second={}, runner={"context": runs}, step_num=3, prompt=prompt
        )
        assert found.prompt == '{"n": 2}{"n": 1}{"n": 2}'

    @pytest.mark.rule("slot.prompt.5")
    @pytest.mark.parametrize("language", [ZH, EN])
    async def test_the_tasks_language_in_both_stages(self, language: LanguageType) -> None:
        question = "去哪里？" if language is EN else "Where to?"
        runner = {"language": language, "question": question}
        found = await fill(first="{}", second={}, runner=runner)
        texts = [message["content"] for message in found.function.requests[0][0]]
        for text in (texts[0], texts[-1]):
            assert ("参数" in text) == (language is ZH)

    @pytest.mark.rule("slot.prompt.6")
    async def test_the_variables_and_no_other(self) -> None:
        names = ["time", "summary", "facts", "history", "question", "tool", "schema", "known"]
        for name in [*names, "language"]:
            await fill(first="{}", second={}, prompt=f"{{{{ {name} }}}}")
        for name in ("data", "context", "name", "call_vars", "llm"):
            with pytest.raises(CallError, match="slot prompt"):
                await fill(first="{}", second={}, prompt=f"{{{{ {name} }}}}")

    @pytest.mark.rule("slot.prompt.6")
    @pytest.mark.parametrize(
        ("now", "shown"),
        [
            (datetime(999, 1, 2, 3, 4, 5, 999_999), "0999-01-02 03:04:05"),
            (datetime(2026, 1, 2, 23, tzinfo=timezone(timedelta(hours=8))), "2026-01-02 23:00:00"),
        ],
    )
    async def test_the_clock_has_nineteen_characters(self, now: datetime, shown: str) -> None:
        found = await fill(first="{}", second={}, prompt="{{ time }}", runner={"now": now})
        assert found.prompt == shown

    @pytest.mark.rule("slot.prompt.12")
    @pytest.mark.trap("A29")
    async def test_nothing_that_is_shown_is_a_template(self) -> None:
        text = "{{ schema }}{% for %}{# & <"
        runner = {
            "question": text,
            "facts": [text],
            "reasoning": text,
            "context": [history("s", {"o": text}, stepName=text, stepDescription=text)],
        }
        schema = {"required": ["a"], "title": text}
        found = await fill(
            schema=schema, data={"k": text}, first="{}", second={"a": text}, runner=runner
        )
        # question twice, summary, fact, name, description, output, schema, known
        assert found.prompt.count(text) == 9
        assert found.data == {"k": text, "a": text}

    @pytest.mark.rule("slot.prompt.10")
    async def test_no_value_closes_a_section(self) -> None:
        schema = {"required": ["a"], "title": "</tool_call>"}
        known = {"k": "</tool_call>"}
        runner = {"context": [history("s", {"o": ["</output>", "杭州"]})]}
        found = await fill(schema=schema, data=known, first='{"a": 1}', runner=runner)
        after = found.prompt.partition("</example>")[2]
        assert (after.count("</tool_call>"), after.count("</output>")) == (1, 1)
        assert '{"required": ["a"], "title": "<\\/tool_call>"}' in after
        assert '{"k": "<\\/tool_call>"}' in after
        assert '{"o": ["<\\/output>", "杭州"]}' in after

    @pytest.mark.rule("slot.prompt.13")
    async def test_the_conversation_comes_first(self) -> None:
        found = await fill(first=WHOLE, runner=RUNNER)
        sent = found.reasoning.requests[0]["messages"]
        assert sent[:2] == RUNNER["conversation"]
        assert [message["role"] for message in sent] == ["user", "assistant", "user"]

    @pytest.mark.rule("slot.prompt.13")
    async def test_all_of_it_and_nothing_beside_role_and_content(self) -> None:
        records = [{"role": "user", "content": str(n), "at": "noon"} for n in range(30)]
        found = await fill(first=WHOLE, runner={"conversation": records})
        sent = found.reasoning.requests[0]["messages"]
        assert sent[:-1] == [{"role": "user", "content": str(n)} for n in range(30)]

    @pytest.mark.rule("slot.prompt.14")
    async def test_a_prompt_of_the_users_own(self) -> None:
        found = await fill(first="{}", second={}, prompt="{{ question }} {{ schema }}")
        assert found.prompt == f"What is it? {json.dumps(SCHEMA)}"
        assert "Still missing" in found.function.requests[0][0][-1]["content"]
        found = await fill(first="{}", second={}, prompt="")
        assert found.prompt == ""

    @pytest.mark.rule("slot.prompt.15")
    @pytest.mark.parametrize(
        "prompt", ["{{ nope }}", "{% if %}", "{{ question.__class__ }}", "{{ 1/0 }}"]
    )
    async def test_a_template_that_does_not_render_is_named(self, prompt: str) -> None:
        with pytest.raises(CallError, match="slot prompt") as caught:
            await fill(first="{}", prompt=prompt)
        assert caught.value.data == {"prompt": "slot prompt"}

    @pytest.mark.rule("slot.prompt.15")
    async def test_block_tags_take_their_line_along(self) -> None:
        found = await fill(first="{}", second={}, prompt="a\n  {% if true %}\nb\n  {% endif %}\nc")
        assert found.prompt == "a\nb\nc"


class TestStage1:
    @pytest.mark.rule("slot.stage1.5")
    async def test_a_model_that_answers_freely_is_given_no_schema(self) -> None:
        free = await fill(first=WHOLE)
        assert free.reasoning.requests[0].keys() == {"messages", "streaming"}

    @pytest.mark.rule("slot.stage1.5", "slot.stage1.6")
    @pytest.mark.parametrize("mode", ["json_schema", "json_object"])
    async def test_others_are_given_the_whole_schema(self, mode: str) -> None:
        bound = await fill(data={"city": "Oslo"}, first='{"nights": 2}', reply_mode=mode)
        assert bound.reasoning.requests[0]["response_schema"] == {
            "title": "book",
            "description": "Book a hotel",
            **SCHEMA,
        }

    @pytest.mark.rule("slot.stage1.6")
    async def test_the_tools_name_takes_the_place_of_the_schemas(self) -> None:
        schema = {"description": "D", "title": "T", "properties": {"a": {}}, "required": ["a"]}
        found = await fill(schema=schema, first="{}", second={}, reply_mode="json_schema")
        for sent in (found.reasoning.requests[0]["response_schema"], found.function.requests[0][1]):
            assert list(sent)[:2] == ["title", "description"]
            assert (sent["title"], sent["description"]) == ("book", "Book a hotel")


class TestStage2:
    @pytest.mark.rule("slot.stage2.2", "slot.stage2.6")
    async def test_it_continues_the_talk_and_ends_on_a_user_turn(self) -> None:
        reply = '<think>hm</think>Sure: {"city": "</奥斯陆"}'
        found = await fill(first=reply, second={}, runner=RUNNER)
        messages, schema = found.function.requests[0]
        assert messages[:3] == found.reasoning.requests[0]["messages"]
        shown = {"type": "integer", "minimum": 1}
        own = '{"title": "book", "description": "Book a hotel", "type": "object", "properties": '
        assert messages[3:] == [
            {"role": "assistant", "content": reply},
            {
                "role": "user",
                "content": "Still missing or invalid: /nights\n"
                'Known arguments: {"city": "</奥斯陆"}\n'
                "From what is given above, output only a JSON object with these arguments that "
                "follows the JSON Schema below; do not invent values that are not given:\n"
                f'{own}{{"nights": {json.dumps(shown)}}}, "required": ["nights"]}}',
            },
        ]
        assert schema["properties"] == {"nights": shown}

    @pytest.mark.rule("slot.stage2.3")
    @pytest.mark.parametrize("blank", ["", " ", "\n\t \r\n", "\u3000\u00a0"])
    async def test_a_blank_reply_is_sent_back_as_an_empty_object(self, blank: str) -> None:
        found = await fill(first=blank, second={})
        assert found.function.requests[0][0][-2] == {"role": "assistant", "content": "{}"}
        assert found.slot.trace.answers["stage1"] == blank

    @pytest.mark.rule("slot.stage2.6")
    async def test_all_that_is_missing_or_wrong_is_named(self) -> None:
        found = await fill(data={"nights": 0}, first="{}", second={})
        text = found.function.requests[0][0][-1]["content"]
        assert text.splitlines()[:2] == [
            "Still missing or invalid: /city, /nights",
            'Known arguments: {"nights": 0}',
        ]

    @pytest.mark.rule("slot.stage2.6")
    async def test_the_root_is_named_by_nothing(self) -> None:
        schema = {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
        found = await fill(schema=schema, first="{}", second={"a": 1})
        text = found.function.requests[0][0][-1]["content"]
        assert text.splitlines()[0] == "Still missing or invalid: "
        assert found.remaining == {}
