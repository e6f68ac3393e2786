"""The line of ``cases.jsonl`` that a scored case becomes, and its bytes.

Everything that the clock decides stands under the one key ``timing``, last, so that two replays of
the same run are byte-identical without it. A slot without an expected or a given value lacks the
key: absent is not null.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import orjson

from callbench.dataset.case import Case
from callbench.dataset.slots import ABSENT
from callbench.scoring.outcome import Outcome
from callbench.scoring.result import CaseScore, SlotScore


@dataclass(frozen=True, slots=True)
class Spent:
    """What a case took: model calls, tokens (``None`` where no usage was told), milliseconds."""

    calls: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    ms: float = 0.0
    first_event_ms: float | None = None


def case_record(case: Case, outcome: Outcome, score: CaseScore, spent: Spent) -> dict[str, Any]:
    """Return the record of one scored case. Keys are always all there, in this order."""
    return {
        "id": case.id,
        "lang": case.lang,
        "tags": list(case.tags),
        "cluster": case.cluster,
        "question": case.question,
        "status": score.status,
        "exact": score.exact,
        "exact_strict": score.exact_strict,
        "schema_valid": score.schema_valid,
        "repaired": score.repaired,
        "slot_data": outcome.slot_data,
        "slots": [_slot(slot) for slot in score.slots],
        "error": outcome.error,
        "calls": spent.calls,
        "prompt_tokens": spent.prompt_tokens,
        "completion_tokens": spent.completion_tokens,
        "timing": {
            "ms": round(spent.ms, 3),
            "first_event_ms": (
                None if spent.first_event_ms is None else round(spent.first_event_ms, 3)
            ),
        },
    }


def _slot(slot: SlotScore) -> dict[str, Any]:
    record: dict[str, Any] = {
        "pointer": slot.pointer,
        "verdict": slot.verdict,
        "rung": slot.rung,
        "stage": slot.stage,
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
