"""The line of ``cases.jsonl`` that a scored case becomes, and its bytes.

Everything that the clock decides stands under the one key ``timing``, last, so that two replays of
the same run are byte-identical without it. A slot without an expected or a given value lacks the
key: absent is not null.

The record also holds the whole :class:`Outcome`, so that a stored run can be scored again without
any model: ``status``, ``slot_data`` and ``error`` stand for themselves, ``outcome`` holds those of
its other fields that are not at their default.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, get_args

import orjson

from callbench.dataset.case import Case
from callbench.dataset.slots import ABSENT
from callbench.scoring.outcome import Outcome, Status
from callbench.scoring.result import CaseScore, SlotScore


@dataclass(frozen=True, slots=True)
class Spent:
    """What a case took: model calls, tokens (``None`` where no usage was told), milliseconds.

    ``first_token_ms`` is that of the first answer that was streamed, ``tokens_per_second`` that of all that
    were, see :mod:`callbench.cassette.tokens`.
    """

    calls: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    ms: float = 0.0
    first_event_ms: float | None = None
    first_token_ms: float | None = None
    tokens_per_second: float | None = None


def case_record(case: Case, outcome: Outcome, score: CaseScore, spent: Spent) -> dict[str, Any]:
    """Return the record of one scored case. Keys are always all there, in this order."""
    return {
        "id": case.id,
        **_asked(case),
        **_flags(score),
        "slot_data": outcome.slot_data,
        "slots": [_slot(slot) for slot in score.slots],
        "outcome": _rest(outcome),
        "error": outcome.error,
        "calls": spent.calls,
        "prompt_tokens": spent.prompt_tokens,
        "completion_tokens": spent.completion_tokens,
        "timing": {
            "ms": round(spent.ms, 3),
            "first_event_ms": _rounded(spent.first_event_ms),
            "first_token_ms": _rounded(spent.first_token_ms),
            "tokens_per_second": _rounded(spent.tokens_per_second),
        },
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def stored_outcome(record: dict[str, Any]) -> Outcome | None:
    """Return the outcome that a record holds, ``None`` when it is of a version that kept it not.

    Raises ``KeyError``, ``TypeError`` or ``ValueError`` for what is no such record.
    """
    if "outcome" not in record:
        return None
    rest = dict(record["outcome"])
    kept = (record["slot_data"], rest.get("filled_by", {}), rest.get("remaining_schema", {}))
    if record["status"] not in get_args(Status) or not all(isinstance(one, dict) for one in kept):
        raise ValueError("no outcome")
    return Outcome(
        status=record["status"],
        slot_data=record["slot_data"],
        error=record["error"],
        rejected=tuple((at, value, why) for at, value, why in rest.pop("rejected", ())),
        undeclared=tuple((at, value) for at, value in rest.pop("undeclared", ())),
        **rest,
    )


def scored_again(record: dict[str, Any], case: Case, score: CaseScore) -> dict[str, Any]:
    """Return the record with another score, and what it copies from the case; the order is kept."""
    slots = [_slot(slot) for slot in score.slots]
    return {**record, **_asked(case), **_flags(score), "slots": slots}


def _asked(case: Case) -> dict[str, Any]:
    return {
        "lang": case.lang,
        "tags": list(case.tags),
        "cluster": case.cluster,
        "question": case.question,
    }


def _flags(score: CaseScore) -> dict[str, Any]:
    return {
        "status": score.status,
        "exact": score.exact,
        "exact_strict": score.exact_strict,
        "schema_valid": score.schema_valid,
        "repaired": score.repaired,
    }


def _rest(outcome: Outcome) -> dict[str, Any]:
    rest: dict[str, Any] = {}
    if not outcome.asked:
        rest["asked"] = False
    if outcome.repaired:
        rest["repaired"] = True
    for name in ("filled_by", "rejected", "undeclared", "remaining_schema"):
        value = getattr(outcome, name)
        if value:
            rest[name] = value
    return rest


def _slot(slot: SlotScore) -> dict[str, Any]:
    record: dict[str, Any] = {
        "pointer": slot.pointer,
        "verdict": slot.verdict,
        "rung": slot.rung,
        "stage": slot.stage,
        "origin": slot.origin,
        "type": slot.type,
        "required": slot.required,
    }
    if slot.expected is not ABSENT:
        record["expected"] = slot.expected
    if slot.got is not ABSENT:
        record["got"] = slot.got
    return record


def record_line(record: dict[str, Any]) -> bytes:
    """Return a record as one line of JSON, newline included."""
    try:
        return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        # What a model may say and orjson may not: integers beyond 64 bits, half a surrogate pair.
        return json.dumps(record, separators=(",", ":")).encode() + b"\n"
