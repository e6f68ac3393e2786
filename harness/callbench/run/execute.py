"""One run from its configuration to its files: ``run.json``, then ``cases.jsonl`` line by line.

Summaries, tables and pages are made from these files by ``callbench.report``.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

import orjson

from callbench.cassette.miss import CassetteMiss
from callbench.cassette.scrub import mask_bytes
from callbench.cassette.transport import Mode
from callbench.dataset.case import Case
from callbench.dataset.loader import Dataset, load_dataset, select
from callbench.errors import CassetteError, ProviderError
from callbench.run.config import RunConfig
from callbench.run.directory import create_run, named
from callbench.run.engine import run_cases
from callbench.run.faults import FaultsViolated, faults_document
from callbench.run.info import Record
from callbench.run.jobs import Task, scored_by_workers
from callbench.run.opening import BASELINES, opened
from callbench.run.scored import Scored, offline, scored_cases
from callbench.run.trace import Show, Tracer, tracing
from callbench.scoring.record import Spent, case_record
from callbench.scoring.verdict import score_case

_GIVE_UP_AFTER = 5  # provider errors in a row with no success before: the endpoint is not there

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Finished:
    """What a run left behind.

    ``misses`` counts the cases without a recording, ``miss`` is the first of them;
    ``failures`` counts provider errors, ``failure`` tells the first. ``faults`` is what
    ``faults.json`` holds, where there were any.
    """

    directory: Path
    info: Record
    seconds: float
    misses: int = 0
    miss: CassetteError | None = None
    failures: int = 0
    failure: str = ""
    faults: Record | None = None

    def problem(self) -> CassetteError | ProviderError | None:
        """Return the error the command ends with, the gravest first, naming all."""
        repeats = self.info["repeats"]
        cases = self.info["cases"] * repeats
        what = "cases" if repeats == 1 else "answers"
        where = "the implementation" if self.info.get("impl") else "the model"
        failed = f"{self.failures} of {cases} {what} failed at {where}: {self.failure}"
        if self.miss is not None:
            also = f"\nBeside that, {failed}" if self.failures else ""
            lack = (
                "lack a recording" if isinstance(self.miss, CassetteMiss) else "were not replayed"
            )
            return CassetteError(
                f"{self.misses} of {cases} {what} {lack}. The first:\n{self.miss.message}{also}",
                remedy=self.miss.remedy,
            )
        if self.failures and self.faults is None:  # under faults they are what is expected
            return ProviderError(
                failed, remedy="The other cases are scored. Run again to ask for these."
            )
        return None

    def violated(self) -> FaultsViolated | None:
        """Return the error that says which rules of a run under faults were broken."""
        counts = self.faults["violations"] if self.faults is not None else {}
        told = [f"{name}: {count}" for name, count in counts.items() if count]
        if not told:
            return None
        return FaultsViolated(
            f"Under faults, what may never be ({', '.join(told)}).",
            remedy=f"The cases stand in {self.directory / 'faults.json'} and in report.md.",
        )


async def execute(
    config: RunConfig,
    progress: Progress = lambda done, total: None,
    show: Show = lambda text: None,
) -> Finished:
    """Run a system over a dataset and write ``run.json`` and ``cases.jsonl``.

    With ``config.trace`` also ``trace.jsonl``, whose events ``show`` is given as text. A case
    without a recording is not scored and not written. Raises the ``CallbenchError`` of whatever
    makes the run impossible before the first case.
    """
    whole = load_dataset(config.dataset)
    dataset = _selected(config, whole)
    total = len(dataset.cases) * config.repeats
    started = time.perf_counter()
    tracer = Tracer() if config.trace else None
    async with offline(config), opened(config, whole, dataset, tracer) as run:
        info = run.info
        directory = create_run(config, info)
        patient = config.faults is not None
        failures = _Failures(implementation=config.impl is not None, patient=patient)
        if config.jobs == 1:
            results = scored_cases(dataset.cases, run, config)
        else:
            results = scored_by_workers(Task(config, whole, dataset))
        with (
            tracing(tracer, directory / "trace.jsonl", run.secrets, show) as trace,
            named(directory / "cases.jsonl") as path,
            path.open("wb") as log,
        ):
            async with aclosing(results):
                number = 0
                async for scored in results:
                    number += 1
                    trace(scored.id)
                    log.write(scored.line)
                    if config.mode is not Mode.REPLAY:
                        log.flush()  # an answer that was waited for outlives even a kill
                    failures.add(scored)
                    progress(number, total)
        faults = None
        if run.faults is not None:
            faults = faults_document(run.faults)
            with named(directory / "faults.json") as path:
                path.write_bytes(mask_bytes(_indented(faults), run.secrets))
    return Finished(
        directory,
        info,
        time.perf_counter() - started,
        failures.misses,
        failures.miss,
        failures.count,
        failures.first,
        faults,
    )


async def run_baseline(name: str, cases: Iterable[Case]) -> AsyncIterator[Record]:
    """Yield the scored record of each case under a baseline."""
    async for done in run_cases(cases, BASELINES[name](), concurrency=1, deadline=60.0):
        score = score_case(done.case, done.outcome)
        yield case_record(done.case, done.outcome, score, Spent())


def selected(config: RunConfig) -> Dataset:
    """Return the cases a run is over."""
    return _selected(config, load_dataset(config.dataset))


def _selected(config: RunConfig, dataset: Dataset) -> Dataset:
    return select(
        dataset,
        lang=config.lang,
        tags=config.tags,
        skip_tags=config.skip_tags,
        limit=config.limit,
    )


def _indented(value: Record) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


@dataclass(slots=True)
class _Failures:
    """Counts misses and provider errors; gives up on an endpoint that never answered."""

    implementation: bool = False
    patient: bool = False
    misses: int = 0
    miss: CassetteError | None = None
    count: int = 0
    first: str = ""
    _answered: bool = False

    def add(self, scored: Scored) -> None:
        if scored.miss is not None:
            self.misses += 1
            self.miss = self.miss or scored.miss
        elif scored.failure is not None:
            self.count += 1
            self.first = self.first or f"{scored.failure} (case {scored.id})"
            if not (self.patient or self._answered) and self.count == _GIVE_UP_AFTER:
                where, remedy = "the model", "Is the endpoint up, and the key right?"
                if self.implementation:
                    where, remedy = "the implementation", "Try callbench conform --op slot.exec."
                raise ProviderError(
                    f"The first {self.count} cases all failed at {where}: {self.first}",
                    remedy=f"{remedy} Nothing was scored.",
                )
        else:
            self._answered = True
