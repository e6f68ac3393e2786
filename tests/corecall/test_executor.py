"""StepExecutor: runs one call, fills its parameters first, tells the callbacks."""

from __future__ import annotations

import asyncio
import copy
import json
import math
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from datetime import date, datetime
from enum import Enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from corecall.callbacks import CallbackInput, CallbackOutput
from corecall.core import CoreCall, DataBase
from corecall.executor import (
    StepExecutor,
    StepInfo,
    StepStatus,
    Task,
    TaskMetadata,
    TaskRuntime,
    TaskState,
    deep_merge,
)
from corecall.slot.processor import DataError, SchemaError
from corecall.types import (
    CallError,
    CallOutputChunk,
    CallOutputType,
    CallVars,
    LanguageType,
    NodeInfo,
)

from .support import FakeFunction, FakeReasoning, Pair, executor, history

CYCLE: list[Any] = []
CYCLE.append(CYCLE)


def nested(depth: int) -> list[Any]:
    """Return lists inside one another."""
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


NAMED = {"name": "book", "description": "Book a hotel"}


class Guest(BaseModel):
    name: str
    age: int


class Booking(DataBase):
    city: str
    guest: Guest
    note: str | None = None


class Result(DataBase):
    pass


class Book(CoreCall, input_model=Booking, output_model=Result):
    """Yields what it is told to, then raises ``error`` if there is one."""

    error: BaseException | None = None
    yields: list[str | dict[str, Any]] = Field(
        default_factory=lambda: ["booked ", {"城市": "杭州"}]
    )
    events: list[str] = Field(default_factory=list)

    async def _init(self, call_vars: CallVars) -> Booking:
        return Booking.model_construct(guest={"name": "Ida"})

    async def _exec(self, input_data: dict[str, Any]) -> AsyncGenerator[CallOutputChunk, None]:
        self.events.append(f"exec {json.dumps(input_data, default=str)}")
        for content in self.yields:
            kind = CallOutputType.TEXT if isinstance(content, str) else CallOutputType.DATA
            self.events.append(f"made {content}")
            yield CallOutputChunk(type=kind, content=content)
        if self.error:
            raise self.error

    async def _after_exec(self, input_data: dict[str, Any]) -> None:
        self.events.append("after")


def texts(runner: StepExecutor) -> list[str | dict[str, Any]]:
    return [chunk.content for chunk in runner.chunks]


async def run(runner: StepExecutor, node: NodeInfo | None = None, **given: Any) -> Book:
    call = await Book.instance(runner, node, **given)
    await runner.run(call)
    return call


def filling(*replies: str, answers: list[Any] | None = None) -> StepExecutor:
    """Return an executor whose reasoning model answers ``replies``, its function model ``answers``."""
    return executor(Pair(FakeReasoning([[text] for text in replies]), FakeFunction(answers or [])))


class TestTask:
    @pytest.mark.rule("executor.task.1")
    def test_what_may_be_left_out(self) -> None:
        task = Task(metadata=TaskMetadata(id="t", userId="u"))
        assert (task.state, task.context, task.metadata.conversationId) == (None, [], None)
        assert TaskState(executorId="e").appId is None

    @pytest.mark.rule("executor.task.1")
    @pytest.mark.parametrize(
        ("kind", "given", "field"),
        [
            (TaskMetadata, {"id": "t"}, "userId"),
            (TaskMetadata, {"userId": "u"}, "id"),
            (TaskState, {}, "executorId"),
            (Task, {}, "metadata"),
        ],
    )
    def test_what_may_not(self, kind: type[BaseModel], given: dict[str, str], field: str) -> None:
        with pytest.raises(ValueError, match=field):
            kind(**given)

    @pytest.mark.rule("executor.task.2")
    def test_a_task_is_chinese_unless_it_says_otherwise(self) -> None:
        runtime = Task(metadata=TaskMetadata(id="t", userId="u")).runtime
        assert runtime == TaskRuntime(language=LanguageType.CHINESE)
        assert (runtime.sessionId, runtime.reasoning, runtime.now) == (None, None, None)

    @pytest.mark.rule("executor.task.3")
    def test_a_step_has_a_name(self) -> None:
        assert StepInfo(name="n").description == ""
        with pytest.raises(ValueError, match="name"):
            StepInfo(description="d")  # type: ignore[call-arg]


