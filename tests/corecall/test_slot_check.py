"""check_json: verdicts and remaining schemas (DESIGN 3.4; TRAPS A13, A16-A20, A31, A32, D20).

Ids like r134 are reports of real faults. Verdicts come from the Draft 7 suite where it is at hand,
from the reports, and from ``jsonschema`` as the oracle.
"""

from __future__ import annotations

import copy
import json
import os
import pickle
from collections import OrderedDict
from enum import IntEnum
from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from corecall import pointer
from corecall.slot.compiled import compile_schema
from corecall.slot.processor import DataError, SchemaError, SlotProcessor

from .slot_strategies import DATA, OBJECT_SCHEMAS, SCHEMAS

SHARED = Path(
    os.environ.get("CALLBENCH_SHARED_DATA", Path(__file__).parents[3] / "shared" / "data")
)
SUITE = sorted((SHARED / "json-schema-test-suite" / "draft7").glob("*.json"))


def check(schema: dict[str, Any], data: Any) -> dict[str, Any]:
    """Check, after asserting what holds for every result."""
    processor = SlotProcessor(schema)
    remaining = processor.check_json(data)
    assert (remaining == {}) is processor.is_valid(data)
    if remaining:
        assert_stands_alone(remaining)
    return remaining


def assert_stands_alone(remaining: dict[str, Any]) -> None:
    """Valid Draft 7 for both engines and for us, each pointer once, none beneath another."""
    jsonschema.Draft7Validator.check_schema(remaining)
    jsonschema_rs.Draft7Validator(remaining, offline=True)
    SlotProcessor(remaining)
    assert set(remaining) <= {"type", "properties", "required", "definitions"}
    assert list(remaining["properties"]) == remaining["required"]
    places = {pointer.split(place) for place in remaining["required"]}
    assert len(places) == len(remaining["required"])
    for place in places:
        assert not any(place[:end] in places for end in range(len(place)))


def pointers(schema: dict[str, Any], data: Any) -> list[str]:
    found: list[str] = check(schema, data).get("required", [])
    return found


def asked(schema: dict[str, Any], data: Any) -> dict[str, Any]:
    found: dict[str, Any] = check(schema, data).get("properties", {})
    return found


class TestVerdicts:
    @pytest.mark.skipif(not SUITE, reason="the Draft 7 suite is not at hand")
    @pytest.mark.parametrize("path", SUITE, ids=[path.stem for path in SUITE])
    def test_draft7_suite(self, path: Path) -> None:
        """Every test of the suite that needs no network and has an object as schema."""
        for group in json.loads(path.read_text(encoding="utf-8")):
            if isinstance(group["schema"], bool):
                continue
            if path.stem == "refRemote" and "http://localhost:1234/" in resolved(group["schema"]):
                continue
            for case in group["tests"]:
                found = check(group["schema"], case["data"])
                assert (found == {}) is case["valid"], (group["description"], case["description"])

    @pytest.mark.parametrize(
        ("schema", "data", "valid"),
        [
            ({"multipleOf": 0.001}, 5.1, True),  # r134
            ({"properties": {"单价": {"multipleOf": 0.1}}}, {"单价": 92.6}, True),  # r135
            ({"multipleOf": 0.1}, 1.1, True),  # r136
            ({"multipleOf": 0.1}, 10.1, True),  # r136
            ({"multipleOf": 0.1}, 0.3, True),
            ({"multipleOf": 0.1}, 0.35, False),
            ({"multipleOf": 1}, 1e21, True),  # r137
            ({"multipleOf": 3}, 10**40 + 2, True),
            ({"multipleOf": 3}, 10**40, False),
            ({"type": "integer"}, 1e21, True),
            ({"type": "integer"}, 1.0, True),
            ({"type": "integer"}, 1.5, False),
            ({"type": "integer"}, True, False),
            ({"type": "number"}, True, False),
            ({"type": "number"}, 10**40, True),
            ({"type": "boolean"}, 1, False),
            ({"type": ["boolean", "null"]}, 0, False),
            ({"type": ["null", "boolean"]}, False, True),
            ({"const": 1}, True, False),
            ({"const": 1}, 1.0, True),
            ({"enum": [{"a": 1}]}, {"a": 1.0}, True),
            ({"enum": [[False]]}, [0], False),
            ({"const": 2**53}, 2**53 + 1, False),
            ({"maximum": 2.0**53}, 2**53 + 1, False),
            ({"uniqueItems": True}, [1, True], True),
            ({"uniqueItems": True}, [1, 1.0], False),
            ({"minLength": 2}, "😀", False),
            ({"pattern": "^a$"}, "a\n", False),
            ({"pattern": r"^\d$"}, "１", False),
            ({"pattern": r"^\b"}, "é", False),
            ({"patternProperties": {r"^\d$": False}}, {"１": 0}, True),
            ({"format": "date"}, "2031-4-5", True),  # r143: format is not asserted
            ({"format": "date-time"}, "下周三", True),  # r145
            ({"oneOf": [{"format": "date"}, {"format": "date-time"}]}, "2031-02-23", False),  # r146
            (
                {"$schema": "https://json-schema.org/draft/2020-12/schema", "prefixItems": [False]},
                [1],
                True,
            ),
            ({"$ref": "#/definitions/a", "type": "null", "definitions": {"a": {}}}, 1, True),
            ({"enum": [{"$ref": "#/nowhere"}]}, {"$ref": "#/nowhere"}, True),
            ({"properties": {"$ref": {"type": "string"}}}, {"$ref": 1}, False),
            ({}, None, True),
        ],
    )
    def test_hand_picked(self, schema: dict[str, Any], data: Any, valid: bool) -> None:
        assert (check(schema, data) == {}) is valid

    @settings(max_examples=250, suppress_health_check=[HealthCheck.too_slow], deadline=None)
    @given(schema=SCHEMAS, data=DATA)
    @example({"not": {"anyOf": [True, {"type": "null"}]}, "definitions": {}}, 0)
    @example({"if": {"minProperties": 1}, "else": False, "definitions": {}}, {})
    def test_agrees_with_the_oracle(self, schema: dict[str, Any], data: Any) -> None:
        before = copy.deepcopy((schema, data))
        valid = jsonschema.Draft7Validator(schema).is_valid(data)
        assert (check(schema, data) == {}) is valid
        assert (schema, data) == before

    def test_tuples_and_subclasses_count_as_what_they_are(self) -> None:
        class Text(str):
            __slots__ = ()

        class Number(float):
            __slots__ = ()

        class Level(IntEnum):
            LOW = 1

        assert pointers({"items": {"type": "integer"}}, (1, "a")) == ["/1"]
        assert pointers({"properties": {"a": {"const": "x"}}}, {Text("a"): Text("x")}) == []
        data = OrderedDict(a=Level.LOW, b=Number(1.5), c=(True, None), d={Text("x"): {}})
        assert (
            pointers({"const": {"a": 1, "b": 1.5, "c": [True, None], "d": {"x": {}}}}, data) == []
        )

    @pytest.mark.parametrize(
        ("data", "valid"),
        [({"a": 1}, True), ({"a": "x"}, False), ({"a/b": "x"}, False), ({"a/b": 0}, False)],
    )
    def test_two_spellings_of_one_pattern(self, data: dict[str, Any], valid: bool) -> None:
        keyed = {
            "^a": {"type": "integer"},
            r"^\a": {},
            r"a\/b": {"minimum": 1},
            "a/b": {"type": "integer"},
        }
        assert (check({"patternProperties": keyed}, data) == {}) is valid


