"""The client of OpenAI-compatible endpoints, and the reasoning role.

Ids like r113 are reports of real faults.
"""

from __future__ import annotations

import asyncio
import base64
import email.utils
import json
import logging
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corecall.providers import (
    ChatClient,
    Endpoint,
    FunctionModel,
    ReasoningModel,
    TransportError,
)
from corecall.slot.processor import SchemaError
from corecall.types import CallError

KEY = "sk-very-secret-key"
ASK = [{"role": "user", "content": "q"}]


class Stream(httpx2.AsyncByteStream):
    """Gives its chunks, then ends, or raises."""

    def __init__(self, chunks: list[bytes], error: Exception | None = None) -> None:
        self.chunks = chunks
        self.error = error
        self.closed = False
        self.given = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self.chunks:
            self.given += 1
            yield chunk
        if self.error:
            raise self.error

    async def aclose(self) -> None:
        self.closed = True


def chunk(content: str | None = None, finish: str | None = None, **delta: Any) -> bytes:
    if content is not None:
        delta["content"] = content
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"choices": [choice]}, ensure_ascii=False).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"


def sse(*chunks: bytes | Stream, error: Exception | None = None) -> httpx2.Response:
    stream = chunks[0]
    if not isinstance(stream, Stream):
        stream = Stream([c for c in chunks if isinstance(c, bytes)], error)
    return httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=stream)


def message(content: Any, **more: Any) -> httpx2.Response:
    body = {
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, **more},
                "finish_reason": "stop",
            }
        ]
    }
    return httpx2.Response(200, json=body)


Answer = httpx2.Response | Exception