class TestRunning:
    @pytest.mark.rule("executor.run.1", "executor.run.3")
    async def test_success_is_given_and_kept(self) -> None:
        runner = executor()
        assert runner.status is None
        call = await Book.instance(runner, None)
        assert await runner.run(call) is runner.status is StepStatus.SUCCESS
        assert call.events[-1] == "after"

    @pytest.mark.rule("executor.run.1")
    def test_there_are_four_statuses(self) -> None:
        assert {status.value for status in StepStatus} == {"running", "success", "param", "error"}

    @pytest.mark.rule("executor.run.2")
    async def test_it_is_running_until_it_has_ended(self) -> None:
        seen: list[Any] = []
        reasoning = FakeReasoning([['{"city": "Oslo", "guest": {"age": 41}}']])

        class Watching(Book, input_model=Booking, output_model=Result):
            async def _after_exec(self, input_data: dict[str, Any]) -> None:
                seen.append(runner.status)

        class Asked(FakeReasoning):
            async def call(self, *args: Any, **options: Any) -> Any:
                seen.append(runner.status)
                async for piece in reasoning.call(*args, **options):
                    yield piece

        runner = executor(Pair(Asked()))
        runner.callbacks.on_end(lambda _: seen.append(runner.status))
        await runner.run(await Watching.instance(runner, None, enable_filling=True))
        assert seen == [StepStatus.RUNNING] * 3
        assert runner.status is StepStatus.SUCCESS

    @pytest.mark.rule("executor.run.3")
    @pytest.mark.parametrize("yields", [[], [""], ["a", "b"]])
    async def test_success_does_not_depend_on_the_chunks(self, yields: list[Any]) -> None:
        runner = executor()
        await run(runner, yields=yields)
        assert (runner.status, texts(runner)) == (StepStatus.SUCCESS, yields)

    @pytest.mark.rule("executor.run.3")
    async def test_an_error_chunk_of_the_calls_own_is_output(self) -> None:
        class Own(Book, input_model=Booking, output_model=Result):
            async def _exec(self, input_data: dict[str, Any]) -> AsyncGenerator[Any, None]:
                yield CallOutputChunk(type=CallOutputType.ERROR, content="m")

        runner = executor()
        call = await Own.instance(runner, None)
        assert await runner.run(call) is StepStatus.SUCCESS
        assert texts(runner) == ["m"]

    @pytest.mark.rule("executor.run.3", "executor.run.4")
    async def test_a_failing_clean_up_is_no_success(self) -> None:
        class Unclean(Book, input_model=Booking, output_model=Result):
            async def _after_exec(self, input_data: dict[str, Any]) -> None:
                raise CallError("unclean")

        runner = executor()
        call = await Unclean.instance(runner, None)
        assert await runner.run(call) is StepStatus.ERROR
        assert texts(runner)[-1] == {"message": "unclean", "data": {}}

    @pytest.mark.rule("executor.run.1", "executor.run.4")
    async def test_a_call_error_becomes_one_error_chunk_after_what_came(self) -> None:
        runner = executor()
        call = await Book.instance(runner, None, error=CallError("full", {"code": 7}))
        assert await runner.run(call) is StepStatus.ERROR
        assert [chunk.type.value for chunk in runner.chunks] == ["text", "data", "error"]
        assert runner.chunks[-1].content == {"message": "full", "data": {"code": 7}}

    @pytest.mark.parametrize(
        "error",
        [
            pytest.param(RuntimeError("bug"), marks=pytest.mark.rule("executor.run.5")),
            pytest.param(ValueError("bug"), marks=pytest.mark.rule("executor.run.5")),
            pytest.param(asyncio.CancelledError(), marks=pytest.mark.rule("executor.run.6")),
        ],
    )
    async def test_cancellation_and_bugs_pass(self, error: BaseException) -> None:
        runner = executor()
        with pytest.raises(type(error)) as caught:
            await run(runner, error=error, yields=["a"])
        assert caught.value is error
        assert (runner.status, texts(runner)) == (StepStatus.ERROR, ["a"])

    @pytest.mark.rule("executor.run.6")
    async def test_a_run_that_is_canceled_ends_its_call(self) -> None:
        ended: list[bool] = []
        waiting = asyncio.Event()

        class Slow(Book, input_model=Booking, output_model=Result):
            async def _exec(self, input_data: dict[str, Any]) -> AsyncGenerator[Any, None]:
                try:
                    yield CallOutputChunk(type=CallOutputType.TEXT, content="a")
                    waiting.set()
                    await asyncio.Event().wait()
                finally:
                    ended.append(True)

        runner = executor()
        task = asyncio.ensure_future(runner.run(await Slow.instance(runner, None)))
        await waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (ended, runner.status) == ([True], StepStatus.ERROR)

    @pytest.mark.rule("executor.run.7")
    async def test_a_failed_call_is_logged_once(self, caplog: pytest.LogCaptureFixture) -> None:
        await run(executor(), error=CallError("full"))
        (record,) = caplog.records
        assert record.levelname == "ERROR"
        assert "book" in record.getMessage()
        assert "full" in record.getMessage()

    @pytest.mark.rule("executor.run.8")
    async def test_a_second_run_starts_afresh(self) -> None:
        runner = filling('{"city": "Oslo"}', answers=[{}])
        await run(runner, error=CallError("x"))
        await run(runner, enable_filling=True)
        assert (runner.status, runner.chunks) == (StepStatus.PARAM, [])
        await run(runner, yields=["a"])
        assert (runner.status, texts(runner)) == (StepStatus.SUCCESS, ["a"])
        assert runner.remaining_schema == {}
        assert runner.input == {"guest": {"name": "Ida"}}

    @pytest.mark.rule("executor.run.9", "executor.fill.1")
    async def test_what_is_executed_is_the_calls_input(self) -> None:
        reasoning, function = FakeReasoning(), FakeFunction()
        runner = executor(Pair(reasoning, function))
        call = await run(runner)
        assert call.events[0] == 'exec {"guest": {"name": "Ida"}}'
        assert runner.input == call.input == {"guest": {"name": "Ida"}}
        assert reasoning.requests == function.requests == []

    @pytest.mark.rule("executor.run.10")
    async def test_a_run_does_not_write_the_history(self) -> None:
        runner = executor(context=[history("s", {"v": 1})])
        before = copy.deepcopy(runner.task)
        await run(runner)
        assert runner.task == before


