"""Which cassette file a run uses."""

from __future__ import annotations

from pathlib import Path

from callbench.bundled import bundled
from callbench.cassette.transport import Mode
from callbench.run.config import RunConfig

_HERE = Path("cassettes")


def cassette_path(config: RunConfig, dataset: str) -> Path:
    """Return the file: the one asked for, else ``DATASET.MODEL[+FUNCTION].cassette.jsonl``.

    It stands in ``cassettes/`` here; a replay that finds none there looks among the bundled.
    """
    if config.cassette is not None:
        return config.cassette
    name = f"{dataset}.{'+'.join(config.models)}.cassette.jsonl"
    here = _HERE / name
    if config.mode is Mode.REPLAY and not here.exists():
        shipped = bundled("cassettes") / name
        if shipped.exists():
            return shipped
    return here
