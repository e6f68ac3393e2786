"""The command ``callbench``: one module per verb, thin; errors become exit codes here."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from types import FrameType
from typing import Annotated

import typer

import callbench
from callbench.cli import (
    cassette,
    compare,
    conform,
    dataset,
    fuzz,
    models,
    report,
    run,
    score,
    serve,
)
from callbench.cli.output import Stopped
from callbench.errors import CallbenchError, ExitCode

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="The open test bench for LLM Calls: replay recorded model traffic, fill slots, score them.",
    epilog=(
        "Exit codes: 0 ok, 1 threshold or finding, 2 usage, 3 bad dataset, 4 provider failed, "
        "5 cassette miss, 6 difference, 70 internal, 130 interrupted, 143 terminated."
    ),
)
run.register(app)
report.register(app)
compare.register(app)
score.register(app)
conform.register(app)
fuzz.register(app)
serve.register(app)
app.add_typer(cassette.app, name="cassette")
app.add_typer(dataset.app, name="dataset")
app.add_typer(models.app, name="models")


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"callbench {callbench.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command and exit with its documented code, see :class:`ExitCode`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a terminal that lacks a character gets a "?"
            stream.reconfigure(errors="replace")
    with warnings.catch_warnings():
        warnings.showwarning = _warn
        with _terminating() as terminated:
            code = _guarded()
    if terminated and code == ExitCode.INTERRUPTED:
        code = ExitCode.TERMINATED
    sys.exit(code)


@contextmanager
def _terminating() -> Iterator[list[int]]:
    """End on SIGTERM as on Ctrl-C, so that nothing is lost; give the signals that came."""
    came: list[int] = []

    def terminate(number: int, frame: FrameType | None) -> None:
        came.append(number)
        interrupt = signal.getsignal(signal.SIGINT)
        if not callable(interrupt):  # ignored, as in a shell's background jobs
            raise KeyboardInterrupt
        interrupt(signal.SIGINT, frame)

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield came
    finally:
        signal.signal(signal.SIGTERM, before)


def _guarded() -> int:
    try:
        app(standalone_mode=True)
    except SystemExit as stop:
        if stop.code == ExitCode.INTERRUPTED and not isinstance(stop, Stopped):
            # how typer passes Ctrl-C on
            keeps = sys.argv[1:2] in (["run"], ["record"])
            _tell("interrupted" + "; what was recorded and scored so far is kept" * keeps)
        return stop.code if isinstance(stop.code, int) else ExitCode.INTERNAL
    except CallbenchError as error:
        _tell(str(error))
        return error.exit_code
    except BrokenPipeError:
        # The reader of our output went away; there is nobody left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.OK
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        _tell(f"{place}{error.strerror or error}")
        return ExitCode.USAGE
    except Exception as error:  # noqa: BLE001 - the last resort, told in full
        import traceback

        traceback.print_exc()
        _tell(
            f"a fault of ours: {type(error).__name__}: {error}\n"
            "Please report it with the lines above and the command you ran."
        )
        return ExitCode.INTERNAL
    return ExitCode.OK


def _tell(text: str) -> None:
    typer.echo(f"callbench: {text}", err=True)


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    _tell(f"warning: {message}")
