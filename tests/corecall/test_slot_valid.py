"""Which data satisfy a schema, rule by rule. Ids like r134 are reports of real faults.

Expected verdicts are those of Draft 7, RFC 3986, RFC 6901 and the rules of the contract.
"""

from __future__ import annotations

from collections import OrderedDict
from enum import IntEnum
from typing import Any

import pytest

from corecall.slot.compiled import compile_schema
from corecall.slot.evaluate import Evaluator
from corecall.slot.processor import DataError, SchemaError, SlotProcessor


def valid(schema: dict[str, Any], data: Any) -> bool:
    """Return the verdict, after asserting that the check and the walk say the same."""
    processor = SlotProcessor(schema)
    verdict = processor.is_valid(data)
    assert (processor.check_json(data) == {}) is verdict
    compiled = compile_schema(schema)
    assert Evaluator(compiled).holds(compiled.root, data) is verdict
    return verdict


@pytest.mark.rule("schema.valid.1")
@pytest.mark.parametrize(
    "schema",
    [
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "prefixItems": [False]},
        {"$schema": "http://json-schema.org/draft-04/schema#", "maximum": 1, "id": "#x"},
        {"$schema": "http://a.test/none", "contains": {}, "minContains": 2, "unevaluatedItems": 1},
        {"maxContains": 0, "$anchor": "a", "$recursiveRef": "#", "extends": {"type": "null"}},
    ],
)
def test_other_drafts_say_nothing(schema: dict[str, Any]) -> None:
    assert valid(schema, [1])


