"""``callbench cassette convert``: cassettes of vcrpy to ours and back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from callbench.cli.output import print_json, tell


def register(app: typer.Typer) -> None:
    """Add the verb to the group ``cassette``."""
    app.command("convert")(convert)


def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="The cassette to read.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write.")],
    base_url: Annotated[
        str, typer.Option(help="To vcrpy: the address of recordings that have none.")
    ] = "http://localhost",
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Convert a vcrpy cassette (.yaml, .yml, .json) to ours (.cassette.jsonl), or back.

    Credentials are masked, never copied; what is masked, and what the other format has no place for, is told.
    """
    from callbench.cassette.convert import convert as convert_file

    done = convert_file(source, target, base_url=base_url, force=force)
    told = {"masked": done.masked, "lost": done.lost, "changed": done.changed}
    if as_json:
        print_json(
            {"in": str(source), "out": str(target), "interactions": done.interactions, **told}
        )
        return
    typer.echo(f"{source} -> {target}: {done.interactions} interactions")
    for verb, counts in told.items():
        for what, count in sorted(counts.items()):
            tell(f"{verb}: {count} {what}")
