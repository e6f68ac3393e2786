"""What a comparison could have found."""

from __future__ import annotations

from callbench.scoring.statistics.intervals import LEVEL
from callbench.scoring.statistics.quantiles import student_quantile

POWER = 0.8


def detectable(error: float, clusters: int) -> float | None:
    """Return the least true difference that is found with a chance of 80 %, both sides, 5 %.

    ``error`` is the standard error of the difference over so many clusters; ``None`` where it says
    nothing: with fewer than two clusters, or when none of them differs.
    """
    if clusters < 2 or error == 0:
        return None
    freedom = clusters - 1
    return error * (student_quantile((1 + LEVEL) / 2, freedom) + student_quantile(POWER, freedom))
