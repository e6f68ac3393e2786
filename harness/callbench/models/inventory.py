"""What ``callbench models list``, ``pull`` and ``check`` do; the command only prints the rows."""

from __future__ import annotations

import importlib.util
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from callbench.errors import CallbenchError, ExitCode, UsageError
from callbench.models import weights
from callbench.models.catalogue import Catalogue, ModelProfile
from callbench.models.opening import Engines, open_model, process_engines
from corecall.generator import GenerationError
from corecall.providers import ChatClient, Endpoint, FunctionModel, ReasoningModel
from corecall.reply import parse_reply
from corecall.types import CallError

_QUESTION = "What is the weather in Paris?"
_SCHEMA: dict[str, Any] = {
    "title": "weather",
    "description": "Look up the weather of a city",
    "type": "object",
    "properties": {"city": {"type": "string", "description": "The city"}},
    "required": ["city"],
}
_PACKAGES = {"llama": "xllamacpp"}


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A line of ``models list``. ``ready`` says whether it can be asked now, ``note`` why not."""

    name: str
    engine: str
    roles: tuple[str, ...]
    description: str
    license: str
    megabytes: float | None
    ready: bool
    note: str
    source: str


@dataclass(frozen=True, slots=True)
class PullRow:
    """A line of ``models pull``: a file of a model, checked and in its place."""

    name: str
    file: str
    path: Path
    megabytes: float
    sha256: str


@dataclass(frozen=True, slots=True)
class CheckRow:
    """A line of ``models check``: whether the model answers, and how long it took.

    ``milliseconds`` is the time of one small request on a started engine, ``start_milliseconds``
    that of the first one, start included. ``exit_code`` is what the command ends with.
    """

    name: str
    ok: bool
    problem: str
    answer: str
    milliseconds: float | None
    start_milliseconds: float | None
    exit_code: ExitCode


def list_models(catalogue: Catalogue) -> tuple[ModelRow, ...]:
    """Return a row per profile; starts nothing and connects to nothing."""
    return tuple(_row(profile) for profile in catalogue)


def pull_model(
    profile: ModelProfile, *, progress: weights.Progress = lambda text: None
) -> tuple[PullRow, ...]:
    """Bring the weights of a profile here; see :func:`callbench.models.weights.pull`."""
    pins = {file.file: file.sha256 for file in profile.weights}
    return tuple(
        PullRow(profile.name, name, path, path.stat().st_size / 1e6, pins.get(name, ""))
        for name, path in weights.pull(profile, progress=progress).items()
    )


async def check_model(profile: ModelProfile, *, engines: Engines | None = None) -> CheckRow:
    """Check the engine, the weights and one small request bound by a schema.

    Whatever fails is told in the row, not raised.
    """
    try:
        if profile.engine != "http":
            _check_files(profile)
        opened = open_model(profile, engines=engines or process_engines())
    except CallbenchError as error:
        return _failed(profile, str(error), error.exit_code)
    client = ChatClient(
        Endpoint(
            base_url=opened.base_url,
            model=opened.model,
            api_key=opened.api_key,
            params=profile.params,
            timeout=profile.timeout,
            retries=0,
            system_first=profile.system_first,
        ),
        transport=opened.transport() if opened.transport is not None else None,
    )
    try:
        first, _ = await _timed(profile, client)
        again, answer = await _timed(profile, client)
    except CallbenchError as error:
        return _failed(profile, str(error), error.exit_code)
    except GenerationError as error:
        return _failed(profile, f"It answers, but not as asked: {error}", ExitCode.PROVIDER)
    except CallError as error:
        return _failed(profile, str(error), ExitCode.PROVIDER)
    finally:
        await client.aclose()
    return CheckRow(profile.name, True, "", answer, again, first, ExitCode.OK)


async def _timed(profile: ModelProfile, client: ChatClient) -> tuple[float, str]:
    started = time.perf_counter()
    messages = [{"role": "user", "content": _QUESTION}]
    if "function" in profile.roles:
        model = FunctionModel(client, mode=profile.function_mode, trials=1)
        answer = str(await model.call(messages, _SCHEMA))
    else:
        reasoning = ReasoningModel(client, reply_mode=profile.reply_mode)
        pieces = [
            chunk.content
            async for chunk in reasoning.call(messages, streaming=True, response_schema=_SCHEMA)
        ]
        answer = "".join(pieces)
        if profile.reply_mode != "text" and parse_reply(answer).object is None:
            raise GenerationError("no JSON object", answer=answer, partial={})
    return (time.perf_counter() - started) * 1000, answer


def _check_files(profile: ModelProfile) -> None:
    _engine_here(profile)
    for path in weights.damaged(profile):
        raise UsageError(
            f"{profile.name}: {path} is damaged: it is not the file that is pinned.",
            remedy=f"Get it anew: callbench models pull {profile.name}",
        )


def _engine_here(profile: ModelProfile) -> None:
    package = _PACKAGES.get(profile.engine)
    if package is not None and importlib.util.find_spec(package) is None:
        raise UsageError(
            f"{profile.name} needs {package}, which is not installed.",
            remedy="Install it: pip install 'callbench[local]'",
        )


def _row(profile: ModelProfile) -> ModelRow:
    note, size = "", None
    if profile.engine == "http":
        if profile.api_key_env and not os.environ.get(profile.api_key_env):
            note = f"{profile.api_key_env} is not set"
    else:
        try:
            _engine_here(profile)
            size = sum(path.stat().st_size for path in weights.locate(profile).values()) / 1e6
        except UsageError as error:
            note = str(error).replace("\n", " ")
    if size is None and profile.weights:
        here = weights.this_platform()
        size = sum(f.size for f in profile.weights if f.platform in ("", here)) / 1e6
    return ModelRow(
        name=profile.name,
        engine=profile.engine,
        roles=profile.roles,
        description=profile.description or f"{profile.model} at {profile.base_url}",
        license=profile.license,
        megabytes=size,
        ready=not note,
        note=note,
        source=profile.source or "built in",
    )


def _failed(profile: ModelProfile, problem: str, code: ExitCode) -> CheckRow:
    return CheckRow(profile.name, False, problem, "", None, None, code)
