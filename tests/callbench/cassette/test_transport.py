"""Recording from a real local server and replaying without one."""

# ruff: noqa: ASYNC240 - tests look at small local files

from __future__ import annotations

import asyncio
import gzip
import json
import socket
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from callbench.cassette import (
    Cassette,
    CassetteMiss,
    CassetteTransport,
    Interaction,
    Mode,
    Request,
    canonical_request,
    case_scope,
)
from callbench.errors import CassetteError, ExitCode

from .synthetic_server import DONE, USAGE, Reply, SyntheticServer, delta, serve, stream

BODY = {
    "model": "synthetic",
    "messages": [{"role": "user", "content": "Hangzhou?"}],
    "stream": True,
}
JSON = {"content-type": "application/json"}


class Client:
    """Sends chat requests through a cassette transport and gives the bytes back, chunk by chunk."""

    def __init__(
        self, cassette: Cassette, mode: str, url: str = "http://never.invalid/v1", **options: Any
    ) -> None:
        self.transport = CassetteTransport(cassette, mode, **options)
        self.url = url

    async def __aenter__(self) -> Client:
        self.http = httpx2.AsyncClient(transport=self.transport, base_url=self.url, timeout=5)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.http.aclose()

    async def chunks(self, body: Any = BODY, **options: Any) -> list[bytes]:
        async with self.http.stream("POST", "/chat/completions", json=body, **options) as response:
            return [chunk async for chunk in response.aiter_raw()]

    async def post(self, body: Any = BODY, **options: Any) -> httpx2.Response:
        return await self.http.post("/chat/completions", json=body, **options)


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any attempt to open a connection fails the test."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(asyncio.BaseEventLoop, "create_connection", refuse)


async def record(path: Path, *replies: Reply, **options: Any) -> SyntheticServer:
    """Record one request of case ``a`` per reply."""
    async with serve(*replies) as server:
        with Cassette.open(path) as cassette:
            async with Client(cassette, "record", server.url) as client:
                with case_scope("a"):
                    for _ in replies:
                        await client.chunks(**options)
    return server


def only(path: Path) -> Interaction:
    (interaction,) = Cassette.open(path)
    return interaction


class TestReplay:
    async def test_gives_event_by_event_what_was_recorded(
        self, path: Path, no_network: None
    ) -> None:
        """C3: as many pieces as there were events, the same bytes."""
        cassette = Cassette.open(path)
        for interaction in await recorded_in_thread(path, stream("Hang", "zhou", "杭州")):
            assert [event.data for event in interaction.response.events][-2:] == [USAGE, DONE]
        async with Client(cassette, "replay") as client:
            with case_scope("a") as scope:
                assert await client.chunks() == [
                    delta("Hang"),
                    delta("zhou"),
                    delta("杭州"),
                    USAGE,
                    DONE,
                ]
        (exchange,) = scope.exchanges
        assert (exchange.source, exchange.status, exchange.error) == ("replayed", 200, None)
        assert exchange.usage is not None
        assert exchange.usage["completion_tokens_details"] == {"reasoning_tokens": 2}

    async def test_times_are_the_recorded_ones(self, path: Path) -> None:
        """A report made in replay tells the model's latency, the same every time."""
        await record(path, stream("a", "b"))
        interaction = only(path)
        async with Client(Cassette.open(path), "replay") as client:
            with case_scope("a") as scope:
                await client.chunks()
        (exchange,) = scope.exchanges
        assert exchange.elapsed_ms == interaction.response.elapsed_ms
        assert exchange.first_event_ms == interaction.response.events[0].at_ms
        assert (exchange.key, exchange.case, exchange.ordinal) == (interaction.key, "a", 0)

    async def test_host_and_headers_do_not_matter(self, path: Path) -> None:
        await record(path, stream("a"), headers={"authorization": "Bearer one-synthetic-key"})
        async with Client(
            Cassette.open(path), "replay", "https://other.invalid/openai/v1"
        ) as client:
            with case_scope("a"):
                assert await client.chunks(headers={"x-other": "1"})

    async def test_the_base_can_be_said(self, path: Path) -> None:
        await record(path, stream("a"))
        url = "https://other.invalid/deployments/synthetic"
        async with Client(Cassette.open(path), "replay", url, base_url=url) as client:
            with case_scope("a"):
                assert await client.chunks()
            with case_scope("a"), pytest.raises(CassetteMiss):
                await client.http.post(f"{url}/other", json=BODY)

    async def test_any_order_and_number_of_workers_replays_alike(
        self, path: Path, no_network: None
    ) -> None:
        """C6, C7: same request in every case, each case its own answers in its own order."""
        with Cassette.open(path) as cassette:
            transport = CassetteTransport(cassette, "record", InProcess())
            async with httpx2.AsyncClient(
                transport=transport, base_url="http://in.process/v1"
            ) as http:
                for case in range(6):
                    with case_scope(str(case)):
                        for _ in range(2):
                            await http.post("/chat/completions", json=BODY)

        async def work(client: Client, case: int) -> list[str]:
            with case_scope(str(case)):
                return [(await client.post()).text for _ in range(2)]

        async with Client(Cassette.open(path), "replay") as client:
            found = await asyncio.gather(*(work(client, case) for case in (5, 3, 1, 0, 2, 4)))
        assert found == [[f"answer {2 * n + 1}", f"answer {2 * n + 2}"] for n in (5, 3, 1, 0, 2, 4)]

    async def test_without_a_scope_requests_count_per_transport(self, path: Path) -> None:
        with Cassette.open(path) as cassette:
            async with Client(cassette, "record", inner=InProcess()) as client:
                assert [(await client.post()).text for _ in range(2)] == ["answer 1", "answer 2"]
        async with Client(Cassette.open(path), "replay") as client:
            assert [(await client.post()).text for _ in range(2)] == ["answer 1", "answer 2"]
            with pytest.raises(CassetteMiss, match="recorded 2 times and was asked 3 times"):
                await client.post()

    async def test_makes_no_inner_transport(self, path: Path) -> None:
        await record(path, stream("a"))

        def make() -> httpx2.AsyncBaseTransport:
            raise AssertionError("replay asked for the inner transport")

        async with Client(Cassette.open(path), "replay", inner=make) as client:
            with case_scope("a"):
                await client.chunks()
                with pytest.raises(CassetteMiss):
                    await client.chunks()


