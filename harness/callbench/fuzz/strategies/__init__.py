"""Hypothesis strategies for everything that a Call framework reads.

They draw plain JSON values, texts and bytes, never objects of this package: test your own
implementation with them, in Python or through a process. Nothing here keeps state, and nothing
imports pytest::

    from hypothesis import given
    from hypothesis import strategies as st
    from callbench.fuzz.strategies import instances, object_schemas

    @given(object_schemas().flatmap(lambda schema: st.tuples(st.just(schema), instances(schema))))
    def test_what_is_valid_lacks_nothing(drawn):
        schema, data = drawn
        assert my_check(schema, data) in ({}, None)

| module | draws |
| --- | --- |
| ``values`` | names, texts, scalars, JSON values and objects |
| ``histories`` | step ids, records of earlier steps, paths into them |
| ``schemas`` | Draft 7 schemas, every keyword, recursive ones too |
| ``instances`` | data that satisfies a schema, and data that nearly does |
| ``fills`` | replies keyed by JSON Pointers |
| ``replies`` | texts in which a model renders an object |
| ``streams`` | splits of bytes, server-sent events, streamed chat completions |
"""

from __future__ import annotations

from callbench.fuzz.strategies.fills import flattened, pointer_replies, pointers
from callbench.fuzz.strategies.histories import (
    histories,
    paths,
    records,
    right_paths,
    spellings,
    step_ids,
)
from callbench.fuzz.strategies.instances import data_for, instances, near_misses
from callbench.fuzz.strategies.replies import rendered_replies, thoughts
from callbench.fuzz.strategies.schemas import KEYWORDS, object_schemas, schemas
from callbench.fuzz.strategies.streams import (
    ChatStream,
    EventStream,
    chat_streams,
    event_streams,
    splits,
)
from callbench.fuzz.strategies.values import json_objects, json_values, names, scalars, texts

__all__ = [
    "KEYWORDS",
    "ChatStream",
    "EventStream",
    "chat_streams",
    "data_for",
    "event_streams",
    "flattened",
    "histories",
    "instances",
    "json_objects",
    "json_values",
    "names",
    "near_misses",
    "object_schemas",
    "paths",
    "pointer_replies",
    "pointers",
    "records",
    "rendered_replies",
    "right_paths",
    "scalars",
    "schemas",
    "spellings",
    "splits",
    "step_ids",
    "texts",
    "thoughts",
]
