"""The tables of a run in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from callbench.report.cells import SCORES, SLICES, Column, Row, cells, slices


def table(title: str, columns: Sequence[Column], rows: Sequence[Row]) -> Table:
    """Return a table of rows. Texts are shown as they are: nothing in them is markup."""
    made = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for index, (header, _) in enumerate(columns):
        made.add_column(header, justify="right" if index else "left", overflow="fold")
    for row in rows:
        made.add_row(*(Text(text) for text in cells(columns, row)))
    return made


def print_scores(console: Console, title: str, rows: Sequence[Row]) -> None:
    """Print the scores of the model, the first row, and of the baselines beside it."""
    console.print(table(title, SCORES, rows))
    model = rows[0]
    console.print(
        Text(
            f"{model['scored']} of {model['cases']} cases scored, {model['unparsed']} of them unparsed; "
            f"{model['provider_errors']} ended in a provider error. In parentheses: the 95 % interval."
        )
    )


def print_slices(console: Console, row: Row, key: str) -> None:
    """Print one table of slices: ``lang``, ``tag``, ``type`` or ``stage``."""
    title, columns = next((title, columns) for name, title, columns in SLICES if name == key)
    console.print(table(title, columns, slices(row, key)))