@pytest.mark.rule("schema.valid.1")
def test_keywords_of_other_drafts_for_objects() -> None:
    schema = {"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"a": False}}
    assert valid({**schema, "unevaluatedProperties": False}, {"a": 1})


@pytest.mark.rule("schema.valid.2")
@pytest.mark.parametrize("schema", [True, False, [], None, "{}", 1])
def test_a_schema_is_an_object(schema: Any) -> None:
    with pytest.raises(SchemaError, match="a schema is an object"):
        SlotProcessor(schema)


@pytest.mark.rule("schema.valid.2")
def test_booleans_are_schemas_beneath_the_root() -> None:
    assert valid({"properties": {"a": True}, "items": True}, {"a": 1})
    assert not valid({"properties": {"a": False}}, {"a": 1})
    assert not valid({"anyOf": [False]}, 1)


@pytest.mark.rule("schema.valid.3")
@pytest.mark.parametrize(
    ("name", "text"),
    [("date", "2031-4-5"), ("date-time", "下周三"), ("regex", "("), ("ipv4", "x"), ("email", "")],
)
def test_formats_are_not_asserted(name: str, text: str) -> None:
    """r143, r145."""
    assert valid({"format": name}, text)
    assert not valid({"not": {"format": name}}, text)


@pytest.mark.rule("schema.valid.3")
def test_formats_do_not_tell_branches_apart() -> None:
    """r146."""
    assert not valid({"oneOf": [{"format": "date"}, {"format": "date-time"}]}, "2031-02-23")


@pytest.mark.rule("schema.valid.4")
@pytest.mark.parametrize(
    "own",
    [
        {"contentEncoding": "base64"},
        {"contentMediaType": "application/json"},
        {"contentEncoding": "base64", "contentMediaType": "application/json"},
    ],
)
def test_content_is_not_asserted(own: dict[str, Any]) -> None:
    assert valid(own, "%{")
    assert valid({"properties": {"a": own}}, {"a": "%{"})
    assert not valid({"properties": {"a": {"not": own}}}, {"a": "%{"})
    assert not valid({"properties": {"contentEncoding": {"type": "null"}}}, {"contentEncoding": 1})


@pytest.mark.rule("schema.valid.5")
@pytest.mark.parametrize(
    ("types", "value", "verdict"),
    [
        ("integer", 1.0, True),
        ("integer", -0.0, True),
        ("integer", 1e21, True),  # r137
        ("integer", 1.5, False),
        ("integer", True, False),
        ("number", True, False),
        ("number", 10**40, True),
        ("number", 1, True),
        ("boolean", 1, False),
        ("boolean", False, True),
        (["boolean", "null"], 0, False),
        (["null", "boolean"], False, True),
        (["string", "number"], 1, True),
        ("string", 1, False),
        ("null", False, False),
        ("array", {}, False),
        ("object", [], False),
    ],
)
def test_types(types: Any, value: Any, verdict: bool) -> None:
    assert valid({"type": types}, value) is verdict


@pytest.mark.rule("schema.valid.6")
@pytest.mark.parametrize(
    ("schema", "data", "verdict"),
    [
        ({"const": 2**53}, 2**53 + 1, False),
        ({"const": 2.0**53}, 2**53 + 1, False),
        ({"const": 2**53}, 2.0**53, True),
        ({"enum": [10**400]}, 10**400 + 1, False),
        ({"enum": [10**400]}, 10**400, True),
        ({"maximum": 2.0**53}, 2**53 + 1, False),
        ({"exclusiveMinimum": 2.0**53}, 2**53 + 1, True),
        ({"minimum": 2**53 + 1}, 2.0**53, False),
        ({"maximum": 10**40}, 10**40 + 1, False),
        ({"maximum": 1e308}, 10**400, False),
        ({"minimum": 1e308}, 10**400, True),
        ({"uniqueItems": True}, [2**53 + 1, 2.0**53], True),
        ({"maxLength": 10**40}, "x", True),
    ],
)
def test_numbers_keep_their_value(schema: dict[str, Any], data: Any, verdict: bool) -> None:
    assert valid(schema, data) is verdict


@pytest.mark.rule("schema.valid.7")
@pytest.mark.parametrize(
    ("step", "value", "verdict"),
    [
        (0.001, 5.1, True),  # r134
        (0.1, 92.6, True),  # r135
        (0.1, 1.1, True),  # r136
        (0.1, 10.1, True),  # r136
        (0.1, 0.3, True),
        (0.1, 0.35, False),
        (0.1, 0.1 + 0.2, False),  # 0.30000000000000004
        (0.01, 19.99, True),
        (0.01, 4.025, False),
        (1, 1e21, True),  # r137
        (0.5, 1e308, True),
        (2, 1.5, False),
        (1.5, 3, True),
        (3, 10**40 + 2, True),
        (3, 10**40, False),
        (0.5, 10**400, True),
        (1.5, 10**400, False),
    ],
)
def test_multiples_are_exact(step: float, value: float, verdict: bool) -> None:
    assert valid({"multipleOf": step}, value) is verdict
    assert valid({"properties": {"单价": {"multipleOf": step}}}, {"单价": value}) is verdict


@pytest.mark.rule("schema.valid.8")
@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (1, True, False),
        (0, False, False),
        (1, 1.0, True),
        (0, -0.0, True),
        ("1", 1, False),
        (None, False, False),
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": [1]}, {"a": [True]}, False),
        ([[False]], [[0]], False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ([1, 2], [2, 1], False),
        ({}, [], False),
    ],
)
def test_equality(one: Any, other: Any, equal: bool) -> None:
    assert valid({"const": one}, other) is equal
    assert valid({"enum": ["x", one]}, other) is equal
    assert valid({"uniqueItems": True}, ["y", one, other]) is not equal
    many = [*(f"n{number}" for number in range(30)), one, other]
    assert valid({"uniqueItems": True}, many) is not equal


@pytest.mark.rule("schema.valid.9")
def test_length_counts_code_points() -> None:
    assert valid({"maxLength": 1, "minLength": 1}, "😀")
    assert not valid({"minLength": 2}, "😀")
    assert not valid({"maxLength": 1}, "e\u0301")
    assert valid({"maxLength": 2}, "你好")


