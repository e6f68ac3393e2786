"""``callbench score``: score a stored run again, with our scorer or official ones; no model."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from callbench.cli import output

if TYPE_CHECKING:
    from collections.abc import Mapping

OWN = "callbench"


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("score")(score)


def score(
    run: Annotated[Path | None, typer.Argument(help="Directory of a run.")] = None,
    scorer: Annotated[
        list[str] | None,
        typer.Option("--scorer", help="callbench (default), an official one, or all; see --list."),
    ] = None,
    dataset: Annotated[
        str | None, typer.Option("--dataset", help="Where the run's dataset is now.")
    ] = None,
    changed: Annotated[
        bool, typer.Option("--changed", help="Score on --dataset although it has other content.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Score a copy of the run in this directory.")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the scorers.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Score a stored run again, without any model.

    Our scorer replaces cases.jsonl and the report, to the same bytes when nothing changed; each
    official scorer adds a file scores.NAME.json.
    """
    if list_:
        _list(json_)
        return
    if run is None:
        raise typer.BadParameter("which run?", param_hint="RUN")
    own, official = _wanted(scorer or [OWN])
    from callbench.report.rescore import copied, open_stored, rescore, score_officially

    document, differ = None, 0
    with nullcontext(run) if out is None else copied(run, out) as directory:
        # Ours comes last: it may note other gold in run.json, which the others are to see as new.
        scores = (
            score_officially(open_stored(directory, dataset, changed=changed), official)
            if official
            else {}
        )
        if own:
            stored = open_stored(directory, dataset, changed=changed)
            document, differ = rescore(stored, output.prices_of(stored.info))
    where = out or run
    if json_:
        output.print_json(_object(where, document, differ, scores))
        return
    if document is not None:
        output.print_report(document, where)
        output.tell(
            f"{differ} of {document['rows'][0]['cases']} cases scored otherwise than before"
        )
    if scores:
        _print(where, scores)


def _wanted(names: list[str]) -> tuple[bool, list[str]]:
    """Return whether our scorer is wanted, and which official ones, each once."""
    from callbench.scoring.official import SCORERS, scorer

    own = OWN in names or "all" in names
    official = list(SCORERS) if "all" in names else []
    official += [scorer(name).name for name in names if name not in (OWN, "all")]
    return own, list(dict.fromkeys(official))


def _scorers() -> dict[str, dict[str, Any]]:
    from callbench.scoring import SCORER_VERSION
    from callbench.scoring.official import SCORERS

    ours = "every slot judged, as the dataset declares equality"
    return {
        OWN: {"version": SCORER_VERSION, "summary": ours, "source": "callbench"},
        **{
            one.name: {"version": one.version, "summary": one.summary, "source": one.source}
            for one in SCORERS.values()
        },
    }


def _list(json_: bool) -> None:
    scorers = _scorers()
    if json_:
        output.print_json(scorers)
        return
    width = max(len(f"{name}@{one['version']}") for name, one in scorers.items())
    for name, one in scorers.items():
        typer.echo(f"{name + '@' + str(one['version']):<{width}}  {one['summary']}")


def _object(
    where: Path, document: dict[str, Any] | None, differ: int, scores: Mapping[str, Any]
) -> dict[str, Any]:
    told: dict[str, Any] = {"dir": str(where), "scorers": {}}
    if document is not None:
        told["scorers"][OWN] = {"changed": differ, **output.run_object(document, where, 0.0)}
        del told["scorers"][OWN]["seconds"]
    for name, one in scores.items():
        kept = {key: value for key, value in one.items() if key != "results"}
        told["scorers"][name] = {**kept, "file": str(where / f"scores.{name}.json")}
    return told


def _print(where: Path, scores: Mapping[str, Any]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(title="official scorers", title_justify="left", box=SIMPLE_HEAD)
    for column in ("scorer", "metric"):
        table.add_column(column, no_wrap=True)
    for column in ("value", "95 %", "n"):
        table.add_column(column, justify="right", no_wrap=True)
    for one in scores.values():
        for number, (name, rate) in enumerate(one["metrics"].items()):
            none = rate["value"] is None
            table.add_row(
                one["scorer"] if number == 0 else "",
                name,
                "–" if none else f"{100 * rate['value']:.1f} %",
                "–" if none else f"{100 * rate['low']:.1f}–{100 * rate['high']:.1f}",
                str(rate["n"]),
            )
    console = Console()
    console.print(table)
    counts = next(iter(scores.values()))
    console.print(
        f"{counts['cases']} answers: {counts['scored']} scored, of them {counts['unparsed']} "
        f"unparsed; {counts['provider_errors']} provider errors, in no rate",
        highlight=False,
    )
    for name in scores:
        console.print(f"results: {where / f'scores.{name}.json'}", highlight=False, soft_wrap=True)
