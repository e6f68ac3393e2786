"""Where ``jsonschema`` and ``jsonschema-rs`` differ, from each other or from the contract, today.

Each test runs both as they come and then ours. One that fails after an update means that a row of
``schema.engine`` is out of date.
"""

from __future__ import annotations

import re
from typing import Any

import jsonschema
import jsonschema_rs
import pytest

from corecall.slot.processor import DataError, SchemaError, SlotProcessor

BIG = 10**400
ERROR = "error"


def oracle(schema: dict[str, Any], data: Any) -> bool | str:
    """Return what ``jsonschema`` says."""
    try:
        return bool(jsonschema.Draft7Validator(schema).is_valid(data))
    except (
        OverflowError,
        RecursionError,
        re.error,
        jsonschema.exceptions._WrappedReferencingError,
    ):
        return ERROR


def fast(schema: dict[str, Any], data: Any) -> bool | str:
    """Return what ``jsonschema-rs`` says."""
    try:
        return jsonschema_rs.Draft7Validator(schema, offline=True).is_valid(data)
    except ValueError:  # UnicodeEncodeError and its ValidationError are some
        return ERROR


def ours(schema: dict[str, Any], data: Any) -> bool | str:
    """Return what we say."""
    try:
        return SlotProcessor(schema).check_json(data) == {}
    except (SchemaError, DataError):
        return ERROR


def deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


@pytest.mark.rule("schema.engine.1")
@pytest.mark.parametrize(
    ("schema", "data"),
    [
        ({"pattern": "^a$"}, "a\n"),
        ({"patternProperties": {"^a$": {}}, "additionalProperties": False}, {"a\n": 0}),
    ],
)
def test_the_end_of_a_text(schema: dict[str, Any], data: Any) -> None:
    assert (oracle(schema, data), fast(schema, data), ours(schema, data)) == (True, False, False)


@pytest.mark.rule("schema.engine.2", "schema.valid.11")
@pytest.mark.parametrize(
    ("pattern", "text", "by_oracle", "by_fast", "right"),
    [
        (r"^\d$", "１", True, False, False),
        (r"^\w$", "é", True, False, False),
        (r"^\s$", "\x85", True, False, False),
        (r"^\s$", "\ufeff", False, True, True),
        (r"^\S$", "\ufeff", True, False, False),
        (r"^.$", "\r", True, False, False),
        (r"^.$", "\u2028", True, False, False),
        (r"^\bé", "é", True, True, False),
    ],
)
def test_character_sets(
    pattern: str, text: str, by_oracle: bool, by_fast: bool, right: bool
) -> None:
    schema = {"pattern": pattern}
    found = (oracle(schema, text), fast(schema, text), ours(schema, text))
    assert found == (by_oracle, by_fast, right)


@pytest.mark.rule("schema.engine.3", "schema.valid.12")
@pytest.mark.parametrize(
    ("pattern", "text", "by_oracle", "by_fast"),
    [
        (r"^[\d-x]+$", "1-x", ERROR, ERROR),
        (r"^[^]$", "\n", ERROR, ERROR),
        (r"^\p{Lu}$", "É", ERROR, True),
        (r"^\cA$", "\x01", ERROR, True),
        (r"^\u{41}$", "A", ERROR, True),
        (r"^(?<n>a)$", "a", ERROR, True),
        (r"^(?<n>a)\k<n>$", "aa", ERROR, ERROR),
        (r"(?<=a+)b", "aab", ERROR, True),
        ("^{a}$", "{a}", True, ERROR),
        ("^a{,3}$", "a{,3}", False, ERROR),
        (r"^\ud83d\ude00$", "😀", False, ERROR),
    ],
)
def test_patterns_that_an_engine_cannot_read(
    pattern: str, text: str, by_oracle: bool | str, by_fast: bool | str
) -> None:
    schema = {"pattern": pattern}
    found = (oracle(schema, text), fast(schema, text), ours(schema, text))
    assert found == (by_oracle, by_fast, True)


@pytest.mark.rule("schema.engine.3")
def test_the_class_without_members() -> None:
    schema = {"pattern": "[]"}
    assert (oracle(schema, "x"), fast(schema, "x"), ours(schema, "x")) == (ERROR, ERROR, False)


