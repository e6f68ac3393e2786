"""Inputs about streams: chunks of bytes, chunks of a completion, thoughts in pieces."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from callbench.fuzz.edits import edited, edited_texts
from callbench.fuzz.inputs.suite import TURNS, Batch, drawn, picked, pool
from callbench.fuzz.strategies import (
    chat_streams,
    event_streams,
    rendered_replies,
    splits,
    thoughts,
)

_BREAKS = (
    b"\r",
    b"\n",
    b"\r\n",
    b"\n\n",
    b":",
    b" ",
    b"data",
    b"id: 5\n",
    b"\xef\xbb\xbf",
    b"\x00",
)


def _chunk(data: bytes) -> Any:
    """Return the bytes as an input: a text where they are one."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def _cut(data: bytes, turn: int) -> list[list[bytes]]:
    """Return ways to cut the bytes: whole, in two at three places, one byte at a time."""
    places = [(turn + number * 13) % (len(data) + 1) for number in range(3)]
    return [
        [data],
        *([data[:at], data[at:]] for at in places),
        [data[at : at + 1] for at in range(len(data))],
    ]


def _events(draw: DrawFn) -> Batch:
    stream = draw(event_streams())
    found = [draw(splits(stream.data)), *_cut(stream.data, turn := draw(TURNS))]
    return _chunked([*found, *(_edited_bytes(stream.data, turn + n) for n in range(8))])


def _events_of_suite(draw: DrawFn) -> Batch:
    chunks = picked(draw, pool("chunks", "stream.decode", "stream.rest"))
    data = b"".join(_bytes(chunk) for chunk in chunks)
    turn = draw(TURNS)
    return _chunked([*_cut(data, turn), *(_edited_bytes(data, turn + n) for n in range(6))])


def _bytes(chunk: Any) -> bytes:
    return chunk.encode() if isinstance(chunk, str) else base64.b64decode(chunk["base64"])


def _edited_bytes(data: bytes, turn: int) -> list[bytes]:
    place = (turn * 11) % (len(data) + 1)
    piece = _BREAKS[turn % len(_BREAKS)]
    keep = place + (turn // 2) % 2
    edited_ = data[:place] + piece + data[keep:]
    return [edited_[:place], edited_[place:]]


def _chunked(cuts: list[list[bytes]]) -> Batch:
    return [{"chunks": [_chunk(chunk) for chunk in chunks]} for chunks in cuts]


def _completion(draw: DrawFn) -> Batch:
    text = draw(chat_streams()).data.decode().replace("\r\n", "\n").replace("\r", "\n")
    lines = [
        line.partition(":")[2].strip() for line in text.split("\n") if line.startswith("data:")
    ]
    chunks = [json.loads(line) for line in lines if line.startswith("{")]
    return _completions(chunks, draw(TURNS))


def _completion_of_suite(draw: DrawFn) -> Batch:
    known = pool("chunks", "stream.complete", "stream.deltas")
    chunks = [*picked(draw, known), *picked(draw, known)]
    return _completions(chunks, draw(TURNS))


def _completions(chunks: list[Any], turn: int) -> Batch:
    # The last chunks first: an edit of a whole chunk would make it none.
    found = [chunks, chunks[: turn % (len(chunks) + 1)], [*chunks, *chunks[-2:]], chunks[::-1]]
    for number in range(8 if chunks else 0):
        place = (turn + number) % len(chunks)
        for chunk in edited(chunks[place], turn + number, 1):
            found.append([*chunks[:place], chunk, *chunks[place + 1 :]])
    return [{"chunks": chunks} for chunks in found]


def _thoughts(draw: DrawFn) -> Batch:
    text = draw(rendered_replies())[0] if draw(st.booleans()) else draw(thoughts())
    return _pieces(f"<think>{text}" if draw(st.booleans()) else text, draw(TURNS))


def _thoughts_of_suite(draw: DrawFn) -> Batch:
    return _pieces("".join(picked(draw, pool("chunks", "stream.thoughts"))), draw(TURNS))


def _pieces(text: str, turn: int) -> Batch:
    texts = [text, *edited_texts(text, turn, 4)]
    found: Batch = [{"chunks": list(text[:200])}]
    for number, edited_ in enumerate(texts):
        at = (turn + 5 * number) % (len(edited_) + 1)
        found += [{"chunks": [edited_]}, {"chunks": [edited_[:at], edited_[at:]]}]
    return found


STRATEGIES: dict[str, Callable[[], SearchStrategy[Batch]]] = {
    "stream.decode": drawn(_events, _events_of_suite),
    "stream.rest": drawn(_events, _events_of_suite),
    "stream.complete": drawn(_completion, _completion_of_suite),
    "stream.deltas": drawn(_completion, _completion_of_suite),
    "stream.thoughts": drawn(_thoughts, _thoughts_of_suite),
}
