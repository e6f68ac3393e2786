"""check_json: remaining schemas and limits.

Ids like r134 are reports of real faults. Verdicts come from the Draft 7 suite where it is at hand,
from the reports, and from ``jsonschema`` as the oracle; places from the contract and its walk in
``slot_oracle``.
"""

from __future__ import annotations

import copy
import json
import os
import pickle
from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from callbench.fuzz.strategies import json_objects, json_values, object_schemas, schemas
from corecall import pointer
from corecall.slot.compiled import compile_schema
from corecall.slot.evaluate import Evaluator
from corecall.slot.processor import DataError, SchemaError, SlotProcessor
from corecall.slot.violations import violations

from ..properties.oracle import accepts
from .slot_oracle import Oracle, is_plain

DATA = json_values()
OBJECT_SCHEMAS = object_schemas()
OBJECTS = json_objects()
SCHEMAS = schemas()

SHARED = Path(
    os.environ.get("CALLBENCH_SHARED_DATA", Path(__file__).parents[3] / "shared" / "data")
)
SUITE = sorted((SHARED / "json-schema-test-suite" / "draft7").glob("*.json"))


def check(schema: dict[str, Any], data: Any) -> dict[str, Any]:
    """Check, after asserting what holds for every result."""
    processor = SlotProcessor(schema)
    remaining = processor.check_json(data)
    assert (remaining == {}) is processor.is_valid(data)
    walked = violations(Evaluator(compile_schema(schema)), data)  # valid data are not walked else
    assert [pointer.join(place.tokens) for place in walked] == remaining.get("required", [])
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
    @pytest.mark.rule("schema.valid.1", "schema.check.1")
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

    @pytest.mark.rule("schema.valid.1", "schema.check.1")
    @settings(max_examples=250, suppress_health_check=[HealthCheck.too_slow], deadline=None)
    @given(schema=SCHEMAS, data=DATA)
    @example({"not": {"anyOf": [True, {"type": "null"}]}, "definitions": {}}, 0)
    @example({"if": {"minProperties": 1}, "else": False, "definitions": {}}, {})
    def test_agrees_with_the_oracle(self, schema: dict[str, Any], data: Any) -> None:
        before = copy.deepcopy((schema, data))
        valid = accepts(schema, data)
        assert (check(schema, data) == {}) is valid
        assert (schema, data) == before


def resolved(schema: dict[str, Any]) -> str:
    """Return the references of a suite schema as text, relative ones made absolute."""
    text = json.dumps(schema)
    if '"$id"' in text or '".json' in text:
        return "http://localhost:1234/" + text
    return text


