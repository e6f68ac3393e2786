"""convert_json, ask_schema and their kin.

Ids like r165 are reports of real faults.
"""

from __future__ import annotations

import copy
import json
import logging
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callbench.fuzz.strategies import json_objects, json_values, object_schemas
from corecall import pointer
from corecall.slot.processor import DataError, SlotProcessor

DATA = json_values()
OBJECT_SCHEMAS = object_schemas()
OBJECTS = json_objects()


FREE = SlotProcessor({})
LISTS = SlotProcessor(
    {
        "properties": {
            "l": {"type": "array", "items": {"type": "array"}},
            "objects": {"items": {"properties": {"x": {"type": "array"}}}},
            "maybe": {"anyOf": [{"type": "null"}, {"type": "array"}]},
            "either": {"type": ["array", "object"]},
            "ref": {"$ref": "#/definitions/list"},
            "tuple": {"items": [{"type": "array"}, {"type": "object"}]},
        },
        "patternProperties": {"^p": {"type": "array"}},
        "additionalProperties": {"type": "array"},
        "definitions": {"list": {"allOf": [{"type": "array"}]}},
    }
)


class TestForm:
    @pytest.mark.rule("schema.convert.1", "schema.convert.2", "schema.convert.3")
    @pytest.mark.trap("A19", "A22")
    @pytest.mark.parametrize(
        ("data", "expected"),
        [
            ({}, {}),
            ({"a": 1, "b": None}, {"a": 1, "b": None}),
            ({"/a": 1}, {"a": 1}),
            ({"/a/b/c": 1}, {"a": {"b": {"c": 1}}}),
            ({"/a": {"b": 1}, "/a/c": 2}, {"a": {"b": 1, "c": 2}}),
            ({"/a/b": 1, "a": {"c": 2}}, {"a": {"b": 1, "c": 2}}),
            ({"a": {"c": 2}, "/a/b": 1}, {"a": {"c": 2, "b": 1}}),
            ({"/a~1b": 1, "/m~0n": 2, "/": 3}, {"a/b": 1, "m~n": 2, "": 3}),
            ({"": 1, "a/b": 2}, {"": 1, "a/b": 2}),
            ({"": {"a": 1}}, {"": {"a": 1}}),  # "" is a name here, never the root
            ({"/a": 1, "a": 2}, {"a": 2}),  # in order
            ({"a": 2, "/a": 1}, {"a": 1}),
            ({"/a": [1], "/a/0": 2}, {"a": [2]}),
            ({"a": {"/b": 1}}, {"a": {"/b": 1}}),  # only the outermost keys are pointers
            ({"/I'm": 1}, {"I'm": 1}),  # r172
        ],
    )
    def test_keys(self, data: dict[str, Any], expected: dict[str, Any]) -> None:
        assert FREE.convert_json(data) == expected

    @pytest.mark.rule("schema.convert.3")
    @pytest.mark.trap("A22")
    def test_all_pointers_apply(self) -> None:
        """Only the last survived."""
        assert FREE.convert_json({"/a/x": 1, "/a/y": 2, "/b": 3}) == {"a": {"x": 1, "y": 2}, "b": 3}

    @pytest.mark.rule("schema.convert.11")
    def test_order_of_members_is_order_of_keys(self) -> None:
        assert list(FREE.convert_json({"/z": 1, "y": 2, "/x": 3}, {"w": 0})) == ["w", "z", "y", "x"]

    @pytest.mark.rule("schema.convert.11")
    def test_a_value_that_is_replaced_keeps_its_place(self) -> None:
        base = {"a": 1, "b": {"x": 1, "y": 2}, "c": 3}
        made = FREE.convert_json({"/b/x": 9, "a": 4, "/b/z": 0, "b": {"y": 5}, "d": 6}, base)
        assert list(made) == ["a", "b", "c", "d"]
        assert list(made["b"]) == ["x", "y", "z"]

    @pytest.mark.rule("schema.convert.2")
    def test_only_the_outermost_keys_are_pointers(self) -> None:
        data = {"a": {"/b": {"/c": 1}}, "/d": {"/e": 2}, "l": [{"/f": 3}]}
        inner = {"a": {"/b": {"/c": 1}}, "d": {"/e": 2}, "l": [{"/f": 3}]}
        assert FREE.convert_json(data) == inner
        assert FREE.convert_json(data, {"a": {"b": 0}, "d": {"e": 0}, "l": [{"f": 0}]}) == {
            "a": {"b": 0, "/b": {"/c": 1}},
            "d": {"e": 0, "/e": 2},
            "l": [{"/f": 3}],
        }

    @pytest.mark.rule("schema.convert.12")
    def test_nothing_is_validated(self) -> None:
        closed = SlotProcessor({"properties": {"a": {"type": "string"}}, "propertyNames": False})
        data = {"a": 5, "b": None, "c": {"d": [None]}}
        assert closed.convert_json(data) == data
        assert closed.convert_json({"/a": None, "/q/r": 1}) == {"a": None, "q": {"r": 1}}


