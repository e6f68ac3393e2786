"""The client of OpenAI-compatible endpoints: DESIGN §3.5, TRAPS B."""

from __future__ import annotations

import email.utils
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from corecall.providers import (
    ChatClient,
    Endpoint,
    FunctionModel,
    ReasoningModel,
    TransportError,
)
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

    async def test_an_integer_of_any_length_is_sent_as_it_is(self) -> None:
        server = Server(message("杭州"))
        await server.client(params={"seed": 2**70}).complete([{"role": "user", "content": "杭州"}])
        assert server.bodies[0]["seed"] == 2**70
        assert "杭州" in server.requests[0].content.decode()

    @pytest.mark.parametrize("content", ["\ud83d", object()])
    async def test_what_cannot_be_sent_is_a_call_error(self, content: Any) -> None:
        server = Server()
        with pytest.raises(CallError, match="cannot be written as JSON"):
            await server.client().complete([{"role": "user", "content": content}])

    async def test_blanks_around_the_key_are_no_part_of_it(self) -> None:
        server = Server(message("a"))
        await server.client(api_key=f" {KEY}\n").complete(ASK)
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"

    @pytest.mark.parametrize("inside", ["\n", "\r\nx: ", "\0"])
    def test_a_key_that_no_header_can_carry_is_refused_unseen(self, inside: str) -> None:
        with pytest.raises(ValueError, match="api_key") as caught:
            Endpoint(base_url="http://x", model="m", api_key=f"sk-very{inside}secret")
        assert "secret" not in str(caught.value)

    def test_a_negative_number_of_retries_is_refused(self) -> None:
        with pytest.raises(ValueError, match="retries is -1"):
            Endpoint(base_url="http://x", model="m", retries=-1)

    async def test_no_key_no_header(self) -> None:
        server = Server(sse(chunk("a", "stop")))
        await text_of(server, api_key="")
        assert "authorization" not in server.requests[0].headers

    @pytest.mark.parametrize("text", ["whole", "ends like a tag: <th"])
    async def test_not_streaming_is_one_chunk(self, text: str) -> None:
        server = Server(message(text))
        model = ReasoningModel(server.client())
        assert [delta.content async for delta in model.call(ASK)] == [text]
        assert server.bodies[0]["stream"] is False
        assert "stream_options" not in server.bodies[0]

    async def test_a8_temperature_goes_before_the_endpoints_own(self) -> None:
        server = Server(message("a"))
        model = ReasoningModel(server.client(params={"temperature": 1}))
        async for _ in model.call(ASK, temperature=0.2):
            pass
        assert server.bodies[0]["temperature"] == 0.2

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
    async def test_b1_bytes_split_anywhere(self) -> None:
        whole = chunk("杭州") + b": keep-alive\r\n\r\n" + chunk("🙂", "stop") + DONE
        for cut in range(1, len(whole)):
            assert await text_of(Server(sse(whole[:cut], whole[cut:]))) == "杭州🙂"

    async def test_b3_usage_only_chunks(self) -> None:
        usage = b'data: {"choices": [], "usage": {"total_tokens": 9}}\n\n'
        assert await text_of(Server(sse(usage, chunk("a", "stop"), usage, DONE))) == "a"

    async def test_reasoning_content_stays_apart(self) -> None:
        server = Server(sse(chunk(reasoning_content="why"), chunk("a", "stop"), DONE))
        model = ReasoningModel(server.client())
        deltas = [delta async for delta in model.call(ASK, streaming=True)]
        assert "".join(delta.content for delta in deltas) == "a"
        assert "".join(delta.reasoning for delta in deltas) == "why"

    async def test_a25_thoughts_before_the_answer_come_apart_wherever_the_tag_splits(self) -> None:
        text = "<think>is this</think>this is"
        for cut in range(1, len(text)):
            server = Server(sse(chunk(text[:cut]), chunk(text[cut:], "stop"), DONE))
            assert await text_of(server) == "this is"

    async def test_the_end_without_done_but_with_a_finish_reason_is_complete(self) -> None:
        assert await text_of(Server(sse(chunk("a", "stop")))) == "a"

    async def test_r113_done_ends_the_reading(self) -> None:
        stream = Stream([chunk("a", "stop"), DONE, b": still open\n\n", b": still open\n\n"])
        assert await text_of(Server(sse(stream))) == "a"
        assert stream.given == 2

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
    async def test_b4_a_cut_stream_is_an_error_with_what_arrived(
        self, chunks: list[bytes], reason: str
    ) -> None:
        model = ReasoningModel(Server(sse(*chunks)).client())
        got = []
        with pytest.raises(TransportError, match=reason) as caught:
            async for delta in model.call(ASK, streaming=True):
                got.append(delta.content)
        assert got == ["a"]
        assert caught.value.data["partial"]["content"] == "a"

    async def test_a_reset_in_the_middle_is_an_error_and_not_retried(self) -> None:
        server = Server(sse(chunk("a"), error=httpx2.ReadError("reset")), sse(chunk("b", "stop")))
        with pytest.raises(TransportError, match="ReadError: reset"):
            await text_of(server)
        assert len(server.requests) == 1

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

    async def test_a_server_that_does_not_stream_is_read_whole(self) -> None:
        assert await text_of(Server(message("whole"))) == "whole"

    async def test_abandoning_the_stream_closes_it(self) -> None:
        stream = Stream([chunk("a"), chunk("b", "stop"), DONE])
        deltas = ReasoningModel(Server(sse(stream)).client()).call(ASK, streaming=True)
        async for _ in deltas:
            break
        await deltas.aclose()  # type: ignore[attr-defined]
        assert stream.closed


