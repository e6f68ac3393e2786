"""Whatever the schema, the known data and the replies: what a run of the Slot always keeps.

``jsonschema`` is the oracle, with its deviations put right.
"""

from __future__ import annotations

import asyncio
import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from callbench.fuzz.strategies import json_objects, json_values, object_schemas
from corecall import pointer
from corecall.generator import GenerationError
from corecall.slot.slot import Slot
from corecall.types import CallError, CallOutputType

from ..properties.oracle import accepts, errors
from .support import FakeFunction, FakeReasoning, Pair, executor

DATA = json_values()
OBJECT_SCHEMAS = object_schemas()
OBJECTS = json_objects()
# Known data by names: a key that begins with "/" would be a pointer (slot.init.4).
KNOWN = OBJECTS.map(
    lambda known: {key: value for key, value in known.items() if not key.startswith("/")}
)

TEXTS = st.one_of(
    OBJECTS.map(json.dumps),
    DATA.map(json.dumps),
    OBJECTS.map(lambda value: f"<think>{{}}</think>So: {json.dumps(value)}"),
    st.text(alphabet=' \n{}[]",:a1\\<think/>', max_size=30),
)
FUNCTIONS = st.one_of(
    OBJECTS,
    st.builds(
        lambda answer, partial: GenerationError("no", answer=answer, partial=partial),
        TEXTS,
        OBJECTS,
    ),
)
_INCOMPLETE = frozenset({"required", "dependencies", "minProperties"})


def run(slot: Slot) -> list[Any]:
    async def chunks() -> list[Any]:
        return [chunk async for chunk in slot._exec(slot.input)]

    return asyncio.run(chunks())


def made(schema: dict[str, Any], known: dict[str, Any], models: Pair, **options: Any) -> Slot:
    slot = Slot.instance(executor(models), None, current_schema=schema, data=known, **options)
    return asyncio.run(slot)


def protected(schema: dict[str, Any], known: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return the known leaves (pointer, value) such that neither they nor anything around is wrong."""
    wrong = {
        pointer.join(error.absolute_path)
        for error in errors(schema, known)
        if error.validator not in _INCOMPLETE
    }
    return [
        (place, value)
        for place, value in leaves(known)
        if not any(place == at or place.startswith(f"{at}/") or not at for at in wrong)
    ]


def leaves(value: Any, place: str = "") -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        below = ((f"{place}{pointer.join((name,))}", child) for name, child in value.items())
        return [leaf for at, child in below for leaf in leaves(child, at)]
    return [(place, value)]


@pytest.mark.rule("slot.result.3", "slot.result.4", "slot.result.5", "slot.merge.2", "slot.init.8")
@given(schema=OBJECT_SCHEMAS, known=KNOWN, first=TEXTS, second=FUNCTIONS, optional=st.booleans())
def test_any_run(
    schema: dict[str, Any],
    known: dict[str, Any],
    first: str,
    second: dict[str, Any] | CallError,
    optional: bool,
) -> None:
    before = copy.deepcopy((schema, known))
    models = Pair(FakeReasoning([[first]]), FakeFunction([second]))
    slot = made(schema, known, models, ask_optional=optional)
    (chunk,) = run(slot)
    assert (schema, known) == before

    assert chunk.type is CallOutputType.DATA
    assert chunk.content.keys() == {"slot_data", "remaining_schema"}
    data, remaining = chunk.content["slot_data"], chunk.content["remaining_schema"]
    json.dumps(chunk.content, allow_nan=False)

    if not slot.trace.asked and not remaining:  # nothing to fill
        assert data == {}
        assert models.reasoning.requests == models.function.requests == []
        return
    assert accepts(schema, data) == (remaining == {})
    for place, value in protected(schema, known):
        if value is not None or _has(data, place):
            assert json.dumps(pointer.get(data, place)) == json.dumps(value)
    if models.function.requests:
        messages, shown = models.function.requests[0]
        assert messages[-1]["role"] == "user"
        assert all(message["content"].strip() for message in messages)
        Draft7Validator.check_schema(shown)


def _has(document: Any, place: str) -> bool:
    try:
        pointer.get(document, place)
    except LookupError:
        return False
    return True


@pytest.mark.rule("slot.result.1", "slot.init.3")
@given(schema=OBJECT_SCHEMAS, known=KNOWN)
def test_a_model_is_asked_only_when_something_is_wrong(
    schema: dict[str, Any], known: dict[str, Any]
) -> None:
    slot = made(schema, known, Pair(FakeReasoning([["{}"]]), FakeFunction([{}])))
    (chunk,) = run(slot)
    if accepts(schema, known):
        assert slot.input == {"remaining_schema": {}}
        assert chunk.content == {"slot_data": {}, "remaining_schema": {}}
        assert not slot.trace.asked
    else:
        assert (slot.input["remaining_schema"] == {}) == accepts(schema, slot._given)
