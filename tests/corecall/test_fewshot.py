"""One streamed model call with few-shot examples; LangChain's models have a file of their own."""

from __future__ import annotations

import asyncio
import inspect
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corecall import ChatClient, Endpoint, Example, ReasoningModel, TransportError, call_llm
from corecall.fewshot import chunk_text, fewshot_messages

from .support import FakeReasoning

SYSTEM = {"role": "system", "content": "s"}
PAIR = [{"role": "user", "content": "i"}, {"role": "assistant", "content": "o"}]
MESSAGE = {"role": "user", "content": "m"}
EXAMPLES: list[Example] = [{"input": "i", "output": "o"}]


@dataclass
class Chunk:
    content: Any


@dataclass
class FakeModel:
    """A model of LangChain's shape: streams the chunks given, raises where one is an error."""

    chunks: list[Any] = field(default_factory=lambda: ["ok"])
    requests: list[Any] = field(default_factory=list)
    events: list[str] = field(default_factory=list)

    async def astream(self, messages: Any) -> AsyncIterator[Any]:
        self.requests.append(messages)
        try:
            for number, chunk in enumerate(self.chunks):
                if isinstance(chunk, Exception):
                    raise chunk
                self.events.append(f"chunk {number}")
                yield chunk
        finally:
            self.events.append("closed")


async def reply(*chunks: Any) -> str:
    return await call_llm("s", FakeModel(list(chunks)), "m")


class TestMessages:
    @pytest.mark.rule("fewshot.message.1")
    def test_system_examples_message(self) -> None:
        assert fewshot_messages("s", EXAMPLES, "m") == [SYSTEM, *PAIR, MESSAGE]

    @pytest.mark.rule("fewshot.message.2")
    def test_examples_in_their_order_each_a_user_and_an_assistant_turn(self) -> None:
        examples: list[Example] = [{"output": "2", "input": "1"}, {"input": "3", "output": "4"}]
        messages = fewshot_messages("s", examples, "m")
        assert [(message["role"], message["content"]) for message in messages[1:-1]] == [
            ("user", "1"),
            ("assistant", "2"),
            ("user", "3"),
            ("assistant", "4"),
        ]

    @pytest.mark.rule("fewshot.message.2")
    def test_equal_examples_are_all_there(self) -> None:
        assert fewshot_messages("s", EXAMPLES * 2, "m") == [SYSTEM, *PAIR, *PAIR, MESSAGE]

    @pytest.mark.rule("fewshot.message.3")
    def test_without_examples(self) -> None:
        assert fewshot_messages("s", [], "m") == [SYSTEM, MESSAGE]

    @pytest.mark.rule("fewshot.message.4")
    @pytest.mark.trap("A29")
    @pytest.mark.parametrize(
        "text",
        ["{x}", "{{x}}", "{{ 7 * 7 }}", "{% if x %}", "{", "}", "%s", "${x}", "{input}", "{0}"],
    )
    def test_text_is_never_a_template(self, text: str) -> None:
        messages = fewshot_messages(text, [{"input": text, "output": text}], text)
        assert [message["content"] for message in messages] == [text] * 4

    @pytest.mark.rule("fewshot.message.5")
    @pytest.mark.trap("A33")
    async def test_the_texts_of_an_example_stand_in_its_turns(self) -> None:
        model = FakeModel()
        await call_llm("s", model, "m", [{"input": "2+2?", "output": "4"}])
        assert [message["content"] for message in model.requests[0]] == ["s", "2+2?", "4", "m"]

    @pytest.mark.rule("fewshot.message.6")
    def test_an_empty_text_is_a_message_too(self) -> None:
        messages = fewshot_messages("", [{"input": "", "output": ""}], "")
        assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
        assert {message["content"] for message in messages} == {""}

    @pytest.mark.rule("fewshot.message.7")
    def test_other_keys_of_an_example_are_ignored(self) -> None:
        example: Any = {"note": 1, "input": "i", "output": "o", "role": "system"}
        assert fewshot_messages("s", [example], "m") == [SYSTEM, *PAIR, MESSAGE]

    @pytest.mark.rule("fewshot.message.4", "fewshot.message.6")
    @given(st.text(), st.lists(st.tuples(st.text(), st.text())), st.text())
    def test_every_text_arrives_unchanged(
        self, system: str, pairs: list[tuple[str, str]], message: str
    ) -> None:
        examples: list[Example] = [{"input": given, "output": wanted} for given, wanted in pairs]
        contents = [turn["content"] for turn in fewshot_messages(system, examples, message)]
        assert contents == [system, *(text for pair in pairs for text in pair), message]

    @pytest.mark.rule("fewshot.message.8")
    async def test_what_the_caller_gave_is_neither_shared_nor_changed(self) -> None:
        class Greedy(FakeModel):
            async def astream(self, messages: Any) -> AsyncIterator[Any]:
                for message in messages:
                    message["content"] = "changed"
                messages.clear()
                yield "ok"

        examples: list[Example] = [{"input": "i", "output": "o"}]
        await call_llm("s", Greedy(), "m", examples)
        assert examples == EXAMPLES


