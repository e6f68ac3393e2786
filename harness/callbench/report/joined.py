"""Runs read for comparing: counts per case, joined by the case's id, loud where they do not match."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from operator import add
from pathlib import Path
from sys import intern
from typing import Any

from callbench.errors import DatasetError, UsageError
from callbench.report.runlog import LOG, iter_records, not_a_record, read_info
from callbench.report.summary import counts_of
from callbench.scoring.aggregate import METRICS, case_counts
from callbench.scoring.result import SCORER_VERSION
from callbench.scoring.statistics.intervals import Triple
from callbench.scoring.statistics.sums import Counts

_NAMED = 5
"""How many cases an error names."""


@dataclass(slots=True)
class CaseResult:
    """What a run says of one case: sums over its ``answers``, of which there are several in repeats.

    ``counts`` are those of :func:`~callbench.scoring.aggregate.case_counts`, ``types`` the names of
    slot types with their true positives, false positives and false negatives. ``question`` tells texts
    apart.
    """

    lang: str
    tags: tuple[str, ...]
    cluster: str
    question: int
    answers: int = 0
    counts: Counts = (0,) * 11
    types: tuple[tuple[str, Triple], ...] = ()

    @property
    def scored(self) -> int:
        """How many answers are no provider errors."""
        return self.counts[0] - self.counts[1]

    def of_type(self, name: str) -> Triple:
        """Return the counts of a slot type."""
        return next((counts for kind, counts in self.types if kind == name), (0, 0, 0))

    def add(self, record: Mapping[str, Any], shared: dict[Any, Any]) -> None:
        """Add an answer; equal counts are kept once, in ``shared``."""
        counts = case_counts(dict(record), counts_of(record["slots"]))
        summed = tuple(map(add, self.counts, counts))
        self.counts = shared.setdefault(summed, summed)
        self.answers += 1
        by_type: dict[str, list[Any]] = {}
        for slot in record["slots"]:
            by_type.setdefault(slot["type"], []).append(slot)
        types = dict(self.types)
        for name, slots in by_type.items():
            before, found = types.get(name, (0, 0, 0)), counts_of(slots)
            types[name] = (before[0] + found[0], before[1] + found[1], before[2] + found[2])
        told = tuple(sorted(types.items()))
        self.types = shared.setdefault(told, told)


@dataclass(frozen=True, slots=True)
class RunResults:
    """A run: its name in tables, its ``run.json``, its cases by id in the order they stand."""

    name: str
    directory: Path
    info: Mapping[str, Any]
    cases: dict[str, CaseResult]


@dataclass(frozen=True, slots=True)
class Joined:
    """Runs over the same cases; ``left_out`` says how many of each run's cases are not in all."""

    runs: tuple[RunResults, ...]
    ids: tuple[str, ...]
    left_out: tuple[int, ...]


def metric_named(name: str) -> str:
    """Return the name of a metric that runs are compared by; ``UsageError`` names the nearest."""
    if name in METRICS:
        return name
    near = get_close_matches(name, METRICS, n=1)
    raise UsageError(
        f'There is no metric "{name}".',
        remedy=(f"Did you mean {near[0]}? " if near else "") + f"Metrics: {', '.join(METRICS)}.",
    )


def _of(path: Path) -> Path:
    return path.parent if path.name == LOG else path


def read_run(path: Path) -> RunResults:
    """Read a run's directory, or the ``cases.jsonl`` in it."""
    directory = _of(path)
    info = read_info(directory)
    cases: dict[str, CaseResult] = {}
    shared: dict[Any, Any] = {}
    for number, record in enumerate(iter_records(directory), start=1):
        try:
            cluster = record.get("cluster") or ""
            case = cases.get(record["id"])
            if case is None:
                case = cases[record["id"]] = CaseResult(
                    intern(record["lang"]),
                    shared.setdefault(tags := tuple(record["tags"]), tags),
                    shared.setdefault(cluster, cluster),
                    hash((record["question"], cluster)),
                )
            case.add(record, shared)
        except (KeyError, TypeError, AttributeError) as error:
            raise not_a_record(directory / LOG, number) from error
    model, system = str(info.get("model", directory.name)), str(info.get("system", "slot"))
    name = model if system in ("slot", model) else f"{model} {system}"
    return RunResults(name, directory, info, cases)