class TestPlaces:
    """Which places are listed, and with what."""

    @pytest.mark.rule("schema.check.1")
    def test_valid(self) -> None:
        assert check({"required": ["a"]}, {"a": 0}) == {}

    @pytest.mark.rule("schema.check.2")
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

    @pytest.mark.rule("schema.check.8", "schema.check.11")
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

    @pytest.mark.rule("schema.check.3", "schema.check.7")
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

    @pytest.mark.rule("schema.check.3")
    def test_else_does_not_apply_when_if_holds(self) -> None:
        schema = {"if": {"required": ["k"]}, "then": {}, "else": {"required": ["a"]}}
        assert pointers(schema, {"k": 1}) == []
        assert pointers({"then": {"required": ["a"]}, "else": {"required": ["b"]}}, {}) == []

    @pytest.mark.rule("schema.check.3", "schema.check.7")
    def test_dependency_on_an_absent_property_does_not_apply(self) -> None:
        assert pointers({"dependencies": {"k": ["a"], "l": {"required": ["b"]}}}, {}) == []

    @pytest.mark.rule("schema.check.3")
    def test_dependency_inside_if_is_not_required(self) -> None:
        schema = {"if": {"required": ["a"]}, "then": {"required": ["b"]}}
        assert pointers(schema, {}) == []

    @pytest.mark.rule("schema.check.4")
    @pytest.mark.parametrize(
        ("own", "value"),
        [
            ({"type": "string"}, 1),
            ({"enum": ["x"]}, "y"),
            ({"const": 1}, 2),
            ({"pattern": "^a"}, "b"),
            ({"minimum": 1}, 0),
            ({"maximum": 1}, 2),
            ({"exclusiveMinimum": 1}, 1),
            ({"exclusiveMaximum": 1}, 1),
            ({"multipleOf": 2}, 3),
            ({"minLength": 2}, "a"),
            ({"maxLength": 1}, "ab"),
            ({"minItems": 1}, []),
            ({"maxItems": 1}, [1, 2]),
            ({"uniqueItems": True}, [1, 1]),
            ({"minProperties": 1}, {}),
            ({"maxProperties": 0}, {"x": 1}),
            ({"propertyNames": {"maxLength": 1}}, {"xx": 1}),
            ({"contains": {"type": "integer"}}, ["x"]),
        ],
    )
    def test_fault_of_a_place(self, own: dict[str, Any], value: Any) -> None:
        self.lists_itself(own, value)

    @pytest.mark.rule("schema.check.5")
    @pytest.mark.parametrize(
        ("own", "value"),
        [
            ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 1),
            ({"anyOf": [{"required": ["x"]}, {"properties": {"y": {"type": "null"}}}]}, {"y": 1}),
            ({"oneOf": [{}, {"type": "integer"}]}, 1),
            ({"oneOf": [{"required": ["x"]}, {"required": ["y"]}]}, {}),
            ({"not": {"type": "integer"}}, 1),
            ({"not": {"required": ["x"]}}, {"x": 1}),
        ],
    )
    def test_fault_of_a_combination(self, own: dict[str, Any], value: Any) -> None:
        self.lists_itself(own, value)

    @pytest.mark.rule("schema.check.10")
    @pytest.mark.parametrize(
        ("own", "value"),
        [
            ({"items": [True], "additionalItems": False}, [1, 2]),
            ({"items": False}, [1]),
            ({"items": [False]}, [1]),
            ({"items": [{}, {"not": {}}]}, [1, 2, 3]),
            ({"items": {"allOf": [False]}}, [1]),
        ],
    )
    def test_items_that_may_not_be_there(self, own: dict[str, Any], value: Any) -> None:
        self.lists_itself(own, value)
        schema = {"properties": {"a": own, "z": {"type": "null"}}}
        assert pointers(schema, {"a": [], "z": 1}) == ["/z"]

    def lists_itself(self, own: dict[str, Any], value: Any) -> None:
        """That place, with its whole schema, and nothing beneath it."""
        schema = {"properties": {"a": {"description": "d", **own}}}
        assert asked(schema, {"a": value}) == {"/a": {"description": "d", **own}}

    @pytest.mark.rule("schema.check.5")
    def test_nothing_inside_a_combination_that_holds_is_listed(self) -> None:
        inner = {"properties": {"x": {"type": "string"}}, "required": ["y"]}
        schema = {"anyOf": [inner, {"type": "object"}], "oneOf": [inner, {}], "not": inner}
        assert pointers(schema, {"x": 1}) == []

    @pytest.mark.rule("schema.check.13")
    @pytest.mark.parametrize(
        ("own", "value"),
        [
            ({"if": {"minimum": 5}, "then": False}, 7),
            ({"if": {"minimum": 5}, "else": {"not": {}}}, 3),
            ({"dependencies": {"k": False}}, {"k": 1}),
        ],
    )
    def test_what_a_condition_forbids_is_wrong(self, own: dict[str, Any], value: Any) -> None:
        self.lists_itself(own, value)
        schema = {"properties": {"l": {"items": own}}}
        assert asked(schema, {"l": [value]}) == {"/l/0": own}

    @pytest.mark.rule("schema.check.8", "schema.check.11")
    def test_all_schemas_of_a_broken_node(self) -> None:
        schema = {
            "properties": {"a": {"type": "integer"}},
            "allOf": [{"properties": {"a": {"minimum": 3}}}],
            "additionalProperties": {"maximum": 0},
        }
        assert asked(schema, {"a": 2}) == {"/a": {"allOf": [{"type": "integer"}, {"minimum": 3}]}}

    @pytest.mark.rule("schema.check.7", "schema.check.9")
    def test_array_items(self) -> None:
        item = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
        schema = {"properties": {"l": {"type": "array", "items": item}}}
        assert asked(schema, {"l": [{"x": 1}, 5, {}]}) == {
            "/l/1": item,
            "/l/2/x": {"type": "integer"},
        }

    @pytest.mark.rule("schema.check.9")
    def test_tuple_items(self) -> None:
        schema = {"items": [{"type": "integer"}, {}], "additionalItems": {"type": "string"}}
        assert asked(schema, ["x", None, 1]) == {
            "/0": {"type": "integer"},
            "/2": {"type": "string"},
        }

    @pytest.mark.rule("schema.check.12")
    @pytest.mark.parametrize(
        "schema",
        [
            {"properties": {"a": {}}, "additionalProperties": False},
            {"properties": {"b": False}},
            {"properties": {"b": {"not": {}}}},
            {"properties": {"b": {"$ref": "#/definitions/no"}}, "definitions": {"no": False}},
            {"properties": {"b": {"allOf": [False]}}},
            {"properties": {"b": {"allOf": [{}, {"allOf": [{"not": True, "title": "t"}]}]}}},
            {"properties": {"b": {"not": {}, "description": "d"}}},
            {"dependencies": {"b": {"properties": {"b": False}}}},
            {"patternProperties": {"b": False}},
            {"allOf": [{"properties": {"b": False}}]},
        ],
    )
    def test_forbidden_key(self, schema: dict[str, Any]) -> None:
        assert asked(schema, {"a": 1, "b": 1}) == {"/b": {"not": {}}}
        assert check(schema, {"a": 1}) == {}

    @pytest.mark.rule("schema.check.14")
    def test_optional_parent_that_is_absent(self) -> None:
        """Required properties under it are not missing."""
        schema = {"properties": {"a": {"properties": {"b": {}}, "required": ["b"]}}}
        assert check(schema, {}) == {}
        assert pointers(schema, {"a": {}}) == ["/a/b"]

    @pytest.mark.rule("schema.check.5", "schema.check.6")
    def test_root(self) -> None:
        schema = {"anyOf": [{"required": ["a"]}, {"required": ["b"]}], "title": "T"}
        assert asked(schema, {}) == {"": schema}
        assert asked({"type": "object"}, 5) == {"": {"type": "object"}}
        assert pointers({"not": {}}, {}) == [""]
        assert pointers({"allOf": [False]}, {}) == [""]

    @pytest.mark.rule("schema.check.6")
    def test_a_broken_node_hides_what_is_beneath(self) -> None:
        schema = {"minProperties": 2, "required": ["a"], "properties": {"b": {"type": "string"}}}
        assert pointers(schema, {"b": 1}) == [""]

    @pytest.mark.rule("schema.check.16")
    def test_document_order(self) -> None:
        """Declared members as the schema has them, others as the data has them, then the rest."""
        schema = {
            "properties": {"z": {"type": "string"}, "m": {"required": ["k"]}, "a": {}},
            "additionalProperties": {"type": "string"},
            "required": ["y", "a", "z"],
        }
        data = {"u": 1, "m": {}, "t": 2}
        assert pointers(schema, data) == ["/z", "/m/k", "/a", "/u", "/t", "/y"]

    @pytest.mark.rule("schema.check.3", "schema.check.16")
    def test_order_of_what_applies(self) -> None:
        """The schema itself, ``allOf`` with all that follows from each, the condition, the rest."""
        schema = {
            "dependencies": {"k": {"required": ["f"]}, "l": {"required": ["no"]}},
            "if": True,
            "then": {"required": ["e"]},
            "allOf": [
                {"allOf": [{"required": ["c"]}], "required": ["b"]},
                {"$ref": "#/definitions/d"},
            ],
            "required": ["a"],
            "definitions": {"d": {"required": ["d", "a"]}},
        }
        assert pointers(schema, {"k": 1}) == ["/a", "/b", "/c", "/d", "/e", "/f"]

    @pytest.mark.rule("schema.check.16")
    def test_names_of_all_that_applies_come_before_the_data_s(self) -> None:
        schema = {
            "required": ["q"],
            "allOf": [{"properties": {"c": {"type": "null"}}, "required": ["p", "b"]}],
            "properties": {"b": {}, "d": {"type": "null"}},
            "dependencies": {"k": ["r", "c"]},
            "additionalProperties": {"type": "null"},
        }
        assert pointers(schema, {"k": 1, "c": 1, "d": 1}) == [
            *("/b", "/d", "/c", "/k", "/q", "/r", "/p"),
        ]

    @pytest.mark.rule("schema.check.2", "schema.check.3", "schema.check.4", "schema.check.6")
    @pytest.mark.rule("schema.check.7", "schema.check.8", "schema.check.9", "schema.check.10")
    @pytest.mark.rule("schema.check.11", "schema.check.12", "schema.check.13", "schema.check.16")
    @settings(max_examples=250, suppress_health_check=[HealthCheck.too_slow], deadline=None)
    @given(schema=st.one_of(SCHEMAS, OBJECT_SCHEMAS), data=st.one_of(DATA, OBJECTS))
    def test_places_are_those_of_the_contract(self, schema: dict[str, Any], data: Any) -> None:
        assume(is_plain(schema))
        found, expected = check(schema, data), Oracle(schema).check(data)
        assert found == expected
        assert found.get("required") == expected.get("required")


