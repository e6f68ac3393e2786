"""What a schema says of a slot."""

from typing import Any

import pytest

from callbench.dataset.declared import Declared, json_type
from callbench.dataset.slots import ABSENT, Path

SCHEMA: dict[str, Any] = {
    "type": "object",
    "definitions": {
        "place": {
            "type": "object",
            "properties": {"zip": {"type": ["null", "string"], "pattern": "^[0-9]+$"}},
            "required": ["zip"],
        },
        "loop": {"$ref": "#/definitions/loop"},
        "a b": {"type": "boolean"},
    },
    "properties": {
        "name": {"type": "string"},
        "unit": {"enum": ["C", "F"], "default": "C"},
        "fixed": {"const": 1},
        "day": {"type": "string", "format": "date"},
        "mail": {"type": "string", "format": "email"},
        "home": {"$ref": "#/definitions/place", "type": "integer"},
        "work": {"anyOf": [{"$ref": "#/definitions/place"}, {"type": "string"}]},
        "rooms": {
            "type": "array",
            "items": {"properties": {"beds": {"type": "integer"}}, "required": ["beds"]},
        },
        "pair": {
            "type": "array",
            "items": [{"type": "string"}],
            "additionalItems": {"type": "number"},
        },
        "opts": {
            "type": "object",
            "default": {"dry": True},
            "properties": {"dry": {"type": "boolean"}},
        },
        "map": {
            "type": "object",
            "patternProperties": {"^x": {"type": "integer"}},
            "additionalProperties": {"type": "string"},
        },
        "open": {"type": "object", "additionalProperties": True},
        "shut": {"type": "object", "additionalProperties": False},
        "never": False,
        "bare": {"type": "object"},
        "names": {"type": "object", "properties": {"a": {}}, "required": ["b"]},
        "many": {"type": "array"},
        "loop": {"$ref": "#/definitions/loop"},
        "spaced": {"$ref": "#/definitions/a%20b"},
        "0": {"type": "string"},
    },
    "required": ["name", "home", "rooms"],
    "allOf": [{"required": ["day"]}],
    "anyOf": [{"required": ["unit"]}, {"required": ["mail"]}],
}


@pytest.fixture
def declared() -> Declared:
    return Declared(SCHEMA)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (("name",), "string"),
        (("unit",), "enum"),
        (("fixed",), "enum"),
        (("day",), "date"),
        (("mail",), "string"),
        (("home",), "object"),
        (("home", "zip"), "string"),
        (("work", "zip"), "string"),
        (("rooms", 3, "beds"), "integer"),
        (("pair", 0), "string"),
        (("pair", 7), "number"),
        (("map", "xs"), "integer"),
        (("map", "other"), "string"),
        (("spaced",), "boolean"),
        (("unknown",), ""),
        (("loop",), ""),
    ],
)
def test_the_type_is_found_wherever_it_is_written(
    declared: Declared, path: Path, kind: str
) -> None:
    assert declared.label(path).type == kind


@pytest.mark.parametrize(
    ("path", "required"),
    [
        (("name",), True),
        (("day",), True),
        (("home", "zip"), True),
        (("work", "zip"), False),
        (("rooms", 0, "beds"), True),
        (("unit",), False),
        (("opts", "dry"), False),
    ],
)
def test_required_means_the_tool_cannot_be_called_without_it(
    declared: Declared, path: Path, required: bool
) -> None:
    """A branch of ``anyOf`` requires nothing by itself; neither does an optional parent's child."""
    assert declared.label(path).required is required


@pytest.mark.parametrize(
    ("path", "free"),
    [
        (("name",), True),
        (("unit",), False),
        (("fixed",), False),
        (("mail",), False),
        (("home", "zip"), False),
        (("pair", 0), True),
    ],
)
def test_a_string_is_free_unless_something_binds_it(
    declared: Declared, path: Path, free: bool
) -> None:
    assert declared.label(path).free_text is free


