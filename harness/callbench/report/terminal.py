"""The tables of a run in the terminal: laid out so that no number is ever broken."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from callbench.report.cells import (
    BETWEEN,
    PASSES,
    SCORES,
    SLICES,
    SPENT,
    Column,
    Row,
    between,
    cells,
    counted,
    passes,
    slices,
)

_INTERVAL = re.compile(r" \([\d.]+–[\d.]+\)$")


def table(title: str, columns: Sequence[Column], rows: Sequence[Row], width: int) -> Table:
    """Return a table of rows in at most ``width`` columns, where that is possible.

    What is too wide is turned, so that each row becomes a column; then intervals are left out; then the
    rows stand below each other. Texts are shown as they are: nothing in them is markup.
    """
    grid = [[header for header, _ in columns], *(cells(columns, row) for row in rows)]
    for intervals, turned in product((True, False), (False, True)):
        made = _made(title, _turned(grid) if turned else grid, intervals=intervals)
        if _width(made) <= width:
            return made
    return _made(title, _stacked(grid), intervals=_width(_made("", _stacked(grid))) <= width)


def _made(title: str, grid: Sequence[Sequence[str]], *, intervals: bool = True) -> Table:
    made = Table(title=Text(title), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for index, header in enumerate(grid[0]):
        justify = "right" if index else "left"
        made.add_column(Text(header), justify=justify, overflow="fold")  # type: ignore[arg-type]
    for line in grid[1:]:
        made.add_row(*(Text(text if intervals else _INTERVAL.sub("", text)) for text in line))
    return made


def _turned(grid: Sequence[Sequence[str]]) -> list[list[str]]:
    return [list(line) for line in zip(*grid, strict=True)]


def _stacked(grid: Sequence[Sequence[str]]) -> list[list[str]]:
    """Every value in a line of its own, below the name of its row."""
    lines = [["", ""]]
    for name, *values in grid[1:]:
        lines.append([name, ""])
        lines += [[f"  {header}", text] for header, text in zip(grid[0][1:], values, strict=True)]
    return lines


def _width(made: Table) -> int:
    """Return how wide a table is when nothing in it is folded."""
    wide = Console(width=10_000)
    title, made.title = made.title, None
    measured = Measurement.get(wide, wide.options, made).maximum
    made.title = title
    return measured


def print_scores(console: Console, title: str, rows: Sequence[Row]) -> None:
    """Print the scores of the model, the first row, and of the baselines beside it."""
    model = rows[0]
    console.print(table(title, counted(SCORES, model), rows, console.width))
    what = "answers" if "repeats" in model else "cases"
    console.print(
        Text(
            f"{model['scored']} of {model['cases']} {what} scored, {model['unparsed']} of them unparsed; "
            f"{model['provider_errors']} ended in a provider error. In parentheses: the 95 % interval."
        )
    )
    if model["calls"]:
        console.print(table("Spent", SPENT, [model], console.width))


def print_repeats(console: Console, row: Row) -> None:
    """Print what a run with repeats says beside its rates."""
    told = row["repeats"]
    title = f"{told['repeats']} answers to each of {told['cases']} cases"
    console.print(table(title, PASSES, passes(row), console.width))
    console.print(table("Between the repeats", BETWEEN, between(row), console.width))


def print_slices(console: Console, row: Row, key: str) -> None:
    """Print one table of slices: ``lang``, ``tag``, ``type`` or ``stage``."""
    title, columns = next((title, columns) for name, title, columns in SLICES if name == key)
    console.print(table(title, counted(columns, row), slices(row, key), console.width))
