"""add_null_to_basic_types and process_json (DESIGN 3.4; TRAPS A17, A23).

Ids like r066 are reports of real faults.
"""

from __future__ import annotations

import copy
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings

from corecall.slot.processor import DataError, SchemaError, SlotProcessor

from .slot_strategies import DATA, OBJECT_SCHEMAS, OBJECTS, SCHEMAS

widen = SlotProcessor.add_null_to_basic_types
TEXT = {"type": "string"}
WIDE = {"type": ["string", "null"]}


class TestWidening:
    @pytest.mark.parametrize(
        ("own", "widened"),
        [
            (TEXT, WIDE),
            ({"type": "integer", "minimum": 1}, {"type": ["integer", "null"], "minimum": 1}),
            ({"type": "number"}, {"type": ["number", "null"]}),
            ({"type": "boolean"}, {"type": ["boolean", "null"]}),
            ({"type": "null"}, {"type": "null"}),
            ({"type": ["string", "integer"]}, {"type": ["string", "integer", "null"]}),
            ({"type": ["null", "string"]}, {"type": ["null", "string"]}),
            ({"type": ["string", "array"]}, {"type": ["string", "array", "null"]}),
            ({"type": "object"}, {"type": "object"}),
            ({"type": "array"}, {"type": "array"}),
            ({}, {}),
            (True, True),
            (False, False),
            ({"type": "string", "enum": ["a"]}, {**WIDE, "enum": ["a", None]}),
            ({"type": "string", "enum": ["a", None]}, {**WIDE, "enum": ["a", None]}),
            ({"type": "string", "const": "a"}, {**WIDE, "enum": ["a", None]}),
            ({"type": "string", "const": "a", "enum": ["a", "b"]}, {**WIDE, "enum": ["a", None]}),
            ({"type": "string", "const": "z", "enum": ["a"]}, {**WIDE, "enum": ["a", None]}),
            ({"enum": ["a", 1, True]}, {"enum": ["a", 1, True, None]}),
            ({"const": 0}, {"enum": [0, None]}),
            ({"const": None}, {"const": None}),
            ({"enum": [["a"]]}, {"enum": [["a"]]}),
            ({"type": "object", "enum": [{}]}, {"type": "object", "enum": [{}]}),
        ],
    )
    def test_a_property(self, own: Any, widened: Any) -> None:
        assert widen({"properties": {"a": own}}) == {"properties": {"a": widened}}

    @pytest.mark.parametrize(
        ("schema", "widened"),
        [
            (TEXT, TEXT),  # the root itself stays
            ({"items": TEXT}, {"items": WIDE}),
            ({"items": [TEXT, True]}, {"items": [WIDE, True]}),
            ({"additionalProperties": TEXT}, {"additionalProperties": WIDE}),
            ({"additionalProperties": False}, {"additionalProperties": False}),
            ({"patternProperties": {"^a": TEXT}}, {"patternProperties": {"^a": WIDE}}),
            (
                {"properties": {"a": {"items": {"properties": {"b": TEXT}}}}},
                {"properties": {"a": {"items": {"properties": {"b": WIDE}}}}},
            ),
            ({"allOf": [{"properties": {"a": TEXT}}]}, {"allOf": [{"properties": {"a": WIDE}}]}),
            ({"anyOf": [TEXT, {"items": TEXT}]}, {"anyOf": [TEXT, {"items": WIDE}]}),
            (
                {"properties": {"a": {"anyOf": [TEXT, {"type": "null"}, {"type": "array"}]}}},
                {"properties": {"a": {"anyOf": [WIDE, {"type": "null"}, {"type": "array"}]}}},
            ),
            (
                {"properties": {"a": {"allOf": [TEXT, {"enum": ["x"]}]}}},
                {"properties": {"a": {"allOf": [WIDE, {"enum": ["x", None]}]}}},
            ),
            (
                {"properties": {"a": {"oneOf": [TEXT, {"type": "integer"}]}}},
                {"properties": {"a": {"oneOf": [TEXT, {"type": "integer"}]}}},
            ),
            ({"not": {"properties": {"a": TEXT}}}, {"not": {"properties": {"a": TEXT}}}),
            ({"oneOf": [{"properties": {"a": TEXT}}]}, {"oneOf": [{"properties": {"a": TEXT}}]}),
            (
                {"if": {"items": TEXT}, "then": {"items": TEXT}},
                {"if": {"items": TEXT}, "then": {"items": TEXT}},
            ),
            ({"contains": TEXT, "propertyNames": TEXT}, {"contains": TEXT, "propertyNames": TEXT}),
            ({"default": {"properties": {"a": TEXT}}}, {"default": {"properties": {"a": TEXT}}}),
            (
                {"properties": {"properties": TEXT, "type": TEXT, "enum": TEXT}},
                {"properties": {"properties": WIDE, "type": WIDE, "enum": WIDE}},
            ),
        ],
    )
    def test_reach(self, schema: dict[str, Any], widened: dict[str, Any]) -> None:
        assert widen(schema) == widened

    def test_through_definitions(self) -> None:
        schema = {
            "properties": {
                "kind": {"$ref": "#/definitions/kind", "description": "d"},
                "maybe": {"anyOf": [{"$ref": "#/definitions/kind"}, {"type": "null"}]},
                "guest": {"$ref": "#/$defs/guest"},
                "anchor": {"$ref": "#anchor"},
            },
            "definitions": {"kind": {"enum": ["a"]}, "anchored": {"$id": "#anchor", **TEXT}},
            "$defs": {"guest": {"type": "object", "properties": {"name": TEXT}}},
        }
        assert widen(schema) == {
            "properties": {
                "kind": {
                    "anyOf": [
                        {"$ref": "#/definitions/kind", "description": "d"},
                        {"type": "null"},
                    ]
                },
                "maybe": {"anyOf": [{"$ref": "#/definitions/kind"}, {"type": "null"}]},
                "guest": {"$ref": "#/$defs/guest"},
                "anchor": {"anyOf": [{"$ref": "#anchor"}, {"type": "null"}]},
            },
            "definitions": {"kind": {"enum": ["a"]}, "anchored": {"$id": "#anchor", **TEXT}},
            "$defs": {"guest": {"type": "object", "properties": {"name": WIDE}}},
        }

    @pytest.mark.parametrize("keyword", ["oneOf", "not", "if"])
    def test_a_definition_that_a_strict_keyword_uses_stays(self, keyword: str) -> None:
        """Widened, it would hold more often, and what was valid would not be any more."""
        user: Any = {"$ref": "#/definitions/via"}
        schema = {
            keyword: [user] if keyword == "oneOf" else user,
            "properties": {"a": {"$ref": "#/definitions/d"}},
            "definitions": {
                "d": {"properties": {"x": TEXT}},
                "via": {"allOf": [{"$ref": "#/definitions/d"}]},
            },
        }
        assert widen(schema) == schema

    @pytest.mark.parametrize(
        "schema",
        [
            {"properties": {"a": {"type": "strin"}}},
            {"properties": {"a": {"$ref": "http://a.test/x"}}},
            {"properties": {"a": {"$ref": "#/definitions/x"}}},
            {
                "properties": {"a": {"$ref": "#/definitions/x"}},
                "definitions": {"x": {"$ref": "#/definitions/x"}},
            },
        ],
    )
    def test_an_invalid_schema_is_refused(self, schema: dict[str, Any]) -> None:
        with pytest.raises(SchemaError):
            widen(schema)

    def test_argument_stays_and_shares_nothing(self) -> None:
        """A17."""
        schema = {"properties": {"a": {"type": ["string"], "enum": ["x"]}}, "required": ["a"]}
        before = copy.deepcopy(schema)
        widened = widen(schema)
        widened["required"].append("changed")
        widened["properties"]["a"]["enum"].append("changed")
        assert schema == before

    def test_nested_too_deep(self) -> None:
        schema: dict[str, Any] = {}
        for _ in range(5_000):
            schema = {"items": schema}
        with pytest.raises(SchemaError, match="nested deeper"):
            widen(schema)

    @settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow], deadline=None)
    @given(schema=SCHEMAS, data=DATA)
    def test_idempotent_and_what_was_valid_stays_valid(
        self, schema: dict[str, Any], data: Any
    ) -> None:
        widened = widen(schema)
        jsonschema.Draft7Validator.check_schema(widened)
        assert widen(widened) == widened
        if SlotProcessor(schema).is_valid(data):
            assert SlotProcessor(widened).is_valid(data)


