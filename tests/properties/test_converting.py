"""Replies keyed by pointers become plain objects."""

from __future__ import annotations

import copy
import logging
import re
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from callbench.fuzz.strategies import (
    flattened,
    instances,
    json_objects,
    json_values,
    object_schemas,
    pointer_replies,
    pointers,
)
from corecall.slot.processor import SlotProcessor

from .plain import plain_tools
from .support import ABSENT, at, canonical, parsed, places, related, tries

FREE = SlotProcessor({})
_WELL_FORMED = re.compile(r"(?:/(?:[^/~]|~[01])*)*")


def applied(processor: SlotProcessor, reply: dict[str, Any], base: Any) -> tuple[Any, list[str]]:
    """Convert; return the result and the warnings about what was skipped."""
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda line: lines.append(line.getMessage())  # type: ignore[method-assign]
    log = logging.getLogger("corecall.slot.convert")
    log.addHandler(handler)
    try:
        return processor.convert_json(reply, base), lines
    finally:
        log.removeHandler(handler)


def bases(reply: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Draw what a reply is laid over: anything, or what the reply itself makes."""
    return st.one_of(json_objects(), st.just(FREE.convert_json(reply)))


@pytest.mark.rule("schema.convert.1", "schema.convert.3", "schema.convert.6")
@tries(120)
@given(st.data())
def test_every_way_to_write_an_object_gives_the_object(data: st.DataObject) -> None:
    document = data.draw(json_objects())
    flat = data.draw(flattened(document))
    assert canonical(FREE.convert_json(flat)) == canonical(document)
    assert canonical(FREE.convert_json(flat, {})) == canonical(document)


@pytest.mark.rule("schema.convert.8")
@tries(60)
@given(st.data())
def test_every_way_to_write_an_instance_gives_the_instance(data: st.DataObject) -> None:
    schema = data.draw(plain_tools())
    document = data.draw(instances(schema))
    flat = data.draw(flattened(document))
    assert canonical(SlotProcessor(schema).convert_json(flat)) == canonical(document)


@pytest.mark.rule("schema.convert.3", "schema.convert.9")
@tries(120)
@given(st.data())
def test_it_ends_on_anything_and_changes_no_argument(data: st.DataObject) -> None:
    schema = data.draw(object_schemas())
    reply = data.draw(pointer_replies(schema))
    base = data.draw(bases(reply))
    before = canonical([reply, base])
    result = SlotProcessor(schema).convert_json(reply, base)
    assert isinstance(result, dict)
    for _, place in list(places(result)):
        if isinstance(place, dict):
            place["x-changed"] = True
        elif isinstance(place, list):
            place.append("x-changed")
    assert canonical([reply, base]) == before


@pytest.mark.rule("schema.convert.4")
@tries(120)
@given(st.data())
def test_no_sibling_of_a_filled_place_is_lost(data: st.DataObject) -> None:
    """Whatever the base holds that no key of the reply leads to, or passes through, stays."""
    base = data.draw(json_objects())
    keys = st.one_of(pointers(base), pointers())
    reply = data.draw(st.dictionaries(keys, json_values(4), max_size=3))
    result = FREE.convert_json(reply, base)
    written: list[tuple[str, ...]] = []
    for key in reply:
        if not key.startswith("/"):
            written.append((key,))
        elif _WELL_FORMED.fullmatch(key):
            written.append(parsed(key))
    for tokens, value in places(base):
        if tokens and not any(related(tokens, place) for place in written):
            assert canonical(at(result, tokens)) == canonical(value)


@pytest.mark.rule("schema.convert.1", "schema.convert.5")
@tries(120)
@given(st.data())
def test_a_pointer_that_is_applied_holds_its_value(data: st.DataObject) -> None:
    """One pointer, nothing skipped: the value is there, or laid over the object that was there."""
    base = data.draw(json_objects())
    pointer = data.draw(pointers(base).filter(lambda text: text.startswith("/")))
    value = data.draw(json_values(4))
    result, skipped = applied(FREE, {pointer: value}, base)
    if skipped:
        return
    tokens = parsed(pointer)
    old = at(base, tokens)
    if tokens[-1] == "-" and isinstance(at(base, tokens[:-1]), list):
        found = at(result, tokens[:-1])[-1]
    elif "-" in tokens and at(result, tokens) is ABSENT:
        return  # appended on the way
    else:
        found = at(result, tokens)
    if isinstance(value, dict) and isinstance(old, (dict, list)):
        for name, child in value.items():
            if not isinstance(child, dict):
                assert canonical(at(found, (name,))) == canonical(child)
    else:
        assert canonical(found) == canonical(value)


@pytest.mark.rule("schema.convert.3", "schema.convert.5")
@tries(60)
@given(st.data())
@example(None)
def test_twice_is_once(data: st.DataObject | None) -> None:
    """Unless something appends by ``-``, or was skipped the first time and fits the second."""
    if data is None:
        schema: dict[str, Any] = {"properties": {"l": {"type": "array"}}}
        reply: dict[str, Any] = {"/l/0": 1, "/l/1": {"a": 2}}
        base: dict[str, Any] = {}
    else:
        schema = data.draw(object_schemas())
        reply = data.draw(pointer_replies(schema))
        base = data.draw(bases(reply))
    assume(not any("-" in key.split("/") for key in reply))
    processor = SlotProcessor(schema)
    once, skipped = applied(processor, reply, base)
    assume(not skipped)
    assert canonical(processor.convert_json(reply, once)) == canonical(once)


@pytest.mark.rule("schema.convert.12")
@tries(80)
@given(json_objects(), st.data())
def test_unknown_keys_and_nulls_stay(document: dict[str, Any], data: st.DataObject) -> None:
    """Conversion is about form only: the schema's opinion of a plain object does not matter."""
    schema = data.draw(object_schemas())
    plain = {name: value for name, value in document.items() if not name.startswith("/")}
    plain["x-unknown"] = copy.deepcopy(document)
    plain["x-null"] = None
    assert canonical(SlotProcessor(schema).convert_json(plain)) == canonical(plain)
