"""Failures of an endpoint, recorded and replayed, or left out and made good."""

# ruff: noqa: ASYNC240 - tests look at small local files

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest

from callbench.cassette import (
    Cassette,
    Interaction,
    case_scope,
)

from .synthetic_client import BODY, JSON, Client, InProcess, only, record
from .synthetic_server import Reply, delta, serve, stream


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

    async def test_recording_again_heals_cut_streams(self, path: Path) -> None:
        with pytest.raises(httpx2.RemoteProtocolError):
            await record(path, Reply([delta("ha")], cut=True))
        assert only(path).response.failed
        await record(path, stream("whole"))
        assert only(path).response.events[0].data == delta("whole")

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