@pytest.mark.rule("schema.valid.10")
@pytest.mark.parametrize(
    ("pattern", "text", "verdict"),
    [
        ("b", "abc", True),
        ("^b", "abc", False),
        ("^a$", "a\n", False),
        ("a$", "a\nb", False),
        ("^b", "a\nb", False),
        ("^.$", "😀", True),
        ("^A$", "a", False),
    ],
)
def test_a_pattern_is_searched(pattern: str, text: str, verdict: bool) -> None:
    assert valid({"pattern": pattern}, text) is verdict
    assert valid({"patternProperties": {pattern: False}}, {text: 0}) is not verdict


@pytest.mark.rule("schema.valid.10")
@pytest.mark.parametrize(
    ("data", "verdict"),
    [({"a": 1}, True), ({"a": "x"}, False), ({"a/b": "x"}, False), ({"a/b": 0}, False)],
)
def test_two_spellings_of_one_pattern(data: dict[str, Any], verdict: bool) -> None:
    keyed = {
        "^a": {"type": "integer"},
        r"^\a": {},
        r"a\/b": {"minimum": 1},
        "a/b": {"type": "integer"},
    }
    assert valid({"patternProperties": keyed}, data) is verdict


@pytest.mark.rule("schema.valid.13")
@pytest.mark.parametrize("pattern", ["(", "[a", "a**", "(?i)a", "(?P<n>a)", "a++", "(?>a)"])
def test_a_pattern_of_another_dialect_is_an_invalid_schema(pattern: str) -> None:
    with pytest.raises(SchemaError, match="ECMA-262") as caught:
        SlotProcessor({"properties": {"a": {"pattern": pattern}}})
    assert caught.value.pointer == "/properties/a/pattern"
    with pytest.raises(SchemaError, match="ECMA-262") as caught:
        SlotProcessor({"patternProperties": {pattern: {}}})
    assert caught.value.pointer == f"/patternProperties/{pattern}"


class Text(str):
    """A string of an application's own kind."""

    __slots__ = ()


class Number(float):
    """A number of an application's own kind."""

    __slots__ = ()


class Level(IntEnum):
    """An integer of an application's own kind."""

    LOW = 1


@pytest.mark.rule("schema.valid.14")
def test_tuples_and_subclasses_count_as_what_they_are() -> None:
    check = SlotProcessor({"items": {"type": "integer"}}).check_json((1, "a"))
    assert check["required"] == ["/1"]
    assert SlotProcessor({"properties": {"a": {"const": "x"}}}).is_valid({Text("a"): Text("x")})
    data = OrderedDict(a=Level.LOW, b=Number(1.5), c=(True, None), d={Text("x"): {}})
    constant = {"a": 1, "b": 1.5, "c": [True, None], "d": {"x": {}}}
    assert SlotProcessor({"const": constant}).is_valid(data)


@pytest.mark.rule("schema.valid.14")
@pytest.mark.parametrize(
    ("value", "place", "reason"),
    [
        (float("nan"), "/a/1", "nan is not JSON"),
        (float("inf"), "/a/1", "inf is not JSON"),
        (float("-inf"), "/a/1", "-inf is not JSON"),
        (Number("nan"), "/a/1", "nan is not JSON"),
        ({1}, "/a/1", "set"),
        (b"x", "/a/1", "bytes"),
        (object(), "/a/1", "object"),
        ({1: 2}, "/a/1", "not a string"),
        ({"m~n": [1j]}, "/a/1/m~0n/0", "complex"),
    ],
)
def test_what_is_not_json(value: Any, place: str, reason: str) -> None:
    with pytest.raises(DataError, match=reason) as caught:
        SlotProcessor({}).check_json({"a": [0, value]})
    assert caught.value.pointer == place
    assert isinstance(caught.value, ValueError)
    with pytest.raises(SchemaError, match=reason) as refused:
        SlotProcessor({"default": {"a": [0, value]}})
    assert refused.value.pointer == f"/default{place}"


