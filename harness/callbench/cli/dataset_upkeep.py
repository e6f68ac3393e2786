"""``callbench dataset stats|lint|diff|sample|overlay``: what is in a dataset, and making better ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from callbench.cli import output

Name = Annotated[str, typer.Argument(help="Bundled dataset by name, or a path.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Out = Annotated[Path, typer.Option("--out", "-o", help="The new .jsonl file.")]

_SHOWN = 20


def register(app: typer.Typer) -> None:
    """Add the verbs to the group."""
    for verb in (stats, lint, diff, sample, overlay):
        app.command()(verb)


def stats(dataset: Name, json_: Json = False) -> None:
    """Count what a dataset is made of: cases, tools, slots by type, what the cases hold."""
    from callbench.dataset.loader import load_dataset
    from callbench.dataset.profile import profile

    found = load_dataset(dataset)
    counts = {"dataset": found.name, "sha256": found.sha256, **profile(found.cases)}
    if json_:
        output.print_json(counts)
        return
    for name, value in counts.items():
        if isinstance(value, dict):
            value = ", ".join(f"{key.replace('_', ' ')} {count:,}" for key, count in value.items())
        elif isinstance(value, int):
            value = f"{value:,}"
        typer.echo(f"{name.replace('_', ' ')}: {value or '–'}")


def lint(
    dataset: Name,
    rule: Annotated[
        list[str] | None, typer.Option("--rule", help="Only this rule (may be repeated).")
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option("--ignore", help="Not this rule (may be repeated).")
    ] = None,
    overlay_: Annotated[
        Path | None, typer.Option("--overlay", help="Write an overlay to fill in, a line a case.")
    ] = None,
    json_: Json = False,
) -> None:
    """Say what is sound and still may be wrong in the gold. Exit code 1 when there is anything.

    Rules: answerable, needs-now, language, redundant-accept, blank, gold-defect, duplicate,
    contradiction.
    """
    from callbench.dataset.copying import write_lines
    from callbench.dataset.lint import lint as look
    from callbench.dataset.loader import load_dataset
    from callbench.dataset.overlay import overlay_lines
    from callbench.errors import ExitCode

    rules = _rules(rule or (), ignore or ())
    found = load_dataset(dataset)
    findings: list[Any] = []
    notes: dict[str, tuple[dict[str, Any], list[str]]] = {}
    for finding, record in look(found, rules):
        findings.append(finding)
        if overlay_ is not None:
            told = notes.setdefault(finding.case, (record, []))[1]
            told.append(f"{finding.pointer} [{finding.rule}] {finding.message}")
    if overlay_ is not None:
        lines = overlay_lines((record, "; ".join(told)) for record, told in notes.values())
        write_lines(overlay_, lines)
    if json_:
        output.print_json(_lint_object(found.name, findings))
    else:
        for finding in findings:
            typer.echo(str(finding))
        typer.echo(f"{found.name}: {len(findings)} findings in {len(found.cases)} cases", err=True)
        if overlay_ is not None:
            typer.echo(f"overlay to fill in: {overlay_}", err=True)
    if findings:
        raise typer.Exit(ExitCode.FINDING)


def _lint_object(name: str, findings: list[Any]) -> dict[str, Any]:
    from collections import Counter
    from dataclasses import asdict

    return {
        "dataset": name,
        "findings": len(findings),
        "by_rule": dict(sorted(Counter(finding.rule for finding in findings).items())),
        "items": [asdict(finding) for finding in findings],
    }


def _rules(only: Any, ignored: Any) -> list[str]:
    from callbench.dataset.checks import nearest
    from callbench.dataset.lint import ACROSS, RULES
    from callbench.errors import UsageError

    known = [*RULES, *ACROSS]
    for name in (*only, *ignored):
        if name not in known:
            raise UsageError(
                f'There is no lint rule "{name}".',
                remedy=nearest(name, known) or f"Rules: {', '.join(known)}.",
            )
    return [name for name in (only or known) if name not in ignored]


def diff(
    before: Annotated[str, typer.Argument(help="A dataset, by name or path.")],
    after: Annotated[str, typer.Argument(help="Another version of it.")],
    json_: Json = False,
) -> None:
    """Compare two versions of a dataset, case by case and field by field. Exit code 1 if they differ."""
    from callbench.dataset.difference import difference
    from callbench.dataset.loader import load_dataset
    from callbench.errors import ExitCode

    found = difference(load_dataset(before), load_dataset(after))
    if json_:
        output.print_json(
            {
                "only_before": list(found.only_before),
                "only_after": list(found.only_after),
                "changed": {
                    name: [_change(one) for one in changes]
                    for name, changes in found.changed.items()
                },
                "gold_only": list(found.gold_only),
                "same": found.same,
                "moved": found.moved,
            }
        )
    else:
        _print_difference(found)
    if found.differs:
        raise typer.Exit(ExitCode.FINDING)


def _change(change: Any) -> dict[str, Any]:
    from callbench.dataset.slots import ABSENT

    values = {"before": change.before, "after": change.after}
    return {
        "pointer": change.pointer,
        **{key: value for key, value in values.items() if value is not ABSENT},
    }


def _print_difference(found: Any) -> None:
    import json

    from callbench.dataset.slots import ABSENT

    def shown(value: Any) -> str:
        if value is ABSENT:
            return "(nothing)"
        text = json.dumps(value, ensure_ascii=False)
        return text if len(text) <= 100 else f"{text[:100]}…"

    for title, names in (("only before", found.only_before), ("only after", found.only_after)):
        for name in names:
            typer.echo(f"{title}: {name}")
    for name, changes in found.changed.items():
        typer.echo(f"changed: {name}")
        for change in changes[:_SHOWN]:
            typer.echo(f"  {change.pointer}: {shown(change.before)} -> {shown(change.after)}")
        if len(changes) > _SHOWN:
            typer.echo(f"  (and {len(changes) - _SHOWN} more)")
    if found.moved:
        typer.echo("the cases stand in another order")
    typer.echo(
        f"{found.same} the same, {len(found.changed)} changed ({len(found.gold_only)} in the gold "
        f"alone), {len(found.only_before)} only before, {len(found.only_after)} only after",
        err=True,
    )


def sample(
    dataset: Name,
    out: Out,
    count: Annotated[int, typer.Option("--count", "-n", help="How many cases.")],
    seed: Annotated[int, typer.Option("--seed", help="Another seed, another sample.")] = 0,
) -> None:
    """Draw cases by a seed, whole dialogues, and write them as they stand to a new file."""
    from callbench.dataset.copying import write_lines
    from callbench.dataset.loader import load_dataset
    from callbench.dataset.sampling import drawn, sample_lines

    found = load_dataset(dataset)
    written = write_lines(out, sample_lines(found, drawn(found, count, seed)))
    typer.echo(f"{out}: {written} of {len(found.cases)} cases of {found.name}, seed {seed}")


def overlay(
    dataset: Name,
    mends: Annotated[Path, typer.Argument(help="The overlay, see dataset lint --overlay.")],
    out: Out,
) -> None:
    """Mend the gold of a dataset by an overlay into a new file; the old one stays as it is.

    A mend names its case by id and hash; one that was written for another text is refused.
    """
    from callbench.dataset.copying import write_lines
    from callbench.dataset.loader import load_dataset
    from callbench.dataset.overlay import load_overlay, mended

    found = load_dataset(dataset)
    loaded = load_overlay(mends)
    write_lines(out, mended(found, loaded.mends))
    for mend in loaded.mends:
        typer.echo(f"{mend.id}: {', '.join(mend.pointers)}: {mend.reason}")
    typer.echo(f"{out}: {len(found.cases)} cases, {len(loaded.mends)} mended")
    if loaded.untouched:
        typer.echo(f"{loaded.untouched} lines of {mends} are not filled in; passed over", err=True)
