"""Verdicts and remaining schemas, against an independent judge of Draft 7."""

from __future__ import annotations

import copy
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from callbench.fuzz.strategies import data_for, instances, json_values, near_misses, schemas
from callbench.fuzz.strategies import object_schemas as tools
from corecall.slot.processor import SlotProcessor

from . import oracle
from .plain import damaged, plain_tools
from .support import ABSENT, at, canonical, parsed, places, related, reordered, tries

FORBIDDEN: dict[str, Any] = {"not": {}}


def check(schema: dict[str, Any], data: Any) -> dict[str, Any]:
    return SlotProcessor(schema).check_json(data)


def alone(remaining: dict[str, Any], pointer: str) -> dict[str, Any]:
    """Return what ``remaining`` asks for at ``pointer``, as a schema of its own."""
    schema = dict(remaining["properties"][pointer])
    if "definitions" in remaining:
        schema["definitions"] = remaining["definitions"]
    return schema


def filled(data: Any, values: dict[str, Any]) -> Any:
    """Return a copy of ``data`` with each value put, or appended, at its pointer; nothing merges."""
    document = {"": copy.deepcopy(data)}
    for pointer, value in values.items():
        *way, last = ("", *parsed(pointer))
        parent: Any = document
        for token in way:
            parent = parent[int(token) if isinstance(parent, list) else token]
        parent[int(last) if isinstance(parent, list) else last] = value
    return document[""]


@pytest.mark.rule("schema.check.1", "schema.valid.1")
@tries(150)
@given(st.data())
def test_nothing_remains_exactly_when_the_data_is_valid(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    value = data.draw(data_for(schema))
    expected = oracle.accepts(schema, value)
    assert (check(schema, value) == {}) is expected
    assert SlotProcessor(schema).is_valid(value) is expected


@pytest.mark.rule("schema.check.1", "schema.valid.6", "schema.valid.7", "schema.valid.8")
@tries(60)
@given(schemas(), json_values())
@example({"not": {"anyOf": [True, {"type": "null"}]}}, 0)
@example({"if": {"minProperties": 1}, "else": False}, {})
@example({"uniqueItems": True}, [[1], [True], [1]])
@example({"multipleOf": 0.1}, 0.3)
def test_verdicts_far_from_the_schema(schema: dict[str, Any], value: Any) -> None:
    assert (check(schema, value) == {}) is oracle.accepts(schema, value)


@pytest.mark.rule("schema.check.2", "schema.check.6", "schema.check.17")
@tries(120)
@given(st.data())
def test_the_remaining_schema_is_a_schema_that_stands_alone(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    remaining = check(schema, data.draw(near_misses(schema)))
    if not remaining:
        return
    assert oracle.is_schema(remaining)
    jsonschema_rs.Draft7Validator(remaining, offline=True)
    assert oracle.accepts(remaining, {}) is False
    assert set(remaining) <= {"type", "properties", "required", "definitions"}
    assert remaining["type"] == "object"
    assert remaining["required"] == list(remaining["properties"])
    listed = [parsed(pointer) for pointer in remaining["required"]]
    for number, one in enumerate(listed):
        assert not any(related(one, other) for other in listed[number + 1 :])
    for pointer in listed:
        oracle.accepts(alone(remaining, remaining["required"][listed.index(pointer)]), None)


@pytest.mark.rule("schema.check.4", "schema.check.7", "schema.check.11")
@tries(120)
@given(st.data())
def test_every_pointer_is_a_missing_or_a_failing_place(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    value = data.draw(near_misses(schema))
    remaining = check(schema, value)
    for pointer in remaining.get("required", []):
        tokens = parsed(pointer)
        found = at(value, tokens)
        if found is ABSENT:
            assert isinstance(at(value, tokens[:-1]), dict)
        else:
            assert not oracle.accepts(alone(remaining, pointer), found)


@pytest.mark.rule("schema.check.3", "schema.check.11")
@tries(50)
@given(st.data())
def test_what_is_filled_in_well_is_not_asked_for_again(data: st.DataObject) -> None:
    """Afterwards a place is wrong only by what did not bear on it before: a new branch."""
    schema = data.draw(tools())
    value = data.draw(near_misses(schema))
    remaining = check(schema, value)
    values: dict[str, Any] = {}
    for pointer, own in remaining.get("properties", {}).items():
        if own != FORBIDDEN:
            fill = data.draw(instances(alone(remaining, pointer)))
            assume(oracle.accepts(alone(remaining, pointer), fill))
            values[pointer] = fill
    assume(values)
    again = check(schema, filled(value, values))
    for pointer in again.get("required", []):
        if pointer in values:
            assert alone(again, pointer) != alone(remaining, pointer)


@pytest.mark.rule("schema.check.7", "schema.convert.3")
@tries(60)
@given(st.data())
def test_filling_and_converting_reaches_the_end(data: st.DataObject) -> None:
    """Each round fills what is asked for; new branches open at most once for every name."""
    schema = data.draw(plain_tools())
    value = data.draw(damaged(schema))
    processor = SlotProcessor(schema)
    asked: set[str] = set()
    for _ in range(6):
        remaining = processor.check_json(value)
        if not remaining:
            break
        pointers = set(remaining["required"])
        assert not pointers & asked, "what was filled in well is asked for again"
        asked |= pointers
        fills = {place: data.draw(instances(alone(remaining, place))) for place in pointers}
        assert all(oracle.accepts(alone(remaining, place), fills[place]) for place in pointers)
        value = processor.convert_json(fills, value)
    assert oracle.accepts(schema, value)
    assert processor.check_json(value) == {}


@pytest.mark.rule("schema.check.21")
@tries(80)
@given(st.data())
def test_schema_and_data_stay_as_they_are_and_share_nothing(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    value = data.draw(near_misses(schema))
    before = canonical([schema, value])
    processor = SlotProcessor(schema)
    remaining = processor.check_json(value)
    assert canonical([schema, value]) == before
    text = canonical(remaining)
    for _, place in list(places(remaining)):
        if isinstance(place, dict):
            place["x-changed"] = True
    assert canonical([schema, value]) == before
    assert canonical(processor.check_json(value)) == text


@pytest.mark.rule("schema.check.1", "schema.check.11")
@tries(80)
@given(st.data())
def test_the_order_of_keys_does_not_matter(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    value = data.draw(near_misses(schema))
    one, other = check(schema, value), check(reordered(schema), reordered(value))
    assert set(one.get("required", [])) == set(other.get("required", []))
    probe = data.draw(data_for(schema))
    for pointer in one.get("required", []):
        assert oracle.accepts(alone(one, pointer), probe) is oracle.accepts(
            alone(other, pointer), probe
        )
