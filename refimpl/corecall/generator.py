"""JsonGenerator: an object out of a model, bound by a schema, tried again when it is bad."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

from . import reply
from .core import Message
from .deltas import Completion
from .slot.processor import SlotProcessor
from .types import CallError

FunctionMode = Literal["json_schema", "tools", "json_object", "prompt"]
Ask = Callable[[list[Message], Mapping[str, Any]], Awaitable[Completion]]

_TOOL_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_DEFAULT_TOOL = "fill_parameters"
_NAMED_SCHEMAS = frozenset({"properties", "definitions", "$defs"})
_SCHEMAS = frozenset({"items", "additionalProperties"})


class GenerationError(CallError):
    """No trial gave a valid object. ``answer`` is the last reply, ``object`` what it held."""

    def __init__(self, message: str, *, answer: str, partial: dict[str, Any]) -> None:
        super().__init__(message, {"answer": answer, "object": partial})
        self.answer = answer
        self.object = partial

    def __reduce__(self) -> tuple[Any, ...]:
        """Survive the way to another process; the keyword arguments alone would not."""
        make = functools.partial(type(self), answer=self.answer, partial=self.object)
        return make, (self.message,)


class JsonGenerator:
    """Asks a function model for an object that satisfies a schema.

    ``mode`` is how the endpoint is bound: ``json_schema`` (strict structured output: every
    property required, null for unknown), ``tools`` (one forced tool call), ``json_object``,
    or ``prompt`` (only told). A bad answer is shown back to the model with the reason, up
    to ``trials`` requests in all, at least 1; every further request ends on a user turn.

    Contract: provider.trial.1, provider.trial.5.
    """

    def __init__(self, ask: Ask, *, mode: FunctionMode = "json_schema", trials: int = 3) -> None:
        if trials < 1:
            raise ValueError(f"trials is {trials}, less than 1")
        self._ask = ask
        self._mode: FunctionMode = mode
        self._trials = trials

    @staticmethod
    def process_response(text: str) -> str:
        """Return the JSON text of the answer in a reply; see :mod:`corecall.reply`."""
        return reply.process_response(text)

    async def generate(self, messages: list[Message], schema: dict[str, Any]) -> dict[str, Any]:
        """Return an object valid under ``schema``.

        A null that the schema does not admit means "not given": if only such values are
        missing the model has said all it knows, and it is not asked again. Raises
        ``GenerationError`` when there is no valid object, ``SchemaError`` for an invalid schema,
        and what ``ask`` raises.

        Contract: provider.function.2, provider.function.3, provider.trial.6, provider.trial.8.
        """
        processor = SlotProcessor(schema)
        widened = SlotProcessor(SlotProcessor.add_null_to_basic_types(schema))
        params = self._params(schema)
        turns = list(messages)
        if self._mode in ("json_object", "prompt"):
            turns = _told(turns, schema)
        for trial in range(self._trials):
            completion = await self._ask(turns, params)
            parsed = completion.parsed(tool_name(schema))
            given = processor.process_json(parsed.object) if parsed.object is not None else {}
            if parsed.object is not None and processor.is_valid(given):
                return given
            if parsed.object is not None and widened.is_valid(parsed.object):
                break
            reason = parsed.problem or _reason(processor, given)
            if trial + 1 < self._trials:
                turns += [
                    {"role": "assistant", "content": _shown(completion)},
                    {"role": "user", "content": _again(reason, messages)},
                ]
        reason = parsed.problem or _reason(processor, given)
        raise GenerationError(
            f"the function model gave no valid object: {reason}",
            answer=_answer(completion, tool_name(schema)),
            partial=given,
        )

    def _params(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters of the request that bind the answer.

        Contract: provider.mode.1, provider.mode.2, provider.mode.3, provider.mode.4.
        """
        if self._mode == "json_schema":
            return {"response_format": response_format(strict(schema), schema)}
        if self._mode == "json_object":
            return {"response_format": {"type": "json_object"}}
        if self._mode == "tools":
            function: dict[str, Any] = {"name": tool_name(schema), "parameters": schema}
            if schema.get("description"):
                function["description"] = schema["description"]
            return {
                "tools": [{"type": "function", "function": function}],
                "tool_choice": {"type": "function", "function": {"name": function["name"]}},
            }
        return {}


def tool_name(schema: dict[str, Any]) -> str:
    """Return the function name endpoints accept, out of the schema's title.

    Contract: provider.mode.6.
    """
    name = _TOOL_NAME.sub("_", str(schema.get("title", ""))).strip("_")[:64]
    return name or _DEFAULT_TOOL


