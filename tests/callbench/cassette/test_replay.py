"""Replaying without a server: event by event, each case its own answers; a miss that helps."""

# ruff: noqa: ASYNC240 - tests look at small local files

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from typing import Any

import httpx2
import pytest

from callbench.cassette import (
    Cassette,
    CassetteMiss,
    CassetteTransport,
    Interaction,
    case_scope,
)
from callbench.errors import CassetteError, ExitCode

from .synthetic_client import BODY, Client, InProcess, only, record
from .synthetic_server import DONE, USAGE, Reply, delta, stream

REAL_CONNECT = socket.socket.connect


REAL_CREATE = asyncio.BaseEventLoop.create_connection


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any attempt to open a connection fails the test."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(asyncio.BaseEventLoop, "create_connection", refuse)


async def recorded_in_thread(path: Path, *replies: Reply) -> list[Interaction]:
    """Record with the network on although the test has it off."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", REAL_CONNECT)
        patch.setattr(asyncio.BaseEventLoop, "create_connection", REAL_CREATE)
        await record(path, *replies)
    return list(Cassette.open(path))


class TestReplay:
    @pytest.mark.trap("C3")
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

    @pytest.mark.trap("C6", "C7")
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

    @pytest.mark.trap("C9")
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

    async def test_a_chinese_request_is_near_to_the_one_with_most_of_its_characters(
        self, path: Path
    ) -> None:
        def body(content: str) -> dict[str, Any]:
            return {"model": "m", "messages": [{"role": "user", "content": content}]}

        asked = ("今天天气怎么样", "帮我订明天去北京的火车票", "把会议改到下午")
        with Cassette.open(path) as cassette:
            async with Client(cassette, "record", inner=InProcess()) as client:
                for number, content in enumerate(asked):
                    with case_scope(f"case {number}"):
                        await client.post(body(content))
        nearest = (await self.miss(path, body("帮我订后天去北京的机票"), "new")).nearest
        assert nearest is not None
        assert nearest.interaction.case == "case 1"

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
