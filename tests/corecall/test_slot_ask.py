"""ask_schema and asked: the nested schema that models are shown."""

from __future__ import annotations

from typing import Any

import pytest

from corecall.slot.processor import SlotProcessor


def shown(
    schema: dict[str, Any], known: dict[str, Any], *, optional: bool = False
) -> dict[str, Any]:
    processor = SlotProcessor(schema)
    asked = processor.asked(processor.check_json(known), known, optional=optional)
    return processor.ask_schema(asked, known)


TEXT = {"type": "string"}
STAY = {
    "type": "object",
    "title": "Stay",
    "description": "A stay",
    "additionalProperties": False,
    "properties": {
        "city": TEXT,
        "guest": {
            "title": "Guest",
            "description": "Who stays",
            "minProperties": 0,
            "properties": {
                "name": TEXT,
                "home": {"properties": {"zip": {"type": "integer"}}, "required": ["zip"]},
                "nick": TEXT,
            },
            "required": ["name", "home"],
        },
        "stops": {
            "type": "array",
            "items": {
                "description": "A stop",
                "properties": {"at": TEXT, "n": TEXT},
                "required": ["at"],
            },
        },
        "note": TEXT,
        "never": False,
    },
    "required": ["guest", "city"],
}


class TestNesting:
    @pytest.mark.rule("slot.ask.2")
    def test_what_is_said_beside_a_reference_goes_first(self) -> None:
        schema = {
            "properties": {
                "g": {"$ref": "#/definitions/via", "description": "mine"},
                "h": {"allOf": [{"description": "d", "title": "t"}], "required": ["x"]},
            },
            "definitions": {
                "via": {"$ref": "#/definitions/g", "title": "via", "description": "no"},
                "g": {"title": "no", "description": "no", "required": ["x"]},
            },
        }
        found = shown(schema, {"g": {}, "h": {}})["properties"]
        assert (found["g"]["title"], found["g"]["description"]) == ("via", "mine")
        assert list(found["h"]) == ["type", "title", "description", "properties", "required"]

    @pytest.mark.rule("slot.ask.1", "slot.ask.2")
    def test_members_nest_in_order_and_all_are_required(self) -> None:
        assert shown(STAY, {"guest": {"home": {}}}) == {
            "type": "object",
            "title": "Stay",
            "description": "A stay",
            "properties": {
                "city": TEXT,
                "guest": {
                    "type": "object",
                    "title": "Guest",
                    "description": "Who stays",
                    "properties": {
                        "name": TEXT,
                        "home": {
                            "type": "object",
                            "properties": {"zip": {"type": "integer"}},
                            "required": ["zip"],
                        },
                    },
                    "required": ["name", "home"],
                },
            },
            "required": ["city", "guest"],
        }

    @pytest.mark.rule("slot.ask.1")
    def test_order_is_that_of_the_remaining_schema(self) -> None:
        schema = {"properties": {"z": TEXT, "a": TEXT}, "required": ["a", "z"]}
        found = shown(schema, {})
        assert (list(found["properties"]), found["required"]) == (["z", "a"], ["z", "a"])

    @pytest.mark.rule("slot.ask.1")
    def test_names_are_unescaped(self) -> None:
        schema = {"properties": {name: {} for name in ("a/b", "m~n", "", "/x")}}
        schema["required"] = ["a/b", "m~n", "", "/x"]  # type: ignore[assignment]
        assert list(shown(schema, {})["properties"]) == ["a/b", "m~n", "", "/x"]

    @pytest.mark.rule("slot.ask.2", "slot.ask.3")
    def test_each_item_of_a_list_of_schemas_is_described_by_its_own(self) -> None:
        items = [
            {"description": "from", "required": ["at"]},
            {"description": "to", "required": ["at"]},
        ]
        found = shown({"properties": {"way": {"items": items}}}, {"way": [{}, {}]})
        shown_items = found["properties"]["way"]["properties"]
        assert [item["description"] for item in shown_items.values()] == ["from", "to"]

    @pytest.mark.rule("slot.ask.3")
    def test_items_of_a_known_array_under_their_indexes(self) -> None:
        known = {"guest": {"name": "I", "home": {"zip": 1}}, "city": "x"}
        found = shown(STAY, {**known, "stops": [{"at": "a"}, {"at": 5}, {}]})
        item = {
            "type": "object",
            "description": "A stop",
            "properties": {"at": TEXT},
            "required": ["at"],
        }
        assert found["properties"] == {
            "stops": {
                "type": "object",
                "properties": {"1": item, "2": item},
                "required": ["1", "2"],
            }
        }

    @pytest.mark.rule("slot.ask.4")
    def test_a_wrong_root_is_shown_whole(self) -> None:
        schema = {
            "title": "T",
            "properties": {"a": {"$ref": "#/definitions/d"}},
            "minProperties": 1,
            "definitions": {"d": TEXT},
        }
        assert shown(schema, {}) == schema

    @pytest.mark.rule("slot.ask.5")
    def test_forbidden_members_are_left_out(self) -> None:
        schema = {"properties": {"never": False, "a": {}}, "required": ["a"]}
        assert list(shown(schema, {"never": 1})["properties"]) == ["a"]
        assert shown(schema, {"never": 1, "a": 2}) == {}

    @pytest.mark.rule("slot.ask.6")
    def test_definitions_go_along_and_no_more_than_needed(self) -> None:
        schema = {
            "properties": {"a": {"$ref": "#/definitions/d"}, "b": {"$ref": "#/definitions/e"}},
            "required": ["a"],
            "definitions": {"d": {"items": {"$ref": "#/definitions/f"}}, "e": {}, "f": TEXT},
        }
        found = shown(schema, {})
        assert found["definitions"].keys() == {"d", "f"}
        SlotProcessor(found)  # every reference resolves

    @pytest.mark.rule("slot.ask.1", "slot.merge.5")
    def test_a_nested_answer_fills_what_was_asked(self) -> None:
        known = {"guest": {"home": {}}, "stops": [{"at": "x"}, {}]}
        processor = SlotProcessor(STAY)
        answer = {
            "city": "c",
            "guest": {"name": "n", "home": {"zip": 1}},
            "stops": {"1": {"at": "y"}},
        }
        assert SlotProcessor(shown(STAY, known)).is_valid(answer)
        assert processor.check_json(processor.merge(known, answer).data) == {}


