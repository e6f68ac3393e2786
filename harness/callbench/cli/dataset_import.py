"""``callbench dataset import``: a public set or a file of another tool becomes a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from callbench.dataset.importers.writing import Report


def register(app: typer.Typer) -> None:
    """Add the verb to ``callbench dataset``."""
    app.command("import")(import_)


def import_(
    name: Annotated[str, typer.Argument(help="Importer; see --list.")] = "",
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Files, directories or zips to read.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="New directory for the dataset.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Write at most so many cases.")] = None,
    gold: Annotated[
        Path | None, typer.Option(help="bfcl, acebench: the gold, if not beside the questions.")
    ] = None,
    questions: Annotated[
        Path | None, typer.Option(help="mcp: questions and wanted calls, JSON Lines.")
    ] = None,
    mapping: Annotated[
        Path | None, typer.Option(help="csv, parquet: which column is which field, TOML.")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the importers.")] = False,
) -> None:
    """Import a set; report what was left out and every defect of its gold."""
    from callbench.dataset.importers import EXTRAS, IMPORTERS
    from callbench.dataset.importers.writing import import_dataset
    from callbench.errors import UsageError

    if list_:
        for known in IMPORTERS:
            typer.echo(f"{known}\t{_summary(known)}")
        return
    if not name or not paths or out is None:
        raise UsageError(
            "An importer, a path and -o OUT are needed.",
            remedy="As in: callbench dataset import bfcl BFCL_v4_simple_python.json -o bfcl-simple",
        )
    options = {"gold": gold, "questions": questions, "mapping": mapping}
    extra = {option: path for option, path in options.items() if path is not None}
    for option in extra:
        if name in IMPORTERS and option not in EXTRAS.get(name, ()):
            raise UsageError(f"The importer {name} takes no --{option}.", remedy="Leave it out.")
    _tell(import_dataset(name, paths, out, extra=extra, limit=limit), out)


def _summary(name: str) -> str:
    from callbench.dataset.importers import IMPORTERS

    return IMPORTERS[name]().summary


def _tell(report: Report, out: Path) -> None:
    typer.echo(f"{len(report.records)} records, {report.items} items = {report.cases} cases"
               f" + {len(report.excluded)} left out")  # fmt: skip
    for kind, count in report.excluded_by_kind().items():
        typer.echo(f"  left out, {kind}: {count}")
    typer.echo(f"defects of the gold: {len(report.defects)}")
    for kind, count in report.defects_by_kind().items():
        typer.echo(f"  {kind}: {count}")
    licences = sorted({str(source["licence"]) for source in report.sources} - {""})
    typer.echo(f"licence: {', '.join(licences) or 'none found'}")
    typer.echo(f"wrote {out}" if report.cases else f"wrote {out}; no case: all is out of scope")
