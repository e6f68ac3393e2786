"""Bytes as they come over the wire: split anywhere, framed as server-sent events, as chat chunks.

Each stream comes with its meaning, computed when it was written and never parsed back.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from callbench.fuzz.strategies.values import json_objects, texts

_BOM = b"\xef\xbb\xbf"
_LINES = st.one_of(
    st.sampled_from(
        ["", " ", "  x", ":", "a: b", "data: x", "杭州", "😀", "\u2028", "\u0085\x0b\x0c", "[DONE]"]
    ),
    st.text(max_size=6).filter(lambda text: "\n" not in text and "\r" not in text),
)
_TYPES = st.sampled_from(["", "", "message", "error", "delta", "城市"])
_NOISE = (
    ":",
    ": keep-alive",
    ":data: x",
    "unknown: x",
    "data-x: 1",
    " data: x",
    "Data: x",
    "retry",
)


@dataclass(frozen=True, slots=True)
class EventStream:
    """A stream of server-sent events: its bytes, and the events as ``(type, data, last id)``.

    ``cut`` is the type and data of an event that the end of the stream cut off, ``None`` when the
    stream ends whole.
    """

    data: bytes
    events: tuple[tuple[str, str, str], ...]
    cut: tuple[str, str] | None


@dataclass(frozen=True, slots=True)
class ChatStream:
    """A streamed chat completion: its bytes, and what they mean.

    ``tool_calls`` holds ``(id, name, arguments text)``; ``finish_reason`` is ``None`` where the
    stream ended on ``[DONE]`` alone.
    """

    data: bytes
    content: str
    reasoning: str
    tool_calls: tuple[tuple[str, str, str], ...]
    finish_reason: str | None


def splits(data: bytes) -> SearchStrategy[list[bytes]]:
    """Draw ways to cut ``data`` into chunks; joined they are ``data`` again.

    One byte at a time, in halves, at any offsets, with empty chunks between; so inside a character,
    between CR and LF, before and after a blank line::

        @given(event_streams().flatmap(lambda s: st.tuples(st.just(s), splits(s.data))))
        def test_chunks_do_not_matter(drawn): ...
    """
    cuts = st.lists(st.integers(0, len(data)), max_size=8).map(sorted)
    return st.one_of(
        cuts.map(lambda offsets: _cut(data, offsets)),
        st.just(_cut(data, range(1, len(data)))),
        st.just([data]),
    )


def event_streams() -> SearchStrategy[EventStream]:
    """Draw server-sent events as bytes, in every way the standard allows.

    LF, CRLF and CR in one stream, a space after the colon or none, several data lines, ids that stay,
    comments, fields nobody knows, events without data, a BOM, an end in the middle of an event::

        @given(event_streams())
        def test_the_standard(stream):
            assert my_events(stream.data) == list(stream.events)
    """
    return st.composite(_event_stream)()


def chat_streams() -> SearchStrategy[ChatStream]:
    """Draw streamed chat completions of OpenAI-compatible endpoints.

    Content and reasoning in pieces (``null`` and ``""`` among them), tool calls whose arguments come
    in fragments, chunks without choices, keep-alives; an end with ``[DONE]``, with a finish reason
    only, or with ``[DONE]`` only::

        @given(chat_streams())
        def test_the_text_is_whole(stream):
            assert my_text(stream.data) == stream.content
    """
    return st.composite(_chat_stream)()


def _cut(data: bytes, offsets: Sequence[int]) -> list[bytes]:
    edges = [0, *offsets, len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


class _Lines:
    """Writes lines, each with an end of its own choosing."""

    def __init__(self, draw: DrawFn) -> None:
        self._draw = draw
        self._ends = st.sampled_from(draw(st.sampled_from([("\n",), ("\r\n",), ("\r",), _ENDS])))
        self.data = bytearray()

    def write(self, line: str) -> None:
        end = self._draw(self._ends)
        if not line and end == "\n" and self.data.endswith(b"\r"):
            end = "\r\n"  # an LF right after a CR would belong to it
        self.data += f"{line}{end}".encode()

    def field(self, name: str, value: str) -> None:
        if not value and self._draw(st.booleans()):
            self.write(name)  # a field without a colon is empty
        elif value.startswith(" ") or self._draw(st.booleans()):
            self.write(f"{name}: {value}")
        else:
            self.write(f"{name}:{value}")

    def noise(self) -> None:
        if self._draw(st.integers(0, 3)) == 3:
            self.write(self._draw(st.sampled_from(_NOISE)))


_ENDS = ("\n", "\r\n", "\r")


def _event_stream(draw: DrawFn) -> EventStream:
    lines = _Lines(draw)
    events: list[tuple[str, str, str]] = []
    last_id = ""
    cut: tuple[str, str] | None = None
    if draw(st.integers(0, 3)) == 3:
        lines.data += _BOM
    count = draw(st.integers(0, 4))
    for number in range(count):
        kind = draw(_TYPES)
        data = draw(st.lists(_LINES, max_size=3))
        lines.noise()
        if kind:
            lines.field("event", kind)
        if draw(st.integers(0, 2)) == 2:
            given_id = draw(st.sampled_from(["", "1", "號2", "3\x00"]))
            lines.field("id", given_id)
            last_id = last_id if "\x00" in given_id else given_id
        if draw(st.integers(0, 4)) == 4:
            lines.field("retry", draw(st.sampled_from(["0", "3000", "1e3", "-1", "", "１"])))
        for line in data:
            lines.field("data", line)
            lines.noise()
        if number == count - 1 and draw(st.integers(0, 3)) == 3:
            cut = (kind or "message", "\n".join(data)) if kind or data else None
            break
        lines.write("")
        if data:
            events.append((kind or "message", "\n".join(data), last_id))
    return EventStream(bytes(lines.data), tuple(events), cut)


def _chat_stream(draw: DrawFn) -> ChatStream:
    content: list[str] = []
    reasoning: list[str] = []
    deltas: list[Any] = [{"role": "assistant", "content": draw(st.sampled_from([None, ""]))}]
    for _ in range(draw(st.integers(0, 5))):
        piece = draw(texts())
        if draw(st.integers(0, 2)) == 2:
            deltas.append({"content": None, "reasoning_content": piece})
            reasoning.append(piece)
        else:
            deltas.append({"content": piece})
            content.append(piece)
    calls = [_call(draw, index, deltas) for index in range(draw(st.integers(0, 2)))]
    chunks: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    finish = draw(st.sampled_from([None, "stop", "tool_calls", "length"]))
    if finish is not None:
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    usage = {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}}
    if draw(st.booleans()):
        chunks.insert(draw(st.integers(0, len(chunks))), usage)
    lines = _Lines(draw)
    for chunk in chunks:
        lines.noise()
        lines.field("data", json.dumps(chunk, ensure_ascii=draw(st.booleans())))
        lines.write("")
    if finish is None or draw(st.booleans()):
        lines.field("data", "[DONE]")
        lines.write("")
    return ChatStream(bytes(lines.data), "".join(content), "".join(reasoning), tuple(calls), finish)


def _call(draw: DrawFn, index: int, deltas: list[Any]) -> tuple[str, str, str]:
    """Append the fragments of one tool call to ``deltas``; return what they make together."""
    identity, name = f"call_{index}", draw(st.sampled_from(["fill", "查询_天气"]))
    arguments = json.dumps(draw(json_objects(3)), ensure_ascii=False)
    first = {"index": index, "id": identity, "type": "function"}
    deltas.append({"tool_calls": [{**first, "function": {"name": name, "arguments": ""}}]})
    middle = draw(st.integers(0, len(arguments)))
    for part in (arguments[:middle], arguments[middle:]):
        deltas.append({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
    return identity, name, arguments
