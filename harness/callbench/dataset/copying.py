"""New datasets out of old ones: lines taken over byte for byte, written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from callbench.errors import UsageError


def write_lines(out: Path, lines: Iterable[bytes]) -> int:
    """Write a new ``*.jsonl`` file, one line each; return how many.

    Raises ``UsageError`` when ``out`` exists already or is no ``.jsonl`` file. An error while the
    lines are made leaves nothing behind.
    """
    if out.suffix != ".jsonl":
        raise UsageError(f"{out}: the file must end in .jsonl.", remedy=f"Try {out}.jsonl")
    if out.exists():
        raise UsageError(
            f"{out} exists already and is not overwritten.",
            remedy="Name another file, or remove that one.",
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{out.name}.", dir=out.parent)
    draft = Path(name)
    count = 0
    try:
        with os.fdopen(descriptor, "wb") as file:
            for line in lines:
                file.write(line + b"\n")
                count += 1
        draft.chmod(0o644)
        draft.replace(out)
    finally:
        draft.unlink(missing_ok=True)
    return count
