"""Writing the report of a run: ``summary.json``, ``report.md``, ``cases.csv``, ``slots.csv``.

One pass over ``cases.jsonl``; nothing but counts and the first wrong cases is kept in memory.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from callbench.errors import DatasetError
from callbench.report import markdown
from callbench.report.faults import noticed, read_faults, section
from callbench.report.runlog import LOG, iter_records, not_a_record, read_info
from callbench.report.summary import Prices, Summary
from callbench.report.tables import CASE_COLUMNS, SLOT_COLUMNS, case_row, slot_rows
from callbench.scoring.statistics.intervals import settings

SUMMARY = "summary.json"
WRONG_CASES = 20
"""How many wrong cases ``report.md`` shows when not told otherwise."""


def write_report(
    directory: Path,
    *,
    baselines: Sequence[dict[str, Any]] | None = None,
    prices: Prices | None = None,
    wrong_cases: int = WRONG_CASES,
) -> dict[str, Any]:
    """Write the report files of a run into its directory; return what ``summary.json`` holds.

    That is ``{"run": run.json, "statistics": {"level", "seed", "resamples"}, "rows": [model,
    *baselines]}``, all rows of one shape. ``baselines``
    left out are those of an earlier report, if there is one. Writing again over an unchanged run
    gives the same bytes.
    """
    info = read_info(directory)
    summary = Summary(str(info.get("model", directory.name)), prices)
    wrong: list[dict[str, Any]] = []
    wrong_count = 0
    with (
        (directory / "cases.csv").open(
            "w", encoding="utf-8", errors="replace", newline=""
        ) as cases_file,
        (directory / "slots.csv").open(
            "w", encoding="utf-8", errors="replace", newline=""
        ) as slots_file,
    ):
        cases = csv.DictWriter(cases_file, CASE_COLUMNS, lineterminator="\n")
        slots = csv.DictWriter(slots_file, SLOT_COLUMNS, lineterminator="\n")
        cases.writeheader()
        slots.writeheader()
        for number, record in enumerate(iter_records(directory), start=1):
            try:
                summary.add(record)
                cases.writerow(_flat(case_row(record), json_in=("slot_data",)))
                for row in slot_rows(record):
                    slots.writerow(_flat(row, json_in=("expected", "got")))
            except (KeyError, TypeError, AttributeError) as error:
                raise not_a_record(directory / LOG, number) from error
            if not record["exact"]:
                wrong_count += 1
                if len(wrong) < wrong_cases:
                    wrong.append(record)
    rows = [summary.as_dict(), *(_earlier(directory) if baselines is None else baselines)]
    document = {"run": info, "statistics": settings(), "rows": rows}
    try:
        page = markdown.report(info, rows, wrong, wrong_count)
    except (KeyError, TypeError, AttributeError) as error:
        raise DatasetError(
            f"{directory / SUMMARY} is not the summary of a run.",
            remedy="Remove it and report again; the baselines are then left out.",
        ) from error
    _replace(directory / SUMMARY, json.dumps(document, ensure_ascii=False, indent=1) + "\n")
    faults = read_faults(directory)
    if faults is not None:
        page = noticed(page, faults) + section(faults)
    _replace(directory / "report.md", page)
    return document


def _flat(row: dict[str, Any], *, json_in: Sequence[str]) -> dict[str, Any]:
    """Return a row whose every value fits a CSV field; no value is an empty field, null is ``null``."""
    flat = {}
    for name, value in row.items():
        if name in json_in:
            flat[name] = json.dumps(value, ensure_ascii=False)
        elif name == "tags":
            flat[name] = " ".join(value)
        else:
            flat[name] = value
    return flat


def _earlier(directory: Path) -> list[dict[str, Any]]:
    try:
        rows = json.loads((directory / SUMMARY).read_bytes())["rows"]
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return []
    return list(rows[1:]) if isinstance(rows, list) else []


def _replace(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    draft = path.with_name(path.name + ".part")
    # A lone surrogate can come from a reply; it is shown as a question mark.
    draft.write_bytes(text.encode("utf-8", errors="replace"))
    draft.replace(path)
