"""What the scorer says: verdicts on slots and on cases, and what each counts for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from callbench.dataset.slots import ABSENT
from callbench.scoring.outcome import Status

SCORER_VERSION = 2
"""Raised whenever a score may come out differently for the same prediction."""

TRUE_POSITIVE = frozenset({"correct"})
FALSE_POSITIVE = frozenset(
    {"wrong_value", "wrong_type", "schema_invalid", "hallucinated", "undeclared"}
)
FALSE_NEGATIVE = frozenset({"wrong_value", "wrong_type", "schema_invalid", "missing"})
ORIGINATED = frozenset({"wrong_value", "schema_invalid", "hallucinated"})
"""Verdicts that say where the value came from."""
RIGHT = frozenset({"correct", "correctly_omitted", "known"})
STRICT_RUNGS = frozenset({"json", "number", ""})


@dataclass(frozen=True, slots=True)
class SlotScore:
    """The verdict on one slot.

    ``rung`` says on which rung a right value matched (``json``, ``number``, ``text``, ``time``,
    ``alias``, ``set``, ``default``), ``stage`` which stage gave the value. ``expected`` and ``got`` are ``ABSENT`` where
    there is no value. ``origin`` says of a value that is made up or wrong whether it is written
    ``elsewhere`` in the case or ``nowhere``; empty where that does not apply or cannot be told.
    """

    pointer: str
    verdict: str
    type: str
    required: bool
    expected: Any = ABSENT
    got: Any = ABSENT
    rung: str = ""
    stage: str = ""
    origin: str = ""


@dataclass(frozen=True, slots=True)
class CaseScore:
    """The verdict on one case. The flags are ``None`` for a provider error, which has none.

    ``exact``: every slot right and nothing made up, as the case declares equality.
    ``exact_strict``: the same under JSON equality, numbers by value, without repair of the reply.
    ``schema_valid``: the argument object satisfies the tool's schema; it does not when a required
    slot was rightly left open.
    """

    status: Status
    exact: bool | None
    exact_strict: bool | None
    schema_valid: bool | None
    repaired: bool = False
    slots: tuple[SlotScore, ...] = ()

    @property
    def counts(self) -> tuple[int, int, int]:
        """True positives, false positives and false negatives over the slots."""
        verdicts = [slot.verdict for slot in self.slots]
        return (
            sum(verdict in TRUE_POSITIVE for verdict in verdicts),
            sum(verdict in FALSE_POSITIVE for verdict in verdicts),
            sum(verdict in FALSE_NEGATIVE for verdict in verdicts),
        )