class TestBase:
    @pytest.mark.rule(
        "schema.convert.3",
        "schema.convert.4",
        "schema.convert.5",
        "schema.convert.6",
        "schema.convert.7",
    )
    @pytest.mark.trap("A15", "A21")
    @pytest.mark.parametrize(
        ("base", "data", "expected"),
        [
            ({"a": {"x": 1, "y": 2}}, {"a": {"y": 3}}, {"a": {"x": 1, "y": 3}}),
            ({"a": {"x": {"y": 1}}}, {"/a/x": {"z": 2}}, {"a": {"x": {"y": 1, "z": 2}}}),
            (
                {"a": {"x": {"y": 1}}},
                {"a": {"x": {"z": 2}}},
                {"a": {"x": {"y": 1, "z": 2}}},
            ),
            ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
            ({"a": 1}, {"a": {"b": 1}}, {"a": {"b": 1}}),
            ({"a": {"b": 1}}, {"a": 1}, {"a": 1}),
            ({"a": {"b": 1}}, {"a": {}}, {"a": {"b": 1}}),
            ({"a": {"b": 1}}, {"a": None}, {"a": None}),
            ({"l": [1, 2]}, {"/l/0": 9}, {"l": [9, 2]}),  # replaces, does not insert
            ({"l": [1]}, {"/l/1": 2}, {"l": [1, 2]}),
            ({"f": [1]}, {"/f/-": 2}, {"f": [1, 2]}),  # r165
            ({"l": [{"x": 1}]}, {"/l/0": {"y": 2}}, {"l": [{"x": 1, "y": 2}]}),
            ({"l": [{"x": 1}]}, {"/l/0/y": 2}, {"l": [{"x": 1, "y": 2}]}),
            ({"l": [{"x": 1}]}, {"/l/1/y": 2}, {"l": [{"x": 1}, {"y": 2}]}),
            ({"l": [{"x": 1}, 5]}, {"l": {"1": 6}}, {"l": [{"x": 1}, 6]}),
            ({"l": [{"x": 1}]}, {"l": {"0": {"y": 2}}}, {"l": [{"x": 1, "y": 2}]}),
            ({"l": [0]}, {"l": {"2": 2, "1": 1}}, {"l": [0, 1, 2]}),
            ({"l": [0]}, {"l": {"01": 1}}, {"l": {"01": 1}}),  # r162
            ({"l": [0]}, {"l": {"0": 1, "x": 2}}, {"l": {"0": 1, "x": 2}}),
            ({"l": [0]}, {"l": {}}, {"l": {}}),
            ({"l": [0]}, {"l": {"-": 1}}, {"l": {"-": 1}}),
            ({"l": [0, 0]}, {"/l": {"1": 5}}, {"l": [0, 5]}),
            ({"l": [[1], 2]}, {"/l/0": {"0": 5}}, {"l": [[5], 2]}),
            ({"l": [[1]]}, {"/l/0": [5]}, {"l": [[5]]}),
            ({"l": [1]}, {"/l/-/x": 2, "/l/2/y": 3}, {"l": [1, {"x": 2}, {"y": 3}]}),
            ({"l": []}, {"/l/0": 1, "/l/-": 2}, {"l": [1, 2]}),
            ({"a": {"0": "x"}}, {"/a/0": "y"}, {"a": {"0": "y"}}),  # r166
            ({"a": {"00": "y"}}, {"/a/00": "z"}, {"a": {"00": "z"}}),  # r162
            ({"a": {"-": 1}}, {"/a/-": 2}, {"a": {"-": 2}}),
        ],
    )
    def test_onto(
        self, base: dict[str, Any], data: dict[str, Any], expected: dict[str, Any]
    ) -> None:
        before = copy.deepcopy((base, data))
        assert FREE.convert_json(data, base) == expected
        assert (base, data) == before

    def test_result_shares_nothing(self) -> None:
        base, data = {"a": {"b": [1]}}, {"c": {"d": [2]}, "/e": [3], "/f/g": {"h": [4]}}
        result = FREE.convert_json(data, base)
        for part in (result["a"]["b"], result["c"]["d"], result["e"], result["f"]["g"]["h"]):
            part.append("changed")
        result["a"]["x"] = result["c"]["x"] = result["f"]["g"]["x"] = "changed"
        assert base == {"a": {"b": [1]}}
        assert data == {"c": {"d": [2]}, "/e": [3], "/f/g": {"h": [4]}}

    @pytest.mark.rule("schema.convert.9", "schema.convert.10")
    @pytest.mark.trap("A21")
    @pytest.mark.parametrize(
        ("base", "data"),
        [
            ({"l": [1]}, {"/l/2": 9}),  # past the end
            ({"l": [1]}, {"/l/2/x": 9}),
            ({"l": [1]}, {"/l/x": 9}),
            ({"l": [1]}, {"/l/00": 9}),  # r162
            ({"l": [1]}, {"/l/+0": 9}),  # r163
            ({"l": [1]}, {"/l/-1": 9}),
            ({"l": [1]}, {"/l/0/x": 9}),  # through a scalar
            ({"a": "text"}, {"/a/0": 9}),
            ({"a": None}, {"/a/b": 9}),
            ({"a": 1}, {"/a/b/c/d": 9}),
            ({"a": 1}, {"/a~2": 9}),
            ({"a": 1}, {"/a~": 9}),
            pytest.param({"l": [1]}, {"l": {"5": 9}}, marks=pytest.mark.rule("schema.convert.7")),
            ({}, {"/a" * 101: 9}),
            ({}, {"/a" * 100: [[9]]}),
            ({}, {"/a" * 100_000: 9}),
        ],
    )
    def test_inapplicable_is_skipped_with_a_warning(
        self, base: dict[str, Any], data: dict[str, Any], caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.WARNING, logger="corecall.slot.convert"):
            assert FREE.convert_json({**data, "after": 1}, base) == {**base, "after": 1}
        assert len(caplog.records) == 1
        assert "skipped" in caplog.text

    @pytest.mark.rule("schema.convert.10")
    def test_depth_of_a_pointer_and_its_value_is_the_limit(self) -> None:
        made = FREE.convert_json({"/a" * 99: [9]})
        assert pointer.get(made, "/a" * 99) == [9]


