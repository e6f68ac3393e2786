"""What one run is: everything needed to repeat it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from corecall.types import LanguageType

Mode = Literal["replay", "record", "rerecord", "live"]

LANGUAGES: dict[str, LanguageType] = {"en": LanguageType.ENGLISH, "zh": LanguageType.CHINESE}


@dataclass(frozen=True, slots=True)
class RunConfig:
    """The options of ``callbench run``.

    ``cassette`` and ``out`` are ``None`` for the usual places: ``cassettes/`` (here, else the
    bundled ones) and ``reports/<run-id>``. ``concurrency`` counts cases in flight,
    ``deadline`` is in seconds per case.
    """

    dataset: str = "everyday"
    model: str = "smollm2"
    function_model: str | None = None
    system: str = "slot"
    mode: Mode = "replay"
    cassette: Path | None = None
    out: Path | None = None
    prompt: Path | None = None
    config: Path | None = None
    langs: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    limit: int | None = None
    repair: bool = False
    ask_optional: bool = False
    concurrency: int | None = None
    deadline: float = 300.0
    extra: dict[str, str] = field(default_factory=dict)
