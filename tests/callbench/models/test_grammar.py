"""Schemas in the dialect of llama.cpp's grammar converter.

Which schemas the converter refuses or misreads was measured against it; ``test_local`` sends the
ones here through the real engine.
"""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import jsonschema
import pytest

from callbench.models.grammar import for_llama, reduced

TEXT = {"type": "string"}


def prop(schema: Any) -> Any:
    """Return what becomes of ``schema`` as a property."""
    return for_llama({"type": "object", "properties": {"a": schema}})["properties"]["a"]


def test_a_plain_schema_stays_to_the_byte() -> None:
    schema = {
        "type": "object",
        "description": "d",
        "properties": {
            "zeta": {"type": "string", "format": "date", "minLength": 2, "maxLength": 5},
            "alpha": {"type": ["integer", "null"], "minimum": 1, "maximum": 9},
            "mid": {"type": "array", "items": {"enum": ["x", 1, None]}, "minItems": 1},
            "sub": {"type": "object", "properties": {"k": {"const": {"$ref": 1}}}},
        },
        "required": ["mid", "zeta"],
        "additionalProperties": False,
    }
    before = deepcopy(schema)
    assert json.dumps(for_llama(schema)) == json.dumps(before)
    assert schema == before


class TestReferences:
    @pytest.mark.parametrize(
        ("key", "ref"),
        [
            ("definitions", "#/definitions/a~1b"),
            ("definitions", "#/definitions/a%7E1b"),
            ("$defs", "#/$defs/a~1b"),
        ],
    )
    def test_targets_get_plain_names(self, key: str, ref: str) -> None:
        schema = {key: {"a/b": TEXT}, "type": "object", "properties": {"x": {"$ref": ref}}}
        assert for_llama(schema) == {
            "type": "object",
            "properties": {"x": {"$ref": "#/definitions/d0"}},
            "definitions": {"d0": TEXT},
        }

    def test_the_root_refers_to_itself(self) -> None:
        schema = {"type": "object", "properties": {"v": TEXT, "c": {"$ref": "#"}}}
        again = {"type": "object", "properties": {"v": TEXT, "c": {"$ref": "#/definitions/d0"}}}
        assert for_llama(schema) == {**again, "definitions": {"d0": again}}

    @pytest.mark.parametrize("ref", ["#/nowhere", "#anchor", "http://h.invalid/s.json", 5])
    def test_what_leads_nowhere_admits_anything(self, ref: Any) -> None:
        assert prop({"$ref": ref}) == {}


class TestBooleans:
    def test_true_admits_anything(self) -> None:
        assert prop(True) == {}

    @pytest.mark.parametrize("never", [False, {"not": {}}, {"not": True}])
    def test_a_property_that_may_not_be_is_not_offered(self, never: Any) -> None:
        schema = {"type": "object", "properties": {"a": TEXT, "b": never}, "required": ["a"]}
        assert for_llama(schema)["properties"] == {"a": TEXT}

    def test_unless_it_is_required(self) -> None:
        schema = {"type": "object", "properties": {"b": False}, "required": ["b"]}
        assert for_llama(schema)["properties"] == {"b": {}}


class TestTypesAndBounds:
    @pytest.mark.parametrize(
        ("schema", "said"),
        [
            ({"type": "date"}, {}),
            ({"type": ["string", "date"]}, {"type": ["string"]}),
            ({"type": ["date"]}, {}),
            ({"type": "integer", "maximum": 10**20}, {"type": "integer"}),
            ({"type": "integer", "minimum": -(10**20)}, {"type": "integer"}),
            ({"type": "integer", "minimum": 0.5}, {"type": "integer", "minimum": 1}),
            ({"type": "integer", "maximum": 9.5}, {"type": "integer", "maximum": 9}),
            ({"type": "number", "minimum": 0.5}, {"type": "number", "minimum": 0.5}),
            ({"type": "integer", "exclusiveMinimum": True}, {"type": "integer"}),
            ({"type": "string", "maxLength": 2000}, {"type": "string", "maxLength": 2000}),
            ({"type": "string", "maxLength": 2001}, {"type": "string"}),
            ({"type": "array", "maxItems": 5000}, {"type": "array"}),
        ],
    )
    def test_what_the_converter_refuses_is_left_out(self, schema: Any, said: Any) -> None:
        assert prop(schema) == said

    def test_free_keys_beside_declared_ones_are_not_offered(self) -> None:
        declared = {"type": "object", "properties": {"k": TEXT}}
        assert prop({**declared, "additionalProperties": True}) == declared
        map_of = {"type": "object", "additionalProperties": {"type": "integer", "maximum": 1e30}}
        assert prop(map_of) == {"type": "object", "additionalProperties": {"type": "integer"}}
        anything = {"type": "object", "additionalProperties": True}
        assert prop(anything) == anything


