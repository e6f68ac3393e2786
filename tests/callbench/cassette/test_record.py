"""Recording from a real local server: a tee, complete or not at all, modes."""

# ruff: noqa: ASYNC240 - tests look at small local files

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from callbench.cassette import (
    Cassette,
    CassetteTransport,
    Mode,
    Request,
    canonical_request,
    case_scope,
)

from .synthetic_client import BODY, JSON, Client, InProcess, only, record
from .synthetic_server import DONE, USAGE, Reply, delta, serve, stream


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

    @pytest.mark.trap("C3")
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

    @pytest.mark.trap("C10")
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
