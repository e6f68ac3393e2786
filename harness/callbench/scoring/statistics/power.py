"""What a comparison could have found."""

from __future__ import annotations

from callbench.scoring.statistics.intervals import LEVEL, freedom
from callbench.scoring.statistics.quantiles import student_quantile

POWER = 0.8


def detectable(error: float, clusters: float) -> float | None:
    """Return the least true difference that is found with a chance of 80 %, both sides, 5 %.

    ``error`` is the standard error of the difference over so many effective clusters; ``p`` is that
    of one question, uncorrected. ``None`` where no difference up to 1 would do: with fewer than six
    clusters, of which no exchange of runs has a p below 5 %, or when none differs.
    """
    if error == 0 or 2 ** (1 - clusters) >= 1 - LEVEL:
        return None
    free = freedom(clusters)
    found = error * (student_quantile((1 + LEVEL) / 2, free) + student_quantile(POWER, free))
    return found if found <= 1 else None
