"""Cases with nothing but what a test is about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from callbench.dataset import Accept, Case, Tool
from callbench.scoring import CaseScore, Outcome, SlotScore, score_case


@pytest.fixture
def make_case() -> Callable[..., Case]:
    """Build a case from a schema's properties and what is expected."""

    def make(
        properties: dict[str, Any],
        expected: dict[str, Any],
        *,
        required: tuple[str, ...] = (),
        accept: dict[str, Accept] | None = None,
        schema: dict[str, Any] | None = None,
        **fields: Any,
    ) -> Case:
        return Case(
            id="c",
            lang="en",
            tool=Tool("t"),
            schema={"type": "object", "properties": properties, "required": list(required)}
            | (schema or {}),
            question="q",
            expected=expected,
            accept=accept or {},
            **fields,
        )

    return make


@pytest.fixture
def judge() -> Callable[..., CaseScore]:
    """Score a case against the arguments that a system filled."""

    def judge(case: Case, slot_data: dict[str, Any], **outcome: Any) -> CaseScore:
        return score_case(case, Outcome(slot_data=slot_data, **outcome))

    return judge


@pytest.fixture
def verdicts() -> Callable[[CaseScore], dict[str, str]]:
    """Return verdicts by pointer, asserting that no slot has two."""

    def verdicts(score: CaseScore) -> dict[str, str]:
        found = {slot.pointer: slot.verdict for slot in score.slots}
        assert len(found) == len(score.slots), score.slots
        return found

    return verdicts


@pytest.fixture
def slot() -> Callable[[CaseScore, str], SlotScore]:
    """Return the one slot of a score at a pointer."""

    def slot(score: CaseScore, pointer: str) -> SlotScore:
        (found,) = [one for one in score.slots if one.pointer == pointer]
        return found

    return slot
