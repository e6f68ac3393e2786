"""The endpoint that answers peers by turn: what it sends, what it refuses, what it keeps."""

from __future__ import annotations

import base64
import http.client
import json
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from callbench.conformance.traffic.endpoint import Endpoint, Visit
from callbench.conformance.traffic.script import Reply, Script, reply_of, script_of


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as endpoint:
        yield endpoint


def asked(base_url: str, body: Any, *, path: str = "/chat/completions", method: str = "POST"):  # type: ignore[no-untyped-def]
    """Ask once; return the status, the content type and the body."""
    url = urlsplit(base_url)
    connection = http.client.HTTPConnection(url.netloc, timeout=10)
    text = body if isinstance(body, str) else json.dumps(body)
    headers = {"Authorization": "Bearer conformance", "Content-Type": "application/json"}
    connection.request(method, url.path + path, text.encode(), headers)
    response = connection.getresponse()
    try:
        return response.status, response.getheader("content-type"), response.read()
    finally:
        connection.close()


def ask(visit: Visit, model: str = "reasoning") -> tuple[int, str, bytes]:
    status, kind, body = asked(visit.base_url, {"model": model, "messages": []})
    return status, kind, body


class TestAnswers:
    def test_each_model_has_a_queue_of_its_own(self, endpoint: Endpoint) -> None:
        script = script_of(
            {
                "reasoning": [{"content": "r1"}, {"content": "r2"}],
                "function": [{"content": "f1"}],
            }
        )
        with endpoint.visit(script) as visit:
            said = [
                json.loads(ask(visit, model)[2])["choices"][0]["message"]["content"]
                for model in ("reasoning", "function", "reasoning")
            ]
        assert said == ["r1", "f1", "r2"]

    def test_two_cases_at_a_time_know_nothing_of_each_other(self, endpoint: Endpoint) -> None:
        one, two = (script_of({"reasoning": [{"content": text}]}) for text in "ab")
        with endpoint.visit(one) as first, endpoint.visit(two) as second:
            assert b'"b"' in ask(second)[2]
            assert b'"a"' in ask(first)[2]

    def test_a_stream_is_sent_as_recorded_each_event_a_chunk(self, endpoint: Endpoint) -> None:
        events = ["data: é", {"base64": base64.b64encode(b"\xc3").decode()}, "\n\n", ""]
        with endpoint.visit(script_of({"reasoning": [{"events": events}]})) as visit:
            url = urlsplit(visit.base_url)
            with socket.create_connection((url.hostname, url.port), timeout=10) as raw:
                body = b'{"model": "reasoning"}'
                head = f"POST {url.path}/chat/completions HTTP/1.1\r\nHost: x\r\n"
                raw.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
                received = b"".join(iter(lambda: raw.recv(4096), b""))
        head_, _, sent = received.partition(b"\r\n\r\n")
        assert b"Content-Type: text/event-stream" in head_
        assert sent == "8\r\ndata: é\r\n".encode() + b"1\r\n\xc3\r\n2\r\n\n\n\r\n0\r\n\r\n"

    def test_a_body_in_chunks_is_read(self, endpoint: Endpoint) -> None:
        with endpoint.visit(script_of({"reasoning": [{"content": "ok"}]})) as visit:
            url = urlsplit(visit.base_url)
            connection = http.client.HTTPConnection(url.netloc, timeout=10)
            pieces = iter([b'{"model": ', b'"reasoning"}'])
            connection.request(
                "POST", f"{url.path}/chat/completions", pieces, encode_chunked=True,
                headers={"Transfer-Encoding": "chunked"},
            )  # fmt: skip
            assert connection.getresponse().status == 200
            assert visit.asked[0].body == {"model": "reasoning"}
            connection.close()

    def test_a_cut_stream_breaks_off(self, endpoint: Endpoint) -> None:
        script = script_of({"reasoning": [{"pieces": ["a"], "cut": True}]})
        with endpoint.visit(script) as visit, pytest.raises(http.client.IncompleteRead) as caught:
            ask(visit)
        assert b'"a"' in caught.value.partial
        assert b"[DONE]" not in caught.value.partial

    def test_a_status_has_its_body(self, endpoint: Endpoint) -> None:
        script = script_of({"reasoning": [{"status": 429, "body": {"error": "slow"}}]})
        with endpoint.visit(script) as visit:
            assert ask(visit) == (429, "application/json", b'{"error": "slow"}')


class TestRefusals:
    def test_too_many_requests(self, endpoint: Endpoint) -> None:
        with endpoint.visit(script_of({"reasoning": [{"content": "only"}]})) as visit:
            ask(visit)
            status, _, body = ask(visit)
            told = "the case has 1 answer of the reasoning model, and it was asked once more"
            assert (status, json.loads(body)) == (500, {"error": {"message": told}})
            assert [one.problem for one in visit.asked] == ["", told]
            assert [one.turn for one in visit.asked] == [0, None]

    def test_the_last_answer_of_the_function_model_again_when_asked_for(
        self, endpoint: Endpoint
    ) -> None:
        whole = (Reply((b"1",)), Reply((b"2",)))
        with endpoint.visit(Script(whole, whole, again=True)) as visit:
            assert [ask(visit, "function")[2] for _ in range(3)] == [b"1", b"2", b"2"]
            assert [ask(visit)[0] for _ in range(3)] == [200, 200, 500]

    @pytest.mark.parametrize(
        ("body", "status"),
        [("no json", 400), ("[1]", 400), ({"model": "gpt"}, 404), ({"model": ["reasoning"]}, 404)],
    )
    def test_what_is_no_request_of_the_protocol(
        self, endpoint: Endpoint, body: Any, status: int
    ) -> None:
        with endpoint.visit(script_of({"reasoning": [{"content": "x"}]})) as visit:
            assert asked(visit.base_url, body)[0] == status
            assert visit.asked[0].problem
            assert ask(visit)[0] == 200  # no turn was used up

    def test_another_path(self, endpoint: Endpoint) -> None:
        with endpoint.visit(script_of({"reasoning": [{"content": "x"}]})) as visit:
            body = {"model": "reasoning"}
            assert asked(visit.base_url, body, path="/completions")[0] == 404
            assert asked(visit.base_url, body, method="GET")[0] == 404
            assert [one.path for one in visit.asked] == ["/completions", "/chat/completions"]

    def test_a_case_that_is_over_is_gone(self, endpoint: Endpoint) -> None:
        with endpoint.visit(script_of({"reasoning": [{"content": "x"}]})) as visit:
            pass
        assert ask(visit)[0] == 404
        assert visit.asked == []

    def test_bytes_that_are_no_request(self, endpoint: Endpoint) -> None:
        with endpoint.visit(Script()) as visit:
            url = urlsplit(visit.base_url)
            with socket.create_connection((url.hostname, url.port), timeout=10) as raw:
                raw.sendall(b"hello\r\n\r\n")
                assert b"".join(iter(lambda: raw.recv(4096), b"")).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize(
    ("written", "wrong"),
    [
        ({}, "an answer has one of pieces, events, content, call, status"),
        ("text", "an answer has one of"),
        ({"content": 1}, "content is of another type"),
        ({"content": "x", "cut": True}, "cut does not go with content"),
        ({"status": "500"}, "status is of another type"),
    ],
)
def test_how_an_answer_is_not_written(written: Any, wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        reply_of(written)


def test_another_model_has_no_answers() -> None:
    with pytest.raises(ValueError, match="'other', only reasoning and function"):
        script_of({"other": []})
