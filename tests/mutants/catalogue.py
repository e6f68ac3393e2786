"""All mutants, from the TOML files beside this one. A fault seen in the wild becomes one more there."""

from __future__ import annotations

import tomllib
from pathlib import Path

from .mutant import Mutant

MUTANTS = tuple(
    Mutant(**entry)
    for path in sorted(Path(__file__).parent.glob("*.toml"))
    for entry in tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
)
