"""Importers: public sets and files of other tools made into datasets, with an audit of their gold.

``IMPORTERS`` names them; a module is imported when its importer is asked for. ``writing.py`` runs one
and writes what it found, ``audit.py`` finds the defects of the gold.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import cast

from callbench.dataset.importers.base import Importer


def _make(module: str, name: str) -> Importer:
    found = import_module(f"callbench.dataset.importers.{module}")
    return cast(Importer, getattr(found, name)())


IMPORTERS: dict[str, Callable[[], Importer]] = {
    "bfcl": partial(_make, "bfcl", "Bfcl"),
    "acebench": partial(_make, "acebench", "AceBench"),
    "sgd": partial(_make, "sgd", "Sgd"),
    "crosswoz": partial(_make, "crosswoz", "CrossWoz"),
    "multiwoz": partial(_make, "multiwoz", "MultiWoz"),
    "xsid": partial(_make, "xsid", "XSid"),
    "snips": partial(_make, "snips", "Snips"),
    "nestful": partial(_make, "nestful", "Nestful"),
    "hammerbench": partial(_make, "hammerbench", "HammerBench"),
    "openai-tools": partial(_make, "openai_tools", "OpenAiTools"),
    "mcp": partial(_make, "mcp", "Mcp"),
    "csv": partial(_make, "mapped", "Csv"),
    "parquet": partial(_make, "mapped", "Parquet"),
}
"""Every importer by name."""

EXTRAS: dict[str, tuple[str, ...]] = {
    "bfcl": ("gold",),
    "acebench": ("gold",),
    "mcp": ("questions",),
    "csv": ("mapping",),
    "parquet": ("mapping",),
}
"""The further files that an importer takes, by the name of the option and of ``Source.extra``."""