@pytest.mark.rule("schema.engine.4")
@pytest.mark.parametrize(
    ("pattern", "text"), [("(?i)a", "A"), ("(?P<n>a)", "a"), ("a++", "a"), ("(?>a)", "a")]
)
def test_patterns_of_other_dialects(pattern: str, text: str) -> None:
    schema = {"pattern": pattern}
    assert (oracle(schema, text), fast(schema, text), ours(schema, text)) == (True, ERROR, ERROR)


@pytest.mark.rule("schema.engine.4")
def test_escapes_of_other_dialects_are_letters() -> None:
    for pattern, text in ((r"\Aa", "a"), (r"a\Z", "a")):
        schema = {"pattern": pattern}
        assert (oracle(schema, text), ours(schema, text)) == (True, False)
    assert ours({"pattern": r"^\Aa\Z$"}, "AaZ") is True


@pytest.mark.rule("schema.engine.5")
@pytest.mark.parametrize(("step", "value"), [(0.1, 0.3), (0.1, 92.6), (0.001, 5.1), (0.01, 4.02)])
def test_decimals(step: float, value: float) -> None:
    schema = {"multipleOf": step}
    assert (oracle(schema, value), fast(schema, value), ours(schema, value)) == (False, True, True)


@pytest.mark.rule("schema.engine.6")
@pytest.mark.parametrize(("step", "right"), [(0.5, True), (1.5, False)])
def test_huge_integers_by_decimals(step: float, right: bool) -> None:
    schema = {"multipleOf": step}
    assert (oracle(schema, BIG), fast(schema, BIG), ours(schema, BIG)) == (ERROR, right, right)


@pytest.mark.rule("schema.engine.7", "schema.valid.23")
@pytest.mark.parametrize(
    ("schema", "data"),
    [
        ({"minLength": 1}, "\ud800"),
        ({"type": "string"}, "\ud800"),
        ({"const": "\ud800"}, "\ud800"),
        ({"properties": {"\ud800": {}}, "additionalProperties": False}, {"\ud800": 1}),
    ],
)
def test_lone_surrogates(schema: dict[str, Any], data: Any) -> None:
    assert (oracle(schema, data), fast(schema, data), ours(schema, data)) == (True, ERROR, True)


@pytest.mark.rule("schema.engine.8")
@pytest.mark.parametrize("reference", ["#/nope", "#nope", "other.json"])
def test_references_that_lead_nowhere(reference: str) -> None:
    schema = {"properties": {"a": {"$ref": reference}}}
    assert (oracle(schema, {}), fast(schema, {}), ours(schema, {})) == (True, ERROR, ERROR)
    assert oracle(schema, {"a": 1}) == ERROR


@pytest.mark.rule("schema.engine.9")
def test_metaschemas_of_other_drafts() -> None:
    schema = {"$ref": "https://json-schema.org/draft/2020-12/schema"}
    data = {"type": "strin"}
    assert (oracle(schema, data), fast(schema, data), ours(schema, data)) == (False, ERROR, ERROR)


@pytest.mark.rule("schema.engine.10")
@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {
            "definitions": {"a": {"$ref": "#/definitions/b"}, "b": {"$ref": "#/definitions/a"}},
            "$ref": "#/definitions/a",
        },
    ],
)
def test_a_schema_defined_by_itself(schema: dict[str, Any]) -> None:
    assert (oracle(schema, 1), fast(schema, 1), ours(schema, 1)) == (ERROR, True, ERROR)


@pytest.mark.rule("schema.engine.11")
def test_depth() -> None:
    schema = {"items": {"$ref": "#"}}
    assert oracle(schema, deep(100)) is fast(schema, deep(100)) is ours(schema, deep(100)) is True
    assert (oracle(schema, deep(900)), fast(schema, deep(900))) == (ERROR, True)
    assert ours(schema, deep(101)) == ERROR
    nested: dict[str, Any] = {}
    for _ in range(400):
        nested = {"items": nested}
    assert (oracle(nested, []), fast(nested, []), ours(nested, [])) == (True, ERROR, ERROR)


