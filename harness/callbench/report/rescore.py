"""Scoring a stored run again, with our scorer or an official one: no model is asked.

Predictions are joined to gold by id, never by position (TRAPS D11), and gold must be the files the
run was scored on, or expressly others.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from callbench.dataset import Case, Dataset, load_dataset, select
from callbench.errors import DatasetError, UsageError
from callbench.report.faults import FAULTS
from callbench.report.runlog import INFO, LOG, iter_records, not_a_record, read_info
from callbench.report.summary import Prices, Summary
from callbench.report.write import SUMMARY, write_report
from callbench.scoring import (
    SCORER_VERSION,
    Outcome,
    record_line,
    score_case,
    scored_again,
    stored_outcome,
)
from callbench.scoring.official import Scoring, scorer

Record = dict[str, Any]
_DRAFT = ".score.part"


@dataclass(frozen=True)
class Stored:
    """A run on disk beside the cases it is scored on. ``given`` is how the dataset was named."""

    directory: Path
    info: Record
    given: str
    dataset: Dataset
    changed: bool

    def answers(self) -> Iterator[tuple[Record, Case, Outcome]]:
        """Yield each record with its case and outcome.

        Raises :class:`UsageError` for a run that does not hold whole outcomes, and
        :class:`DatasetError` where ids do not match: for a record of no case and, with other gold
        than before, for a case of no record.
        """
        cases = self.dataset.cases
        places = {case.id: index for index, case in enumerate(cases)}
        answered = set()
        for number, record in enumerate(iter_records(self.directory), start=1):
            place = places.get(record["id"])
            if place is None:
                raise DatasetError(
                    f"{self.directory / LOG}:{number}: {self.given} has no case {record['id']} "
                    "among those the run selects.",
                    remedy="Predictions are joined by id; give the dataset they were made on.",
                )
            answered.add(record["id"])
            yield record, cases[place], self._outcome(record, number)
        missing = [name for name in places if name not in answered]
        if missing and self.changed:
            raise DatasetError(
                f"{self.given} has {len(missing)} cases that the run did not answer, "
                f"the first is {missing[0]}.",
                remedy="Score on the same cases, or run again.",
            )

    def _outcome(self, record: Record, number: int) -> Outcome:
        try:
            outcome = stored_outcome(record)
        except (KeyError, TypeError, ValueError) as error:
            raise not_a_record(self.directory / LOG, number) from error
        if outcome is None:
            raise UsageError(
                f"{self.directory} cannot be scored again: it was written by a version of callbench "
                "that did not keep whole answers.",
                remedy=f"Run it again: {self.info.get('command', 'callbench run')}",
            )
        return outcome


def open_stored(directory: Path, dataset: str | None = None, *, changed: bool = False) -> Stored:
    """Open a run and its dataset, which is the one it names unless another is given.

    Raises :class:`UsageError` for what is no run or no dataset, :class:`DatasetError` when the
    dataset's hash is not the run's and that was not said to be meant (``changed``).
    """
    if changed and dataset is None:
        raise UsageError("--changed needs --dataset: which changed dataset?")
    info = read_info(directory)
    given = dataset or str(info.get("dataset_given", info.get("dataset")))
    try:
        whole = load_dataset(given)
    except UsageError as error:
        if dataset is not None:
            raise
        raise UsageError(
            f"The dataset of {directory} is not there: {error.message}",
            remedy="Say where it is: --dataset PATH.",
        ) from error
    first = info.get("answered", {}).get("dataset_sha256")
    other = whole.sha256 not in (info.get("dataset_sha256"), first)
    if other and not changed:
        raise DatasetError(
            f"{given} is not what the run was scored on: its SHA-256 is {whole.sha256}, "
            f"that of the run is {info.get('dataset_sha256')}.",
            remedy=f"If it is meant: --dataset {given} --changed; the run then records both.",
        )
    chosen = select(
        whole,
        lang=info.get("lang"),
        tags=info.get("tags", ()),
        skip_tags=info.get("skip_tags", ()),
        limit=info.get("limit"),
    )
    return Stored(directory, info, given, chosen, other)


@contextmanager
def copied(directory: Path, out: Path) -> Iterator[Path]:
    """Give a copy of a run to work on, which becomes ``out`` when all went well."""
    if out.exists():
        raise UsageError(f"{out} is there already.", remedy="Name a new directory.")
    read_info(directory)
    draft = out.with_name(out.name + ".part")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        shutil.copytree(directory, draft)
        yield draft
        draft.rename(out)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def rescore(stored: Stored, prices: Prices | None = None) -> tuple[Record, int]:
    """Score with our scorer: replace ``cases.jsonl``, ``run.json`` and the report in place.

    Returns what ``summary.json`` holds and how many records changed. The new files are all written
    beside the old ones, and take their places only when they are whole: an error, an interruption or
    a full disk leaves the run as it was. With nothing changed every file keeps its bytes.
    """
    draft = stored.directory / _DRAFT
    shutil.rmtree(draft, ignore_errors=True)
    try:
        draft.mkdir()
        changed = _score_into(draft, stored)
        info = _info(stored)
        same = info == stored.info
        for name in (SUMMARY, FAULTS, *([INFO] if same else ())):
            if (stored.directory / name).exists():  # what the report is made of beside the records
                shutil.copyfile(stored.directory / name, draft / name)
        if not same:
            content = orjson.dumps(info, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
            (draft / INFO).write_bytes(content)
        baselines = None if same else _baselines(stored.dataset.cases)
        document = write_report(draft, baselines=baselines, prices=prices)
        for path in sorted(draft.iterdir()):
            path.replace(stored.directory / path.name)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return document, changed


def _score_into(draft: Path, stored: Stored) -> int:
    """Write the records anew; return how many of them changed."""
    changed = 0
    with (draft / LOG).open("wb") as lines:
        for record, case, outcome in stored.answers():
            again = scored_again(record, case, score_case(case, outcome))
            changed += again != record
            lines.write(record_line(again))
    return changed


def _info(stored: Stored) -> Record:
    """Return ``run.json`` with what the scores are of; ``answered`` is what they first were of."""
    now = {"dataset_sha256": stored.dataset.sha256, "scorer_version": SCORER_VERSION}
    first = stored.info.get("answered") or {key: stored.info.get(key) for key in now}
    info = {key: value for key, value in stored.info.items() if key != "answered"} | now
    return info if first == now else {**info, "answered": first}


def _baselines(cases: Sequence[Case]) -> list[Record]:
    import asyncio

    from callbench.run.execute import run_baseline
    from callbench.run.opening import BASELINES

    async def rows() -> list[Record]:
        found = []
        for name in BASELINES:
            summary = Summary(f"{name} (baseline)")
            async for record in run_baseline(name, cases):
                summary.add(record)
            found.append(summary.as_dict())
        return found

    return asyncio.run(rows())


def score_officially(stored: Stored, names: Sequence[str]) -> Mapping[str, Record]:
    """Score with official scorers; write ``scores.<name>.json`` each and return them by name."""
    scorings = {one.name: Scoring(one) for one in map(scorer, names)}
    for record, case, outcome in stored.answers():
        place = {"repeat": record["repeat"]} if "repeat" in record else {}
        for scoring in scorings.values():
            scoring.add(case, outcome, **place)
    documents = {}
    for name, scoring in scorings.items():
        document = {
            "run_id": stored.info.get("run_id"),
            "dataset": stored.dataset.name,
            "dataset_sha256": stored.dataset.sha256,
            **scoring.as_dict(),
        }
        documents[name] = document
    for name, document in documents.items():
        text = json.dumps(document, indent=1) + "\n"
        _replace(stored.directory / f"scores.{name}.json", text.encode())
    return documents


def _replace(path: Path, content: bytes) -> None:
    draft = path.with_name(path.name + ".part")
    try:
        draft.write_bytes(content)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
