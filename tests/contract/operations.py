"""What the executable examples of CONTRACT.md do: one function per ``op``, and the comparison."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from datetime import datetime
from types import SimpleNamespace
from typing import Any

from corecall import fewshot, pointer
from corecall.callbacks import (
    CallbackInput,
    CallbackOutput,
    ToolResult,
    callback_input_from,
    callback_output_from,
)
from corecall.core import CoreCall
from corecall.deltas import Delta
from corecall.executor import StepExecutor, StepInfo, Task, TaskMetadata, TaskRuntime, TaskState
from corecall.generator import GenerationError
from corecall.history import extract
from corecall.llm.llm import LLM
from corecall.providers import Models
from corecall.reply import parse_reply, process_response
from corecall.slot.processor import DataError, SchemaError, SlotProcessor
from corecall.slot.slot import Slot
from corecall.types import CallError, ExecutorBackground, ExecutorHistory, LanguageType

from . import model_operations, scripted

ERRORS: dict[str, type[Exception]] = {
    "invalid_schema": SchemaError,
    "invalid_data": DataError,
    "value_error": ValueError,
    "type_error": TypeError,
    "key_error": KeyError,
    "call_error": CallError,
}


def check_example(example: dict[str, Any]) -> None:
    """Fail unless the operation of ``example`` gives what it says."""
    inputs = {key: value for key, value in example.items() if key not in ("op", "gives", "error")}
    operation = OPERATIONS[example["op"]]
    if "error" in example:
        try:
            result = operation(inputs)
        except ERRORS[example["error"]]:
            return
        raise AssertionError(f"no {example['error']}, but {json.dumps(result, ensure_ascii=False)}")
    got = operation(inputs)
    assert _canonical(got) == _canonical(example["gives"]), json.dumps(got, ensure_ascii=False)


def _canonical(value: Any, key: str = "") -> Any:
    """Return ``value`` so that ``==`` compares it as JSON, a list of required names as a set."""
    if isinstance(value, dict):
        return {name: _canonical(child, name) for name, child in value.items()}
    if isinstance(value, list | tuple):
        items = [_canonical(child) for child in value]
        names = key == "required" and all(isinstance(child, str) for child in value)
        return sorted(items) if names else items
    return (type(value).__name__, value) if isinstance(value, bool) else value


def history_extract(inputs: dict[str, Any]) -> Any:
    records = [ExecutorHistory.model_validate(record) for record in inputs["history"]]
    return extract(inputs["path"], {record.stepId: record for record in records})


def schema_override(inputs: dict[str, Any]) -> Any:
    model = scripted.model_of(inputs["schema"])
    return model.model_json_schema(override=inputs["override"])


def slot_check(inputs: dict[str, Any]) -> Any:
    return SlotProcessor(inputs["schema"]).check_json(inputs["data"])


def slot_places(inputs: dict[str, Any]) -> Any:
    return slot_check(inputs).get("required", [])


def slot_convert(inputs: dict[str, Any]) -> Any:
    return SlotProcessor(inputs["schema"]).convert_json(inputs["data"], inputs.get("base"))


def slot_convert_names(inputs: dict[str, Any]) -> Any:
    return list(slot_convert(inputs))


def slot_process(inputs: dict[str, Any]) -> Any:
    given = inputs["text"] if "text" in inputs else inputs["value"]
    return SlotProcessor(inputs["schema"]).process_json(given)


def slot_add_null(inputs: dict[str, Any]) -> Any:
    return SlotProcessor.add_null_to_basic_types(inputs["schema"])


def slot_merge(inputs: dict[str, Any]) -> Any:
    merged = SlotProcessor(inputs["schema"]).merge(inputs["known"], inputs["new"])
    return {
        "data": merged.data,
        "filled": list(merged.filled),
        "rejected": [refusal.pointer for refusal in merged.rejected],
        "undeclared": [refusal.pointer for refusal in merged.undeclared],
    }


def slot_ask_schema(inputs: dict[str, Any]) -> Any:
    processor = SlotProcessor(inputs["schema"])
    known = inputs["known"]
    remaining = processor.check_json(known)
    asked = processor.asked(remaining, known, optional=inputs.get("optional", False))
    return processor.ask_schema(asked, known)


def slot_parse_reply(inputs: dict[str, Any]) -> Any:
    parsed = parse_reply(inputs["text"], repair=inputs.get("repair", False))
    if "repair" in inputs:
        return {"object": parsed.object, "repairs": list(parsed.repairs)}
    return parsed.object


def reply_process(inputs: dict[str, Any]) -> Any:
    return process_response(inputs["text"])


def llm_messages(inputs: dict[str, Any]) -> Any:
    call = _instance(LLM, inputs)
    return call.input["message"]


def slot_messages(inputs: dict[str, Any]) -> Any:
    call = _instance(Slot, inputs)
    call._known = call._given
    return call._prepare_messages()


class _Scripted:
    """The Slot's two models, each with at most one answer, which must be asked for."""

    def __init__(self, inputs: dict[str, Any]) -> None:
        self.reasoning = self.function = self
        self.asked: list[tuple[list[dict[str, str]], dict[str, Any]]] = []
        self._left = {
            key: inputs[key] for key in inputs if key.startswith(("reasoning", "function"))
        }

    def call(self, messages: list[dict[str, str]], schema: Any = None, **options: Any) -> Any:
        self.asked.append((messages, schema))
        return self._stream() if schema is None else self._object()

    async def _stream(self) -> AsyncIterator[Delta]:
        if "reasoning_fails" in self._left:
            raise CallError(self._left.pop("reasoning_fails"))
        yield Delta(self._left.pop("reasoning"), "")

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


