"""References put in place, for engines that do not follow them."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from callbench.models.references import inlined, resolve

INTEGER = {"type": "integer"}


@pytest.mark.parametrize(
    ("root", "ref", "target"),
    [
        ({"definitions": {"p": INTEGER}}, "#/definitions/p", INTEGER),
        ({"a/b~c d": INTEGER}, "#/a~1b~0c%20d", INTEGER),
        ({"a": [{}, INTEGER]}, "#/a/1", INTEGER),
        ({"": INTEGER}, "#/", INTEGER),
        (INTEGER, "#", INTEGER),
        ({"a": [INTEGER]}, "#/a/1", None),
        ({"a": [INTEGER]}, "#/a/-1", None),
        ({"a": 1}, "#/a/b", None),
        ({}, "#/none", None),
        ({}, "#name", None),
        ({}, "other.json#/a", None),
        ({}, 1, None),
    ],
)
def test_resolve(root: Any, ref: Any, target: Any) -> None:
    assert resolve(root, ref) == target


def test_chains_are_followed_and_definitions_left_out() -> None:
    schema = {
        "type": "object",
        "definitions": {"a": {"$ref": "#/definitions/b"}, "b": INTEGER},
        "properties": {"x": {"$ref": "#/definitions/a"}, "l": {"items": [{"$ref": "#/$defs/c"}]}},
        "$defs": {"c": {"type": "string"}},
    }
    before = deepcopy(schema)
    assert inlined(schema) == {
        "type": "object",
        "properties": {"x": INTEGER, "l": {"items": [{"type": "string"}]}},
    }
    assert schema == before


def test_recursion_ends_in_anything() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/definitions/n"}}}
    schema = {"definitions": {"n": node}, "properties": {"head": {"$ref": "#/definitions/n"}}}
    assert inlined(schema) == {
        "properties": {"head": {"type": "object", "properties": {"next": {}}}}
    }


def test_the_root_may_be_a_reference() -> None:
    assert inlined({"$ref": "#/definitions/p", "definitions": {"p": INTEGER}}) == INTEGER


def test_values_that_look_like_references_stay() -> None:
    schema = {"enum": [{"$ref": "#"}], "const": {"$ref": "#"}}
    assert inlined(schema) == schema
