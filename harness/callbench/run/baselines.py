"""Two baselines that need no model: fill nothing, and copy spans of the question.

They stand beside every model in a report: a score says little until one knows what an empty
answer, or a blind copy, gets on the same cases.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from callbench.dataset.case import Case
from callbench.dataset.folding import fold
from callbench.scoring.outcome import Outcome
from corecall.slot.processor import SlotProcessor

_QUOTED = re.compile(r"[\"“「『《']([^\"”」』》']{1,200})[\"”」』》']")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?")
# Runs of capitalized words, or of letters with digits: what names and codes look like.
_NAME = re.compile(
    r"(?<![.!?] )(?<!^)\b[A-Z][\w-]*(?: [A-Z][\w-]*)*"
    r"|\b(?=[\w.-]{0,60}\d)(?=[\w.-]{0,60}[A-Za-z])[\w.-]*\w",
    re.ASCII,
)
_DEEPEST = 20  # a schema may refer to itself
_CLAUSE = re.compile(r"[，。！？；、,.!?;\s]+")


class EmptySystem:
    """Fills nothing."""

    async def fill(self, case: Case) -> Outcome:
        remaining = SlotProcessor(case.schema).check_json(case.data)
        return Outcome(slot_data=case.data, remaining_schema=remaining)


class CopySystem:
    """Copies into each required slot the span of the question that fits its type best.

    An enum takes the first of its values that the question holds; a number the next number;
    a string the next quoted span, date, name or code, else the longest clause. Each span is
    used once. What breaks its slot's schema is left out.
    """

    async def fill(self, case: Case) -> Outcome:
        processor = SlotProcessor(case.schema)
        known = processor.convert_json(case.data)
        filled = processor.merge(known, _Copy(case).fill(case.schema))
        return Outcome(
            slot_data=filled.data,
            remaining_schema=processor.check_json(filled.data),
            filled_by=dict.fromkeys(filled.filled, "stage1"),
        )


class _Copy:
    def __init__(self, case: Case) -> None:
        question = case.question
        self._root = case.schema
        self._folded = fold(question)
        self._numbers = iter(_NUMBER.findall(question))
        self._dates = iter(_DATE.findall(question))
        self._spans = _spans(question)

    def fill(self, schema: dict[str, Any], depth: int = 0) -> dict[str, Any]:
        properties: dict[str, Any] = schema.get("properties", {})
        found = {
            name: self._value(properties.get(name, {}), depth + 1)
            for name in schema.get("required", [])
        }
        return {name: value for name, value in found.items() if value is not None}

    def _value(self, schema: Any, depth: int) -> Any:
        if depth > _DEEPEST:
            return None
        schema = self._resolved(schema)
        if "enum" in schema:
            texts = [v for v in schema["enum"] if isinstance(v, str)]
            return next((v for v in texts if fold(v) in self._folded), None)
        kind = schema.get("type")
        if kind == "object" or "properties" in schema:
            return self.fill(schema, depth) or None
        if kind == "array":
            item = self._value(schema.get("items", {}), depth + 1)
            return None if item is None else [item]
        if kind in ("integer", "number"):
            text = next(self._numbers, None)
            if text is None:
                return None
            return float(text) if "." in text else int(text)
        if kind == "boolean":
            return None
        if "date" in schema.get("format", ""):
            return next(self._dates, None)
        return next(self._spans, None)

    def _resolved(self, schema: Any) -> dict[str, Any]:
        if not isinstance(schema, dict):
            return {}
        reference = schema.get("$ref", "")
        name = str(reference).rpartition("/")[2]
        for place in ("definitions", "$defs"):
            target = self._root.get(place, {}).get(name)
            if reference == f"#/{place}/{name}" and isinstance(target, dict) and target != schema:
                return target
        return schema


def _spans(question: str) -> Iterator[str]:
    yield from dict.fromkeys(_QUOTED.findall(question) + _NAME.findall(question))
    yield from sorted(filter(None, _CLAUSE.split(question)), key=len, reverse=True)[:1]