class TestEmitting:
    @pytest.mark.rule("executor.emit.1")
    @pytest.mark.parametrize("to_user", [True, False])
    async def test_every_chunk_is_recorded_before_the_next_is_made(self, to_user: bool) -> None:
        counts: list[int] = []

        class Counting(Book, input_model=Booking, output_model=Result):
            async def _exec(self, input_data: dict[str, Any]) -> AsyncGenerator[Any, None]:
                for content in ("a", "", "b"):
                    counts.append(len(runner.chunks))
                    yield CallOutputChunk(type=CallOutputType.TEXT, content=content)

        runner = executor()
        await runner.run(await Counting.instance(runner, None, to_user=to_user))
        assert texts(runner) == ["a", "", "b"]
        assert counts == [0, 1, 2]

    @pytest.mark.parametrize(
        "error",
        [
            pytest.param(None, marks=pytest.mark.rule("executor.emit.2")),
            pytest.param(CallError("full"), marks=pytest.mark.rule("executor.emit.3")),
        ],
    )
    @pytest.mark.parametrize("to_user", [True, False])
    async def test_chunks_reach_the_sink_only_with_to_user(
        self, to_user: bool, error: CallError | None
    ) -> None:
        got: list[CallOutputChunk] = []
        runner = executor()
        runner.sink = got.append
        await run(runner, to_user=to_user, error=error)
        assert len(runner.chunks) == (3 if error else 2)
        assert got == (runner.chunks if to_user else [])

    @pytest.mark.rule("executor.emit.4")
    async def test_an_async_sink_sets_the_pace(self) -> None:
        runner = executor()
        call = await Book.instance(runner, None, to_user=True, yields=["a", "b"])

        async def sink(chunk: CallOutputChunk) -> None:
            await asyncio.sleep(0)
            call.events.append(f"delivered {chunk.content}")

        runner.sink = sink
        await runner.run(call)
        assert call.events[1:-1] == ["made a", "delivered a", "made b", "delivered b"]

    @pytest.mark.rule("executor.emit.5")
    async def test_no_sink_is_needed(self) -> None:
        runner = executor()
        assert runner.sink is None
        await run(runner, to_user=True, yields=["a"])
        assert (runner.status, texts(runner)) == (StepStatus.SUCCESS, ["a"])

    @pytest.mark.rule("executor.emit.6")
    async def test_a_sink_that_fails_fails_the_run(self) -> None:
        def sink(chunk: CallOutputChunk) -> None:
            raise OSError("gone")

        runner = executor()
        runner.sink = sink
        call = await Book.instance(runner, None, to_user=True, yields=["a", "b"])
        with pytest.raises(OSError, match="gone"):
            await runner.run(call)
        assert runner.status is StepStatus.ERROR
        assert "made b" not in call.events

    @pytest.mark.rule("executor.emit.6")
    async def test_a_call_error_of_the_sink_is_an_error_chunk(self) -> None:
        def sink(chunk: CallOutputChunk) -> None:
            if chunk.type is not CallOutputType.ERROR:
                raise CallError("too slow")

        runner = executor()
        runner.sink = sink
        await run(runner, to_user=True, yields=["a", "b"])
        assert texts(runner) == ["a", {"message": "too slow", "data": {}}]

    @pytest.mark.rule("executor.emit.6")
    async def test_what_the_sink_raises_at_the_error_chunk_leaves_the_run(self) -> None:
        def sink(chunk: CallOutputChunk) -> None:
            raise CallError(f"no {chunk.type.value}")

        runner = executor()
        runner.sink = sink
        with pytest.raises(CallError, match="no error"):
            await run(runner, to_user=True, yields=["a"])
        assert runner.status is StepStatus.ERROR


