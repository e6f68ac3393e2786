"""Known data and the two stages: what is right is never changed, what was filled is never removed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callbench.fuzz.strategies import (
    instances,
    json_objects,
    near_misses,
    object_schemas,
    pointer_replies,
)
from corecall.slot.processor import SlotProcessor

from . import oracle
from .plain import damaged, plain_tools
from .support import ABSENT, Tokens, at, canonical, parsed, places, related, tries


def known_for(schema: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Draw known data: objects right, nearly right, and any."""
    near = st.one_of(near_misses(schema), instances(schema))
    return st.one_of(near.filter(lambda value: isinstance(value, dict)), json_objects())


def failing(processor: SlotProcessor, data: dict[str, Any]) -> list[Tokens]:
    return [parsed(pointer) for pointer in processor.check_json(data).get("required", [])]


def includes(new: Any, old: Any) -> bool:
    """Say whether ``new`` is ``old``, or ``old`` with more in it."""
    if isinstance(old, dict) and isinstance(new, dict):
        return all(name in new and includes(new[name], child) for name, child in old.items())
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(includes, new, old))
    return canonical(new) == canonical(old)


@pytest.mark.rule("slot.merge.2")
@tries(60)
@given(st.data())
def test_valid_known_data_comes_out_as_it_went_in(data: st.DataObject) -> None:
    schema = data.draw(object_schemas())
    known = data.draw(known_for(schema))
    reply = data.draw(pointer_replies(schema))
    if oracle.accepts(schema, known):
        merged = SlotProcessor(schema).merge(known, reply)
        assert includes(merged.data, known)


@pytest.mark.rule("slot.merge.2", "slot.merge.8", "slot.merge.30")
@tries(60)
@given(st.data())
def test_a_known_value_is_changed_only_where_something_is_wrong(data: st.DataObject) -> None:
    schema = data.draw(object_schemas())
    known = data.draw(known_for(schema))
    reply = data.draw(pointer_replies(schema))
    processor = SlotProcessor(schema)
    wrong = failing(processor, known)
    before = canonical([known, reply])
    merged = processor.merge(known, reply)
    assert canonical([known, reply]) == before
    for tokens, value in places(known):
        if not any(related(tokens, place) for place in wrong):
            assert includes(at(merged.data, tokens), value)


@pytest.mark.rule("slot.merge.1")
@tries(60)
@given(st.data())
def test_stage_2_removes_nothing_that_stage_1_filled(data: st.DataObject) -> None:
    schema = data.draw(object_schemas())
    known = data.draw(known_for(schema))
    processor = SlotProcessor(schema)
    first = processor.merge(known, data.draw(pointer_replies(schema)))
    second = processor.merge(first.data, data.draw(pointer_replies(schema)))
    wrong = failing(processor, first.data)
    for pointer in first.filled:
        tokens = parsed(pointer)
        if not any(related(tokens, place) for place in wrong):
            assert includes(at(second.data, tokens), at(first.data, tokens))


@pytest.mark.rule("slot.merge.1", "slot.merge.3")
@tries(60)
@given(st.data())
def test_stages_add_up_to_what_they_gave(data: st.DataObject) -> None:
    """Two halves of one instance, one after the other, make the instance."""
    schema = data.draw(plain_tools())
    whole = data.draw(instances(schema))
    first, second = {}, {}
    for name, value in whole.items():
        half = first if data.draw(st.booleans()) else second
        half["/" + name.replace("~", "~0").replace("/", "~1")] = value
    processor = SlotProcessor(schema)
    one = processor.merge({}, first)
    two = processor.merge(one.data, second)
    assert canonical(two.data) == canonical(whole)
    assert one.rejected == two.rejected == one.undeclared == two.undeclared == ()


@pytest.mark.rule("slot.merge.14", "slot.merge.7")
@tries(50)
@given(st.data())
def test_a_reply_adds_no_fault(data: st.DataObject) -> None:
    """With plain data known: whatever the reply holds, afterwards nothing new is wrong."""
    schema = data.draw(plain_tools())
    known = data.draw(damaged(schema))
    processor = SlotProcessor(schema)
    wrong = {tokens for tokens in failing(processor, known) if at(known, tokens) is not ABSENT}
    merged = processor.merge(known, data.draw(pointer_replies(schema)))
    for tokens in failing(processor, merged.data):
        assert at(merged.data, tokens) is ABSENT or tokens in wrong


@pytest.mark.rule("slot.merge.26")
@tries(50)
@given(st.data())
def test_merging_the_outcome_again_adds_nothing(data: st.DataObject) -> None:
    schema = data.draw(object_schemas())
    known = data.draw(known_for(schema))
    processor = SlotProcessor(schema)
    merged = processor.merge(known, data.draw(pointer_replies(schema)))
    escaped = {
        "/" + name.replace("~", "~0").replace("/", "~1"): value
        for name, value in merged.data.items()
    }
    again = processor.merge(merged.data, escaped)
    assert canonical(again.data) == canonical(merged.data)
    assert again.filled == again.rejected == ()