def _filled(inputs: dict[str, Any]) -> tuple[Slot, dict[str, Any], _Scripted]:
    call: Slot = _instance(Slot, inputs)
    models = _Scripted(inputs)
    call._llm_obj = models  # type: ignore[assignment]

    async def run() -> list[Any]:
        return [chunk async for chunk in call._exec(call.input)]

    (chunk,) = asyncio.run(run())
    assert chunk.type == "data"
    models.assert_all_asked()
    return call, chunk.content, models


def slot_input(inputs: dict[str, Any]) -> Any:
    return _instance(Slot, inputs).input


def slot_run(inputs: dict[str, Any]) -> Any:
    return _filled(inputs)[1]


def slot_stage2(inputs: dict[str, Any]) -> Any:
    _, _, models = _filled({"function": {}, **inputs})
    (first, _), (second, schema) = models.asked
    assert second[: len(first)] == first
    return {"messages": second[len(first) :], "schema": schema}


def slot_trace(inputs: dict[str, Any]) -> Any:
    trace = _filled(inputs)[0].trace
    shown = {name: getattr(trace, name) for name in ("asked", "answers", "unparsed", "filled_by")}
    return {
        **shown,
        "rejected": [refusal.pointer for refusal in trace.rejected],
        "undeclared": [refusal.pointer for refusal in trace.undeclared],
    }


def _instance(kind: type[Any], inputs: dict[str, Any]) -> Any:
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
        llm=Models(reasoning=None),  # type: ignore[arg-type]  # nothing is asked
        step=step,
    )
    call: CoreCall = asyncio.run(kind.instance(executor, None, **options))
    return call


def fewshot_messages(inputs: dict[str, Any]) -> Any:
    return fewshot.fewshot_messages(inputs["system"], inputs["examples"], inputs["message"])


def fewshot_reply(inputs: dict[str, Any]) -> Any:
    class Model:
        async def astream(self, _: Any) -> AsyncIterator[Any]:
            for chunk in inputs["chunks"]:
                yield SimpleNamespace(**chunk) if isinstance(chunk, dict) else chunk

    pieces: list[str] = []
    reply = asyncio.run(fewshot.call_llm("", Model(), "", callback=pieces.append))
    return {"pieces": pieces, "reply": reply}


def callback_convert(inputs: dict[str, Any]) -> Any:
    convert = {"input": callback_input_from, "output": callback_output_from}[inputs["to"]]
    converted = convert(inputs["value"])
    return None if converted is None else converted.model_dump()


def callback_record(inputs: dict[str, Any]) -> Any:
    kinds = {"input": CallbackInput, "output": CallbackOutput, "result": ToolResult}
    return kinds[inputs["kind"]].model_validate(inputs["fields"]).model_dump()


def callback_arguments(inputs: dict[str, Any]) -> Any:
    return CallbackInput(arguments_in_json=inputs["text"]).arguments()


def callback_extra(inputs: dict[str, Any]) -> Any:
    kinds: dict[str, type[Any]] = {
        "string": str,
        "integer": int,
        "number": float,
        "boolean": bool,
        "object": dict,
        "array": list,
    }
    return CallbackOutput(extra=inputs["extra"]).extra_as(inputs["key"], kinds[inputs["type"]])


OPERATIONS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "history.extract": history_extract,
    "schema.override": schema_override,
    "slot.check": slot_check,
    "slot.places": slot_places,
    "slot.convert": slot_convert,
    "slot.convert_names": slot_convert_names,
    "pointer.split": lambda inputs: pointer.split(inputs["pointer"]),
    "pointer.join": lambda inputs: pointer.join(inputs["tokens"]),
    "slot.process": slot_process,
    "slot.add_null": slot_add_null,
    "slot.merge": slot_merge,
    "slot.ask_schema": slot_ask_schema,
    "slot.parse_reply": slot_parse_reply,
    "reply.process": reply_process,
    "llm.messages": llm_messages,
    "slot.messages": slot_messages,
    "slot.input": slot_input,
    "slot.run": slot_run,
    "slot.stage2": slot_stage2,
    "slot.trace": slot_trace,
    "fewshot.messages": fewshot_messages,
    "fewshot.reply": fewshot_reply,
    "callback.convert": callback_convert,
    "callback.record": callback_record,
    "callback.arguments": callback_arguments,
    "callback.extra": callback_extra,
    **model_operations.OPERATIONS,
    **scripted.OPERATIONS,
}
