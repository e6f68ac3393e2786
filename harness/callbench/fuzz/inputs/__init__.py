"""What each operation is given: batches of inputs, drawn by Hypothesis.

A draw of the strategies costs milliseconds, an edit of what was drawn microseconds. So each draw makes
a base, from :mod:`callbench.fuzz.strategies` or from inputs of the suite's cases put together anew,
and a batch of inputs around it. What the contract leaves to a port is not drawn: texts of errors,
how a number is spelled in a prompt, numbers that no double holds where they would be spelled.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from hypothesis.strategies import SearchStrategy

from callbench.fuzz.inputs import calls, schemas, streams, texts
from callbench.fuzz.inputs.suite import Batch

_STRATEGIES: dict[str, Callable[[], SearchStrategy[Batch]]] = {
    **texts.STRATEGIES,
    **schemas.STRATEGIES,
    **streams.STRATEGIES,
    **calls.STRATEGIES,
}

OPERATIONS: tuple[str, ...] = tuple(_STRATEGIES)
"""The operations that can be fuzzed."""


@cache
def batches(op: str) -> SearchStrategy[Batch]:
    """Return the strategy that draws batches of inputs of ``op``; ``KeyError`` for an unknown one."""
    return _STRATEGIES[op]()


__all__ = ["OPERATIONS", "batches"]