def resolved(schema: dict[str, Any]) -> str:
    """Return the references of a suite schema as text, relative ones made absolute."""
    text = json.dumps(schema)
    if '"$id"' in text or '".json' in text:
        return "http://localhost:1234/" + text
    return text


class TestPlaces:
    """One test a row of the table in DESIGN 3.4."""

    def test_valid(self) -> None:
        assert check({"required": ["a"]}, {"a": 0}) == {}

    def test_the_whole_form(self) -> None:
        schema = {
            "properties": {
                "city": {"type": "string", "description": "where", "default": "杭州"},
                "days": {"type": "integer"},
            },
            "required": ["days", "city"],
        }
        assert check(schema, {}) == {
            "type": "object",
            "properties": {
                "/city": {"type": "string", "description": "where", "default": "杭州"},
                "/days": {"type": "integer"},
            },
            "required": ["/city", "/days"],
        }

    @pytest.mark.parametrize(
        ("schema", "expected"),
        [
            ({"properties": {"a": {"type": "string"}}}, {"type": "string"}),
            ({"patternProperties": {"^a": {"minLength": 1}}}, {"minLength": 1}),
            ({"additionalProperties": {"type": "integer"}}, {"type": "integer"}),
            ({"additionalProperties": True}, {}),
            ({"properties": {"a": True}}, {}),
            ({}, {}),
            (
                {
                    "properties": {"a": {"type": "string"}},
                    "patternProperties": {"a": {"minLength": 1}},
                },
                {"allOf": [{"type": "string"}, {"minLength": 1}]},
            ),
            (
                {
                    "allOf": [{"properties": {"a": {"minimum": 1}}}],
                    "properties": {"a": {"type": "integer"}},
                },
                {"allOf": [{"type": "integer"}, {"minimum": 1}]},
            ),
            ({"properties": {"a": False}}, {"not": {}}),
            ({"properties": {"b": {}}, "additionalProperties": False}, {"not": {}}),
        ],
    )
    def test_missing_property(self, schema: dict[str, Any], expected: dict[str, Any]) -> None:
        """Its own schema: declared, by pattern, by additionalProperties, else ``{}``."""
        assert asked({**schema, "required": ["a"]}, {}) == {"/a": expected}

    @pytest.mark.parametrize(
        "schema",
        [
            {"allOf": [{"required": ["a"]}]},
            {"if": {"required": ["k"]}, "then": {"required": ["a"]}},
            {"if": {"required": ["z"]}, "else": {"required": ["a"]}},
            {"dependencies": {"k": ["a"]}},
            {"dependencies": {"k": {"required": ["a"]}}},
            {"$ref": "#/definitions/d", "definitions": {"d": {"required": ["a"]}}},
            {"allOf": [{"if": True, "then": {"allOf": [{"required": ["a"]}]}}]},
        ],
    )
    def test_required_elsewhere(self, schema: dict[str, Any]) -> None:
        declared: dict[str, Any] = {"allOf": [{"properties": {"a": {"type": "string"}}}, schema]}
        if "$ref" in schema:
            declared["definitions"] = schema.pop("definitions")
        assert asked(declared, {"k": 1}) == {"/a": {"type": "string"}}

    def test_else_does_not_apply_when_if_holds(self) -> None:
        schema = {"if": {"required": ["k"]}, "then": {}, "else": {"required": ["a"]}}
        assert pointers(schema, {"k": 1}) == []
        assert pointers({"then": {"required": ["a"]}, "else": {"required": ["b"]}}, {}) == []

    def test_dependency_on_an_absent_property_does_not_apply(self) -> None:
        assert pointers({"dependencies": {"k": ["a"], "l": {"required": ["b"]}}}, {}) == []

    def test_dependency_inside_if_is_not_required(self) -> None:
        schema = {"if": {"required": ["a"]}, "then": {"required": ["b"]}}
        assert pointers(schema, {}) == []

    @pytest.mark.parametrize(
        ("own", "value"),
        [
            ({"type": "string"}, 1),
            ({"enum": ["x"]}, "y"),
            ({"const": 1}, 2),
            ({"pattern": "^a"}, "b"),
            ({"minimum": 1}, 0),
            ({"exclusiveMaximum": 1}, 1),
            ({"multipleOf": 2}, 3),
            ({"maxLength": 1}, "ab"),
            ({"minItems": 1}, []),
            ({"maxItems": 1}, [1, 2]),
            ({"uniqueItems": True}, [1, 1]),
            ({"items": [True], "additionalItems": False}, [1, 2]),
            ({"items": False}, [1]),
            ({"items": [False]}, [1]),
            ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 1),
            ({"oneOf": [{}, {"type": "integer"}]}, 1),
            ({"not": {"type": "integer"}}, 1),
            ({"minProperties": 1}, {}),
            ({"maxProperties": 0}, {"x": 1}),
            ({"propertyNames": {"maxLength": 1}}, {"xx": 1}),
            ({"contains": {"type": "integer"}}, ["x"]),
        ],
    )
    def test_fault_at_a_node(self, own: dict[str, Any], value: Any) -> None:
        """That node, with its whole schema."""
        schema = {"properties": {"a": {"description": "d", **own}}}
        assert asked(schema, {"a": value}) == {"/a": {"description": "d", **own}}

    def test_all_schemas_of_a_broken_node(self) -> None:
        schema = {
            "properties": {"a": {"type": "integer"}},
            "allOf": [{"properties": {"a": {"minimum": 3}}}],
            "additionalProperties": {"maximum": 0},
        }
        assert asked(schema, {"a": 2}) == {"/a": {"allOf": [{"type": "integer"}, {"minimum": 3}]}}

    def test_array_items(self) -> None:
        item = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
        schema = {"properties": {"l": {"type": "array", "items": item}}}
        assert asked(schema, {"l": [{"x": 1}, 5, {}]}) == {
            "/l/1": item,
            "/l/2/x": {"type": "integer"},
        }

    def test_tuple_items(self) -> None:
        schema = {"items": [{"type": "integer"}, {}], "additionalItems": {"type": "string"}}
        assert asked(schema, ["x", None, 1]) == {
            "/0": {"type": "integer"},
            "/2": {"type": "string"},
        }

    @pytest.mark.parametrize(
        "schema",
        [
            {"properties": {"a": {}}, "additionalProperties": False},
            {"properties": {"b": False}},
            {"properties": {"b": {"not": {}}}},
            {"properties": {"b": {"$ref": "#/definitions/no"}}, "definitions": {"no": False}},
            {"properties": {"b": {"allOf": [False]}}},
            {"patternProperties": {"b": False}},
            {"allOf": [{"properties": {"b": False}}]},
        ],
    )
    def test_forbidden_key(self, schema: dict[str, Any]) -> None:
        assert pointers(schema, {"a": 1, "b": 1}) == ["/b"]
        if "allOf" not in str(schema.get("properties")):
            assert asked(schema, {"a": 1, "b": 1}) == {"/b": {"not": {}}}

    def test_optional_parent_that_is_absent(self) -> None:
        """Required properties under it are not missing."""
        schema = {"properties": {"a": {"properties": {"b": {}}, "required": ["b"]}}}
        assert check(schema, {}) == {}
        assert pointers(schema, {"a": {}}) == ["/a/b"]

    def test_root(self) -> None:
        schema = {"anyOf": [{"required": ["a"]}, {"required": ["b"]}], "title": "T"}
        assert asked(schema, {}) == {"": schema}
        assert asked({"type": "object"}, 5) == {"": {"type": "object"}}
        assert pointers({"not": {}}, {}) == [""]
        assert pointers({"allOf": [False]}, {}) == [""]

    def test_a_broken_node_hides_what_is_beneath(self) -> None:
        schema = {"minProperties": 2, "required": ["a"], "properties": {"b": {"type": "string"}}}
        assert pointers(schema, {"b": 1}) == [""]

    def test_document_order(self) -> None:
        """Declared members as the schema has them, others as the data has them, then the rest."""
        schema = {
            "properties": {"z": {"type": "string"}, "m": {"required": ["k"]}, "a": {}},
            "additionalProperties": {"type": "string"},
            "required": ["y", "a", "z"],
        }
        data = {"u": 1, "m": {}, "t": 2}
        assert pointers(schema, data) == ["/z", "/m/k", "/a", "/u", "/t", "/y"]


