"""``callbench cassette``: look into recordings, check them, keep them in order."""

from __future__ import annotations

import typer

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Check, compare, mend and convert recordings."
)
