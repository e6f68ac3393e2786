"""Corrections of p-values for having asked several questions."""

from __future__ import annotations

from collections.abc import Sequence


def holm(values: Sequence[float]) -> list[float]:
    """Return the p-values adjusted by Holm, in their order: the chance of any false finding is kept."""
    order = sorted(range(len(values)), key=values.__getitem__)
    adjusted = [0.0] * len(values)
    most = 0.0
    for rank, index in enumerate(order):
        most = max(most, min(1.0, (len(values) - rank) * values[index]))
        adjusted[index] = most
    return adjusted


def benjamini_hochberg(values: Sequence[float]) -> list[float]:
    """Return the p-values adjusted by Benjamini and Hochberg, in their order.

    The share of false ones among the findings is kept.
    """
    order = sorted(range(len(values)), key=values.__getitem__, reverse=True)
    adjusted = [1.0] * len(values)
    least = 1.0
    for rank, index in enumerate(order):
        least = min(least, values[index] * len(values) / (len(values) - rank))
        adjusted[index] = least
    return adjusted