class TestPatterns:
    @pytest.mark.parametrize(
        ("pattern", "becomes"),
        [
            ("^[a-z]+$", "^[a-z]+$"),
            (r"^\d{4}-\d{2}$", "^[0-9]{4}-[0-9]{2}$"),
            (r"^[\d.]+$", "^[0-9.]+$"),
            (r"^\w+$", "^[A-Za-z0-9_]+$"),
            (r"^[\w-]+$", "^[A-Za-z0-9_-]+$"),
            (r"^a\/b$", "^a/b$"),
            (r"^a\.b\-c$", r"^a\.b\-c$"),
            (r"^(?:ab|cd)+$", r"^(?:ab|cd)+$"),
            ("^[一-龥]+$", "^[一-龥]+$"),
        ],
    )
    def test_spelled_for_the_converter(self, pattern: str, becomes: str) -> None:
        assert prop({"type": "string", "pattern": pattern}) == {
            "type": "string",
            "pattern": becomes,
        }

    @pytest.mark.parametrize(
        "pattern",
        [
            "[a-z]+",
            "^[a-z]+",
            "[a-z]+$",
            "^.*$",
            '^[^"]*$',
            r"^\S+@\S+$",
            r"^\bab\b$",
            "^(?=a)[a-z]+$",
            r"^\p{L}+$",
            "^(a|b)$|^c$",
            "^([a-z$",
            r"^(a)\1$",
            "^[[a]$",
            "^[a--b]$",
            5,
        ],
    )
    def test_left_out_when_the_converter_would_not_understand(self, pattern: Any) -> None:
        assert prop({"type": "string", "pattern": pattern}) == TEXT


class TestBranches:
    def test_each_branch_gets_what_stands_beside(self) -> None:
        schema = {
            "type": "object",
            "properties": {"a": TEXT, "b": TEXT},
            "required": ["a"],
            "anyOf": [{"required": ["b"]}, {"properties": {"a": {"enum": ["x"]}}}],
        }
        assert for_llama(schema) == {
            "anyOf": [
                {
                    "type": "object",
                    "properties": {"a": TEXT, "b": TEXT},
                    "required": ["a", "b"],
                },
                {
                    "type": "object",
                    "properties": {"a": {"enum": ["x"]}, "b": TEXT},
                    "required": ["a"],
                },
            ]
        }

    def test_a_branch_of_another_type_falls_away(self) -> None:
        schema = {"type": ["string", "null"], "oneOf": [{"type": "integer"}, {"type": "string"}]}
        assert prop(schema) == {"oneOf": [{"type": "string"}]}

    def test_referring_branches_and_lone_branches_stay(self) -> None:
        lone = {"description": "d", "anyOf": [TEXT, {"type": "null"}]}
        assert prop(lone) == lone
        schema = {
            "type": "object",
            "oneOf": [{"$ref": "#/definitions/p"}, False],
            "definitions": {"p": {"type": "object", "properties": {"k": TEXT}}},
        }
        assert for_llama(schema) == {
            "oneOf": [{"$ref": "#/definitions/d0"}],
            "definitions": {"d0": {"type": "object", "properties": {"k": TEXT}}},
        }

    def test_all_of_and_items_are_walked(self) -> None:
        assert prop({"allOf": [{"type": "x"}, True]}) == {"allOf": [{}, {}]}
        assert prop({"items": [{"type": "x"}, TEXT]}) == {"items": [{}, TEXT]}
        assert prop({"items": {"type": "x"}}) == {"items": {}}


def test_reduced_keeps_the_shape() -> None:
    """r127: a pattern inside a nested object made the grammar unreadable."""
    schema = {
        "type": "object",
        "properties": {
            "o": {
                "type": "object",
                "properties": {
                    "s": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 10**6},
                    "e": {"enum": ["a", "b"], "description": "kept"},
                    "n": {"type": "integer", "minimum": 1, "multipleOf": 2},
                },
                "required": ["s"],
            }
        },
    }
    assert reduced(schema) == {
        "type": "object",
        "properties": {
            "o": {
                "type": "object",
                "properties": {
                    "s": {"type": "string"},
                    "e": {"enum": ["a", "b"], "description": "kept"},
                    "n": {"type": "integer"},
                },
                "required": ["s"],
            }
        },
    }


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "object", "properties": {"a": {"$ref": "#"}}}, {"a": {"a": {}}}),
        ({"properties": {"a": {"type": "integer", "minimum": 0.5}}}, {"a": 1}),
        ({"anyOf": [{"required": ["b"]}, {}], "properties": {"a": TEXT}}, {"a": "x"}),
    ],
)
def test_the_dialect_is_a_schema_that_admits_valid_values(schema: Any, value: Any) -> None:
    jsonschema.Draft7Validator.check_schema(for_llama(schema))
    jsonschema.Draft7Validator(schema).validate(value)
    jsonschema.Draft7Validator(for_llama(schema)).validate(value)
