"""Inputs of the suite's cases, put together anew: a member from here, another from there."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from callbench.conformance.cases import Case, load_suite
from callbench.fuzz.edits import edited, near_text
from callbench.peer.values import encode

Inputs = dict[str, Any]
Batch = list[Inputs]

_LONGEST = 500
_LIMITS = ("range(", "**", "* 10")
"""Inputs that are long or have one of these are about limits: slow, and of no use for others."""

TURNS = st.integers(0, 2**16 - 1)


@cache
def suite() -> tuple[Case, ...]:
    """Return the bundled suite, loaded once."""
    return load_suite()


@cache
def inputs_of(op: str) -> tuple[Inputs, ...]:
    """Return the inputs of the suite's cases of ``op``."""
    cases = (case.given for case in suite() if case.op == op)
    return tuple(given for given in cases if _handy(json.dumps(given, default=encode)))


def _handy(text: str) -> bool:
    return len(text) <= _LONGEST and not any(limit in text for limit in _LIMITS)


@cache
def pools(op: str) -> dict[str, tuple[Any, ...]]:
    """Return the values that each member has in the suite's cases of ``op``."""
    cases = inputs_of(op)
    found: dict[str, tuple[Any, ...]] = {}
    for name in dict.fromkeys(name for given in cases for name in given):
        values = [given[name] for given in cases if name in given]
        found[name] = tuple(values)
    return found


def pool(name: str, *ops: str) -> tuple[Any, ...]:
    """Return the values that the member has in cases of any of ``ops``."""
    return tuple(value for op in ops for value in pools(op).get(name, ()))


def near(value: Any, turn: int, count: int) -> list[Any]:
    """Return a value's neighbors: of a text other texts, of anything else edits inside it."""
    if isinstance(value, str):
        return [near_text(value, turn + number) for number in range(count)]
    return edited(value, turn, count)


def around(base: Inputs, turn: int, /, **counts: int) -> Batch:
    """Return ``base`` and inputs with one member edited: ``counts`` says of which how many."""
    found = [base]
    for name, count in counts.items():
        if name in base:
            found += [{**base, name: value} for value in near(base[name], turn, count)]
    return found


def whole(*ops: str, **counts: int) -> Callable[[DrawFn], Batch]:
    """Return a maker of inputs near to those of a case of any of ``ops``, see :func:`around`."""

    def make(draw: DrawFn) -> Batch:
        known = tuple(given for op in ops for given in inputs_of(op))
        return around(picked(draw, known), draw(TURNS), **counts)

    return make


def drawn(
    *makers: Callable[[DrawFn], Batch],
) -> Callable[[], SearchStrategy[Batch]]:
    """Return a function that makes a strategy: one of the makers makes each batch."""

    @st.composite
    def batch(draw: DrawFn) -> Batch:
        which = draw(st.integers(0, len(makers) - 1)) if len(makers) > 1 else 0
        return makers[which](draw)

    return batch


def picked(draw: DrawFn, values: tuple[Any, ...]) -> Any:
    """Draw one of ``values``."""
    return values[draw(st.integers(0, len(values) - 1))]