class TestMalformed:
    @pytest.mark.rule("fewshot.example.1")
    @pytest.mark.parametrize("example", [None, "io", 1, ["input", "output"], ("i", "o")])
    def test_an_example_that_is_no_object(self, example: Any) -> None:
        with pytest.raises(ValueError, match=r"^examples\[1\] is of type \w+, not a dict$"):
            fewshot_messages("s", [EXAMPLES[0], example], "m")

    @pytest.mark.rule("fewshot.example.2")
    @pytest.mark.parametrize(
        ("example", "key"), [({"input": "i"}, "output"), ({"output": "o"}, "input"), ({}, "input")]
    )
    def test_a_missing_key(self, example: Any, key: str) -> None:
        with pytest.raises(ValueError, match=rf"^examples\[2\] has no '{key}'$"):
            fewshot_messages("s", [*EXAMPLES, *EXAMPLES, example], "m")

    @pytest.mark.rule("fewshot.example.3")
    @pytest.mark.parametrize("key", ["input", "output"])
    @pytest.mark.parametrize("value", [None, 0, False, ["x"], {"a": 1}, b"x"])
    def test_a_value_that_is_no_text(self, key: str, value: Any) -> None:
        example: Any = {"input": "i", "output": "o", key: value}
        reason = rf"^examples\[0\]\['{key}'\] is of type {type(value).__name__}, not str$"
        with pytest.raises(ValueError, match=reason):
            fewshot_messages("s", [example], "m")

    @pytest.mark.rule("fewshot.example.4")
    @pytest.mark.parametrize("bad", [None, {"input": "i"}, {"input": "i", "output": 1}])
    async def test_the_model_is_not_asked(self, bad: Any) -> None:
        model = FakeModel()
        with pytest.raises(ValueError, match=r"^examples\[1\]"):
            await call_llm("s", model, "m", [*EXAMPLES, bad])
        assert model.requests == []

    @pytest.mark.rule("fewshot.example.5")
    @pytest.mark.parametrize(
        ("system", "message", "name"), [(None, "m", "system"), ("s", ["m"], "message")]
    )
    async def test_system_and_message_are_text(self, system: Any, message: Any, name: str) -> None:
        model = FakeModel()
        with pytest.raises(TypeError, match=rf"^{name} is of type \w+, not str$"):
            await call_llm(system, model, message)
        assert model.requests == []


