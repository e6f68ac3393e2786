"""The Draft 7 suite and the schemas of public sets, where they are at hand."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from corecall.slot.processor import SchemaError, SlotProcessor

from . import oracle
from .corpora import DATA, Sample, suite, tools
from .support import canonical

pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason=f"no public data in {DATA}; CALLBENCH_SHARED_DATA names another place"
)

_FILLS = {
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "null": None,
    "array": [],
    "object": {},
}


def in_rust(schema: Any, data: Any) -> bool | None:
    """Ask the other library, as it comes; ``None`` when it does not read a pattern."""
    try:
        return bool(jsonschema_rs.Draft7Validator(schema, offline=True).is_valid(data))
    except jsonschema_rs.ValidationError as error:
        if not error.message.endswith('is not a "regex"'):
            raise
        return None


@pytest.mark.rule("schema.valid.1", "schema.check.1")
def test_the_two_libraries_and_ours_agree_on_the_suite() -> None:
    judged = 0
    elsewhere: list[str] = []
    for origin, schema, values in suite():
        whole = schema if isinstance(schema, dict) else {"allOf": [schema]}
        try:
            processor = SlotProcessor(whole)
        except SchemaError as error:
            if "nothing is fetched" not in error.reason:
                raise
            elsewhere.append(origin)
            continue
        for value, valid in values:
            assert oracle.accepts(schema, value) is valid, origin
            assert in_rust(schema, value) is valid, origin
            assert (processor.check_json(value) == {}) is valid, origin
            judged += 1
    print(f"{judged} tests of the Draft 7 suite, {len(elsewhere)} groups need the network")
    assert judged >= 850
    assert all(origin.startswith(("refRemote", "ref:", "definitions")) for origin in elsewhere)


def fill(schema: Any, definitions: Any) -> Any:
    """Return the simplest value that may do for one place of a remaining schema."""
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type", "object" if "properties" in schema else "string")
    kind = kind if isinstance(kind, str) else kind[0]
    if kind == "array" and schema.get("minItems"):
        return [fill(schema.get("items", {}), definitions)] * schema["minItems"]
    if kind in ("integer", "number") and "minimum" in schema:
        return schema["minimum"]
    if kind == "string":
        return "x" * schema.get("minLength", 1)
    return _FILLS[kind]


def worked_through(sample: Sample) -> bool:
    """Take one schema through checking, converting and widening; say whether it was filled up."""
    schema = sample.schema
    before = canonical(schema)
    processor = SlotProcessor(schema)
    data: dict[str, Any] = {}
    for _ in range(8):
        remaining = processor.check_json(data)
        if not remaining:
            break
        assert in_rust(schema, data) in (False, None)
        SlotProcessor(remaining)
        definitions = remaining.get("definitions", {})
        fills = {place: fill(own, definitions) for place, own in remaining["properties"].items()}
        if "" in fills:
            break
        data = processor.convert_json(fills, data)
    filled = processor.is_valid(data)
    widened = SlotProcessor.add_null_to_basic_types(schema)
    assert canonical(SlotProcessor.add_null_to_basic_types(widened)) == canonical(widened)
    for value, valid in (*sample.values, (data, filled), ({}, processor.is_valid({}))):
        assert oracle.accepts(schema, value) is valid
        assert (processor.check_json(value) == {}) is valid
        if valid:
            assert SlotProcessor(widened).is_valid(value)
            assert canonical(processor.process_json(value)) == canonical(value)
    assert canonical(schema) == before
    return filled


@pytest.mark.rule("schema.check.1", "schema.null.10", "schema.valid.22")
def test_every_schema_of_the_public_sets() -> None:
    """Valid ones go through everything; the others are refused, as the metaschema has it."""
    done = filled = 0
    refused: list[str] = []
    for sample in tools():
        if oracle.is_schema(sample.schema):
            try:
                filled += worked_through(sample)
            except AssertionError as error:
                raise AssertionError(sample.origin) from error
            done += 1
        else:
            with pytest.raises(SchemaError):
                SlotProcessor(sample.schema)
            refused.append(sample.origin)
    print(f"{done} schemas of public sets, {filled} filled up, {len(refused)} invalid: {refused}")
    assert done >= 3000
    assert filled >= done * 0.95
