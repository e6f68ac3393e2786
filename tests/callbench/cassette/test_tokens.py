"""Time to the first token and tokens a second: what counts as a token, and where nothing can be told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from callbench.cassette import Event, Exchange, Interaction, Request, Response
from callbench.cassette.tokens import TokenTimes, token_times

ROLE = {"role": "assistant", "content": ""}
STREAM = {"content-type": "text/event-stream"}


def chunk(at_ms: int, delta: Any, **members: Any) -> Event:
    choice = {"index": 0, "delta": delta, **members}
    return Event(at_ms, b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n")


def told(*events: Event, usage: Any = None, headers: dict[str, str] = STREAM) -> TokenTimes | None:
    response = Response(200, headers, events, elapsed_ms=999)
    return token_times(Interaction("0" * 64, "a", 0, Request("POST", "/", b""), response, usage))


ANSWER = (
    Event(40, b": keep-alive\n\n"),
    chunk(50, ROLE),
    chunk(100, {"content": "Hang"}),
    chunk(200, {"content": "zhou"}),
    chunk(500, {}, finish_reason="stop"),
    Event(600, b'data: {"choices":[],"usage":{"completion_tokens":11}}\n\n'),
    Event(700, b"data: [DONE]\n\n"),
)


def test_from_the_first_event_with_content_to_the_last() -> None:
    """Neither the role, the end nor the usage is a token: 10 of 11 tokens came in 100 ms."""
    assert told(*ANSWER, usage={"completion_tokens": 11}) == TokenTimes(100, 100, 10)


@pytest.mark.parametrize(
    "delta",
    [
        {"reasoning_content": "Hm"},
        {"reasoning": "Hm"},
        {"refusal": "No"},
        {"tool_calls": [{"index": 0, "function": {"name": "book", "arguments": ""}}]},
    ],
)
def test_what_else_a_model_says_is_a_token(delta: Any) -> None:
    assert told(chunk(5, ROLE), chunk(7, delta), chunk(9, {"content": "x"})) == TokenTimes(7)


@pytest.mark.parametrize("usage", [None, {}, {"completion_tokens": None}, {"completion_tokens": 1}])
def test_no_speed_without_a_count(usage: Any) -> None:
    assert told(*ANSWER, usage=usage) == TokenTimes(100)


def test_no_speed_where_all_came_at_once() -> None:
    events = (chunk(30, {"content": "a"}), chunk(30, {"content": "b"}))
    assert told(*events, usage={"completion_tokens": 9}) == TokenTimes(30)


def test_hidden_reasoning_is_not_counted() -> None:
    """Its tokens came before the first one that was sent."""
    usage = {"completion_tokens": 111, "completion_tokens_details": {"reasoning_tokens": 100}}
    assert told(*ANSWER, usage=usage) == TokenTimes(100, 100, 10)
    seen = (chunk(60, {"reasoning_content": "Hm"}), *ANSWER[2:])
    assert told(*seen, usage=usage) == TokenTimes(60, 140, 110)


@pytest.mark.parametrize(
    "events",
    [
        (),
        (chunk(1, ROLE), chunk(2, {}, finish_reason="stop")),
        (
            Event(1, b"data: {\n\n"),
            Event(2, b"data: []\n\n"),
            Event(3, b'data: {"choices":[1]}\n\n'),
        ),
    ],
)
def test_no_token_no_time(events: tuple[Event, ...]) -> None:
    assert told(*events, usage={"completion_tokens": 5}) is None


def test_an_answer_that_was_not_streamed_has_none() -> None:
    body = Event(90, b'{"choices":[{"delta":{"content":"x"}}]}')
    assert told(body, headers={"content-type": "application/json"}) is None


def test_an_exchange_carries_them() -> None:
    response = Response(200, STREAM, ANSWER)
    usage = {"completion_tokens": 11}
    one = Interaction("0" * 64, "a", 0, Request("POST", "/", b""), response, usage)
    assert Exchange.of(one, "replayed").tokens == TokenTimes(100, 100, 10)
