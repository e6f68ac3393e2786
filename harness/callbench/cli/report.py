"""``callbench report``: make the report of a finished run again, and print its tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from callbench.cli import output


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("report")(report)


def report(
    run: Annotated[Path, typer.Argument(help="Directory of a run.")],
    json_: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Write summary.json, report.md and the CSV files of a run anew; print its tables."""
    from callbench.report.runlog import read_info
    from callbench.report.write import write_report

    document = write_report(run, prices=output.prices_of(read_info(run)))
    if json_:
        output.print_json(document)
    else:
        output.print_report(document, run)
