"""A comparison as tables: in the terminal and in Markdown, from the object of ``comparison``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from callbench.report.cells import NONE, Column, Row, number, percent, plural
from callbench.report.markdown import escape
from callbench.report.markdown import table as markdown_table
from callbench.report.terminal import table as terminal_table
from callbench.scoring.statistics.paired import DRAWS

_METHODS = """\
Differences are in percentage points, of the run less the baseline, over the cases that both scored, with their \
95 % interval in parentheses (paired bootstrap over clusters; Bonett and Price where fewer than ten differ; Wilson's \
bound where none does). *p*: two-sided, exact McNemar where cases are independent and right or wrong, else sign-flip \
permutation of clusters; adjusted by {correction}. What is drawn has the seed {seed}. A verdict \
needs an adjusted p below 0.05 and the whole interval {beyond}. *detectable*: the true difference that would be \
found with a chance of about 80 % by an uncorrected p."""


def points(difference: Mapping[str, Any]) -> str:
    """Return a difference with its interval, as in ``+2.9 (0.3–5.6)``, in percentage points."""
    if difference["value"] is None:
        return NONE
    low, high = (_signed(difference[key]) for key in ("low", "high"))
    return f"{_signed(difference['value'])} ({low} to {high})"


def _signed(share: float) -> str:
    return f"{100 * share:+.1f}"


def p_value(p: float | None) -> str:
    """Return a p-value; a small one as a bound."""
    if p is None:
        return NONE
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def _detectable(row: Row) -> str:
    return NONE if row.get("detectable") is None else f"{100 * row['detectable']:.1f}"


def _of_model(text: Any) -> Any:
    """Show a column for the models; the baseline, which is compared with itself, has a dash."""
    return lambda row: text(row) if "difference" in row else NONE


_FOUND: tuple[Column, ...] = (
    ("difference", _of_model(lambda row: points(row["difference"]))),
    ("p", _of_model(lambda row: p_value(row["p"]))),
    ("p adjusted", _of_model(lambda row: p_value(row["p_holm" if "p_holm" in row else "p_bh"]))),
    ("detectable", _of_model(_detectable)),
    ("verdict", lambda row: row.get("verdict", "baseline")),
)
_SLICES: tuple[Column, ...] = (
    ("", lambda row: str(row["name"])),
    ("cases", lambda row: number(row["pairs"])),
    ("baseline %", lambda row: _share(row["baseline"])),
    ("run %", lambda row: _share(row["other"])),
    *_FOUND,
)


def _share(value: float | None) -> str:
    return NONE if value is None else f"{100 * value:.1f}"


def _columns(metric: str) -> tuple[Column, ...]:
    return (
        ("", lambda row: str(row["name"])),
        ("scored", lambda row: number(row["scored"])),
        ("unparsed", lambda row: number(row["unparsed"])),
        ("provider errors", lambda row: number(row["provider_errors"])),
        (f"{metric} %", lambda row: percent(row["rate"])),
        *_FOUND,
    )


def _title(found: Mapping[str, Any]) -> str:
    return f"{found['dataset']} · {found['metric']} · {plural(found['cases'], 'case')} in all runs"


def _notes(found: Mapping[str, Any]) -> Iterator[str]:
    for run in (found["baseline"], *found["models"]):
        if run["left_out"]:
            verb = "is" if run["left_out"] == 1 else "are"
            yield f"{run['name']}: {run['left_out']} of its cases {verb} not in all runs: left out."
        if run["ended_early"]:
            yield f"{run['name']}: {run['ended_early']}"
    for model in found["models"]:
        if model["provider_error_pairs"]:
            cases = plural(model["provider_error_pairs"], "case")
            yield (
                f"{model['name']}: {cases} ended in a provider error in it or in the baseline: "
                "not in the difference (exact_all counts such a case wrong)."
            )
    for model in found["models"]:
        yield _how(model)
    for model in found["models"]:
        yield changed_text(model["name"], model["changed"])


_INTERVALS = {
    "bootstrap": "paired bootstrap",
    "adjusted": "Bonett and Price",
    "none-differ": "Wilson's bound for no change",
}
_TESTS = {"mcnemar": "exact McNemar", "sign-flip": "sign-flip permutation of clusters"}


def _how(model: Row) -> str:
    """Say over what the difference of a run is, and by which interval and test."""
    over = f"{model['name']}: {plural(model['pairs'], 'pair')} in {plural(model['clusters'], 'cluster')}"
    if model["test"] is None:
        return f"{over}; a rate over nothing has no difference."
    drawn = "" if model["test_exact"] else f", {DRAWS:,} drawn"
    if model["test"] == "sign-flip" and not drawn:
        drawn = ", all counted"
    interval = _INTERVALS[model["difference"]["method"]]
    return f"{over}; interval: {interval}; p: {_TESTS[model['test']]}{drawn}."


def changed_text(name: str, changed: Mapping[str, Any]) -> str:
    """Say which cases turned."""
    parts = []
    for key, what in (("gained", "better"), ("lost", "worse")):
        ids = changed[f"{key}_ids"]
        more = changed[key] - len(ids)
        shown = f": {', '.join(ids)}" if ids else ""
        parts.append(
            f"{changed[key]} {what}{shown}" + (f" and {more} more" if ids and more else "")
        )
    return f"{name}, cases that changed ({changed['by']}): {'; '.join(parts)}."


def _methods(found: Mapping[str, Any]) -> str:
    margin = found["margin"]
    beyond = f"beyond {100 * margin:g} points" if margin else "beyond 0"
    corrections = "Holm over the runs"
    if found["by"] is not None:
        corrections += ", by Benjamini and Hochberg over slices"
    return _METHODS.format(seed=found["seed"], correction=corrections, beyond=beyond)


def to_terminal(console: Console, found: Mapping[str, Any]) -> None:
    """Print a comparison."""
    rows = [found["baseline"], *found["models"]]
    console.print(terminal_table(_title(found), _columns(found["metric"]), rows, console.width))
    for note in _notes(found):
        console.print(Text(note), soft_wrap=True)
    for model in found["models"]:
        if model.get("slices"):
            title = f"{model['name']} by {found['by']}"
            console.print(terminal_table(title, _SLICES, model["slices"], console.width))
    console.print(Text(_methods(found).replace("*", "")))


def to_markdown(found: Mapping[str, Any]) -> str:
    """Return a comparison as a Markdown page."""
    rows = [found["baseline"], *found["models"]]
    lines = [f"# {escape(_title(found))}", "", *markdown_table(_columns(found["metric"]), rows)]
    lines += [f"* {escape(note)}" for note in _notes(found)]
    lines.append("")
    for model in found["models"]:
        if model.get("slices"):
            lines += [f"## {escape(model['name'])} by {found['by']}", ""]
            lines += markdown_table(_SLICES, model["slices"])
    lines += [_methods(found), ""]
    return "\n".join(lines)
