"""``callbench cassette``: look into recordings, check them, keep them in order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from callbench.cli import cassette_convert, cassette_edit, cassette_usage, output
from callbench.cli.cassette_options import Config, Files, Json
from callbench.errors import ExitCode

if TYPE_CHECKING:
    from callbench.cassette.hygiene.findings import Finding

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Check, compare, mend and convert recordings."
)

Allow = Annotated[
    Path | None,
    typer.Option("--allow", help="What was looked at and is no secret; default ./scan-allow.toml."),
]
Junit = Annotated[
    Path | None, typer.Option("--junit", help="Write the findings here as JUnit XML, too.")
]
Github = Annotated[
    bool, typer.Option("--github", help="Print findings as annotations of GitHub Actions.")
]


@app.command()
def stats(files: Files, json_: Json = False) -> None:
    """Count interactions, cases, tokens, times, errors, age."""
    from callbench.cassette.hygiene.stats import stats_of

    found = [stats_of(path) for path in files]
    if json_:
        output.print_json({"files": [one.as_object() for one in found]})
        return
    for one in found:
        typer.echo(f"{one.file}: {one.interactions} interactions, {one.bytes:,} bytes")
        for name, value in one.as_object().items():
            if name not in ("file", "bytes", "interactions"):
                typer.echo(f"  {name.replace('_', ' '):<18} {_shown(value)}")


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name or '(none)'} {n:,}" for name, n in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "-"
    if isinstance(value, int):
        return f"{value:,}"
    return "-" if value is None else str(value)


@app.command()
def check(
    files: Files,
    max_size: Annotated[
        int | None, typer.Option("--max-size", min=1, help="Bytes that a file may have.")
    ] = None,
    max_age: Annotated[
        float | None, typer.Option("--max-age", min=0, help="Days that a recording may be old.")
    ] = None,
    allow: Allow = None,
    config: Config = None,
    junit: Junit = None,
    github: Github = False,
    json_: Json = False,
) -> None:
    """Check keys, order, schema, duplicates, scrubbing, secrets; size and age on request.

    Exit codes: 0 sound, 1 findings, 5 a file that cannot be read.
    """
    from callbench.cassette.hygiene.check import Limits, check_file
    from callbench.run.scrubbing import scrubbing_of

    limits = Limits(max_size, max_age)
    allowed, scrubbing = _allowed(allow), scrubbing_of(config)
    findings: list[Finding] = []
    for path in files:
        findings += check_file(path, limits, allowed, scrubbing or None)
    _report(findings, {str(path): limits.rules for path in files}, junit, github, json_)


@app.command()
def scan(
    paths: Annotated[
        list[Path], typer.Argument(help="Files or directories, of any kind.", metavar="PATH...")
    ],
    allow: Allow = None,
    junit: Junit = None,
    github: Github = False,
    json_: Json = False,
) -> None:
    """Look for keys, random strings, e-mail addresses and phone numbers; none is shown whole."""
    from callbench.cassette.scan import ALLOW_FILE, scan_paths

    allowed = _allowed(allow)
    findings = list(scan_paths(paths, allowed))
    if not json_:
        if allowed.covered:
            output.tell(f"{allowed.covered.total():,} more are allowed by {allow or ALLOW_FILE}")
        for entry in allowed.stale() if Path() in paths else ():
            output.tell(f"{allow or ALLOW_FILE}, {entry}")
    _report(findings, {str(path): ("secret",) for path in paths}, junit, github, json_)


def _allowed(path: Path | None) -> Any:
    from callbench.cassette.scan import ALLOW_FILE, Allowed

    if path is None and not Path(ALLOW_FILE).is_file():
        return Allowed()
    return Allowed.read(path or Path(ALLOW_FILE))


def _report(
    findings: Sequence[Finding],
    rules: dict[str, Sequence[str]],
    junit: Path | None,
    github: bool,
    json_: bool,
) -> None:
    """Say what was found in every form asked for, and end with the code it stands for."""
    from callbench.cassette.hygiene import findings as forms

    if junit is not None:
        junit.parent.mkdir(parents=True, exist_ok=True)
        junit.write_bytes(forms.junit("callbench.cassette", rules, findings))
    if json_:
        output.print_json({"files": list(rules), "findings": [f.as_object() for f in findings]})
    elif github:
        typer.echo(forms.github(findings), nl=False)
    else:
        for finding in findings:
            typer.echo(str(finding))
        counted = "1 finding" if len(findings) == 1 else f"{len(findings)} findings"
        places = "1 place" if len(rules) == 1 else f"{len(rules)} places"
        output.tell(f"{counted} in {places}" if findings else f"{places}: nothing found")
    if any(finding.rule == "damaged" for finding in findings):
        raise typer.Exit(ExitCode.CASSETTE)
    if findings:
        raise typer.Exit(ExitCode.FINDING)


cassette_usage.register(app)
cassette_edit.register(app)
cassette_convert.register(app)
