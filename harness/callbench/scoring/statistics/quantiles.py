"""Quantiles of the normal and of Student's t distribution, without scipy: replay waits for neither."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

_NORMAL_FROM = 200  # degrees of freedom from where on the expansion is exact to ten digits


def normal_quantile(share: float) -> float:
    """Return the value that a standard normal variable is below with probability ``share``."""
    return NormalDist().inv_cdf(share)


@lru_cache(maxsize=1024)
def student_quantile(share: float, freedom: int) -> float:
    """Return the value that Student's t is below with probability ``share`` (0.5 to 1, exclusive)."""
    if freedom >= _NORMAL_FROM:
        return _expanded(normal_quantile(share), freedom)
    low, high = 0.0, 1.0
    inside = 2 * share - 1
    while _inside(high, freedom) < inside:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if _inside(middle, freedom) < inside:
            low = middle
        else:
            high = middle
    return high


def _inside(t: float, freedom: int) -> float:
    """Return P(\\|T\\| < t): the finite series of Abramowitz and Stegun 26.7.3 and 26.7.4."""
    angle = math.atan(t / math.sqrt(freedom))
    square = math.cos(angle) ** 2
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    total = 0.0 if freedom == 1 else term
    for index in range(1, (freedom - 1) // 2 if odd else freedom // 2):
        term *= square * (2 * index / (2 * index + 1) if odd else (2 * index - 1) / (2 * index))
        total += term
    if odd:
        return 2 / math.pi * (angle + math.sin(angle) * total)
    return math.sin(angle) * total


def _expanded(x: float, freedom: int) -> float:
    """Return the quantile from the normal one: Abramowitz and Stegun 26.7.5."""
    terms: tuple[float, ...] = (
        (x**3 + x) / 4,
        (5 * x**5 + 16 * x**3 + 3 * x) / 96,
        (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
        (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160,
    )
    return x + math.fsum(term / freedom**power for power, term in enumerate(terms, start=1))
