"""``callbench fuzz``: where does an implementation differ from the reference?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from callbench.cli import output
from callbench.cli.run import Json, Quiet

if TYPE_CHECKING:
    from callbench.fuzz.hunt import Finding


def register(parent: typer.Typer) -> None:
    """Add the verb to the command."""
    parent.command()(fuzz)


def fuzz(
    impl: Annotated[
        str,
        typer.Option("--impl", help="A command line, or python:package.module for one in process."),
    ],
    op: Annotated[
        list[str] | None, typer.Option("--op", help="Only this operation (may be repeated).")
    ] = None,
    examples: Annotated[
        int, typer.Option("--examples", min=1, help="Inputs for each operation.")
    ] = 2000,
    seed: Annotated[int, typer.Option("--seed", help="The same seed finds the same.")] = 0,
    corpus: Annotated[
        Path, typer.Option("--corpus", help="Cases found before; new ones are appended.")
    ] = Path("fuzz-corpus.jsonl"),
    known: Annotated[
        list[Path] | None,
        typer.Option("--known", help="More cases whose differences are known; only read."),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Show what the corpus holds, too, as if it were new.")
    ] = False,
    most: Annotated[
        int, typer.Option("--max-findings", min=1, help="Differences shown for each operation.")
    ] = 5,
    deadline: Annotated[
        float, typer.Option("--deadline", min=0.001, help="Seconds an answer may take.")
    ] = 5.0,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find inputs on which an implementation differs from the reference, as small as they can be."""
    import hypothesis.configuration

    from callbench.errors import ExitCode
    from callbench.fuzz.corpus import load_corpus
    from callbench.fuzz.inputs import OPERATIONS
    from callbench.fuzz.report import as_object, explain, summary
    from callbench.fuzz.run import Plan
    from callbench.fuzz.run import fuzz as run
    from callbench.models.weights import cache_dir
    from callbench.peer.opening import REFERENCE, opener

    # What Hypothesis keeps (tables of characters) is no one's project's.
    hypothesis.configuration.set_hypothesis_home_dir(cache_dir() / "hypothesis")
    for path in known or ():
        _must_exist(path)
    cases = [case for path in known or () for case in load_corpus(path)]
    kept = load_corpus(corpus)
    plan = Plan(
        ops=_operations(op, OPERATIONS),
        examples=examples,
        seed=seed,
        most=most,
        deadline=deadline,
        corpus=corpus,
        known=(*cases, *(() if fresh else kept)),
    )
    _hush_logs()

    def found(finding: Finding) -> None:
        if not (json_ or quiet):
            typer.echo("\n".join(explain(finding, impl, plan)) + "\n")

    peer = opener(impl)()
    try:
        _implemented(plan.ops, peer.hello.operations)
        with output.progress(quiet or json_) as advance:
            report = run(plan, peer, opener(REFERENCE)(), found=found, advance=advance)
        hello = peer.hello
    finally:
        peer.close()
    if json_:
        output.print_json(as_object(report, hello, impl, plan))
    elif not quiet:
        typer.echo("\n".join(summary(report, plan)))
    if report.interrupted:
        raise typer.Exit(ExitCode.INTERRUPTED)
    raise typer.Exit(ExitCode.DIFFERENCE if report.findings else ExitCode.OK)


def _operations(asked: list[str] | None, known: tuple[str, ...]) -> tuple[str, ...]:
    from callbench.dataset.checks import nearest
    from callbench.errors import UsageError

    for op in asked or ():
        if op not in known:
            raise UsageError(
                f'"{op}" is no operation that can be fuzzed.',
                remedy=nearest(op, set(known)) or f"Operations: {', '.join(known)}.",
            )
    return tuple(dict.fromkeys(asked)) if asked else known


def _implemented(ops: Sequence[str], implemented: frozenset[str]) -> None:
    from callbench.errors import UsageError

    if not implemented.intersection(ops):
        raise UsageError(
            "The peer implements none of these operations.",
            remedy=f"It says it has: {', '.join(sorted(implemented)) or 'nothing'}.",
        )


def _must_exist(path: Path) -> None:
    from callbench.errors import UsageError

    if not path.exists():
        raise UsageError(f"There is no file {path}.", remedy="Check --known.")


def _hush_logs() -> None:
    """Keep what implementations in process log off the terminal; nothing is written for nobody."""
    import logging

    logging.disable(logging.CRITICAL)
