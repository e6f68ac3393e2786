"""The results of a run as pandas frames: the public way into a run from Python.

>>> run = callbench.load_run("reports/2026-03-12T093000-smollm2")   # doctest: +SKIP
>>> run.slots.groupby("type")["verdict"].value_counts()             # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from callbench.report.runlog import LOG, iter_records, read_info
from callbench.report.summary import Prices, summarize
from callbench.report.tables import CASE_COLUMNS, SLOT_COLUMNS, case_row, slot_rows

_CASE_TYPES = {
    "repeat": "int64",
    "exact": "boolean",
    "exact_strict": "boolean",
    "schema_valid": "boolean",
    "repaired": "boolean",
    "tp": "int64",
    "fp": "int64",
    "fn": "int64",
    "calls": "int64",
    "prompt_tokens": "Int64",
    "completion_tokens": "Int64",
    "ms": "float64",
    "first_event_ms": "float64",
    "first_token_ms": "float64",
    "tokens_per_second": "float64",
}


@dataclass(frozen=True)
class Run:
    """A run on disk. Nothing is read before it is asked for; the frames are read once.

    ``info`` is ``run.json``. ``cases`` has one row a case, indexed from 0, its flags missing
    (``<NA>``) for a provider error; ``repeat`` counts the answers to a case from 0. ``slots`` has one row a judged slot, with its case's ``id``,
    ``lang`` and ``tags``; ``expected`` and ``got`` hold the JSON value, ``None`` for null and ``<NA>``
    for no value.
    """

    path: Path
    info: dict[str, Any]

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield the records of ``cases.jsonl`` one at a time."""
        return iter_records(self.path)

    def summary(self, prices: Prices | None = None) -> dict[str, Any]:
        """Return the summary row of the run, computed from its records."""
        return summarize(str(self.info.get("model", self.path.name)), self.records(), prices)

    @cached_property
    def cases(self) -> pd.DataFrame:
        """One row a case."""
        rows = [case_row(record) for record in self.records()]
        return pd.DataFrame(rows, columns=pd.Index(CASE_COLUMNS)).astype(_CASE_TYPES)

    @cached_property
    def slots(self) -> pd.DataFrame:
        """One row a slot."""
        rows = [row for record in self.records() for row in slot_rows(record)]
        columns = {
            name: pd.Series([row.get(name, pd.NA) for row in rows], dtype="object")
            for name in SLOT_COLUMNS
        }
        frame = pd.DataFrame(columns)
        texts = ["id", "lang", "pointer", "verdict", "rung", "stage", "type"]
        return frame.astype(dict.fromkeys(texts, "str") | {"required": "bool", "repeat": "int64"})


def load_run(path: str | Path) -> Run:
    """Open a run by its directory, or by the ``cases.jsonl`` in it.

    Raises :class:`~callbench.errors.UsageError` when there is no run there.
    """
    path = Path(path)
    directory = path.parent if path.name == LOG else path
    return Run(directory, read_info(directory))
