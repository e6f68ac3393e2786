"""Operations that build values and run scripted calls: what a call yields and a model answers is given."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

from corecall.callbacks import CallbackInput, CallbackOutput
from corecall.core import CoreCall, DataBase
from corecall.executor import StepExecutor, StepInfo, Task, TaskMetadata, TaskRuntime, TaskState
from corecall.llm.llm import LLM
from corecall.llm.schema import LLMInput, LLMOutput
from corecall.slot.schema import SlotInput, SlotOutput
from corecall.slot.slot import Slot
from corecall.types import (
    CallError,
    CallIds,
    CallInfo,
    CallOutputChunk,
    CallVars,
    ExecutorBackground,
    ExecutorHistory,
    LanguageType,
    NodeInfo,
)

_TYPES = {
    kind.__name__: kind
    for kind in (
        CallIds,
        CallInfo,
        CallOutputChunk,
        CallVars,
        ExecutorBackground,
        ExecutorHistory,
        LLM,
        LLMInput,
        LLMOutput,
        NodeInfo,
        Slot,
        SlotInput,
        SlotOutput,
        StepInfo,
        Task,
        TaskRuntime,
    )
}


def core_build(inputs: dict[str, Any]) -> Any:
    return _TYPES[inputs["type"]](**inputs["value"]).model_dump(mode="json")


class _Bare(CoreCall, input_model=DataBase, output_model=DataBase):
    """A call that writes nothing of its own."""


def core_info(inputs: dict[str, Any]) -> Any:
    kinds: dict[str, type[CoreCall]] = {"LLM": LLM, "Slot": Slot, "none": _Bare}
    kind = kinds[inputs["type"]]
    languages = [LanguageType(inputs["language"])] if "language" in inputs else []
    return kind.info(*languages).model_dump()


def core_vars(inputs: dict[str, Any]) -> Any:
    executor = StepExecutor(
        task=Task.model_validate(inputs["task"]),
        question=inputs["question"],
        background=ExecutorBackground.model_validate(inputs["background"]),
        llm=_Models([], []),
        step=StepInfo(name="step"),
    )
    return CoreCall._assemble_call_vars(executor).model_dump(mode="json")


@dataclass
class _Piece:
    content: str | None


class _Models:
    """The reasoning and the function model at once, answering what the script says."""

    def __init__(
        self, replies: list[list[str | None]], answers: list[Any], fails: str = ""
    ) -> None:
        self.replies, self.answers, self.fails = replies, answers, fails
        self.asked: list[dict[str, Any]] = []
        self.reasoning = _Reasoning(self)
        self.function = _Function(self)


class _Reasoning:
    def __init__(self, script: _Models) -> None:
        self.script = script

    async def call(self, messages: list[dict[str, str]], **options: Any) -> AsyncIterator[_Piece]:
        self.script.asked.append(options)
        for text in self.script.replies.pop(0):
            yield _Piece(text)
        if self.script.fails:
            raise OSError(self.script.fails)


class _Function:
    def __init__(self, script: _Models) -> None:
        self.script = script
        self.asked = 0

    async def call(self, messages: list[dict[str, str]], schema: dict[str, Any]) -> dict[str, Any]:
        self.asked += 1
        answer: dict[str, Any] | None = self.script.answers.pop(0)
        if answer is None:
            raise CallError("down")
        return answer


def model_of(schema: dict[str, Any]) -> type[DataBase]:
    """Return a model that takes any members and whose own JSON Schema is ``schema``."""

    class Given(BaseModel):
        @classmethod
        def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
            return copy.deepcopy(schema)

    class Model(DataBase, Given):
        model_config = ConfigDict(extra="allow")

    return Model


def executor_run(inputs: dict[str, Any]) -> Any:
    model = model_of(inputs.get("schema", {"type": "object"}))

    class Scripted(CoreCall, input_model=model, output_model=DataBase):
        async def _init(self, call_vars: CallVars) -> DataBase:
            return model(**inputs.get("input", {}))

        async def _exec(self, input_data: dict[str, Any]) -> AsyncGenerator[CallOutputChunk, None]:
            for chunk in inputs.get("chunks", []):
                yield CallOutputChunk.model_validate(chunk)
            match inputs.get("raises"):
                case {"message": message, "data": data}:
                    raise CallError(message, data)
                case "bug":
                    raise RuntimeError("bug")
                case "cancel":
                    raise asyncio.CancelledError

    if inputs.get("chunks", ()) is None:
        del Scripted._exec

    models = _Models([[text] for text in inputs.get("replies", [])], inputs.get("answers", []))
    sink: list[CallOutputChunk] = []
    hooks: list[list[Any]] = []
    extras: list[dict[str, Any]] = []
    executor = _executor(models)
    if inputs.get("sink") != "none":
        executor.sink = _sink(sink, inputs.get("sink", ""))
    _listen(executor, hooks, extras)

    async def run() -> bool:
        node = NodeInfo(override=inputs.get("override"))
        options = {key: inputs[key] for key in ("enable_filling", "to_user") if key in inputs}
        call = await Scripted.instance(executor, node, **options)
        for _ in range(inputs.get("runs", 1)):
            task = asyncio.ensure_future(executor.run(call))
            await asyncio.wait([task])
        return task.cancelled() or task.exception() is not None

    result = {
        "raised": asyncio.run(run()),
        "status": executor.status,
        "chunks": [chunk.model_dump(mode="json") for chunk in executor.chunks],
        "input": executor.input,
        "remaining_schema": executor.remaining_schema,
        "sink": [chunk.model_dump(mode="json") for chunk in sink],
        "hooks": hooks,
        "extras": extras,
        "requests": [len(models.asked), models.function.asked],
    }
    return {name: result[name] for name in inputs["show"]}


def _sink(delivered: list[CallOutputChunk], does: str) -> Callable[[CallOutputChunk], None]:
    def sink(chunk: CallOutputChunk) -> None:
        delivered.append(chunk)
        if does == "raises":
            raise OSError(does)

    return sink


def _listen(executor: StepExecutor, hooks: list[list[Any]], extras: list[dict[str, Any]]) -> None:
    @executor.callbacks.on_start
    def start(given: CallbackInput) -> None:
        hooks.append(["start", given.arguments_in_json])
        extras.append(given.extra)

    @executor.callbacks.on_end
    def end(given: CallbackOutput) -> None:
        hooks.append(["end", given.response])
        extras.append(given.extra)

    @executor.callbacks.on_end_with_stream
    async def stream(pieces: AsyncIterator[CallbackOutput]) -> None:
        read = [piece async for piece in pieces]
        hooks.append(["stream", [piece.response for piece in read]])
        extras.extend(piece.extra for piece in read)

    @executor.callbacks.on_error
    def error(raised: Exception) -> None:
        hooks.append(["error", str(raised)])


def llm_run(inputs: dict[str, Any]) -> Any:
    models = _Models([inputs["pieces"]], [], inputs.get("fails", ""))
    executor = _executor(models)

    async def run() -> list[CallOutputChunk]:
        call = await LLM.instance(executor, None, **inputs.get("call", {}))
        given = inputs.get("input", call.input)
        return [chunk async for chunk in call.exec(executor, given)]

    chunks = asyncio.run(run())
    return {
        "chunks": [chunk.model_dump(mode="json") for chunk in chunks],
        "options": models.asked[0],
    }


def _executor(models: _Models) -> StepExecutor:
    return StepExecutor(
        task=Task(
            metadata=TaskMetadata(id="task", userId="user"),
            state=TaskState(executorId="executor"),
        ),
        question="q",
        background=ExecutorBackground(),
        llm=models,
        step=StepInfo(name="book", description="Book a hotel"),
    )


OPERATIONS = {
    "core.build": core_build,
    "core.info": core_info,
    "core.vars": core_vars,
    "executor.run": executor_run,
    "llm.run": llm_run,
}