INTEGER = {"type": "integer"}
REFERENCES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"$ref": "#/definitions/x"}, {"definitions": {"x": INTEGER}}),
    (
        {"$ref": "#/definitions/%E6%94%B6%E8%B4%A7%20%E5%9C%B0%E5%9D%80"},  # r167
        {"definitions": {"收货 地址": INTEGER}},
    ),
    ({"$ref": "#/definitions/收货 地址"}, {"definitions": {"收货 地址": INTEGER}}),
    ({"$ref": "#/definitions/~1api~1{k}"}, {"definitions": {"/api/{k}": INTEGER}}),  # r169
    ({"$ref": "#/definitions/a%25b"}, {"definitions": {"a%b": INTEGER}}),
    ({"$ref": "#/definitions/m~0n"}, {"definitions": {"m~n": INTEGER}}),
    ({"$ref": "#/definitions/~01"}, {"definitions": {"~1": INTEGER}}),
    ({"$ref": "#/definitions/"}, {"definitions": {"": INTEGER}}),
    ({"$ref": "#n"}, {"definitions": {"x": {"$id": "#n", **INTEGER}}}),
    (
        {"$ref": "item.json"},
        {
            "$id": "http://a.test/d/root.json",
            "definitions": {"x": {"$id": "item.json", **INTEGER}},
        },
    ),
    (
        {"$ref": "http://a.test/d/e/f.json"},
        {
            "$id": "http://a.test/d/",
            "definitions": {"x": {"$id": "e/", "definitions": {"z": {"$id": "f.json", **INTEGER}}}},
        },
    ),
    (
        {"$ref": "urn:x:item#/definitions/y"},
        {"definitions": {"x": {"$id": "urn:x:item", "definitions": {"y": INTEGER}}}},
    ),
    (
        {"$ref": "urn:x:item#n"},
        {
            "definitions": {
                "w": {"$id": "#n", "type": "null"},
                "x": {"$id": "urn:x:item", "definitions": {"y": {"$id": "#n", **INTEGER}}},
            }
        },
    ),
    (
        {"$ref": "#/definitions/x"},
        {
            "definitions": {
                "x": {
                    "$id": "http://a.test/x",
                    "definitions": {"y": INTEGER},
                    "allOf": [{"$ref": "#/definitions/y"}],
                },
                "y": {"type": "null"},
            }
        },
    ),
    ({"$ref": "#/x-shared/list/0"}, {"x-shared": {"list": [INTEGER]}}),
    ({"$ref": "#/properties/b"}, {}),
]


@pytest.mark.rule("schema.valid.16", "schema.check.17")
@pytest.mark.parametrize(("schema", "beside"), REFERENCES)
def test_every_kind_of_local_reference(schema: dict[str, Any], beside: dict[str, Any]) -> None:
    whole = {"properties": {"a": schema, "b": INTEGER}, "required": ["a"], **beside}
    assert valid(whole, {"a": 3})
    assert not valid(whole, {"a": "x"})
    answers = SlotProcessor(SlotProcessor(whole).check_json({}))
    assert answers.is_valid({"/a": 1})
    assert not answers.is_valid({"/a": "x"})
    assert not answers.is_valid({})


@pytest.mark.rule("schema.valid.15")
@pytest.mark.parametrize(
    ("schema", "data", "verdict"),
    [
        ({"$ref": "#/definitions/a", "type": "null", "definitions": {"a": {}}}, 1, True),
        ({"$ref": "#/definitions/a", "pattern": "b", "definitions": {"a": {}}}, "x", True),
        (
            {
                "$id": "http://a.test/",
                "properties": {"a": {"$id": "http://b.test/", "$ref": "x"}},
                "definitions": {"x": {"$id": "x", "type": "string"}},
            },
            {"a": 1},
            False,
        ),
        (
            {
                "properties": {
                    "a": {"$ref": "#/properties/a/definitions/x", "definitions": {"x": INTEGER}}
                }
            },
            {"a": "x"},
            False,
        ),
    ],
)
def test_siblings_of_a_reference(schema: dict[str, Any], data: Any, verdict: bool) -> None:
    assert valid(schema, data) is verdict


