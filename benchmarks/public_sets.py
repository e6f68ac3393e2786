"""The table of the embedded models on public sets: import, record, score, write Markdown.

    make models
    python benchmarks/public_sets.py DATA --work DIR [--sample N] [--out reports/public-sets]

``DATA`` holds local copies of the sets, each in a directory of its name (``bfcl``, ``acebench``,
``xsid``, ``sgd``); nothing is downloaded. ``DIR`` keeps the imported datasets, the recordings and
the runs, so that a second call asks only what is missing. ``--sample`` takes that many cases of
each set, drawn with a fixed seed; without it every case is asked, which takes the small models
hours on two cores. ``--only`` and ``--system`` do a part; the table is written from all that is there.
"""

from __future__ import annotations

import argparse
import json
import platform
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from callbench.models.catalogue import load_catalogue

SEED = 20260312


@dataclass(frozen=True, slots=True)
class PublicSet:
    """A set: the importer that reads it, its file or directory under ``DATA``, official scorers.

    ``options``: of ``callbench record``. Where every parameter is optional, they must be asked for.
    """

    name: str
    importer: str
    path: str
    scorers: tuple[str, ...]
    options: tuple[str, ...] = ()


SETS = (
    PublicSet("bfcl-simple", "bfcl", "bfcl/BFCL_v4_simple_python.json", ("bfcl-ast",)),
    PublicSet("bfcl-live", "bfcl", "bfcl/BFCL_v4_live_simple.json", ("bfcl-ast",)),
    PublicSet(
        "acebench-zh",
        "acebench",
        "acebench/data_zh/data_normal_single_turn_single_function.json",
        (),
    ),
    PublicSet("xsid-zh", "xsid", "xsid/zh.valid.conll", ("span-f1",), ("--ask-optional",)),
    PublicSet("xsid-en", "xsid", "xsid/en.valid.conll", ("span-f1",), ("--ask-optional",)),
    PublicSet("sgd", "sgd", "sgd/dev", ("sgd-jga",)),
)

SYSTEMS: dict[str, tuple[str, ...]] = {
    "smollm2": ("--model", "smollm2"),
    "smollm2+needle3": ("--model", "smollm2", "--function-model", "needle3"),
    "gemma3-270m": ("--model", "gemma3-270m"),
    "smollm2 fewshot": ("--model", "smollm2", "--system", "fewshot", "--shots", "3"),
    "needle3 stage2": ("--model", "needle3", "--system", "stage2"),
    "empty": ("--system", "empty"),
    "copy": ("--system", "copy"),
}


def main() -> None:
    """Import, record, score what is asked for; write the table of everything that was."""
    options = _options()
    for one in SETS:
        if options.only and one.name not in options.only:
            continue
        dataset = _imported(one, options.data, options.work, options.sample)
        for system, words in SYSTEMS.items():
            if not options.system or system in options.system:
                _recorded(one, system, words, dataset, options.work)
    rows = list(_rows(options.work))
    options.out.mkdir(parents=True, exist_ok=True)
    document = {"made": f"{datetime.now(UTC):%Y-%m-%d}", "versions": _versions(), "rows": rows}
    text = json.dumps(document, ensure_ascii=False, indent=1)
    (options.out / "table.json").write_text(text + "\n", encoding="utf-8")
    (options.out / "table.md").write_text(_markdown(document), encoding="utf-8")
    print(_markdown(document))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path, help="local copies of the sets")
    parser.add_argument("--work", type=Path, required=True, help="datasets, recordings and runs")
    parser.add_argument("--sample", type=int, help="cases of each set; default: all")
    parser.add_argument("--only", action="append", choices=[one.name for one in SETS])
    parser.add_argument("--system", action="append", choices=list(SYSTEMS))
    parser.add_argument("--out", type=Path, default=Path("reports/public-sets"))
    return parser.parse_args()


def _imported(one: PublicSet, data: Path, work: Path, sample: int | None) -> Path:
    """Return the dataset of a set, imported and drawn unless it is there already."""
    whole = work / "datasets" / one.name
    if not whole.exists():
        _callbench("dataset", "import", one.importer, data / one.path, "--out", whole)
    if sample is None:
        return whole
    part = work / "samples" / f"{one.name}-{sample}.jsonl"
    cases = sum(1 for _ in (whole / "cases.jsonl").open("rb"))
    if not part.exists():
        drawn = ("--count", min(sample, cases), "--seed", SEED)
        _callbench("dataset", "sample", whole, *drawn, "--out", part)
    return part


def _recorded(
    one: PublicSet, system: str, words: tuple[str, ...], dataset: Path, work: Path
) -> None:
    """Run a system on a dataset, asking what is not recorded yet, and score the run officially.

    All systems of a set share a cassette: the pair's stage 1 is that of the model alone.
    """
    run = work / "runs" / dataset.stem / system.replace(" ", "-")
    if run.exists():
        return
    draft = run.with_name(f"{run.name}.part")
    shutil.rmtree(draft, ignore_errors=True)
    cassette = work / "cassettes" / f"{one.name}.cassette.jsonl"
    asked = (*words, *one.options, "--cassette", cassette, "--out", draft, "--quiet")
    _callbench("record", dataset, *asked)
    for scorer in one.scorers:
        _callbench("score", draft, "--dataset", dataset, "--scorer", scorer)
    draft.rename(run)


