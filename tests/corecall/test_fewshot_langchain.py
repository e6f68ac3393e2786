"""``call_llm`` with LangChain's real models, and LangChain's own few-shot prompt as the oracle."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.language_models.fake import FakeListLLM, FakeStreamingListLLM
from langchain_core.language_models.fake_chat_models import (
    FakeListChatModel,
    FakeListChatModelError,
    FakeMessagesListChatModel,
    GenericFakeChatModel,
)
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    SystemMessage,
)
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.prompts import ChatPromptTemplate, FewShotChatMessagePromptTemplate
from langchain_core.runnables import RunnableLambda

from corecall import Example, call_llm
from corecall.fewshot import chunk_text

EXAMPLES: list[Example] = [
    {"input": "2+2?", "output": "4"},
    {"input": "{input} {{y}}", "output": "{output}"},
]


@pytest.fixture(autouse=True)
def _no_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2"):
        monkeypatch.setenv(name, "false")


class RecordingChat(FakeListChatModel):
    """Keeps the messages it is given; streams each of ``contents`` as a chunk."""

    responses: list[str] = []
    contents: list[Any] = ["ok"]
    seen: list[list[BaseMessage]] = []

    async def _astream(
        self, messages: list[BaseMessage], *_: Any, **__: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        self.seen.append(messages)
        for content in self.contents:
            yield ChatGenerationChunk(message=AIMessageChunk(content=content))


class RecordingText(FakeListLLM):
    """Keeps the prompts it is given."""

    responses: list[str] = ["ok"]
    seen: list[str] = []

    async def _acall(self, prompt: str, *_: Any, **__: Any) -> str:
        self.seen.append(prompt)
        return self.responses[0]


def recorder() -> RecordingChat:
    return RecordingChat(seen=[])


def the_seeds_prompt(system: str, examples: list[Any], message: str) -> ChatPromptTemplate:
    """Build the prompt as the seed does, the example's placeholders being real ones."""
    turns = ChatPromptTemplate.from_messages([("human", "{input}"), ("ai", "{output}")])
    few_shot = FewShotChatMessagePromptTemplate(
        example_prompt=turns, examples=examples, input_variables=[]
    )
    return ChatPromptTemplate.from_messages(
        [SystemMessage(content=system), few_shot, HumanMessage(content=message)]
    )


class TestMessages:
    @pytest.mark.rule("fewshot.model.1", "fewshot.message.1")
    @pytest.mark.trap("A33")
    async def test_a_chat_model_gets_messages_of_the_right_kinds(self) -> None:
        model = recorder()
        assert await call_llm("s {x}", model, "m {x}", EXAMPLES) == "ok"
        assert model.seen == [
            [
                SystemMessage(content="s {x}"),
                HumanMessage(content="2+2?"),
                AIMessage(content="4"),
                HumanMessage(content="{input} {{y}}"),
                AIMessage(content="{output}"),
                HumanMessage(content="m {x}"),
            ]
        ]

    @pytest.mark.rule("fewshot.model.2")
    async def test_a_completion_model_gets_them_as_one_text(self) -> None:
        model = RecordingText(seen=[])
        assert await call_llm("s {x}", model, "m", EXAMPLES[:1]) == "ok"
        assert model.seen == ["System: s {x}\nHuman: 2+2?\nAI: 4\nHuman: m"]

    @pytest.mark.rule("fewshot.message.1", "fewshot.message.2", "fewshot.message.4")
    @pytest.mark.trap("A29")
    @given(
        system=st.text(),
        examples=st.lists(st.fixed_dictionaries({"input": st.text(), "output": st.text()})),
        message=st.text(),
    )
    async def test_the_model_gets_what_the_seeds_chain_would_give_it(
        self, system: str, examples: list[Example], message: str
    ) -> None:
        ours, theirs = recorder(), recorder()
        reply = await call_llm(system, ours, message, examples)
        chain = the_seeds_prompt(system, examples, message) | theirs
        assert reply == "".join([chunk.content async for chunk in chain.astream({})])
        assert ours.seen == theirs.seen

    @pytest.mark.rule("fewshot.example.2", "fewshot.example.3")
    async def test_langchain_refuses_an_example_without_a_key_too(self) -> None:
        broken: Any = [{"input": "i"}]
        with pytest.raises(KeyError, match="output"):
            the_seeds_prompt("s", broken, "m").format()
        with pytest.raises(ValueError, match="output"):
            await call_llm("s", recorder(), "m", broken)


