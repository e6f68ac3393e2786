"""Operations that make an LLM call or a Slot, and run the Slot on the answers of a script."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import datetime
from typing import Any

from corecall.core import CoreCall
from corecall.deltas import Delta
from corecall.executor import StepExecutor, StepInfo, Task, TaskMetadata, TaskRuntime, TaskState
from corecall.generator import GenerationError
from corecall.llm.llm import LLM
from corecall.providers import Models
from corecall.slot.slot import Slot
from corecall.types import CallError, ExecutorBackground, ExecutorHistory, LanguageType

Inputs = dict[str, Any]


def llm_messages(inputs: Inputs) -> Any:
    call = _instance(LLM, inputs)
    return call.input["message"]


def slot_messages(inputs: Inputs) -> Any:
    call = _instance(Slot, inputs)
    call._known = call._given
    return call._prepare_messages()


class _Scripted:
    """The Slot's two models, each with at most one answer, which must be asked for."""

    def __init__(self, inputs: Inputs) -> None:
        self.reasoning = self
        self.function = None if inputs.get("no_function") else self
        self.reply_mode = inputs.get("reply_mode", "text")
        self.asked: list[tuple[list[dict[str, str]], dict[str, Any]]] = []
        self.options: dict[str, Any] = {}
        self._left = {
            key: inputs[key] for key in inputs if key.startswith(("reasoning", "function"))
        }

    def call(self, messages: list[dict[str, str]], schema: Any = None, **options: Any) -> Any:
        self.asked.append((messages, schema))
        if schema is not None:
            return self._object()
        self.options = options
        return self._stream()

    async def _stream(self) -> AsyncIterator[Delta]:
        if "reasoning_fails" in self._left:
            raise CallError(self._left.pop("reasoning_fails"))
        reply = self._left.pop("reasoning")
        for piece in reply if isinstance(reply, list) else [reply]:
            yield Delta(piece, "")

    async def _object(self) -> dict[str, Any]:
        if "function_fails" in self._left:
            raise CallError(self._left.pop("function_fails"))
        if "function_invalid" in self._left:
            last = self._left.pop("function_invalid")
            raise GenerationError("no", answer=last["answer"], partial=last["object"])
        answer: dict[str, Any] = self._left.pop("function")
        return answer

    def assert_all_asked(self) -> None:
        assert not self._left, f"never asked for: {list(self._left)}"


def _filled(inputs: Inputs) -> tuple[Slot, dict[str, Any], _Scripted]:
    call: Slot = _instance(Slot, inputs)
    models = _Scripted(inputs)
    return call, _executed(call, models, call.input), models


def _executed(call: Slot, models: _Scripted, input_data: dict[str, Any]) -> dict[str, Any]:
    call._llm_obj = models

    async def run() -> list[Any]:
        return [chunk async for chunk in call._exec(input_data)]

    (chunk,) = asyncio.run(run())
    assert chunk.type == "data"
    models.assert_all_asked()
    content: dict[str, Any] = chunk.content
    return content


def slot_input(inputs: Inputs) -> Any:
    return _instance(Slot, inputs).input


def slot_run(inputs: Inputs) -> Any:
    return _filled(inputs)[1]


def slot_runs(inputs: Inputs) -> Any:
    call: Slot = _instance(Slot, inputs)
    shown = []
    for run in inputs["runs"]:
        output = _executed(call, _Scripted(run), run.get("input", call.input))
        shown.append({"output": output, "filled_by": dict(call.trace.filled_by)})
    return shown


def slot_stage1(inputs: Inputs) -> Any:
    return _filled(inputs)[2].options


def slot_stage2(inputs: Inputs) -> Any:
    _, _, models = _filled({"function": {}, **inputs})
    (first, _), (second, schema) = models.asked
    assert second[: len(first)] == first
    return {"messages": second[len(first) :], "schema": schema}


def slot_trace(inputs: Inputs) -> Any:
    call = _filled(inputs)[0]
    trace = call.trace
    mended = {"repairs": list(trace.repairs)} if call.repair else {}
    shown = {name: getattr(trace, name) for name in ("asked", "answers", "unparsed", "filled_by")}
    return {
        **shown,
        "rejected": [refusal.pointer for refusal in trace.rejected],
        "undeclared": [refusal.pointer for refusal in trace.undeclared],
        **mended,
    }


def _instance(kind: type[Any], inputs: Inputs) -> Any:
    executor, options = executor_of(inputs)
    call: CoreCall = asyncio.run(kind.instance(executor, None, **options))
    return call


def executor_of(inputs: Inputs, models: Models | None = None) -> tuple[StepExecutor, Inputs]:
    """Return the executor that ``vars`` describes, and the call's attributes; it may ask ``models``."""
    given = inputs.get("vars", {})
    now = datetime.fromisoformat(given["now"]) if given.get("now") else None
    options = dict(inputs.get("call", {}))
    step = StepInfo(name=options.pop("name", "step"), description=options.pop("description", ""))
    executor = StepExecutor(
        task=Task(
            metadata=TaskMetadata(id="task", userId="user"),
            state=TaskState(executorId="executor"),
            runtime=TaskRuntime(
                language=LanguageType(given.get("language", "zh")),
                reasoning=given.get("thinking"),
                now=now,
            ),
            context=[ExecutorHistory.model_validate(step) for step in given.get("steps", [])],
        ),
        question=given.get("question", ""),
        background=ExecutorBackground(
            conversation=given.get("conversation", []), facts=given.get("facts", [])
        ),
        llm=models or Models(reasoning=None),  # type: ignore[arg-type]  # nothing is asked
        step=step,
    )
    return executor, options


OPERATIONS: dict[str, Callable[[Inputs], Any]] = {
    "llm.messages": llm_messages,
    "slot.messages": slot_messages,
    "slot.input": slot_input,
    "slot.run": slot_run,
    "slot.runs": slot_runs,
    "slot.stage1": slot_stage1,
    "slot.stage2": slot_stage2,
    "slot.trace": slot_trace,
}
