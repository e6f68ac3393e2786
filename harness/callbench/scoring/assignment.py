"""Best pairing of two lists: in any order (the Hungarian algorithm with potentials), or in order.

Small on purpose: importing scipy's takes longer than scoring the whole bundled dataset.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def best_assignment(gain: Sequence[Sequence[int]]) -> dict[int, int]:
    """Return the column of each row so that the sum of gains is greatest.

    Each row and each column is used at most once, and as many as can be: with more rows than
    columns some rows have no column. O(n² m) for n the smaller side.
    """
    if not gain or not gain[0]:
        return {}
    if len(gain) > len(gain[0]):
        turned = [list(column) for column in zip(*gain, strict=True)]
        return {row: column for column, row in best_assignment(turned).items()}
    rows, columns = len(gain), len(gain[0])
    # Column 0 is a place to start from; rows and columns are counted from 1.
    row_price = [0.0] * (rows + 1)
    column_price = [0.0] * (columns + 1)
    owner = [0] * (columns + 1)
    for row in range(1, rows + 1):
        owner[0] = row
        column = 0
        cheapest = [math.inf] * (columns + 1)
        came_from = [0] * (columns + 1)
        visited = [False] * (columns + 1)
        while owner[column]:
            visited[column] = True
            step, following = math.inf, 0
            for other in range(1, columns + 1):
                if visited[other]:
                    continue
                here = owner[column]
                cost = -gain[here - 1][other - 1] - row_price[here] - column_price[other]
                if cost < cheapest[other]:
                    cheapest[other], came_from[other] = cost, column
                if cheapest[other] < step:
                    step, following = cheapest[other], other
            for other in range(columns + 1):
                if visited[other]:
                    row_price[owner[other]] += step
                    column_price[other] -= step
                else:
                    cheapest[other] -= step
            column = following
        while column:
            owner[column] = owner[came_from[column]]
            column = came_from[column]
    return {owner[column] - 1: column - 1 for column in range(1, columns + 1) if owner[column]}


def best_alignment(gain: Sequence[Sequence[int]]) -> dict[int, int]:
    """Return the column of each row so that the sum of gains is greatest and no two pairs cross.

    Of the pairings with the greatest sum it is one with the most pairs. O(n m).
    """
    rows, columns = len(gain), len(gain[0]) if gain else 0
    if not rows or not columns:
        return {}
    weight = min(rows, columns) + 1
    best = [[0] * (columns + 1) for _ in range(rows + 1)]
    for row in range(rows - 1, -1, -1):
        below, here = best[row + 1], best[row]
        for column in range(columns - 1, -1, -1):
            paired = gain[row][column] * weight + 1 + below[column + 1]
            here[column] = max(paired, below[column], here[column + 1])
    pairs: dict[int, int] = {}
    row = column = 0
    while row < rows and column < columns:
        paired = gain[row][column] * weight + 1 + best[row + 1][column + 1]
        if paired == best[row][column]:
            pairs[row] = column
            row, column = row + 1, column + 1
        elif best[row + 1][column] == best[row][column]:
            row += 1
        else:
            column += 1
    return pairs
