"""What an importer is: it reads a source and yields one item for every call that is in it.

An item is a :class:`Draft`, one case as a line of a dataset before the audit, or :class:`Excluded`,
a call or record that cannot be a case, with the reason. Every record of a source yields at least one
item and every call in it exactly one, so that items = cases + excluded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from callbench.dataset.importers.source import Member, Source

KINDS = (
    "breaks-schema",
    "outside-enum",
    "null-for-non-null",
    "required-but-omittable",
    "required-but-absent",
    "unknown-parameter",
    "double-escaped",
    "misaligned",
    "not-in-case",
)
"""Kinds of gold defects."""


OUT_OF_SCOPE = frozenset(
    {"agent", "agentic", "any-call", "irrelevant", "language", "multi-turn", "no-call",
     "prompt-variants", "relaxed-by-system", "result"}
)  # fmt: skip
"""Kinds of exclusion that say what a record is, not what is wrong with it.

A source of nothing else is a sound file of its format, and its report has no case.
"""


@dataclass(frozen=True, slots=True)
class Defect:
    """A fault of the gold.

    ``pointer`` is the field in the case record, such as ``/expected/unit`` or
    ``/accept/~1unit/values/1``; ``kind`` is one of :data:`KINDS`.
    """

    pointer: str
    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Draft:
    """One case as a line of a dataset, before the audit.

    ``origin`` is ``file#record``, the same for all items of one source record; ``record`` has the keys
    of ``case.schema.json``; ``defects`` are what only the importer can see.
    """

    origin: str
    record: dict[str, Any]
    defects: tuple[Defect, ...] = ()


@dataclass(frozen=True, slots=True)
class Excluded:
    """A call or a record that is no case: a short ``kind`` to count by, and why in a sentence."""

    origin: str
    kind: str
    why: str


Item = Draft | Excluded


class Importer(Protocol):
    """Reads one format. ``licence`` is that of the public set, empty when it is the file's own."""

    name: str
    summary: str
    licence: str

    def read(self, source: Source) -> Iterator[Item]:
        """Yield the items of a source in its order. Raises ``DatasetError`` for another format."""
        ...


__all__ = [
    "KINDS",
    "OUT_OF_SCOPE",
    "Defect",
    "Draft",
    "Excluded",
    "Importer",
    "Item",
    "Member",
    "Source",
]
