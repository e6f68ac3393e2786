"""``callbench cassette diff``, ``merge``, ``split``, ``rekey``, ``scrub``: compare and edit recordings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from callbench.cli import output
from callbench.cli.cassette_options import (
    Config,
    EditedFile,
    Files,
    InPlace,
    Json,
    Out,
    recordings,
    target,
)
from callbench.errors import ExitCode, UsageError


def register(app: typer.Typer) -> None:
    """Add the verbs to the group."""
    for verb in (diff, merge, split, rekey, scrub):
        app.command()(verb)


def diff(
    first: Annotated[Path, typer.Argument(metavar="A")],
    second: Annotated[Path, typer.Argument(metavar="B")],
    timing: Annotated[bool, typer.Option("--timing", help="Compare times, too.")] = False,
    json_: Json = False,
) -> None:
    """What differs between two cassettes, by message, tool and parameter; exit code 1 when anything."""
    from callbench.cassette.hygiene.comparing import compare

    changes = []
    counts = {"only in the first": 0, "only in the second": 0, "changed": 0}
    for change in compare(first, second, timing=timing):
        counts[change.kind] += 1
        if json_:
            changes.append(change.as_object())
        else:
            typer.echo(str(change))
    if json_:
        output.print_json({"first": str(first), "second": str(second), "changes": changes})
    else:
        told = ", ".join(f"{number} {kind}" for kind, number in counts.items() if number)
        output.tell(told or "no difference")
    if any(counts.values()):
        raise typer.Exit(ExitCode.FINDING)


def merge(
    files: Files,
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write.")],
    prefer: Annotated[
        Literal["first", "last", "newest"] | None,
        typer.Option("--prefer", help="Whose answer counts where files differ."),
    ] = None,
) -> None:
    """Write the recordings of several files into one; different answers to one request are conflicts."""
    from callbench.cassette.hygiene.editing import merge as join
    from callbench.cassette.hygiene.places import Places

    conflicts = join(files, out, prefer)
    for conflict in conflicts:
        typer.echo(str(conflict))
    counted = "1 conflict" if len(conflicts) == 1 else f"{len(conflicts)} conflicts"
    if conflicts and prefer is None:
        output.tell(f"{counted}, nothing was written; choose with --prefer first, last or newest")
        raise typer.Exit(ExitCode.FINDING)
    with Places(out) as places:
        told = f", {counted} settled by --prefer {prefer}" if conflicts else ""
        output.tell(f"{out}: {recordings(len(places))}{told}")


def split(
    file: Annotated[Path, typer.Argument(metavar="FILE")],
    by: Annotated[
        Literal["case", "model", "lang", "tag", "day"],
        typer.Option("--by", help="lang and tag (the first one) are those of --dataset."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The directory for the files.")],
    dataset: Annotated[
        str | None, typer.Option("--dataset", help="Where languages and tags of cases stand.")
    ] = None,
) -> None:
    """Write a file for each case, model, language, tag or day of recording."""
    from callbench.cassette.hygiene.editing import split as cut

    for path, count in cut(file, out, _grouping(by, dataset)).items():
        typer.echo(f"{path}\t{recordings(count)}")


def _grouping(by: str, dataset: str | None) -> Any:
    from callbench.cassette.interaction import REPEAT_MARK

    if by == "model":
        return lambda place: place.model
    if by == "day":
        return lambda place: place.recorded_at[:10]
    if by == "case":
        return lambda place: place.case.partition(REPEAT_MARK)[0]
    if dataset is None:
        raise UsageError(f"--by {by} needs --dataset: a cassette does not know of it.")
    from callbench.dataset.loader import load_dataset

    groups = {
        case.id: case.lang if by == "lang" else next(iter(case.tags), "")
        for case in load_dataset(dataset).cases
    }
    return lambda place: groups.get(place.case.partition(REPEAT_MARK)[0], "")


def rekey(file: EditedFile, out: Out = None, in_place: InPlace = False) -> None:
    """Compute every key anew from its request and put the file in order; all recordings stay."""
    from callbench.cassette.hygiene.editing import rekey as renew

    written = target(file, out, in_place)
    output.tell(f"{written}: {recordings(renew(file, written))} changed")


def scrub(
    file: EditedFile,
    out: Out = None,
    in_place: InPlace = False,
    use: Annotated[
        list[str] | None,
        typer.Option(
            "--use",
            help="Beside those of callbench.toml: emails, phones, field:/pointer, "
            "pattern:label=regex (may be repeated).",
        ),
    ] = None,
    config: Config = None,
) -> None:
    """Apply scrubbers to a file that was recorded without them, and key it anew."""
    from callbench.cassette.hygiene.editing import scrub as mask
    from callbench.cassette.scrubbers import Scrubbing, by_name
    from callbench.run.scrubbing import scrubbing_of

    told = scrubbing_of(config)
    scrubbing = Scrubbing((*told.scrubbers, *map(by_name, use or ())), told.key)
    written = target(file, out, in_place)
    output.tell(f"{written}: {recordings(mask(file, written, scrubbing))} changed")