def process(schema: dict[str, Any], data: Any) -> dict[str, Any]:
    return SlotProcessor(schema).process_json(data)


class TestDroppingNulls:
    @pytest.mark.parametrize(
        ("schema", "data", "expected"),
        [
            ({"properties": {"a": TEXT}}, {"a": None}, {}),
            ({"properties": {"a": TEXT}}, {"a": "x"}, {"a": "x"}),
            ({"properties": {"a": WIDE}}, {"a": None}, {"a": None}),
            (
                {"properties": {"t": {"anyOf": [TEXT, {"type": "null"}]}}},
                {"t": None},
                {"t": None},
            ),  # r066
            ({"properties": {"a": {"enum": ["x"]}}}, {"a": None}, {}),
            ({"properties": {"a": {}}}, {"a": None}, {"a": None}),
            ({}, {"a": None}, {"a": None}),
            ({"additionalProperties": False}, {"a": None}, {}),
            ({"additionalProperties": TEXT}, {"a": None}, {}),
            ({"patternProperties": {"^a": TEXT}}, {"a": None, "b": None}, {"b": None}),
            ({"properties": {"a": False}}, {"a": None}, {}),
            (
                {"properties": {"a": {"$ref": "#/definitions/x"}}, "definitions": {"x": TEXT}},
                {"a": None},
                {},
            ),
            ({"allOf": [{"properties": {"a": TEXT}}]}, {"a": None}, {}),
            (
                {"properties": {"g": {"properties": {"n": TEXT, "m": WIDE}}}},
                {"g": {"n": None, "m": None}},
                {"g": {"m": None}},
            ),
            ({"items": TEXT, "properties": {"l": {"items": TEXT}}}, {"l": [None]}, {"l": [None]}),
            (
                {"properties": {"l": {"items": {"properties": {"x": TEXT}}}}},
                {"l": [{"x": None}]},
                {"l": [{}]},
            ),
            (
                {
                    "properties": {
                        "g": {
                            "anyOf": [
                                {"type": "object", "properties": {"n": TEXT}},
                                {"type": "null"},
                            ]
                        }
                    }
                },
                {"g": {"n": None}},
                {"g": {}},
            ),
            (
                {
                    "oneOf": [
                        {"properties": {"a": TEXT, "k": {"const": 1}}},
                        {"properties": {"a": {"type": "integer"}, "k": {"const": 2}}},
                    ]
                },
                {"a": None, "k": 1},
                {"k": 1},
            ),
            (
                {"if": {"required": ["k"]}, "then": {"properties": {"a": TEXT}}},
                {"k": 1, "a": None},
                {"k": 1},
            ),
        ],
    )
    def test_members(self, schema: dict[str, Any], data: Any, expected: dict[str, Any]) -> None:
        before = copy.deepcopy(data)
        assert process(schema, data) == expected
        assert data == before

    @pytest.mark.parametrize(
        ("text", "expected"),
        [('{"a": null, "b": 1}', {"b": 1}), ("null", {}), ("  ", {}), ("", {}), (" {} ", {})],
    )
    def test_text(self, text: str, expected: dict[str, Any]) -> None:
        """r076: null and blank text are no arguments."""
        assert process({"properties": {"a": TEXT}}, text) == expected

    @pytest.mark.parametrize("text", ["[]", "5", '"x"', "{", '{"a": NaN}', "[" * 100_000, "x"])
    def test_text_that_is_no_object(self, text: str) -> None:
        """A23, r076: refused by name, not wrapped, never a crash."""
        with pytest.raises(DataError):
            process({}, text)

    @settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow], deadline=None)
    @given(schema=OBJECT_SCHEMAS, data=OBJECTS)
    def test_valid_data_is_left_alone(self, schema: dict[str, Any], data: dict[str, Any]) -> None:
        if SlotProcessor(schema).is_valid(data):
            assert process(schema, data) == data

    def test_the_pair(self) -> None:
        """What strict output gives for an optional value comes back as absent."""
        schema = {
            "properties": {"城市": TEXT, "备注": TEXT, "n": {"type": "integer", "enum": [1, 2]}},
            "required": ["城市"],
        }
        strict = {**widen(schema), "required": ["城市", "备注", "n"]}
        reply = {"城市": "青岛", "备注": None, "n": None}
        assert SlotProcessor(strict).is_valid(reply)
        assert process(schema, reply) == {"城市": "青岛"}
        assert SlotProcessor(schema).is_valid(process(schema, reply))