@pytest.mark.rule("schema.valid.17")
@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"$ref": "#/definitions/x"}, "nothing"),
        ({"$ref": "#/allOf/1"}, "nothing"),
        ({"$ref": "#/allOf/00"}, "nothing"),
        ({"$ref": "#/allOf/-"}, "nothing"),
        ({"$ref": "#/definitions~2"}, "neither '~0' nor '~1'"),
        ({"$ref": "#name"}, "#name"),
        ({"$ref": "#/x"}, "not point at a schema"),
        ({"$ref": "http://a.test/x.json"}, "outside"),
        ({"$ref": "file:///etc/hosts"}, "outside"),
        ({"$ref": "other.json#/a"}, "outside"),
        ({"$ref": "http://[/"}, "outside"),
        ({"$ref": "https://json-schema.org/draft/2020-12/schema"}, "outside"),
        ({"$ref": "http://json-schema.org/draft-07/schema#/definitions/x"}, "nothing"),
    ],
)
def test_a_reference_that_leads_nowhere(schema: dict[str, Any], reason: str) -> None:
    """Nothing is fetched, and no data need meet it."""
    with pytest.raises(SchemaError) as caught:
        SlotProcessor({"x": 5, "allOf": [{}], "items": schema})
    assert caught.value.pointer == "/items/$ref"
    assert reason in caught.value.reason


@pytest.mark.rule("schema.valid.17")
def test_the_metaschema_is_at_hand() -> None:
    schema = {"properties": {"s": {"$ref": "http://json-schema.org/draft-07/schema#"}}}
    assert valid(schema, {"s": {"type": "string", "items": [{"minLength": 1}]}})
    assert not valid(schema, {"s": {"type": "strin"}})
    assert not valid(schema, {"s": {"items": [{"minLength": -1}]}})
    for flag in ("readOnly", "writeOnly"):
        assert valid(schema, {"s": {flag: True}})
        assert list(SlotProcessor(schema).check_json({"s": {flag: 1}})["properties"]) == [
            f"/s/{flag}"
        ]
    one = {"$ref": "http://json-schema.org/draft-07/schema#/definitions/simpleTypes"}
    assert valid({"properties": {"t": one}}, {"t": "null"})
    assert not valid({"properties": {"t": one}}, {"t": "x"})


@pytest.mark.rule("schema.valid.18")
@pytest.mark.parametrize("keyword", ["enum", "examples"])
def test_references_in_data_are_data(keyword: str) -> None:
    inert = [{"$ref": "#/nowhere", "pattern": "(", "$id": "urn:n", "type": "strin"}]
    assert valid({keyword: inert}, inert[0])
    assert valid({"const": inert[0], "default": {"a": inert[0]}, "x-mine": inert}, inert[0])
    with pytest.raises(SchemaError, match="outside"):
        SlotProcessor({keyword: inert, "properties": {"a": {"$ref": "urn:n"}}})


@pytest.mark.rule("schema.valid.18")
def test_properties_may_be_called_like_keywords() -> None:
    names = ("$ref", "$id", "pattern", "properties", "not", "if", "definitions", "enum")
    schema = {"properties": {name: {"type": "string"} for name in names}}
    assert valid(schema, dict.fromkeys(names, "("))
    for name in names:
        assert not valid(schema, {name: 1})


@pytest.mark.rule("schema.valid.19")
def test_defs_are_definitions() -> None:
    schema = {"$defs": {"x": {"$id": "urn:n", **INTEGER}}, "properties": {"a": {"$ref": "urn:n"}}}
    assert valid(schema, {"a": 1})
    assert not valid(schema, {"a": "x"})