class TestParents:
    """Made as the schema says."""

    @pytest.mark.rule("schema.convert.8")
    @pytest.mark.parametrize(
        ("data", "expected"),
        [
            ({"/l/0/0": 1}, {"l": [[1]]}),
            ({"/l/-/-": 1}, {"l": [[1]]}),
            ({"/objects/0/x/0": 1}, {"objects": [{"x": [1]}]}),
            ({"/objects/0/y/0": 1}, {"objects": [{"y": {"0": 1}}]}),
            ({"/maybe/0": 1}, {"maybe": [1]}),
            ({"/either/0": 1}, {"either": {"0": 1}}),
            ({"/ref/0": 1}, {"ref": [1]}),
            ({"/tuple/0/0": 1, "/tuple/1/0": 1}, {"tuple": [[1], {"0": 1}]}),
            ({"/pat/0": 1}, {"pat": [1]}),
            ({"/other/0": 1}, {"other": [1]}),
            ({"/l/0": [1], "/l/0/1": 2}, {"l": [[1, 2]]}),
        ],
    )
    def test_made(self, data: dict[str, Any], expected: dict[str, Any]) -> None:
        assert LISTS.convert_json(data) == expected

    @pytest.mark.rule("schema.convert.9")
    @pytest.mark.parametrize("place", ["/l/1", "/l/x", "/l/0/1", "/l/00", "/ref/x/y"])
    def test_nothing_is_made_for_a_pointer_that_cannot_apply(self, place: str) -> None:
        assert LISTS.convert_json({place: 1}) == {}

    @pytest.mark.rule("schema.convert.8")
    @pytest.mark.parametrize(
        ("own", "is_array"),
        [
            ({}, False),
            ({"items": {}}, True),
            ({"contains": {}}, True),
            ({"minItems": 1}, True),
            ({"maxItems": 1}, True),
            ({"uniqueItems": True}, True),
            ({"items": {}, "properties": {}}, False),
            ({"items": {}, "patternProperties": {}}, False),
            ({"items": {}, "additionalProperties": True}, False),
            ({"items": {}, "required": ["a"]}, False),
            ({"allOf": [{"items": {}}, {"properties": {}}]}, False),
            ({"type": "array", "properties": {}}, True),
            ({"type": ["string", "array"]}, True),
            ({"if": {"type": "array"}}, False),
            ({"not": {"type": "array"}}, False),
            ({"if": {}, "else": {"type": "array"}}, True),
            ({"allOf": [{"$ref": "#/definitions/list"}]}, True),
            ({"type": "string"}, False),
            ({"type": "object", "items": {}}, False),
            ({"oneOf": [{"type": "string"}, {"type": "array"}]}, True),
            ({"anyOf": [{"type": "object"}, {"type": "array"}]}, False),
            ({"if": {}, "then": {"type": "array"}}, True),
            ({"dependencies": {"x": {"type": "array"}, "y": ["x"]}}, True),
        ],
    )
    def test_what_says_array(self, own: dict[str, Any], is_array: bool) -> None:
        definitions = {"list": {"type": "array"}}
        processor = SlotProcessor({"properties": {"a": own}, "definitions": definitions})
        made = processor.convert_json({"/a/0": 1})
        assert made == {"a": [1] if is_array else {"0": 1}}


