"""Counts summed by cluster: all that intervals need, in memory of one entry a cluster."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from operator import add

Counts = tuple[int, ...]


@dataclass(slots=True)
class ClusterSums:
    """Sums of equally long tuples of counts, one tuple a case, by the cluster of the case.

    A case of no cluster (``""``) is a cluster of its own, of which only the counts are kept.
    """

    _alone: Counter[Counts] = field(default_factory=Counter)
    _joined: dict[str, Counts] = field(default_factory=dict)

    def add(self, counts: Counts, cluster: str = "") -> None:
        """Add the counts of one case."""
        if not cluster:
            self._alone[counts] += 1
            return
        before = self._joined.get(cluster)
        self._joined[cluster] = counts if before is None else tuple(map(add, before, counts))

    def groups(self) -> Counter[Counts]:
        """Return how many clusters have each tuple of sums."""
        groups = self._alone.copy()
        groups.update(self._joined.values())
        return groups

    def total(self, length: int) -> Counts:
        """Return the sums over all clusters; ``length`` counts, also when there is no case."""
        sums = [0] * length
        for counts, times in self._alone.items():
            for index, count in enumerate(counts):
                sums[index] += count * times
        for counts in self._joined.values():
            for index, count in enumerate(counts):
                sums[index] += count
        return tuple(sums)
