"""Drawing some cases of a dataset: by a seed, whole dialogues, the same whoever draws and when.

A cluster's place in the draw depends on the seed and its name alone, so that a dataset that grows
keeps most of its sample, and two samples with one seed lie one in the other.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator

from callbench.dataset.case import Case
from callbench.dataset.loader import Dataset
from callbench.errors import UsageError


def drawn(dataset: Dataset, count: int, seed: int) -> frozenset[str]:
    """Return the ids of ``count`` cases.

    Clusters (a case without one is its own) are drawn whole, in the order of their hash; one that
    no longer fits is passed over, so that a few cases may be lacking where clusters are large.
    Raises ``UsageError`` for a count below 1 or beyond the dataset.
    """
    if not 1 <= count <= len(dataset.cases):
        raise UsageError(
            f"A sample of {count} cannot be drawn from {dataset.name}, "
            f"which has {len(dataset.cases)} cases."
        )
    clusters: defaultdict[tuple[bool, str], list[str]] = defaultdict(list)
    for case in dataset.cases:
        clusters[_cluster(case)].append(case.id)
    ids: list[str] = []
    for cluster in sorted(clusters, key=lambda one: _rank(seed, one)):
        if len(ids) + len(clusters[cluster]) <= count:
            ids += clusters[cluster]
    if not ids:
        smallest = min(map(len, clusters.values()))
        raise UsageError(
            f"No dialogue of {dataset.name} has {count} cases or fewer.",
            remedy=f"Dialogues are drawn whole; the smallest has {smallest}.",
        )
    return frozenset(ids)


def sample_lines(dataset: Dataset, ids: frozenset[str]) -> Iterator[bytes]:
    """Yield the lines of these cases, byte for byte, in the order of the dataset."""
    for case, (_, _, raw) in zip(dataset.cases, dataset.lines(), strict=True):
        if case.id in ids:
            yield raw


def _cluster(case: Case) -> tuple[bool, str]:
    return (True, case.cluster) if case.cluster else (False, case.id)


def _rank(seed: int, cluster: tuple[bool, str]) -> bytes:
    named, name = cluster
    return hashlib.sha256(f"{seed}\0{named}\0{name}".encode()).digest()
