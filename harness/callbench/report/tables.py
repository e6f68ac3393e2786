"""The two tables of a run, row by row: what the frames and the CSV files hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from callbench.report.summary import counts_of

CASE_COLUMNS = (
    "id",
    "repeat",
    "lang",
    "tags",
    "cluster",
    "question",
    "status",
    "exact",
    "exact_strict",
    "schema_valid",
    "repaired",
    "tp",
    "fp",
    "fn",
    "slot_data",
    "error",
    "calls",
    "prompt_tokens",
    "completion_tokens",
    "ms",
    "first_event_ms",
    "first_token_ms",
    "tokens_per_second",
)
SLOT_COLUMNS = (
    "id",
    "repeat",
    "lang",
    "tags",
    "pointer",
    "verdict",
    "rung",
    "stage",
    "type",
    "required",
    "expected",
    "got",
)


def case_row(record: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a record in the frame of cases; ``repeat`` is 0 where none was asked for."""
    tp, fp, fn = counts_of(record["slots"])
    flat = {"repeat": 0, **record, **record["timing"], "tp": tp, "fp": fp, "fn": fn}
    return {name: flat.get(name) for name in CASE_COLUMNS}


def slot_rows(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a record in the frame of slots; an absent value has no key."""
    for slot in record["slots"]:
        row = {
            "id": record["id"],
            "repeat": record.get("repeat", 0),
            "lang": record["lang"],
            "tags": record["tags"],
            **slot,
        }
        yield {name: row[name] for name in SLOT_COLUMNS if name in row}
