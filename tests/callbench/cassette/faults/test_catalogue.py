"""Each kind of fault, by what a client sees of it. Expected texts are written by hand (TRAPS B)."""

from __future__ import annotations

import json
import math
from typing import Any

import httpx2
import pytest

from callbench.cassette import Response
from callbench.cassette.events import is_event_stream
from callbench.cassette.faults import CATALOGUE
from callbench.cassette.faults.answer import Answer, lost, read
from callbench.cassette.faults.declared import fault
from callbench.cassette.faults.kind import Draw, Faulted, Target
from callbench.cassette.replay import replay
from corecall.sse import SSEDecoder

from .synthetic import OBJECT, TEXT, recording, stream, whole


def lay(
    name: str, *, streamed: bool = True, response: Response | None = None, **params: Any
) -> Faulted:
    found = attempt(name, streamed=streamed, response=response, **params)
    assert found is not None
    return found


def attempt(
    name: str, *, streamed: bool = True, response: Response | None = None, **params: Any
) -> Faulted | None:
    one = recording(streamed=streamed, response=response)
    declared = fault({"name": name, **params})
    target = Target(one, is_event_stream(one.response.headers), read(one.response))
    return declared.kind.apply(target, declared.params, Draw(7, name, "a", 1))


def said(faulted: Faulted) -> Answer:
    answer = read(faulted.response)
    assert answer is not None
    return answer


def payloads(body: bytes) -> list[str]:
    decoder = SSEDecoder()
    return [one.data for one in decoder.feed(body)]


CONTENT = [
    ("fenced-json", {}, f"```json\n{TEXT}\n```"),
    ("malformed-json", {"how": "brace"}, '{"city": "杭州", "nights": 3, "pets": false'),
    ("malformed-json", {"how": "comma"}, '{"city": "杭州", "nights": 3, "pets": false,}'),
    ("malformed-json", {"how": "quote"}, '{city": "杭州", "nights": 3, "pets": false}'),
    ("wrong-types", {}, '{"city": ["杭州"], "nights": "3", "pets": "false"}'),
    ("nulls", {}, '{"city": null, "nights": null, "pets": null}'),
    ("empty-content", {}, ""),
]


class TestContent:
    @pytest.mark.parametrize("streamed", [True, False])
    @pytest.mark.parametrize(("name", "params", "text"), CONTENT)
    def test_the_text_is_the_edited_one(
        self, name: str, params: dict[str, Any], text: str, streamed: bool
    ) -> None:
        assert said(lay(name, streamed=streamed, **params)).text == text

    @pytest.mark.parametrize("streamed", [True, False])
    @pytest.mark.parametrize(
        ("name", "gone"),
        [
            ("fenced-json", False),
            ("prose-before", False),
            ("prose-after", False),
            ("thought-closed-only", False),
            ("extra-keys", False),
            ("two-tool-calls", False),
            ("malformed-json", True),
            ("truncated", True),
            ("thought-open", True),
            ("wrong-types", True),
            ("nulls", True),
            ("empty-content", True),
            ("refusal", True),
            ("wrong-tool-name", True),
        ],
    )
    def test_what_the_answer_gave_is_lost_or_not(
        self, name: str, gone: bool, streamed: bool
    ) -> None:
        assert lay(name, streamed=streamed).lost is gone

    @pytest.mark.parametrize("name", ["prose-before", "prose-after"])
    def test_prose_stands_beside_the_object_and_has_braces(self, name: str) -> None:
        text = said(lay(name)).text
        prose = text.replace(TEXT, "")
        assert TEXT in text
        assert "{" in prose
        assert (text.startswith(TEXT)) is (name == "prose-after")

    def test_thoughts(self) -> None:
        opened, closed = said(lay("thought-open")).text, said(lay("thought-closed-only")).text
        assert opened.startswith("<think>")
        assert "</think>" not in opened
        assert "<think>" not in closed
        assert closed.endswith(f"</think>\n{TEXT}")

    def test_the_token_limit_is_told(self) -> None:
        answer = said(lay("truncated"))
        assert TEXT.startswith(answer.text)
        assert answer.text != TEXT
        assert answer.finish_reason == "length"

    def test_a_refusal_has_no_content(self) -> None:
        body = json.loads(lay("refusal", streamed=False).response.body)
        message = body["choices"][0]["message"]
        assert message["content"] is None
        assert message["refusal"]

    def test_extra_keys_keep_the_others(self) -> None:
        found = said(lay("extra-keys")).object
        assert found is not None
        assert found.keys() > OBJECT.keys()
        assert {key: found[key] for key in OBJECT} == OBJECT

    @pytest.mark.parametrize(("order", "mine"), [("other-last", 0), ("other-first", 1)])
    def test_two_calls_one_of_the_tool_that_was_asked(self, order: str, mine: int) -> None:
        calls = said(lay("two-tool-calls", order=order)).calls
        assert calls[mine].name == "book"
        assert json.loads(calls[mine].arguments) == OBJECT
        assert calls[1 - mine].name != "book"

    def test_a_call_is_edited_where_the_answer_is_one(self) -> None:
        function = {"name": "book", "arguments": TEXT}
        message = {"content": None, "tool_calls": [{"id": "c", "function": function}]}
        faulted = lay("malformed-json", how="brace", streamed=False, response=whole(message))
        assert said(faulted).calls[0].arguments == TEXT[:-1]

    def test_the_object_in_a_call_of_another_tool(self) -> None:
        (call,) = said(lay("wrong-tool-name")).calls
        assert call.name not in ("", "book")
        assert json.loads(call.arguments) == OBJECT


