"""``callbench cassette unused``, ``missing``, ``prune``: recordings beside what a run asks for."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated, Any

import typer

from callbench.cli import output, run
from callbench.cli.cassette_options import InPlace, Json, Out, recordings, target
from callbench.errors import ExitCode

_CHANGE_REQUESTS = (
    "dataset", "model", "function_model", "system", "shots", "cassette", "prompt", "config", "lang", "tag",
    "ask_optional",
)  # fmt: skip
"""The options of ``run`` on which it depends what is asked."""


def register(app: typer.Typer) -> None:
    """Add the verbs to the group."""
    for verb in (unused, missing, prune):
        _takes_options_of_run(verb)
        app.command()(verb)


def _takes_options_of_run(verb: Any) -> None:
    """Let a verb take in ``given`` the options that change requests; typer reads the signature."""
    own = inspect.signature(verb, eval_str=True).parameters.values()
    added = [one for one in own if one.kind is not inspect.Parameter.VAR_KEYWORD]
    known = inspect.signature(run.run, eval_str=True).parameters
    taken = [known[name] for name in _CHANGE_REQUESTS]
    verb.__signature__ = inspect.Signature([*taken, *added])
    verb.__annotations__ = {one.name: one.annotation for one in (*taken, *added)}


def unused(
    json_: Json = False,
    **given: Any,
) -> None:
    """Recordings that this dataset and model never ask for; exit code 1 when there are any.

    The system really runs, in replay. What a case would ask after a missing recording is not known.
    """
    from callbench.cassette.hygiene.places import Places
    from callbench.cassette.hygiene.usage import usage

    path, asked = _asked(given)
    with Places(path) as places:
        found = usage(places, asked.answered, asked.open_cases)
    if json_:
        output.print_json(
            {
                "file": str(path),
                "used": len(found.used),
                "unused": [_recording(one) for one in found.unused],
                "undecided": [_recording(one) for one in found.undecided],
                "missing_cases": sorted(asked.open_cases),
            }
        )
    else:
        for one in found.unused:
            typer.echo(f"{path}:{one.line}: case {one.case!r}, ordinal {one.ordinal}: never asked")
        output.tell(
            f"{len(found.unused)} of {recordings(len(places))} are never asked "
            f"by {asked.cases} cases"
        )
        if found.undecided:
            output.tell(
                f"{recordings(len(found.undecided))} may be asked for once what is missing is recorded: "
                f"{len(asked.open_cases)} cases ended at a missing recording (callbench cassette missing)"
            )
    if found.unused:
        raise typer.Exit(ExitCode.FINDING)


def missing(
    json_: Json = False,
    **given: Any,
) -> None:
    """Requests of this dataset and model that no recording answers; exit code 1 when there are any.

    The system really runs, in replay. A case ends at its first miss: later turns are not known yet.
    """
    path, asked = _asked(given)
    if json_:
        output.print_json(
            {
                "file": str(path),
                "cases": asked.cases,
                "answered": len(asked.answered),
                "missing": [
                    {
                        "case": miss.case,
                        "ordinal": miss.ordinal,
                        "nearest_line": miss.nearest.line if miss.nearest else None,
                        "differences": list(miss.nearest.differences) if miss.nearest else [],
                    }
                    for miss in asked.misses
                ],
            }
        )
    else:
        for miss in asked.misses:
            typer.echo(f"case {miss.case!r}: {miss.message}")
        counted = f"{len(asked.misses)} of {asked.cases} cases lack a recording"
        output.tell(
            f"{counted}; each ended there, so that its later turns may be missing as well.\n"
            f"{asked.misses[0].remedy}"
            if asked.misses
            else f"{counted} in {path}"
        )
    if asked.misses:
        raise typer.Exit(ExitCode.FINDING)


def prune(
    out: Out = None,
    in_place: InPlace = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    **given: Any,
) -> None:
    """Remove what `unused` lists; recordings of cases that ended at a miss stay."""
    from callbench.cassette.hygiene.editing import prune as remove
    from callbench.cassette.hygiene.places import Places
    from callbench.cassette.hygiene.usage import usage

    path, asked = _asked(given)
    with Places(path) as places:
        found = usage(places, asked.answered, asked.open_cases)
    for one in found.unused:
        typer.echo(f"{path}:{one.line}: case {one.case!r}, ordinal {one.ordinal}")
    if dry_run:
        output.tell(f"{recordings(len(found.unused))} would go, nothing was written")
        return
    written = target(path, out, in_place)
    gone = remove(path, written, {one.identity for one in found.unused})
    output.tell(
        f"{written}: {recordings(gone)} gone, {len(found.used) + len(found.undecided)} stay"
    )


def _asked(given: dict[str, Any]) -> tuple[Path, Any]:
    """Run the system that the options name; return its cassette and what it asked."""
    import asyncio

    from callbench.dataset.loader import load_dataset
    from callbench.run.asked import asked
    from callbench.run.cassettes import cassette_path
    from callbench.run.config import RunConfig

    config = RunConfig(tags=tuple(given.pop("tag") or ()), **given)
    found = asyncio.run(asked(config))
    return cassette_path(config, load_dataset(config.dataset).name), found


def _recording(place: Any) -> dict[str, Any]:
    return {"line": place.line, "case": place.case, "ordinal": place.ordinal, "key": place.key}
