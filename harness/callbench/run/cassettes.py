"""Which cassette file a run uses."""

from __future__ import annotations

from pathlib import Path

from callbench.bundled import bundled
from callbench.cassette.transport import Mode
from callbench.run.config import RunConfig

_HERE = Path("cassettes")

_APART = frozenset({"stage2", "fewshot"})
"""Systems whose requests are others than the Slot's, so that they have a file of their own."""


def cassette_path(config: RunConfig, dataset: str) -> Path:
    """Return the file: the one asked for, else ``DATASET.MODEL[+FUNCTION].cassette.jsonl``.

    The name of a system that does not ask what the Slot asks stands before ``cassette``:
    ``everyday.smollm2.fewshot.cassette.jsonl``, whatever the number of shots; ``stage1``
    shares the Slot's file. The file is in ``cassettes/`` here; a replay that finds none there
    looks among the bundled.
    """
    if config.cassette is not None:
        return config.cassette
    parts = [dataset, "+".join(config.models)]
    if config.system in _APART:
        parts.append(config.system)
    name = f"{'.'.join(parts)}.cassette.jsonl"
    here = _HERE / name
    if config.mode is Mode.REPLAY and not here.exists():
        shipped = bundled("cassettes") / name
        if shipped.exists():
            return shipped
    return here