class TestFilling:
    FULL = '{"city": "Oslo", "guest": {"age": 41}}'

    @pytest.mark.rule("executor.fill.1", "executor.fill.4", "executor.fill.6")
    @pytest.mark.trap("A15", "A31", "A32")
    async def test_the_slot_completes_the_input_before_the_call_runs(self) -> None:
        runner = filling(self.FULL)
        call = await run(runner, enable_filling=True)
        expected = {"city": "Oslo", "guest": {"name": "Ida", "age": 41}}
        assert runner.status is StepStatus.SUCCESS
        assert runner.input == call.input == expected
        name, _, executed = call.events[0].partition(" ")
        assert (name, json.loads(executed)) == ("exec", expected)

    @pytest.mark.rule("executor.fill.1")
    async def test_without_it_nothing_is_checked(self) -> None:
        runner = executor(Pair(FakeReasoning([])))
        await run(runner)
        assert runner.status is StepStatus.SUCCESS
        assert runner.remaining_schema == {}

    @pytest.mark.rule("executor.fill.2")
    async def test_the_nodes_override_is_part_of_the_schema(self) -> None:
        runner = filling('{"city": "Rome", "guest": {"age": 41}}', answers=[{"city": "Oslo"}])
        node = NodeInfo(override={"city": {"enum": ["Oslo"]}})
        await run(runner, node, enable_filling=True)
        assert runner.input["city"] == "Oslo"

    @pytest.mark.rule("executor.fill.2")
    async def test_a_node_without_an_override_changes_nothing(self) -> None:
        runner = filling('{"city": "Rome", "guest": {"age": 41}}')
        await run(runner, NodeInfo(), enable_filling=True)
        assert runner.input["city"] == "Rome"

    @pytest.mark.rule("executor.fill.3", "executor.fill.4")
    async def test_what_is_known_is_not_overwritten(self) -> None:
        runner = filling('{"city": "Oslo", "guest": {"name": "Bob", "age": 41}}')
        await run(runner, enable_filling=True)
        assert runner.input["guest"] == {"name": "Ida", "age": 41}

    @pytest.mark.rule("executor.fill.6")
    async def test_what_init_gave_is_not_changed(self) -> None:
        runner = filling(self.FULL)
        call = await Book.instance(runner, None, enable_filling=True)
        given = call.input
        await runner.run(call)
        assert given == {"guest": {"name": "Ida"}}

    @pytest.mark.rule("executor.run.1", "executor.fill.7", "executor.fill.8")
    @pytest.mark.trap("A31")
    async def test_what_is_still_missing_stops_it_with_the_remaining_schema(self) -> None:
        runner = filling('{"city": "Oslo"}', answers=[{}])
        call = await Book.instance(runner, None, enable_filling=True)
        assert await runner.run(call) is runner.status is StepStatus.PARAM
        assert runner.remaining_schema["required"] == ["/guest/age"]
        assert set(runner.remaining_schema["properties"]) == {"/guest/age"}
        assert (runner.chunks, call.events) == ([], [])
        assert runner.input == call.input == {"city": "Oslo", "guest": {"name": "Ida"}}

    @pytest.mark.rule("executor.fill.8")
    async def test_the_next_run_needs_only_the_rest(self) -> None:
        runner = filling('{"city": "Oslo"}', '{"guest": {"age": 41}}', answers=[{}])
        call = await run(runner, enable_filling=True)
        assert await runner.run(call) is StepStatus.SUCCESS
        assert call.input == {"city": "Oslo", "guest": {"name": "Ida", "age": 41}}

    @pytest.mark.rule("executor.fill.9")
    @pytest.mark.trap("A32")
    async def test_what_is_optional_stops_nothing_and_no_default_is_written(self) -> None:
        runner = filling(self.FULL)
        node = NodeInfo(override={"stars": {"type": "integer", "default": 3}})
        await run(runner, node, enable_filling=True)
        assert runner.status is StepStatus.SUCCESS
        assert set(runner.input) == {"city", "guest"}

    @pytest.mark.rule("executor.fill.10")
    @pytest.mark.trap("A14")
    async def test_nothing_to_fill_leaves_the_input_as_it_is(self) -> None:
        class Ready(Book, input_model=Booking, output_model=Result):
            async def _init(self, call_vars: CallVars) -> Booking:
                return Booking(city="Oslo", guest=Guest(name="Ida", age=41))

        reasoning, function = FakeReasoning(), FakeFunction()
        runner = executor(Pair(reasoning, function))
        call = await Ready.instance(runner, None, enable_filling=True)
        await runner.run(call)
        assert runner.status is StepStatus.SUCCESS
        assert runner.input == {"city": "Oslo", "guest": {"name": "Ida", "age": 41}}
        assert reasoning.requests == function.requests == []

    @pytest.mark.rule("executor.fill.15")
    @pytest.mark.parametrize("missing", [True, False])
    async def test_a_null_that_is_not_admitted_is_taken_out(self, missing: bool) -> None:
        class Loose(DataBase):
            when: date
            rows: list[dict[str, int | None]]
            city: str = ""

        class Nulls(Book, input_model=Loose, output_model=Result):
            async def _init(self, call_vars: CallVars) -> Loose:
                given = {} if missing else {"city": "Oslo"}
                rows = [{"x": None, "y": None}]
                return Loose.model_construct(when=date(2026, 3, 12), rows=rows, **given)

        row = {"properties": {"x": {"type": "integer"}, "y": {"type": ["integer", "null"]}}}
        city = {"type": "string", "minLength": 1}
        node = NodeInfo(override={"rows": {"type": "array", "items": row}, "city": city})
        runner = executor(Pair(FakeReasoning([['{"city": "Oslo"}']]), FakeFunction()))
        call = await Nulls.instance(runner, node, enable_filling=True)
        await runner.run(call)
        assert runner.status is StepStatus.SUCCESS
        assert runner.input == {"when": date(2026, 3, 12), "rows": [{"y": None}], "city": "Oslo"}

    @pytest.mark.rule("executor.fill.11", "executor.callback.9")
    async def test_the_slot_leaves_no_trace_in_the_output(self) -> None:
        got: list[CallOutputChunk] = []
        starts: list[CallbackInput] = []
        runner = filling(self.FULL)
        runner.sink = got.append
        runner.callbacks.on_start(starts.append)
        await run(runner, enable_filling=True, to_user=True, yields=["a"])
        assert texts(runner) == [chunk.content for chunk in got] == ["a"]
        assert len(starts) == 1

    @pytest.mark.rule("executor.fill.12", "executor.callback.9")
    async def test_a_failing_model_is_an_error_chunk_and_no_callback(self) -> None:
        seen: list[Any] = []
        runner = executor(Pair(FakeReasoning([CallError("down", {"status": 503})])))
        runner.callbacks.on_start(seen.append)
        runner.callbacks.on_error(seen.append)
        call = await run(runner, enable_filling=True)
        assert runner.status is StepStatus.ERROR
        assert texts(runner) == [{"message": "down", "data": {"status": 503}}]
        assert (seen, call.events) == ([], [])

    @pytest.mark.rule("executor.fill.13")
    async def test_known_values_are_checked_as_json_and_stay_what_they_are(self) -> None:
        class Trip(DataBase):
            day: date
            status: StepStatus
            tickets: bool
            city: str

        class Plan(Book, input_model=Trip, output_model=Result):
            async def _init(self, call_vars: CallVars) -> Any:
                known = {"day": date(2026, 3, 12), "status": StepStatus.PARAM, "tickets": 1}
                return Trip.model_construct(**known)

            async def _exec(self, input_data: dict[str, Any]) -> AsyncGenerator[Any, None]:
                yield CallOutputChunk(type=CallOutputType.DATA, content=input_data)

        runner = filling('{"city": "Oslo", "tickets": true, "day": "2026-03-13"}')
        call = await Plan.instance(runner, None, enable_filling=True)
        assert await runner.run(call) is StepStatus.SUCCESS
        assert call.input == runner.input
        assert runner.input["day"] == date(2026, 3, 12)
        assert runner.input["status"] is StepStatus.PARAM
        assert runner.input["tickets"] is True
        assert runner.input["city"] == "Oslo"

    @pytest.mark.rule("executor.fill.13")
    async def test_known_values_inside_objects_stay_what_they_are_too(self) -> None:
        born = date(1985, 1, 31)

        class Person(BaseModel):
            born: date
            age: int

        class Party(DataBase):
            guest: Person

        class Invite(Book, input_model=Party, output_model=Result):
            async def _init(self, call_vars: CallVars) -> Any:
                return Party.model_construct(guest={"born": born})

        runner = filling('{"guest": {"age": 41}}')
        call = await Invite.instance(runner, None, enable_filling=True, yields=[])
        assert await runner.run(call) is StepStatus.SUCCESS
        assert runner.input == {"guest": {"born": born, "age": 41}}

    @pytest.mark.rule("executor.fill.14", "executor.callback.9")
    async def test_a_schema_that_is_none_passes(self) -> None:
        seen: list[Any] = []
        runner = filling()
        runner.callbacks.on_error(seen.append)
        node = NodeInfo(override={"city": {"type": 1}})
        with pytest.raises(SchemaError):
            await run(runner, node, enable_filling=True)
        assert (runner.status, runner.chunks, seen) == (StepStatus.ERROR, [], [])

    @pytest.mark.rule("executor.fill.13")
    async def test_a_known_map_may_have_keys_that_are_no_text(self) -> None:
        class Hotels(DataBase):
            stars: dict[Any, int]
            city: str

        class Stay(Book, input_model=Hotels, output_model=Result):
            async def _init(self, call_vars: CallVars) -> Any:
                return Hotels.model_construct(stars={3: 5, 1: 2})

        runner = filling('{"city": "Oslo"}')
        call = await Stay.instance(runner, None, enable_filling=True, yields=[])
        assert await runner.run(call) is StepStatus.SUCCESS
        assert runner.input == {"stars": {3: 5, 1: 2}, "city": "Oslo"}

    @pytest.mark.rule("executor.fill.14")
    @pytest.mark.parametrize(
        "value",
        [math.nan, object(), b"\xff", [CYCLE], nested(300)],
        ids=["nan", "object", "bytes", "cycle", "deep"],
    )
    async def test_an_input_that_is_no_json_passes(self, value: Any) -> None:
        class Odd(Book, input_model=Booking, output_model=Result):
            async def _init(self, call_vars: CallVars) -> Any:
                return Booking.model_construct(guest={"age": 41})

        runner = filling()
        call = await Odd.instance(runner, None, enable_filling=True)
        call.input = {"guest": value}
        with pytest.raises(DataError):
            await runner.run(call)
        assert (runner.status, runner.chunks) == (StepStatus.ERROR, [])