@pytest.mark.rule("schema.valid.19", "schema.valid.22")
@pytest.mark.parametrize(
    ("defs", "place"),
    [
        (5, "/$defs"),
        ({"x": 5}, "/$defs/x"),
        ({"x": {"type": "strin"}}, "/$defs/x/type"),
        ({"x": {"writeOnly": 1}}, "/$defs/x/writeOnly"),
        ({"x": {"$defs": {"y": {"properties": []}}}}, "/$defs/x/$defs/y/properties"),
        ({"x": {"$ref": "#/none"}}, "/$defs/x/$ref"),
    ],
)
def test_defs_must_be_well_formed(defs: Any, place: str) -> None:
    with pytest.raises(SchemaError) as caught:
        SlotProcessor({"$defs": defs})
    assert caught.value.pointer == place


@pytest.mark.rule("schema.valid.20")
def test_of_two_names_the_first_counts() -> None:
    text, null = {"$id": "urn:n", "type": "string"}, {"$id": "urn:n", "type": "null"}
    user = {"properties": {"a": {"$ref": "urn:n"}}}
    for first, second in ((text, null), (null, text)):
        expected = first["type"] == "string"
        assert valid({"definitions": {"x": first, "y": second}, **user}, {"a": "s"}) is expected
        assert valid({"allOf": [{}, {"not": {"not": first}}], "not": {"not": second}}, 0) is False
        deep = {"definitions": {"x": {"allOf": [first]}, "y": second}, **user}
        assert valid(deep, {"a": "s"}) is expected
    anchors = {"x": {"$id": "#n", "type": "string"}, "y": {"$id": "#n", "type": "null"}}
    assert valid({"definitions": anchors, "properties": {"a": {"$ref": "#n"}}}, {"a": "s"})


@pytest.mark.rule("schema.valid.21")
@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"])
def test_a_schema_defined_by_itself(keyword: str) -> None:
    loop: dict[str, Any] = {"$ref": "#/definitions/x"}
    node: dict[str, Any] = {keyword: [loop] if keyword.endswith("Of") else loop}
    if keyword in ("then", "else"):
        node["if"] = True
    with pytest.raises(SchemaError, match="back to itself") as caught:
        SlotProcessor({"properties": {"a": loop}, "definitions": {"x": node}})
    assert caught.value.pointer.startswith("/definitions/x")


@pytest.mark.rule("schema.valid.21")
@pytest.mark.parametrize(
    "node",
    [
        {"$ref": "#/definitions/y"},
        {"dependencies": {"k": {"$ref": "#/definitions/x"}}},
        {"anyOf": [{"$ref": "#/definitions/y"}]},
    ],
)
def test_a_loop_over_two_definitions(node: dict[str, Any]) -> None:
    with pytest.raises(SchemaError, match="back to itself"):
        SlotProcessor({"definitions": {"x": node, "y": {"$ref": "#/definitions/x"}}})


@pytest.mark.rule("schema.valid.21")
@pytest.mark.parametrize(
    "node",
    [
        {"properties": {"a": {"$ref": "#"}}, "additionalProperties": False},
        {
            "additionalProperties": {"$ref": "#"},
            "maxProperties": 1,
            "propertyNames": {"const": "a"},
        },
        {"patternProperties": {"a": {"$ref": "#"}}, "additionalProperties": False},
    ],
)
def test_recursion_on_the_way_down(node: dict[str, Any]) -> None:
    assert valid(node, {"a": {"a": {}}})
    assert not valid(node, {"a": {"a": {"b": {}}}})


