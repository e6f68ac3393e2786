"""The table of a run under faults, for ``report.md`` and the terminal, out of ``faults.json``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from callbench.errors import DatasetError
from callbench.report import markdown
from callbench.report.cells import Column, Row

FAULTS = "faults.json"

_SHOWN = 20

VIOLATIONS = ("crashed", "false_success", "lost_slot")
"""What may never be, as rows of ``faults.json`` name it."""

_LEGEND = """\
Each case was filled twice: on its recordings as they are, and with its answers under the fault. *right*: \
exact in both; *broken*: right without the fault only; *slots right*: without and with it; *unparsed* and *failed* (at the provider) are how \
cases ended under it; *not possible*: the answer has no place for the fault. What may never be: *crashed*, \
the system raised; *false success*, a value is right though every answer it could come from had lost it; \
*lost slot*, a known value is gone, or after a fault of stage 2 one that stage 1 had filled.
"""


def _count(name: str) -> Callable[[Row], str]:
    return lambda row: str(row[name])


def _length(name: str) -> Callable[[Row], str]:
    return lambda row: str(len(row[name]))


COLUMNS: tuple[Column, ...] = (
    ("fault", _count("fault")),
    ("cases", _count("cases")),
    ("right", lambda row: str(row["exact_before"] - len(row["broke"]))),
    ("broken", _length("broke")),
    ("slots right", lambda row: f"{row['slots_before']} → {row['slots_after']}"),
    ("wrong", _count("wrong")),
    ("unparsed", _count("unparsed")),
    ("failed", _count("provider_error")),
    ("not possible", _count("impossible")),
    ("crashed", _length("crashed")),
    ("false success", _length("false_success")),
    ("lost slot", _length("lost_slot")),
)

BRIEF: tuple[Column, ...] = (
    *COLUMNS[:2],
    ("broken", _length("broke")),
    ("slots right", lambda row: f"{row['slots_before']} → {row['slots_after']}"),
    ("violations", lambda row: str(sum(len(row[name]) for name in VIOLATIONS))),
)
"""What fits a terminal; ``report.md`` has all columns."""


def headline(document: Mapping[str, Any]) -> str:
    """Say what was laid over what, and what came of it, in one line."""
    broken = sum(document["violations"].values())
    return (
        f"Under faults ({document['file']}, seed {document['seed']}): {document['cases']} cases met one, "
        f"{document['broke']} of them were right without it and are no more; "
        f"{broken or 'no'} violation{'' if broken == 1 else 's'} of what may never be."
    )


def read_faults(directory: Path) -> dict[str, Any] | None:
    """Return ``faults.json`` of a run, ``None`` when it was run without."""
    path = directory / FAULTS
    try:
        value = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise DatasetError(f"{path} is not JSON: {error}.") from None
    if not isinstance(value, dict):
        raise DatasetError(f"{path} does not hold an object.")
    return value


def noticed(page: str, document: Mapping[str, Any]) -> str:
    """Return a report that says below its title what it is: its scores are not the model's."""
    title, _, rest = page.partition("\n")
    told = "These are not the model's scores: its answers were made faulty."
    return f"{title}\n\n> {markdown.escape(told)} {markdown.escape(headline(document))}\n{rest}"


def section(document: Mapping[str, Any]) -> str:
    """Return the section of ``report.md``: the table, then which fault broke which case."""
    lines = ["", "## Faults", "", markdown.escape(headline(document)), ""]
    lines += markdown.table(COLUMNS, document["rows"])
    lines += [_LEGEND]
    for title, key in (("Broke", "broke"), ("Violations", "violations")):
        found = [one for one in document["met"] if _is(one, key)]
        if found:
            lines += [f"### {title}: {len(found)}", "", "| case | fault | stage | under it |"]
            lines += ["| :-- | :-- | :-- | :-- |"]
            lines += [_line(one) for one in found[:_SHOWN]]
            if len(found) > _SHOWN:
                lines += ["", f"The other {len(found) - _SHOWN} stand in {FAULTS}."]
            lines += [""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _is(one: Mapping[str, Any], key: str) -> bool:
    if key == "violations":
        return bool(one["violations"])
    return bool(one["clean"] == "exact" != one["faulty"])


def _line(one: Mapping[str, Any]) -> str:
    under = ", ".join([one["faulty"], *one["violations"]])
    cells = (one["case"], one["fault"], one["stage"], under)
    return "| " + " | ".join(markdown.escape(str(cell)) for cell in cells) + " |"