def without_pointers(data: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if not name.startswith("/")}


class TestAnything:
    @pytest.mark.rule("schema.convert.3", "schema.convert.4")
    @settings(max_examples=200, deadline=None)
    @given(data=OBJECTS.map(without_pointers), base=OBJECTS)
    def test_plain_data_stays_and_conversion_repeats(
        self, data: dict[str, Any], base: dict[str, Any]
    ) -> None:
        assert FREE.convert_json(data) == data
        once = FREE.convert_json(data, base)
        assert FREE.convert_json(data, once) == once
        assert FREE.convert_json({}, base) == base

    @pytest.mark.rule("schema.convert.9")
    @settings(max_examples=200, deadline=None)
    @given(
        schema=OBJECT_SCHEMAS,
        data=st.dictionaries(
            st.lists(st.sampled_from(["a", "b", "0", "1", "-", "~", "~1", ""]), max_size=4).map(
                lambda parts: "/" + "/".join(parts)
            ),
            DATA,
            max_size=4,
        ),
        base=OBJECTS,
    )
    def test_any_pointers_end_and_change_no_argument(
        self, schema: dict[str, Any], data: dict[str, Any], base: dict[str, Any]
    ) -> None:
        before = copy.deepcopy((data, base))
        FREE.convert_json(data, base)
        SlotProcessor(schema).convert_json(data, base)
        assert (data, base) == before

    @pytest.mark.rule("schema.convert.13")
    @pytest.mark.parametrize("data", [[], "x", None, 1])
    def test_data_is_an_object(self, data: Any) -> None:
        with pytest.raises(DataError, match="expected an object"):
            FREE.convert_json(data)

    @pytest.mark.rule("schema.convert.13")
    @pytest.mark.parametrize("base", [[1], [], "", "x", 0, False])
    def test_base_is_an_object_or_left_out(self, base: Any) -> None:
        with pytest.raises(DataError, match="expected an object"):
            FREE.convert_json({}, base)
        assert FREE.convert_json({"a": 1}, None) == {"a": 1}

    @pytest.mark.rule("schema.limit.1")
    def test_both_nest_at_most_100_deep(self) -> None:
        value: Any = 0
        for _ in range(99):
            value = [value]
        assert FREE.convert_json({"a": value}, {"b": value}) == {"b": value, "a": value}
        for data, base in (({"a": [value]}, {}), ({}, {"a": [value]})):
            with pytest.raises(DataError, match="nested deeper than 100"):
                FREE.convert_json(data, base)

    @pytest.mark.rule("schema.convert.1", "schema.convert.3", "schema.convert.11")
    @settings(max_examples=150, deadline=None)
    @given(data=OBJECTS)
    def test_leaves_by_pointer_make_the_object(self, data: dict[str, Any]) -> None:
        """Members, order and all; an array is one leaf."""
        flat = {pointer.join(tokens): value for tokens, value in leaves((), data) if tokens}
        assert json.dumps(FREE.convert_json(flat)) == json.dumps(data)


