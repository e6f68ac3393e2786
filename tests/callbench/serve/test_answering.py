"""Which recording answers: by content, by turn, again, and what a miss says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from callbench.cassette.faults.answer import read
from callbench.cassette.faults.kind import Faulted
from callbench.conformance.traffic.http import Received
from callbench.serve.answering import Answering, By, UsedUp

from .synthetic import PATH, body, faults, made, recording, streamed, whole


def ask(
    answering: Answering,
    content: str = "q",
    *,
    case: str = "",
    path: str = PATH,
    method: str = "POST",
    **more: Any,
) -> Faulted:
    headers = {"authorization": "Bearer sk-whatever-it-is-1", "x-callbench-case": case}
    return answering.answer(Received(method, path, headers, body(content, **more)))


def text(faulted: Faulted) -> str:
    answer = read(faulted.response)
    assert answer is not None, faulted.response.body
    return answer.text


def told(faulted: Faulted) -> tuple[int, str, str]:
    value = json.loads(faulted.response.body)["error"]
    return faulted.response.status, value["code"], value["message"]


class TestByContent:
    @pytest.mark.parametrize(
        "path", [PATH, "/openai/v1/chat/completions", "/case/x%2Fy/v1/chat/completions"]
    )
    def test_any_base_path_up_to_the_version(self, tmp_path: Path, path: str) -> None:
        cassette = made(tmp_path / "c.jsonl", recording("q", whole("yes")))
        assert text(ask(Answering(cassette), path=path)) == "yes"

    @pytest.mark.trap("C7")
    def test_equal_requests_in_order_then_a_miss(self, tmp_path: Path) -> None:
        """TRAPS C7."""
        cassette = made(
            tmp_path / "c.jsonl",
            recording("q", whole("first")),
            recording("q", whole("second"), ordinal=1),
        )
        answering = Answering(cassette)
        assert [text(ask(answering)) for _ in range(2)] == ["first", "second"]
        status, code, message = told(ask(answering))
        assert (status, code) == (404, "cassette_miss")
        assert "recorded 2 times and was asked 3 times" in message
        assert (answering.answers, answering.misses) == (2, 1)

    @pytest.mark.parametrize(("used_up", "got"), [(UsedUp.LOOP, "abab"), (UsedUp.LAST, "abbb")])
    def test_what_follows_the_last(self, tmp_path: Path, used_up: UsedUp, got: str) -> None:
        cassette = made(
            tmp_path / "c.jsonl",
            recording("q", whole("a")),
            recording("q", whole("b"), ordinal=1),
        )
        answering = Answering(cassette, used_up=used_up)
        assert "".join(text(ask(answering)) for _ in range(4)) == got

    @pytest.mark.trap("C6")
    def test_each_case_has_its_own(self, tmp_path: Path) -> None:
        """TRAPS C6."""
        cassette = made(
            tmp_path / "c.jsonl",
            recording("q", whole("of a"), case="a"),
            recording("q", whole("of 杭州/b"), case="杭州/b"),
        )
        answering = Answering(cassette)
        path = "/case/%E6%9D%AD%E5%B7%9E%2Fb/v1/chat/completions"
        assert text(ask(answering, path=path)) == "of 杭州/b"
        assert text(ask(answering, case="a")) == "of a"

    def test_a_miss_says_what_is_nearest_and_what_differs(self, tmp_path: Path) -> None:
        cassette = made(tmp_path / "c.jsonl", recording("q", whole("yes")))
        status, _, message = told(ask(Answering(cassette), "q", stream=True))
        assert status == 404
        assert "stream: false -> true" in message

    @pytest.mark.trap("C4")
    def test_a_key_in_the_body_is_masked_as_in_recording(self, tmp_path: Path) -> None:
        """TRAPS C4."""
        cassette = made(tmp_path / "c.jsonl", recording("key ***", whole("yes")))
        assert text(ask(Answering(cassette), "key sk-whatever-it-is-1")) == "yes"


class TestByTurn:
    @pytest.fixture
    def answering(self, tmp_path: Path) -> Answering:
        cassette = made(
            tmp_path / "c.jsonl",
            recording("one", streamed("fir", "st"), case="a"),
            recording("two", whole("second"), case="a"),
            recording("three", whole("other"), case="b"),
        )
        return Answering(cassette, by=By.TURN)

    def test_the_nth_request_gets_the_nth_answer(self, answering: Answering) -> None:
        got = [
            text(ask(answering, "x", case=case, stream=stream))
            for case, stream in (("a", True), ("b", False), ("a", False))
        ]
        assert got == ["first", "other", "second"]

    def test_streamed_or_not_as_it_is_asked(self, answering: Answering) -> None:
        first, second = ask(answering, "x", case="a"), ask(answering, "x", case="a", stream=True)
        assert json.loads(first.response.body)["choices"][0]["message"]["content"] == "first"
        assert second.response.headers["content-type"] == "text/event-stream"
        assert second.response.body.endswith(b"data: [DONE]\n\n")
        assert (text(first), text(second)) == ("first", "second")

    def test_the_same_answer_in_both_ways(self, tmp_path: Path) -> None:
        cassette = made(tmp_path / "d.jsonl", recording("q", whole("yes"), case="a"))
        answering = Answering(cassette, by=By.TURN, used_up=UsedUp.LAST)
        kinds = [
            ask(answering, case="a", stream=stream).response.headers["content-type"]
            for stream in (True, False, True)
        ]
        assert kinds == ["text/event-stream", "application/json", "text/event-stream"]

    def test_a_case_that_was_asked_too_often(self, answering: Answering) -> None:
        ask(answering, case="b")
        assert told(ask(answering, case="b"))[2].endswith(
            "has 1 answer of case 'b', and it was asked 2 times."
        )

    def test_a_case_that_is_not_there(self, answering: Answering) -> None:
        assert (
            "no case 'aa'; it has 2 others. The nearest is 'a'"
            in told(ask(answering, case="aa"))[2]
        )

    def test_another_endpoint_gets_no_answer_and_uses_none_up(self, answering: Answering) -> None:
        status, code, message = told(ask(answering, case="a", path="/v1/responses"))
        assert (status, code) == (404, "cassette_miss")
        assert message.startswith("POST /responses: the next answer of case 'a' is to")
        assert text(ask(answering, case="a")) == "first"

    def test_no_case(self, answering: Answering) -> None:
        status, code, message = told(ask(answering))
        assert (status, code) == (400, "no_case")
        assert "x-callbench-case" in message


class TestModels:
    def test_the_list_and_one(self, tmp_path: Path) -> None:
        answering = Answering(made(tmp_path / "c.jsonl", recording("q", whole("yes"))))
        listed = json.loads(ask(answering, path="/v1/models", method="GET").response.body)
        assert [one["id"] for one in listed["data"]] == ["synthetic"]
        one = json.loads(ask(answering, path="/v1/models/synthetic", method="GET").response.body)
        assert one == listed["data"][0]
        assert ask(answering, path="/v1/models/none", method="GET").response.status == 404


class TestWhoAsks:
    """A page in a browser must not read recordings, nor use them up."""

    @pytest.mark.parametrize(
        ("header", "value", "there"),
        [
            ("host", "127.0.0.1:8080", True),
            ("host", "LOCALHOST", True),
            ("host", "app.localhost:1", True),
            ("host", "[::1]:1", True),
            ("origin", "http://localhost:3000", True),
            ("host", "evil.example:8080", False),
            ("host", "127.0.0.1.evil.example", False),
            ("host", "localhost.evil.example", False),
            ("origin", "https://evil.example", False),
            ("origin", "null", False),
        ],
    )
    def test_only_programs_of_this_machine(
        self, tmp_path: Path, header: str, value: str, there: bool
    ) -> None:
        answering = Answering(made(tmp_path / "c.jsonl", recording("q", whole("yes"))))
        got = answering.answer(Received("POST", PATH, {header: value}, body("q")))
        assert got.response.status == (200 if there else 403)
        assert not any(name.startswith("access-control") for name in got.response.headers)
        assert text(ask(answering)) == "yes" if not there else answering.answers == 1

    def test_what_asks_no_model_is_no_miss(self, tmp_path: Path) -> None:
        answering = Answering(made(tmp_path / "c.jsonl", recording("q", whole("yes"))))
        for method, path, status in (
            ("GET", "/", 404),
            ("HEAD", "/health", 404),
            ("OPTIONS", PATH, 200),
        ):
            assert ask(answering, method=method, path=path).response.status == status
        assert answering.misses == 0
        ask(answering, "unknown")
        assert answering.misses == 1


class TestFaults:
    def test_a_status_leaves_the_turn_open(self, tmp_path: Path) -> None:
        cassette = made(tmp_path / "c.jsonl", recording("q", whole('{"a": 1}'), case="a"))
        for by in By:
            answering = Answering(cassette, by=by, faults=faults({"name": "status", "code": 429}))
            got = [ask(answering, case="a").response.status for _ in range(2)]
            assert got == [429, 200]

    def test_what_is_asked_after_a_changed_answer(self, tmp_path: Path) -> None:
        cassette = made(tmp_path / "c.jsonl", recording("q", whole('{"a": 1}'), case="a"))
        answering = Answering(cassette, faults=faults({"name": "nulls"}))
        assert text(ask(answering, case="a")) == '{"a": null}'
        assert text(ask(answering, "again?", case="a")) == '{"a": null}'
        assert answering.misses == 0
