"""The gold of a set that keeps it in a file of its own, by the id of the question."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from callbench.dataset.importers.base import Excluded


class Answers:
    """The gold of one file. What no question asked for, and what stands twice, is accounted for."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[str, Any]] = {}
        self._asked: set[str] = set()
        self._repeated: list[Excluded] = []

    def add(self, name: str, place: str, gold: Any) -> None:
        """Take in the gold of a question; ``place`` is its ``file#record``. The first of an id counts."""
        if name in self._found:
            why = f'The gold "{name}" stands in {self._found[name][0]} already; that one is taken.'
            self._repeated.append(Excluded(place, "repeated-gold", why))
            return
        self._found[name] = (place, gold)

    def of(self, name: str) -> tuple[str, Any] | None:
        """Return where the gold of a question stands and the gold, ``None`` when there is none."""
        self._asked.add(name)
        return self._found.get(name)

    def unused(self) -> Iterator[Excluded]:
        """Yield every gold that no question was given."""
        yield from self._repeated
        for name, (place, _) in self._found.items():
            if name not in self._asked:
                why = f'The gold "{name}" has no question of that id.'
                yield Excluded(place, "no-question", why)
