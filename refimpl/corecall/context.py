"""What a prompt shows of a task's past: the latest records, oldest first."""

from __future__ import annotations

from typing import TypeVar

from .templating import tag_safe_json
from .types import CallVars

T = TypeVar("T")


def last(items: list[T], count: int) -> list[T]:
    """Return the last ``count`` items in their order; none for zero."""
    return items[-count:] if count else []


def shown_steps(call_vars: CallVars, count: int) -> list[dict[str, str]]:
    """Return the last ``count`` steps as templates show them, output as tag-safe JSON."""
    records = [call_vars.step_data[step_id] for step_id in last(call_vars.step_order, count)]
    return [
        {
            "step_name": record.step_name,
            "step_description": record.step_description,
            "output_data": tag_safe_json(record.output_data),
        }
        for record in records
    ]
