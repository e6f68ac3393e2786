"""One run of a Slot against scripted models, for the tests of the Slot."""

from __future__ import annotations

from typing import Any

from corecall.slot.slot import Slot
from corecall.types import CallError, CallOutputType

from .support import FakeFunction, FakeReasoning, Pair, executor

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "nights": {"type": "integer", "minimum": 1},
        "breakfast": {"type": "boolean", "default": True},
    },
    "required": ["city", "nights"],
}


class Filled:
    """What came of one run: the Slot, its output, and what its models were asked."""

    def __init__(self, slot: Slot, output: dict[str, Any], models: Pair) -> None:
        self.slot = slot
        self.output = output
        self.data = output["slot_data"]
        self.remaining = output["remaining_schema"]
        self.reasoning: FakeReasoning = models.reasoning
        self.function: FakeFunction = models.function

    @property
    def prompt(self) -> str:
        """The text of stage 1."""
        return str(self.reasoning.requests[0]["messages"][-1]["content"])


async def fill(
    *,
    first: str | list[str | None] | Exception | None = None,
    second: dict[str, Any] | CallError | None = None,
    schema: dict[str, Any] = SCHEMA,
    runner: dict[str, Any] | None = None,
    reply_mode: str = "text",
    **given: Any,
) -> Filled:
    """Run a Slot whose models say ``first`` and ``second``, and nothing when those are ``None``."""
    replies: list[Any] = []
    if first is not None:
        replies.append(first if isinstance(first, (Exception, list)) else [first])
    models = Pair(FakeReasoning(replies), FakeFunction([] if second is None else [second]))
    models.reasoning.reply_mode = reply_mode
    task = executor(models, **(runner or {}))
    slot = await Slot.instance(task, None, current_schema=schema, **given)
    chunks = [chunk async for chunk in slot.exec(task, slot.input)]
    assert [chunk.type for chunk in chunks] == [CallOutputType.DATA]
    content = chunks[0].content
    assert isinstance(content, dict)
    return Filled(slot, content, models)
