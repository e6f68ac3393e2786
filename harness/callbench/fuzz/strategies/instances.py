"""Data for a given schema: what satisfies it, what nearly does, and what has nothing to do with it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from callbench.fuzz.strategies.making import Maker
from callbench.fuzz.strategies.reading import Reader
from callbench.fuzz.strategies.schemas import Schema
from callbench.fuzz.strategies.values import json_values, names, scalars

_TRIALS = 4


def instances(schema: Schema) -> SearchStrategy[Any]:
    """Draw values that satisfy ``schema``, as often as possible.

    A few draws fail it all the same: where nothing satisfies it, or where keywords bear on each
    other in ways that construction and a few trials do not meet (``not``, crossing patterns). Ask a
    validator when it matters::

        @given(object_schemas().flatmap(lambda s: st.tuples(st.just(s), instances(s))))
        def test_what_is_valid_is_left_alone(drawn): ...
    """
    return st.composite(_instance)(schema)


def near_misses(schema: Schema) -> SearchStrategy[Any]:
    """Draw values that satisfy ``schema`` but for one thing broken, missing or too many.

    A schema that refuses nothing has no such value; then the value drawn satisfies it::

        @given(object_schemas().flatmap(lambda s: st.tuples(st.just(s), near_misses(s))))
        def test_what_is_missing_is_named(drawn): ...
    """
    return st.composite(_near_miss)(schema)


def data_for(schema: Schema) -> SearchStrategy[Any]:
    """Draw data near and far: :func:`instances`, :func:`near_misses` and any JSON value.

    What to feed a checker, so that both verdicts are common::

        @given(schemas().flatmap(lambda s: st.tuples(st.just(s), data_for(s))))
        def test_verdicts_agree(drawn): ...
    """
    return st.one_of(instances(schema), near_misses(schema), json_values())


def _instance(draw: DrawFn, schema: Schema) -> Any:
    reader = Reader(schema)
    value = None
    for _ in range(_TRIALS):
        value = Maker(draw, reader).value([schema])
        if reader.holds(schema, value):
            break
    return value


def _near_miss(draw: DrawFn, schema: Schema) -> Any:
    reader = Reader(schema)
    value = _instance(draw, schema)
    for _ in range(_TRIALS):
        bent = _bent(draw, copy.deepcopy(value))
        if not reader.holds(schema, bent):
            return bent
    others = (other for other in _all_bent(value) if not reader.holds(schema, other))
    return next(others, bent)


def _all_bent(value: Any) -> Iterator[Any]:
    """Yield ``value`` without each part of it in turn, with none for each, and what is no like."""
    count = sum(len(container) for container in _containers(value))
    for number in range(count):
        for taken_out in (True, False):
            bent = copy.deepcopy(value)
            containers = _containers(bent)
            slots = [(container, key) for container in containers for key in _keys(container)]
            container, key = slots[number]
            if taken_out:
                del container[key]
            else:
                container[key] = None
            yield bent
    yield from (None, [], {}, "", 0, True)


def _bent(draw: DrawFn, value: Any) -> Any:
    """Return ``value`` with one thing in it changed; containers are changed in place."""
    containers = _containers(value)
    slots = [(container, key) for container in containers for key in _keys(container)]
    kind = draw(st.integers(0, 9))
    if slots and kind < 7:
        container, key = draw(st.sampled_from(slots))
        if kind < 3:
            del container[key]
        else:
            container[key] = _bent_scalar(draw, container[key])
    elif containers and kind < 9:
        _grow(draw, draw(st.sampled_from(containers)))
    else:
        return _bent_scalar(draw, value)
    return value


def _containers(value: Any) -> list[Any]:
    found: list[Any] = []
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, (dict, list)):
            found.append(item)
            stack += item.values() if isinstance(item, dict) else item
    return found


def _keys(container: Any) -> list[Any]:
    return list(container) if isinstance(container, dict) else list(range(len(container)))


def _grow(draw: DrawFn, container: Any) -> None:
    if isinstance(container, dict):
        container[draw(names())] = draw(scalars())
    elif container and draw(st.booleans()):
        container.append(copy.deepcopy(container[0]))
    else:
        container.append(draw(scalars()))


_NEXT: tuple[Callable[[Any], Any], ...] = (
    lambda value: None,
    lambda value: "",
    lambda value: str(value),
    lambda value: [value],
    lambda value: {"a": value},
    lambda value: not value,
    lambda value: [],
    lambda value: {},
)
_NEXT_NUMBER: tuple[Callable[[Any], Any], ...] = (
    lambda number: number + 1,
    lambda number: number - 1,
    lambda number: number + 0.5,
    lambda number: -number,
    lambda number: 10**6,
    lambda number: -(10**6),
)
_NEXT_TEXT: tuple[Callable[[Any], Any], ...] = (
    lambda text: text + "x",
    lambda text: text[:-1],
    lambda text: text * 4,
    lambda text: "~" + text,
    lambda text: text.swapcase(),
    lambda text: text.encode("utf-8").hex(),
)


def _bent_scalar(draw: DrawFn, value: Any) -> Any:
    """Return something near ``value``: of the same type, or the like in another."""
    alike: tuple[Callable[[Any], Any], ...] = ()
    if isinstance(value, str):
        alike = _NEXT_TEXT
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e6:
        alike = _NEXT_NUMBER
    return draw(st.sampled_from((*alike, *_NEXT)))(value)
