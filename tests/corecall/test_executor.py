"""StepExecutor: runs one Call, fills its parameters first (DESIGN §3.1)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from datetime import date
from typing import Any

import pytest
from pydantic import BaseModel

from corecall.callbacks import CallbackOutput
from corecall.core import CoreCall, DataBase
from corecall.executor import StepExecutor, StepStatus, deep_merge
from corecall.types import (
    CallError,
    CallOutputChunk,
    CallOutputType,
    CallVars,
    NodeInfo,
)

from .support import FakeFunction, FakeReasoning, Pair, executor


class Guest(BaseModel):
    name: str
    age: int


class Booking(DataBase):
    city: str
    guest: Guest


class Result(DataBase):
    pass


class Book(CoreCall, input_model=Booking, output_model=Result):
    error: BaseException | None = None

    async def _init(self, call_vars: CallVars) -> Booking:
        return Booking.model_construct(guest={"name": "Ida"})

    async def _exec(self, input_data: dict[str, Any]) -> AsyncGenerator[CallOutputChunk, None]:
        yield CallOutputChunk(type=CallOutputType.TEXT, content="booked ")
        if self.error:
            raise self.error
        yield CallOutputChunk(type=CallOutputType.DATA, content={"input": input_data})


async def run(runner: StepExecutor, node: NodeInfo | None = None, **given: Any) -> Book:
    call = await Book.instance(runner, node, **given)
    await runner.run(call)
    return call


class TestRunning:
    async def test_chunks_are_recorded_and_the_status_is_success(self) -> None:
        runner = executor()
        assert runner.status is None
        await run(runner)
        assert runner.status is StepStatus.SUCCESS
        assert [c.type for c in runner.chunks] == [CallOutputType.TEXT, CallOutputType.DATA]
        assert runner.input == {"guest": {"name": "Ida"}}

    @pytest.mark.parametrize("to_user", [True, False])
    async def test_chunks_reach_the_sink_only_with_to_user(self, to_user: bool) -> None:
        got: list[CallOutputChunk] = []
        runner = executor()
        runner.sink = got.append
        await run(runner, to_user=to_user)
        assert got == (runner.chunks if to_user else [])

    async def test_an_async_sink_is_awaited(self) -> None:
        got: list[CallOutputChunk] = []

        async def sink(chunk: CallOutputChunk) -> None:
            await asyncio.sleep(0)
            got.append(chunk)

        runner = executor()
        runner.sink = sink
        await run(runner, to_user=True)
        assert len(got) == 2

    async def test_a_call_error_becomes_one_error_chunk_after_what_came(self) -> None:
        runner = executor()
        await run(runner, error=CallError("full", {"code": 7}))
        assert runner.status is StepStatus.ERROR
        assert [c.type for c in runner.chunks] == [CallOutputType.TEXT, CallOutputType.ERROR]
        assert runner.chunks[-1].content == {"message": "full", "data": {"code": 7}}

    @pytest.mark.parametrize("error", [asyncio.CancelledError(), RuntimeError("bug")])
    async def test_cancellation_and_bugs_pass(self, error: BaseException) -> None:
        runner = executor()
        with pytest.raises(type(error)):
            await run(runner, error=error)
        assert runner.status is StepStatus.ERROR

    async def test_a_second_run_starts_afresh(self) -> None:
        runner = executor()
        await run(runner, error=CallError("x"))
        await run(runner)
        assert runner.status is StepStatus.SUCCESS
        assert len(runner.chunks) == 2


class TestFilling:
    async def test_the_slot_completes_the_input_before_the_call_runs(self) -> None:
        reasoning = FakeReasoning([['{"city": "Oslo", "guest": {"age": 41}}']])
        runner = executor(Pair(reasoning))
        await run(runner, enable_filling=True)
        expected = {"city": "Oslo", "guest": {"name": "Ida", "age": 41}}
        assert runner.status is StepStatus.SUCCESS
        assert runner.chunks[-1].content == {"input": expected}
        assert runner.input == expected

    async def test_what_is_still_missing_stops_it_with_the_remaining_schema(self) -> None:
        runner = executor(Pair(FakeReasoning([['{"city": "Oslo"}']]), FakeFunction([{}])))
        await run(runner, enable_filling=True)
        assert runner.status is StepStatus.PARAM
        assert runner.remaining_schema["required"] == ["/guest/age"]
        assert runner.input == {"city": "Oslo", "guest": {"name": "Ida"}}
        assert runner.chunks == []

    async def test_a14_nothing_to_fill_leaves_the_input_as_it_is(self) -> None:
        class Ready(Book, input_model=Booking, output_model=Result):
            async def _init(self, call_vars: CallVars) -> Booking:
                return Booking(city="Oslo", guest=Guest(name="Ida", age=41))

        runner = executor()
        call = await Ready.instance(runner, None, enable_filling=True)
        await runner.run(call)
        assert runner.status is StepStatus.SUCCESS
        assert runner.input == {"city": "Oslo", "guest": {"name": "Ida", "age": 41}}

    async def test_the_nodes_override_is_part_of_the_schema(self) -> None:
        reasoning = FakeReasoning([['{"city": "Rome", "guest": {"age": 41}}']])
        runner = executor(Pair(reasoning, FakeFunction([{"city": "Oslo"}])))
        node = NodeInfo(override={"city": {"enum": ["Oslo"]}})
        await run(runner, node, enable_filling=True)
        assert runner.input["city"] == "Oslo"

    async def test_known_python_values_are_checked_as_json_and_stay_what_they_are(self) -> None:
        class Trip(DataBase):
            day: date
            status: StepStatus
            tickets: bool
            city: str

        class Plan(Book, input_model=Trip, output_model=Result):
            async def _init(self, call_vars: CallVars) -> Any:
                known = {"day": date(2026, 3, 12), "status": StepStatus.PARAM, "tickets": 1}
                return Trip.model_construct(**known)

        runner = executor(Pair(FakeReasoning([['{"city": "Oslo", "tickets": true}']])))
        call = await Plan.instance(runner, None, enable_filling=True)
        assert await runner.run(call) is StepStatus.SUCCESS
        assert call.input == runner.input
        assert runner.input["day"] == date(2026, 3, 12)
        assert runner.input["status"] is StepStatus.PARAM
        assert runner.input["tickets"] is True
        assert runner.input["city"] == "Oslo"

    async def test_a_failing_model_is_an_error_chunk(self) -> None:
        runner = executor(Pair(FakeReasoning([CallError("down")])))
        await run(runner, enable_filling=True)
        assert runner.status is StepStatus.ERROR
        assert runner.chunks[0].content == {"message": "down", "data": {}}

    async def test_without_it_no_model_is_asked(self) -> None:
        await run(executor(Pair(FakeReasoning([]))))


class TestCallbacks:
    """Executing a Call fires the handlers (DESIGN §3.6)."""

    async def test_start_has_the_arguments_and_end_the_output(self) -> None:
        seen: list[tuple[str, str]] = []
        runner = executor()
        runner.callbacks.on_start(lambda given: seen.append(("start", given.arguments_in_json)))
        runner.callbacks.on_end(lambda given: seen.append((given.extra["name"], given.response)))

        @runner.callbacks.on_end_with_stream
        async def on_stream(pieces: AsyncIterator[CallbackOutput]) -> None:
            seen.extend([("piece", piece.response) async for piece in pieces])

        await run(runner)
        data = '{"input": {"guest": {"name": "Ida"}}}'
        assert seen == [
            ("start", '{"guest": {"name": "Ida"}}'),
            ("book", f"booked {data}"),
            ("piece", "booked "),
            ("piece", data),
        ]

    @pytest.mark.parametrize("error", [CallError("x"), RuntimeError("bug")])
    async def test_every_error_that_ends_the_call_is_told(self, error: Exception) -> None:
        seen: list[Exception] = []
        runner = executor()
        runner.callbacks.on_error(seen.append)
        with suppress(RuntimeError):
            await run(runner, error=error)
        assert seen == [error]

    async def test_cancellation_is_no_error(self) -> None:
        seen: list[Exception] = []
        runner = executor()
        runner.callbacks.on_error(seen.append)
        with pytest.raises(asyncio.CancelledError):
            await run(runner, error=asyncio.CancelledError())
        assert seen == []

    async def test_a_call_that_did_not_execute_fires_nothing(self) -> None:
        seen: list[Any] = []
        runner = executor(Pair(FakeReasoning([["{}"]]), FakeFunction([{}])))
        runner.callbacks.on_start(seen.append)
        runner.callbacks.on_error(seen.append)
        await run(runner, enable_filling=True)
        assert seen == []


def test_a15_deep_merge_keeps_siblings_and_its_arguments() -> None:
    base = {"a": {"x": 1, "y": [1]}, "b": 1}
    update = {"a": {"y": [2], "z": 3}, "b": {"c": 4}}
    assert deep_merge(base, update) == {"a": {"x": 1, "y": [2], "z": 3}, "b": {"c": 4}}
    assert base == {"a": {"x": 1, "y": [1]}, "b": 1}