class TestTraps:
    def test_known_parent_with_missing_child_is_still_missing(self) -> None:
        """A13, r140."""
        schema = {
            "properties": {
                "订单": {"properties": {"地址": {"type": "string"}}, "required": ["地址"]}
            },
            "required": ["订单"],
        }
        assert asked(schema, {"订单": {}}) == {"/订单/地址": {"type": "string"}}

    def test_two_faults_at_one_node_list_it_once(self) -> None:
        """A16."""
        own = {"type": "string", "enum": ["x"], "minLength": 9}
        assert pointers({"properties": {"a": own}}, {"a": 1}) == ["/a"]
        required = {"required": ["a"]}
        assert pointers({**required, "allOf": [required, required]}, {}) == ["/a"]

    def test_nothing_is_written_into_schema_or_data(self) -> None:
        """A17: defaults least of all."""
        schema = {"properties": {"n": {"type": "integer", "default": 3}}, "required": ["n"]}
        data: dict[str, Any] = {}
        before = copy.deepcopy(schema)
        remaining = SlotProcessor(schema).check_json(data)
        remaining["properties"]["/n"]["type"] = "changed"
        assert (schema, data) == (before, {})
        assert asked(schema, {}) == {"/n": {"type": "integer", "default": 3}}

    @pytest.mark.parametrize("name", ["child's_name", 'I\'m "here"', "it's' required property"])
    def test_names_are_taken_from_the_data(self, name: str) -> None:
        """A18, r172."""
        assert pointers({"required": [name]}, {}) == [pointer.join((name,))]

    @pytest.mark.parametrize(
        ("name", "place"),
        [("a/b", "/a~1b"), ("m~n", "/m~0n"), ("", "/"), ("用户/名", "/用户~1名"), ("~1", "/~01")],
    )
    def test_pointers_are_rfc_6901(self, name: str, place: str) -> None:
        """A19, r170."""
        assert pointers({"required": [name]}, {}) == [place]
        assert pointers({"properties": {name: {"type": "integer"}}}, {name: "x"}) == [place]

    def test_success_exactly_when_the_schema_holds(self) -> None:
        """A31: r072."""
        schema = {
            "properties": {name: {"type": "string"} for name in "abc"},
            "required": ["a", "b", "c"],
        }
        assert pointers(schema, {}) == ["/a", "/b", "/c"]
        assert check(schema, {"a": "", "b": "", "c": ""}) == {}

    def test_optional_may_be_left_out(self) -> None:
        """A32: r071."""
        schema = {
            "properties": {"城市": {"type": "string"}, "备注": {"type": "string"}},
            "required": ["城市"],
        }
        assert check(schema, {"城市": "青岛"}) == {}

    def test_empty_text_is_not_absent(self) -> None:
        """r069."""
        schema = {"properties": {"空间": {}, "标签": {"pattern": "^[a-z]+$"}}, "required": ["空间"]}
        assert pointers(schema, {"空间": "默认", "标签": ""}) == ["/标签"]

    def test_falsy_values_are_given(self) -> None:
        """r073, r078."""
        schema = {"required": ["开关", "次数", "备注", "空", "表"]}
        assert check(schema, {"开关": False, "次数": 0, "备注": "", "空": None, "表": []}) == {}

    def test_null_is_a_value(self) -> None:
        """r066."""
        schema = {"properties": {"t": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}
        assert check(schema, {"t": None}) == {}


class TestReferences:
    """A20: a remaining schema stands alone."""

    @pytest.mark.parametrize(
        ("schema", "definition"),
        [
            ({"$ref": "#/definitions/x"}, {"definitions": {"x": {"type": "integer"}}}),
            ({"$ref": "#/$defs/x"}, {"$defs": {"x": {"type": "integer"}}}),
            (
                {"$ref": "#/definitions/%E6%94%B6%E8%B4%A7%20%E5%9C%B0%E5%9D%80"},  # r167
                {"definitions": {"收货 地址": {"type": "integer"}}},
            ),
            (
                {"$ref": "#/definitions/收货 地址"},
                {"definitions": {"收货 地址": {"type": "integer"}}},
            ),
            (
                {"$ref": "#/definitions/~1api~1{k}"},  # r169
                {"definitions": {"/api/{k}": {"type": "integer"}}},
            ),
            ({"$ref": "#/definitions/a%25b"}, {"definitions": {"a%b": {"type": "integer"}}}),
            ({"$ref": "#/definitions/m~0n"}, {"definitions": {"m~n": {"type": "integer"}}}),
            ({"$ref": "#named"}, {"definitions": {"x": {"$id": "#named", "type": "integer"}}}),
            (
                {"$ref": "item.json"},
                {
                    "$id": "http://a.test/root.json",
                    "definitions": {"x": {"$id": "item.json", "type": "integer"}},
                },
            ),
            (
                {"$ref": "urn:x:item#/definitions/y"},
                {
                    "definitions": {
                        "x": {"$id": "urn:x:item", "definitions": {"y": {"type": "integer"}}}
                    }
                },
            ),
            ({"$ref": "#/x-shared/list/0"}, {"x-shared": {"list": [{"type": "integer"}]}}),
            ({"$ref": "#/properties/b"}, {}),
        ],
    )
    def test_every_kind_of_local_reference(
        self, schema: dict[str, Any], definition: dict[str, Any]
    ) -> None:
        whole = {
            "properties": {"a": schema, "b": {"type": "integer"}},
            "required": ["a"],
            **definition,
        }
        remaining = check(whole, {})
        assert remaining["required"] == ["/a"]
        assert list(remaining["definitions"].values()) == [{"type": "integer"}]
        answers = SlotProcessor(remaining)
        assert answers.is_valid({"/a": 1})
        assert not answers.is_valid({"/a": "x"})
        assert not answers.is_valid({})
        assert pointers(whole, {"a": "x"}) == ["/a"]
        assert pointers(whole, {"a": 3}) == []

    def test_recursive_definitions(self) -> None:
        tree = {
            "type": "object",
            "properties": {"l": {"$ref": "#/definitions/t"}, "v": {"type": "integer"}},
            "required": ["v"],
        }
        schema = {"definitions": {"t": tree}, "properties": {"root": {"$ref": "#/definitions/t"}}}
        assert asked(schema, {"root": {"l": {"l": {}}, "v": 1}}) == {
            "/root/l/l/v": {"type": "integer"},
            "/root/l/v": {"type": "integer"},
        }
        remaining = check({**schema, "required": ["root"]}, {})
        assert remaining["definitions"] == {"t": tree}

    def test_reference_to_the_root(self) -> None:
        schema = {
            "title": "node",
            "properties": {"next": {"$ref": "#"}, "v": {"type": "integer"}},
            "required": ["next"],
        }
        remaining = check(schema, {})
        assert remaining["properties"] == {"/next": {"$ref": "#/definitions/root"}}
        assert remaining["definitions"]["root"] == {
            "title": "node",
            "properties": {"next": {"$ref": "#/definitions/root"}, "v": {"type": "integer"}},
            "required": ["next"],
        }

    def test_equal_names_from_two_places_stay_apart(self) -> None:
        schema = {
            "properties": {"a": {"$ref": "#/definitions/x"}, "b": {"$ref": "#/$defs/x"}},
            "required": ["a", "b"],
            "definitions": {"x": {"type": "integer"}},
            "$defs": {"x": {"type": "string"}},
        }
        answers = SlotProcessor(check(schema, {}))
        assert answers.is_valid({"/a": 1, "/b": "x"})
        assert not answers.is_valid({"/a": 1, "/b": 1})
        assert not answers.is_valid({"/a": "x", "/b": "x"})

    def test_description_beside_a_reference_is_kept(self) -> None:
        schema = {
            "properties": {"a": {"$ref": "#/definitions/x", "description": "d"}},
            "required": ["a"],
            "definitions": {"x": {}},
        }
        assert asked(schema, {}) == {"/a": {"$ref": "#/definitions/x", "description": "d"}}

    def test_only_what_is_used_comes_along(self) -> None:
        schema = {"required": ["a"], "definitions": {"x": {}}, "$id": "http://a.test/s.json"}
        assert set(check(schema, {})) == {"type", "properties", "required"}
        assert asked({**schema, "minProperties": 1}, {}) == {
            "": {"required": ["a"], "minProperties": 1}
        }

    def test_the_metaschema_is_at_hand(self) -> None:
        schema = {"properties": {"s": {"$ref": "http://json-schema.org/draft-07/schema#"}}}
        assert check(schema, {"s": {"type": "string"}}) == {}
        assert pointers(schema, {"s": {"type": "strin"}}) == ["/s/type"]
        assert pointers({**schema, "required": ["s"]}, {}) == ["/s"]

    @settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow], deadline=None)
    @given(schema=OBJECT_SCHEMAS, data=DATA, value=DATA)
    def test_a_place_asks_for_what_the_schema_asks_there(
        self, schema: dict[str, Any], data: Any, value: Any
    ) -> None:
        """Whatever the remaining schema of a place refuses, the whole schema refuses there too."""
        remaining = check(schema, data)
        for place in remaining.get("required", []):
            alone = {
                **remaining["properties"][place],
                "definitions": remaining.get("definitions", {}),
            }
            tokens = pointer.split(place)
            if not SlotProcessor(alone).is_valid(value):
                assert check(schema, put(data, tokens, value)) != {}


