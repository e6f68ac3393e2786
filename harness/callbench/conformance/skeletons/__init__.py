"""Peers to begin with, in Node, Python and Java: one file each, which runs at once."""

from __future__ import annotations

import shlex
from pathlib import Path

from callbench.errors import UsageError

_FILES = {"node": "main.mjs", "python": "main.py", "java": "Main.java"}
LANGUAGES = tuple(_FILES)

# The options halve the time that Java takes to compile and start one file.
_PROGRAMS = {
    "node": ["node"],
    "python": ["python3"],
    "java": ["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"],
}


def write_skeleton(language: str, directory: Path) -> tuple[Path, str]:
    """Write the file into ``directory``; return its path and the command line that runs it.

    Raises :class:`UsageError` for another language, and for a file that is there already.
    """
    if language not in _FILES:
        raise UsageError(
            f'There is no skeleton in "{language}".',
            remedy=f"Languages: {', '.join(LANGUAGES)}. For another, read PROTOCOL.md.",
        )
    target = directory / _FILES[language]
    if target.exists():
        raise UsageError(f"{target} is there already.", remedy="Name another directory.")
    source = Path(__file__).parent / language / f"{_FILES[language]}.txt"
    directory.mkdir(parents=True, exist_ok=True)
    target.write_bytes(source.read_bytes())
    return target, shlex.join([*_PROGRAMS[language], str(target)])
