"""``callbench conform``: is an implementation, in any language, what the contract says?"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from callbench.cli import output
from callbench.cli.run import Json, Quiet

if TYPE_CHECKING:
    from callbench.conformance.runner import Finished
    from callbench.conformance.verdict import Verdict

# The default stands in callbench.peer, which takes longer to import than --help may.
_REFERENCE = "python:callbench.conformance.reference"

app = typer.Typer(rich_markup_mode=None)

Impl = Annotated[
    str,
    typer.Option("--impl", help="A command line, or python:package.module for one in process."),
]


def register(parent: typer.Typer) -> None:
    """Add the verb to the command."""
    parent.add_typer(app, name="conform", help=conform.__doc__)


@app.callback(invoke_without_command=True)
def conform(
    context: typer.Context,
    impl: Impl = _REFERENCE,
    op: Annotated[
        list[str] | None, typer.Option("--op", help="Only this operation (may be repeated).")
    ] = None,
    rule: Annotated[
        list[str] | None,
        typer.Option("--rule", help="Only rules that begin with this: slot, slot.merge."),
    ] = None,
    id_: Annotated[list[str] | None, typer.Option("--id", help="Only the case of this id.")] = None,
    suite: Annotated[
        Path | None, typer.Option("--suite", help="A file or directory of cases of your own.")
    ] = None,
    known_failing: Annotated[
        Path | None,
        typer.Option("--known-failing", help="Cases that must fail: a .toml or .jsonl file."),
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Write what fails now into --known-failing.")
    ] = False,
    require_all: Annotated[
        bool, typer.Option("--require-all", help="An operation that is not there is a failure.")
    ] = False,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Peers at work at a time.")] = 1,
    deadline: Annotated[float, typer.Option("--deadline", min=0.001, help="Seconds a case.")] = 5.0,
    most: Annotated[int, typer.Option("--show", min=0, help="Failures shown in full.")] = 20,
    junit: Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML here.")] = None,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", help="Write the matrix of results here.")
    ] = None,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Put the cases of the contract to an implementation; exit code 6 on any difference."""
    if context.invoked_subcommand is not None:
        context.obj = impl
        return
    from callbench.conformance.cases import load_suite, select
    from callbench.conformance.known import load_known, updated, write_known
    from callbench.conformance.reports import as_junit, as_markdown, as_object
    from callbench.conformance.runner import run_cases
    from callbench.errors import UsageError
    from callbench.peer.opening import in_process, opener

    if update and known_failing is None:
        raise UsageError("--update writes --known-failing, which is not given.")
    everything = load_suite(suite)
    cases = select(everything, ops=op or (), rules=rule or (), ids=id_ or ())
    known = {}
    if known_failing is not None and not (update and not known_failing.exists()):
        ids = None if update else {case.id for case in everything}
        known = load_known(known_failing, ids=ids)
    _hush_logs()
    with output.progress(quiet or json_) as advance:
        finished = run_cases(
            cases,
            opener(impl),
            deadline=deadline,
            jobs=1 if in_process(impl) else jobs,
            require_all=require_all,
            known=known,
            advance=advance,
        )
    repeat = _repeat(impl, suite, require_all=require_all)
    if junit is not None:
        junit.write_bytes(as_junit(finished, repeat))
    if markdown is not None:
        markdown.write_text(as_markdown(finished), encoding="utf-8")
    if json_:
        output.print_json(as_object(finished, impl, repeat))
    elif not quiet:
        _print(finished, repeat, most)
    if update and known_failing is not None:
        existing = {case.id for case in everything}
        kept = [entry for entry in updated(known, finished.verdicts) if entry.id in existing]
        write_known(known_failing, kept)
        output.tell(
            f"{known_failing}: {len(kept)} known to fail; say why, and where it is discussed"
        )
        return
    raise typer.Exit(finished.exit_code)


@app.command()
def smoke(context: typer.Context, impl: Annotated[str, typer.Option("--impl")] = "") -> None:
    """Check an implementation's plumbing, not its answers: hello, run, errors, bye."""
    from callbench.conformance.smoke import smoke_test
    from callbench.errors import ExitCode

    failed = 0
    for check in smoke_test(impl or context.obj):
        mark = {True: "ok    ", False: "FAILED", None: "-     "}[check.passed]
        typer.echo(f"{mark} {check.name}" + (f": {check.found}" if check.found else ""))
        if check.passed is False:
            failed += 1
            typer.echo(f"       {check.remedy}")
    raise typer.Exit(ExitCode.DIFFERENCE if failed else ExitCode.OK)


@app.command()
def init(
    language: Annotated[str, typer.Argument(help="node, python or java")],
    directory: Annotated[Path, typer.Argument(help="Where to write it; made if need be.")],
) -> None:
    """Write a peer to begin with: it runs at once and answers "unsupported" to everything."""
    from callbench.conformance.skeletons import write_skeleton

    file, command = write_skeleton(language, directory)
    typer.echo(f"{file}: runs at once, implements nothing yet. Next:")
    typer.echo(f"  callbench conform smoke --impl {shlex.quote(command)}")
    typer.echo(f"  callbench conform --impl {shlex.quote(command)}")


def _repeat(impl: str, suite: Path | None, *, require_all: bool) -> Any:
    words = ["callbench", "conform"]
    if impl != _REFERENCE:
        words += ["--impl", impl]
    if suite is not None:
        words += ["--suite", str(suite)]
    if require_all:
        words += ["--require-all"]

    def command(verdict: Verdict) -> str:
        return shlex.join([*words, "--id", verdict.case.id])

    return command


def _hush_logs() -> None:
    """Keep what an implementation in process logs off the terminal, where Python would put it."""
    import logging

    if not (root := logging.getLogger()).handlers:
        root.addHandler(logging.NullHandler())


def _print(finished: Finished, repeat: Any, most: int) -> None:
    from callbench.conformance.reports import explain, summary
    from callbench.conformance.verdict import OUTCOMES

    for verdict in finished.failures[:most]:
        typer.echo("\n".join(explain(verdict, repeat(verdict))) + "\n")
    if len(finished.failures) > most:
        typer.echo(f"… and {len(finished.failures) - most} more failures (--show, --json)\n")
    for verdict in finished.mended:
        entry = finished.known[verdict.case.id]
        typer.echo(f"MENDED {entry.id}  known to fail, but {verdict.outcome}: {entry.reason}")
    width = max(len(name) for name in finished.by(lambda case: case.area)) + 2
    typer.echo(" " * width + "".join(f"{outcome:>13}" for outcome in OUTCOMES))
    for name, row in finished.by(lambda case: case.area).items():
        typer.echo(f"{name:<{width}}" + "".join(f"{row[outcome]:>13,}" for outcome in OUTCOMES))
    typer.echo(summary(finished))
