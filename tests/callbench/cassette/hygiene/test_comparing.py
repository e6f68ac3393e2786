"""``diff A B``: each kind of change is told by where it is, and nothing else is."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from callbench.cassette import Cassette, Event, Interaction, Response, request_key
from callbench.cassette.hygiene.comparing import Change, compare
from callbench.cassette.interaction import Request

Build = Callable[..., Interaction]
Files = Callable[[list[Interaction], list[Interaction]], tuple[Path, Path]]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    def build(first: list[Interaction], second: list[Interaction]) -> tuple[Path, Path]:
        paths = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
        for path, recorded in zip(paths, (first, second), strict=True):
            with Cassette.open(path) as cassette:
                for one in recorded:
                    cassette.append(one)
        return paths

    return build


def stream(*deltas: dict[str, Any], at: int = 1) -> Response:
    events = [
        Event(at * n, b"data: " + json.dumps({"id": str(at), "choices": [{"index": 0, "delta": d}]}).encode() + b"\n\n")
        for n, d in enumerate(deltas, 1)
    ]  # fmt: skip
    done = Event(at * 9, b"data: [DONE]\n\n")
    return Response(200, {"content-type": "text/event-stream"}, (*events, done), elapsed_ms=at * 9)


def tool_call(arguments: str, name: str = "book") -> Response:
    call = {"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}
    body = {"id": "x", "choices": [{"message": {"content": None, "tool_calls": [call]}}]}
    return Response(
        200, {"content-type": "application/json"}, (Event(1, json.dumps(body).encode()),)
    )


def only(changes: list[Change]) -> Change:
    (change,) = changes
    return change


def test_the_same(files: Files, recording: Build) -> None:
    assert list(compare(*files([recording()], [recording()]))) == []


def test_only_in_one(files: Files, recording: Build) -> None:
    paths = files([recording("x", "a")], [recording("x", "b"), recording("y", "c")])
    assert [(one.kind, one.case) for one in compare(*paths)] == [
        ("only in the first", "a"),
        ("only in the second", "b"),
        ("only in the second", "c"),
    ]


def test_a_changed_turn(files: Files, recording: Build) -> None:
    words = (
        "The weather in the city of Hangzhou was asked for by many people on that fine day. " * 20
    )
    other = words.replace("fine", "grim", 1)
    change = only(list(compare(*files([recording(words)], [recording(other)]))))
    (told,) = change.request
    assert told.startswith("messages[0] (user): ")
    assert "[-fine-]{+grim+}" in told
    assert len(told) < 150
    assert change.answer == ()


def test_a_changed_parameter_of_a_tool(files: Files, recording: Build) -> None:
    old = replace(recording(), response=tool_call('{"city":"Oslo","nights":2}'))
    new = replace(recording(), response=tool_call('{"nights": 3, "city": "Oslo"}'))
    assert only(list(compare(*files([old], [new])))).answer == ("tool book/nights: 2 -> 3",)


def test_the_same_call_streamed_or_not_is_the_same(files: Files, recording: Build) -> None:
    call = {"index": 0, "function": {"name": "book", "arguments": ""}}
    parts = [{"index": 0, "function": {"arguments": part}} for part in ('{"city"', ':"Oslo"}')]
    streamed = stream(
        {"role": "assistant", "tool_calls": [call]}, *({"tool_calls": [p]} for p in parts)
    )
    old = replace(recording(), response=tool_call('{"city":"Oslo"}'))
    new = replace(recording(), response=streamed)
    assert list(compare(*files([old], [new]))) == []
    changed = stream(
        {"tool_calls": [call]},
        {"tool_calls": [{**parts[0], "function": {"arguments": '{"city":"Rom"}'}}]},
    )
    newer = replace(recording(), response=changed)
    assert 'tool book/city: "Oslo" -> "Rom"' in only(list(compare(*files([old], [newer])))).answer


def test_a_changed_answer_in_other_pieces(files: Files, recording: Build) -> None:
    old = replace(recording(), response=stream({"content": "two nights"}, {"content": " in Oslo"}))
    same = replace(
        recording(), response=stream({"content": "two "}, {"content": "nights in Oslo"}, at=5)
    )
    new = replace(recording(), response=stream({"content": "two nights in Rome"}))
    assert list(compare(*files([old], [same]))) == []
    assert only(list(compare(*files([old], [new])))).answer == (
        'content: "two nights in Oslo" -> "two nights in Rome"',
    )


def test_times_only_when_asked(files: Files, recording: Build) -> None:
    old = replace(recording(), response=stream({"content": "x"}))
    new = replace(recording(), response=stream({"content": "x"}, at=5))
    paths = files([old], [new])
    assert list(compare(*paths)) == []
    change = only(list(compare(*paths, timing=True)))
    assert change.timing == ("elapsed: 9 ms -> 45 ms", "first event: 1 ms -> 5 ms")


def test_status_error_and_numbers(files: Files, recording: Build) -> None:
    body = b'{"n":%d,"usage":{"x":1}}'
    old = replace(recording(), response=Response(200, {}, (Event(1, body % 1),)))
    new = replace(recording(), response=Response(503, {}, (Event(1, body % 2),), "ReadError: gone"))
    assert only(list(compare(*files([old], [new])))).answer == (
        "status: 200 -> 503",
        "error: none -> ReadError: gone",
        "n: 1 -> 2",
    )


def test_recordings_of_a_case_are_paired_by_turn(files: Files) -> None:
    def turn(count: int, word: str) -> Interaction:
        messages = [{"role": "user", "content": word}] * count
        body = json.dumps({"messages": messages}, separators=(",", ":")).encode()
        request = Request("POST", "/x", body)
        return Interaction(request_key(request), "a", 0, request, Response(200))

    changes = list(compare(*files([turn(1, "x"), turn(3, "x")], [turn(3, "y"), turn(1, "x")])))
    assert [(one.kind, len(one.request)) for one in changes] == [("changed", 3)]
