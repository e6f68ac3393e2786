"""Input and output of the LLM call (seed LLM §5).

Contract: llm.config.8.
"""

from __future__ import annotations

from pydantic import Field

from ..core import DataBase


class LLMInput(DataBase):
    """The messages sent to the model, each with ``role`` and ``content``."""

    message: list[dict[str, str]] = Field(description="Messages for the model")


class LLMOutput(DataBase):
    """Empty: the LLM call's output is its stream of TEXT chunks."""
