"""Schemas of sets as Draft 7."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callbench.dataset.importers.records import first_place, language, messages
from callbench.dataset.importers.types import draft7


@pytest.mark.parametrize(
    ("written", "means"),
    [
        ("dict", {"type": "object"}),
        ("float", {"type": "number"}),
        ("tuple", {"type": "array"}),
        ("any", {}),
        ("Boolean", {"type": "boolean"}),
        ("HashMap", {"type": "object"}),
        ("long", {"type": "integer"}),
        ("list(string)", {"type": "array", "items": {"type": "string"}}),
        ("ArrayList<Integer>", {"type": "array", "items": {"type": "integer"}}),
        (["float", "null"], {"type": ["number", "null"]}),
        ("Widget", {"x-type": "Widget"}),
    ],
)
def test_type_names(written: Any, means: dict[str, Any]) -> None:
    schema = draft7({"type": "dict", "properties": {"a": {"type": written}}})
    assert schema["properties"]["a"] == means


def test_all_else_is_kept_in_its_order() -> None:
    source = {
        "type": "dict",
        "required": ["z"],
        "properties": {
            "z": {"optional": True, "type": "float", "description": "Z.", "default": 1.5},
            "a": {"type": "tuple", "items": {"type": "dict", "properties": {"b": {"type": "any"}}}},
        },
    }
    schema = draft7(source)
    assert list(schema["properties"]) == ["z", "a"]
    assert schema["properties"]["z"] == {
        "optional": True, "type": "number", "description": "Z.", "default": 1.5}  # fmt: skip
    assert schema["properties"]["a"]["items"] == {"type": "object", "properties": {"b": {}}}
    assert source["type"] == "dict"


def test_a_parameter_called_type_is_a_parameter() -> None:
    schema = draft7({"type": "dict", "properties": {"type": {"type": "float"}}})
    assert schema["properties"] == {"type": {"type": "number"}}


def test_required_on_a_property_moves_to_its_object() -> None:
    schema = draft7({"properties": {"a": {"required": True}, "b": {"required": False}}})
    assert schema["required"] == ["a"]
    jsonschema.Draft7Validator.check_schema(schema)


@pytest.mark.parametrize("nothing", [None, "", []])
def test_no_schema_declares_nothing(nothing: Any) -> None:
    assert draft7(nothing) == {"type": "object", "properties": {}}


_NAMES = st.sampled_from(["dict", "float", "tuple", "any", "string", "list(string)", "Odd", "enum"])
_SCHEMAS = st.recursive(
    st.fixed_dictionaries({"type": _NAMES}),
    lambda inner: (
        st.fixed_dictionaries(
            {"type": _NAMES, "properties": st.dictionaries(st.text(max_size=3), inner, max_size=3)}
        )
        | st.fixed_dictionaries({"type": _NAMES, "items": inner})
    ),
    max_leaves=8,
)


@given(_SCHEMAS)
def test_whatever_the_types_the_result_is_a_valid_schema(source: dict[str, Any]) -> None:
    jsonschema.Draft7Validator.check_schema(draft7(source))


class TestLanguage:
    @pytest.mark.parametrize(
        ("text", "lang"),
        [
            ("Book a room.", "en"),
            ("我想订一间房。", "zh"),
            ("用 Alipay 支付 1500 元", "zh"),
            ("Translate 你好 into English for me please", "en"),
            ("東京の天気を教えて", "en"),
            ("", "en"),
        ],
    )
    def test_language(self, text: str, lang: str) -> None:
        assert language(text) == lang


def test_places_are_found_outermost_first() -> None:
    schema = {
        "properties": {
            "a": {"properties": {"x": {}, "b": {}}},
            "l": {"items": {"properties": {"y": {}}}},
            "b": {},
        }
    }
    assert first_place(schema, "b") == "/b"
    assert first_place(schema, "x") == "/a/x"
    assert first_place(schema, "a.b") == "/a/b"
    assert first_place(schema, "y") == "/l/0/y"
    assert first_place(schema, "none") is None


def test_messages_end_with_the_last_of_the_user() -> None:
    turns = [[{"role": "system", "content": "s"}, {"role": "user", "content": "1"}],
             [{"role": "user", "content": "2"}, {"role": "assistant", "content": "3"}]]  # fmt: skip
    found = messages(turns)
    assert found is not None
    assert [message["content"] for message in found] == ["s", "1", "2"]
    assert messages([[{"role": "system", "content": "s"}]]) is None


def test_a_name_that_is_required_twice_is_required_once() -> None:
    inner = {"a": {"type": "str"}}
    source = {"type": "dict", "properties": inner, "required": ["a", "a"]}
    assert draft7(source)["required"] == ["a"]