class TestOptional:
    FULL = {"guest": {"name": "I", "home": {"zip": 1}}, "city": "x"}

    @pytest.mark.rule("slot.ask.9")
    def test_not_asked_for_unless_wanted(self) -> None:
        assert shown(STAY, self.FULL) == {}

    @pytest.mark.rule("slot.ask.7", "slot.ask.8")
    def test_all_that_may_be_there_admitting_null(self) -> None:
        found = shown(STAY, {**self.FULL, "stops": [{"at": "a"}]}, optional=True)
        maybe = {"type": ["string", "null"]}
        assert found["properties"]["note"] == maybe
        assert found["properties"]["guest"]["properties"] == {"nick": maybe}
        assert found["properties"]["stops"]["properties"]["0"]["properties"] == {"n": maybe}
        assert found["properties"].keys() == {"note", "guest", "stops"}
        assert set(found["required"]) == {"note", "guest", "stops"}

    @pytest.mark.rule("slot.ask.7")
    @pytest.mark.parametrize(
        ("schema", "value"),
        [
            ({"type": "string", "allOf": [{"enum": ["v"]}]}, "v"),
            ({"type": "string", "if": {"type": "null"}, "then": False}, "v"),
            ({"type": "integer", "not": {"type": "null"}}, 1),
            ({"enum": ["v"], "oneOf": [{"minLength": 1}, {"type": "null"}]}, "v"),
            ({"$ref": "#/definitions/t", "type": "string"}, "v"),
            ({"type": "array", "items": TEXT}, ["v"]),
        ],
    )
    def test_null_is_admitted_whatever_else_the_schema_says(self, schema: Any, value: Any) -> None:
        asked = shown({"properties": {"o": schema}, "definitions": {"t": TEXT}}, {}, optional=True)
        for answer, admitted in ((value, True), (None, True), (False, False)):
            assert SlotProcessor(asked).is_valid({"o": answer}) is admitted

    @pytest.mark.rule("slot.ask.7")
    @pytest.mark.parametrize(
        "schema",
        [{}, {"minLength": 1}, {"type": ["object", "null"]}, {"anyOf": [TEXT, {"const": None}]}],
    )
    def test_what_admits_null_stays(self, schema: Any) -> None:
        assert shown({"properties": {"o": schema}}, {}, optional=True)["properties"] == {
            "o": schema
        }

    @pytest.mark.rule("slot.ask.7")
    def test_after_what_is_missing(self) -> None:
        schema = {"properties": {"o": TEXT, "r": TEXT, "p": TEXT}, "required": ["r"]}
        found = shown(schema, {}, optional=True)
        assert list(found["properties"]) == ["r", "o", "p"]
        assert found["properties"]["r"] == TEXT

    @pytest.mark.rule("slot.ask.8")
    def test_an_absent_object_is_asked_for_whole(self) -> None:
        schema = {"properties": {"g": {"type": "object", "properties": {"x": TEXT}}}}
        (asked,) = shown(schema, {}, optional=True)["properties"].values()
        assert SlotProcessor(asked).is_valid({"x": "y"})
        assert SlotProcessor(asked).is_valid(None)

    @pytest.mark.rule("slot.ask.8")
    def test_nothing_beneath_what_is_asked_for_anyway(self) -> None:
        schema = {
            "properties": {
                "g": {"properties": {"x": TEXT, "y": TEXT}, "minProperties": 1, "type": "object"}
            }
        }
        assert shown(schema, {"g": {}}, optional=True)["properties"] == schema["properties"]

    @pytest.mark.rule("slot.ask.8")
    def test_nothing_where_the_root_is_wrong(self) -> None:
        schema = {"properties": {"x": TEXT}, "minProperties": 1}
        assert shown(schema, {}, optional=True) == schema