def put(data: Any, tokens: tuple[str, ...], value: Any) -> Any:
    if not tokens:
        return value
    changed = copy.deepcopy(data)
    parent = pointer.get(changed, pointer.join(tokens[:-1]))
    parent[int(tokens[-1]) if isinstance(parent, list) else tokens[-1]] = value
    return changed


class TestSchemaErrors:
    @pytest.mark.parametrize(
        ("schema", "place", "reason"),
        [
            ({"properties": {"a": {"type": "strin"}}}, "/properties/a/type", "strin"),
            ({"properties": {"a/b": {"minLength": -1}}}, "/properties/a~1b/minLength", "-1"),
            ({"items": {"pattern": "("}}, "/items/pattern", "ECMA-262"),
            ({"patternProperties": {"a(": {}}}, "/patternProperties/a(", "ECMA-262"),
            ({"required": "a"}, "/required", "array"),
            ({"allOf": []}, "/allOf", "1 item"),
            ({"items": {"$ref": "#/definitions/x"}}, "/items/$ref", "nothing"),
            ({"items": {"$ref": "#/allOf/1"}, "allOf": [{}]}, "/items/$ref", "nothing"),
            ({"items": {"$ref": "#name"}}, "/items/$ref", "#name"),
            ({"x": 5, "items": {"$ref": "#/x"}}, "/items/$ref", "not point at a schema"),
            ({"items": {"$ref": "http://a.test/x.json"}}, "/items/$ref", "outside"),
            ({"items": {"$ref": "file:///etc/hosts"}}, "/items/$ref", "outside"),
            ({"items": {"$ref": "other.json#/a"}}, "/items/$ref", "outside"),
            ({"items": {"$ref": "http://[/"}}, "/items/$ref", "outside"),
            ({"$id": "http://a.test/", "items": {"$ref": "//[/"}}, "/items/$ref", "outside"),
            ({"const": float("nan")}, "/const", "not JSON"),
            ({"enum": [float("inf")]}, "/enum/0", "not JSON"),
            ({"default": {1: 2}}, "/default", "not a string"),
            ({"default": b"x"}, "/default", "bytes"),
            ({"$ref": "#"}, "", "itself"),
            (
                {"properties": {"x": {"allOf": [{"$ref": "#/properties/x"}]}}},
                "/properties/x",
                "itself",
            ),
            (
                {
                    "definitions": {
                        "l": {"properties": {"a": {"$ref": "#/definitions/l"}}, "type": "x"}
                    }
                },
                "/definitions/l/type",
                "x",
            ),
        ],
    )
    def test_named_with_its_place(self, schema: dict[str, Any], place: str, reason: str) -> None:
        with pytest.raises(SchemaError) as caught:
            SlotProcessor(schema)
        assert caught.value.pointer == place
        assert reason in caught.value.reason
        assert isinstance(caught.value, ValueError)
        assert place in str(caught.value)

    @pytest.mark.parametrize("schema", [True, [], None, "{}"])
    def test_a_schema_is_an_object(self, schema: Any) -> None:
        with pytest.raises(SchemaError, match="a schema is an object"):
            SlotProcessor(schema)

    def test_a_fault_where_paths_multiply(self) -> None:
        """The engine with memory checks the shape as the fast one does."""
        twice = {"allOf": [{"$ref": "#/definitions/n"}, {"$ref": "#/definitions/n"}]}
        schema = {"definitions": {"n": {"properties": {"a": twice}}}, "minimum": "x"}
        with pytest.raises(SchemaError) as caught:
            SlotProcessor(schema)
        assert caught.value.pointer == "/minimum"

    def test_order_of_keys_is_part_of_the_schema(self) -> None:
        """Equal dicts with another order must not share a cached form."""
        one = {"properties": {"a": {}, "b": {}}, "required": ["b", "a"]}
        two = {"properties": {"b": {}, "a": {}}, "required": ["b", "a"]}
        assert pointers(one, {}) == ["/a", "/b"]
        assert pointers(two, {}) == ["/b", "/a"]
        assert pointers({"const": 1}, True) == [""]
        assert pointers({"const": True}, True) == []

    def test_a_schema_changed_afterwards_is_another_schema(self) -> None:
        schema: dict[str, Any] = {"required": ["a"]}
        processor = SlotProcessor(schema)
        schema["required"].append("b")
        assert processor.check_json({})["required"] == ["/a"]
        assert SlotProcessor(schema).check_json({})["required"] == ["/a", "/b"]


