"""What verbs print: progress on a terminal, tables for people, one object for programs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import typer

if TYPE_CHECKING:
    from callbench.report.summary import Prices


@contextmanager
def progress(silent: bool) -> Iterator[Callable[[int, int], None]]:
    """Give a function that shows how far a long work is; off when not on a terminal."""
    if silent or not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    with Progress(
        BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=Console(stderr=True),
        transient=True,
    ) as bar:  # fmt: skip
        task = bar.add_task("cases", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


class Stopped(SystemExit):
    """The end of a command that a signal ends as it should, and that told so itself."""


def tell(text: str) -> None:
    """Say something beside the result, to a person: on stderr."""
    typer.echo(text, err=True)


def hush(text: str) -> None:
    """Say nothing of it."""


def prices_of(info: dict[str, Any]) -> Prices | None:
    """Return the prices a run's profile states; none when two models with prices are mixed."""
    told = info.get("profiles")
    if not isinstance(told, dict):
        return None
    profiles = list({repr(p): p for p in told.values()}.values())
    if len(profiles) != 1 or not isinstance(profiles[0], dict):
        return None
    asked, answered = profiles[0].get("price_input"), profiles[0].get("price_output")
    if not isinstance(asked, int | float) or not isinstance(answered, int | float):
        return None
    from callbench.report.summary import Prices

    return Prices(asked, answered)


def print_json(value: Any) -> None:
    """Print one JSON object on stdout, which a caller may have closed."""
    if sys.stdout is None:
        return
    sys.stdout.buffer.write(orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE))
    sys.stdout.flush()


def run_object(document: dict[str, Any], directory: Path, seconds: float) -> dict[str, Any]:
    """Return the object of ``run --json``."""
    info, (model, *baselines) = document["run"], document["rows"]
    return {
        "run_id": info["run_id"],
        "dir": str(directory),
        "dataset": info["dataset"],
        "model": info["model"],
        "system": info["system"],
        **{key: info[key] for key in ("implementation",) if key in info},
        **_scores(model),
        **{key: model[key] for key in ("repeats",) if key in model},
        "seconds": round(seconds, 3),
        "baselines": {row["name"].partition(" ")[0]: _scores(row) for row in baselines},
    }


def _scores(row: dict[str, Any]) -> dict[str, Any]:
    keys = (
        "cases", "scored", "unparsed", "provider_errors", "exact", "exact_strict",
        "slot_precision", "slot_recall", "slot_f1", "schema_valid",
    )  # fmt: skip
    return {key: row[key] for key in keys}


def faults_object(document: dict[str, Any] | None) -> dict[str, Any]:
    """Return what ``run --json`` adds of a run under faults: its table, without the single cases."""
    if document is None:
        return {}
    return {"faults": {key: value for key, value in document.items() if key != "met"}}


def print_faults(document: dict[str, Any]) -> None:
    """Print what each fault did, a row each."""
    from rich.console import Console

    from callbench.report.faults import BRIEF, headline
    from callbench.report.terminal import table

    console = Console()
    rows = [row for row in document["rows"] if row["cases"]]
    console.print(table("Faults", BRIEF, rows, console.width))
    console.print(headline(document), markup=False, highlight=False)


def print_report(document: dict[str, Any], directory: Path) -> None:
    """Print the tables of a run and where its files are."""
    from rich.console import Console

    from callbench.report.cells import early
    from callbench.report.terminal import print_repeats, print_scores, print_slices

    console = Console()
    info, rows = document["run"], document["rows"]
    title = " · ".join(str(info[key]) for key in ("dataset", "system", "mode") if key in info)
    if isinstance(info.get("shots"), int):
        title += f" · {info['shots']} shots"
    if isinstance(info.get("implementation"), str):
        title += f" · {info['implementation']}"
    print_scores(console, title, rows)
    if told := early(info, rows[0]["cases"]):
        console.print(told)
    if "repeats" in rows[0]:
        print_repeats(console, rows[0])
    for key in ("lang", "type", "stage"):
        if rows[0]["by"][key]:
            print_slices(console, rows[0], key)
    console.print(f"report: {directory / 'report.md'}", highlight=False, soft_wrap=True)
