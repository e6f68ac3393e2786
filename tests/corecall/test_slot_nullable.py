"""add_null_to_basic_types and process_json.

Ids like r066 are reports of real faults.
"""

from __future__ import annotations

import copy
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings

from callbench.fuzz.strategies import json_objects, json_values, object_schemas, schemas
from corecall.slot.processor import DataError, SchemaError, SlotProcessor

DATA = json_values()
OBJECT_SCHEMAS = object_schemas()
OBJECTS = json_objects()
SCHEMAS = schemas()


widen = SlotProcessor.add_null_to_basic_types
TEXT = {"type": "string"}
WIDE = {"type": ["string", "null"]}


class TestWidening:
    @pytest.mark.rule("schema.null.2", "schema.null.3")
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
            (
                {"type": "boolean", "const": True, "enum": [1]},  # true is not 1
                {"type": ["boolean", "null"], "enum": [1, None]},
            ),
            (
                {"type": "number", "const": 1, "enum": [1.0, 2]},
                {"type": ["number", "null"], "enum": [1, None]},
            ),
            ({"const": 0}, {"enum": [0, None]}),
            ({"const": None}, {"const": None}),
            ({"enum": [["a"]]}, {"enum": [["a"]]}),
            ({"enum": ["a", {}]}, {"enum": ["a", {}]}),
            ({"enum": []}, {"enum": []}),
            ({"enum": [None]}, {"enum": [None]}),
            ({"minLength": 1}, {"minLength": 1}),
            ({"type": "object", "enum": [{}]}, {"type": "object", "enum": [{}]}),
        ],
    )
    def test_a_property(self, own: Any, widened: Any) -> None:
        assert widen({"properties": {"a": own}}) == {"properties": {"a": widened}}

    @pytest.mark.rule("schema.null.4")
    @pytest.mark.parametrize(
        ("schema", "widened"),
        [
            ({"items": TEXT}, {"items": WIDE}),
            ({"items": [TEXT, True]}, {"items": [WIDE, True]}),
            ({"additionalProperties": TEXT}, {"additionalProperties": WIDE}),
            ({"additionalProperties": False}, {"additionalProperties": False}),
            ({"patternProperties": {"^a": TEXT}}, {"patternProperties": {"^a": WIDE}}),
            (
                {"properties": {"a": {"items": {"properties": {"b": TEXT}}}}},
                {"properties": {"a": {"items": {"properties": {"b": WIDE}}}}},
            ),
            (
                {"properties": {"a": {"additionalProperties": {"items": [TEXT]}}}},
                {"properties": {"a": {"additionalProperties": {"items": [WIDE]}}}},
            ),
        ],
    )
    def test_reach(self, schema: dict[str, Any], widened: dict[str, Any]) -> None:
        assert widen(schema) == widened

    @pytest.mark.rule("schema.null.4")
    @pytest.mark.parametrize("name", ["not", "if", "oneOf", "properties", "type", "enum", "$ref"])
    def test_properties_called_like_keywords(self, name: str) -> None:
        assert widen({"properties": {name: TEXT}}) == {"properties": {name: WIDE}}
        inner = {"items": {"properties": {name: TEXT}}}
        assert widen(inner) == {"items": {"properties": {name: WIDE}}}

    @pytest.mark.rule("schema.null.4")
    @pytest.mark.parametrize("inner", [TEXT, {"properties": {"x": TEXT}}])
    @pytest.mark.parametrize(
        "schema",
        [
            lambda inner: {"not": inner},
            lambda inner: {"oneOf": [inner]},
            lambda inner: {"if": inner, "then": inner, "else": inner},
            lambda inner: {"contains": inner, "propertyNames": inner},
            lambda inner: {"items": [{}], "additionalItems": inner},
            lambda inner: {"dependencies": {"a": inner}},
            lambda inner: {"default": {"properties": {"a": inner}}},
            lambda inner: {"x-mine": {"properties": {"a": inner}}},
        ],
    )
    def test_what_is_not_reached(self, schema: Any, inner: dict[str, Any]) -> None:
        assert widen(schema(inner)) == schema(inner)
        assert widen({"properties": {"a": schema(inner)}}) == {"properties": {"a": schema(inner)}}

    @pytest.mark.rule("schema.null.5")
    @pytest.mark.parametrize("keyword", ["anyOf", "allOf"])
    def test_the_root_and_its_combinations_are_looked_into(self, keyword: str) -> None:
        assert widen(TEXT) == TEXT
        schema = {
            **TEXT,
            keyword: [TEXT, {"items": TEXT}, {keyword: [{"properties": {"a": TEXT}}]}],
        }
        assert widen(schema) == {
            **TEXT,
            keyword: [TEXT, {"items": WIDE}, {keyword: [{"properties": {"a": WIDE}}]}],
        }

    @pytest.mark.rule("schema.null.6")
    @pytest.mark.parametrize("keyword", ["anyOf", "allOf"])
    def test_branches_of_a_value(self, keyword: str) -> None:
        own = {keyword: [TEXT, {"enum": ["x"]}, {"type": "array", "items": TEXT}, True]}
        wide = {
            keyword: [WIDE, {"enum": ["x", None]}, {"type": "array", "items": WIDE}, True],
        }
        assert widen({"properties": {"a": own}}) == {"properties": {"a": wide}}
        assert widen({"items": {**TEXT, keyword: [own]}}) == {"items": {**WIDE, keyword: [wide]}}
        kept = {"properties": {"a": {"oneOf": [TEXT, {"type": "integer"}]}}}
        assert widen(kept) == kept

    @pytest.mark.rule("schema.null.6", "schema.limit.6")
    @pytest.mark.parametrize("keyword", ["anyOf", "allOf"])
    def test_branches_are_gone_through_once(self, keyword: str) -> None:
        """Twice each, 48 levels would never end."""
        schema, wide = TEXT, WIDE
        for _ in range(48):
            schema = {keyword: [{"properties": {"a": schema}}]}
            wide = {keyword: [{"properties": {"a": wide}}]}
        assert widen({"properties": {"a": schema}}) == {"properties": {"a": wide}}

    @pytest.mark.rule("schema.null.7")
    def test_references_in_branches(self) -> None:
        definitions = {"k": TEXT, "via": {"$ref": "#/definitions/k"}, "o": {"type": "object"}}
        k, via, o = ({"$ref": f"#/definitions/{name}"} for name in definitions)
        null = {"type": "null"}
        schema = {
            "properties": {
                "a": {"anyOf": [k, o]},
                "b": {"anyOf": [via, null]},
                "c": {"allOf": [k]},
                "d": via,
            },
            "definitions": definitions,
        }
        assert widen(schema)["properties"] == {
            "a": {"anyOf": [{"anyOf": [k, null]}, o]},
            "b": {"anyOf": [via, null]},
            "c": {"allOf": [{"anyOf": [k, null]}]},
            "d": {"anyOf": [via, null]},
        }

    @pytest.mark.rule("schema.null.8")
    def test_a_reference_that_holds_what_another_needs(self) -> None:
        into = {"$ref": "#/properties/a/definitions/x", "definitions": {"x": TEXT}}
        schema = {"properties": {"a": into, "b": {"$ref": "#/properties/a"}}}
        widened = widen(schema)
        assert widened == {
            "properties": {
                "a": into,
                "b": {"anyOf": [{"$ref": "#/properties/a"}, {"type": "null"}]},
            }
        }
        SlotProcessor(widened)

    @pytest.mark.rule("schema.null.5", "schema.null.7")
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

    @pytest.mark.rule("schema.null.9")
    @pytest.mark.parametrize("keyword", ["oneOf", "not", "if"])
    @pytest.mark.parametrize("reference", ["#/definitions/via", "#via", "urn:via"])
    def test_a_definition_that_a_strict_keyword_uses_stays(
        self, keyword: str, reference: str
    ) -> None:
        """Widened, it would hold more often, and what was valid would not be any more."""
        user: Any = {"$ref": reference}
        schema = {
            keyword: [user] if keyword == "oneOf" else user,
            "properties": {"a": {"$ref": "#/definitions/d"}},
            "definitions": {
                "d": {"properties": {"x": TEXT}},
                "via": {"$id": "#via", "allOf": [{"$ref": "#/definitions/d"}]},
            },
        }
        if reference == "urn:via":
            schema["$id"], schema["definitions"]["via"]["$id"] = "urn:root", "urn:via"
            schema["definitions"]["via"]["allOf"][0]["$ref"] = "urn:root#/definitions/d"
        assert widen(schema) == schema

    @pytest.mark.rule("schema.null.1")
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

    @pytest.mark.rule("schema.null.1")
    @pytest.mark.trap("A17")
    def test_argument_stays_and_shares_nothing(self) -> None:
        schema = {"properties": {"a": {"type": ["string"], "enum": ["x"]}}, "required": ["a"]}
        before = copy.deepcopy(schema)
        expected = {**before, "properties": {"a": {**WIDE, "enum": ["x", None]}}}
        widened = widen(schema)
        assert widened == expected
        widened["required"].append("changed")
        widened["properties"]["a"]["enum"].append("changed")
        assert schema == before
        assert widen(schema) == expected
        assert not SlotProcessor(schema).is_valid({"a": None})

    @pytest.mark.rule("schema.null.1")
    def test_nested_too_deep(self) -> None:
        schema: dict[str, Any] = {}
        for _ in range(5_000):
            schema = {"items": schema}
        with pytest.raises(SchemaError, match="nested deeper"):
            widen(schema)

    @pytest.mark.rule("schema.null.10")
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
    @pytest.mark.rule("schema.process.3")
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
            ({"properties": {"a": WIDE}, "patternProperties": {"a": TEXT}}, {"a": None}, {}),
            ({"properties": {"a": False}}, {"a": None}, {}),
            (
                {"properties": {"a": {"$ref": "#/definitions/x"}}, "definitions": {"x": TEXT}},
                {"a": None},
                {},
            ),
            (
                {"properties": {"g": {"properties": {"n": TEXT, "m": WIDE}}}},
                {"g": {"n": None, "m": None}},
                {"g": {"m": None}},
            ),
            ({"properties": {"a": TEXT}, "required": ["a"]}, {"a": None}, {}),
            ({"properties": {"a": TEXT}}, {"a": {"b": None}}, {"a": {"b": None}}),
            ({"items": TEXT, "properties": {"l": {"items": TEXT}}}, {"l": [None]}, {"l": [None]}),
            (
                {"properties": {"l": {"items": {"properties": {"x": TEXT}}}}},
                {"l": [{"x": None}, None, {"x": "y", "z": None}]},
                {"l": [{}, None, {"x": "y", "z": None}]},
            ),
        ],
    )
    def test_members(self, schema: dict[str, Any], data: Any, expected: dict[str, Any]) -> None:
        self.assert_gives(schema, data, expected)

    def assert_gives(self, schema: dict[str, Any], data: Any, expected: dict[str, Any]) -> None:
        before = copy.deepcopy(data)
        assert process(schema, data) == expected
        assert data == before

    @pytest.mark.rule("schema.process.4")
    @pytest.mark.parametrize(
        ("schema", "data", "expected"),
        [
            ({"allOf": [{"properties": {"a": TEXT}}]}, {"a": None}, {}),
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
                        {"properties": {"g": {"properties": {"n": TEXT}}}},
                        {"type": ["array", "null"]},
                        False,
                    ]
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
                {
                    "anyOf": [
                        {"properties": {"a": TEXT}},
                        {"properties": {"a": WIDE, "k": {"const": 2}}},
                    ]
                },
                {"a": None, "k": 1},
                {"a": None, "k": 1},
            ),
            (
                {"if": {"required": ["k"]}, "then": {"properties": {"a": TEXT}}},
                {"k": 1, "a": None},
                {"k": 1},
            ),
            (
                {"if": {"required": ["a"]}, "then": {"properties": {"a": TEXT, "b": TEXT}}},
                {"b": None, "a": None},  # with its nulls "a" is there
                {},
            ),
            (
                {"dependencies": {"a": {"properties": {"b": TEXT}}}},
                {"a": None, "b": None},
                {"a": None},
            ),
            ({"not": {"properties": {"a": TEXT}}}, {"a": None}, {"a": None}),
            (
                {
                    "anyOf": [{"required": ["z"], "properties": {"a": TEXT}}]
                },  # what lacks is no fault
                {"a": None},
                {},
            ),
        ],
    )
    def test_which_schemas_hold(
        self, schema: dict[str, Any], data: Any, expected: dict[str, Any]
    ) -> None:
        self.assert_gives(schema, data, expected)

    @pytest.mark.rule("schema.process.1")
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ('{"a": null, "b": 1}', {"b": 1}),
            ("null", {}),
            (" null\n", {}),
            (" \t\r\n", {}),
            ("\ufeff", {}),
            ("", {}),
            (" {} ", {}),
            ('\ufeff{"b": 12345678901234567890123}', {"b": 12345678901234567890123}),
        ],
    )
    def test_text(self, text: str, expected: dict[str, Any]) -> None:
        """r076: null and blank text are no arguments."""
        assert process({"properties": {"a": TEXT}}, text) == expected

    @pytest.mark.rule("schema.process.1", "schema.process.2")
    def test_an_object_or_nothing(self) -> None:
        """What is no text is taken as it is."""
        given: Any
        for given in ({}, None):
            assert process({"properties": {"a": TEXT}}, given) == {}
        for given in (5, [], True, 0, False):
            with pytest.raises(DataError, match="expected an object"):
                process({}, given)

    @pytest.mark.rule("schema.process.2")
    @pytest.mark.trap("A23")
    @pytest.mark.parametrize(
        "text",
        ["[]", "5", "0", "false", '"x"', "{", "{}{}", "\u3000", '{"a": NaN}', "[" * 100_000, "x"],
    )
    def test_text_that_is_no_object(self, text: str) -> None:
        """r076: refused by name, not wrapped, never a crash."""
        with pytest.raises(DataError):
            process({}, text)

    @pytest.mark.rule("schema.process.3")
    @settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow], deadline=None)
    @given(schema=OBJECT_SCHEMAS, data=OBJECTS)
    def test_valid_data_is_left_alone(self, schema: dict[str, Any], data: dict[str, Any]) -> None:
        if SlotProcessor(schema).is_valid(data):
            assert process(schema, data) == data

    @pytest.mark.rule("schema.process.3", "schema.null.3")
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