def leaves(tokens: tuple[str, ...], value: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, dict) and value:
        for name, child in value.items():
            yield from leaves((*tokens, name), child)
    else:
        yield tokens, value


TRIP = {
    "title": "Trip",
    "description": "a journey",
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "where", "default": "杭州"},
        "guest": {
            "description": "who travels",
            "type": "object",
            "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
            "required": ["name", "age"],
        },
        "stops": {
            "type": "array",
            "items": {
                "title": "Stop",
                "properties": {"at": {"$ref": "#/definitions/place"}, "n": {"type": "integer"}},
                "required": ["at"],
            },
        },
        "note": {"type": "string"},
        "mode": {"enum": ["car", "train"]},
        "home": {"$ref": "#/definitions/place"},
        "never": False,
    },
    "required": ["guest", "city"],
    "additionalProperties": False,
    "definitions": {"place": {"type": "string", "minLength": 1}},
}


class TestAsking:
    def ask(self, known: dict[str, Any]) -> dict[str, Any]:
        processor = SlotProcessor(TRIP)
        return processor.ask_schema(processor.check_json(known), known)

    def test_nested_form(self) -> None:
        known = {"guest": {"name": "王"}, "stops": [{"at": "x"}, {}]}
        assert self.ask(known) == {
            "title": "Trip",
            "description": "a journey",
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "where", "default": "杭州"},
                "guest": {
                    "description": "who travels",
                    "type": "object",
                    "properties": {"age": {"type": "integer"}},
                    "required": ["age"],
                },
                "stops": {
                    "type": "object",
                    "properties": {
                        "1": {
                            "title": "Stop",
                            "type": "object",
                            "properties": {"at": {"$ref": "#/definitions/place"}},
                            "required": ["at"],
                        }
                    },
                    "required": ["1"],
                },
            },
            "required": ["city", "guest", "stops"],
            "definitions": {"place": {"type": "string", "minLength": 1}},
        }

    def test_the_answer_to_it_fills(self) -> None:
        processor = SlotProcessor(TRIP)
        known = {"guest": {"name": "王"}, "stops": [{"at": "x"}, {}]}
        answer = {"city": "杭州", "guest": {"age": 3}, "stops": {"1": {"at": "y"}}}
        merged = processor.merge(known, answer)
        assert processor.check_json(merged.data) == {}
        assert merged.filled == ("/guest/age", "/stops/1/at", "/city")

    def test_forbidden_keys_are_never_asked(self) -> None:
        known = {"city": "x", "guest": {"name": "n", "age": 1}, "extra": 1, "never": 2}
        assert SlotProcessor(TRIP).check_json(known)["required"] == ["/never", "/extra"]
        assert self.ask(known) == {}
        assert list(self.ask({**known, "city": 5})["properties"]) == ["city"]

    def test_nothing_remains(self) -> None:
        assert SlotProcessor(TRIP).ask_schema({}, {}) == {}

    def test_root_asks_for_everything(self) -> None:
        schema = {
            "properties": {"a": {"$ref": "#/definitions/x"}},
            "minProperties": 1,
            "definitions": {"x": {"type": "integer"}},
        }
        processor = SlotProcessor(schema)
        assert processor.ask_schema(processor.check_json({}), {}) == schema

    def test_results_share_nothing(self) -> None:
        processor = SlotProcessor(TRIP)
        remaining = processor.check_json({})
        before = copy.deepcopy(remaining)
        asked = processor.ask_schema(remaining, {})
        asked["properties"]["city"]["type"] = asked["properties"]["guest"]["type"] = "changed"
        assert remaining == before
        assert processor.ask_schema(remaining, {})["properties"]["city"]["type"] == "string"

    def test_missing_optional(self) -> None:
        processor = SlotProcessor(TRIP)
        assert processor.missing_optional({}) == ["/stops", "/note", "/mode", "/home"]
        known: dict[str, Any] = {"stops": [{"n": 1}, {"at": "x"}], "guest": {}, "mode": None}
        assert processor.missing_optional(known) == ["/note", "/home", "/stops/1/n"]

    def test_asked_without_optional_is_what_remains_but_for_the_forbidden(self) -> None:
        processor = SlotProcessor(TRIP)
        known = {"never": 1, "guest": {"name": "x"}}
        remaining = processor.check_json(known)
        asked = processor.asked(remaining, known)
        assert asked["required"] == ["/city", "/guest/age"]
        assert asked["properties"] == {
            place: remaining["properties"][place] for place in ("/city", "/guest/age")
        }
        full = {"city": "x", "guest": {"name": "n", "age": 1}}
        assert processor.asked({}, full) == {}
        assert (
            processor.asked(processor.check_json({**full, "never": 1}), {**full, "never": 1}) == {}
        )

    def test_asked_with_optional(self) -> None:
        """Null means unknown, whatever the type."""
        processor = SlotProcessor(TRIP)
        known = {"city": "x", "guest": {"name": "n", "age": "old"}}
        asked = processor.asked(processor.check_json(known), known, optional=True)
        assert asked["required"] == ["/guest/age", "/stops", "/note", "/mode", "/home"]
        assert asked["properties"]["/note"] == {"type": ["string", "null"]}
        assert asked["properties"]["/mode"] == {"enum": ["car", "train", None]}
        assert asked["properties"]["/home"] == {
            "anyOf": [{"$ref": "#/definitions/place"}, {"type": "null"}]
        }
        nested = SlotProcessor(processor.ask_schema(asked, known))
        unknown = dict.fromkeys(("stops", "note", "mode", "home"))
        assert nested.is_valid({"guest": {"age": 3}, **unknown})
        assert not nested.is_valid({"guest": {"age": None}, **unknown})
        merged = processor.merge(known, {"guest": {"age": 3}, **unknown})
        assert merged.data == {"city": "x", "guest": {"name": "n", "age": 3}}
        assert merged.rejected == merged.undeclared == ()

    def test_optional_beneath_what_remains_is_left_to_it(self) -> None:
        inner = {"properties": {"x": {}, "y": {}}, "minProperties": 1}
        processor = SlotProcessor({"properties": {"a": inner, "b": {}}})
        remaining = processor.check_json({"a": {}})
        assert processor.asked(remaining, {"a": {}}, optional=True)["required"] == ["/a", "/b"]
        root = SlotProcessor({"properties": {"a": {}}, "minProperties": 1})
        assert root.asked(root.check_json({}), {}, optional=True)["required"] == [""]

    @settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow], deadline=None)
    @given(schema=OBJECT_SCHEMAS, known=OBJECTS, value=DATA)
    def test_both_forms_ask_for_the_same(
        self, schema: dict[str, Any], known: dict[str, Any], value: Any
    ) -> None:
        """An answer nests what a pointer-keyed answer lists; both are valid or neither is."""
        processor = SlotProcessor(schema)
        remaining = processor.check_json(known)
        asked = processor.ask_schema(remaining, known)
        places = [
            place for place, own in remaining.get("properties", {}).items() if own != {"not": {}}
        ]
        assert (asked == {}) is (not places)
        if not places or "" in places:
            return
        jsonschema.Draft7Validator.check_schema(asked)
        nested: dict[str, Any] = {}
        for place in places:
            *parents, last = pointer.split(place)
            inner = nested
            for token in parents:
                inner = inner.setdefault(token, {})
            inner[last] = value
        flat = {**remaining, "properties": {p: remaining["properties"][p] for p in places}}
        flat["required"] = places
        assert SlotProcessor(asked).is_valid(nested) is SlotProcessor(flat).is_valid(
            dict.fromkeys(places, value)
        )
        assert not SlotProcessor(asked).is_valid({})