class TestStatus:
    def test_with_and_without_retry_after(self) -> None:
        plain, told = lay("status", code=500), lay("status", code=429, retry_after=2)
        assert (plain.response.status, plain.response.headers.get("retry-after")) == (500, None)
        assert (told.response.status, told.response.headers["retry-after"]) == (429, "2")
        assert json.loads(told.response.body)["error"]["message"]
        assert plain.again
        assert plain.lost


class TestConnection:
    async def test_reset_in_the_middle_gives_a_half_and_fails(self) -> None:
        faulted = lay("reset", at="middle")
        got = b""
        with pytest.raises(httpx2.ReadError):
            async for chunk in replay(faulted.response).aiter_raw():
                got += chunk
        assert stream().body.startswith(got)
        assert 0 < len(got) < len(stream().body)

    def test_reset_at_the_start_gives_nothing(self) -> None:
        faulted = lay("reset")
        assert faulted.refused
        assert not faulted.response.events

    def test_times(self) -> None:
        assert lay("slow-first-byte", seconds=3).waits == {0: 3.0}
        stalled = lay("stall")
        ((place, seconds),) = stalled.waits.items()
        assert math.isinf(seconds)
        assert place == len(stalled.response.events)  # nothing comes after it
        assert stalled.lost
        assert not lay("stall", seconds=3).lost


class TestCuts:
    @pytest.mark.parametrize("streamed", [True, False])
    def test_inside_a_character(self, streamed: bool) -> None:
        body = lay("cut-in-character", streamed=streamed).response.body
        with pytest.raises(UnicodeDecodeError, match="unexpected end of data"):
            body.decode()

    def test_no_character_of_several_bytes_no_fault(self) -> None:
        assert attempt("cut-in-character", response=stream('{"city": "Oslo"}')) is None

    def test_inside_an_event(self) -> None:
        body = lay("cut-in-event").response.body
        assert stream().body.startswith(body)
        assert not body.endswith(b"\n\n")

    def test_inside_the_json_between_two_events(self) -> None:
        faulted = lay("cut-in-json")
        assert faulted.response.body.endswith(b"\n\n")
        assert TEXT.startswith(said(faulted).text)
        assert said(faulted).text not in ("", TEXT)
        assert said(faulted).finish_reason is None

    def test_inside_the_json_of_a_body(self) -> None:
        body = lay("cut-in-json", streamed=False).response.body
        assert whole().body.startswith(body)
        assert b'"content"' in body
        assert b"finish_reason" not in body

    @pytest.mark.parametrize(("clean", "failed"), [(True, False), (False, True)])
    def test_the_connection_ends_well_or_not(self, clean: bool, failed: bool) -> None:
        assert (lay("cut-in-event", clean=clean).response.error is not None) is failed


class TestStreams:
    SHAPES = (
        "duplicated-deltas",
        "usage-only-chunks",
        "cr-line-ends",
        "crlf-line-ends",
        "missing-done",
        "keep-alive-comments",
    )

    @pytest.mark.parametrize("name", SHAPES)
    def test_a_body_has_no_such_shape(self, name: str) -> None:
        assert attempt(name, streamed=False) is None

    @pytest.mark.parametrize(
        ("name", "end"), [("cr-line-ends", b"\r"), ("crlf-line-ends", b"\r\n")]
    )
    def test_line_ends(self, name: str, end: bytes) -> None:
        assert lay(name).response.body == stream().body.replace(b"\n", end)

    def test_each_piece_twice(self) -> None:
        doubled = "".join(character * 2 for character in TEXT)
        assert said(lay("duplicated-deltas")).text == doubled
        assert lay("duplicated-deltas").lost

    def test_usage_and_comments_add_nothing_to_the_answer(self) -> None:
        for name, mark in (("usage-only-chunks", b'"choices": []'), ("keep-alive-comments", b": ")):
            faulted = lay(name)
            assert faulted.response.events[0].data.find(mark) >= 0
            assert said(faulted).text == TEXT

    def test_no_done(self) -> None:
        assert payloads(lay("missing-done").response.body) == payloads(stream().body)[:-1]

    def test_garbage_follows_all(self) -> None:
        body = lay("trailing-garbage").response.body
        assert body.startswith(stream().body)
        assert len(body) > len(stream().body)


def test_every_kind_says_what_it_is() -> None:
    for name, kind in CATALOGUE.items():
        assert kind.name == name
        assert kind.text


class TestLost:
    """The yardstick of false success, on texts whose verdict is plain to see."""

    KNOWN = Answer('{"a": 1, "b": {"c": [true]}}')

    @pytest.mark.parametrize(
        ("text", "gone"),
        [
            ('see {"b": {"c": [true]}, "a": 1} there', False),
            ('{"a": 1, "b": {"c": [true]}, "more": 0}', False),
            ('{} {"x": {"a": 1, "b": {"c": [true]}}}', False),
            ('{"a": 1, "b": {"c": [1]}}', True),
            ('{"a": "1", "b": {"c": [true]}}', True),
            ('{"a": 1, "b": {"c": [true]}', True),
            ('{"a": 1} {"b": {"c": [true]}}', True),
            ("", True),
        ],
    )
    def test_all_members_with_their_values(self, text: str, gone: bool) -> None:
        assert lost(self.KNOWN, Answer(text)) is gone

    def test_nothing_to_lose(self) -> None:
        assert not lost(Answer("{}"), None)
        assert not lost(Answer("I do not know."), Answer(""))
