"""``run.json``: what a run is and how to repeat it."""

from __future__ import annotations

import hashlib
import platform
import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import callbench
from callbench.cassette.transport import Mode
from callbench.dataset.loader import Dataset
from callbench.run.config import RunConfig
from callbench.run.session import Roles
from callbench.scoring.verdict import SCORER_VERSION

Record = dict[str, Any]


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
        "--shots": config.examples,
        "--impl": config.impl,
        "--mode": mode.value,
        "--cassette": config.cassette,
        "--prompt": config.prompt,
        "--config": config.config,
        "--lang": config.lang,
        "--limit": config.limit,
        "--faults": config.faults if mode is Mode.REPLAY else None,
    }
    for option, value in given.items():
        if value is not None:
            words += [option, value]
    for tag in config.tags:
        words += ["--tag", tag]
    for tag in config.skip_tags:
        words += ["--skip-tag", tag]
    if config.repeats > 1:
        words += ["--repeats", config.repeats]
    words += ["--repair"] * config.repair + ["--ask-optional"] * config.ask_optional
    return shlex.join(map(str, words))


def run_info(
    config: RunConfig, dataset: Dataset, roles: Roles | None = None, cassette: Path | None = None
) -> Record:
    """Return the contents of ``run.json``; without ``roles`` no model is asked."""
    started = datetime.now(UTC)
    model = "+".join(config.models) if roles else config.system
    asked = roles.in_use if roles else {}
    concurrency = config.concurrency or (
        1
        if config.mode is Mode.REPLAY or not asked
        else min(profile.concurrency for profile in asked.values())
    )
    return {
        "run_id": f"{started:%Y%m%dT%H%M%S}-{dataset.name}-{model}{_suffix(config)}",
        "started": started.isoformat(timespec="seconds"),
        "dataset": dataset.name,
        "dataset_given": config.dataset,
        "dataset_sha256": dataset.sha256,
        "cases": len(dataset.cases),
        "repeats": config.repeats,
        "lang": config.lang,
        "tags": list(config.tags),
        "skip_tags": list(config.skip_tags),
        "limit": config.limit,
        "model": model,
        "system": config.system,
        "impl": config.impl,
        "shots": config.examples,
        "mode": config.mode.value,
        "profiles": {role: profile.public() for role, profile in asked.items()},
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


def _suffix(config: RunConfig) -> str:
    if config.impl is not None:
        return "-impl"
    if config.faults is not None:
        return "-faults"
    return f"-{config.system}" if config.system in ("stage1", "stage2", "fewshot") else ""


def _sha256(path: Path) -> str | None:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None