class TestRetries:
    @pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
    async def test_e4_these_are_tried_again_with_back_off(self, status: int) -> None:
        server = Server(httpx2.Response(status), httpx2.Response(status), sse(chunk("a", "stop")))
        assert await text_of(server) == "a"
        assert server.waits == [0.5, 1.0]

    @pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
    async def test_these_are_not(self, status: int) -> None:
        server = Server(httpx2.Response(status, text="no"))
        with pytest.raises(TransportError) as caught:
            await text_of(server)
        assert caught.value.data["status"] == status
        assert server.waits == []

    async def test_connection_errors_are_tried_again_within_bounds(self) -> None:
        server = Server(*[httpx2.ConnectError("refused")] * 3)
        with pytest.raises(TransportError, match="ConnectError: refused"):
            await text_of(server)
        assert len(server.requests) == 3

    async def test_retry_after_in_seconds_is_honored(self) -> None:
        server = Server(httpx2.Response(429, headers={"retry-after": "7"}), sse(chunk("a", "stop")))
        await text_of(server)
        assert server.waits == [7.0]

    async def test_retry_after_as_a_date_in_the_past_is_now(self) -> None:
        past = email.utils.formatdate(0, usegmt=True)
        server = Server(
            httpx2.Response(503, headers={"retry-after": past}), sse(chunk("a", "stop"))
        )
        await text_of(server)
        assert server.waits == [0.0]

    async def test_retry_after_that_is_nonsense_is_the_usual_wait(self) -> None:
        server = Server(httpx2.Response(503, headers={"retry-after": "soon"}), message("a"))
        await text_of(server)
        assert server.waits == [0.5]

    async def test_retry_after_as_a_date_out_of_range_is_the_usual_wait(self) -> None:
        absurd = "Mon, 99999999999999999999 Jan 2020 00:00:00 GMT"
        server = Server(httpx2.Response(503, headers={"retry-after": absurd}), message("a"))
        async for _ in ReasoningModel(server.client()).call(ASK):
            pass
        assert server.waits == [0.5]

    async def test_a_server_that_asks_for_an_hour_is_not_waited_for(self) -> None:
        server = Server(httpx2.Response(429, headers={"retry-after": "3600"}, text="quota"))
        with pytest.raises(TransportError, match="quota"):
            await text_of(server)
        assert server.waits == []


class TestErrors:
    async def test_they_name_endpoint_model_status_and_the_start_of_the_body(self) -> None:
        server = Server(httpx2.Response(400, text=f"bad key {KEY} " + "x" * 5000))
        with pytest.raises(CallError) as caught:
            await text_of(server)
        text = str(caught.value)
        assert "model m at http://model.test/v1/chat/completions: HTTP 400: bad key" in text
        assert len(text) < 500
        assert KEY not in text + repr(caught.value.data)

    async def test_a_key_is_not_in_the_repr(self) -> None:
        assert KEY not in repr(Endpoint(base_url="http://x", model="m", api_key=KEY))

    @pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"choices": []}', b"\xff"])
    async def test_a_body_that_is_no_completion(self, body: bytes) -> None:
        server = Server(httpx2.Response(200, content=body))
        with pytest.raises(TransportError, match="HTTP 200"):
            await FunctionModel(server.client()).call(ASK, {"type": "object"})
