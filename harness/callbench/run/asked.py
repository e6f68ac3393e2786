"""Which recordings a system really asks for: it is run over the dataset in replay, and watched."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from callbench.cassette.hygiene.places import Places
from callbench.cassette.interaction import REPEAT_MARK, repeat_of
from callbench.cassette.miss import CassetteMiss
from callbench.cassette.scope import case_scope
from callbench.dataset.loader import load_dataset, select
from callbench.errors import UsageError
from callbench.run.cassettes import cassette_path
from callbench.run.config import RunConfig
from callbench.run.opening import BASELINES, opened

Identity = tuple[str, str, int]
"""Key, case label and ordinal of a recording."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a run asked: the recordings that answered, and the requests that none answered.

    A case ends at its first miss: what it would have asked after that is not known.
    """

    cases: int
    answered: set[Identity] = field(default_factory=set)
    misses: list[CassetteMiss] = field(default_factory=list)

    @property
    def open_cases(self) -> set[str]:
        """The cases that ended at a miss, in whichever repeat."""
        return {miss.case.partition(REPEAT_MARK)[0] for miss in self.misses}


async def asked(config: RunConfig) -> Asked:
    """Run the system of ``config`` in replay, without scoring, and return what it asked.

    Each case is run as often as the file has repeats of it, so that no repeat counts as never asked.

    Raises the ``CallbenchError`` of whatever makes the run impossible; a missing recording is none.
    """
    if config.system in BASELINES:
        raise UsageError(f"--system {config.system} asks no model, so it uses no recording.")
    whole = load_dataset(config.dataset)
    dataset = select(whole, lang=config.lang, tags=config.tags, limit=config.limit)
    found = Asked(len(dataset.cases))
    path = cassette_path(config, dataset.name)
    if not path.exists():
        raise UsageError(
            f"{path} does not exist.", remedy="Name the file with --cassette, or record it first."
        )
    repeats = _repeats(path)
    async with opened(config, whole, dataset) as run:
        for case in dataset.cases:
            for repeat in sorted({0, *repeats[case.id]}):
                with case_scope(case.id, repeat=repeat) as scope:
                    try:
                        await run.system.fill(case)
                    except CassetteMiss as miss:
                        found.misses.append(miss)
                found.answered.update((one.key, one.case, one.ordinal) for one in scope.exchanges)
    return found


def _repeats(path: Path) -> defaultdict[str, set[int]]:
    """The numbers of the repeats that are recorded of each case, beyond the first."""
    found: defaultdict[str, set[int]] = defaultdict(set)
    with Places(path) as places:
        for place in places:
            repeat = repeat_of(place.case)
            if repeat.isdecimal():
                found[place.case.removesuffix(f"{REPEAT_MARK}{repeat}")].add(int(repeat))
    return found
