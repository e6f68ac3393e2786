"""Chunks to events: any chunk border, every kind of line end, times of the completing chunk."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callbench.cassette.events import is_event_stream, payload, said_done, split_events, usage_of
from callbench.cassette.interaction import Event


def cut(body: bytes, borders: list[int]) -> list[tuple[int, bytes]]:
    """Chunks of ``body`` cut at the borders; chunk n comes at n*10 ms."""
    ends = sorted({min(border, len(body)) for border in borders} | {len(body)})
    starts = [0, *ends]
    return [(n * 10, body[a:b]) for n, (a, b) in enumerate(zip(starts, ends, strict=False))]


class TestSplit:
    @pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
    @given(borders=st.lists(st.integers(0, 40)))
    def test_every_line_end_at_any_chunk_border(self, end: bytes, borders: list[int]) -> None:
        """B2, C3: events, not chunks, are what a recording keeps."""
        parts = [
            b"data: a" + end * 2,
            b": ping" + end * 2,
            b"event: x" + end + b"data: \xe6\x9d\xad" + end * 2,
        ]
        events = split_events(cut(b"".join(parts), borders), event_stream=True)
        assert [event.data for event in events] == parts

    def test_carriage_return_and_line_feed_in_different_chunks_are_one_line_end(self) -> None:
        """Report r098: the LF after a CR is no blank line."""
        chunks = [(1, b"data: A\r\n"), (2, b"data: B\r"), (3, b"\ndata: C\r\n"), (4, b"\r\n")]
        events = split_events(chunks, event_stream=True)
        assert events == (Event(4, b"data: A\r\ndata: B\r\ndata: C\r\n\r\n"),)

    def test_mixed_line_ends(self) -> None:
        events = split_events([(1, b"data: a\n\r\ndata: b\r\n\rdata: c\r\n\n")], event_stream=True)
        assert [event.data for event in events] == [
            b"data: a\n\r\n",
            b"data: b\r\n\r",
            b"data: c\r\n\n",
        ]

    def test_other_separators_end_nothing(self) -> None:
        body = "data: a\u2028\u2028\x0b\x0b\x85\x85b\n\n".encode()
        assert split_events([(1, body)], event_stream=True) == (Event(1, body),)

    def test_time_is_that_of_the_completing_chunk(self) -> None:
        chunks = [
            (3, b"data: a\n\nda"),
            (7, b""),
            (9, b"ta: b\n"),
            (20, b"\ndata: c\n\n"),
            (21, b"tail"),
        ]
        assert split_events(chunks, event_stream=True) == (
            Event(3, b"data: a\n\n"),
            Event(20, b"data: b\n\n"),
            Event(20, b"data: c\n\n"),
            Event(21, b"tail"),
        )

    def test_a_cut_stream_keeps_its_last_bytes(self) -> None:
        """B4: also half a character."""
        events = split_events([(1, b"data: a\n\ndata: \xe6\x9d")], event_stream=True)
        assert events[-1] == Event(1, b"data: \xe6\x9d")

    def test_any_other_body_is_one_event_when_it_is_complete(self) -> None:
        assert split_events([(1, b"a\n\n"), (5, b"b")], event_stream=False) == (
            Event(5, b"a\n\nb"),
        )

    @pytest.mark.parametrize("event_stream", [True, False])
    def test_nothing_is_no_event(self, event_stream: bool) -> None:
        assert split_events([], event_stream=event_stream) == ()
        assert split_events([(1, b"")], event_stream=event_stream) == ()

    @given(st.binary(max_size=60), st.lists(st.integers(0, 60)), st.booleans())
    def test_no_byte_is_lost(self, body: bytes, borders: list[int], event_stream: bool) -> None:
        events = split_events(cut(body, borders), event_stream=event_stream)
        assert b"".join(event.data for event in events) == body


class TestReading:
    @pytest.mark.parametrize(
        ("kind", "expected"),
        [
            ("text/event-stream", True),
            ("Text/Event-Stream; charset=utf-8", True),
            ("application/json", False),
            ("", False),
        ],
    )
    def test_is_event_stream(self, kind: str, expected: bool) -> None:
        assert is_event_stream({"content-type": kind} if kind else {}) is expected

    def test_payload_joins_data_lines(self) -> None:
        assert payload(b"id: 1\ndata:a\r\ndata:  b\rdatax: c\ndata\n\n") == b"a\n b\n"

    def test_done(self) -> None:
        assert said_done(
            [Event(0, b"data: a\n\n"), Event(0, b"data:[DONE]\r\n\r\n"), Event(1, b": end\n\n")]
        )
        assert not said_done([Event(0, b'data: {"content": "[DONE]"}\n\n')])
        assert not said_done([])

    def test_usage_of_a_stream_without_choices(self) -> None:
        """B3, report r201: the details of the usage stay."""
        usage = {
            "prompt_tokens": 9,
            "completion_tokens": 30,
            "completion_tokens_details": {"reasoning_tokens": 12},
        }
        events = [
            Event(0, b'data: {"choices":[{"delta":{"content":"\\"usage\\""}}],"usage":null}\n\n'),
            Event(
                1,
                b'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":30,'
                b'"completion_tokens_details":{"reasoning_tokens":12}}}\n\n',
            ),
            Event(2, b"data: [DONE]\n\n"),
        ]
        assert usage_of(events, event_stream=True) == usage

    def test_usage_of_a_whole_body(self) -> None:
        body = b'{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}'
        assert usage_of([Event(0, body)], event_stream=False) == {
            "prompt_tokens": 1,
            "completion_tokens": 2,
        }

    @pytest.mark.parametrize(
        "body", [b'{"usage":', b'["usage"]', b'{"usage":{"total":1}}', b'{"usage":null}', b"{}"]
    )
    def test_no_usage(self, body: bytes) -> None:
        assert usage_of([Event(0, body)], event_stream=False) is None
        assert usage_of([Event(0, b"data: " + body + b"\n\n")], event_stream=True) is None