def join(paths: Sequence[Path], *, common: bool = False) -> Joined:
    """Read runs and join them by the ids of their cases.

    Raises :class:`UsageError` that says what differs when they are not over the same cases of the same
    dataset; with ``common`` the cases that all of them have are taken, and the rest is counted. Runs of
    different scorers, and cases of one id and different texts, are always errors.
    """
    again = [
        path
        for path, times in Counter(path.resolve() for path in map(_of, paths)).items()
        if times > 1
    ]
    if again:
        raise UsageError(f"{again[0]} is named twice.", remedy="A run is compared with others.")
    runs = _told_apart([read_run(path) for path in paths])
    _no_faults(runs)
    _one_scorer(runs)
    first = runs[0]
    differences = [text for run in runs[1:] for text in _differences(first, run)]
    if differences and not common:
        raise UsageError(
            "These runs are not over the same cases:\n" + "\n".join(differences),
            remedy="Run both on the same data, or compare the cases that all have with --common.",
        )
    ids = tuple(name for name in first.cases if all(name in run.cases for run in runs[1:]))
    if not ids:
        raise UsageError(
            f"{first.directory} has no case in common with the other runs.",
            remedy="Cases are joined by their ids.",
        )
    for run in runs[1:]:
        for name in ids:
            if first.cases[name].question != run.cases[name].question:
                raise DatasetError(
                    f"Case {name} is not the same in {first.directory} and {run.directory}: its "
                    "question or cluster differs.",
                    remedy="Cases are joined by their ids; run both on the same data.",
                )
    return Joined(runs, ids, tuple(len(run.cases) - len(ids) for run in runs))


def require_cases(run: RunResults, sha256: str, ids: Iterable[str]) -> None:
    """Raise :class:`UsageError` where a run is not over just these cases of the dataset of this hash.

    So a baseline that will not match is refused before anything is asked.
    """
    planned = RunResults(
        "this run",
        Path("this run"),
        {**run.info, "dataset_sha256": sha256, "scorer_version": SCORER_VERSION},
        dict.fromkeys(ids, CaseResult("", (), "", 0)),
    )
    _no_faults([run])
    _one_scorer([run, planned])
    differences = _differences(run, planned)
    if differences:
        raise UsageError(
            "The baseline is not over the same cases:\n" + "\n".join(differences),
            remedy="Take a run over the same data and the same selection as baseline.",
        )


def _told_apart(runs: Sequence[RunResults]) -> tuple[RunResults, ...]:
    """Give runs whose names are alike the names of their directories."""
    alike = Counter(run.name for run in runs)
    named = [
        run
        if alike[run.name] == 1
        else RunResults(run.directory.resolve().name, run.directory, run.info, run.cases)
        for run in runs
    ]
    alike = Counter(run.name for run in named)
    return tuple(
        run
        if alike[run.name] == 1
        else RunResults(str(run.directory), run.directory, run.info, run.cases)
        for run in named
    )


def _no_faults(runs: Sequence[RunResults]) -> None:
    for run in runs:
        if run.info.get("faults") is not None:
            raise UsageError(
                f"{run.directory} was run under faults: its scores are not the model's.",
                remedy="Compare runs without --faults; faults.json tells what faults changed.",
            )


def _one_scorer(runs: Sequence[RunResults]) -> None:
    versions = {str(run.directory): run.info.get("scorer_version") for run in runs}
    if len(set(versions.values())) > 1:
        told = ", ".join(f"{name}: {version}" for name, version in versions.items())
        raise UsageError(
            f"These runs were scored by different versions of the scorer ({told}).",
            remedy="Score the older ones anew: callbench score RUN, or replay them.",
        )


def _differences(first: RunResults, run: RunResults) -> list[str]:
    told = []
    hashes = [str(one.info.get("dataset_sha256"))[:12] for one in (first, run)]
    if first.info.get("dataset_sha256") != run.info.get("dataset_sha256"):
        names = [f"{one.info.get('dataset')} (sha256 {sha})" for one, sha in zip((first, run), hashes, strict=True)]  # fmt: skip
        told.append(f"- dataset: {names[0]} in {first.directory}, {names[1]} in {run.directory}")
    for one, other in ((first, run), (run, first)):
        only = [name for name in one.cases if name not in other.cases]
        if only:
            more = f" and {len(only) - _NAMED} more" if len(only) > _NAMED else ""
            told.append(
                f"- only in {one.directory}: {len(only)} of its {len(one.cases)} cases: "
                f"{', '.join(only[:_NAMED])}{more}"
            )
    return told