class TestCallbacks:
    def hooked(self, *, llm: Any = None) -> tuple[StepExecutor, list[tuple[str, Any]]]:
        seen: list[tuple[str, Any]] = []
        runner = executor(llm)
        runner.callbacks.on_start(lambda given: seen.append(("start", given)))
        runner.callbacks.on_end(lambda given: seen.append(("end", given)))
        runner.callbacks.on_error(lambda given: seen.append(("error", given)))

        @runner.callbacks.on_end_with_stream
        async def on_stream(pieces: AsyncIterator[CallbackOutput]) -> None:
            seen.append(("stream", [piece async for piece in pieces]))

        return runner, seen

    @pytest.mark.rule("executor.callback.1")
    async def test_start_before_and_end_and_stream_after_the_execution(self) -> None:
        runner, seen = self.hooked()

        class Watched(Book, input_model=Booking, output_model=Result):
            async def _exec(self, input_data: dict[str, Any]) -> AsyncGenerator[Any, None]:
                seen.append(("exec", None))
                yield CallOutputChunk(type=CallOutputType.TEXT, content="a")

            async def _after_exec(self, input_data: dict[str, Any]) -> None:
                seen.append(("after", None))

        await runner.run(await Watched.instance(runner, None))
        assert [name for name, _ in seen] == ["start", "exec", "after", "end", "stream"]

    @pytest.mark.rule("executor.callback.2", "executor.callback.5", "executor.callback.6")
    async def test_arguments_and_output_are_text(self) -> None:
        runner, seen = self.hooked()
        await run(runner, yields=["booked ", "", {"城市": "杭州"}])
        given = dict(seen)
        assert given["start"].arguments_in_json == '{"guest": {"name": "Ida"}}'
        assert given["end"].response == 'booked {"城市": "杭州"}'
        assert given["end"].tool_output is None
        pieces = [piece.response for piece in given["stream"]]
        assert pieces == ["booked ", "", '{"城市": "杭州"}']

    @pytest.mark.rule("executor.callback.2")
    async def test_arguments_are_those_that_were_filled(self) -> None:
        runner, seen = self.hooked(llm=Pair(FakeReasoning([[TestFilling.FULL]])))
        await run(runner, enable_filling=True)
        expected = {"city": "Oslo", "guest": {"name": "Ida", "age": 41}}
        assert json.loads(dict(seen)["start"].arguments_in_json) == expected

    @pytest.mark.rule("executor.callback.3")
    async def test_values_without_a_json_form_get_one(self) -> None:
        class Color(Enum):
            RED = "red"

        class Thing:
            def __str__(self) -> str:
                return "a thing"

        class Job(DataBase, extra="allow"):
            pass

        class Paint(Book, input_model=Job, output_model=Result):
            async def _init(self, call_vars: CallVars) -> Any:
                return Job(
                    at=datetime(2026, 3, 12, 9, 5, 7),
                    color=Color.RED,
                    rate=math.nan,
                    top=math.inf,
                    thing=Thing(),
                )

            async def _exec(self, input_data: dict[str, Any]) -> AsyncGenerator[Any, None]:
                yield CallOutputChunk(type=CallOutputType.DATA, content=input_data)

        runner, seen = self.hooked()
        await runner.run(await Paint.instance(runner, None))
        given = dict(seen)
        expected = {
            "at": "2026-03-12T09:05:07",
            "color": "red",
            "rate": None,
            "top": None,
            "thing": "a thing",
        }
        assert json.loads(given["start"].arguments_in_json) == expected
        assert json.loads(given["end"].response) == expected

    @pytest.mark.rule("executor.callback.3")
    @pytest.mark.parametrize("where", ["input", "output"])
    async def test_a_value_that_cannot_be_written_passes_as_an_error(self, where: str) -> None:
        cycle: list[Any] = []
        cycle.append(cycle)
        runner, seen = self.hooked()
        call = await Book.instance(
            runner, None, yields=[{"a": cycle} if where == "output" else "a"]
        )
        if where == "input":
            call.input = {"a": cycle}
        with pytest.raises(ValueError, match=r"[Cc]ircular"):
            await runner.run(call)
        assert runner.status is StepStatus.ERROR
        assert [name for name, _ in seen] == ([] if where == "input" else ["start", "error"])

    @pytest.mark.rule("executor.callback.5", "executor.callback.6")
    @given(st.lists(st.text(max_size=3) | st.just({"n": 1}), max_size=6))
    def test_the_response_is_the_pieces_joined(self, yields: list[Any]) -> None:
        async def told() -> dict[str, Any]:
            runner, seen = self.hooked()
            await run(runner, yields=yields)
            return dict(seen)

        found = asyncio.run(told())
        expected = [text if isinstance(text, str) else '{"n": 1}' for text in yields]
        assert [piece.response for piece in found["stream"]] == expected
        assert found["end"].response == "".join(expected)

    @pytest.mark.rule("executor.callback.4")
    async def test_everything_says_which_call_it_was(self) -> None:
        runner, seen = self.hooked()
        await run(runner, yields=["a", "b"])
        given = dict(seen)
        extras = [given["start"].extra, given["end"].extra]
        extras += [piece.extra for piece in given["stream"]]
        assert extras == [NAMED] * 4

    @pytest.mark.rule("executor.callback.7")
    @pytest.mark.parametrize("error", [CallError("x"), RuntimeError("bug")])
    async def test_every_error_that_ends_the_call_is_told_instead_of_an_end(
        self, error: Exception
    ) -> None:
        runner, seen = self.hooked()
        with suppress(RuntimeError):
            await run(runner, error=error)
        assert [name for name, _ in seen] == ["start", "error"]
        assert seen[-1][1] is error

    @pytest.mark.rule("executor.callback.7")
    async def test_the_error_is_told_before_the_user_sees_it(self) -> None:
        runner, seen = self.hooked()
        runner.sink = lambda chunk: seen.append(("chunk", chunk.type.value))
        await run(runner, error=CallError("x"), to_user=True, yields=["a"])
        assert [name for name, _ in seen] == ["start", "chunk", "error", "chunk"]

    @pytest.mark.rule("executor.callback.8")
    async def test_cancellation_is_no_error(self) -> None:
        runner, seen = self.hooked()
        with pytest.raises(asyncio.CancelledError):
            await run(runner, error=asyncio.CancelledError())
        assert [name for name, _ in seen] == ["start"]

    @pytest.mark.rule("executor.callback.9")
    async def test_a_call_that_did_not_execute_fires_nothing(self) -> None:
        runner, seen = self.hooked(llm=Pair(FakeReasoning([["{}"]]), FakeFunction([{}])))
        await run(runner, enable_filling=True)
        assert runner.status is StepStatus.PARAM
        assert seen == []

    @pytest.mark.rule("executor.callback.10")
    @pytest.mark.parametrize("to_user", [True, False])
    async def test_handlers_are_told_what_the_user_is_not(self, to_user: bool) -> None:
        runner, seen = self.hooked()
        await run(runner, to_user=to_user)
        assert [name for name, _ in seen] == ["start", "end", "stream"]


