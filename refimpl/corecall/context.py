"""What a prompt shows of a task's past: the latest records, oldest first."""

from __future__ import annotations

from datetime import datetime
from typing import TypeVar

from .templating import tag_safe_json
from .types import CallError, CallVars, ExecutorHistory

T = TypeVar("T")


def last(items: list[T], count: int) -> list[T]:
    """Return the last ``count`` items in their order; none for zero.

    Contract: llm.message.2, llm.message.3, llm.context.1, llm.context.2.
    """
    return items[-count:] if count else []


def clock(now: datetime) -> str:
    """Return ``now`` as ``YYYY-MM-DD HH:MM:SS``, on the clock it is given on.

    Contract: llm.render.2, slot.prompt.6.
    """
    return now.replace(tzinfo=None).isoformat(sep=" ", timespec="seconds")


def shown_steps(call_vars: CallVars, count: int) -> list[dict[str, str]]:
    """Return the last ``count`` steps as templates show them, output as tag-safe JSON.

    Raises ``CallError`` for an output that cannot be written as JSON.

    Contract: llm.context.1, llm.context.2, llm.context.3, llm.context.4, llm.context.10,
    llm.context.11.
    """
    records = [call_vars.step_data[step_id] for step_id in last(call_vars.step_order, count)]
    return [_shown(record) for record in records]


def _shown(record: ExecutorHistory) -> dict[str, str]:
    try:
        output = tag_safe_json(record.output_data)
    except ValueError as error:
        raise CallError(f"the output of step {record.stepId} cannot be shown: {error}") from error
    return {
        "step_name": record.step_name,
        "step_description": record.step_description,
        "output_data": output,
    }
