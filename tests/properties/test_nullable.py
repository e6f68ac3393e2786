"""Strict structured output: widening by null, and dropping the nulls again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callbench.fuzz.strategies import data_for, instances, object_schemas, schemas
from corecall.slot.processor import SlotProcessor

from . import oracle
from .plain import plain_tools
from .support import canonical, places, tries

widened = SlotProcessor.add_null_to_basic_types


@pytest.mark.rule("schema.null.1", "schema.null.10")
@tries(100)
@given(schemas())
def test_widening_gives_a_schema_and_twice_is_once(schema: dict[str, Any]) -> None:
    before = canonical(schema)
    once = widened(schema)
    assert oracle.is_schema(once)
    assert canonical(widened(once)) == canonical(once)
    assert canonical(schema) == before


@pytest.mark.rule("schema.null.10")
@tries(120)
@given(st.data())
def test_what_was_valid_stays_valid(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    value = data.draw(instances(schema))
    if oracle.accepts(schema, value):
        assert oracle.accepts(widened(schema), value)


@pytest.mark.rule("schema.null.2", "schema.null.3", "schema.null.4")
@tries(80)
@given(st.data())
def test_optional_basic_values_may_be_null(data: st.DataObject) -> None:
    schema = data.draw(plain_tools())
    value = data.draw(instances(schema))
    wide = widened(schema)
    assert oracle.accepts(wide, value)
    for _, place in list(places(value)):
        if isinstance(place, dict):
            for name, child in place.items():
                if isinstance(child, (str, int, float)):
                    place[name] = None
    assert oracle.accepts(wide, value)


@pytest.mark.rule("schema.process.3")
@tries(80)
@given(st.data())
def test_processing_twice_is_once(data: st.DataObject) -> None:
    schema = data.draw(object_schemas())
    value = data.draw(data_for(schema).filter(lambda found: isinstance(found, dict)))
    before = canonical(value)
    once = SlotProcessor(schema).process_json(value)
    assert canonical(SlotProcessor(schema).process_json(once)) == canonical(once)
    assert canonical(value) == before


@pytest.mark.rule("schema.process.3")
@tries(80)
@given(st.data())
def test_valid_data_is_left_alone(data: st.DataObject) -> None:
    schema = data.draw(object_schemas())
    value = data.draw(instances(schema).filter(lambda found: isinstance(found, dict)))
    if oracle.accepts(schema, value):
        assert canonical(SlotProcessor(schema).process_json(value)) == canonical(value)


@pytest.mark.rule("schema.process.3")
@tries(80)
@given(st.data())
def test_without_nulls_the_pair_is_the_identity(data: st.DataObject) -> None:
    schema = data.draw(object_schemas())
    value = data.draw(data_for(schema).filter(lambda found: isinstance(found, dict)))
    if not any(child is None for _, child in places(value)):
        for given_schema in (schema, widened(schema)):
            assert canonical(SlotProcessor(given_schema).process_json(value)) == canonical(value)


@pytest.mark.rule("schema.process.3")
@tries(80)
@given(st.data())
def test_null_for_whatever_is_absent_comes_back_as_absent(data: st.DataObject) -> None:
    """What strict output says of a value it does not know is lost without a trace."""
    schema = data.draw(plain_tools())
    value = data.draw(instances(schema))
    strict = SlotProcessor({}).convert_json(value)
    for name in schema["properties"]:
        strict.setdefault(name, None)
    assert canonical(SlotProcessor(schema).process_json(strict)) == canonical(value)
