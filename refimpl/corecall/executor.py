"""Task and StepExecutor: run one Call in a task, filling its parameters first when asked."""

from __future__ import annotations

import copy
import inspect
import logging
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from pydantic import BaseModel, Field
from pydantic_core import to_jsonable_python

from .callbacks import CallbackHandlers, CallbackInput, CallbackOutput
from .core import CoreCall, ModelPair
from .jsontext import dumps
from .types import (
    CallError,
    CallOutputChunk,
    CallOutputType,
    ExecutorBackground,
    ExecutorHistory,
    LanguageType,
)

logger = logging.getLogger(__name__)

Sink = Callable[[CallOutputChunk], Awaitable[None] | None]


class TaskMetadata(BaseModel):
    """Whose task this is.

    Contract: executor.task.1.
    """

    id: UUID | str
    userId: str
    conversationId: UUID | str | None = None


class TaskState(BaseModel):
    """Which executor runs the task, in which app.

    Contract: executor.task.1.
    """

    executorId: str
    appId: UUID | str | None = None


class TaskRuntime(BaseModel):
    """What the task knows while it runs; ``now`` is its clock, ``None`` the wall's.

    Contract: executor.task.2.
    """

    language: LanguageType = LanguageType.CHINESE
    sessionId: str | None = None
    reasoning: str | None = None
    now: datetime | None = None


class Task(BaseModel):
    """A task: its metadata, state, runtime and the history of its steps, oldest first.

    Contract: executor.task.1.
    """

    metadata: TaskMetadata
    state: TaskState | None = None
    runtime: TaskRuntime = Field(default_factory=TaskRuntime)
    context: list[ExecutorHistory] = Field(default_factory=list)


class StepInfo(BaseModel):
    """The step an executor is at: the name and description its Call takes.

    Contract: executor.task.3.
    """

    name: str
    description: str = ""


class StepStatus(StrEnum):
    """State of a step: ``param`` means that required parameters are still missing.

    Contract: executor.run.1.
    """

    RUNNING = "running"
    SUCCESS = "success"
    PARAM = "param"
    ERROR = "error"