@pytest.mark.parametrize(
    ("path", "value", "admitted"),
    [
        (("name",), "x", True),
        (("name",), 1, False),
        (("home", "zip"), None, True),
        (("home", "zip"), 1, False),
        (("home",), 1, False),
        (("work",), "x", True),
        (("work",), 1, False),
        (("unit",), "K", True),
        (("unit",), 1, False),
        (("fixed",), 2, True),
        (("fixed",), "2", False),
        (("pair", 1), 1, True),
        (("pair", 1), 1.5, True),
        (("pair", 1), True, False),
        (("rooms", 0, "beds"), 2.0, True),
        (("rooms", 0, "beds"), 2.5, False),
        (("unknown",), 1, True),
        (("loop",), 1, True),
    ],
)
def test_admitted_types_follow_references_branches_and_enums(
    declared: Declared, path: Path, value: Any, admitted: bool
) -> None:
    assert declared.admits_type(path, value) is admitted


def test_all_of_narrows_the_types() -> None:
    declared = Declared(
        {
            "properties": {
                "a": {"type": ["string", "integer"], "allOf": [{"type": ["integer", "null"]}]}
            }
        }
    )
    assert declared.admits_type(("a",), 1)
    assert not declared.admits_type(("a",), "1")
    assert not declared.admits_type(("a",), None)


def test_a_default_comes_from_the_slot_or_from_above(declared: Declared) -> None:
    assert declared.default(("unit",)) == "C"
    assert declared.default(("opts", "dry")) is True
    assert declared.default(("opts", "dry", "deeper")) is ABSENT
    assert declared.default(("name",)) is ABSENT


@pytest.mark.parametrize(
    ("path", "declares"),
    [
        (("name",), True),
        (("home", "zip"), True),
        (("rooms", 5), True),
        (("open", "any"), True),
        (("map", "other"), True),
        (("shut", "any"), False),
        (("never",), False),
        (("unknown",), False),
        (("unknown", "deeper"), False),
        (("bare", "any"), True),
        (("bare", "any", "deeper"), True),
        (("names", "b"), True),
        (("names", "c"), False),
        (("many", 3), True),
        (("pair", 0), True),
        ((), True),
    ],
)
def test_declares_says_whether_the_schema_speaks_of_a_place(
    declared: Declared, path: Path, declares: bool
) -> None:
    assert declared.declares(path) is declares


def test_digits_are_an_index_only_where_the_schema_has_a_list(declared: Declared) -> None:
    assert declared.path("/rooms/0/beds") == ("rooms", 0, "beds")
    assert declared.path("/0") == ("0",)
    assert declared.path("/map/0") == ("map", "0")


def test_a_pattern_only_ecma_knows_breaks_nothing() -> None:
    declared = Declared({"patternProperties": {r"^\p{L}+$": {"type": "string"}}})
    assert declared.label(("a",)).type == ""


def test_an_endless_list_does_not_fill_the_memory(declared: Declared) -> None:
    for index in range(10_000):
        assert declared.label(("rooms", index, "beds")).type == "integer"
    assert len(declared._labels) <= 4100


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (None, "null"),
        (True, "boolean"),
        (1, "integer"),
        (1.0, "integer"),
        (1.5, "number"),
        ("", "string"),
        ([], "array"),
        ({}, "object"),
    ],
)
def test_json_types(value: Any, name: str) -> None:
    assert json_type(value) == name


@pytest.mark.parametrize("token", ["9" * 5000, "01", "²"])
def test_a_token_that_is_no_list_index_is_a_key(token: str) -> None:
    """As an endless reply may name it: int() would refuse it with an error of its own."""
    declared = Declared({"properties": {"l": {"type": "array", "items": {"type": "string"}}}})
    assert declared.path(f"/l/{token}") == ("l", token)
    assert declared.path("/l/10") == ("l", 10)