json_objects = st.recursive(
    st.dictionaries(st.sampled_from("abc"), st.integers(), max_size=3),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner | st.lists(st.integers())),
)


class TestDeepMerge:
    @pytest.mark.rule("executor.fill.4", "executor.fill.5")
    @pytest.mark.trap("A15")
    def test_it_keeps_siblings_and_replaces_all_but_objects(self) -> None:
        base = {"a": {"x": 1, "y": [1]}, "b": 1, "c": {"d": 1}}
        update = {"a": {"y": [2], "z": 3}, "b": {"c": 4}, "c": 5}
        expected = {"a": {"x": 1, "y": [2], "z": 3}, "b": {"c": 4}, "c": 5}
        assert deep_merge(base, update) == expected
        assert base == {"a": {"x": 1, "y": [1]}, "b": 1, "c": {"d": 1}}

    @pytest.mark.rule("executor.fill.4", "executor.fill.5")
    def test_it_shares_nothing_with_the_update(self) -> None:
        update = {"a": {"list": [1]}, "b": [2]}
        merged = deep_merge({"a": {"x": 1}}, update)
        merged["a"]["list"].append(3)
        merged["b"].append(3)
        assert update == {"a": {"list": [1]}, "b": [2]}

    @pytest.mark.rule("executor.fill.4", "executor.fill.5")
    @given(json_objects, json_objects)
    def test_each_leaf_is_the_updates_or_else_the_bases(
        self, base: dict[str, Any], update: dict[str, Any]
    ) -> None:
        before = copy.deepcopy((base, update))

        def check(merged: Any, old: Any, new: Any) -> None:
            if isinstance(old, dict) and isinstance(new, dict):
                assert set(merged) == set(old) | set(new)
                for key in merged:
                    if key not in new:
                        assert merged[key] == old[key]
                    else:
                        check(merged[key], old.get(key), new[key])
            else:
                assert merged == new

        check(deep_merge(base, update), base, update)
        assert (base, update) == before
