"""The cells of the tables: what each column shows, as text, for terminal and Markdown alike."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

NONE = "–"
"""Stands where there is no value: a rate over nothing is neither 0 nor 100 %."""

Row = Mapping[str, Any]
Column = tuple[str, Callable[[Row], str]]


def percent(rate: Mapping[str, Any]) -> str:
    """Return a rate with its interval, as in ``82.1 (76.4–86.7)``, in percent."""
    if rate["value"] is None:
        return NONE
    return f"{_hundred(rate['value'])} ({_hundred(rate['low'])}–{_hundred(rate['high'])})"


def _hundred(share: float) -> str:
    return f"{100 * share:.1f}"


def number(value: float | int | None, digits: int = 0) -> str:
    """Return a number with separators of thousands."""
    return NONE if value is None else f"{value:,.{digits}f}"


def value(slot: Mapping[str, Any], key: str) -> str:
    """Return the expected or given value of a recorded slot as JSON, a dash when there is none."""
    return json.dumps(slot[key], ensure_ascii=False) if key in slot else NONE


def _cost(row: Row) -> str:
    cost = row["cost"]
    return NONE if cost is None else f"{cost['value']:.4f} {cost['currency']}"


def _rate(key: str) -> Callable[[Row], str]:
    return lambda row: percent(row[key])


def _count(key: str) -> Callable[[Row], str]:
    return lambda row: number(row[key])


def _median(key: str) -> Callable[[Row], str]:
    return lambda row: number(row[key]["p50"], 1)


def counted(columns: Sequence[Column], row: Row) -> Sequence[Column]:
    """Return columns whose cases are named answers where ``row`` is of a run with repeats."""
    if "repeats" not in row:
        return columns
    return [("answers" if header == "cases" else header, cell) for header, cell in columns]


def plural(count: int, what: str) -> str:
    """Return a number with what it counts, as in ``1 case`` and ``1,204 cases``."""
    return f"{count:,} {what}" + ("" if count == 1 else "s")


def early(info: Row, there: int) -> str:
    """Say that a run ended before it had all its answers; ``""`` for one that is whole."""
    asked, repeats = info.get("cases"), info.get("repeats", 1)
    if not isinstance(asked, int) or not isinstance(repeats, int) or there >= asked * repeats:
        return ""
    what = "cases" if repeats == 1 else "answers"
    verb = "is" if there == 1 else "are"
    return f"The run ended early: {there} of its {asked * repeats} {what} {verb} there."


_NAME: Column = ("", lambda row: str(row["name"]))
_CASE_RATES: tuple[Column, ...] = (
    ("exact %", _rate("exact")),
    ("strict %", _rate("exact_strict")),
)
_SLOT_RATES: tuple[Column, ...] = (
    ("precision %", _rate("slot_precision")),
    ("recall %", _rate("slot_recall")),
    ("F1 %", _rate("slot_f1")),
)

SCORES: tuple[Column, ...] = (
    _NAME,
    ("cases", _count("cases")),
    *_CASE_RATES,
    *_SLOT_RATES,
    ("schema-valid %", _rate("schema_valid")),
)
"""The scores of a model and of the baselines, one a row."""

SPENT: tuple[Column, ...] = (
    _NAME,
    ("p50 ms", lambda row: number(row["latency_ms"]["p50"], 1)),
    ("p95 ms", lambda row: number(row["latency_ms"]["p95"], 1)),
    ("first token p50 ms", _median("first_token_ms")),
    ("tokens/s p50", _median("tokens_per_second")),
    ("prompt tokens", _count("prompt_tokens")),
    ("reply tokens", _count("completion_tokens")),
    ("cost", _cost),
)
"""What a model took: latency per case, time to the first token and tokens a second where it streamed, tokens, cost."""

REST: tuple[Column, ...] = (
    _NAME,
    ("scored", _count("scored")),
    ("unparsed", _count("unparsed")),
    ("provider errors", _count("provider_errors")),
    ("repaired", _count("repaired")),
    ("exact of all %", _rate("exact_all")),
    *SPENT[1:],
)
"""What else there is to say of each: classes, latency, tokens, cost."""

_CASE_SLICE: tuple[Column, ...] = (
    _NAME,
    ("cases", _count("cases")),
    *_CASE_RATES,
    *_SLOT_RATES,
)
_SLOT_SLICE: tuple[Column, ...] = (
    _NAME,
    ("right", _count("tp")),
    ("wrong", _count("fp")),
    ("not found", _count("fn")),
    *_SLOT_RATES,
)
_STAGE_SLICE: tuple[Column, ...] = (
    _NAME,
    ("right", _count("tp")),
    ("wrong", _count("fp")),
    ("precision %", _rate("slot_precision")),
)

SLICES: tuple[tuple[str, str, tuple[Column, ...]], ...] = (
    ("lang", "By language", _CASE_SLICE),
    ("tag", "By tag", _CASE_SLICE),
    ("type", "By slot type", _SLOT_SLICE),
    ("stage", "By stage that filled the slot", _STAGE_SLICE),
)
"""Key under ``by``, title and columns of each table of slices."""


PASSES: tuple[Column, ...] = (
    ("k", lambda row: str(row["k"])),
    ("pass@k %", _rate("pass_at")),
    ("pass^k %", _rate("pass_all")),
    ("cases", lambda row: number(row["pass_at"]["n"])),
)
"""How often one of k answers is exact, and how often all are."""

BETWEEN: tuple[Column, ...] = (
    _NAME,
    ("runs", _count("runs")),
    ("sd", lambda row: NONE if row["sd"] is None else f"{100 * row['sd']:.2f}"),
    ("least %", lambda row: NONE if row["low"] is None else _hundred(row["low"])),
    ("most %", lambda row: NONE if row["high"] is None else _hundred(row["high"])),
)
"""How far the repeats lie apart; ``sd`` in percentage points."""


def passes(row: Row) -> list[Row]:
    """Return the rows of pass@k and pass^k."""
    told = row["repeats"]
    return [
        {"k": k, "pass_at": told["pass_at"][k], "pass_all": told["pass_all"][k]}
        for k in told["pass_at"]
    ]


def between(row: Row) -> list[Row]:
    """Return the rows of the spread between repeats, one a metric."""
    return [{"name": name, **one} for name, one in row["repeats"]["between"].items()]


def slices(row: Row, key: str) -> list[Row]:
    """Return the slices of a row as rows of their own, named after what they are the slice of."""
    return [{"name": name, **one} for name, one in row["by"][key].items()]


def cells(columns: Sequence[Column], row: Row) -> list[str]:
    """Return the texts of a row."""
    return [cell(row) for _, cell in columns]