R = {"$ref": "#"}


def nested(depth: int, wrap: Any, core: Any) -> Any:
    value = core
    for _ in range(depth):
        value = wrap(value)
    return value


@pytest.mark.parametrize("kind", [DataError, SchemaError])
def test_the_errors_survive_the_way_to_another_process(
    kind: type[DataError] | type[SchemaError],
) -> None:
    back = pickle.loads(pickle.dumps(kind("/a", "is wrong")))
    assert type(back) is kind
    assert (str(back), back.pointer, back.reason) == ("/a: is wrong", "/a", "is wrong")


class TestHostile:
    """D20: bounded in time and depth."""

    @pytest.mark.parametrize("wrap", [lambda inner: [inner], lambda inner: {"a": inner}])
    def test_depth_of_data(self, wrap: Any) -> None:
        processor = SlotProcessor({})
        assert processor.check_json(nested(100, wrap, 0)) == {}
        for depth in (101, 5_000):
            with pytest.raises(DataError, match="nested deeper than 100"):
                processor.check_json(nested(depth, wrap, 0))

    @pytest.mark.parametrize(
        "wrap",
        [
            lambda inner: {"items": inner},
            lambda inner: {"properties": {"a": inner}, "required": ["a"]},
            lambda inner: {"anyOf": [inner]},
            lambda inner: {"allOf": [{"type": "object"}, inner]},
            lambda inner: {"not": inner},
        ],
    )
    def test_depth_of_schema(self, wrap: Any) -> None:
        SlotProcessor(nested(99, wrap, {"type": "integer"})).check_json({"x": 1})
        for depth in (100, 5_000):
            with pytest.raises(SchemaError, match="nested deeper than"):
                SlotProcessor(nested(depth, wrap, {"type": "integer"}))

    def test_recursion_through_data_of_full_depth(self) -> None:
        schema = {"properties": {"a": {"$ref": "#"}}, "additionalProperties": False}
        data = nested(99, lambda inner: {"a": inner}, {"b": 1})
        assert pointers(schema, data) == ["/a" * 99 + "/b"]

    def test_paths_that_double_at_one_place(self) -> None:
        """2 to the power of 60 paths."""
        definitions: dict[str, Any] = {
            f"d{n}": {
                "allOf": [{"$ref": f"#/definitions/d{n + 1}"}, {"$ref": f"#/definitions/d{n + 1}"}]
            }
            for n in range(60)
        }
        schema = {
            "definitions": {**definitions, "d60": {"type": "integer"}},
            "$ref": "#/definitions/d0",
        }
        assert check(schema, 1) == {}
        assert pointers(schema, "x") == [""]

    @pytest.mark.parametrize("keyword", ["anyOf", "oneOf", "allOf"])
    def test_paths_that_double_on_the_way_down(self, keyword: str) -> None:
        def branch(kind: str) -> dict[str, Any]:
            below = {"k": {"const": kind}, "l": {"$ref": "#/definitions/e"}}
            return {"type": "object", "properties": below, "required": ["k"]}

        branches = [{"type": "integer"}, branch("add"), branch("mul")]
        if keyword == "allOf":
            branches = [{"properties": {"l": {"$ref": "#/definitions/e"}}}] * 2
        schema = {"definitions": {"e": {keyword: branches}}, "$ref": "#/definitions/e"}
        data = nested(95, lambda inner: {"k": "mul", "l": inner}, 1)
        assert check(schema, data) == {}

    @pytest.mark.parametrize(
        "keyword", ["if", "not", "contains", "propertyNames", "patternProperties"]
    )
    def test_recursion_through_every_keyword(self, keyword: str) -> None:
        loop: Any = {"properties": {"a": {"$ref": "#/definitions/n"}}}
        node: dict[str, Any] = {**loop, keyword: loop}
        if keyword == "if":
            node["then"] = loop
        if keyword == "patternProperties":
            node[keyword] = {"^a": {"$ref": "#/definitions/n"}, "b": {"$ref": "#/definitions/n"}}
        schema = {"definitions": {"n": node}, "$ref": "#/definitions/n"}
        data = nested(99, lambda inner: {"a": inner}, {})
        expected = jsonschema.Draft7Validator(schema).is_valid({"a": {"a": {}}})
        assert (check(schema, {"a": {"a": {}}}) == {}) is expected
        check(schema, data)

    def test_recursion_that_does_not_double_keeps_the_fast_engine(self) -> None:
        node: dict[str, Any] = {
            "properties": {"l": {"$ref": "#"}, "r": {"$ref": "#"}},
            "patternProperties": {"^x": {"$ref": "#"}},
            "additionalProperties": {"anyOf": [{"$ref": "#"}, {"items": {"$ref": "#"}}]},
        }
        for keyword in ("properties", "patternProperties", "additionalProperties"):
            assert compile_schema({keyword: node[keyword]}).engine is not None
        del node["properties"]
        assert compile_schema(node).engine is not None

    @pytest.mark.parametrize(
        ("schema", "multiplies"),
        [
            ({"anyOf": [{"properties": {"a": R}}, {"properties": {"a": R}}]}, True),
            ({"anyOf": [{"properties": {"a": R}}, {"properties": {"b": R}}]}, False),
            ({"anyOf": [{"properties": {"a": R}}, {"properties": {"a": {}}}]}, False),
            ({"properties": {"a": R}, "not": {"properties": {"a": R}}}, True),
            ({"items": R, "allOf": [{"items": R}]}, True),
            ({"items": R, "allOf": [{"properties": {"a": R}}]}, False),
            ({"items": [R, {}, R]}, True),  # errs on the side of yes
            ({"items": R, "contains": R}, True),
            ({"anyOf": [{"additionalProperties": R}, {"properties": {"a": R}}]}, True),
            ({"anyOf": [{"properties": {"a": R}}, {"additionalProperties": R}]}, True),
            ({"anyOf": [{"additionalProperties": R}, {"items": R}]}, False),
            ({"patternProperties": {"a": R, "b": R}}, True),
            ({"patternProperties": {"a": R}, "properties": {"b": R}}, True),
            ({"patternProperties": {"a": R}, "properties": {"b": {}}}, False),
            ({"patternProperties": {"a": R}, "additionalProperties": R}, False),
        ],
    )
    def test_which_recursion_multiplies(self, schema: dict[str, Any], multiplies: bool) -> None:
        """Two ways down to one part of the value, both back into the recursion."""
        assert (compile_schema(schema).engine is None) is multiplies

    def test_long_chain_of_references(self) -> None:
        definitions: dict[str, Any] = {
            f"d{n}": {"$ref": f"#/definitions/d{n + 1}"} for n in range(3_000)
        }
        schema = {
            "definitions": {**definitions, "d3000": {"type": "integer"}},
            "$ref": "#/definitions/d0",
        }
        assert SlotProcessor(schema).check_json(1) == {}
        assert not SlotProcessor(schema).is_valid("x")

    def test_ten_thousand_properties(self) -> None:
        names = [f"p{n}" for n in range(10_000)]
        schema = {
            "properties": {name: {"type": "string"} for name in names},
            "required": names,
            "additionalProperties": False,
        }
        assert SlotProcessor(schema).check_json({})["required"] == [f"/{name}" for name in names]
        assert SlotProcessor(schema).check_json(dict.fromkeys(names, "x")) == {}

    @pytest.mark.parametrize("pattern", ["^(a+)+$", r"(a+)+\1$", r"^(([a-z])+.)+[A-Z]([a-z])+$"])
    def test_catastrophic_patterns(self, pattern: str) -> None:
        text = "a" * 50_000 + "!"
        assert pointers({"properties": {"a": {"pattern": pattern}}}, {"a": text}) == ["/a"]
        assert pointers({"patternProperties": {pattern: False}}, {text: 1}) == []

    def test_pattern_that_is_given_up_on_counts_as_not_found(self) -> None:
        text = "a" * 2_000 + "!"
        assert pointers({"pattern": r"(a+)+\1$"}, text) == [""]
        assert pointers({"not": {"pattern": r"(a+)+\1$"}}, text) == []
        assert SlotProcessor({"not": {"pattern": r"(a+)+\1$"}}).is_valid(text)

    def test_megabytes_of_text(self) -> None:
        schema = {
            "properties": {"a": {"pattern": "^x*$", "maxLength": 2_000_000}},
            "required": ["b"],
        }
        assert pointers(schema, {"a": "x" * 2_000_000}) == ["/b"]
        assert pointers(schema, {"a": "x" * 2_000_001, "b": 1}) == ["/a"]

    def test_lone_surrogates(self) -> None:
        schema: dict[str, Any] = {
            "properties": {
                "\ud800": {"const": "\udfff", "pattern": "^\\udfff$"},
                "b": {"maxLength": 1},
            },
            "required": ["\ud800"],
        }
        processor = SlotProcessor(schema)
        assert processor.check_json({"\ud800": "\udfff", "b": "\ud800"}) == {}
        assert processor.check_json({"\ud800": "\udffe", "b": "\ud800x"})["required"] == [
            "/\ud800",
            "/b",
        ]
        assert processor.check_json({})["properties"] == {"/\ud800": schema["properties"]["\ud800"]}

    def test_lone_surrogates_in_data_alone(self) -> None:
        schema = {
            "properties": {"a": {"enum": ["x", "\U0010f700"]}, "b": {"items": {"type": "string"}}},
            "additionalProperties": False,
        }
        assert pointers(schema, {"b": ["\ud800", 5]}) == ["/b/1"]
        processor = SlotProcessor(schema)
        assert processor.check_json({"a": "\ud801", "\udfff": 1})["required"] == ["/a", "/\udfff"]
        assert processor.is_valid({"b": ["\ud800"]})

    @pytest.mark.parametrize(
        ("value", "reason"),
        [
            (float("nan"), "nan is not JSON"),
            (float("inf"), "inf is not JSON"),
            (float("-inf"), "-inf is not JSON"),
            ({1}, "set"),
            (b"x", "bytes"),
            (object(), "object"),
            ({1: 2}, "not a string"),
            pytest.param(10**5_000, "digits", id="digits"),
        ],
    )
    def test_what_is_not_json(self, value: Any, reason: str) -> None:
        with pytest.raises(DataError, match=reason) as caught:
            SlotProcessor({}).check_json({"a": [0, value]})
        assert caught.value.pointer == "/a/1"
        assert isinstance(caught.value, ValueError)

    def test_data_that_holds_itself(self) -> None:
        data: dict[str, Any] = {}
        data["a"] = data
        with pytest.raises(DataError, match="nested deeper"):
            SlotProcessor({}).check_json(data)
        with pytest.raises(SchemaError, match="nested deeper"):
            SlotProcessor({"default": data})


@given(st.text(max_size=5), st.text(max_size=5))
def test_any_text_as_name_and_value(name: str, value: str) -> None:
    """Both ends of the check, with whatever Unicode holds."""
    schema = {"properties": {name: {"const": value}}, "required": [name]}
    assert SlotProcessor(schema).check_json({name: value}) == {}
    assert SlotProcessor(schema).check_json({})["required"] == [pointer.join((name,))]
