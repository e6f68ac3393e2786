"""How the values of one case are compared: what its schema says and its ``accept`` entries add."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from callbench.dataset.case import Accept, Case, DateOrder
from callbench.dataset.declared import Declared
from callbench.dataset.folding import fold
from callbench.dataset.slots import Path, ancestors
from callbench.scoring.compare import Rung, Words, equal
from callbench.scoring.temporal import KINDS, TimeKind, reading

_NOTHING = Accept()
_TEXTS = frozenset({"exact", "text", *KINDS})
_PLAIN = frozenset({"text", *KINDS})


@dataclass(frozen=True, slots=True)
class Declaration:
    """What is declared of the texts at one place: what kind of time they are, and their aliases."""

    kind: TimeKind | None
    order: DateOrder | None
    now: datetime | None
    groups: dict[str, str]

    def moment(self, text: str) -> Hashable | None:
        """Return a key that texts share which mean the same date, time or duration."""
        return None if self.kind is None else reading(text, self.kind, self.now, self.order)

    def thing(self, text: str) -> str | None:
        """Return a key that the declared spellings of one thing share, and what means the same time."""
        if not self.groups:
            return None
        found = self.groups.get(fold(text))
        if found is not None or self.kind is None:
            return found
        moment = self.moment(text)
        if moment is None:
            return None
        return next((name for one, name in self.groups.items() if self.moment(one) == moment), None)


@dataclass(frozen=True, slots=True)
class Matcher:
    """Compares values at a place as the case declares it."""

    case: Case
    declared: Declared

    def at(self, path: Path, expected: Any, got: Any) -> Rung | None:
        """Return the strictest rung on which ``got`` equals the expected or an accepted value."""
        if type(got) is type(expected) and got == expected and isinstance(got, str | int | None):
            return Rung.JSON  # nearly every right answer; bool is an int, and equal to its own only
        accept = self._accept(path)
        best: Rung | None = None
        for value in (expected, *accept.values):
            rung = self.one(path, value, got)
            if rung is not None and (best is None or rung < best):
                best = rung
        return best

    def one(self, path: Path, expected: Any, got: Any) -> Rung | None:
        """Compare with one value only."""

        def folds(inner: Path) -> bool:
            return self._folds((*path, *inner))

        def reads(inner: Path) -> Words | None:
            return self._reads((*path, *inner))

        unordered = self._accept(path).match == "set"
        return equal(expected, got, folds=folds, reads=reads, unordered=unordered)

    def _accept(self, path: Path) -> Accept:
        if not self.case.accept:
            return _NOTHING
        return self.case.accept.get(self.declared.label(path).pointer, _NOTHING)

    def _above(self, path: Path) -> Iterator[Accept]:
        """Yield what is said of a place and of those above it, nearest first."""
        if self.case.accept:
            text = self.declared.label(path).pointer
            for place in (text, *ancestors(text)):
                if place in self.case.accept:
                    yield self.case.accept[place]

    def _match(self, path: Path) -> str | None:
        """Return how texts here are to be compared, ``None`` when only the schema says."""
        return next((one.match for one in self._above(path) if one.match in _TEXTS), None)

    def _folds(self, path: Path) -> bool:
        match = self._match(path)
        return self.declared.label(path).free_text if match is None else match in _PLAIN

    def _reads(self, path: Path) -> Words | None:
        match = self._match(path) or self.declared.label(path).time
        kind = next((kind for kind in KINDS if kind == match), None)
        groups = next((one.aliases for one in self._above(path) if one.aliases), {})
        if kind is None and not groups:
            return None
        order = next((one.date_order for one in self._above(path) if one.date_order), None)
        members = {
            fold(spelling): name for name, more in groups.items() for spelling in (name, *more)
        }
        return Declaration(kind, order, self.case.now, members)
