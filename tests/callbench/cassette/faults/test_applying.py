"""Faults over replay: through the transport and the reference client, as a run meets them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import httpx2
import pytest

from callbench.cassette import Cassette, CassetteMiss, CassetteTransport, case_scope
from callbench.cassette.faults import Faults, Plan
from callbench.cassette.faults.declared import fault
from callbench.cassette.replay import Timing
from corecall.providers import ChatClient, Endpoint

from .synthetic import TEXT, recording, request

Messages = list[dict[str, Any]]


@pytest.fixture
def cassette(tmp_path: Path) -> Cassette:
    cassette = Cassette.open(tmp_path / "synthetic.cassette.jsonl")
    for case in ("a", "b"):
        cassette.append(recording(case=case))
        cassette.append(recording(case=case, streamed=False))
    return cassette


class Asking:
    """A client of one case; ``slept`` is what it would have waited for."""

    def __init__(self, cassette: Cassette, *faults: dict[str, Any], timeout: float = 60) -> None:
        self.faults = Faults(Plan(tuple(fault(one) for one in faults), seed=7))
        self.slept: list[float] = []
        transport = CassetteTransport(
            cassette, faults=self.faults, timing=Timing(sleep=self._sleep)
        )
        self.http = httpx2.AsyncClient(transport=transport, timeout=timeout)

    async def _sleep(self, seconds: float) -> None:
        assert not math.isinf(seconds), "a stall is bounded by the client's timeout"
        self.slept.append(seconds)

    async def ask(self, case: str, *, streamed: bool = True, times: int = 1) -> list[Any]:
        got: list[Any] = []
        with case_scope(case) as scope:
            self.visit = self.faults.arm(scope)
            for _ in range(times):
                try:
                    response = await self.http.post(
                        "http://synthetic/v1/chat/completions", content=request(streamed).body
                    )
                    got.append((response.status_code, response.content))
                except httpx2.TransportError as error:
                    got.append(type(error).__name__)
        return got


class TestAttempts:
    async def test_the_next_attempt_gets_the_clean_answer(self, cassette: Cassette) -> None:
        asking = Asking(cassette, {"name": "status", "code": 503})
        first, second = await asking.ask("a", times=2)
        assert (first[0], second) == (503, (200, recording().response.body))
        assert "stage1" in asking.visit.sound

    async def test_times_counts_the_failing_attempts_of_a_turn(self, cassette: Cassette) -> None:
        asking = Asking(cassette, {"name": "reset", "times": 2})
        got = await asking.ask("a", times=3)
        assert got[:2] == ["ReadError", "ReadError"]
        assert got[2][0] == 200

    async def test_always_is_always(self, cassette: Cassette) -> None:
        asking = Asking(cassette, {"name": "status", "times": "always"})
        assert [status for status, _ in await asking.ask("a", times=4)] == [503] * 4
        assert not asking.visit.sound

    async def test_the_reference_retries_and_honors_retry_after(self, cassette: Cassette) -> None:
        waits: list[float] = []

        async def sleep(seconds: float) -> None:
            waits.append(seconds)

        faults = Faults(Plan((fault({"name": "status", "code": 429, "retry_after": 9}),)))
        client = ChatClient(
            Endpoint("http://synthetic/v1", "synthetic"),
            transport=CassetteTransport(cassette, faults=faults),
            sleep=sleep,
        )
        body = json.loads(request(False).body)
        with case_scope("a") as scope:
            faults.arm(scope)
            completion = await client.complete(
                body["messages"], {"response_format": body["response_format"]}
            )
        assert completion.content == TEXT
        assert waits == [9]


class TestTimes:
    @pytest.mark.trap("E1")
    async def test_a_stall_ends_at_the_timeout_of_the_client(self, cassette: Cassette) -> None:
        """TRAPS E1."""
        asking = Asking(cassette, {"name": "stall"}, timeout=20)
        assert await asking.ask("a") == ["ReadTimeout"]
        assert asking.slept == [20]

    async def test_a_wait_below_it_is_only_slow(self, cassette: Cassette) -> None:
        asking = Asking(cassette, {"name": "slow-first-byte", "seconds": 5}, timeout=20)
        assert await asking.ask("a") == [(200, recording().response.body)]
        assert asking.slept == [5]


class TestScopes:
    async def test_only_what_was_armed_is_faulty(self, cassette: Cassette) -> None:
        asking = Asking(cassette, {"name": "refusal"})
        with case_scope("a"):
            response = await asking.http.post(
                "http://synthetic/v1/chat/completions", content=request(True).body
            )
        assert response.content == recording().response.body

    async def test_the_order_of_cases_does_not_matter(self, cassette: Cassette) -> None:
        rule = {"name": "cut-in-character", "rate": 0.5}
        one, other = Asking(cassette, rule), Asking(cassette, rule)
        forth = {case: await one.ask(case, streamed=s) for case in "ab" for s in (True, False)}
        back = {case: await other.ask(case, streamed=s) for case in "ba" for s in (True, False)}
        assert forth == back

    def test_they_are_for_replay(self, cassette: Cassette) -> None:
        with pytest.raises(ValueError, match="replay"):
            CassetteTransport(cassette, "record", faults=Faults(Plan(())))


class TestFollowUps:
    async def _other(self, asking: Asking, *, streamed: bool = False) -> httpx2.Response:
        return await asking.http.post(
            "http://synthetic/v1/chat/completions", content=request(streamed, "something else").body
        )

    async def test_what_is_asked_next_gets_what_the_case_was_answered(
        self, cassette: Cassette
    ) -> None:
        asking = Asking(cassette, {"name": "fenced-json", "stage": "stage1"})
        with case_scope("a") as scope:
            asking.faults.arm(scope)
            await asking.http.post(
                "http://synthetic/v1/chat/completions", content=request(True).body
            )
            response = await self._other(asking)
        assert response.json()["choices"][0]["message"]["content"] == TEXT

    async def test_with_nothing_recorded_the_last_answer_comes_again_with_its_fault(
        self, tmp_path: Path
    ) -> None:
        alone = Cassette.open(tmp_path / "alone.cassette.jsonl")
        alone.append(recording(case="a"))
        asking = Asking(alone, {"name": "malformed-json", "how": "brace", "stage": "stage1"})
        with case_scope("a") as scope:
            visit = asking.faults.arm(scope)
            await asking.http.post(
                "http://synthetic/v1/chat/completions", content=request(True).body
            )
            response = await self._other(asking)
        assert response.json()["choices"][0]["message"]["content"] == TEXT[:-1]
        assert not visit.sound

    async def test_a_miss_without_a_changed_answer_is_a_miss(self, cassette: Cassette) -> None:
        asking = Asking(cassette, {"name": "cr-line-ends"})
        with case_scope("a") as scope:
            asking.faults.arm(scope)
            await asking.http.post(
                "http://synthetic/v1/chat/completions", content=request(True).body
            )
            with pytest.raises(CassetteMiss):
                await self._other(asking)

    async def test_nothing_of_it_reaches_the_file(self, cassette: Cassette) -> None:
        before = cassette.path.read_bytes()
        asking = Asking(cassette, {"name": "nulls"})
        await asking.ask("a")
        assert cassette.path.read_bytes() == before