@pytest.mark.rule("schema.engine.12")
@pytest.mark.parametrize(
    "schema",
    [{"multipleOf": -1}, {"definitions": {"a": {"type": "strin"}}}, {"title": 1}, {"examples": 1}],
)
def test_malformed_schemas(schema: dict[str, Any]) -> None:
    assert (oracle(schema, 1), fast(schema, 1), ours(schema, 1)) == (True, ERROR, ERROR)


@pytest.mark.rule("schema.engine.13")
@pytest.mark.parametrize(
    "schema", [{"contentEncoding": "base64"}, {"contentMediaType": "application/json"}]
)
def test_content(schema: dict[str, Any]) -> None:
    assert (oracle(schema, "%{"), fast(schema, "%{"), ours(schema, "%{")) == (True, False, True)


@pytest.mark.rule("schema.engine.14")
def test_formats() -> None:
    schema = {"format": "ipv4"}
    assert (oracle(schema, "x"), fast(schema, "x"), ours(schema, "x")) == (True, False, True)
    named = {"$id": "not a uri %"}
    assert (oracle(named, 1), fast(named, 1), ours(named, 1)) == (True, ERROR, True)


@pytest.mark.rule("schema.engine.15")
def test_the_empty_reference() -> None:
    schema = {"properties": {"a": {"$ref": ""}}, "required": ["a"]}
    data: dict[str, Any] = {"a": {}}
    assert (oracle(schema, data), fast(schema, data), ours(schema, data)) == (False, True, False)
    assert ours(schema, {"a": 1}) is True


@pytest.mark.rule("schema.engine.16")
def test_names_in_defs() -> None:
    schema = {"$defs": {"x": {"$id": "http://a.test/y", "type": "integer"}}}
    user = {**schema, "$ref": "http://a.test/y"}
    assert (oracle(user, 1), fast(user, 1), ours(user, 1)) == (ERROR, ERROR, True)


@pytest.mark.rule("schema.engine.17")
def test_one_name_twice() -> None:
    named = {"x": {"$id": "urn:n", "type": "string"}, "y": {"$id": "urn:n", "type": "null"}}
    schema = {"definitions": named, "$ref": "urn:n"}
    assert (oracle(schema, "s"), fast(schema, "s"), ours(schema, "s")) == (True, False, True)


@pytest.mark.rule("schema.engine.18")
def test_a_pattern_that_is_given_up() -> None:
    """``jsonschema`` is not asked: it would not come back."""
    schema = {"not": {"pattern": r"(a+)+\1$"}}
    text = "a" * 2_000 + "!"
    assert (fast(schema, text), ours(schema, text)) == (False, True)


@pytest.mark.rule("schema.engine.19")
def test_not_json() -> None:
    nan, infinity = float("nan"), float("inf")
    number, bound = {"type": "number"}, {"maximum": 1}
    assert (oracle(number, nan), fast(number, nan), ours(number, nan)) == (True, False, ERROR)
    assert (oracle(bound, infinity), fast(bound, infinity)) == (False, True)
    assert ours(bound, infinity) == ERROR


@pytest.mark.rule("schema.valid.5", "schema.valid.8", "schema.valid.15")
@pytest.mark.parametrize(
    ("schema", "data", "right"),
    [
        ({"type": "integer"}, 1.0, True),
        ({"const": {"a": [1]}}, {"a": [True]}, False),
        ({"enum": [[False]]}, [0], False),
        ({"uniqueItems": True}, [{"a": {"b": 0}}, {"a": {"b": False}}], True),
        ({"uniqueItems": True}, [[1], [1.0]], False),
        ({"const": 2**53}, 2**53 + 1, False),
        ({"maximum": 1e308}, BIG, False),
        ({"$ref": "#/definitions/a", "type": "null", "definitions": {"a": {}}}, 1, True),
        ({"contains": True}, [], False),
        ({"contains": False}, "x", True),
        ({"minLength": 2}, "😀", False),
    ],
)
def test_where_all_agree(schema: dict[str, Any], data: Any, right: bool) -> None:
    assert (oracle(schema, data), fast(schema, data), ours(schema, data)) == (right,) * 3
