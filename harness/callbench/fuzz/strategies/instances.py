"""Data for a given schema: what satisfies it, what nearly does, and what has nothing to do with it."""

from __future__ import annotations

import copy
from collections.abc import Callable
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
    bent = value
    for _ in range(_TRIALS + 2):
        bent = _bent(draw, copy.deepcopy(value))
        if not reader.holds(schema, bent):
            break
    return bent


def _bent(draw: DrawFn, value: Any) -> Any:
    """Return ``value`` with one thing in it changed; containers are changed in place."""
    places = list(_containers(value))
    if places and draw(st.integers(0, 4)) > 0:
        place: Any = draw(st.sampled_from(places))
        if isinstance(place, dict):
            _bend_object(draw, place)
        else:
            _bend_array(draw, place)
        return value
    return _bent_scalar(draw, value)


def _containers(value: Any) -> list[Any]:
    found: list[Any] = []
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, (dict, list)):
            found.append(item)
            stack += item.values() if isinstance(item, dict) else item
    return found


def _bend_object(draw: DrawFn, value: dict[str, Any]) -> None:
    if not value or draw(st.integers(0, 3)) == 3:
        value[draw(names())] = draw(scalars())
        return
    name = draw(st.sampled_from(list(value)))
    if draw(st.booleans()):
        del value[name]
    else:
        value[name] = _bent_scalar(draw, value[name])


def _bend_array(draw: DrawFn, value: list[Any]) -> None:
    if not value:
        value.append(draw(scalars()))
        return
    place = draw(st.integers(0, len(value) - 1))
    match draw(st.integers(0, 3)):
        case 0:
            del value[place]
        case 1:
            value.insert(place, copy.deepcopy(value[place]))
        case 2:
            value[place] = _bent_scalar(draw, value[place])
        case _:
            value.append(draw(scalars()))


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