async def recorded_in_thread(path: Path, *replies: Reply) -> list[Interaction]:
    """Record with the network on although the test has it off."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", REAL_CONNECT)
        patch.setattr(asyncio.BaseEventLoop, "create_connection", REAL_CREATE)
        await record(path, *replies)
    return list(Cassette.open(path))


REAL_CONNECT = socket.socket.connect
REAL_CREATE = asyncio.BaseEventLoop.create_connection


class InProcess(httpx2.AsyncBaseTransport):
    """A model in process: an inner transport that counts its answers."""

    def __init__(self) -> None:
        self.asked = 0
        self.closed = False

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.asked += 1
        return httpx2.Response(
            200, headers={"content-type": "text/plain"}, content=b"answer %d" % self.asked
        )

    async def aclose(self) -> None:
        self.closed = True


class TestMiss:
    async def miss(self, path: Path, body: Any, case: str = "a", **options: Any) -> CassetteMiss:
        async with Client(Cassette.open(path), "replay", **options) as client:
            with case_scope(case), pytest.raises(CassetteMiss) as caught:
                await client.chunks(body)
        return caught.value

    async def test_says_what_was_asked_the_nearest_and_the_command(self, path: Path) -> None:
        """C9; one word of a prompt is exit 5 and a difference a person understands."""
        await record(path, stream("a"))
        body = {**BODY, "messages": [{"role": "user", "content": "Suzhou?"}]}
        miss = await self.miss(path, body, command="callbench run --mode record")
        assert str(miss) == (
            f"{path} has no recording of POST /chat/completions (model synthetic, 1 message) of case 'a'.\n"
            "The nearest recording is line 2 of case 'a'. What differs, recorded -> asked:\n"
            '  messages[0] (user): "Hangzhou?" -> "Suzhou?"\n'
            "To record what is missing: callbench run --mode record"
        )
        assert isinstance(miss, CassetteError)
        assert miss.exit_code is ExitCode.CASSETTE
        assert miss.request.json() == body
        assert (miss.case, miss.ordinal) == ("a", 0)
        assert miss.nearest is not None
        assert miss.nearest.interaction == only(path)

    async def test_a_missing_file_is_said_to_be_missing(self, path: Path) -> None:
        """C9: never a word about overwriting a file that does not exist."""
        miss = await self.miss(path, BODY)
        assert "The file does not exist." in str(miss)
        assert "--mode record" in miss.remedy
        assert miss.nearest is None

    async def test_an_empty_cassette(self, path: Path) -> None:
        path.touch()
        assert "no recording at all" in str(await self.miss(path, BODY))

    async def test_asking_more_often_than_recorded(self, path: Path) -> None:
        """C7."""
        await record(path, stream("a"))
        async with Client(Cassette.open(path), "replay") as client:
            with case_scope("a"):
                await client.chunks()
                with pytest.raises(CassetteMiss, match="recorded once and was asked 2 times"):
                    await client.chunks()
                with pytest.raises(CassetteMiss, match="recorded once and was asked 2 times"):
                    await client.chunks()

    async def test_another_repeat(self, path: Path) -> None:
        """C10."""
        await record(path, stream("a"))
        miss = await self.miss(path, BODY, "a@repeat=1")
        assert "same request is recorded in line 2 of case 'a', for another repeat" in str(miss)

    async def test_prefers_the_same_case_then_the_same_model(self, path: Path) -> None:
        def body(model: str, content: str) -> dict[str, Any]:
            return {"model": model, "messages": [{"role": "user", "content": content}]}

        with Cassette.open(path) as cassette:
            async with Client(cassette, "record", inner=InProcess()) as client:
                for case, model, content in [
                    ("a", "m", "one\ntwo"),
                    ("b", "m", "three\nfour"),
                    ("c", "n", "three\nfive"),
                    ("d", "n", "six"),
                ]:
                    with case_scope(case):
                        await client.post(body(model, content))
        nearest = [
            (await self.miss(path, body(model, content), case)).nearest
            for case, model, content in [
                ("a", "n", "three\nfour"),
                ("new", "n", "three\nfour"),
                ("new", "m", "three\nfive"),
                ("new", "other", "six!\nthree\nfive"),
                ("new", "n", "six\nseven"),
            ]
        ]
        assert [it.interaction.case for it in nearest if it is not None] == [
            "a",
            "c",
            "b",
            "c",
            "d",
        ]


class TestRecord:
    async def test_keeps_request_response_and_usage(self, path: Path) -> None:
        reply = stream("Hang", "zhou")
        reply.headers |= {"x-request-id": "1", "retry-after": "7", "set-cookie": "a=b"}
        await record(path, reply)
        interaction = only(path)
        assert interaction.case == "a"
        assert interaction.ordinal == 0
        assert interaction.request.path == "/chat/completions"
        assert interaction.request.json() == BODY
        assert interaction.response.status == 200
        assert interaction.response.headers == {
            "content-type": "text/event-stream",
            "retry-after": "7",
        }
        assert [event.data for event in interaction.response.events] == [
            delta("Hang"),
            delta("zhou"),
            USAGE,
            DONE,
        ]
        assert interaction.response.error is None
        assert interaction.usage is not None
        assert interaction.usage["prompt_tokens"] == 11
        times = [event.at_ms for event in interaction.response.events]
        assert times == sorted(times)
        assert times[-1] <= interaction.response.elapsed_ms
        assert interaction.recorded_at is not None
        assert interaction.recorded_at.endswith("Z")

    async def test_is_a_tee(self, path: Path) -> None:
        """C3: the caller has the first chunk while the server still holds back the second."""
        gate = asyncio.Event()
        async with serve(Reply([delta("first"), delta("second"), DONE], gate=gate)) as server:
            with Cassette.open(path) as cassette:
                async with (
                    Client(cassette, "record", server.url) as client,
                    client.http.stream("POST", "/chat/completions", json=BODY) as response,
                ):
                    stream = response.aiter_raw()
                    assert await asyncio.wait_for(anext(stream), 5) == delta("first")
                    gate.set()
                    assert b"".join([chunk async for chunk in stream]) == delta("second") + DONE
        assert len(only(path).response.events) == 3

    async def test_is_on_disk_when_the_caller_sees_the_end(self, path: Path) -> None:
        async with serve(stream("a")) as server:
            cassette = Cassette.open(path)
            async with Client(cassette, "record", server.url) as client:
                await client.chunks()
                assert only(path).response.body.startswith(delta("a"))

    async def test_asks_only_for_what_is_missing(self, path: Path) -> None:
        with Cassette.open(path) as cassette:
            for expected in ["recorded", "replayed"]:
                inner = InProcess()
                async with Client(cassette, "record", inner=inner) as client:
                    with case_scope("a") as scope:
                        assert (await client.post()).text == "answer 1"
                assert [exchange.source for exchange in scope.exchanges] == [expected]
                assert inner.asked == (expected == "recorded")
                assert inner.closed is (expected == "recorded")
        assert len(Cassette.open(path)) == 1

    async def test_each_case_and_repeat_gets_a_recording_of_its_own(self, path: Path) -> None:
        """C10: the first answer is not taken for all repeats."""
        inner = InProcess()
        with Cassette.open(path) as cassette:
            async with Client(cassette, "record", inner=inner) as client:
                for case, repeat in [("a", 0), ("a", 1), ("b", 0)]:
                    with case_scope(case, repeat=repeat):
                        await client.post()
        assert [it.case for it in Cassette.open(path)] == ["a", "a@repeat=1", "b"]
        assert inner.asked == 3

    async def test_a_whole_body_is_one_event(self, path: Path) -> None:
        body = b'{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}'
        await record(path, Reply([body[:10], body[10:]], headers=JSON))
        interaction = only(path)
        assert [event.data for event in interaction.response.events] == [body]
        assert interaction.usage == {"prompt_tokens": 1, "completion_tokens": 2}

    async def test_compressed_answers_are_stored_readable(self, path: Path) -> None:
        body = b'{"answer": "yes"}'
        reply = Reply([gzip.compress(body)], headers={**JSON, "content-encoding": "gzip"})
        async with serve(reply) as server:
            with Cassette.open(path) as cassette:
                async with Client(cassette, "record", server.url) as client:
                    response = await client.post()
        assert response.content == body
        assert "content-encoding" not in response.headers
        assert only(path).response.body == body

    async def test_a_length_of_compressed_bytes_is_not_passed_on(self, path: Path) -> None:
        class Compressed(InProcess):
            async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
                async def body() -> AsyncIterator[bytes]:
                    yield packed

                packed = gzip.compress(b"yes" * 100)
                headers = {"content-encoding": "gzip", "content-length": str(len(packed))}
                return httpx2.Response(200, headers=headers, content=body())

        async with Client(Cassette.open(path), "live", inner=Compressed()) as client:
            response = await client.post()
        assert response.content == b"yes" * 100
        assert "content-length" not in response.headers

    async def test_events_that_end_in_carriage_returns(self, path: Path) -> None:
        """B2."""
        await record(path, Reply([b"data: a\r", b"\n\r\ndata: b\r\r", b"data: [DONE]\r\n\r\n"]))
        assert [event.data for event in only(path).response.events] == [
            b"data: a\r\n\r\n",
            b"data: b\r\r",
            b"data: [DONE]\r\n\r\n",
        ]

    async def test_streamed_request_bodies(self, path: Path) -> None:
        async def content() -> AsyncIterator[bytes]:
            yield b'{"a":'
            yield b"1}"

        async with serve(stream("a")) as server:
            with Cassette.open(path) as cassette:
                async with Client(cassette, "record", inner=InProcess()) as client:
                    await client.http.post(f"{server.url}/x", content=content())
        assert only(path).request.body == b'{"a":1}'

    async def test_a_normalizer_of_the_cassette_files_requests(self, path: Path) -> None:
        def without_user(request: Request) -> Request:
            body = {name: value for name, value in request.json().items() if name != "user"}
            return canonical_request(request.method, request.path, json.dumps(body).encode())

        with Cassette.open(path, normalize=without_user) as cassette:
            async with Client(cassette, "record", inner=InProcess()) as client:
                with case_scope("a"):
                    await client.post({**BODY, "user": "u1"})
        async with Client(Cassette.open(path, normalize=without_user), "replay") as client:
            with case_scope("a"):
                assert (await client.post({**BODY, "user": "u2"})).text == "answer 1"


class TestFailures:
    async def test_a_status_is_recorded_and_replayed(self, path: Path) -> None:
        await record(
            path, Reply([b'{"error":"boom"}'], status=500, headers={**JSON, "retry-after": "3"})
        )
        async with Client(Cassette.open(path), "replay") as client:
            with case_scope("a") as scope:
                response = await client.post()
        assert (response.status_code, response.text) == (500, '{"error":"boom"}')
        assert response.headers["retry-after"] == "3"
        assert scope.exchanges[0].status == 500

    async def test_a_cut_stream_is_recorded_and_replayed_as_the_same_exception(
        self, path: Path
    ) -> None:
        """B4: with what arrived before, in the middle of a character."""
        pieces = [delta("Hang"), b'data: {"x":"\xe6\x9d']
        async with serve(Reply(pieces, cut=True)) as server:
            with Cassette.open(path) as cassette:
                async with Client(cassette, "record", server.url) as client:
                    with (
                        case_scope("a") as scope,
                        pytest.raises(httpx2.RemoteProtocolError) as live,
                    ):
                        await client.chunks()
        (exchange,) = scope.exchanges
        assert exchange.source == "recorded"
        assert exchange.error == f"RemoteProtocolError: {live.value}"
        assert only(path).response.error == exchange.error
        got: list[bytes] = []

        async def replay(client: Client) -> None:
            async with client.http.stream("POST", "/chat/completions", json=BODY) as response:
                async for chunk in response.aiter_raw():
                    got.append(chunk)

        async with Client(Cassette.open(path), "replay") as client:
            with case_scope("a"), pytest.raises(httpx2.RemoteProtocolError) as replayed:
                await replay(client)
        assert got == pieces
        assert str(replayed.value) == str(live.value)

    @pytest.mark.parametrize(
        ("error", "kind"),
        [
            ("ReadTimeout: slow", httpx2.ReadTimeout),
            ("DecodingError: x", httpx2.DecodingError),
            ("Client: x", httpx2.ReadError),
            ("SomethingElse", httpx2.ReadError),
        ],
    )
    async def test_error_texts_become_exceptions_of_httpx2_only(
        self, path: Path, recording: Callable[..., Interaction], error: str, kind: type[Exception]
    ) -> None:
        interaction = recording()
        broken = replace(interaction, response=replace(interaction.response, error=error))
        cassette = Cassette.open(path)
        cassette.append(broken)
        async with Client(cassette, "replay") as client:
            with case_scope("a"), pytest.raises(kind) as caught:
                await client.post(interaction.request.json())
        assert type(caught.value) is kind

    async def test_no_answer_at_all_is_not_recorded(self, path: Path) -> None:
        """A model that was down gives no recording, and its ordinal goes to the attempt that succeeds."""

        class Flaky(InProcess):
            async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
                if self.asked == 0:
                    self.asked = 1
                    raise httpx2.ConnectError("refused")
                return await super().handle_async_request(request)

        with Cassette.open(path) as cassette:
            async with Client(cassette, "record", inner=Flaky()) as client:
                with case_scope("a") as scope:
                    with pytest.raises(httpx2.ConnectError):
                        await client.post()
                    await client.post()
        assert only(path).ordinal == 0
        assert [(it.source, it.status, it.error) for it in scope.exchanges] == [
            ("live", 0, "ConnectError: refused"),
            ("recorded", 200, None),
        ]

    async def test_an_unreachable_endpoint(self, path: Path) -> None:
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
            with Cassette.open(path) as cassette:
                async with Client(cassette, "record", url) as client:
                    with pytest.raises(httpx2.ConnectError):
                        await client.post()
        assert not path.exists()

    @pytest.mark.parametrize("status", [429, 500, 503])
    async def test_recording_again_heals_failures(self, path: Path, status: int) -> None:
        """A recorded failure counts as missing, so an outage does not stay in the cassette."""
        await record(path, Reply([b"busy"], status=status, headers=JSON))
        await record(path, stream("a"))
        assert only(path).response.status == 200

    async def test_an_answer_that_would_not_change_is_kept(self, path: Path) -> None:
        await record(path, Reply([b"too long"], status=400, headers=JSON))
        server = await record(path, stream("a"))
        assert server.requests == []
        assert only(path).response.status == 400

    async def test_a_fault_of_the_inner_transport_is_not_recorded(self, path: Path) -> None:
        class Broken(InProcess):
            async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
                raise RuntimeError("bug")

        with Cassette.open(path) as cassette:
            async with Client(cassette, "record", inner=Broken()) as client:
                with case_scope("a") as scope, pytest.raises(RuntimeError, match="bug"):
                    await client.post()
        assert not path.exists()
        assert scope.take(scope.exchanges[0].key) == 0


class TestAbandoned:
    async def test_half_a_stream_is_not_recorded(self, path: Path) -> None:
        gate = asyncio.Event()
        async with serve(Reply([delta("a"), delta("b")], gate=gate), stream("whole")) as server:
            with Cassette.open(path) as cassette:
                async with Client(cassette, "record", server.url) as client:
                    with case_scope("a") as scope:
                        async with client.http.stream(
                            "POST", "/chat/completions", json=BODY
                        ) as response:
                            await anext(response.aiter_raw())
                        gate.set()
                        await client.chunks()
        interaction = only(path)
        assert interaction.response.events[0].data == delta("whole")
        assert interaction.ordinal == 0
        assert [(it.source, it.error) for it in scope.exchanges] == [
            ("live", "abandoned"),
            ("recorded", None),
        ]

    async def test_a_cancelled_request_is_not_recorded(self, path: Path) -> None:
        async with serve(Reply([delta("a"), delta("b")], gate=asyncio.Event())) as server:
            with Cassette.open(path) as cassette:
                async with Client(cassette, "record", server.url) as client:
                    with case_scope("a") as scope, pytest.raises(TimeoutError):
                        async with asyncio.timeout(0.2):
                            await client.chunks()
                    assert scope.exchanges[0].error == "abandoned"
        assert not path.exists()

    async def test_a_caller_that_stops_at_done_has_had_all(self, path: Path) -> None:
        """Clients close at [DONE] and leave the end of the stream unread."""
        gate = asyncio.Event()
        async with serve(Reply([delta("a") + DONE, b": never sent\n\n"], gate=gate)) as server:
            with Cassette.open(path) as cassette:
                async with Client(cassette, "record", server.url) as client:
                    with case_scope("a") as scope:
                        async with client.http.stream(
                            "POST", "/chat/completions", json=BODY
                        ) as response:
                            await anext(response.aiter_raw())
                gate.set()
        assert [event.data for event in only(path).response.events] == [delta("a"), DONE]
        assert [it.source for it in scope.exchanges] == ["recorded"]


class TestModes:
    async def test_rerecord_replaces_at_close(self, path: Path) -> None:
        await record(path, stream("old"))
        before = path.read_bytes()
        async with serve(stream("new")) as server:
            cassette = Cassette.open(path)
            async with Client(cassette, "rerecord", server.url) as client:
                with case_scope("a") as scope:
                    await client.chunks()
            assert path.read_bytes() == before
            cassette.close()
        assert only(path).response.events[0].data == delta("new")
        assert [exchange.source for exchange in scope.exchanges] == ["recorded"]
        assert len(server.requests) == 1

    async def test_live_neither_reads_nor_writes_and_still_measures(self, path: Path) -> None:
        await record(path, stream("old"))
        before = path.read_bytes()
        async with serve(stream("live")) as server:
            with Cassette.open(path) as cassette:
                async with Client(cassette, "live", server.url) as client:
                    with case_scope("a") as scope:
                        assert (await client.chunks())[0] == delta("live")
        assert path.read_bytes() == before
        (exchange,) = scope.exchanges
        assert exchange.source == "live"
        assert exchange.usage is not None
        assert exchange.usage["completion_tokens"] == 3
        assert exchange.first_event_ms is not None
        assert 0 <= exchange.first_event_ms <= exchange.elapsed_ms

    @pytest.mark.parametrize("mode", ["record", "rerecord"])
    async def test_recording_takes_in_what_a_killed_one_left(self, path: Path, mode: str) -> None:
        await record(path, stream("old"))
        interaction = only(path)
        Cassette.open(path).replace(interaction)
        CassetteTransport(Cassette.open(path), mode)
        assert [entry.name for entry in path.parent.iterdir()] == [path.name]

    @pytest.mark.parametrize("mode", ["replay", "live"])
    async def test_other_modes_leave_it(self, path: Path, mode: str) -> None:
        await record(path, stream("old"))
        Cassette.open(path).replace(only(path))
        CassetteTransport(Cassette.open(path), mode)
        assert len(list(path.parent.iterdir())) == 2

    def test_an_unknown_mode(self, path: Path) -> None:
        with pytest.raises(ValueError, match="replayed"):
            CassetteTransport(Cassette.open(path), "replayed")

    def test_replay_is_the_default(self, path: Path) -> None:
        assert CassetteTransport(Cassette.open(path)).mode is Mode.REPLAY

    async def test_the_inner_transport_is_made_once(self, path: Path) -> None:
        made: list[InProcess] = []

        def make() -> httpx2.AsyncBaseTransport:
            made.append(InProcess())
            return made[-1]

        async with Client(Cassette.open(path), "live", inner=make) as client:
            await client.post()
            await client.post()
        assert [inner.asked for inner in made] == [2]
        assert made[0].closed

    async def test_an_inner_transport_must_be_asynchronous(self, path: Path) -> None:
        class Sync(InProcess):
            async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
                class Stream(httpx2.SyncByteStream):
                    pass

                return httpx2.Response(200, stream=Stream())

        async with Client(Cassette.open(path), "live", inner=Sync()) as client:
            with pytest.raises(TypeError, match="asynchronous"):
                await client.post()


class TestSecrets:
    """C4: no credential reaches the file, wherever it was."""

    SECRET = "sk-synthetic/0123+abcdef"

    async def recorded(self, path: Path, reply: Reply, **options: Any) -> str:
        await record(path, reply, **options)
        text = path.read_text()
        for spelling in (self.SECRET, self.SECRET.replace("/", "%2F").replace("+", "%2B")):
            assert spelling not in text
        return text

    async def test_headers(self, path: Path) -> None:
        headers = {"Authorization": f"Bearer {self.SECRET}", "OpenAI-Organization": "org-synthetic"}
        text = await self.recorded(path, stream("a"), headers=headers)
        assert "uthorization" not in text
        assert "org-synthetic" not in text

    async def test_query(self, path: Path) -> None:
        await self.recorded(path, stream("a"), params={"key": self.SECRET, "v": "1"})
        assert only(path).request.path == "/chat/completions?key=***&v=1"

    async def test_body_and_a_replay_with_another_key(self, path: Path) -> None:
        def body(secret: str) -> Any:
            return {**BODY, "user": f"my key: {secret}"}

        headers = {"Authorization": f"Bearer {self.SECRET}"}
        await self.recorded(path, stream("a"), body=body(self.SECRET), headers=headers)
        assert only(path).request.json()["user"] == "my key: ***"
        async with Client(Cassette.open(path), "replay") as client:
            with case_scope("a"):
                other = {"Authorization": "Bearer another-synthetic-key"}
                assert await client.chunks(body("another-synthetic-key"), headers=other)

    @pytest.mark.parametrize(
        "texts",
        [
            [f"your key is {SECRET}"],
            ["your key is sk-syn", "thetic/01", "23+abcdef", " ok"],
        ],
    )
    async def test_echo_in_a_stream(self, path: Path, texts: list[str]) -> None:
        await self.recorded(
            path, stream(*texts), headers={"Authorization": f"Bearer {self.SECRET}"}
        )
        contents = [
            json.loads(event.data.removeprefix(b"data: "))["choices"][0]["delta"]["content"]
            for event in only(path).response.events[: len(texts)]
        ]
        assert "".join(contents).startswith("your key is ***")

    async def test_echo_in_an_error_body_and_header(self, path: Path) -> None:
        body = json.dumps({"error": f"Incorrect API key: {self.SECRET}"}).encode()
        reply = Reply([body], status=401, headers={**JSON, "retry-after": self.SECRET})
        await self.recorded(path, reply, headers={"x-api-key": self.SECRET})

    async def test_url_credentials(self, path: Path) -> None:
        async with serve(stream("a")) as server:
            with Cassette.open(path) as cassette:
                url = server.url.replace("http://", "http://user:synthetic-password@")
                async with Client(cassette, "record", url) as client:
                    await client.chunks({**BODY, "user": "synthetic-password"})
        assert "synthetic-password" not in path.read_text()

    async def test_further_secrets_can_be_named(self, path: Path) -> None:
        with Cassette.open(path) as cassette:
            async with Client(
                cassette, "record", inner=InProcess(), secrets=["answer 1"]
            ) as client:
                await client.post()
        assert only(path).response.body == b"***"

    async def test_what_cannot_be_masked_is_refused(self, path: Path) -> None:
        with Cassette.open(path) as cassette:
            async with Client(cassette, "record", inner=InProcess()) as client:
                with (
                    case_scope(f"case {self.SECRET}"),
                    pytest.raises(CassetteError, match="credential"),
                ):
                    await client.post(headers={"x-api-key": self.SECRET})
        assert not path.exists()

    async def test_the_caller_still_gets_the_true_answer(self, path: Path) -> None:
        async with (
            serve(stream(self.SECRET)) as server,
            Client(Cassette.open(path), "record", server.url) as client,
        ):
            chunks = await client.chunks(headers={"x-api-key": self.SECRET})
        assert chunks[0] == delta(self.SECRET)
        assert self.SECRET.encode() in server.requests[0]
