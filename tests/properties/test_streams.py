"""Streams mean the same however their bytes are cut."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterable

import httpx2
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from callbench.fuzz.strategies import (
    ChatStream,
    EventStream,
    chat_streams,
    event_streams,
    splits,
    texts,
)
from corecall.deltas import Completion
from corecall.jsontext import loads
from corecall.providers import ChatClient, Endpoint, ReasoningModel
from corecall.sse import ServerEvent, SSEDecoder
from corecall.thoughts import ThoughtSplitter

from .support import tries

ASK = [{"role": "user", "content": "q"}]
_FIRST_BRACE_OR_TAG = re.compile(r"<think>|\{")


def decoded(chunks: Iterable[bytes]) -> tuple[list[ServerEvent], ServerEvent | None]:
    decoder = SSEDecoder()
    return [event for chunk in chunks for event in decoder.feed(chunk)], decoder.close()


def meaning(chunks: Iterable[bytes]) -> tuple[object, ...]:
    events, cut = decoded(chunks)
    return (
        [(event.event, event.data, event.id) for event in events],
        None if cut is None else (cut.event, cut.data),
    )


@pytest.mark.rule(
    "stream.sse.1",
    "stream.sse.2",
    "stream.sse.3",
    "stream.sse.5",
    "stream.sse.6",
    "stream.sse.7",
    "stream.sse.8",
    "stream.sse.9",
    "stream.sse.10",
    "stream.sse.11",
    "stream.end.1",
)
@tries(150)
@given(st.data())
def test_events_are_what_was_written_however_they_are_split(data: st.DataObject) -> None:
    stream = data.draw(event_streams())
    expected = (list(stream.events), stream.cut)
    assert meaning(data.draw(splits(stream.data))) == expected


@pytest.mark.rule("stream.sse.1", "stream.sse.4")
@tries(40)
@given(event_streams())
@example(EventStream("﻿data: 杭\r\rdata:😀\r\n\r\n".encode(), (), None))
def test_a_cut_at_every_offset(stream: EventStream) -> None:
    whole = meaning([stream.data])
    for offset in range(len(stream.data) + 1):
        assert meaning([stream.data[:offset], stream.data[offset:]]) == whole
    assert meaning(stream.data[place : place + 1] for place in range(len(stream.data))) == whole


@pytest.mark.rule("stream.sse.1", "stream.sse.12")
@tries(100)
@given(st.binary(max_size=40).map(lambda noise: noise.replace(b"\x00", b"\n")), st.data())
def test_any_bytes_decode_the_same_split_or_whole(noise: bytes, data: st.DataObject) -> None:
    """Bytes that are no UTF-8 and lines that are no fields too."""
    assert decoded(data.draw(splits(b"data: " + noise))) == decoded([b"data: " + noise])


@pytest.mark.rule(
    "stream.delta.1", "stream.delta.2", "stream.tool.1", "stream.tool.7", "stream.delta.6"
)
@tries(80)
@given(st.data())
def test_deltas_add_up(data: st.DataObject) -> None:
    stream = data.draw(chat_streams())
    completion = Completion()
    content, reasoning = "", ""
    for event in decoded(data.draw(splits(stream.data)))[0]:
        if event.data != "[DONE]":
            delta = completion.add(loads(event.data))
            content += delta.content
            reasoning += delta.reasoning
    assert (content, reasoning) == (stream.content, stream.reasoning)
    assert (completion.content, completion.reasoning) == (stream.content, stream.reasoning)
    calls = tuple((call.id, call.name, call.arguments) for call in completion.tool_calls)
    assert calls == stream.tool_calls
    assert completion.finish_reason == stream.finish_reason


class _Chunks(httpx2.AsyncByteStream):
    def __init__(self, chunks: list[bytes]) -> None:
        self._chunks = chunks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            yield chunk


def client(chunks: list[bytes]) -> ChatClient:
    def answer(request: httpx2.Request) -> httpx2.Response:
        headers = {"content-type": "text/event-stream"}
        return httpx2.Response(200, headers=headers, stream=_Chunks(chunks))

    endpoint = Endpoint("http://callbench.test/v1", "m", retries=0)
    return ChatClient(endpoint, transport=httpx2.MockTransport(answer))


async def streamed(chunks: list[bytes]) -> tuple[str, str]:
    """Return content and reasoning as the client gives them."""
    chat = client(chunks)
    try:
        deltas = [delta async for delta in chat.stream(ASK)]
    finally:
        await chat.aclose()
    content = "".join(delta.content for delta in deltas)
    return content, "".join(delta.reasoning for delta in deltas)


@pytest.mark.rule("stream.sse.1", "stream.end.2", "stream.end.3")
@tries(80)
@given(st.data())
def test_the_client_gives_the_same_text_however_it_arrives(data: st.DataObject) -> None:
    stream = data.draw(chat_streams())
    chunks = data.draw(splits(stream.data))
    assert asyncio.run(streamed(chunks)) == (stream.content, stream.reasoning)


@pytest.mark.rule("stream.sse.1")
@tries(10)
@given(chat_streams().filter(lambda stream: len(stream.data) < 600))
def test_the_client_and_a_cut_at_every_offset(stream: ChatStream) -> None:
    async def every() -> set[tuple[str, str]]:
        data = stream.data
        cuts = [[data[:offset], data[offset:]] for offset in range(len(data) + 1)]
        return {await streamed(chunks) for chunks in cuts}

    assert asyncio.run(every()) == {(stream.content, stream.reasoning)}


_TALK = st.lists(
    st.one_of(
        st.sampled_from(
            ["<think>", "</think>", "<", "</", "think>", "<think", "{", "}", "\n", "杭"]
        ),
        texts(),
    ),
    max_size=8,
).map("".join)


def told_apart(pieces: Iterable[str]) -> tuple[str, str]:
    splitter = ThoughtSplitter()
    parts = [splitter.feed(piece) for piece in pieces]
    parts.append(splitter.flush())
    return "".join(part.thought for part in parts), "".join(part.content for part in parts)


def told_apart_by_hand(text: str) -> tuple[str, str]:
    """The same for a whole text, by cutting it at its tags."""
    thought, content = "", ""
    inside = False
    while text:
        if inside:
            part, closed, text = text.partition("</think>")
            thought += part
            inside = not closed
            continue
        mark = _FIRST_BRACE_OR_TAG.search(text)
        if mark is None or mark[0] == "{":
            return thought, content + text
        content += text[: mark.start()]
        text = text[mark.end() :]
        inside = True
    return thought, content


@pytest.mark.rule(
    "stream.thoughts.1", "stream.thoughts.3", "stream.thoughts.4", "stream.thoughts.5"
)
@tries(150)
@given(text=_TALK, data=st.data())
def test_thoughts_are_told_apart_wherever_the_deltas_split(text: str, data: st.DataObject) -> None:
    expected = told_apart_by_hand(text)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    edges = [0, *cuts, len(text)]
    pieces = [text[edges[n] : edges[n + 1]] for n in range(len(edges) - 1)]
    assert told_apart(pieces) == expected
    assert told_apart(text) == expected
    for offset in range(len(text) + 1):
        assert told_apart([text[:offset], text[offset:]]) == expected


@pytest.mark.rule("stream.thoughts.1")
@tries(60)
@given(st.data())
def test_the_reasoning_model_tells_thoughts_apart_over_the_wire(data: st.DataObject) -> None:
    """Content of the model is the stream's content without its thoughts."""
    stream = data.draw(chat_streams())
    chunks = data.draw(splits(stream.data))

    async def said() -> str:
        chat = client(chunks)
        try:
            model = ReasoningModel(chat)
            parts = [part async for part in model.call(ASK, streaming=True)]
        finally:
            await chat.aclose()
        return "".join(part.content or "" for part in parts)

    assert asyncio.run(said()) == told_apart_by_hand(stream.content)[1]
