"""Server-sent events from bytes split anywhere.

Ids like r041 are reports of real faults; the bytes are theirs.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corecall.sse import ServerEvent, SSEDecoder


def events(*chunks: bytes) -> list[ServerEvent]:
    decoder = SSEDecoder()
    return [event for chunk in chunks for event in decoder.feed(chunk)]


def data(*chunks: bytes) -> list[str]:
    return [event.data for event in events(*chunks)]


REPORTED: dict[str, tuple[list[bytes], list[Any]]] = {
    "r041": (
        [bytes.fromhex("646174613a207b2274223a22e5a4"), bytes.fromhex("a9e6b094227d0a0a")],
        [{"t": "天气"}],
    ),
    "r042": (
        [
            bytes.fromhex("646174613a207b2264656c7461223a22e5"),
            bytes.fromhex("8c97e4baace5a49ae4ba91227d0a0a"),
        ],
        [{"delta": "北京多云"}],
    ),
    "r043": (
        [
            bytes.fromhex("646174613a207b22726567696f6e223a224672616e6368652d436f6d74c3"),
            bytes.fromhex("a9227d0a0a"),
        ],
        [{"region": "Franche-Comté"}],
    ),
    "r095": (
        [bytes.fromhex("646174613a207b2261223a2278c28579e280a97a227d0a0a")],
        [{"a": "x\x85y\u2029z"}],
    ),
    "r096": (
        [
            bytes.fromhex(
                "646174613a207b2274797065223a22636f6d706c65746564222c2274657874223a2261e280a862227d0a0a"
            )
        ],
        [{"type": "completed", "text": "a\u2028b"}],
    ),
    "r097": ([b'data: {"v": "ab', b'cd"}\n\n'], [{"v": "abcd"}]),
    "r099": ([b'data: {"n": 1}\r\n\r\ndata: {"n": 2}\r\n\r\n'], [{"n": 1}, {"n": 2}]),
    "r103": ([b"retry: 3000\n\n", b"id: 7\n\n", b'data: {"ok": true}\n\n'], [{"ok": True}]),
    "r106": ([b": ping - 2031\n\n", b'data: {"v": 1}\n\n'], [{"v": 1}]),
}


@pytest.mark.trap("B1", "B2")
@pytest.mark.rule("stream.sse.1", "stream.sse.3", "stream.sse.6")
@pytest.mark.parametrize(("chunks", "values"), REPORTED.values(), ids=REPORTED)
def test_reported_streams(chunks: list[bytes], values: list[Any]) -> None:
    assert [json.loads(text) for text in data(*chunks)] == values


class TestLines:
    @pytest.mark.trap("B2")
    @pytest.mark.rule("stream.sse.4")
    def test_r098_an_lf_after_a_cr_in_the_chunk_before_is_no_blank_line(self) -> None:
        chunks = [b"data: A\r\n", b"data: B\r", b"\ndata: C\r\n", b"\r\n"]
        assert data(*chunks) == ["A\nB\nC"]

    @pytest.mark.trap("B2")
    @pytest.mark.rule("stream.sse.5")
    def test_r100_no_space_after_the_colon(self) -> None:
        assert data(b'data:{"x": 1}\n\ndata:[DONE]\n\n') == ['{"x": 1}', "[DONE]"]

    @pytest.mark.trap("B2")
    @pytest.mark.rule("stream.sse.2", "stream.sse.7", "stream.sse.9")
    @pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
    def test_each_line_end_ends_lines_and_events(self, end: bytes) -> None:
        lines = [b"event: x", b"data: 1", b"data: 2", b"", b"data: 3", b"", b""]
        found = events(end.join(lines))
        assert found == [ServerEvent("x", "1\n2"), ServerEvent("message", "3")]

    @pytest.mark.trap("B2")
    @pytest.mark.rule("stream.sse.2")
    def test_they_may_be_mixed(self) -> None:
        assert data(b"data: 1\r\ndata: 2\rdata: 3\n\r\n\ndata: 4\n\r") == ["1\n2\n3", "4"]

    @pytest.mark.rule("stream.sse.4")
    def test_a_cr_ends_the_event_at_once_and_its_lf_adds_nothing(self) -> None:
        decoder = SSEDecoder()
        assert decoder.feed(b"data: 1\r\n\r") == [ServerEvent("message", "1")]
        assert decoder.feed(b"\n") == []
        assert decoder.feed(b"data: 2\r") == []
        assert decoder.feed(b"\r") == [ServerEvent("message", "2")]
        assert decoder.feed(b"") == []
        assert decoder.feed(b"\ndata: 3\n\n") == [ServerEvent("message", "3")]
        assert decoder.feed(b"data: 4\n\n") == [ServerEvent("message", "4")]
        assert decoder.close() is None

    @pytest.mark.rule("stream.sse.4")
    def test_an_event_ended_by_cr_keeps_the_usual_chunk_after_it(self) -> None:
        assert data(b"data: 1\r\r", b"data: 2\n\n") == ["1", "2"]

    @pytest.mark.rule("stream.sse.1")
    @pytest.mark.parametrize(
        ("before", "event"),
        [
            (b"x", None),
            (b"data: a", ServerEvent("message", "adata: 1")),
            (b"data: a\n", ServerEvent("message", "a\n1")),
            (b"event: e\n", ServerEvent("e", "1")),
            (b": c", None),
            (b": c\n", ServerEvent("message", "1")),
        ],
    )
    def test_a_usual_chunk_goes_on_with_what_was_begun(
        self, before: bytes, event: ServerEvent | None
    ) -> None:
        assert events(before, b"data: 1\n\n") == ([event] if event else [])

    @pytest.mark.trap("B2")
    @pytest.mark.rule("stream.sse.3")
    @pytest.mark.parametrize("other", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\0"])
    def test_nothing_else_separates(self, other: str) -> None:
        text = f"a{other}b{other}{other}c"
        assert data(f"data: {text}\n\n".encode()) == [text]
        assert data(f"data: {text}\r\n\r\n".encode()) == [text]


class TestFields:
    """The examples of the standard, and its rules one by one."""

    @pytest.mark.rule("stream.sse.5", "stream.sse.6", "stream.sse.7", "stream.sse.8")
    @pytest.mark.parametrize(
        ("stream", "found"),
        [
            (b"data: YHOO\ndata: +2\ndata: 10\n\n", ["YHOO\n+2\n10"]),
            (b"data\n\ndata\ndata\n\ndata:", ["", "\n"]),
            (b"data:test\n\ndata: test\n\n", ["test", "test"]),
            (b"data:  two\n\n", [" two"]),
            (b"data: a:b\n\n", ["a:b"]),
            (b":data: x\n\n", []),
            (b"event: x\n\n", []),
            (b"other: x\nDATA: y\n data: z\ndata : w\n\n", []),
            (b"\n\n\ndata: x\n\n\n\n", ["x"]),
            (b"", []),
        ],
    )
    def test_data(self, stream: bytes, found: list[str]) -> None:
        assert data(stream) == found

    @pytest.mark.rule("stream.sse.8", "stream.sse.9")
    def test_the_event_type_serves_one_event(self) -> None:
        stream = b"event: a\nevent: b\ndata: 1\n\nevent: lost\n\ndata: 2\n\n"
        assert events(stream) == [ServerEvent("b", "1"), ServerEvent("message", "2")]

    @pytest.mark.rule("stream.sse.10")
    def test_the_id_lasts_until_another_comes(self) -> None:
        stream = b"id: 1\ndata: a\n\ndata: b\n\nid: x\0y\ndata: c\n\nid\ndata: d\n\n"
        assert [event.id for event in events(stream)] == ["1", "1", "1", ""]
        assert [event.id for event in events(b"id: 1\n\n", b"data: a\n\n")] == ["1"]

    @pytest.mark.rule("stream.sse.6")
    def test_retry_is_passed_over(self) -> None:
        assert data(b"retry: 3000\n\nretry: x\ndata: 1\nretry\n\n") == ["1"]

    @pytest.mark.rule("stream.sse.11")
    def test_a_byte_order_mark_at_the_start_only(self) -> None:
        mark = b"\xef\xbb\xbf"
        assert data(mark + b"data: 1\n\n" + mark + b"data: 2\n\n") == ["1"]
        assert data(mark[:1], mark[1:], b"data: 1\n\n") == ["1"]
        assert data(b"data: 0\n\n", mark + b"data: 1\n\n") == ["0"]
        assert data(b"data: " + mark + b"1\n\n") == ["\ufeff1"]

    @pytest.mark.rule("stream.sse.12")
    def test_bytes_that_are_no_utf8_become_replacement_characters(self) -> None:
        for stream in (b"data: a\xff\xe5\xa4b\n\n", b": x\ndata: a\xff\xe5\xa4b\n\n"):
            assert data(stream) == ["a\ufffd\ufffdb"]


class TestClose:
    @pytest.mark.trap("B4")
    @pytest.mark.rule("stream.end.1")
    @pytest.mark.parametrize(
        ("stream", "left"),
        [
            (b"", None),
            (b"data: 1\n\n", None),
            (b"data: 1\n\n: ping", None),
            (b"data: 1\n\n: ping\n", None),
            (b"\xef\xbb\xbf", None),
            (b"id: 7\nretry: 1", None),
            (b'data: {"a', ServerEvent("message", '{"a')),
            (b"data: [DONE]", ServerEvent("message", "[DONE]")),
            (b"data: 1\n", ServerEvent("message", "1")),
            (b"data: 1\ndata: 2\n: ping", ServerEvent("message", "1\n2")),
            (b"event: error\n", ServerEvent("error", "")),
            (b"id: 3\nevent: x\ndata: 1", ServerEvent("x", "1", "3")),
            (b"\xef\xbb\xbfdata: 1", ServerEvent("message", "1")),
            (b"data: 1\n\ndat", ServerEvent("message", "")),
            (b"data: \xe5\xa4", ServerEvent("message", "\ufffd")),
        ],
    )
    def test_a_stream_cut_in_an_event_gives_what_arrived(
        self, stream: bytes, left: ServerEvent | None
    ) -> None:
        decoder = SSEDecoder()
        decoder.feed(stream)
        assert decoder.close() == left


PIECES = st.sampled_from(
    [
        b"data: ", b"data:", b"data", b"event: e", b"id: 1", b": c", b"\n", b"\r", b"\r\n", b"\n\n",
        "天🙂".encode(), b"\xe5", b"\xff", b"\xef\xbb\xbf", b"x", b": ", b"data: 1\n\n",
        b"data: 2\r\n\r\n", "\u2028".encode(),
    ]
)  # fmt: skip


@pytest.mark.trap("B1")
@pytest.mark.rule("stream.sse.1", "stream.sse.4")
@given(st.lists(PIECES, max_size=25).map(b"".join), st.data())
@example(b"data: 1\r\r\ndata: 2\n\n", None)
def test_any_split_of_the_bytes_gives_the_same_events(
    stream: bytes, draw: st.DataObject | None
) -> None:
    whole = SSEDecoder()
    expected = whole.feed(stream)
    left = whole.close()
    splits = [[stream[i : i + 1] for i in range(len(stream))]]
    if draw is not None:
        cuts = sorted(draw.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
        splits.append([stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)])
    for chunks in splits:
        decoder = SSEDecoder()
        assert [event for chunk in chunks for event in decoder.feed(chunk)] == expected
        assert decoder.close() == left


@pytest.mark.rule("stream.sse.1")
@given(st.lists(PIECES, max_size=25).map(b"".join))
def test_the_short_way_for_usual_chunks_changes_nothing(stream: bytes) -> None:
    """A comment in front sends the same bytes down the long way."""
    assert events(b"data: " + stream + b"\n\n") == events(b":\ndata: " + stream + b"\n\n")
