"""What one run is: everything needed to repeat it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from callbench.cassette.transport import Mode
from corecall.types import LanguageType

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
    mode: Mode = Mode.REPLAY
    cassette: Path | None = None
    out: Path | None = None
    prompt: Path | None = None
    config: Path | None = None
    lang: str | None = None
    tags: tuple[str, ...] = ()
    limit: int | None = None
    repair: bool = False
    ask_optional: bool = False
    concurrency: int | None = None
    deadline: float = 300.0

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models in use, the reasoning model first."""
        return (self.model, *([self.function_model] if self.function_model else []))
