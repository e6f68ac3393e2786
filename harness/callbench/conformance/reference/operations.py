"""Operations without a model: history paths, the SlotProcessor, replies, few-shot calls, callbacks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from types import SimpleNamespace
from typing import Any

from pydantic import BaseModel

from callbench.conformance.reference.scripted import model_of
from corecall import fewshot, pointer
from corecall.callbacks import (
    CallbackInput,
    CallbackOutput,
    ToolArgument,
    ToolResult,
    callback_input_from,
    callback_output_from,
)
from corecall.history import extract
from corecall.reply import parse_reply, process_response
from corecall.slot.processor import SlotProcessor
from corecall.types import ExecutorHistory

Inputs = dict[str, Any]


def history_extract(inputs: Inputs) -> Any:
    records = [ExecutorHistory.model_validate(record) for record in inputs["history"]]
    return extract(inputs["path"], {record.stepId: record for record in records})


def schema_override(inputs: Inputs) -> Any:
    model = model_of(inputs["schema"])
    return model.model_json_schema(override=inputs["override"])


def schema_overrides(inputs: Inputs) -> Any:
    model = model_of(inputs["schema"])
    return [model.model_json_schema(override=override) for override in inputs["overrides"]]


def slot_check(inputs: Inputs) -> Any:
    return SlotProcessor(inputs["schema"]).check_json(inputs["data"])


def slot_places(inputs: Inputs) -> Any:
    return slot_check(inputs).get("required", [])


def slot_convert(inputs: Inputs) -> Any:
    return SlotProcessor(inputs["schema"]).convert_json(inputs["data"], inputs.get("base"))


def slot_convert_names(inputs: Inputs) -> Any:
    return list(slot_convert(inputs))


def slot_process(inputs: Inputs) -> Any:
    given = inputs["text"] if "text" in inputs else inputs["value"]
    return SlotProcessor(inputs["schema"]).process_json(given)


def slot_add_null(inputs: Inputs) -> Any:
    return SlotProcessor.add_null_to_basic_types(inputs["schema"])


def slot_merge(inputs: Inputs) -> Any:
    merged = SlotProcessor(inputs["schema"]).merge(inputs["known"], inputs["new"])
    return {
        "data": merged.data,
        "filled": list(merged.filled),
        "rejected": [refusal.pointer for refusal in merged.rejected],
        "undeclared": [refusal.pointer for refusal in merged.undeclared],
    }


def slot_refusals(inputs: Inputs) -> Any:
    merged = SlotProcessor(inputs["schema"]).merge(inputs["known"], inputs["new"])
    refused = (*merged.rejected, *merged.undeclared)
    return [{"pointer": refusal.pointer, "reason": refusal.reason} for refusal in refused]


def slot_ask_schema(inputs: Inputs) -> Any:
    processor = SlotProcessor(inputs["schema"])
    known = inputs["known"]
    remaining = processor.check_json(known)
    asked = processor.asked(remaining, known, optional=inputs.get("optional", False))
    return processor.ask_schema(asked, known)


def slot_parse_reply(inputs: Inputs) -> Any:
    parsed = parse_reply(inputs["text"], repair=inputs.get("repair", False))
    if "repair" in inputs:
        return {"object": parsed.object, "repairs": list(parsed.repairs)}
    return parsed.object


def reply_process(inputs: Inputs) -> Any:
    return process_response(inputs["text"])


def fewshot_messages(inputs: Inputs) -> Any:
    return fewshot.fewshot_messages(inputs["system"], inputs["examples"], inputs["message"])


def fewshot_reply(inputs: Inputs) -> Any:
    class Model:
        async def astream(self, _: Any) -> AsyncIterator[Any]:
            for chunk in inputs["chunks"]:
                yield SimpleNamespace(**chunk) if isinstance(chunk, dict) else chunk

    pieces: list[str] = []
    reply = asyncio.run(fewshot.call_llm("", Model(), "", callback=pieces.append))
    return {"pieces": pieces, "reply": reply}


_RECORDS: dict[str, type[BaseModel]] = {
    "input": CallbackInput,
    "output": CallbackOutput,
    "argument": ToolArgument,
    "result": ToolResult,
}


def callback_convert(inputs: Inputs) -> Any:
    convert = {"input": callback_input_from, "output": callback_output_from}[inputs["to"]]
    value = inputs["value"]
    converted = convert(_RECORDS[inputs["kind"]](**value) if "kind" in inputs else value)
    return None if converted is None else converted.model_dump()


def callback_record(inputs: Inputs) -> Any:
    return _RECORDS[inputs["kind"]].model_validate(inputs["fields"]).model_dump()


def callback_arguments(inputs: Inputs) -> Any:
    return CallbackInput(arguments_in_json=inputs["text"]).arguments()


def callback_extra(inputs: Inputs) -> Any:
    kinds: dict[str, type[Any]] = {
        "string": str,
        "integer": int,
        "number": float,
        "boolean": bool,
        "object": dict,
        "array": list,
    }
    return CallbackOutput(extra=inputs["extra"]).extra_as(inputs["key"], kinds[inputs["type"]])


OPERATIONS: dict[str, Callable[[Inputs], Any]] = {
    "history.extract": history_extract,
    "schema.override": schema_override,
    "schema.overrides": schema_overrides,
    "slot.check": slot_check,
    "slot.places": slot_places,
    "slot.convert": slot_convert,
    "slot.convert_names": slot_convert_names,
    "pointer.split": lambda inputs: pointer.split(inputs["pointer"]),
    "pointer.join": lambda inputs: pointer.join(inputs["tokens"]),
    "slot.process": slot_process,
    "slot.add_null": slot_add_null,
    "slot.merge": slot_merge,
    "slot.refusals": slot_refusals,
    "slot.ask_schema": slot_ask_schema,
    "slot.parse_reply": slot_parse_reply,
    "reply.process": reply_process,
    "fewshot.messages": fewshot_messages,
    "fewshot.reply": fewshot_reply,
    "callback.convert": callback_convert,
    "callback.record": callback_record,
    "callback.arguments": callback_arguments,
    "callback.extra": callback_extra,
}
