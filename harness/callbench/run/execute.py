"""One run from its configuration to its files: ``run.json``, then ``cases.jsonl`` line by line.

Summaries, tables and pages are made from these files by ``callbench.report``.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

import callbench
from callbench.cassette.scrub import mask_bytes
from callbench.cassette.store import Cassette
from callbench.cassette.transport import Mode
from callbench.dataset.case import Case
from callbench.dataset.loader import Dataset, load_dataset, select
from callbench.errors import CassetteError, ProviderError, UsageError
from callbench.models.catalogue import load_catalogue
from callbench.run.baselines import CopySystem, EmptySystem
from callbench.run.cassettes import cassette_path
from callbench.run.config import RunConfig
from callbench.run.engine import Done, run_cases
from callbench.run.session import Roles, open_models, roles_of
from callbench.run.system import SlotSystem, System, load_slot_class
from callbench.scoring.record import Spent, case_record, record_line
from callbench.scoring.verdict import SCORER_VERSION, score_case
from corecall.slot.slot import Slot

BASELINES: dict[str, type[System]] = {"empty": EmptySystem, "copy": CopySystem}

_GIVE_UP_AFTER = 5  # provider errors in a row with no success before: the endpoint is not there

Record = dict[str, Any]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Finished:
    """What a run left behind.

    ``misses`` counts the cases without a recording, ``miss`` is the first of them;
    ``failures`` counts provider errors, ``failure`` tells the first.
    """

    directory: Path
    info: Record
    seconds: float
    misses: int = 0
    miss: CassetteError | None = None
    failures: int = 0
    failure: str = ""

    def problem(self) -> CassetteError | ProviderError | None:
        """Return the error the command ends with, the gravest first, naming all."""
        cases = self.info["cases"]
        failed = f"{self.failures} of {cases} cases failed at the model: {self.failure}"
        if self.miss is not None:
            also = f"\nBeside that, {failed}" if self.failures else ""
            return CassetteError(
                f"{self.misses} of {cases} cases lack a recording. The first:\n"
                f"{self.miss.message}{also}",
                remedy=self.miss.remedy,
            )
        if self.failures:
            return ProviderError(
                failed, remedy="The other cases are scored. Run again to ask for these."
            )
        return None


async def execute(config: RunConfig, progress: Progress = lambda done, total: None) -> Finished:
    """Run a system over a dataset and write ``run.json`` and ``cases.jsonl``.

    A case without a recording is not scored and not written. Raises the ``CallbenchError``
    of whatever makes the run impossible before the first case.
    """
    dataset = selected(config)
    total = len(dataset.cases)
    started = time.perf_counter()
    async with _opened(config, dataset) as (system, info, secrets):
        directory = _create(config, info)
        failures = _Failures()
        with _named(directory / "cases.jsonl") as path, path.open("wb") as log:
            number = 0
            concurrency = info["concurrency"]
            async for done in run_cases(
                dataset.cases, system, concurrency=concurrency, deadline=config.deadline
            ):
                number += 1
                if done.miss is None:
                    log.write(mask_bytes(_line(done), secrets))
                    if config.mode is not Mode.REPLAY:
                        log.flush()  # an answer that was waited for outlives even a kill
                failures.add(done)
                progress(number, total)
    return Finished(
        directory,
        info,
        time.perf_counter() - started,
        failures.misses,
        failures.miss,
        failures.count,
        failures.first,
    )


async def run_baseline(name: str, cases: Iterable[Case]) -> AsyncIterator[Record]:
    """Yield the scored record of each case under a baseline."""
    async for done in run_cases(cases, BASELINES[name](), concurrency=1, deadline=60.0):
        score = score_case(done.case, done.outcome)
        yield case_record(done.case, done.outcome, score, Spent())


def selected(config: RunConfig) -> Dataset:
    """Return the cases a run is over."""
    return select(
        load_dataset(config.dataset), lang=config.lang, tags=config.tags, limit=config.limit
    )


def repeat_command(config: RunConfig, mode: Mode) -> str:
    """Return the command line that runs ``config`` again in another mode."""
    usual = RunConfig()
    words: list[object] = ["callbench", "run"]
    if config.dataset != usual.dataset:
        words.append(config.dataset)
    given = {
        "--model": config.model,
        "--function-model": config.function_model,
        "--system": config.system if config.system != usual.system else None,
        "--mode": mode.value,
        "--cassette": config.cassette,
        "--prompt": config.prompt,
        "--config": config.config,
        "--lang": config.lang,
        "--limit": config.limit,
    }
    for option, value in given.items():
        if value is not None:
            words += [option, value]
    for tag in config.tags:
        words += ["--tag", tag]
    words += ["--repair"] * config.repair + ["--ask-optional"] * config.ask_optional
    return shlex.join(map(str, words))


@asynccontextmanager
async def _opened(
    config: RunConfig, dataset: Dataset
) -> AsyncIterator[tuple[System, Record, Sequence[str]]]:
    """Give the system under test, the contents of ``run.json``, and the keys no file may hold."""
    if config.system in BASELINES:
        yield BASELINES[config.system](), _info(config, dataset, None, None), ()
        return
    roles = roles_of(load_catalogue(config.config), config.model, config.function_model)
    slot_class = Slot if config.system == "slot" else load_slot_class(config.system)
    options: dict[str, Any] = {}
    if config.repair:
        options["repair"] = True
    if config.ask_optional:
        options["ask_optional"] = True
    if config.prompt is not None:
        options["prompt"] = _read_prompt(config.prompt)
    path = cassette_path(config, dataset.name)
    with Cassette.open(path, models=[roles.reasoning.model, roles.function.model]) as cassette:
        command = repeat_command(config, Mode.RECORD)
        async with open_models(roles, cassette, config.mode, command=command) as models:
            system = SlotSystem(models, slot_class, **options)
            yield system, _info(config, dataset, roles, path), _keys(roles)


def _keys(roles: Roles) -> list[str]:
    names = {profile.api_key_env for profile in (roles.reasoning, roles.function)} - {""}
    return [key for name in names if (key := os.environ.get(name, "").strip())]


def _info(
    config: RunConfig, dataset: Dataset, roles: Roles | None, cassette: Path | None
) -> Record:
    started = datetime.now(UTC)
    model = "+".join(config.models) if roles else config.system
    concurrency = config.concurrency or (
        1
        if config.mode is Mode.REPLAY or roles is None
        else min(roles.reasoning.concurrency, roles.function.concurrency)
    )
    return {
        "run_id": f"{started:%Y%m%dT%H%M%S}-{dataset.name}-{model}",
        "started": started.isoformat(timespec="seconds"),
        "dataset": dataset.name,
        "dataset_sha256": dataset.sha256,
        "cases": len(dataset.cases),
        "lang": config.lang,
        "tags": list(config.tags),
        "limit": config.limit,
        "model": model,
        "system": config.system,
        "mode": config.mode.value,
        "profiles": {
            role: profile.public()
            for role, profile in (
                {"reasoning": roles.reasoning, "function": roles.function} if roles else {}
            ).items()
        },
        "cassette": cassette.name if cassette else None,
        "cassette_sha256": _sha256(cassette) if cassette and config.mode is Mode.REPLAY else None,
        "prompt": str(config.prompt) if config.prompt else None,
        "prompt_sha256": _sha256(config.prompt) if config.prompt else None,
        "repair": config.repair,
        "ask_optional": config.ask_optional,
        "concurrency": concurrency,
        "scorer_version": SCORER_VERSION,
        "callbench": callbench.__version__,
        "python": platform.python_version(),
        "command": repeat_command(config, config.mode),
    }


def _create(config: RunConfig, info: Record) -> Path:
    """Make the run's directory; a name that is taken gets a number behind it."""
    if config.out is not None:
        if (config.out / "run.json").exists():
            raise UsageError(
                f"{config.out} already holds a run; runs are never overwritten.",
                remedy="Name another directory, or remove that one.",
            )
        directory = config.out
        if directory.exists() and not directory.is_dir():
            raise UsageError(f"--out {directory} is a file.", remedy="Name a directory.")
        directory.mkdir(parents=True, exist_ok=True)
    else:
        directory = _fresh(Path("reports"), info["run_id"])
    info["run_id"] = directory.name
    content = orjson.dumps(info, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    with _named(directory / "run.json") as path:
        path.write_bytes(content)
    return directory


@contextmanager
def _named(path: Path) -> Iterator[Path]:
    """Name the file in an error of writing to it, as errors of opening do."""
    try:
        yield path
    except OSError as error:
        if error.filename or error.strerror is None:
            raise
        raise UsageError(
            f"{path}: {error.strerror}.", remedy="What was written before is kept."
        ) from error


def _fresh(parent: Path, name: str) -> Path:
    parent.mkdir(parents=True, exist_ok=True)
    number = 1
    while True:
        directory = parent / (name if number == 1 else f"{name}-{number}")
        try:
            directory.mkdir()
        except FileExistsError:
            number += 1
        else:
            return directory


def _line(done: Done) -> bytes:
    score = score_case(done.case, done.outcome)
    return record_line(case_record(done.case, done.outcome, score, done.spent))


@dataclass(slots=True)
class _Failures:
    """Counts misses and provider errors; gives up on an endpoint that never answered."""

    misses: int = 0
    miss: CassetteError | None = None
    count: int = 0
    first: str = ""
    _answered: bool = False

    def add(self, done: Done) -> None:
        if done.miss is not None:
            self.misses += 1
            self.miss = self.miss or done.miss
        elif done.outcome.status == "provider_error":
            self.count += 1
            self.first = self.first or f"{done.outcome.error} (case {done.case.id})"
            if not self._answered and self.count == _GIVE_UP_AFTER:
                raise ProviderError(
                    f"The first {self.count} cases all failed at the model: {self.first}",
                    remedy="Is the endpoint up, and the key right? Nothing was scored.",
                )
        else:
            self._answered = True


def _read_prompt(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--prompt {path}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(
            f"--prompt {path}: byte {error.start + 1} is not UTF-8.", remedy="Save it as UTF-8."
        ) from error


def _sha256(path: Path) -> str | None:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None