class TestModels:
    @pytest.mark.rule("fewshot.model.1")
    async def test_astream_gets_the_messages_and_nothing_else(self) -> None:
        model = FakeModel(["a", "b"])
        assert await call_llm("s", model, "m", EXAMPLES) == "ab"
        assert model.requests == [[SYSTEM, *PAIR, MESSAGE]]

    @pytest.mark.rule("fewshot.model.3")
    async def test_a_reasoning_model_is_called_streaming(self) -> None:
        model = FakeReasoning([["a", None, "b"]])
        assert await call_llm("s", model, "m", EXAMPLES) == "ab"
        assert model.requests == [{"messages": [SYSTEM, *PAIR, MESSAGE], "streaming": True}]

    @pytest.mark.rule("fewshot.model.4")
    async def test_astream_goes_before_call(self) -> None:
        class Both(FakeModel):
            def call(self, *_: Any, **__: Any) -> Any:
                raise AssertionError("call was chosen")

        assert await call_llm("s", Both(), "m") == "ok"

    @pytest.mark.rule("fewshot.model.4")
    async def test_an_astream_that_is_no_method_does_not_count(self) -> None:
        class Marked(FakeReasoning):
            astream = None

        assert await call_llm("s", Marked([["ok"]]), "m") == "ok"

    @pytest.mark.rule("fewshot.model.5")
    @pytest.mark.parametrize(
        "model", [None, object(), "gpt", lambda messages: "ok", FakeModel, FakeReasoning]
    )
    async def test_anything_else_is_refused(self, model: Any) -> None:
        with pytest.raises(TypeError, match=r"^model is .*astream\(messages\) or call\(messages"):
            await call_llm("s", model, "m")

    @pytest.mark.rule("fewshot.model.5")
    async def test_a_stream_that_is_none_is_refused(self) -> None:
        class Whole:
            def astream(self, messages: Any) -> Any:
                return ["a", "b"]

        with pytest.raises(TypeError, match="list"):
            await call_llm("s", Whole(), "m")

    @pytest.mark.rule("fewshot.model.6")
    async def test_it_is_asked_once_and_its_failure_passes_unchanged(self) -> None:
        failure = ConnectionError("gone")
        model = FakeModel(["a", failure])
        seen: list[str] = []
        with pytest.raises(ConnectionError) as raised:
            await call_llm("s", model, "m", callback=seen.append)
        assert raised.value is failure
        assert seen == ["a"]
        assert len(model.requests) == 1

    @pytest.mark.rule("fewshot.model.3")
    async def test_our_own_model_over_http(self) -> None:
        bodies: list[bytes] = []

        def answer(request: httpx2.Request) -> httpx2.Response:
            bodies.append(request.content)
            events = [
                '{"choices":[{"delta":{"content":"你"}}]}',
                '{"choices":[{"delta":{"content":"好"},"finish_reason":"stop"}]}',
                "[DONE]",
            ]
            return httpx2.Response(
                200,
                headers={"content-type": "text/event-stream"},
                content="".join(f"data: {event}\n\n" for event in events).encode(),
            )

        client = ChatClient(Endpoint("http://test/v1", "m"), transport=httpx2.MockTransport(answer))
        seen: list[str] = []
        assert await call_llm("s", ReasoningModel(client), "m", EXAMPLES, seen.append) == "你好"
        assert seen == ["你", "好"]
        assert len(bodies) == 1
        assert b'"stream":true' in bodies[0]

    @pytest.mark.rule("fewshot.model.6")
    async def test_a_failing_endpoint_is_its_own_error(self) -> None:
        transport = httpx2.MockTransport(lambda _: httpx2.Response(400, text="no"))
        client = ChatClient(Endpoint("http://test/v1", "m"), transport=transport)
        with pytest.raises(TransportError, match="400"):
            await call_llm("s", ReasoningModel(client), "m")


class TestChunks:
    @pytest.mark.rule("fewshot.reply.1")
    async def test_the_reply_is_the_pieces_in_order_and_nothing_between(self) -> None:
        assert await reply("b", " ", "a", "", "\n", "b") == "b a\nb"

    @pytest.mark.rule("fewshot.reply.2")
    async def test_no_chunks_give_an_empty_reply(self) -> None:
        assert await reply() == ""

    @pytest.mark.rule("fewshot.reply.3")
    async def test_thoughts_and_white_space_stay(self) -> None:
        assert await reply(" <think>", "hm</think>", " {x} ", "\n") == " <think>hm</think> {x} \n"

    @pytest.mark.rule("fewshot.reply.3")
    async def test_what_a_model_gives_beside_the_content_is_no_part_of_the_reply(self) -> None:
        @dataclass
        class Thinking:
            content: str
            reasoning: str

        assert await reply(Thinking("", "hm"), Thinking("yes", "")) == "yes"

    @pytest.mark.rule("fewshot.chunk.1")
    @pytest.mark.parametrize("text", ["", "a", " {x}\n", "'quoted'", "😀"])
    def test_text_is_itself(self, text: str) -> None:
        assert chunk_text(text) == text

    @pytest.mark.rule("fewshot.chunk.1")
    def test_text_that_has_content_too_is_still_itself(self) -> None:
        class Rich(str):
            content = "other"

        assert chunk_text(Rich("itself")) == "itself"

    @pytest.mark.rule("fewshot.chunk.2")
    @pytest.mark.parametrize("text", ["", "a", " 你\n"])
    def test_content_that_is_text(self, text: str) -> None:
        assert chunk_text(Chunk(text)) == text

    @pytest.mark.rule("fewshot.chunk.3")
    def test_no_content(self) -> None:
        assert chunk_text(Chunk(None)) == ""

    @pytest.mark.rule("fewshot.chunk.4")
    def test_blocks_give_their_text_in_order(self) -> None:
        blocks = [
            "a",
            {"type": "text", "text": "b"},
            {"text": "c"},
            "",
            {"type": "text", "text": ""},
        ]
        assert chunk_text(Chunk(blocks)) == "abc"
        assert chunk_text(Chunk([])) == ""

    @pytest.mark.rule("fewshot.chunk.5")
    @pytest.mark.parametrize(
        "block",
        [
            {"type": "image_url", "image_url": {"url": "u"}},
            {"type": "reasoning", "reasoning": "hm"},
            {"type": "thinking", "thinking": "hm", "text": "hm"},
            {"type": "tool_use", "input": {}, "text": "x"},
            {"type": "text"},
            {"type": "text", "text": None},
            {"type": "text", "text": 1},
            {},
            None,
            7,
        ],
    )
    def test_other_blocks_have_no_text(self, block: Any) -> None:
        assert chunk_text(Chunk(["a", block, "b"])) == "ab"

    @pytest.mark.rule("fewshot.chunk.6")
    def test_other_content_is_shown_as_text(self) -> None:
        assert chunk_text(Chunk(5)) == "5"
        assert chunk_text(Chunk(0)) == "0"

    @pytest.mark.rule("fewshot.chunk.6")
    def test_any_other_chunk_is_shown_as_text(self) -> None:
        class Shown:
            def __str__(self) -> str:
                return "shown"

        assert chunk_text(Shown()) == "shown"
        assert chunk_text(0) == "0"
        assert chunk_text({"content": "x"}) == "{'content': 'x'}"


