"""What a run under faults finds: systems that cheat, crash or forget are caught, honest ones are not."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from callbench.cassette import (
    Cassette,
    CassetteTransport,
    Event,
    Interaction,
    Response,
    canonical_request,
    request_key,
)
from callbench.cassette.faults import Faults, Plan
from callbench.cassette.faults.declared import fault
from callbench.cassette.replay import Timing
from callbench.dataset.case import Case, Tool
from callbench.run.engine import run_cases
from callbench.run.faults import FaultySystem, VirtualTime, faults_document
from callbench.scoring.outcome import Outcome

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "nights": {"type": "integer"}},
    "required": ["city", "nights"],
}
URL = "http://synthetic/v1/chat/completions"


def case(number: int, **data: Any) -> Case:
    return Case(
        id=f"case-{number}",
        lang="en",
        tool=Tool("book", "Book"),
        schema=SCHEMA,
        question=f"{number} nights in Oslo",
        expected={"city": "Oslo", "nights": number},
        data=data,
    )


CASES = [case(number) for number in range(1, 9)]


def body(number: int, stage: int) -> bytes:
    asked = {"model": "s", "messages": [{"role": "user", "content": f"{number}/{stage}"}]}
    return json.dumps({**asked, "stream": stage == 1}).encode()


def recording(number: int, stage: int, value: dict[str, Any]) -> Interaction:
    request = canonical_request("POST", "/v1/chat/completions", body(number, stage))
    message = {"message": {"content": json.dumps(value)}, "finish_reason": "stop"}
    data = json.dumps({"choices": [message]}).encode()
    response = Response(200, {"content-type": "application/json"}, (Event(1, data),), elapsed_ms=2)
    return Interaction(request_key(request), f"case-{number}", 0, request, response)


class TwoStages:
    """Asks for the city, then for the nights; ``spoil`` may change what comes of it."""

    def __init__(
        self,
        cassette: Cassette,
        faults: Faults,
        time: VirtualTime,
        spoil: Callable[[Case, Outcome], Outcome] = lambda case, outcome: outcome,
    ) -> None:
        transport = CassetteTransport(cassette, faults=faults, timing=Timing(sleep=time.sleep))
        self._http = httpx2.AsyncClient(transport=transport, timeout=60)
        self._spoil = spoil

    async def fill(self, case: Case) -> Outcome:
        number = int(case.id.partition("-")[2])
        data: dict[str, Any] = dict(case.data)
        by = {f"/{key}": "known" for key in data}
        for stage in (1, 2):
            try:
                response = await self._http.post(URL, content=body(number, stage))
                response.raise_for_status()
            except (httpx2.TransportError, httpx2.HTTPStatusError) as error:
                failed = Outcome(status="provider_error", slot_data=case.data, error=str(error))
                return self._spoil(case, failed)
            try:
                text = response.json()["choices"][0]["message"]["content"]
                given = json.loads(text)
            except (ValueError, TypeError):
                given = {}
            for key, value in given.items():
                if key not in data and type(value) in (str, int):
                    data[key] = value
                    by[f"/{key}"] = f"stage{stage}"
        return self._spoil(case, Outcome(slot_data=data, filled_by=by))


@pytest.fixture
def cassette(tmp_path: Path) -> Cassette:
    cassette = Cassette.open(tmp_path / "synthetic.cassette.jsonl")
    for number in range(1, 9):
        cassette.append(recording(number, 1, {"city": "Oslo"}))
        cassette.append(recording(number, 2, {"nights": number}))
    return cassette


async def run(
    cassette: Cassette,
    *declared: dict[str, Any],
    cases: list[Case] = CASES,
    concurrency: int = 1,
    deadline: float = 300,
    spoil: Callable[[Case, Outcome], Outcome] = lambda case, outcome: outcome,
) -> dict[str, Any]:
    faults = Faults(Plan(tuple(fault(one) for one in declared), seed=7))
    system = TwoStages(cassette, faults, VirtualTime(deadline), spoil)
    faulty = FaultySystem(system, faults, deadline)
    async for done in run_cases(cases, faulty, concurrency=concurrency, deadline=300):
        assert done.miss is None
    return faults_document(faulty)


NONE = {"crashed": 0, "false_success": 0, "lost_slot": 0}


class TestAnHonestSystem:
    async def test_what_breaks_and_what_does_not(self, cassette: Cassette) -> None:
        document = await run(
            cassette,
            {"name": "status", "cases": ["case-1"], "turn": 1},
            {"name": "fenced-json", "cases": ["case-2"], "turn": 1},
            {"name": "nulls", "cases": ["case-3"], "turn": 2},
            {"name": "prose-after", "cases": ["none"]},
        )
        assert document["violations"] == NONE
        rows = {row["fault"]: row for row in document["rows"]}
        assert rows["status"]["provider_error"] == 1  # this system does not ask again
        assert rows["fenced-json"]["broke"] == ["case-2"]  # nor does it read fences
        assert rows["nulls"]["broke"] == ["case-3"]
        assert (rows["nulls"]["slots_before"], rows["nulls"]["slots_after"]) == (2, 1)
        assert rows["prose-after"]["cases"] == 0
        assert (document["cases"], document["broke"]) == (3, 3)

    async def test_a_fault_with_no_place_is_told(self, cassette: Cassette) -> None:
        document = await run(cassette, {"name": "cr-line-ends"})
        assert (document["cases"], document["rows"][0]["impossible"]) == (0, 8)

    async def test_any_number_of_workers_finds_the_same(self, cassette: Cassette) -> None:
        rules = [{"name": "malformed-json", "rate": 0.5}, {"name": "reset", "rate": 0.5}]
        alone = await run(cassette, *rules)
        assert await run(cassette, *rules, concurrency=5) == alone
        assert await run(cassette, *rules, cases=CASES[::-1]) == alone
        assert 0 < alone["cases"] <= 8

    @pytest.mark.trap("E1", "E2")
    async def test_a_stall_ends_at_the_deadline_and_takes_no_time(self, cassette: Cassette) -> None:
        """TRAPS E1, E2."""
        document = await run(cassette, {"name": "stall", "turn": 1}, deadline=5)
        (row,) = document["rows"]
        assert row["provider_error"] == 8
        assert {one["error"] for one in document["met"]} == {"no result within 5 seconds"}


class TestWhatMayNeverBe:
    async def test_a_value_from_nowhere_is_a_false_success(self, cassette: Cassette) -> None:
        def invent(case: Case, outcome: Outcome) -> Outcome:
            by = {**outcome.filled_by, "/nights": "stage2"}
            return Outcome(slot_data=dict(case.expected), filled_by=by)

        rule = {"name": "malformed-json", "turn": 2, "cases": ["case-1", "case-2"]}
        document = await run(cassette, rule, spoil=invent)
        assert document["rows"][0]["false_success"] == ["case-1", "case-2"]
        assert document["violations"] == {**NONE, "false_success": 2}

    async def test_also_of_a_system_that_does_not_tell_its_stages(self, cassette: Cassette) -> None:
        def invent(case: Case, outcome: Outcome) -> Outcome:
            return Outcome(slot_data=dict(case.expected))

        document = await run(cassette, {"name": "status", "times": "always"}, spoil=invent)
        assert document["violations"]["false_success"] == 8

    async def test_an_answer_that_came_after_all_is_none(self, cassette: Cassette) -> None:
        def honest(case: Case, outcome: Outcome) -> Outcome:
            return Outcome(slot_data=dict(case.expected))

        document = await run(cassette, {"name": "fenced-json"}, spoil=honest)
        assert document["violations"] == NONE
        assert document["rows"][0]["exact"] == 8

    async def test_a_crash(self, cassette: Cassette) -> None:
        def crash(case: Case, outcome: Outcome) -> Outcome:
            if outcome.slot_data.get("nights") is None:
                raise KeyError("nights")
            return outcome

        document = await run(cassette, {"name": "nulls", "turn": 2}, spoil=crash)
        assert document["violations"] == {**NONE, "crashed": 8}
        assert document["met"][0]["error"] == "KeyError: 'nights'"

    async def test_a_known_value_that_is_gone(self, cassette: Cassette) -> None:
        def forget(case: Case, outcome: Outcome) -> Outcome:
            if "nights" in outcome.slot_data:
                return outcome
            return Outcome(slot_data={})

        known = [case(1, city="Oslo")]
        document = await run(cassette, {"name": "nulls", "turn": 2}, cases=known, spoil=forget)
        assert document["violations"] == {**NONE, "lost_slot": 1}

    async def test_what_stage_1_filled_after_a_fault_of_stage_2(self, cassette: Cassette) -> None:
        def forget(case: Case, outcome: Outcome) -> Outcome:
            if "nights" in outcome.slot_data:
                return outcome
            return Outcome(slot_data={}, filled_by={})

        document = await run(cassette, {"name": "nulls", "stage": "stage2"}, spoil=forget)
        assert document["violations"] == {**NONE, "lost_slot": 8}

    async def test_a_system_that_crashes_without_a_fault_is_the_users_error(
        self, cassette: Cassette
    ) -> None:
        class Broken:
            async def fill(self, case: Case) -> Outcome:
                raise ValueError("mine")

        faulty = FaultySystem(Broken(), Faults(Plan((fault({"name": "nulls"}),))), 5)
        with pytest.raises(ValueError, match="mine"):
            async for _ in run_cases(CASES, faulty, concurrency=1, deadline=5):
                pass

    @pytest.mark.trap("E1", "E2")
    async def test_a_system_that_hangs_is_noted_once(self, cassette: Cassette) -> None:
        """TRAPS E1, E2."""
        faults = Faults(Plan((fault({"name": "nulls"}),)))
        honest = TwoStages(cassette, faults, VirtualTime(5))

        class Hanging:
            times = 0

            async def fill(self, case: Case) -> Outcome:
                outcome = await honest.fill(case)
                self.times += 1
                if self.times > 1:
                    await asyncio.sleep(600)
                return outcome

        faulty = FaultySystem(Hanging(), faults, 1)
        done = [one async for one in run_cases(CASES[:1], faulty, concurrency=1, deadline=1)]
        assert [one.outcome.status for one in done] == ["provider_error"]
        assert [one["faulty"] for one in faults_document(faulty)["met"]] == ["provider_error"]