def response_format(bound: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Return the ``response_format`` that binds a reply to ``bound``, named after ``schema``."""
    return {
        "type": "json_schema",
        "json_schema": {"name": tool_name(schema), "schema": bound, "strict": True},
    }


def strict(schema: dict[str, Any]) -> dict[str, Any]:
    """Return ``schema`` for strict structured output.

    Basic types also admit null; every declared property that does is required, and no other
    allowed unless another schema of the same object may declare it. Raises ``SchemaError``, a
    ``ValueError``, for an invalid schema.

    Contract: provider.strict.1, provider.strict.2.
    """
    SlotProcessor(schema)
    widened = SlotProcessor.add_null_to_basic_types(schema)
    shared = _any_joined(widened)  # then a definition may be one of those that are joined
    result: dict[str, Any] = _require_all(widened, definitions_alone=not shared)
    return result


def _require_all(schema: Any, *, alone: bool = True, definitions_alone: bool = True) -> Any:
    """Return ``schema`` with every nullable property required, closed where it stands ``alone``.

    A schema that others join (``allOf``, or ``anyOf`` beside properties) cannot be closed:
    it would forbid what the others declare.

    Contract: provider.strict.3, provider.strict.4, provider.strict.5.
    """
    if isinstance(schema, list):
        return [_require_all(item, alone=alone) for item in schema]
    if not isinstance(schema, dict):
        return schema
    alone = alone and not _joined(schema)
    result: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in _NAMED_SCHEMAS and isinstance(value, dict):
            free = keyword == "properties" or definitions_alone
            result[keyword] = {
                name: _require_all(child, alone=free) for name, child in value.items()
            }
        elif keyword in ("anyOf", "allOf"):
            result[keyword] = _require_all(
                value, alone=keyword == "anyOf" and "properties" not in schema and alone
            )
        else:
            result[keyword] = _require_all(value) if keyword in _SCHEMAS else value
    if "properties" in schema:
        # Only what can be null is made required: anything else has no way to say "unknown".
        nullable = [name for name, child in schema["properties"].items() if _admits_null(child)]
        result["required"] = list(dict.fromkeys([*schema.get("required", ()), *nullable]))
        if alone:
            result.setdefault("additionalProperties", False)
    return result


def _any_joined(node: Any) -> bool:
    if isinstance(node, list):
        return any(_any_joined(item) for item in node)
    if not isinstance(node, dict):
        return False
    if isinstance(node.get("properties", {}), dict) and ("allOf" in node or _joined(node)):
        return True
    return any(_any_joined(value) for value in node.values())


def _joined(schema: dict[str, Any]) -> bool:
    """Say whether other schemas declare members of the same object as this one does."""
    branches = [
        branch
        for keyword in ("allOf", "anyOf", "oneOf")
        for branch in schema.get(keyword, ())
        if isinstance(branch, dict)
    ]
    branches += [schema[keyword] for keyword in ("if", "then", "else") if keyword in schema]
    return "properties" in schema and any(
        isinstance(branch, dict) and ("properties" in branch or "$ref" in branch)
        for branch in branches
    )


def _admits_null(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return False
    if "type" in schema:
        return "null" in schema["type"]  # a name, or a list of names
    if "enum" in schema:
        return None in schema["enum"]
    return any(_admits_null(option) for option in schema.get("anyOf", []))


def _shown(completion: Completion) -> str:
    """Return what the model said, as an assistant turn can repeat it; never blank.

    Contract: provider.trial.4.
    """
    return _lines(completion.content, *(call.arguments for call in completion.tool_calls)) or "{}"


def _answer(completion: Completion, tool: str) -> str:
    """Return what the answer was read from: the content and the first call of the tool.

    Contract: provider.trial.9.
    """
    called = next((call.arguments for call in completion.tool_calls if call.name == tool), "")
    return _lines(completion.content, called)


def _lines(*texts: str) -> str:
    return "\n".join(text for text in texts if text.strip())


def _reason(processor: SlotProcessor, given: dict[str, Any]) -> str:
    """Return what is wrong with an object, as pointers.

    Contract: provider.trial.3.
    """
    remaining = processor.check_json(given)
    return ", ".join(remaining.get("required", [])) or "no object"


def _told(messages: list[Message], schema: dict[str, Any]) -> list[Message]:
    """Return ``messages`` with the schema told in the last user turn.

    Contract: provider.mode.5.
    """
    text = json.dumps(schema, ensure_ascii=False)
    told = (
        f"只输出一个符合以下JSON Schema的JSON对象：\n{text}"
        if _speaks_chinese(messages)
        else f"Output only one JSON object that satisfies this JSON Schema:\n{text}"
    )
    if messages and messages[-1]["role"] == "user":
        last = {"role": "user", "content": f"{messages[-1]['content']}\n\n{told}"}
        return [*messages[:-1], last]
    return [*messages, {"role": "user", "content": told}]


def _again(reason: str, messages: list[Message]) -> str:
    """Return the user turn that asks once more.

    Contract: provider.trial.2.
    """
    if _speaks_chinese(messages):
        return f"上面的输出不正确，缺少或不符合要求的字段：{reason}。请重新只输出一个JSON对象。"
    return (
        f"That output is not right, these are missing or invalid: {reason}. "
        "Output only one JSON object again."
    )


def _speaks_chinese(messages: list[Message]) -> bool:
    """Say whether the last message begins in Chinese; Chinese data in English text do not count.

    Contract: provider.trial.7.
    """
    text = messages[-1]["content"] if messages else ""
    first = next((character for character in text if character.isalpha()), "")
    return bool(_CHINESE.match(first)) and not _KANA.search(text)