@dataclass(slots=True)
class StepExecutor:
    """Drives one Call at a time.

    After :meth:`run`: ``status``; every chunk in ``chunks``; the input that was executed in
    ``input``; what is still to be asked of the user in ``remaining_schema``.
    """

    task: Task
    question: str
    background: ExecutorBackground
    llm: ModelPair
    step: StepInfo
    sink: Sink | None = None
    callbacks: CallbackHandlers = field(default_factory=CallbackHandlers)
    status: StepStatus | None = None
    chunks: list[CallOutputChunk] = field(default_factory=list)
    input: dict[str, Any] = field(default_factory=dict)
    remaining_schema: dict[str, Any] = field(default_factory=dict)

    async def run(self, call: CoreCall) -> StepStatus:
        """Execute ``call`` and return the status it ended with.

        With ``enable_filling`` the input is filled first; if something required is still
        missing, the status is ``param`` and the call does not execute. A ``CallError``
        becomes one ERROR chunk and the status ``error``; any other exception, cancellation
        included, passes. Chunks reach ``sink`` only when the call is ``to_user``.

        Contract: executor.run.1, executor.run.2, executor.run.3, executor.run.4, executor.run.5,
        executor.run.6, executor.run.7, executor.run.8, executor.run.9, executor.run.10,
        executor.callback.1, executor.callback.2, executor.callback.3, executor.callback.4,
        executor.callback.5, executor.callback.6, executor.callback.7, executor.callback.8,
        executor.callback.9, executor.callback.10.
        """
        self.status = StepStatus.RUNNING
        self.chunks = []
        self.remaining_schema = {}
        self.input = call.input
        started = False
        try:
            if call.enable_filling:
                await self._fill(call)
                if self.remaining_schema:
                    self.status = StepStatus.PARAM
                    return self.status
            extra = {"name": call.name, "description": call.description}
            start = CallbackInput(arguments_in_json=dumps(self.input), extra=extra)
            started = True
            await self.callbacks.start(start)
            async with aclosing(call.exec(self, self.input)) as chunks:
                async for chunk in chunks:
                    await self._emit(call, chunk)
            texts = [_text(chunk) for chunk in self.chunks]
            await self.callbacks.end(CallbackOutput(response="".join(texts), extra=extra))
            pieces = [CallbackOutput(response=text, extra=extra) for text in texts]
            await self.callbacks.end_with_stream(pieces)
        except CallError as error:
            logger.error("call %s failed: %s", call.name, error)
            self.status = StepStatus.ERROR
            if started:
                await self.callbacks.error(error)
            content = {"message": error.message, "data": error.data}
            await self._emit(call, CallOutputChunk(type=CallOutputType.ERROR, content=content))
            return self.status
        except BaseException as error:
            self.status = StepStatus.ERROR
            if started and isinstance(error, Exception):
                await self.callbacks.error(error)
            raise
        self.status = StepStatus.SUCCESS
        return self.status

    async def _fill(self, call: CoreCall) -> None:
        """Complete the input of ``call`` by the Slot; ``remaining_schema`` says what is missing.

        Contract: executor.fill.1, executor.fill.2, executor.fill.3, executor.fill.6,
        executor.fill.7, executor.fill.8, executor.fill.9, executor.fill.10, executor.fill.11,
        executor.fill.12, executor.fill.13, executor.fill.14, executor.fill.15.
        """
        from .slot.limits import DataError
        from .slot.processor import SlotProcessor
        from .slot.slot import Slot  # the Slot is a Call of its own, built on this module

        override = call.node.override if call.node else None
        schema = call.input_model.model_json_schema(override=override)
        # The dump holds Python's dates and enum members, a schema speaks of JSON.
        try:
            given = to_jsonable_python(call.input)
        except ValueError as error:  # bytes, a set of objects, a list that contains itself
            raise DataError("", f"the input is not JSON: {error}") from error
        known = SlotProcessor(schema).process_json(given)
        self.input = _kept(call.input, known)
        slot = await Slot.instance(self, call.node, data=known, current_schema=schema)
        async with aclosing(slot.exec(self, slot.input)) as chunks:
            async for chunk in chunks:
                if not isinstance(chunk.content, dict):
                    continue
                self.remaining_schema = chunk.content["remaining_schema"]
                new = _changed(known, chunk.content["slot_data"])
                self.input = deep_merge(self.input, new)
        call.input = self.input

    async def _emit(self, call: CoreCall, chunk: CallOutputChunk) -> None:
        """Record ``chunk``, and hand it to the sink when the call is ``to_user``.

        Contract: executor.emit.1, executor.emit.2, executor.emit.3, executor.emit.4,
        executor.emit.5, executor.emit.6.
        """
        self.chunks.append(chunk)
        if call.to_user and self.sink is not None:
            result = self.sink(chunk)
            if inspect.isawaitable(result):
                await result


def _text(chunk: CallOutputChunk) -> str:
    return chunk.content if isinstance(chunk.content, str) else dumps(chunk.content)


def _kept(value: Any, known: Any) -> Any:
    """Return ``value`` without the members that ``known``, its JSON form, has lost."""
    if isinstance(value, dict) and isinstance(known, dict):
        names = {key: key if isinstance(key, str) else _name(key) for key in value}
        return {
            key: _kept(child, known[names[key]])
            for key, child in value.items()
            if names[key] in known
        }
    if isinstance(value, list) and isinstance(known, list):
        return [_kept(child, item) for child, item in zip(value, known, strict=True)]
    return value


def _name(key: object) -> str:
    """Return how a key that is no text, a number or a date, is named in JSON."""
    (name,) = to_jsonable_python({key: None})
    return str(name)


def _changed(known: dict[str, Any], filled: dict[str, Any]) -> dict[str, Any]:
    """Return what ``filled`` has and ``known`` has not, or has otherwise.

    Contract: executor.fill.13.
    """
    changed: dict[str, Any] = {}
    for key, value in filled.items():
        old = known.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            changed[key] = _changed(old, value)
        elif key not in known or dumps(old) != dumps(value):  # as JSON: 1 is not true
            changed[key] = value
    return changed


def deep_merge(base: dict[str, Any], update: dict[str, Any]) -> dict[str, Any]:
    """Return ``base`` with ``update`` laid over it: objects merge, all else replaces.

    Contract: executor.fill.4, executor.fill.5.
    """
    merged = dict(base)
    for key, value in update.items():
        known = merged.get(key)
        if isinstance(known, dict) and isinstance(value, dict):
            merged[key] = deep_merge(known, value)
        else:
            merged[key] = copy.deepcopy(value)
    return merged
