"""The two baselines that need no model."""

from __future__ import annotations

from typing import Any

import pytest

from callbench.dataset.case import Case, Tool
from callbench.run.baselines import CopySystem, EmptySystem


def case(question: str, properties: dict[str, Any], **more: Any) -> Case:
    schema = {"type": "object", "properties": properties, "required": list(properties), **more}
    return Case(
        id="c", lang="en", tool=Tool("t"), schema=schema, question=question, expected={},
        data={"known": 1},
    )  # fmt: skip


async def test_empty_fills_nothing_and_says_what_is_missing() -> None:
    found = await EmptySystem().fill(case("Oslo", {"city": {"type": "string"}}))
    assert found.slot_data == {"known": 1}
    assert found.remaining_schema["required"] == ["/city"]


@pytest.mark.parametrize(
    ("question", "schema", "value"),
    [
        ('Call it "Big trip" please', {"type": "string"}, "Big trip"),
        ("把标题改成“周报 三月”", {"type": "string"}, "周报 三月"),
        ("fly to New York tomorrow", {"type": "string"}, "New York"),
        ("restart unit web-03 now", {"type": "string"}, "web-03"),
        ("on 2026-03-12 please", {"type": "string", "format": "date"}, "2026-03-12"),
        ("make it 2.5 or so", {"type": "number"}, 2.5),
        ("for -3 degrees", {"type": "integer"}, -3),
        ("in the CHEAP class", {"enum": ["dear", "cheap"]}, "cheap"),
        ("buy 3", {"type": "array", "items": {"type": "integer"}}, [3]),
        ("go to Oslo", {"properties": {"c": {"type": "string"}}, "required": ["c"]}, {"c": "Oslo"}),
        ("go to Oslo", {"$ref": "#/definitions/place"}, "Oslo"),
        ("帮我订一间房", {"type": "string"}, "帮我订一间房"),
    ],
)
async def test_copy_takes_the_span_that_fits_the_type(
    question: str, schema: dict[str, Any], value: Any
) -> None:
    definitions = {"place": {"type": "string"}}
    found = await CopySystem().fill(case(question, {"x": schema}, definitions=definitions))
    assert found.slot_data == {"known": 1, "x": value}
    assert found.remaining_schema == {}


@pytest.mark.parametrize(
    ("question", "schema"),
    [
        ("yes", {"type": "boolean"}),
        ("none here", {"type": "integer"}),
        ("go for 9", {"type": "integer", "maximum": 5}),
        ("nothing", {"enum": ["a1", "b2"]}),
        ("loop", {"$ref": "#/definitions/loop"}),
    ],
)
async def test_copy_leaves_out_what_does_not_fit(question: str, schema: dict[str, Any]) -> None:
    loop = {"properties": {"n": {"$ref": "#/definitions/loop"}}, "required": ["n"]}
    found = await CopySystem().fill(case(question, {"x": schema}, definitions={"loop": loop}))
    assert "x" not in found.slot_data


async def test_copy_uses_each_span_once() -> None:
    properties = {"a": {"type": "integer"}, "b": {"type": "integer"}, "c": {"type": "integer"}}
    found = await CopySystem().fill(case("from 2 to 7", properties))
    assert found.slot_data == {"known": 1, "a": 2, "b": 7}
