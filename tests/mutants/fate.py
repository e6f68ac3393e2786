"""What became of mutants, and the sum of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .mutant import Mutant


@dataclass(frozen=True, slots=True)
class Fate:
    """What failed first with a mutant: ``""`` nothing, None where it was not asked."""

    mutant: Mutant
    own: str | None = None
    tests: str | None = None
    suite: str | None = None

    @property
    def lives_through_tests(self) -> bool:
        """Whether no test failed, where tests ran."""
        return self.tests == ""

    @property
    def lives_through_suite(self) -> bool:
        """Whether no case failed, where the suite ran."""
        return self.suite == ""

    @property
    def wrong(self) -> bool:
        """Whether somebody has to do something about it."""
        visible = self.suite is not None and self.mutant.observable == self.lives_through_suite
        return self.lives_through_tests or visible

    def __str__(self) -> str:
        shown = ["-" if what is None else what or "SURVIVED" for what in self._columns()]
        return f"{self.mutant.name:<38} {self.mutant.rule:<20} {' / '.join(shown)}"

    def _columns(self) -> tuple[str | None, ...]:
        return self.own or ("none" if self.own == "" else None), self.tests, self.suite


def totals(fates: Sequence[Fate], by: str) -> Iterator[str]:
    """Yield the sums of a run, with the survivors of each."""
    yield f"{len(fates)} mutants"
    if by != "suite":
        alive = [fate.mutant for fate in fates if fate.lives_through_tests]
        own = [fate.mutant for fate in fates if not fate.own]
        yield f"killed by the tests: {len(fates) - len(alive)}"
        yield from (f"  {m.name} survived: {m.fault} ({m.file})" for m in alive)
        yield f"killed by their own rule's tests: {len(fates) - len(own)}"
        yield from (f"  {m.name} survived its rule's: {m.rule}" for m in own)
    if by != "tests":
        alive = [fate.mutant for fate in fates if fate.lives_through_suite]
        hidden = [mutant for mutant in alive if not mutant.observable]
        shown = [f.mutant for f in fates if f.suite and not f.mutant.observable]
        yield (
            f"killed by the suite alone: {len(fates) - len(alive)};"
            f" no operation shows {len(hidden)}, {len(alive) - len(hidden)} survived"
        )
        yield from (f"  {m.name} survived: {m.fault} ({m.rule})" for m in alive if m.observable)
        yield from (f"  {m.name} is not shown: {m.reason}" for m in hidden)
        yield from (f"  {m.name} is shown after all: remove its observable" for m in shown)