class TestReplies:
    @pytest.mark.rule("fewshot.model.1", "fewshot.callback.1")
    @pytest.mark.parametrize(
        ("model", "pieces"),
        [
            (FakeListChatModel(responses=["你好"]), ["你", "好"]),
            (FakeStreamingListLLM(responses=["你好"]), ["你", "好"]),
            (FakeListLLM(responses=["你好"]), ["你好"]),
            (FakeMessagesListChatModel(responses=[AIMessage(content="你好")]), ["你好"]),
        ],
        ids=lambda value: type(value).__name__,
    )
    async def test_pieces_and_reply(self, model: Any, pieces: list[str]) -> None:
        seen: list[str] = []
        assert await call_llm("s", model, "m", EXAMPLES, seen.append) == "你好"
        assert [piece for piece in seen if piece] == pieces

    @pytest.mark.rule("fewshot.model.1")
    async def test_a_model_that_splits_at_white_space(self) -> None:
        messages: Iterator[Any] = iter([AIMessage(content="hello  my\nfriend")])
        seen: list[str] = []
        reply = await call_llm(
            "s", GenericFakeChatModel(messages=messages), "m", callback=seen.append
        )
        assert reply == "hello  my\nfriend" == "".join(seen)
        assert len(seen) > 2

    @pytest.mark.rule("fewshot.model.1")
    async def test_a_model_bound_to_options_or_piped_into_a_step(self) -> None:
        assert await call_llm("s", recorder().bind(stop=["x"]), "m") == "ok"
        shout = RunnableLambda(lambda message: message.content.upper())
        assert await call_llm("s", recorder() | shout, "m") == "OK"

    @pytest.mark.rule("fewshot.chunk.4", "fewshot.chunk.5")
    async def test_content_blocks_give_their_text(self) -> None:
        model = RecordingChat(
            seen=[],
            contents=[
                [{"type": "reasoning", "reasoning": "hm"}],
                [{"type": "text", "text": "a", "index": 0}],
                "",
                ["b", {"type": "text", "text": "c"}],
            ],
        )
        assert await call_llm("s", model, "m") == "abc"

    @pytest.mark.rule("fewshot.chunk.4", "fewshot.chunk.5")
    @given(
        st.lists(
            st.text()
            | st.fixed_dictionaries(
                {"type": st.sampled_from(["text", "reasoning", "image"])},
                optional={"text": st.text() | st.none(), "index": st.integers()},
            )
        )
    )
    def test_the_text_of_blocks_is_what_langchain_takes_for_it(self, blocks: list[Any]) -> None:
        chunk = AIMessageChunk(content=blocks)
        assert chunk_text(chunk) == str(chunk.text)

    @pytest.mark.rule("fewshot.model.6")
    async def test_a_failure_in_the_middle_passes(self) -> None:
        model = FakeListChatModel(responses=["abc"], error_on_chunk_number=2)
        seen: list[str] = []
        with pytest.raises(FakeListChatModelError):
            await call_llm("s", model, "m", callback=seen.append)
        assert seen == ["a", "b"]

    @pytest.mark.rule("fewshot.stream.2")
    async def test_leaving_early_closes_the_models_stream(self) -> None:
        events: list[str] = []

        class Watched(RecordingChat):
            async def _astream(self, *_: Any, **__: Any) -> AsyncIterator[ChatGenerationChunk]:
                try:
                    for letter in "abc":
                        yield ChatGenerationChunk(message=AIMessageChunk(content=letter))
                finally:
                    events.append("closed")

        def stop(piece: str) -> None:
            raise LookupError(piece)

        with pytest.raises(LookupError, match="a"):
            await call_llm("s", Watched(), "m", callback=stop)
        assert events == ["closed"]


@pytest.mark.rule("fewshot.call.4")
def test_corecall_never_imports_langchain() -> None:
    code = "import corecall, sys; sys.exit(any('langchain' in name for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