class TestCallback:
    @pytest.mark.rule("fewshot.callback.1")
    async def test_each_piece_is_given_before_the_next_chunk_is_asked_for(self) -> None:
        model = FakeModel(["a", Chunk("b"), 3])
        await call_llm("s", model, "m", callback=model.events.append)
        assert model.events == ["chunk 0", "a", "chunk 1", "b", "chunk 2", "3", "closed"]

    @pytest.mark.rule("fewshot.callback.2")
    async def test_empty_pieces_are_given_too(self) -> None:
        seen: list[str] = []
        model = FakeModel(["", Chunk(None), Chunk([]), "a"])
        assert await call_llm("s", model, "m", callback=seen.append) == "a"
        assert seen == ["", "", "", "a"]

    @pytest.mark.rule("fewshot.callback.3")
    async def test_an_async_callback_holds_the_stream_until_it_is_done(self) -> None:
        model = FakeModel(["a", "b"])

        async def slow(piece: str) -> None:
            await asyncio.sleep(0)
            model.events.append(piece)

        assert await call_llm("s", model, "m", callback=slow) == "ab"
        assert model.events == ["chunk 0", "a", "chunk 1", "b", "closed"]

    @pytest.mark.rule("fewshot.callback.4")
    async def test_what_it_returns_is_ignored(self) -> None:
        async def other(piece: str) -> str:
            return "other"

        assert await call_llm("s", FakeModel(["a", "b"]), "m", callback=lambda _: "other") == "ab"
        assert await call_llm("s", FakeModel(["a", "b"]), "m", callback=other) == "ab"

    @pytest.mark.rule("fewshot.callback.4")
    async def test_a_callback_that_counts_as_false_is_called(self) -> None:
        class Pieces(list[str]):
            def __call__(self, piece: str) -> None:
                self.append(piece)

        seen = Pieces()
        await call_llm("s", FakeModel(["a", "b"]), "m", callback=seen)
        assert seen == ["a", "b"]

    @pytest.mark.rule("fewshot.callback.5")
    @pytest.mark.parametrize("asynchronous", [False, True])
    async def test_what_it_raises_ends_the_call(self, asynchronous: bool) -> None:
        failure = LookupError("enough")

        def stop(piece: str) -> None:
            model.events.append(piece)
            raise failure

        async def stop_later(piece: str) -> None:
            stop(piece)

        model = FakeModel(["a", "b"])
        with pytest.raises(LookupError) as raised:
            await call_llm("s", model, "m", callback=stop_later if asynchronous else stop)
        assert raised.value is failure
        assert model.events == ["chunk 0", "a", "closed"]

    @pytest.mark.rule("fewshot.callback.6")
    @pytest.mark.parametrize("callback", ["print", 1, [], 0, ""])
    async def test_one_that_cannot_be_called_is_refused(self, callback: Any) -> None:
        model = FakeModel()
        with pytest.raises(TypeError, match=r"^callback is of type"):
            await call_llm("s", model, "m", callback=callback)
        assert model.requests == []


