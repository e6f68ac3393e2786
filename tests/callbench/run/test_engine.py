"""Running cases: order, bounds, deadlines, one result per case."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from callbench.cassette.scope import Exchange, current_scope
from callbench.dataset.case import Case, Tool
from callbench.errors import CassetteError
from callbench.run.engine import Done, run_cases
from callbench.scoring.outcome import Outcome


def cases(count: int) -> list[Case]:
    tool = Tool(name="t")
    return [
        Case(id=str(n), lang="en", tool=tool, schema={}, question="", expected={})
        for n in range(count)
    ]


class Scripted:
    """Finishes later cases first, and keeps how many were in flight."""

    def __init__(self, delay: float = 0.0) -> None:
        self.delay = delay
        self.running = 0
        self.most = 0
        self.finished: list[str] = []
        self.cancelled: list[str] = []

    async def fill(self, case: Case) -> Outcome:
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await asyncio.sleep(self.delay)
            for _ in range(20 - int(case.id) % 20):
                await asyncio.sleep(0)
        except asyncio.CancelledError:
            self.cancelled.append(case.id)
            raise
        finally:
            self.running -= 1
        self.finished.append(case.id)
        return Outcome(slot_data={"id": case.id})


async def collect(system: object, count: int, concurrency: int, deadline: float = 9) -> list[Done]:
    return [
        done
        async for done in run_cases(
            cases(count),
            system,
            concurrency=concurrency,
            deadline=deadline,  # type: ignore[arg-type]
        )
    ]


@pytest.mark.parametrize("concurrency", [1, 3, 50])
async def test_results_come_in_the_order_of_the_dataset_one_per_case(concurrency: int) -> None:
    system = Scripted()
    found = await collect(system, 20, concurrency)
    assert [done.case.id for done in found] == [str(n) for n in range(20)]
    assert [done.outcome.slot_data["id"] for done in found] == [done.case.id for done in found]
    assert system.most == min(concurrency, 20)


@pytest.mark.trap("E3")
async def test_e3_no_more_is_begun_than_may_wait() -> None:
    system = Scripted()
    begun: list[str] = []

    def lazily() -> object:
        for case in cases(100):
            begun.append(case.id)
            yield case

    stream = run_cases(lazily(), system, concurrency=4, deadline=9)  # type: ignore[arg-type]
    async with aclosing(stream):  # type: ignore[type-var]
        async for _ in stream:
            assert len(begun) <= 5
            break


@pytest.mark.trap("E1", "E2")
@pytest.mark.parametrize("concurrency", [1, 2])
async def test_e1_e2_a_case_beyond_its_deadline_is_cancelled_and_counted(concurrency: int) -> None:
    system = Scripted(delay=5)
    found = await collect(system, 2, concurrency, deadline=0.02)
    assert [done.outcome.status for done in found] == ["provider_error"] * 2
    assert "0.02 seconds" in found[0].outcome.error
    assert sorted(system.cancelled) == ["0", "1"]
    assert system.finished == []


async def test_leaving_early_cancels_what_is_in_flight() -> None:
    system = Scripted(delay=0.01)
    stream = run_cases(cases(10), system, concurrency=3, deadline=9)
    async for _ in stream:
        break
    await stream.aclose()  # type: ignore[attr-defined]
    assert system.running == 0
    assert len(system.finished) < 10


@pytest.mark.parametrize("concurrency", [1, 2])
async def test_a_fault_of_the_system_is_raised_as_it_is(concurrency: int) -> None:
    class Broken:
        async def fill(self, case: Case) -> Outcome:
            raise ValueError("bug")

    with pytest.raises(ValueError, match="bug"):
        await collect(Broken(), 4, concurrency)


async def test_a_miss_is_told_apart_from_a_provider_error() -> None:
    class Missing:
        async def fill(self, case: Case) -> Outcome:
            raise CassetteError("no recording")

    (done,) = await collect(Missing(), 1, 1)
    assert isinstance(done.miss, CassetteError)


async def test_what_a_case_took_is_the_sum_of_its_exchanges() -> None:
    class Asking:
        async def fill(self, case: Case) -> Outcome:
            scope = current_scope()
            assert scope is not None
            assert scope.case == case.id
            usage = {"prompt_tokens": 10, "completion_tokens": 3}
            for ordinal, (ms, first) in enumerate([(40, 15), (60, 5)]):
                scope.add(Exchange("k", case.id, ordinal, "replayed", 200, ms, first, usage))
            scope.add(Exchange("k", case.id, 2, "replayed", 200, 1))
            return Outcome()

    class Silent:
        async def fill(self, case: Case) -> Outcome:
            return Outcome()

    (done,) = await collect(Asking(), 1, 1)
    spent = done.spent
    assert (spent.calls, spent.prompt_tokens, spent.completion_tokens) == (3, 20, 6)
    assert (spent.ms, spent.first_event_ms) == (101.0, 15)
    (done,) = await collect(Silent(), 1, 1)
    assert (done.spent.calls, done.spent.prompt_tokens, done.spent.first_event_ms) == (
        0,
        None,
        None,
    )
