"""What the verbs of ``callbench cassette`` share: options, and where an edit writes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from callbench.errors import UsageError

Files = Annotated[list[Path], typer.Argument(help="Cassette files.", metavar="FILE...")]
Config = Annotated[
    Path | None, typer.Option("--config", help="Where [scrub] is; default ./callbench.toml.")
]
EditedFile = Annotated[Path, typer.Argument(metavar="FILE")]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="The file to write.")]
InPlace = Annotated[bool, typer.Option("--in-place", help="Replace the file itself.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


def recordings(count: int) -> str:
    """Say a number of recordings."""
    return "1 recording" if count == 1 else f"{count:,} recordings"


def target(path: Path, out: Path | None, in_place: bool) -> Path:
    """Where an edit writes: never to its input unless that is asked for."""
    if out is not None and in_place:
        raise UsageError("--out and --in-place exclude each other.")
    if out is None and not in_place:
        raise UsageError(
            f"{path} is not changed unless you say so.", remedy="Add -o FILE or --in-place."
        )
    return path if out is None else out
