"""``callbench dataset``: check a dataset of your own, list the bundled ones."""

from __future__ import annotations

from typing import Annotated

import typer

from callbench.cli import dataset_import, dataset_upkeep

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Check, import, inspect and mend datasets."
)
dataset_import.register(app)
dataset_upkeep.register(app)


@app.command()
def check(
    dataset: Annotated[str, typer.Argument(help="Bundled dataset by name, or a path.")],
) -> None:
    """Check every line against the format and its own schema; say what is wrong and where."""
    from collections import Counter

    from callbench.dataset.loader import load_dataset

    found = load_dataset(dataset)
    langs: Counter[str] = Counter()
    tags: Counter[str] = Counter()
    for case in found.cases:
        langs[case.lang] += 1
        tags.update(case.tags)
    typer.echo(f"{found.name}: {_cases(len(found.cases))}, all sound (sha256 {found.sha256[:12]})")
    typer.echo("languages: " + ", ".join(f"{lang} {n}" for lang, n in sorted(langs.items())))
    if tags:
        typer.echo("tags: " + ", ".join(f"{tag} {n}" for tag, n in sorted(tags.items())))


@app.command("list")
def list_() -> None:
    """List the bundled datasets."""
    from callbench.bundled import bundled
    from callbench.dataset.loader import bundled_names

    root = bundled("datasets")
    for name in bundled_names(root):
        lines = sum(1 for file in (root / name).glob("*.jsonl") for _ in file.open("rb"))
        typer.echo(f"{name}\t{_cases(lines)}")


def _cases(number: int) -> str:
    return "1 case" if number == 1 else f"{number} cases"