def _callbench(*words: object) -> None:
    command = [sys.executable, "-m", "callbench", *map(str, words)]
    print("$", shlex.join(["callbench", *command[3:]]), flush=True)
    subprocess.run(command, check=True)  # noqa: S603 - our own command


def _rows(work: Path) -> Iterator[dict[str, Any]]:
    """Yield what each finished run scored, in the order of the sets and systems."""
    for one in SETS:
        for dataset in sorted((work / "runs").glob(f"{one.name}*")):
            if (
                dataset.name.removeprefix(one.name).lstrip("-").isdigit()
                or dataset.name == one.name
            ):
                report = work / "datasets" / one.name / "import.json"
                imported = json.loads(report.read_text("utf-8"))
                for system in SYSTEMS:
                    run = dataset / system.replace(" ", "-")
                    if run.exists():
                        yield _row(one, system, run, imported)


def _row(one: PublicSet, system: str, run: Path, imported: dict[str, Any]) -> dict[str, Any]:
    document = json.loads((run / "summary.json").read_text("utf-8"))
    scores = document["rows"][0]
    official = {}
    for scorer in one.scorers:
        found = json.loads((run / f"scores.{scorer}.json").read_text("utf-8"))
        official[found["scorer"]] = found["metrics"]
    return {
        "set": one.name,
        "system": system,
        "of": imported["cases"],
        "sources": {source["file"]: source["sha256"] for source in imported["sources"]},
        "dataset_sha256": document["run"]["dataset_sha256"],
        "recorded": document["run"]["started"][:10],
        **{key: scores[key] for key in ("cases", "scored", "unparsed", "provider_errors")},
        **{key: scores[key] for key in ("exact", "exact_strict", "slot_f1", "schema_valid")},
        "official": official,
    }


def _versions() -> dict[str, str]:
    """Return what the answers depend on: this software, the engine, the packages of the weights."""
    found = {"python": platform.python_version(), "machine": platform.machine()}
    found |= {name: version(name) for name in ("callbench", "xllamacpp")}
    catalogue = load_catalogue(None)
    for model in ("smollm2", "gemma3-270m", "needle3"):
        for weights in catalogue.profile(model).weights[:1]:
            found |= {part.package: part.version for part in weights.parts}
    return found


def _markdown(document: dict[str, Any]) -> str:
    """Return the tables, one for each set; rates in percent with their 95 % interval."""
    lines = [
        "# Embedded models on public sets",
        "",
        f"Made {document['made']} by `benchmarks/public_sets.py`, seed {SEED}. Rates in percent, in "
        "parentheses the 95 % interval. *unparsed* counts as wrong in every rate. *official*: the "
        "set's own scorer on the same answers.",
        "",
        ", ".join(f"{name} {number}" for name, number in document["versions"].items()),
        "",
        *_overview(document["rows"]),
        "",
    ]
    for name in dict.fromkeys(row["set"] for row in document["rows"]):
        rows = [row for row in document["rows"] if row["set"] == name]
        first = rows[0]
        lines += [f"## {name}", "", f"{first['cases']} of {first['of']} cases; sources:", ""]
        lines += [f"* `{file}` {sha256[:16]}" for file, sha256 in first["sources"].items()]
        lines += [
            "",
            "| system | unparsed | exact | strict | slot F1 | schema-valid | official |",
            "| :-- | --: | --: | --: | --: | --: | :-- |",
        ]
        for row in rows:
            rates = ("exact", "exact_strict", "slot_f1", "schema_valid")
            cells = [row["system"], str(row["unparsed"]), *(_percent(row[key]) for key in rates)]
            lines.append("| " + " | ".join([*cells, _official(row["official"])]) + " |")
        lines.append("")
    return "\n".join(lines)


def _overview(rows: list[dict[str, Any]]) -> list[str]:
    """Return one table of *exact* over all sets; a dash where a system has not been run."""
    sets = {row["set"]: row["cases"] for row in rows}
    found = {(row["set"], row["system"]): _percent(row["exact"]) for row in rows}
    lines = [
        "| exact % | " + " | ".join(f"{name}, n = {cases}" for name, cases in sets.items()) + " |",
        "| :-- |" + " --: |" * len(sets),
    ]
    for system in SYSTEMS:
        cells = [found.get((name, system), "–") for name in sets]
        lines.append("| " + " | ".join([system, *cells]) + " |")
    return lines


def _official(scores: dict[str, dict[str, Any]]) -> str:
    return "; ".join(
        f"{name.replace('_', ' ')} {_percent(rate)} ({scorer})"
        for scorer, metrics in scores.items()
        for name, rate in list(metrics.items())[:1]
    )


def _percent(rate: dict[str, Any]) -> str:
    if rate["value"] is None:
        return "–"
    value, low, high = (f"{100 * rate[key]:.1f}" for key in ("value", "low", "high"))
    return f"{value} ({low}–{high})"


if __name__ == "__main__":
    main()
