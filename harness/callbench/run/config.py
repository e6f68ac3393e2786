"""What one run is: everything needed to repeat it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from callbench.cassette.transport import Mode
from corecall.types import LanguageType

USUAL_SHOTS = 3

LANGUAGES: dict[str, LanguageType] = {"en": LanguageType.ENGLISH, "zh": LanguageType.CHINESE}


@dataclass(frozen=True, slots=True)
class RunConfig:
    """The options of ``callbench run``.

    ``cassette`` and ``out`` are ``None`` for the usual places: ``cassettes/`` (here, else the
    bundled ones) and ``reports/<run-id>``. ``shots`` counts the examples of the system
    ``fewshot``, ``None`` for as many as usual; no other system has any. ``concurrency`` counts
    cases in flight, ``deadline`` is in seconds per case. ``repeats`` counts
    the answers that each case is asked for. ``trace`` keeps what the calls did in ``trace.jsonl``.
    Cases with one of ``skip_tags`` are left out. ``impl`` names an implementation that is asked in place of the reference.
    ``faults`` is a file of faults to lay over the recorded answers, or ``all``. ``pace`` replays in time:
    1 as recorded, 2 twice as fast, ``None`` at once. ``jobs`` counts the processes of a replay.
    """

    dataset: str = "everyday"
    model: str = "smollm2"
    function_model: str | None = None
    system: str = "slot"
    shots: int | None = None
    mode: Mode = Mode.REPLAY
    cassette: Path | None = None
    out: Path | None = None
    prompt: Path | None = None
    config: Path | None = None
    lang: str | None = None
    tags: tuple[str, ...] = ()
    skip_tags: tuple[str, ...] = ()
    limit: int | None = None
    repair: bool = False
    ask_optional: bool = False
    concurrency: int | None = None
    deadline: float = 300.0
    trace: bool = False
    repeats: int = 1
    impl: str | None = None
    faults: str | None = None
    pace: float | None = None
    jobs: int = 1

    @property
    def examples(self) -> int | None:
        """How many examples each case is shown; ``None`` for a system that shows none."""
        if self.system != "fewshot":
            return None
        return USUAL_SHOTS if self.shots is None else self.shots

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models in use, the reasoning model first."""
        return (self.model, *([self.function_model] if self.function_model else []))