@pytest.mark.rule("schema.valid.22")
@pytest.mark.parametrize(
    ("schema", "place", "reason"),
    [
        ({"properties": {"a": {"type": "strin"}}}, "/properties/a/type", "strin"),
        ({"properties": {"a/b": {"minLength": -1}}}, "/properties/a~1b/minLength", "-1"),
        ({"required": "a"}, "/required", "array"),
        ({"required": ["a", "a"]}, "/required", "unique"),
        ({"allOf": []}, "/allOf", "1 item"),
        ({"allOf": [{"if": {"not": {"type": "x"}}}]}, "/allOf/0/if/not/type", "x"),
        ({"items": {"minLength": -1}}, "/items/minLength", "-1"),
        ({"items": [{}, {"enum": 1}]}, "/items/1/enum", "array"),
        ({"items": [5]}, "/items", "5"),
        ({"properties": 5}, "/properties", "5"),
        ({"properties": {"a": 5}}, "/properties/a", "5"),
        ({"dependencies": {"a": {"title": 1}}}, "/dependencies/a/title", "string"),
        ({"dependencies": {"a": ["x", "x"]}}, "/dependencies/a", "x"),
        ({"x-y": {"multipleOf": 0}, "items": {"$ref": "#/x-y"}}, "/x-y/multipleOf", "0"),
        ({"definitions": {"a": {"maxItems": 1.5}}}, "/definitions/a/maxItems", "1.5"),
        ({"$id": 5}, "/$id", "string"),
        ({"items": {"$ref": 5}}, "/items/$ref", "string"),
        ({"contentEncoding": 5}, "/contentEncoding", "string"),
    ],
)
def test_a_malformed_schema_is_named_with_its_place(
    schema: dict[str, Any], place: str, reason: str
) -> None:
    with pytest.raises(SchemaError) as caught:
        SlotProcessor(schema)
    assert caught.value.pointer == place
    assert reason in caught.value.reason
    assert isinstance(caught.value, ValueError)
    assert str(caught.value).startswith(place)


@pytest.mark.rule("schema.valid.22")
def test_a_fault_where_paths_multiply_or_surrogates_stand() -> None:
    """What the fast engine does not get to see is checked all the same."""
    twice = {"allOf": [{"$ref": "#/definitions/n"}, {"$ref": "#/definitions/n"}]}
    schema: dict[str, Any] = {"definitions": {"n": {"properties": {"a": twice}}}, "minimum": "x"}
    for faulty in (schema, {"properties": {"\ud800": {}}, "minimum": "\ud800"}):
        with pytest.raises(SchemaError) as caught:
            SlotProcessor(faulty)
        assert caught.value.pointer == "/minimum"


@pytest.mark.rule("schema.valid.23")
def test_lone_surrogates() -> None:
    own = {"const": "\udfff", "pattern": "^\\udfff$", "maxLength": 1}
    schema: dict[str, Any] = {"properties": {"\ud800": own}, "required": ["\ud800"]}
    processor = SlotProcessor(schema)
    assert processor.check_json({"\ud800": "\udfff"}) == {}
    assert processor.check_json({"\ud800": "\udffe"})["required"] == ["/\ud800"]
    assert processor.check_json({})["properties"] == {"/\ud800": own}


@pytest.mark.rule("schema.valid.23")
def test_lone_surrogates_in_data_alone() -> None:
    schema = {
        "properties": {
            "a": {"enum": ["x", "\U0010f700"]},
            "b": {"items": {"type": "string", "maxLength": 2}},
        },
        "additionalProperties": False,
    }
    processor = SlotProcessor(schema)
    assert processor.check_json({"b": ["\ud800", 5, "\ud800xx"]})["required"] == ["/b/1", "/b/2"]
    assert processor.check_json({"a": "\ud801", "\udfff": 1})["required"] == ["/a", "/\udfff"]
    assert processor.is_valid({"b": ["\ud800"]})
    longer = SlotProcessor({"items": {"minLength": 2}})
    assert longer.check_json(["\ud800", "\ud800x"])["required"] == ["/0"]
    assert longer.is_valid(["\ud800x"])
