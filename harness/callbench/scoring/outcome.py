"""What a system under test did with one case: the input of the scorer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Status = Literal["ok", "unparsed", "provider_error"]
"""``unparsed``: no reply could be read, which is wrong. ``provider_error``: there was no reply to
judge, which is a class of its own and in no rate."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of filling one case.

    ``slot_data`` is the whole argument object after filling, ``{}`` when nothing was asked.
    ``filled_by`` maps a pointer to the stage that filled it (``known``, ``stage1``, ``stage2``).
    ``rejected`` holds ``(pointer, value, reason)`` of values that broke their own slot's schema,
    ``undeclared`` ``(pointer, value)`` of keys the schema does not declare; neither was merged.
    ``repaired`` says that a reply could be read only after repair.
    """

    status: Status = "ok"
    slot_data: dict[str, Any] = field(default_factory=dict)
    remaining_schema: dict[str, Any] = field(default_factory=dict)
    filled_by: dict[str, str] = field(default_factory=dict)
    rejected: tuple[tuple[str, Any, str], ...] = ()
    undeclared: tuple[tuple[str, Any], ...] = ()
    asked: bool = True
    repaired: bool = False
    error: str = ""
