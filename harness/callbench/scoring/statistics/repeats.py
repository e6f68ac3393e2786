"""Several answers to one case: pass@k and pass^k, and how far runs lie apart."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from callbench.scoring.statistics.intervals import Pair, Rate, ratio

_STEPS = (1, 2, 5)


def pass_at(right: int, answers: int, k: int) -> float:
    """Return the chance that at least one of ``k`` of the ``answers`` is right.

    1 - C(answers - right, k) / C(answers, k): the unbiased estimator of Chen et al. (2021).
    """
    return 1 - math.comb(answers - right, k) / math.comb(answers, k)


def pass_all(right: int, answers: int, k: int) -> float:
    """Return the chance that all of ``k`` of the ``answers`` are right (pass^k), unbiased."""
    return math.comb(right, k) / math.comb(answers, k)


def steps(most: int) -> list[int]:
    """Return the k that are reported: all up to 10, then 20, 50, 100 …, and ``most`` itself."""
    large = (step * 10**power for power in range(1, 7) for step in _STEPS)
    return sorted({k for k in (*range(1, 11), *large) if k <= most} | {most})


def mean_by_cluster(values: Iterable[tuple[float, str]]) -> Rate:
    """Return the mean of values from 0 to 1, one a case, with its cluster (``""`` for none)."""
    groups: Counter[Pair] = Counter()
    joined: defaultdict[str, list[float]] = defaultdict(list)
    for value, cluster in values:
        if cluster:
            joined[cluster].append(value)
        else:
            groups[(value, 1)] += 1
    for of_cluster in joined.values():
        groups[(math.fsum(of_cluster), len(of_cluster))] += 1
    return ratio(groups)


def spread(values: Sequence[float]) -> float | None:
    """Return the standard deviation (n - 1) of a metric over runs; ``None`` for fewer than two."""
    if len(values) < 2:
        return None
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
