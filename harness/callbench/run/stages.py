"""The two stages of the Slot, each alone, so that a report can tell what either is worth."""

from __future__ import annotations

from typing import Any

from corecall.core import Message
from corecall.slot.schema import SlotInput, SlotOutput
from corecall.slot.slot import Slot


class Stage1(Slot, input_model=SlotInput, output_model=SlotOutput):
    """The Slot without its second stage: what the reasoning model left out stays missing.

    It asks what the Slot asks first, to the byte, so the Slot's recordings answer it.
    """

    async def _function_slot_fill(self, answer: str, asked: dict[str, Any]) -> dict[str, Any]:
        return {}


class Stage2(Slot, input_model=SlotInput, output_model=SlotOutput):
    """The Slot without its first stage: the function model is asked for all that is missing.

    The Slot's prompt is the user's turn, in place of a turn that says what stage 1 left out;
    the schema is that of stage 2.
    """

    async def _llm_slot_fill(self, asked: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        self._messages = self._prepare_messages()
        return "", {}

    async def _json(self, messages: list[Message], schema: dict[str, Any]) -> dict[str, Any]:
        return await super()._json(self._messages, schema)
