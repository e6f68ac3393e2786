"""The directory of a run: made new, and errors of writing to it name the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson

from callbench.errors import UsageError
from callbench.run.config import RunConfig
from callbench.run.info import Record


def create_run(config: RunConfig, info: Record) -> Path:
    """Make the run's directory; a name that is taken gets a number behind it."""
    if config.out is not None:
        if (config.out / "run.json").exists():
            raise UsageError(
                f"{config.out} already holds a run; runs are never overwritten.",
                remedy="Name another directory, or remove that one.",
            )
        directory = config.out
        if directory.exists() and not directory.is_dir():
            raise UsageError(f"--out {directory} is a file.", remedy="Name a directory.")
        directory.mkdir(parents=True, exist_ok=True)
    else:
        directory = _fresh(Path("reports"), info["run_id"])
    info["run_id"] = directory.name
    content = orjson.dumps(info, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    with named(directory / "run.json") as path:
        path.write_bytes(content)
    return directory


@contextmanager
def named(path: Path) -> Iterator[Path]:
    """Name the file in an error of writing to it, as errors of opening do."""
    try:
        yield path
    except OSError as error:
        if error.filename or error.strerror is None:
            raise
        raise UsageError(
            f"{path}: {error.strerror}.", remedy="What was written before is kept."
        ) from error


def _fresh(parent: Path, name: str) -> Path:
    parent.mkdir(parents=True, exist_ok=True)
    number = 1
    while True:
        directory = parent / (name if number == 1 else f"{name}-{number}")
        try:
            directory.mkdir()
        except FileExistsError:
            number += 1
        else:
            return directory
