"""What is wrong with a dataset file: one value per fault, and the error that lists them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from callbench.errors import DatasetError

MOST_PROBLEMS = 20
"""How many faults are collected before a file is given up, so that one reading mends many."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A rule that one field of a case breaks. ``pointer`` is the field in the line's object."""

    pointer: str
    rule: str
    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Problem:
    """A fault with the place of its line."""

    file: Path
    line: int
    fault: Fault

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}"
        field = f" {self.fault.pointer}" if self.fault.pointer else ""
        return f"{place}:{field} [{self.fault.rule}] {self.fault.message} {self.fault.remedy}"


class InvalidDataset(DatasetError):
    """A dataset breaks the rules of its format; ``problems`` holds each place."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        count = len(self.problems)
        lines = [str(problem) for problem in self.problems]
        if count >= MOST_PROBLEMS:
            lines.append(f"(stopped after {MOST_PROBLEMS}; there may be more)")
        title = "1 problem" if count == 1 else f"{count} problems"
        super().__init__(
            "\n".join([f"The dataset has {title}:", *lines]),
            remedy="The format of a case is documented in callbench/dataset/case.schema.json.",
        )
