"""``callbench compare``: runs over the same cases, against the first of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from callbench.cli import output


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("compare")(compare)


def compare(
    runs: Annotated[
        list[Path], typer.Argument(help="Directories of runs; the first is the baseline.")
    ],
    metric: Annotated[
        str,
        typer.Option(
            "--metric",
            help="exact, exact_strict, exact_all, slot_f1, slot_precision, slot_recall "
            "or schema_valid.",
        ),
    ] = "exact",
    by: Annotated[
        str | None, typer.Option("--by", help="Also each slice: lang, tag, or type (of slots).")
    ] = None,
    margin: Annotated[
        float, typer.Option("--margin", help="Differences up to this are no verdict, as in 0.02.")
    ] = 0.0,
    common: Annotated[
        bool, typer.Option("--common", help="Compare the cases that all runs have.")
    ] = False,
    shown: Annotated[
        int, typer.Option("--shown", min=0, help="How many changed cases to name.")
    ] = 10,
    json_: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", help="Also write the tables to this file.")
    ] = None,
) -> None:
    """Is a run better or worse than the baseline, case by case? Paired tests, corrected.

    Runs are joined by the ids of their cases; those that do not match are refused.
    """
    from callbench.report.comparison import Question
    from callbench.report.comparison import compare as compared

    found = compared(runs, Question(metric, by, margin, common, shown))
    if markdown is not None:
        from callbench.report.comparison_tables import to_markdown

        markdown.write_text(to_markdown(found), encoding="utf-8", errors="replace")
    if json_:
        output.print_json(found)
        return
    from rich.console import Console

    from callbench.report.comparison_tables import to_terminal

    to_terminal(Console(), found)