class TestStream:
    @pytest.mark.rule("fewshot.stream.1")
    async def test_a_piece_arrives_before_the_reply_is_finished(self) -> None:
        arrived, rest = asyncio.Event(), asyncio.Event()

        class Slow:
            async def astream(self, messages: Any) -> AsyncIterator[str]:
                yield "a"
                await rest.wait()
                yield "b"

        task = asyncio.create_task(call_llm("s", Slow(), "m", callback=lambda _: arrived.set()))
        await asyncio.wait_for(arrived.wait(), 5)
        assert not task.done()
        rest.set()
        assert await task == "ab"

    @pytest.mark.rule("fewshot.stream.2")
    async def test_it_is_closed_at_the_end(self) -> None:
        model = FakeModel(["a"])
        await call_llm("s", model, "m")
        assert model.events == ["chunk 0", "closed"]

    @pytest.mark.rule("fewshot.stream.2")
    @pytest.mark.parametrize("where", ["the model", "the callback"])
    async def test_cancellation_passes_and_closes_it(self, where: str) -> None:
        events: list[str] = []
        reached = asyncio.Event()

        async def hang() -> None:
            reached.set()
            await asyncio.Event().wait()

        class Hanging:
            async def astream(self, messages: Any) -> AsyncIterator[str]:
                try:
                    yield "a"
                    await hang()
                finally:
                    events.append("closed")

        async def callback(piece: str) -> None:
            if where == "the callback":
                await hang()

        task = asyncio.create_task(call_llm("s", Hanging(), "m", callback=callback))
        await asyncio.wait_for(reached.wait(), 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert events == ["closed"]

    @pytest.mark.rule("fewshot.stream.2")
    async def test_one_made_by_an_async_iterable_is_closed(self) -> None:
        events: list[str] = []

        class Iterable:
            async def __aiter__(self) -> AsyncIterator[str]:
                try:
                    yield "a"
                    yield "b"
                finally:
                    events.append("closed")

        class Model:
            def astream(self, messages: Any) -> Iterable:
                return Iterable()

        def stop(piece: str) -> None:
            raise LookupError

        with pytest.raises(LookupError):
            await call_llm("s", Model(), "m", callback=stop)
        assert events == ["closed"]

    @pytest.mark.rule("fewshot.stream.3")
    async def test_one_that_cannot_be_closed_is_read_all_the_same(self) -> None:
        class Plain:
            def __init__(self) -> None:
                self.left = ["a", "b"]

            def __aiter__(self) -> Plain:
                return self

            async def __anext__(self) -> str:
                if not self.left:
                    raise StopAsyncIteration
                return self.left.pop(0)

        class Model:
            def astream(self, messages: Any) -> Plain:
                return Plain()

        assert await call_llm("s", Model(), "m") == "ab"


class TestCall:
    @pytest.mark.rule("fewshot.call.1")
    def test_parameters_and_defaults(self) -> None:
        parameters = inspect.signature(call_llm).parameters
        assert list(parameters) == ["system", "model", "message", "examples", "callback"]
        assert [parameter.default for parameter in parameters.values()] == [
            *[inspect.Parameter.empty] * 3,
            (),
            None,
        ]

    @pytest.mark.rule("fewshot.call.2")
    async def test_calls_run_side_by_side(self) -> None:
        replies = await asyncio.gather(
            *(call_llm("s", FakeModel([letter, Chunk(None), letter]), "m") for letter in "abc")
        )
        assert replies == ["aa", "bb", "cc"]

    @pytest.mark.rule("fewshot.call.2")
    async def test_nothing_is_left_of_an_earlier_call(self) -> None:
        model = FakeModel()
        await call_llm("s", model, "m", EXAMPLES)
        assert await call_llm("s2", model, "m2") == "ok"
        assert [message["content"] for message in model.requests[1]] == ["s2", "m2"]

    @pytest.mark.rule("fewshot.call.3")
    async def test_it_logs_nothing(self, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(0):
            await call_llm("s", FakeModel(["a"]), "m", EXAMPLES, lambda _: None)
        assert [record.name for record in caplog.records if "corecall" in record.name] == []

    @pytest.mark.rule("fewshot.call.3")
    def test_it_touches_no_file_no_socket_no_process_and_no_environment(self) -> None:
        code = """
import asyncio, os, sys
from corecall import call_llm

class Model:
    async def astream(self, messages):
        yield "a"

async def main():
    touched = []
    names = ("open", "os.", "shutil.", "socket.", "subprocess.", "import")
    environment = dict(os.environ)
    sys.addaudithook(lambda name, _: touched.append(name) if name.startswith(names) else None)
    await call_llm("s", Model(), "m", [{"input": "i", "output": "o"}], lambda piece: None)
    seen = list(touched)
    open(os.devnull).close()
    assert touched[len(seen):] == ["open"], "the hook works"
    assert seen == [], seen
    assert dict(os.environ) == environment

asyncio.run(main())
"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
