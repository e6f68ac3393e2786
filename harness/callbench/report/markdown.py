"""``report.md``: the whole report of a run as Markdown tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from callbench.report.cells import (
    BETWEEN,
    PASSES,
    REST,
    SCORES,
    SLICES,
    Column,
    Row,
    between,
    cells,
    counted,
    early,
    passes,
    slices,
    value,
)
from callbench.scoring.aggregate import SEED
from callbench.scoring.result import RIGHT, SCORER_VERSION

_SPECIAL = re.compile(r"([\\`*_\[\]|~#!])")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}

_LEGEND = f"""\
Rates are in percent with their 95 % interval in parentheses: Wilson's where what is counted is independent, \
cluster-robust where cases come from one dialogue, answers from one case or slots from one case, for F1 of many \
clusters a bootstrap (seed {SEED}); `summary.json` says which. *exact*: every slot right and nothing made up, as the dataset declares \
equality; *strict*: the same under JSON equality, without repair of the reply. *precision*: right slots \
among those filled; *recall*: among those expected. *schema-valid*: the filled arguments satisfy the \
tool's schema. An unparsed reply is wrong; a provider error is in no rate but *exact of all*. A dash is a \
rate over nothing. Scorer version {SCORER_VERSION}.
"""


def escape(text: str) -> str:
    """Return text that Markdown shows as it is, in one line, inside a table cell too."""
    for character, entity in _ENTITIES.items():
        text = text.replace(character, entity)
    text = _SPECIAL.sub(r"\\\1", text)
    return "<br>".join(text.splitlines())


def table(columns: Sequence[Column], rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of a table, the first column left, the others right."""
    yield _line(header for header, _ in columns)
    yield "|" + "|".join([" :-- "] + [" --: "] * (len(columns) - 1)) + "|"
    for row in rows:
        yield _line(cells(columns, row))
    yield ""


def _line(texts: Any) -> str:
    return "| " + " | ".join(escape(text) for text in texts) + " |"


def report(
    info: Mapping[str, Any],
    rows: Sequence[Row],
    wrong: Sequence[Mapping[str, Any]],
    wrong_count: int,
) -> str:
    """Return the report: ``info`` is ``run.json``, the first of ``rows`` the model's.

    ``wrong`` holds the records of the first wrong cases, ``wrong_count`` says how many there are.
    """
    model = rows[0]
    parts = [f"# {escape(str(model['name']))}", ""]
    if told := early(info, model["cases"]):
        parts += [f"> {told}", ""]
    parts += [*_facts(info)]
    parts += ["## Scores", "", *table(counted(SCORES, model), rows), *table(REST, rows), _LEGEND]
    if "repeats" in model:
        parts += ["## Repeats", "", *table(PASSES, passes(model)), *table(BETWEEN, between(model))]
    for key, title, columns in SLICES:
        if model["by"][key]:
            parts += [f"## {title}", "", *table(counted(columns, model), slices(model, key))]
    parts += ["## Verdicts", "", *_counts("verdict", model["verdicts"])]
    parts += [*_counts("matched on rung", model["rungs"])]
    parts += _wrong_cases(wrong, wrong_count)
    return "\n".join(parts).rstrip("\n") + "\n"


def _facts(info: Mapping[str, Any]) -> Iterator[str]:
    plain = {key: one for key, one in info.items() if isinstance(one, str | int | float | bool)}
    if plain:
        yield "| run | |"
        yield "| :-- | :-- |"
        for key, one in plain.items():
            yield _line((key, str(one)))
        yield ""


def _counts(header: str, counts: Mapping[str, int]) -> Iterator[str]:
    if counts:
        yield f"| {header} | slots |"
        yield "| :-- | --: |"
        for name, count in counts.items():
            yield _line((name, f"{count:,}"))
        yield ""


def _wrong_cases(wrong: Sequence[Mapping[str, Any]], total: int) -> Iterator[str]:
    if not wrong:
        return
    yield f"## Wrong cases: {len(wrong)} of {total}"
    yield ""
    for record in wrong:
        repeat = f" (repeat {record['repeat']})" if "repeat" in record else ""
        yield f"### {escape(record['id'])}{repeat}"
        yield ""
        yield f"> {escape(record['question'])}"
        yield ""
        if record["status"] != "ok":
            yield f"{escape(record['status'])}: {escape(record.get('error') or 'no message')}"
            yield ""
        faults = [slot for slot in record["slots"] if slot["verdict"] not in RIGHT]
        if faults:
            yield "| slot | verdict | expected | got |"
            yield "| :-- | :-- | :-- | :-- |"
            for slot in faults:
                yield _line(
                    (
                        slot["pointer"],
                        slot["verdict"],
                        value(slot, "expected"),
                        value(slot, "got"),
                    )
                )
            yield ""
