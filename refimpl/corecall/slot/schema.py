"""Input and output of the Slot, and the record of how each slot was filled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pydantic import Field

from ..core import DataBase
from .processor import Refusal


class SlotInput(DataBase):
    """What is still to be filled: ``{}`` when nothing is.

    Contract: slot.config.5.
    """

    remaining_schema: dict[str, Any] = Field(
        default_factory=dict, description="Schema of what is still to be filled, by pointer"
    )


class SlotOutput(DataBase):
    """The arguments after filling, and the schema of what is still missing.

    Contract: slot.config.5.
    """

    slot_data: dict[str, Any] = Field(default_factory=dict, description="The filled arguments")
    remaining_schema: dict[str, Any] = Field(
        default_factory=dict, description="Schema of what is still missing, by pointer"
    )


@dataclass(slots=True)
class SlotTrace:
    """How a Slot came to its output (extension; the harness scores it).

    ``filled_by`` gives the stage, ``stage1`` or ``stage2``, per pointer; ``answers`` the raw
    reply per stage; ``unparsed`` the stages whose reply held no object; ``repairs`` what was
    mended to read one.

    Contract: slot.trace.1, slot.trace.2, slot.trace.3, slot.trace.4, slot.trace.5, slot.trace.6.
    """

    asked: bool = False
    answers: dict[str, str] = field(default_factory=dict)
    unparsed: list[str] = field(default_factory=list)
    repairs: list[str] = field(default_factory=list)
    filled_by: dict[str, str] = field(default_factory=dict)
    rejected: list[Refusal] = field(default_factory=list)
    undeclared: list[Refusal] = field(default_factory=list)
