"""Replies keyed by JSON Pointers, as a filler may give them for a remaining schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from callbench.fuzz.strategies.instances import data_for
from callbench.fuzz.strategies.schemas import Schema
from callbench.fuzz.strategies.values import json_values, names

_ODD_POINTERS = (
    "/",
    "//",
    "/~",
    "/~2",
    "/a/-",
    "/a/-/-",
    "/a/99999999999999999999",
    "/a/01",
    "/a/-1",
    "/a/１",
    "/a/b/c/d/e",
    "/a/0/0/0",
    "/" * 150,
    "#/a",
    "a/b",
)


def pointers(document: Any = None) -> SearchStrategy[str]:
    """Draw JSON Pointers: places of ``document``, near misses of them, any others.

    Beside places that are there: the member or item after them, escapes left out or wrong, leading
    zeros, ``-``, very deep ones. Not all are well formed::

        @given(json_objects().flatmap(lambda d: st.tuples(st.just(d), pointers(d))))
        def test_a_look_up_ends(drawn): ...
    """
    places = list(_places(document))
    tails = st.one_of(names().map(_escaped), st.sampled_from(["-", "0", "1", "01", "~", "a/b"]))
    beneath = st.builds(lambda place, tail: f"{place}/{tail}", st.sampled_from(places), tails)
    free = st.lists(tails, max_size=4).map(lambda tokens: "".join(f"/{t}" for t in tokens))
    return st.one_of(st.sampled_from(places), beneath, free, st.sampled_from(_ODD_POINTERS))


def flattened(document: dict[str, Any]) -> SearchStrategy[dict[str, Any]]:
    """Draw ways to write the object ``document`` with pointers as keys; each means ``document``.

    Members go in any order, whole or leaf by leaf; an array begins whole and may go on by index or
    by ``-``. Applied in order to an empty object, every draw gives ``document`` again, the order of
    keys apart. Objects are made on the way, so a converter must take no schema's word for an array
    where ``document`` has an object::

        @given(json_objects().flatmap(lambda d: st.tuples(st.just(d), flattened(d))))
        def test_it_converts_back(drawn):
            document, flat = drawn
            assert my_convert({}, flat) == document
    """
    return st.composite(_flat)(document)


def pointer_replies(schema: Schema) -> SearchStrategy[dict[str, Any]]:
    """Draw replies for ``schema``, keyed by pointers, by names, or by both.

    Most are made of data near to it, some carry pointers that lead astray or values that are far
    from it::

        @given(object_schemas().flatmap(lambda s: st.tuples(st.just(s), pointer_replies(s))))
        def test_conversion_ends(drawn): ...
    """
    return st.composite(_reply)(schema)


def _escaped(token: str) -> str:
    return token.replace("~", "~0").replace("/", "~1")


def _places(value: Any, place: str = "") -> Iterator[str]:
    yield place
    if isinstance(value, dict):
        for name, child in value.items():
            yield from _places(child, f"{place}/{_escaped(name)}")
    elif isinstance(value, list):
        for number, child in enumerate(value):
            yield from _places(child, f"{place}/{number}")


def _flat(draw: DrawFn, document: dict[str, Any]) -> dict[str, Any]:
    parts = [
        part
        for name, child in document.items()
        for part in _parts(draw, child, f"/{_escaped(name)}")
    ]
    flat: dict[str, Any] = {}
    for part in draw(st.permutations(parts)):
        for place, value in part:
            name = place[1:]
            plain = "/" not in name and "~" not in name
            flat[name if plain and draw(st.booleans()) else place] = value
    return flat


_Part = list[tuple[str, Any]]
"""Pointers and values that must be applied one after the other."""


def _parts(draw: DrawFn, value: Any, place: str) -> list[_Part]:
    if isinstance(value, dict) and value and draw(st.booleans()):
        return [
            part
            for name, child in value.items()
            for part in _parts(draw, child, f"{place}/{_escaped(name)}")
        ]
    if isinstance(value, list) and value and draw(st.booleans()):
        start = draw(st.integers(0, len(value)))
        part: _Part = [(place, value[:start])]
        part += [(f"{place}/{number}", value[number]) for number in range(start, len(value))]
        if start == len(value) - 1 and draw(st.booleans()):
            part[-1] = (f"{place}/-", value[-1])
        return [part]
    return [[(place, value)]]


def _reply(draw: DrawFn, schema: Schema) -> dict[str, Any]:
    value = draw(data_for(schema))
    reply = draw(flattened(value)) if isinstance(value, dict) else {}
    for _ in range(draw(st.integers(0, 2))):
        reply[draw(st.one_of(pointers(value), names()))] = draw(json_values(4))
    return reply
