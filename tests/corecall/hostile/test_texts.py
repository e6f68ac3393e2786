"""Replies, arguments and streams of megabytes, or nested without end: an answer, at once."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from corecall import (
    LLM,
    CallbackInput,
    CallError,
    ExecutorBackground,
    ExecutorHistory,
    LanguageType,
    Slot,
    SlotProcessor,
    StepExecutor,
    StepInfo,
    Task,
    TaskMetadata,
    TaskRuntime,
    TaskState,
)
from corecall.deltas import Completion
from corecall.history import extract
from corecall.reply import parse_arguments, parse_reply, process_response
from corecall.slot.processor import DataError
from corecall.sse import SSEDecoder
from corecall.thoughts import ThoughtSplitter

M = 200_000

# Each of these took a scan that starts anew at every character hours.
HOSTILE = {
    "braces": "{" * M,
    "balanced braces": "{" * M + "}" * M,
    "brackets": "[" * M,
    "brackets and a letter": ("[" * 99 + "x ") * 2_000,
    "brackets and a brace": ("[ " * 1_000 + "{") * 100,
    "spaced brackets": "[ " * M,
    "spaced braces": ("{" + " " * 999) * 1_000,
    "quotes": '"' * M,
    "quoted braces": '{"' * M,
    "backslashes": '{"a":"' + "\\" * M,
    "thoughts": "<think>" * 40_000,
    "thoughts that end": "</think>" * 40_000,
    "thoughts and braces": "<think>{" * 40_000,
    "strings of thoughts": '{"a": "</think>' * 20_000,
    "half tags": "<think" * 40_000,
    "open objects": '{"a":' * 40_000,
    "open objects in objects": '{"a":{' * 40_000,
    "open arrays": '[{"a":1},' * 20_000,
    "loose objects": "{a: " * 40_000,
    "loose strings": "{'a': '" * 40_000,
    "curly quotes": "{“" * 60_000,
    "long names": ("{" + "a" * 999) * 1_000,
    "long quoted names": ("{'" + "a" * 999) * 1_000,
    "python in JSON": "{'a': \"" * 20_000,
    "fences": "```json\n{" * 20_000,
    "cut objects": '{"a": [1, 2, {"b":' * 10_000,
    "dashes": "{a:" + "-" * M,
    "blank": " " * M,
}
hostile = pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)


@hostile
@pytest.mark.rule("reply.process.2", "reply.process.5")
def test_no_text_holds_the_reader_up(text: str) -> None:
    assert process_response(text) == "{}"
    for repair in (False, True):
        assert not parse_reply(text, repair=repair).object
        assert not parse_arguments(text, repair=repair).object


@hostile
@pytest.mark.rule("reply.process.5")
def test_no_text_holds_the_splitter_up_or_is_lost_in_it(text: str) -> None:
    splitter = ThoughtSplitter()
    pieces = [splitter.feed(text[at : at + 70]) for at in range(0, len(text), 70)]
    pieces.append(splitter.flush())
    thought, content = (untagged("".join(column)) for column in zip(*pieces, strict=True))
    assert len(thought) + len(content) == len(untagged(text))


def untagged(text: str) -> str:
    return text.replace("</think>", "").replace("<think>", "")


@hostile
def test_no_arguments_hold_a_callback_up(text: str) -> None:
    if text.isspace():
        assert CallbackInput(arguments_in_json=text).arguments() == {}
        return
    with pytest.raises(ValueError, match="arguments_in_json"):
        CallbackInput(arguments_in_json=text).arguments()


@hostile
def test_no_text_holds_process_json_up(text: str) -> None:
    processor = SlotProcessor({})
    if text.isspace():
        assert processor.process_json(text) == {}
        return
    with pytest.raises(DataError, match="not JSON"):
        processor.process_json(text)


@hostile
@pytest.mark.parametrize("size", [1_000, 10_000_000])
def test_no_event_holds_the_decoder_up(text: str, size: int) -> None:
    decoder = SSEDecoder()
    body = f"data: {text}\n\n".encode()
    events = [
        event for at in range(0, len(body), size) for event in decoder.feed(body[at : at + size])
    ]
    assert [len(event.data) for event in events] == [len(text.split("\n", 1)[0])]
    assert decoder.close() is None


@pytest.mark.rule("reply.process.5")
def test_ten_megabytes_of_an_answer_are_an_answer() -> None:
    value = {"a": "x{" * 5_000_000, "b": "<think>"}
    text = json.dumps(value)
    assert parse_reply(text).object == value
    assert parse_reply(f"Here: {text} <").object == value
    assert parse_arguments(text).object == value


@pytest.mark.parametrize("opening", ['{"a":', '{"a": [', "Answer: {'a': ", '{"a":1,"b":'])
@pytest.mark.rule("reply.json.5", "reply.process.2")
def test_a_reply_nested_without_end_is_no_answer(opening: str) -> None:
    for closing in ("", "1" + "}" * 100_000):
        text = opening * 100_000 + closing
        for repair in (False, True):
            assert not parse_reply(text, repair=repair).object
            assert not parse_arguments(text, repair=repair).object


@pytest.mark.rule("stream.tool.4")
def test_a_tool_call_in_thousands_of_named_fragments_is_read_once() -> None:
    items = [{"k": "}{\\"}] * 20_000
    pieces = [f",{json.dumps(item)}" for item in items[1:]]
    completion = Completion()
    for text in ['{"a": [' + json.dumps(items[0]), *pieces, "]}", '{"a": 1}']:
        call = {"function": {"name": "f", "arguments": text}}
        completion.add({"choices": [{"delta": {"tool_calls": [{"index": 0, **call}]}}]})
    first, second = completion.tool_calls
    assert json.loads(first.arguments) == {"a": items}
    assert second.arguments == '{"a": 1}'


@pytest.mark.rule("stream.tool.4")
@pytest.mark.parametrize("size", [1, 2, 3])
def test_whole_arguments_are_known_wherever_they_were_cut(size: int) -> None:
    """Quotes, backslashes and brackets in strings end nothing, also where a fragment ends in one."""
    text = json.dumps({"a": '}"{', "b": "\\", "c": [{"d": '\\"]'}, {}]})
    completion = Completion()
    for piece in [*(text[at : at + size] for at in range(0, len(text), size)), "{}"]:
        call = {"function": {"name": "f", "arguments": piece}}
        completion.add({"choices": [{"delta": {"tool_calls": [{"index": 0, **call}]}}]})
    assert [call.arguments for call in completion.tool_calls] == [text, "{}"]


def deep(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


def executor(*, output: Any = None, reply: str = "", question: str = "q") -> StepExecutor:
    context = [ExecutorHistory.model_construct(stepId="s", outputData=output or {})]
    return StepExecutor(
        task=Task.model_construct(
            metadata=TaskMetadata(id="t", userId="u"),
            state=TaskState(executorId="e"),
            runtime=TaskRuntime(language=LanguageType.ENGLISH),
            context=context,
        ),
        question=question,
        background=ExecutorBackground(),
        llm=Models(reply),
        step=StepInfo(name="step"),
    )


class Models:
    """A reasoning model that always says the same, and no function model."""

    function = None

    def __init__(self, reply: str) -> None:
        self.reasoning = self
        self._reply = reply

    async def call(self, messages: list[dict[str, str]], streaming: bool = False, **_: Any) -> Any:
        yield self
        return

    @property
    def content(self) -> str:
        return self._reply


class TestCalls:
    @pytest.mark.rule("llm.context.11")
    @pytest.mark.parametrize("call", [LLM, Slot])
    async def test_an_output_nested_without_end_is_a_call_error(self, call: Any) -> None:
        asked = {"current_schema": {"required": ["x"]}} if call is Slot else {}
        with pytest.raises(CallError, match="step s"):
            made = await call.instance(executor(output=deep(50_000)), **asked)
            [chunk async for chunk in made.exec(executor(), made.input)]

    @pytest.mark.rule("llm.limit.1", "llm.limit.2")
    @pytest.mark.parametrize(
        ("which", "prompt"),
        [
            ("system prompt", {"system_prompt": "{{ 'x' * 10 ** 9 }}"}),
            ("user prompt", {"user_prompt": "{% for i in range(999) %}" * 2 + "{% endfor %}" * 2}),
        ],
    )
    async def test_the_prompt_that_asks_for_too_much_is_named(
        self, which: str, prompt: dict[str, str]
    ) -> None:
        with pytest.raises(CallError, match=f"the {which} does not render: it .* more than"):
            await LLM.instance(executor(), **prompt)

    @pytest.mark.rule("llm.limit.1")
    async def test_the_prompt_of_the_slot_is_bounded_too(self) -> None:
        slot = await Slot.instance(
            executor(),
            current_schema={"required": ["x"]},
            prompt="{% for i in range(999) %}" * 2 + "{% endfor %}" * 2,
        )
        with pytest.raises(CallError, match="the slot prompt does not render: it takes more than"):
            [chunk async for chunk in slot.exec(executor(), slot.input)]

    @pytest.mark.rule("reply.json.5")
    async def test_a_reply_nested_without_end_fills_nothing(self) -> None:
        run = executor(
            reply=json.dumps(deep(90)).replace("{}", '{"a":' * 50_000 + "{}" + "}" * 50_000)
        )
        schema = {"properties": {"a": {"type": "object"}}, "required": ["a"]}
        slot = await Slot.instance(run, current_schema=schema, data={})
        with pytest.raises(CallError, match="no function model"):
            [chunk async for chunk in slot.exec(run, slot.input)]
        assert slot.trace.unparsed == ["stage1"]


class TestHistory:
    def test_a_path_goes_as_deep_as_the_data(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.CRITICAL)
        history = {"s": ExecutorHistory.model_construct(stepId="s", outputData=deep(50_000))}
        assert extract("s" + "/a" * 50_000, history) == {}
        assert extract("s" + "/a" * 50_001, history) is None
        assert extract("s" + "/" * 1_000_000, history) is None
