"""Opening the system under test of a run: which there are, what each asks, what it refuses."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from callbench.cassette.faults.applying import Faults
from callbench.cassette.faults.declared import load_plan
from callbench.cassette.faults.matrix import ALL, matrix, stages_of
from callbench.cassette.store import Cassette
from callbench.cassette.transport import Mode
from callbench.dataset.loader import Dataset
from callbench.errors import UsageError
from callbench.models.catalogue import Role, load_catalogue
from callbench.peer.opening import in_process, opener
from callbench.run.baselines import CopySystem, EmptySystem
from callbench.run.cassettes import cassette_path
from callbench.run.config import RunConfig
from callbench.run.examples import ExamplePool
from callbench.run.faults import FaultySystem, VirtualTime
from callbench.run.fewshot import FewShot, FewShotSystem
from callbench.run.implementation import open_implementation
from callbench.run.info import Record, repeat_command, run_info
from callbench.run.scrubbing import scrubbing_of
from callbench.run.session import BOTH, Roles, open_models, roles_of
from callbench.run.stages import Stage1, Stage2
from callbench.run.system import SlotSystem, System, load_slot_class
from callbench.run.trace import Tracer
from corecall.core import CoreCall
from corecall.slot.slot import Slot

BASELINES: dict[str, type[System]] = {"empty": EmptySystem, "copy": CopySystem}


@dataclass(frozen=True, slots=True)
class _Kind:
    """A system that asks models: its Slot class, and the roles of the models it asks."""

    slot_class: type[CoreCall]
    asked: tuple[Role, ...] = BOTH


_KINDS = {
    "slot": _Kind(Slot),
    "stage1": _Kind(Stage1, ("reasoning",)),
    "stage2": _Kind(Stage2, ("function",)),
    "fewshot": _Kind(FewShot, ("reasoning",)),
}


@dataclass(frozen=True, slots=True)
class Opened:
    """A system ready to fill: ``info`` is ``run.json``, ``secrets`` are the keys no file may hold.

    ``faults`` is the same system where its answers are faulty.
    """

    system: System
    info: Record
    secrets: Sequence[str] = ()
    faults: FaultySystem | None = None


@asynccontextmanager
async def opened(
    config: RunConfig, whole: Dataset, dataset: Dataset, tracer: Tracer | None = None
) -> AsyncIterator[Opened]:
    """Give the system under test for the cases of ``dataset``, which are some of ``whole``.

    ``tracer`` is told what its calls do.

    Raises ``UsageError`` for options that do not fit the system, before anything is asked.
    """
    _refuse(config)
    if config.system in BASELINES:
        yield Opened(BASELINES[config.system](), run_info(config, dataset))
        return
    kind = _KINDS.get(config.system) or _Kind(load_slot_class(config.system))
    roles = roles_of(load_catalogue(config.config), config.model, config.function_model, kind.asked)
    options = _options(config)
    path = cassette_path(config, dataset.name)
    names = [profile.model for profile in roles.in_use.values()]
    scrubbers = scrubbing_of(config.config)
    with Cassette.open(path, models=names, scrubbers=scrubbers) as cassette:
        command = repeat_command(replace(config, impl=None), Mode.RECORD)
        if config.impl is not None:
            info = run_info(config, dataset, roles, path)
            if in_process(config.impl):
                info["concurrency"] = 1
            async with open_implementation(
                opener(config.impl),
                cassette,
                count=info["concurrency"],
                deadline=config.deadline,
                command=command,
                options=options,
            ) as (implementation, hello):
                info["implementation"] = f"{hello.name} {hello.release} ({hello.language})"
                yield Opened(implementation, info)
            return
        faults = _faults(config, cassette, whole)
        sleep = asyncio.sleep if faults is None else VirtualTime(config.deadline).sleep
        async with open_models(
            roles,
            cassette,
            config.mode,
            command=command,
            faults=faults,
            pace=config.pace,
            sleep=sleep,
        ) as models:
            system: System
            if config.examples is None:
                system = SlotSystem(models, kind.slot_class, tracer, **options)
            else:
                pool = ExamplePool(whole)
                pool.check(dataset.cases, config.examples)
                system = FewShotSystem(models, pool, config.examples, tracer, **options)
            info = run_info(config, dataset, roles, path)
            if faults is None:
                yield Opened(system, info, _keys(roles))
            else:
                info["faults"] = faults.plan.public()
                faulty = FaultySystem(system, faults, config.deadline, tracer)
                yield Opened(faulty, info, _keys(roles), faulty)


def _faults(config: RunConfig, cassette: Cassette, whole: Dataset) -> Faults | None:
    """The faults of a run: a matter of the whole dataset, so that a selection meets the same ones."""
    if config.faults is None:
        return None
    ids = [case.id for case in whole.cases]
    if config.faults == ALL:
        return Faults(matrix(stages_of(cassette, ids)))
    return Faults(load_plan(config.faults, cases=ids))


def _refuse(config: RunConfig) -> None:
    if config.impl is not None:
        _refuse_with_impl(config)
    if config.repeats > 1 and config.trace:
        raise UsageError("--trace follows one answer to each case; leave out --repeats.")
    if config.faults is not None:
        _refuse_with_faults(config)
    if config.pace is not None:
        _refuse_with_pace(config)
    if config.jobs != 1:
        _refuse_with_jobs(config)
    if config.shots is not None and config.system != "fewshot":
        raise UsageError(
            f"--shots is for --system fewshot; {config.system} shows no examples.",
            remedy="Leave it out, or add --system fewshot.",
        )
    if config.prompt is not None and config.system == "fewshot":
        raise UsageError("--prompt is a template of the Slot, which --system fewshot does not use.")


def _refuse_with_faults(config: RunConfig) -> None:
    if config.mode is not Mode.REPLAY:
        raise UsageError(
            f"--faults does not go with --mode {config.mode}: what they make is no model's answer.",
            remedy="Record without them; then lay them over the recordings.",
        )
    if config.impl is not None:
        raise UsageError(
            "--faults does not go with --impl.",
            remedy="Point the implementation at callbench serve CASSETTE --faults FILE.",
        )
    if config.system in BASELINES:
        raise UsageError(f"--faults: --system {config.system} asks no model.")


def _refuse_with_pace(config: RunConfig) -> None:
    given = {
        f"--mode {config.mode}": (
            config.mode is not Mode.REPLAY,
            "Only what is replayed has a pace.",
        ),
        "--faults": (config.faults is not None, "There time is simulated, and not waited for."),
        "--impl": (
            config.impl is not None,
            "Point the implementation at callbench serve CASSETTE --pace real.",
        ),
        f"--system {config.system}": (config.system in BASELINES, "It asks no model."),
    }
    for option, (there, remedy) in given.items():
        if there:
            raise UsageError(f"--pace does not go with {option}.", remedy=remedy)


def _refuse_with_jobs(config: RunConfig) -> None:
    if config.jobs < 1:
        raise UsageError(f"--jobs must be 1 or more, not {config.jobs}.")
    given = {
        f"--mode {config.mode}": (
            config.mode is not Mode.REPLAY,
            "A model is asked by one process; see --concurrency.",
        ),
        "--trace": (config.trace, "It follows one case after another."),
        "--impl": (config.impl is not None, "It runs in processes of its own; see --concurrency."),
        "--faults": (config.faults is not None, ""),
        "--pace": (config.pace is not None, "Waiting takes no processor; see --concurrency."),
    }
    for option, (there, remedy) in given.items():
        if there:
            raise UsageError(f"--jobs does not go with {option}.", remedy=remedy)


def _refuse_with_impl(config: RunConfig) -> None:
    given = {
        f"--system {config.system}": config.system != "slot",
        f"--mode {config.mode}": config.mode is not Mode.REPLAY,
        "--prompt": config.prompt is not None,
        "--trace": config.trace,
        "--repeats": config.repeats > 1,
    }
    for option, there in given.items():
        if there:
            raise UsageError(
                f"--impl does not go with {option}.",
                remedy="It answers what was recorded of the Slot; record with callbench record.",
            )


def _options(config: RunConfig) -> dict[str, Any]:
    """Return what a Slot class is given; only what was asked for, for classes of the user's own."""
    options: dict[str, Any] = {}
    if config.repair:
        options["repair"] = True
    if config.ask_optional:
        options["ask_optional"] = True
    if config.prompt is not None:
        options["prompt"] = _read_prompt(config.prompt)
    return options


def _keys(roles: Roles) -> list[str]:
    names = {profile.api_key_env for profile in roles.in_use.values()} - {""}
    return [key for name in names if (key := os.environ.get(name, "").strip())]


def _read_prompt(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--prompt {path}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(
            f"--prompt {path}: byte {error.start + 1} is not UTF-8.", remedy="Save it as UTF-8."
        ) from error