class Server:
    """Answers each request with the next response or exception, and keeps the requests."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.requests: list[httpx2.Request] = []
        self.waits: list[float] = []

    def handle(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(request.content) for request in self.requests]

    def client(self, **endpoint: Any) -> ChatClient:
        given = {"base_url": "http://model.test/v1/", "model": "m", "api_key": KEY, **endpoint}
        return ChatClient(
            Endpoint(**given), transport=httpx2.MockTransport(self.handle), sleep=self.sleep
        )


async def text_of(server: Server, **endpoint: Any) -> str:
    model = ReasoningModel(server.client(**endpoint))
    return "".join([delta.content async for delta in model.call(ASK, streaming=True)])


class TestRequest:
    @pytest.mark.rule("provider.request.1", "provider.request.6", "provider.request.7")
    async def test_streaming(self) -> None:
        server = Server(sse(chunk("a", "stop"), DONE))
        assert await text_of(server, params={"max_tokens": 9, "seed": 1}) == "a"
        request = server.requests[0]
        assert str(request.url) == "http://model.test/v1/chat/completions"
        assert request.headers["authorization"] == f"Bearer {KEY}"
        assert request.headers["content-type"] == "application/json"
        assert server.bodies[0] == {
            "model": "m",
            "messages": ASK,
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": 9,
            "seed": 1,
        }

    @pytest.mark.rule("provider.request.6")
    @pytest.mark.parametrize("streaming", [False, True])
    async def test_the_body_is_written_in_this_order(self, streaming: bool) -> None:
        server = Server(message("x"))
        client = server.client(params={"seed": 1})
        if streaming:
            [_ async for _ in client.stream([{"role": "user", "content": "?"}])]
        else:
            await client.complete([{"role": "user", "content": "?"}])
        order = ["model", "messages", "stream", "stream_options", "seed"]
        found = list(json.loads(server.requests[0].content))
        assert found == [name for name in order if streaming or name != "stream_options"]

    @pytest.mark.rule("provider.request.8")
    async def test_an_integer_of_any_length_is_sent_as_it_is(self) -> None:
        server = Server(message("杭州"))
        await server.client(params={"seed": 2**70}).complete([{"role": "user", "content": "杭州"}])
        assert server.bodies[0]["seed"] == 2**70
        assert "杭州" in server.requests[0].content.decode()

    @pytest.mark.rule("provider.request.8")
    @pytest.mark.parametrize("seed", [7, 2**70])
    async def test_there_are_no_blanks_between_tokens(self, seed: int) -> None:
        server = Server(message("x"))
        await server.client(params={"seed": seed}).complete(
            [{"role": "user", "content": "a, é: b"}]
        )
        text = server.requests[0].content.decode()
        assert text.count(" ") == 2, text
        assert "a, é: b" in text

    @pytest.mark.rule("provider.request.9")
    @pytest.mark.parametrize("content", ["\ud83d", object()])
    async def test_what_cannot_be_sent_is_a_call_error(self, content: Any) -> None:
        server = Server()
        with pytest.raises(CallError, match="cannot be written as JSON"):
            await server.client().complete([{"role": "user", "content": content}])

    @pytest.mark.rule("provider.request.3")
    async def test_blanks_around_the_key_are_no_part_of_it(self) -> None:
        server = Server(message("a"))
        await server.client(api_key=f" {KEY}\n").complete(ASK)
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"

    @pytest.mark.rule("provider.request.4")
    @pytest.mark.parametrize("inside", ["\n", "\r\nx: ", "\0", "密"])
    def test_a_key_that_no_header_can_carry_is_refused_unseen(self, inside: str) -> None:
        with pytest.raises(ValueError, match="api_key") as caught:
            Endpoint(base_url="http://x", model="m", api_key=f"sk-very{inside}secret")
        assert "secret" not in str(caught.value)

    @pytest.mark.rule("provider.retry.3")
    def test_a_negative_number_of_retries_is_refused(self) -> None:
        with pytest.raises(ValueError, match="retries is -1"):
            Endpoint(base_url="http://x", model="m", retries=-1)

    @pytest.mark.rule("provider.request.1")
    @pytest.mark.parametrize(
        ("base_url", "url"),
        [
            ("http://h", "http://h/chat/completions"),
            ("https://h:8443/v1//", "https://h:8443/v1/chat/completions"),
            ("http://[::1]:80/a/v1", "http://[::1]:80/a/v1/chat/completions"),
        ],
    )
    def test_the_url(self, base_url: str, url: str) -> None:
        assert Endpoint(base_url=base_url, model="m").url == url

    @pytest.mark.rule("provider.request.2")
    @pytest.mark.parametrize(
        "base_url",
        [
            "",
            "h/v1",
            "ftp://u:hidden@h/v1",
            "http://",
            "http:///hidden",
            "http://u:hidden@/v1",
            "http://h:99999/hidden",
            "http://h:x/hidden",
            "http://[hidden/v1",
            "http://h/ hidden",
            "http://h/hidden\n",
            "http://h/v1?hidden=1",
            "http://h/v1#hidden",
        ],
    )
    def test_what_is_no_address_is_refused_unseen(self, base_url: str) -> None:
        with pytest.raises(ValueError, match="base_url") as caught:
            Endpoint(base_url=base_url, model="m")
        assert "hidden" not in str(caught.value)
        assert caught.value.__cause__ is caught.value.__context__ is None

    @pytest.mark.rule("provider.request.5", "provider.error.7")
    async def test_user_and_password_of_the_address_go_into_a_header(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG)
        server = Server(message("a"))
        await server.client(base_url="http://us%3Aer:p%40ss@h/v1", api_key="").complete(ASK)
        request = server.requests[0]
        assert str(request.url) == "http://h/v1/chat/completions"
        kind, _, value = request.headers["authorization"].partition(" ")
        assert (kind, base64.b64decode(value)) == ("Basic", b"us:er:p@ss")
        assert "http://h/v1/chat/completions" in caplog.text
        assert "p%40ss" not in caplog.text

    @pytest.mark.rule("provider.request.5")
    async def test_the_key_goes_before_user_and_password(self) -> None:
        server = Server(message("a"))
        await server.client(base_url="http://user:pass@h/v1").complete(ASK)
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
        assert str(server.requests[0].url) == "http://h/v1/chat/completions"

    @pytest.mark.rule("provider.request.7")
    async def test_parameters_of_the_call_win(self) -> None:
        server = Server(message("a"))
        await server.client(params={"a": 1, "b": 1}).complete(ASK, {"b": 2, "c": 3})
        assert {k: server.bodies[0].get(k) for k in "abc"} == {"a": 1, "b": 2, "c": 3}

    @pytest.mark.rule("provider.request.11")
    @pytest.mark.parametrize(("given", "seconds"), [({}, 60.0), ({"timeout": 5.0}, 5.0)])
    async def test_every_wait_is_bounded(self, given: dict[str, float], seconds: float) -> None:
        server = Server(message("a"))
        await server.client(**given).complete(ASK)
        limits = server.requests[0].extensions["timeout"]
        assert limits == dict.fromkeys(("connect", "read", "write", "pool"), seconds)

    @pytest.mark.rule("provider.request.11", "provider.retry.2")
    async def test_a_timeout_is_tried_again(self) -> None:
        server = Server(httpx2.ReadTimeout("slow"), message("a"))
        assert (await server.client().complete(ASK)).content == "a"
        assert server.waits == [0.5]

    @pytest.mark.rule("provider.request.12")
    @pytest.mark.parametrize("kind", ["text/event-stream", "Text/Event-Stream; charset=utf-8"])
    async def test_the_type_of_a_stream_in_any_case(self, kind: str) -> None:
        answer = httpx2.Response(
            200, headers={"content-type": kind}, stream=Stream([chunk("a", "stop")])
        )
        assert await text_of(Server(answer)) == "a"

    @pytest.mark.rule("provider.request.12")
    async def test_a_whole_answer_to_a_streaming_request_keeps_its_reasoning(self) -> None:
        server = Server(message("a", reasoning_content="why"))
        model = ReasoningModel(server.client())
        deltas = [delta async for delta in model.call(ASK, streaming=True)]
        assert deltas == [("a", "why")]
        assert server.bodies[0]["stream"] is True

    @pytest.mark.rule("provider.reasoning.1")
    async def test_streamed_pieces_that_add_nothing_are_left_out(self) -> None:
        empty = chunk(role="assistant"), chunk(""), b'data: {"choices": []}\n\n'
        server = Server(sse(*empty, chunk("a"), *empty, chunk("b", "stop"), DONE))
        model = ReasoningModel(server.client())
        deltas = [delta async for delta in model.call(ASK, streaming=True)]
        assert deltas == [("a", ""), ("b", "")]

    @pytest.mark.rule("provider.reasoning.1")
    async def test_without_streaming_there_is_one_piece_even_of_nothing(self) -> None:
        model = ReasoningModel(Server(message(None)).client())
        assert [delta async for delta in model.call(ASK)] == [("", "")]

    @pytest.mark.rule("provider.reasoning.2")
    async def test_without_streaming_thoughts_come_apart_too(self) -> None:
        server = Server(message("<think>2</think>this <th", reasoning_content="1"))
        model = ReasoningModel(server.client())
        assert [delta async for delta in model.call(ASK)] == [("this <th", "12")]

    @pytest.mark.rule("provider.reasoning.2")
    async def test_text_held_back_comes_at_the_end_of_the_stream(self) -> None:
        assert await text_of(Server(sse(chunk("a <thi", "stop"), DONE))) == "a <thi"
        server = Server(sse(chunk("<think>b</"), chunk(finish="stop"), DONE))
        model = ReasoningModel(server.client())
        deltas = [delta async for delta in model.call(ASK, streaming=True)]
        assert deltas == [("", "b"), ("", "</")]

    @pytest.mark.rule("provider.reasoning.3")
    async def test_a_temperature_of_zero_is_sent_and_none_is_not(self) -> None:
        server = Server(message("a"), message("a"), message("a"))
        for client, temperature in (
            (server.client(params={"temperature": 1}), 0.0),
            (server.client(params={"temperature": 1}), None),
            (server.client(), None),
        ):
            async for _ in ReasoningModel(client).call(ASK, temperature=temperature):
                pass
        assert [body.get("temperature") for body in server.bodies] == [0, 1, None]

    @pytest.mark.rule("provider.function.3")
    async def test_a_response_schema_that_is_none_is_refused_before_anything_is_sent(self) -> None:
        server = Server()
        model = ReasoningModel(server.client(), reply_mode="json_schema")
        with pytest.raises(SchemaError):
            async for _ in model.call(ASK, response_schema={"type": "object", "properties": []}):
                pass
        assert server.requests == []

    @pytest.mark.rule("provider.request.3")
    async def test_no_key_no_header(self) -> None:
        server = Server(sse(chunk("a", "stop")))
        await text_of(server, api_key="")
        assert "authorization" not in server.requests[0].headers

    @pytest.mark.rule("provider.reasoning.1", "provider.request.6")
    @pytest.mark.parametrize("text", ["whole", "ends like a tag: <th"])
    async def test_not_streaming_is_one_chunk(self, text: str) -> None:
        server = Server(message(text))
        model = ReasoningModel(server.client())
        assert [delta.content async for delta in model.call(ASK)] == [text]
        assert server.bodies[0]["stream"] is False
        assert "stream_options" not in server.bodies[0]

    @pytest.mark.trap("A8")
    @pytest.mark.rule("provider.reasoning.3")
    async def test_temperature_goes_before_the_endpoints_own(self) -> None:
        server = Server(message("a"))
        model = ReasoningModel(server.client(params={"temperature": 1}))
        async for _ in model.call(ASK, temperature=0.2):
            pass
        assert server.bodies[0]["temperature"] == 0.2

    @pytest.mark.rule("provider.request.10")
    async def test_system_first_moves_system_messages_and_keeps_the_order(self) -> None:
        server = Server(message("a"))
        talk = [
            {"role": "user", "content": "1"},
            {"role": "assistant", "content": "2"},
            {"role": "system", "content": "3"},
            {"role": "user", "content": "4"},
        ]
        async for _ in ReasoningModel(server.client(system_first=True)).call(talk):
            pass
        assert [m["content"] for m in server.bodies[0]["messages"]] == ["3", "1", "2", "4"]
        assert [m["content"] for m in talk] == ["1", "2", "3", "4"]

    @pytest.mark.rule("provider.reasoning.4")
    @pytest.mark.parametrize(
        ("mode", "sent"),
        [
            ("text", None),
            ("json_object", {"type": "json_object"}),
        ],
    )
    async def test_reply_modes(self, mode: Any, sent: Any) -> None:
        server = Server(message("{}"))
        model = ReasoningModel(server.client(), reply_mode=mode)
        async for _ in model.call(ASK, response_schema={"type": "object"}):
            pass
        assert server.bodies[0].get("response_format") == sent

    @pytest.mark.rule("provider.reasoning.4")
    async def test_reply_mode_json_schema_binds_to_the_schema(self) -> None:
        server = Server(message("{}"), message("{}"))
        model = ReasoningModel(server.client(), reply_mode="json_schema")
        schema = {"title": "book", "type": "object", "properties": {"b": {}, "a": {}}}
        async for _ in model.call(ASK, response_schema=schema):
            pass
        async for _ in model.call(ASK):
            pass
        sent = server.bodies[0]["response_format"]
        assert sent["type"] == "json_schema"
        assert sent["json_schema"]["name"] == "book"
        assert list(sent["json_schema"]["schema"]["properties"]) == ["b", "a"]
        assert "response_format" not in server.bodies[1]


class TestStream:
    @pytest.mark.trap("B1")
    @pytest.mark.rule("stream.sse.1")
    async def test_bytes_split_anywhere(self) -> None:
        whole = chunk("杭州") + b": keep-alive\r\n\r\n" + chunk("🙂", "stop") + DONE
        for cut in range(1, len(whole)):
            assert await text_of(Server(sse(whole[:cut], whole[cut:]))) == "杭州🙂"

    @pytest.mark.trap("B3")
    @pytest.mark.rule("stream.delta.2")
    async def test_usage_only_chunks(self) -> None:
        usage = b'data: {"choices": [], "usage": {"total_tokens": 9}}\n\n'
        assert await text_of(Server(sse(usage, chunk("a", "stop"), usage, DONE))) == "a"

    @pytest.mark.rule("provider.reasoning.2")
    async def test_reasoning_content_stays_apart(self) -> None:
        server = Server(sse(chunk(reasoning_content="why"), chunk("a", "stop"), DONE))
        model = ReasoningModel(server.client())
        deltas = [delta async for delta in model.call(ASK, streaming=True)]
        assert "".join(delta.content for delta in deltas) == "a"
        assert "".join(delta.reasoning for delta in deltas) == "why"

    @pytest.mark.trap("A25")
    @pytest.mark.rule("provider.reasoning.2")
    async def test_thoughts_before_the_answer_come_apart_wherever_the_tag_splits(self) -> None:
        text = "<think>is this</think>this is"
        for cut in range(1, len(text)):
            server = Server(sse(chunk(text[:cut]), chunk(text[cut:], "stop"), DONE))
            assert await text_of(server) == "this is"

    @pytest.mark.rule("stream.end.3")
    async def test_the_end_without_done_but_with_a_finish_reason_is_complete(self) -> None:
        assert await text_of(Server(sse(chunk("a", "stop")))) == "a"

    @pytest.mark.rule("stream.end.2")
    async def test_r113_done_ends_the_reading(self) -> None:
        stream = Stream([chunk("a", "stop"), DONE, b": still open\n\n", b": still open\n\n"])
        assert await text_of(Server(sse(stream))) == "a"
        assert stream.given == 2

    @pytest.mark.trap("B4")
    @pytest.mark.rule("stream.end.4", "stream.end.5", "stream.end.6", "stream.end.7")
    @pytest.mark.parametrize(
        ("chunks", "reason"),
        [
            ([chunk("a")], "before the reply was finished"),  # r113 b
            ([chunk("a"), b'data: {"choices"'], "middle of an event"),  # B4
            ([chunk("a"), b"data: {nope}\n\n"], "not JSON"),
            ([chunk("a"), b'data: {"error": {"message": "overloaded"}}\n\n'], "overloaded"),
            ([chunk("a"), b'event: error\ndata: {"message": "overloaded"}\n\n'], "overloaded"),
        ],
    )
    async def test_a_cut_stream_is_an_error_with_what_arrived(
        self, chunks: list[bytes], reason: str
    ) -> None:
        model = ReasoningModel(Server(sse(*chunks)).client())
        got = []
        with pytest.raises(TransportError, match=reason) as caught:
            async for delta in model.call(ASK, streaming=True):
                got.append(delta.content)
        assert got == ["a"]
        assert caught.value.data["partial"]["content"] == "a"

    @pytest.mark.trap("B4")
    @pytest.mark.rule("stream.end.5")
    async def test_a_cut_after_the_finish_reason_is_a_cut(self) -> None:
        with pytest.raises(TransportError, match="in the middle of an event"):
            await text_of(Server(sse(chunk("a", "stop"), b'data: {"usage"')))

    @pytest.mark.rule("stream.end.2")
    async def test_done_counts_without_finish_reason_and_without_its_blank_line(self) -> None:
        assert await text_of(Server(sse(chunk("a"), DONE, b"data: {nope}\n\n"))) == "a"
        assert await text_of(Server(sse(chunk("a"), b"data: [DONE]"))) == "a"

    @pytest.mark.rule("stream.end.3")
    async def test_chunks_after_the_finish_reason_are_read(self) -> None:
        with pytest.raises(TransportError, match="overloaded"):
            await text_of(Server(sse(chunk("a", "stop"), b'data: {"error": "overloaded"}\n\n')))

    @pytest.mark.rule("stream.end.4")
    async def test_an_empty_stream_is_a_cut(self) -> None:
        with pytest.raises(TransportError, match="before the reply was finished"):
            await text_of(Server(sse(Stream([]))))

    @pytest.mark.rule("stream.end.6")
    async def test_nor_may_an_event_be_empty(self) -> None:
        with pytest.raises(TransportError, match="not JSON"):
            await text_of(Server(sse(chunk("a"), b"data:\n\n", DONE)))

    @pytest.mark.rule("stream.end.6")
    @pytest.mark.parametrize("data", ["{nope}", "[1]", "NaN", '"x"', '{"a": 1} x', " ", "null"])
    async def test_an_event_must_be_a_json_object(self, data: str) -> None:
        with pytest.raises(TransportError, match=re.escape(data)):
            await text_of(Server(sse(chunk("a"), f"data: {data}\n\n".encode(), DONE)))

    @pytest.mark.rule("provider.error.4")
    async def test_what_arrived_of_tool_calls_is_in_the_error(self) -> None:
        begun = [
            {"index": 0, "function": {"name": "f", "arguments": '{"a"'}},
            {"index": 1, "function": {"name": "g", "arguments": '{"b": 1}'}},
        ]
        server = Server(sse(chunk("x", tool_calls=begun), chunk("y")))
        with pytest.raises(TransportError) as caught:
            await text_of(server)
        arguments = ['{"a"', '{"b": 1}']
        assert caught.value.data["partial"] == {"content": "xy", "arguments": arguments}

    @pytest.mark.rule("stream.end.8")
    async def test_a_reset_in_the_middle_is_an_error_and_not_retried(self) -> None:
        server = Server(sse(chunk("a"), error=httpx2.ReadError("reset")), sse(chunk("b", "stop")))
        with pytest.raises(TransportError, match="ReadError: reset"):
            await text_of(server)
        assert len(server.requests) == 1

    @pytest.mark.rule("stream.end.8")
    async def test_a_reset_after_the_finish_reason_is_an_error_too(self) -> None:
        server = Server(sse(chunk("a", "stop"), error=httpx2.ReadError("reset")))
        with pytest.raises(TransportError, match="ReadError: reset"):
            await text_of(server)

    @pytest.mark.rule("provider.error.5")
    @pytest.mark.parametrize("streaming", [True, False])
    @pytest.mark.parametrize("status", [200, 400])
    async def test_a_body_that_does_not_decompress_is_an_error(
        self, streaming: bool, status: int
    ) -> None:
        headers = {"content-type": "text/event-stream", "content-encoding": "gzip"}
        answer = httpx2.Response(status, headers=headers, stream=Stream([b"no gzip"]))
        model = ReasoningModel(Server(answer).client())
        with pytest.raises(TransportError, match="DecodingError"):
            async for _ in model.call(ASK, streaming=streaming):
                pass

    @pytest.mark.rule("provider.request.12")
    async def test_a_server_that_does_not_stream_is_read_whole(self) -> None:
        assert await text_of(Server(message("whole"))) == "whole"

    @pytest.mark.rule("stream.end.9")
    async def test_abandoning_the_stream_closes_it(self) -> None:
        stream = Stream([chunk("a"), chunk("b", "stop"), DONE])
        deltas = ReasoningModel(Server(sse(stream)).client()).call(ASK, streaming=True)
        async for _ in deltas:
            break
        await deltas.aclose()  # type: ignore[attr-defined]
        assert stream.closed


class TestRetries:
    @pytest.mark.trap("E4")
    @pytest.mark.rule("provider.retry.1", "provider.retry.4")
    @pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
    async def test_these_statuses_are_tried_again_with_back_off(self, status: int) -> None:
        server = Server(httpx2.Response(status), httpx2.Response(status), sse(chunk("a", "stop")))
        assert await text_of(server) == "a"
        assert server.waits == [0.5, 1.0]

    @pytest.mark.rule("provider.retry.1")
    @pytest.mark.parametrize("status", [301, 302, 400, 401, 403, 404, 422])
    async def test_these_are_not(self, status: int) -> None:
        server = Server(httpx2.Response(status, text="no"))
        with pytest.raises(TransportError) as caught:
            await text_of(server)
        assert caught.value.data["status"] == status
        assert server.waits == []

    @pytest.mark.rule("provider.retry.2", "provider.retry.3")
    async def test_connection_errors_are_tried_again_within_bounds(self) -> None:
        server = Server(*[httpx2.ConnectError("refused")] * 3)
        with pytest.raises(TransportError, match="ConnectError: refused"):
            await text_of(server)
        assert len(server.requests) == 3

    @pytest.mark.rule("provider.retry.3")
    @pytest.mark.parametrize(("given", "requests"), [({}, 3), ({"retries": 0}, 1)])
    async def test_the_number_of_requests_is_bounded(
        self, given: dict[str, int], requests: int
    ) -> None:
        server = Server(*[httpx2.Response(500, text=str(n)) for n in range(9)])
        with pytest.raises(TransportError, match=f"HTTP 500: {requests - 1}"):
            await text_of(server, **given)
        assert len(server.requests) == requests

    @pytest.mark.rule("provider.retry.4")
    @pytest.mark.parametrize("failure", [httpx2.Response(500), httpx2.ConnectError("x")])
    async def test_the_wait_doubles_up_to_thirty_seconds(self, failure: Answer) -> None:
        server = Server(*[failure] * 9)
        with pytest.raises(TransportError):
            await text_of(server, retries=8)
        assert server.waits == [0.5, 1, 2, 4, 8, 16, 30, 30]

    @pytest.mark.rule("provider.retry.4")
    async def test_a_great_many_retries_are_possible(self) -> None:
        server = Server(*[httpx2.ConnectError("x")] * 2001)
        with pytest.raises(TransportError):
            await text_of(server, retries=2000)
        assert server.waits[-1] == 30

    @pytest.mark.rule("provider.retry.5", "provider.retry.8")
    @pytest.mark.parametrize(("asked", "waits"), [("0", [0]), ("30", [30]), ("31", [])])
    async def test_thirty_seconds_are_waited_for_and_no_more(
        self, asked: str, waits: list[float]
    ) -> None:
        server = Server(httpx2.Response(429, headers={"retry-after": asked}), message("a"))
        if waits:
            await server.client().complete(ASK)
        else:
            with pytest.raises(TransportError, match="HTTP 429"):
                await server.client().complete(ASK)
        assert server.waits == waits

    @pytest.mark.rule("provider.retry.7")
    @pytest.mark.parametrize("asked", ["-1", "1.5", "１", " ", "1 minute", "+3"])
    async def test_what_is_no_number_of_seconds_is_the_usual_wait(self, asked: str) -> None:
        header = asked.encode("utf-8")
        server = Server(httpx2.Response(503, headers=[(b"retry-after", header)]), message("a"))
        await server.client().complete(ASK)
        assert server.waits == [0.5]

    @pytest.mark.rule("provider.retry.6", "provider.retry.8")
    async def test_retry_after_as_a_date_to_come(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("corecall.client.time.time", lambda: 1_000_000_000.0)
        later = email.utils.formatdate(1_000_000_012, usegmt=True)
        server = Server(httpx2.Response(503, headers={"retry-after": later}), message("a"))
        await server.client().complete(ASK)
        assert server.waits == [12.0]
        much_later = email.utils.formatdate(1_000_000_031, usegmt=True)
        server = Server(httpx2.Response(503, headers={"retry-after": much_later}))
        with pytest.raises(TransportError, match="HTTP 503"):
            await server.client().complete(ASK)

    @pytest.mark.rule("provider.retry.5")
    async def test_retry_after_in_seconds_is_honored(self) -> None:
        server = Server(httpx2.Response(429, headers={"retry-after": "7"}), sse(chunk("a", "stop")))
        await text_of(server)
        assert server.waits == [7.0]

    @pytest.mark.rule("provider.retry.6")
    async def test_retry_after_as_a_date_in_the_past_is_now(self) -> None:
        past = email.utils.formatdate(0, usegmt=True)
        server = Server(
            httpx2.Response(503, headers={"retry-after": past}), sse(chunk("a", "stop"))
        )
        await text_of(server)
        assert server.waits == [0.0]

    @pytest.mark.rule("provider.retry.7")
    async def test_retry_after_that_is_nonsense_is_the_usual_wait(self) -> None:
        server = Server(httpx2.Response(503, headers={"retry-after": "soon"}), message("a"))
        await text_of(server)
        assert server.waits == [0.5]

    @pytest.mark.rule("provider.retry.7")
    async def test_retry_after_as_a_date_out_of_range_is_the_usual_wait(self) -> None:
        absurd = "Mon, 99999999999999999999 Jan 2020 00:00:00 GMT"
        server = Server(httpx2.Response(503, headers={"retry-after": absurd}), message("a"))
        async for _ in ReasoningModel(server.client()).call(ASK):
            pass
        assert server.waits == [0.5]

    @pytest.mark.rule("provider.retry.8")
    async def test_a_server_that_asks_for_an_hour_is_not_waited_for(self) -> None:
        server = Server(httpx2.Response(429, headers={"retry-after": "3600"}, text="quota"))
        with pytest.raises(TransportError, match="quota"):
            await text_of(server)
        assert server.waits == []

    @pytest.mark.rule("provider.retry.1", "provider.retry.3", "provider.retry.4")
    @given(
        st.lists(st.sampled_from([200, 302, 400, 404, 408, 409, 429, 500, 503, 599]), max_size=8),
        st.integers(0, 6),
    )
    def test_any_run_of_answers(self, statuses: list[int], retries: int) -> None:
        """The first that is not tried again decides, within the number of requests allowed."""
        server = Server(*[message("a") if s == 200 else httpx2.Response(s) for s in statuses])
        server.answers += [message("a")] * 9
        made: list[int] = []
        for status in [*statuses, 200][: retries + 1]:
            made.append(status)
            if status < 500 and status not in (408, 409, 429):
                break
        if made[-1] == 200:
            assert asyncio.run(server.client(retries=retries).complete(ASK)).content == "a"
        else:
            with pytest.raises(TransportError, match=f"HTTP {made[-1]}"):
                asyncio.run(server.client(retries=retries).complete(ASK))
        assert len(server.requests) == len(made)
        assert server.waits == [0.5 * 2**n for n in range(len(made) - 1)]


class TestErrors:
    @pytest.mark.rule("provider.error.1", "provider.error.3", "provider.error.6")
    async def test_they_name_endpoint_model_status_and_the_start_of_the_body(self) -> None:
        server = Server(httpx2.Response(400, text=f"bad key {KEY} " + "x" * 5000))
        with pytest.raises(CallError) as caught:
            await text_of(server)
        text = str(caught.value)
        assert "model m at http://model.test/v1/chat/completions: HTTP 400: bad key" in text
        assert len(text) < 500
        assert KEY not in text + repr(caught.value.data)

    @pytest.mark.rule("provider.error.1", "provider.error.2")
    async def test_the_data_of_a_refusal(self) -> None:
        with pytest.raises(TransportError) as caught:
            await text_of(Server(httpx2.Response(401, text="no")))
        url = "http://model.test/v1/chat/completions"
        assert str(caught.value) == f"model m at {url}: HTTP 401: no"
        assert caught.value.data == {"endpoint": url, "model": "m", "status": 401}

    @pytest.mark.rule("provider.error.2", "provider.error.5")
    @pytest.mark.parametrize("body", ["no json", "{}", '{"error": {"message": "busy"}}'])
    async def test_a_body_that_is_no_completion_has_its_status(self, body: str) -> None:
        with pytest.raises(TransportError) as caught:
            await Server(httpx2.Response(202, text=body)).client().complete([])
        assert caught.value.data["status"] == 202

    @pytest.mark.rule("provider.error.2")
    async def test_without_a_response_there_is_no_status(self) -> None:
        with pytest.raises(TransportError, match=r": ConnectError$") as caught:
            await text_of(Server(httpx2.ConnectError("")), retries=0)
        assert set(caught.value.data) == {"endpoint", "model"}

    @pytest.mark.rule("provider.error.3")
    @pytest.mark.parametrize(("length", "end"), [(290, "x"), (291, "…")])
    async def test_three_hundred_characters_of_the_reason_are_shown(
        self, length: int, end: str
    ) -> None:
        with pytest.raises(TransportError) as caught:
            await text_of(Server(httpx2.Response(400, text="x" * length)))
        reason = str(caught.value).partition("completions: ")[2]
        assert reason == "HTTP 400: " + "x" * 290 + end.replace("x", "")

    @pytest.mark.rule("provider.error.5")
    @pytest.mark.parametrize(
        ("body", "reason"),
        [
            ('{"error": {"message": "busy"}}', "HTTP 200: busy"),
            ('{"error": "busy"}', "HTTP 200: busy"),
            ('{"choices": [{}]}', "HTTP 200: the response holds no message"),
        ],
    )
    async def test_an_error_in_a_body_is_told(self, body: str, reason: str) -> None:
        with pytest.raises(TransportError) as caught:
            await Server(httpx2.Response(200, text=body)).client().complete(ASK)
        assert str(caught.value).endswith(reason)

    @pytest.mark.rule("provider.error.6")
    @pytest.mark.parametrize("streaming", [True, False])
    @pytest.mark.parametrize(
        ("given", "secrets"),
        [
            ({"api_key": 'sk-"x"\\y'}, ['sk-"x"\\y', 'sk-\\"x\\"\\\\y']),
            (
                {"base_url": "http://user:p%40ss@h/v1", "api_key": ""},
                ["user:p%40ss", "p%40ss", "p@ss", "dXNlcjpwQHNz"],
            ),
            ({"base_url": "http://token-1@h/v1", "api_key": ""}, ["token-1"]),
        ],
    )
    async def test_no_credential_is_in_any_error(
        self, given: dict[str, str], secrets: list[str], streaming: bool
    ) -> None:
        text = " ".join(secrets)
        event = json.dumps({"error": text}, ensure_ascii=False).encode()
        call = [{"index": 0, "function": {"name": "f", "arguments": text}}]
        answers: list[Answer] = [
            httpx2.Response(400, text=text),
            httpx2.Response(200, text=text),
            httpx2.Response(200, content=event),
            httpx2.ConnectError(text),
            sse(chunk(text, tool_calls=call)),
            sse(b"data: " + event + b"\n\n"),
        ]
        for answer in answers:
            model = ReasoningModel(Server(answer).client(retries=0, **given))
            with pytest.raises(TransportError) as caught:
                async for _ in model.call(ASK, streaming=streaming):
                    pass
            shown = str(caught.value) + str(caught.value.data)
            assert [secret for secret in secrets if secret in shown] == []

    @pytest.mark.rule("provider.error.6")
    async def test_a_credential_is_hidden_before_the_reason_is_cut(self) -> None:
        with pytest.raises(TransportError) as caught:
            await text_of(Server(httpx2.Response(400, text="x" * 280 + KEY)))
        assert str(caught.value).endswith("x***")

    @pytest.mark.rule("provider.error.7")
    def test_an_endpoint_shows_neither_user_nor_password(self) -> None:
        shown = repr(Endpoint(base_url="http://user:pass@h/v1", model="m"))
        assert shown == "Endpoint(url='http://h/v1/chat/completions', model='m')"

    @pytest.mark.rule("provider.error.7")
    async def test_a_key_is_not_in_the_repr(self) -> None:
        assert KEY not in repr(Endpoint(base_url="http://x", model="m", api_key=KEY))

    @pytest.mark.rule("provider.error.5")
    @pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"choices": []}', b"\xff"])
    async def test_a_body_that_is_no_completion(self, body: bytes) -> None:
        server = Server(httpx2.Response(200, content=body))
        with pytest.raises(TransportError, match="HTTP 200"):
            await FunctionModel(server.client()).call(ASK, {"type": "object"})