class TestTraps:
    @pytest.mark.rule("schema.check.7")
    @pytest.mark.trap("A13")
    def test_known_parent_with_missing_child_is_still_missing(self) -> None:
        """r140."""
        schema = {
            "properties": {
                "订单": {"properties": {"地址": {"type": "string"}}, "required": ["地址"]}
            },
            "required": ["订单"],
        }
        assert asked(schema, {"订单": {}}) == {"/订单/地址": {"type": "string"}}

    @pytest.mark.rule("schema.check.3", "schema.check.7", "schema.check.15")
    @pytest.mark.parametrize("given", [False, 0, "", [], {}, None])
    def test_a_falsy_member_has_its_dependencies(self, given: Any) -> None:
        schema = {"dependencies": {"k": ["a"], "l": {"required": ["b"]}}}
        assert pointers(schema, {"k": given, "l": given}) == ["/a", "/b"]

    @pytest.mark.rule("schema.check.2")
    def test_required_has_the_order_of_properties(self) -> None:
        found = check({"properties": {"z": {}, "a": {}}, "required": ["m", "a", "z"]}, {})
        assert list(found["properties"]) == found["required"] == ["/z", "/a", "/m"]

    @pytest.mark.rule("schema.check.2")
    @pytest.mark.trap("A16")
    def test_two_faults_at_one_node_list_it_once(self) -> None:
        own = {"type": "string", "enum": ["x"], "minLength": 9}
        assert pointers({"properties": {"a": own}}, {"a": 1}) == ["/a"]
        required = {"required": ["a"]}
        assert pointers({**required, "allOf": [required, required]}, {}) == ["/a"]

    @pytest.mark.rule("schema.check.21")
    @pytest.mark.trap("A17")
    def test_nothing_is_written_into_schema_or_data(self) -> None:
        """Defaults least of all."""
        schema = {"properties": {"n": {"type": "integer", "default": 3}}, "required": ["n"]}
        data: dict[str, Any] = {}
        before = copy.deepcopy(schema)
        remaining = SlotProcessor(schema).check_json(data)
        remaining["properties"]["/n"]["type"] = "changed"
        assert (schema, data) == (before, {})
        assert asked(schema, {}) == {"/n": {"type": "integer", "default": 3}}

    @pytest.mark.rule("schema.check.20")
    @pytest.mark.trap("A18")
    @pytest.mark.parametrize("name", ["child's_name", 'I\'m "here"', "it's' required property"])
    def test_names_are_taken_from_the_data(self, name: str) -> None:
        """r172."""
        assert pointers({"required": [name]}, {}) == [pointer.join((name,))]

    @pytest.mark.rule("schema.pointer.2")
    @pytest.mark.trap("A19")
    @pytest.mark.parametrize(
        ("name", "place"),
        [("a/b", "/a~1b"), ("m~n", "/m~0n"), ("", "/"), ("用户/名", "/用户~1名"), ("~1", "/~01")],
    )
    def test_pointers_are_rfc_6901(self, name: str, place: str) -> None:
        """r170."""
        assert pointers({"required": [name]}, {}) == [place]
        assert pointers({"properties": {name: {"type": "integer"}}}, {name: "x"}) == [place]

    @pytest.mark.rule("schema.check.1")
    @pytest.mark.trap("A31")
    def test_success_exactly_when_the_schema_holds(self) -> None:
        """r072."""
        schema = {
            "properties": {name: {"type": "string"} for name in "abc"},
            "required": ["a", "b", "c"],
        }
        assert pointers(schema, {}) == ["/a", "/b", "/c"]
        assert check(schema, {"a": "", "b": "", "c": ""}) == {}

    @pytest.mark.rule("schema.check.14")
    @pytest.mark.trap("A32")
    def test_optional_may_be_left_out(self) -> None:
        """r071."""
        schema = {
            "properties": {"城市": {"type": "string"}, "备注": {"type": "string"}},
            "required": ["城市"],
        }
        assert check(schema, {"城市": "青岛"}) == {}

    @pytest.mark.rule("schema.check.15")
    def test_empty_text_is_not_absent(self) -> None:
        """r069."""
        schema = {"properties": {"空间": {}, "标签": {"pattern": "^[a-z]+$"}}, "required": ["空间"]}
        assert pointers(schema, {"空间": "默认", "标签": ""}) == ["/标签"]

    @pytest.mark.rule("schema.check.15")
    def test_falsy_values_are_given(self) -> None:
        """r073, r078."""
        schema = {"required": ["开关", "次数", "备注", "空", "表"]}
        assert check(schema, {"开关": False, "次数": 0, "备注": "", "空": None, "表": []}) == {}

    @pytest.mark.rule("schema.check.15")
    def test_null_is_a_value(self) -> None:
        """r066."""
        schema = {"properties": {"t": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}
        assert check(schema, {"t": None}) == {}


@pytest.mark.trap("A20")
class TestReferences:
    """A remaining schema stands alone."""

    @pytest.mark.rule("schema.check.17")
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

    @pytest.mark.rule("schema.check.17", "schema.check.18")
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

    @pytest.mark.rule("schema.check.18")
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

    @pytest.mark.rule("schema.check.11")
    def test_description_beside_a_reference_is_kept(self) -> None:
        schema = {
            "properties": {"a": {"$ref": "#/definitions/x", "description": "d"}},
            "required": ["a"],
            "definitions": {"x": {}},
        }
        assert asked(schema, {}) == {"/a": {"$ref": "#/definitions/x", "description": "d"}}

    @pytest.mark.rule("schema.check.17", "schema.check.19")
    def test_only_what_is_used_comes_along(self) -> None:
        schema = {"required": ["a"], "definitions": {"x": {}}, "$id": "http://a.test/s.json"}
        assert set(check(schema, {})) == {"type", "properties", "required"}
        assert asked({**schema, "minProperties": 1}, {}) == {
            "": {"required": ["a"], "minProperties": 1}
        }

    @pytest.mark.rule("schema.check.17")
    def test_a_reference_to_the_metaschema_stays(self) -> None:
        schema = {"properties": {"s": {"$ref": "http://json-schema.org/draft-07/schema#"}}}
        assert check({**schema, "required": ["s"]}, {})["properties"] == {
            "/s": {"$ref": "http://json-schema.org/draft-07/schema#"}
        }
        assert pointers(schema, {"s": {"type": "strin"}}) == ["/s/type"]

    @pytest.mark.rule("schema.check.18")
    def test_names_that_are_taken(self) -> None:
        places = ["#/definitions/x", "#/$defs/x", "#/x-a/x_2", "#/x-b/x", "#/definitions/"]
        schema = {
            "properties": {f"p{n}": {"$ref": place} for n, place in enumerate(places)},
            "required": [f"p{n}" for n in range(5)],
            "definitions": {"x": {"minimum": 0}, "": {"minimum": 4}},
            "$defs": {"x": {"minimum": 1}},
            "x-a": {"x_2": {"minimum": 2}},
            "x-b": {"x": {"minimum": 3}},
        }
        assert check(schema, {})["definitions"] == {
            "x": {"minimum": 0},
            "x_2": {"minimum": 1},
            "x_2_2": {"minimum": 2},
            "x_3": {"minimum": 3},
            "root": {"minimum": 4},
        }

    @pytest.mark.rule("schema.check.19")
    def test_what_a_copy_loses(self) -> None:
        kept = {"default": {"$id": "x", "definitions": 1}, "properties": {"$id": {"title": "t"}}}
        inner = {"$id": "http://a.test/x", "$defs": {}, "definitions": {}, **kept}
        schema = {"properties": {"a": {"allOf": [inner], "$schema": "x"}}, "required": ["a"]}
        assert asked(schema, {}) == {"/a": {"allOf": [kept]}}

    @pytest.mark.rule("schema.check.17")
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
    @pytest.mark.rule("schema.check.16")
    def test_order_of_keys_is_part_of_the_schema(self) -> None:
        """Equal dicts with another order must not share a cached form."""
        one = {"properties": {"a": {}, "b": {}}, "required": ["b", "a"]}
        two = {"properties": {"b": {}, "a": {}}, "required": ["b", "a"]}
        assert pointers(one, {}) == ["/a", "/b"]
        assert pointers(two, {}) == ["/b", "/a"]
        assert pointers({"const": 1}, True) == [""]
        assert pointers({"const": True}, True) == []

    @pytest.mark.rule("schema.check.21")
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


@pytest.mark.rule("schema.valid.22")
@pytest.mark.parametrize("kind", [DataError, SchemaError])
def test_the_errors_survive_the_way_to_another_process(
    kind: type[DataError] | type[SchemaError],
) -> None:
    back = pickle.loads(pickle.dumps(kind("/a", "is wrong")))
    assert type(back) is kind
    assert (str(back), back.pointer, back.reason) == ("/a: is wrong", "/a", "is wrong")


class TestHostile:
    """Bounded in time and depth."""

    @pytest.mark.rule("schema.limit.1")
    @pytest.mark.parametrize("wrap", [lambda inner: [inner], lambda inner: {"a": inner}])
    def test_depth_of_data(self, wrap: Any) -> None:
        processor = SlotProcessor({})
        assert processor.check_json(nested(100, wrap, 0)) == {}
        for depth in (101, 5_000):
            with pytest.raises(DataError, match="nested deeper than 100"):
                processor.check_json(nested(depth, wrap, 0))

    @pytest.mark.rule("schema.limit.2")
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

    @pytest.mark.rule("schema.limit.1")
    def test_recursion_through_data_of_full_depth(self) -> None:
        schema = {"properties": {"a": {"$ref": "#"}}, "additionalProperties": False}
        data = nested(99, lambda inner: {"a": inner}, {"b": 1})
        assert pointers(schema, data) == ["/a" * 99 + "/b"]

    @pytest.mark.rule("schema.limit.6")
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

    @pytest.mark.rule("schema.limit.6")
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

    @pytest.mark.rule("schema.limit.6")
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

    @pytest.mark.rule("schema.limit.6")
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

    @pytest.mark.rule("schema.limit.2")
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

    @pytest.mark.rule("schema.limit.7")
    def test_ten_thousand_properties(self) -> None:
        names = [f"p{n}" for n in range(10_000)]
        schema = {
            "properties": {name: {"type": "string"} for name in names},
            "required": names,
            "additionalProperties": False,
        }
        assert SlotProcessor(schema).check_json({})["required"] == [f"/{name}" for name in names]
        assert SlotProcessor(schema).check_json(dict.fromkeys(names, "x")) == {}

    @pytest.mark.rule("schema.limit.5")
    @pytest.mark.parametrize("pattern", ["^(a+)+$", r"(a+)+\1$", r"^(([a-z])+.)+[A-Z]([a-z])+$"])
    def test_catastrophic_patterns(self, pattern: str) -> None:
        text = "a" * 50_000 + "!"
        assert pointers({"properties": {"a": {"pattern": pattern}}}, {"a": text}) == ["/a"]
        assert pointers({"patternProperties": {pattern: False}}, {text: 1}) == []

    @pytest.mark.rule("schema.limit.5")
    def test_pattern_that_is_given_up_on_counts_as_not_found(self) -> None:
        text = "a" * 2_000 + "!"
        assert pointers({"pattern": r"(a+)+\1$"}, text) == [""]
        assert pointers({"not": {"pattern": r"(a+)+\1$"}}, text) == []
        assert SlotProcessor({"not": {"pattern": r"(a+)+\1$"}}).is_valid(text)

    @pytest.mark.rule("schema.limit.7")
    def test_megabytes_of_text(self) -> None:
        schema = {
            "properties": {"a": {"pattern": "^x*$", "maxLength": 2_000_000}},
            "required": ["b"],
        }
        assert pointers(schema, {"a": "x" * 2_000_000}) == ["/b"]
        assert pointers(schema, {"a": "x" * 2_000_001, "b": 1}) == ["/a"]

    @pytest.mark.rule("schema.limit.1", "schema.limit.3")
    def test_data_that_holds_itself(self) -> None:
        data: dict[str, Any] = {}
        data["a"] = data
        with pytest.raises(DataError, match="nested deeper"):
            SlotProcessor({}).check_json(data)
        with pytest.raises(SchemaError, match="nested deeper"):
            SlotProcessor({"default": data})

    @pytest.mark.rule("schema.limit.3")
    @pytest.mark.parametrize("keyword", ["default", "const", "x-mine"])
    @pytest.mark.parametrize("wrap", [lambda inner: [inner], lambda inner: {"a": inner}])
    def test_depth_of_the_values_in_a_schema(self, keyword: str, wrap: Any) -> None:
        assert SlotProcessor({keyword: nested(249, wrap, 0)}).is_valid(1) is (keyword != "const")
        with pytest.raises(SchemaError, match="nested deeper than 250"):
            SlotProcessor({keyword: nested(250, wrap, 0)})

    @pytest.mark.rule("schema.limit.8")
    def test_number_of_arrays_and_objects(self) -> None:
        processor = SlotProcessor({"properties": {"l": {"type": "array"}}})
        assert processor.is_valid({"l": [[]] * 249_998})
        assert SlotProcessor({"enum": [{}] * 49_998}).is_valid({})
        for kind in (list, dict, tuple):
            with pytest.raises(DataError, match="more than 250,000 arrays") as caught:
                processor.check_json({"l": [kind()] * 249_999})
            assert caught.value.pointer == ""
            with pytest.raises(SchemaError, match="more than 50,000 arrays"):
                SlotProcessor({"enum": [kind()] * 49_999})

    @pytest.mark.rule("schema.limit.8")
    def test_arrays_that_hold_one_another_twice(self) -> None:
        value: list[Any] = []
        for _ in range(40):
            value = [value, value]
        with pytest.raises(DataError, match="more than"):
            SlotProcessor({}).check_json({"x": value})
        with pytest.raises(SchemaError, match="more than"):
            SlotProcessor({"enum": value})

    @pytest.mark.rule("schema.limit.9")
    def test_length_of_patterns(self) -> None:
        assert SlotProcessor({"pattern": "a" * 20_000}).is_valid("a" * 20_000)
        for schema in ({"pattern": "a" * 20_001}, {"patternProperties": {"a" * 20_001: {}}}):
            with pytest.raises(SchemaError, match="more than 20,000 characters") as caught:
                SlotProcessor({"items": schema})
            assert caught.value.pointer.startswith("/items/pattern")

    @pytest.mark.rule("schema.limit.4")
    @pytest.mark.parametrize("sign", [1, -1])
    def test_size_of_integers(self, sign: int) -> None:
        largest, schema = sign * (2**14_000 - 1), {"items": {"type": "integer"}}
        assert check(schema, [largest]) == {}
        assert check({"const": largest}, largest) == {}
        with pytest.raises(DataError, match="digits") as caught:
            SlotProcessor(schema).check_json([0, largest + sign])
        assert caught.value.pointer == "/1"
        with pytest.raises(SchemaError, match="digits"):
            SlotProcessor({"maximum": largest + sign})


@pytest.mark.rule("schema.check.20")
@given(st.text(max_size=5), st.text(max_size=5))
def test_any_text_as_name_and_value(name: str, value: str) -> None:
    """Both ends of the check, with whatever Unicode holds."""
    schema = {"properties": {name: {"const": value}}, "required": [name]}
    assert SlotProcessor(schema).check_json({name: value}) == {}
    assert SlotProcessor(schema).check_json({})["required"] == [pointer.join((name,))]
