"""merge: a reply over known data."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callbench.fuzz.strategies import json_objects, json_values, object_schemas
from corecall import pointer
from corecall.slot.processor import DataError, Merge, SlotProcessor

DATA = json_values()
OBJECT_SCHEMAS = object_schemas()
OBJECTS = json_objects()


TRIP = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "minLength": 1},
        "days": {"type": "integer", "minimum": 1},
        "mode": {"enum": ["car", "train"]},
        "guest": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "age": {"type": ["integer", "null"]},
                "home": {
                    "type": "object",
                    "properties": {"zip": {"type": "string"}},
                    "required": ["zip"],
                },
            },
            "required": ["name", "age"],
        },
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "stops": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"at": {"type": "string"}, "n": {"type": "integer"}},
                "required": ["at"],
            },
        },
    },
    "required": ["city", "guest"],
}


def merge(schema: dict[str, Any], known: dict[str, Any], reply: dict[str, Any]) -> Merge:
    before = copy.deepcopy((schema, known, reply))
    merged = SlotProcessor(schema).merge(known, reply)
    assert (schema, known, reply) == before
    return merged


def refused(refusals: Any) -> list[tuple[str, Any]]:
    assert all(refusal.reason for refusal in refusals)
    return [(refusal.pointer, refusal.value) for refusal in refusals]


def data(schema: dict[str, Any], known: dict[str, Any], reply: dict[str, Any]) -> dict[str, Any]:
    """Merge what is to pass whole, and return it."""
    merged = merge(schema, known, reply)
    assert merged.rejected == merged.undeclared == ()
    return merged.data


class TestTraps:
    @pytest.mark.rule("slot.merge.2", "slot.merge.4", "slot.merge.5")
    @pytest.mark.trap("A11")
    def test_known_data_is_never_overwritten(self) -> None:
        known = {"city": "杭州", "guest": {"name": "王"}, "tags": ["a"], "stops": [{"at": "x"}]}
        reply = {
            "city": "上海",
            "guest": {"name": "李", "age": 3},
            "tags": ["b", "c"],
            "stops": [{"at": "y", "n": 2}, {"at": "z"}],
            "/days": 2,
        }
        merged = merge(TRIP, known, reply)
        assert merged.data == {
            "city": "杭州",
            "guest": {"name": "王", "age": 3},
            "tags": ["a"],
            "stops": [{"at": "x", "n": 2}],
            "days": 2,
        }
        assert merged.filled == ("/guest/age", "/stops/0/n", "/days")
        assert merged.rejected == merged.undeclared == ()

    @pytest.mark.rule("slot.merge.1")
    @pytest.mark.trap("A12")
    def test_stage_two_adds_to_stage_one(self) -> None:
        first = merge(TRIP, {}, {"city": "x"})
        second = merge(TRIP, first.data, {"days": 2})
        assert second.data == {"city": "x", "days": 2}
        assert (first.filled, second.filled) == (("/city",), ("/days",))

    @pytest.mark.rule("slot.merge.28")
    @pytest.mark.trap("A13")
    def test_known_parent_with_missing_child_is_kept(self) -> None:
        known = {"guest": {"name": "王"}}
        processor = SlotProcessor(TRIP)
        replies: list[dict[str, Any]] = [{}, {"guest": {}}, {"guest": None}, {"guest": 5}]
        for reply in (*replies, {"guest": {"home": None}}):
            merged = processor.merge(known, reply)
            assert merged.data == known
            assert merged.filled == ()
            assert processor.check_json(merged.data)["required"] == ["/city", "/guest/age"]

    @pytest.mark.rule("slot.merge.3")
    @pytest.mark.trap("A15")
    def test_siblings_stay(self) -> None:
        known = {"guest": {"name": "王", "home": {"zip": "1"}}}
        assert data(TRIP, known, {"guest": {"age": 1}}) == {
            "guest": {"name": "王", "home": {"zip": "1"}, "age": 1}
        }

    @pytest.mark.rule("slot.result.6")
    @pytest.mark.trap("A17")
    def test_defaults_are_never_written(self) -> None:
        assert merge({"properties": {"a": {"default": 1}}}, {}, {}).data == {}

    @pytest.mark.rule("slot.stage1.3")
    @pytest.mark.trap("A22")
    def test_all_pointers_apply(self) -> None:
        reply = {"/guest/name": "王", "/guest/age": 3, "/tags/0": "a", "/stops/0/at": "x"}
        assert data(TRIP, {}, reply) == {
            "guest": {"name": "王", "age": 3},
            "tags": ["a"],
            "stops": [{"at": "x"}],
        }

    @pytest.mark.rule("slot.merge.16")
    @pytest.mark.trap("A32")
    def test_optional_may_be_left_out(self) -> None:
        merged = merge(TRIP, {}, {"city": "x", "guest": {"name": "n", "age": None}})
        assert SlotProcessor(TRIP).check_json(merged.data) == {}


class TestNulls:
    @pytest.mark.rule("slot.merge.10")
    def test_null_that_is_not_admitted_is_not_given(self) -> None:
        assert data(TRIP, {}, {"city": None, "mode": None, "days": None, "tags": None}) == {}

    @pytest.mark.rule("slot.merge.10")
    def test_it_goes_before_anything_else_is_judged(self) -> None:
        """A member that is not given makes no condition hold and requires nothing."""
        schema = {
            "properties": {"a": {"type": "string"}, "b": {}, "l": {"items": {"type": "string"}}},
            "if": {"required": ["a"]},
            "then": {"properties": {"b": {"type": "integer"}}},
        }
        assert data(schema, {}, {"a": None, "b": "x"}) == {"b": "x"}
        assert refused(merge(schema, {}, {"a": "", "b": "x"}).rejected) == [("/b", "x")]
        assert refused(merge(schema, {}, {"a": None, "l": [None]}).rejected) == [("/l", [None])]

    @pytest.mark.rule("slot.merge.11")
    def test_null_that_is_admitted_is_a_value(self) -> None:
        merged = merge(TRIP, {"guest": {"name": "x"}}, {"guest": {"age": None}})
        assert merged.data == {"guest": {"name": "x", "age": None}}
        assert merged.filled == ("/guest/age",)

    @pytest.mark.rule("slot.merge.13")
    def test_objects_emptied_by_it_go_too(self) -> None:
        """An optional object of nulls only must not become one with missing children."""
        assert data(TRIP, {}, {"guest": {"home": {"zip": None}}}) == {}
        assert data(TRIP, {}, {"guest": {"name": "x", "home": {"zip": None}}}) == {
            "guest": {"name": "x"}
        }

    @pytest.mark.rule("slot.merge.13")
    def test_objects_that_were_known_or_given_empty_stay(self) -> None:
        assert data(TRIP, {"guest": {}}, {"guest": {"name": None}}) == {"guest": {}}
        assert merge(TRIP, {}, {"guest": {}}).data == {"guest": {}}
        assert merge(TRIP, {}, {"guest": {}}).filled == ("/guest",)

    @pytest.mark.rule("slot.merge.10", "slot.merge.6")
    def test_null_over_known_null(self) -> None:
        schema = {"properties": {"a": {"type": "string"}}, "required": ["a"]}
        assert data(schema, {"a": None}, {"a": None}) == {"a": None}
        assert data(schema, {"a": None}, {"a": "x"}) == {"a": "x"}

    @pytest.mark.rule("slot.merge.12")
    def test_a_null_item_makes_its_array_wrong(self) -> None:
        found = merge(TRIP, {}, {"tags": ["a", None]})
        assert (found.data, refused(found.rejected)) == ({}, [("/tags", ["a", None])])


class TestRejected:
    @pytest.mark.rule("slot.merge.14", "slot.merge.17", "slot.merge.13")
    @pytest.mark.parametrize(
        ("reply", "merged", "rejected"),
        [
            ({"days": "two"}, {}, [("/days", "two")]),
            ({"days": 0, "city": "x"}, {"city": "x"}, [("/days", 0)]),
            ({"mode": "boat"}, {}, [("/mode", "boat")]),
            ({"guest": "王"}, {}, [("/guest", "王")]),
            ({"guest": {"name": 5, "age": 3}}, {"guest": {"age": 3}}, [("/guest/name", 5)]),
            ({"guest": {"name": 5}}, {}, [("/guest/name", 5)]),
            ({"/guest/name": 5, "/guest/age": 3}, {"guest": {"age": 3}}, [("/guest/name", 5)]),
            ({"tags": ["a", 1]}, {}, [("/tags", ["a", 1])]),
            ({"tags": [1, 2]}, {}, [("/tags", [1, 2])]),
            ({"tags": []}, {}, [("/tags", [])]),
            ({"tags": "a"}, {}, [("/tags", "a")]),
            (
                {"stops": [{"at": 1, "n": 2}, {"at": "x"}]},
                {"stops": [{"n": 2}, {"at": "x"}]},
                [("/stops/0/at", 1)],
            ),
            ({"stops": [{"at": "x"}, 5]}, {}, [("/stops", [{"at": "x"}, 5])]),
            ({"stops": [{"at": 1}]}, {"stops": [{}]}, [("/stops/0/at", 1)]),
        ],
    )
    def test_breaks_its_own_schema(
        self, reply: dict[str, Any], merged: dict[str, Any], rejected: list[Any]
    ) -> None:
        found = merge(TRIP, {}, reply)
        assert found.data == merged
        assert refused(found.rejected) == rejected
        assert found.undeclared == ()

    @pytest.mark.rule("slot.merge.15")
    @pytest.mark.parametrize(
        ("reply", "reason"),
        [
            ({"days": "two"}, "expected integer, got string"),
            ({"guest": {"age": 1.5}}, "expected integer or null, got number"),
            ({"days": 0}, "breaks minimum: 1"),
            ({"mode": "boat"}, 'breaks enum: ["car", "train"]'),
            ({"tags": ["a", 1]}, "/tags/1: expected string, got integer"),
            ({"tags": []}, "breaks minItems: 1"),
        ],
    )
    def test_reasons(self, reply: dict[str, Any], reason: str) -> None:
        assert [refusal.reason for refusal in merge(TRIP, {}, reply).rejected] == [reason]

    @pytest.mark.rule("slot.merge.15")
    def test_long_schemas_are_not_quoted_whole(self) -> None:
        schema = {"properties": {"a": {"enum": ["x" * 500]}}}
        assert len(merge(schema, {}, {"a": "y"}).rejected[0].reason) < 120

    @pytest.mark.rule("slot.merge.21")
    def test_property_that_is_false(self) -> None:
        found = merge({"properties": {"a": False, "b": {}}}, {}, {"a": 1, "b": 2})
        assert found.data == {"b": 2}
        assert refused(found.rejected) == [("/a", 1)]

    @pytest.mark.rule("slot.merge.14")
    def test_a_scalar_that_several_branches_of_one_of_take(self) -> None:
        schema = {"properties": {"x": {"oneOf": [{"type": "integer"}, {"type": "number"}]}}}
        merged = merge(schema, {}, {"x": 1})
        assert (merged.data, refused(merged.rejected)) == ({}, [("/x", 1)])
        assert data(schema, {}, {"x": 1.5}) == {"x": 1.5}

    @pytest.mark.rule("slot.merge.14")
    def test_a_wrong_member_goes_and_not_the_object_that_it_makes_wrong(self) -> None:
        """/p is wrong too, since no branch holds; it is mended by taking out /p/n."""
        person = {"type": "object", "properties": {"n": {"type": "string"}, "m": {}}}
        for own in ({"anyOf": [person, {"type": "null"}]}, {"oneOf": [{"type": "null"}, person]}):
            found = merge({"properties": {"p": own}}, {}, {"p": {"n": 5, "m": 1}})
            assert found.data == {"p": {"m": 1}}
            assert refused(found.rejected) == [("/p/n", 5)]

    @pytest.mark.rule("slot.merge.16")
    def test_incomplete_objects_are_merged(self) -> None:
        """What is missing stays missing, also under anyOf, oneOf and minProperties."""
        person = {"type": "object", "properties": {"n": {"type": "string"}}, "required": ["n", "m"]}
        for own in (
            person,
            {"anyOf": [person, {"type": "null"}]},
            {"oneOf": [{"type": "null"}, person]},
            {"allOf": [person, {"minProperties": 2}]},
            {"allOf": [person, {"dependencies": {"n": ["k"]}}]},
            {"if": {"required": ["z"]}, "else": person},
            {"$ref": "#/definitions/p"},
        ):
            schema = {"properties": {"p": own}, "definitions": {"p": person}}
            assert data(schema, {}, {"p": {"n": "x"}}) == {"p": {"n": "x"}}
            found = merge(schema, {}, {"p": {"n": 5, "m": 1}})
            assert found.data == {"p": {"m": 1}}, own
            assert refused(found.rejected) == [("/p/n", 5)]

    @pytest.mark.rule("slot.merge.14")
    def test_a_fault_that_no_member_of_it_has(self) -> None:
        schema = {"properties": {"p": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}}
        found = merge(schema, {}, {"p": {"x": 1}})
        assert found.data == {}
        assert refused(found.rejected) == [("/p", {"x": 1})]

    @pytest.mark.rule("slot.merge.16")
    @pytest.mark.parametrize("value", [{"c": 1}, [1]])
    def test_what_can_grow_may_hold_several_branches_of_one_of(self, value: Any) -> None:
        schema = {"properties": {"p": {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}}}
        assert data(schema, {}, {"p": value}) == {"p": value}

    @pytest.mark.rule("slot.merge.16")
    def test_not_is_judged_on_what_is_there(self) -> None:
        """Incomplete as it is, the value does not satisfy what is forbidden."""
        schema = {"properties": {"p": {"not": {"required": ["a", "b"]}}}}
        assert data(schema, {}, {"p": {"a": 1}}) == {"p": {"a": 1}}

    @pytest.mark.rule("slot.merge.27")
    def test_a_known_value_that_a_new_one_makes_wrong_stays(self) -> None:
        then = {"properties": {"v": {"type": "integer"}}}
        schema = {"properties": {"k": {}, "v": {}}, "dependencies": {"k": then}}
        assert data(schema, {"v": "x"}, {"k": 1}) == {"v": "x", "k": 1}
        assert data(schema, {"v": "x", "k": 1}, {"v": 2}) == {"v": 2, "k": 1}

    @pytest.mark.rule("slot.merge.27")
    def test_condition_on_another_member(self) -> None:
        schema = {
            "properties": {"k": {}, "v": {}},
            "if": {"properties": {"k": {"const": "n"}}, "required": ["k"]},
            "then": {"properties": {"v": {"type": "integer"}}, "required": ["v"]},
        }
        found = merge(schema, {"k": "n"}, {"v": "x"})
        assert found.data == {"k": "n"}
        assert refused(found.rejected) == [("/v", "x")]
        assert data(schema, {}, {"k": "n", "v": 1}) == {"k": "n", "v": 1}


class TestCombinations:
    @pytest.mark.rule("slot.merge.22")
    def test_the_later_value_goes(self) -> None:
        schema = {"properties": {"a": {}, "b": {}}, "not": {"required": ["a", "b"]}}
        found = merge(schema, {}, {"a": 1, "b": 2})
        assert found.data == {"a": 1}
        assert refused(found.rejected) == [("/b", 2)]
        assert found.rejected[0].reason.startswith("with it, the object breaks not")

    @pytest.mark.rule("slot.merge.22")
    def test_only_the_culprit_goes(self) -> None:
        schema = {
            "properties": {"m": {}, "k": {}, "z": {}},
            "anyOf": [
                {"properties": {"m": {"const": "x"}, "k": {"const": 1}}},
                {"properties": {"m": {"const": "y"}}},
            ],
        }
        found = merge(schema, {"m": "x"}, {"k": 2, "z": 3})
        assert found.data == {"m": "x", "z": 3}
        assert refused(found.rejected) == [("/k", 2)]

    @pytest.mark.rule("slot.merge.22", "slot.merge.23")
    @pytest.mark.parametrize("count", [3, 12, 40])
    def test_too_many_members(self, count: int) -> None:
        reply = {f"k{n}": n for n in range(count)}
        found = merge(
            {"properties": {"o": {}}, "maxProperties": 3, "additionalProperties": {}},
            {"o": 0},
            reply,
        )
        assert found.data["o"] == 0
        assert SlotProcessor({"maxProperties": 3}).is_valid(found.data)
        assert len(found.data) == (3 if count < 16 else 1)
        assert len(found.rejected) == count + 1 - len(found.data)

    @pytest.mark.rule("slot.merge.24")
    def test_a_fault_that_was_there_before_is_not_blamed_on_the_reply(self) -> None:
        schema = {"properties": {"a": {}, "b": {}}, "anyOf": [{"properties": {"a": {"const": 1}}}]}
        found = merge(schema, {"a": 2}, {"b": 3})
        assert found.data == {"a": 2, "b": 3}
        assert found.rejected == ()

    @pytest.mark.rule("slot.merge.22")
    def test_in_a_nested_object(self) -> None:
        schema = {"properties": {"g": {"maxProperties": 1}}}
        found = merge(schema, {"g": {"x": 1}}, {"g": {"y": 2}})
        assert found.data == {"g": {"x": 1}}
        assert found.rejected[0].pointer == "/g/y"
        assert "/g breaks maxProperties" in found.rejected[0].reason

    @pytest.mark.rule("slot.merge.22")
    def test_in_several_objects_at_once(self) -> None:
        schema = {"additionalProperties": {"not": {"required": ["x", "y"]}}}
        known = {"g": {"x": 1}, "h": {"y": 1}, "ok": {"x": 1}}
        found = merge(schema, known, {"g": {"y": 2}, "h": {"x": 2}, "ok": {"z": 2}})
        assert found.data == {"g": {"x": 1}, "h": {"y": 1}, "ok": {"x": 1, "z": 2}}
        assert refused(found.rejected) == [("/g/y", 2), ("/h/x", 2)]

    @pytest.mark.rule("slot.merge.22")
    def test_the_outermost_first(self) -> None:
        """Taking out /g/y for the root's sake mends /g too."""
        pair = {"required": ["x", "y"]}
        schema = {"properties": {"g": {"not": pair}, "a": {}}, "not": {"properties": {"g": pair}}}
        found = merge(schema, {"g": {"x": 1}, "a": 1}, {"g": {"y": 2, "z": 3}})
        assert found.data == {"g": {"x": 1, "z": 3}, "a": 1}
        assert refused(found.rejected) == [("/g/y", 2)]
        assert found.rejected[0].reason.startswith("with it, the object breaks not")

    @pytest.mark.rule("slot.merge.22")
    def test_the_last_goes_where_none_is_the_culprit(self) -> None:
        schema = {"properties": {"o": {"enum": [{}]}}}
        found = merge(schema, {"o": {}}, {"o": {"x": 1, "y": 2}})
        assert found.data == {"o": {}}
        assert refused(found.rejected) == [("/o/y", 2), ("/o/x", 1)]

    @pytest.mark.rule("slot.merge.23")
    @pytest.mark.parametrize(("count", "left"), [(16, 3), (17, 1)])
    def test_sixteen_are_tried(self, count: int, left: int) -> None:
        schema = {"maxProperties": 3}
        found = merge(schema, {"o": 0}, {f"k{n}": n for n in range(count)})
        assert len(found.data) == left
        places = [refusal.pointer for refusal in found.rejected]
        assert places == [f"/k{n}" for n in reversed(range(left - 1, count))]


class TestUndeclared:
    @pytest.mark.rule("slot.merge.19", "slot.merge.20")
    @pytest.mark.parametrize(
        ("schema", "declared"),
        [
            ({"properties": {"a": {}}}, False),
            ({"properties": {"a": {}}, "additionalProperties": False}, False),
            ({"additionalProperties": False}, False),
            ({"patternProperties": {"^a": {}}}, False),
            ({"properties": {"a": {}}, "additionalProperties": True}, True),
            ({"properties": {"a": {}}, "additionalProperties": {}}, True),
            ({"properties": {"a": {}}, "additionalProperties": {"type": "integer"}}, True),
            ({"properties": {"x": {}}}, True),
            ({"patternProperties": {"^x": {}}}, True),
            ({"properties": {"a": {}}, "allOf": [{"properties": {"x": {}}}]}, True),
            ({"properties": {"a": {}}, "anyOf": [{"properties": {"x": {}}}, {}]}, True),
            (
                {
                    "properties": {"a": {}},
                    "oneOf": [{"required": ["q"]}, {"properties": {"x": {}}}],
                },
                True,
            ),
            (
                {"properties": {"a": {}}, "anyOf": [{"type": "null", "properties": {"x": {}}}, {}]},
                False,
            ),
            ({"properties": {"a": {}}, "then": {"properties": {"x": {}}}}, False),
            ({"properties": {"a": {}}, "if": True, "then": {"properties": {"x": {}}}}, True),
            ({"properties": {"a": {}}, "if": True, "else": {"properties": {"x": {}}}}, False),
            ({"if": {"properties": {"x": {}}}, "then": {"properties": {"a": {}}}}, True),
            ({"properties": {"a": {}}, "required": ["x"]}, True),
            ({"properties": {"a": {}}, "dependencies": {"x": ["a"]}}, False),
            ({"properties": {"a": {}}, "dependencies": {"a": ["x"]}}, True),
            ({"properties": {"a": {}}, "not": {"properties": {"x": {}}, "required": ["q"]}}, False),
            ({"$ref": "#/definitions/d", "definitions": {"d": {"properties": {"a": {}}}}}, False),
            ({}, True),
            ({"type": "object", "required": ["a"]}, True),
        ],
    )
    def test_what_declares(self, schema: dict[str, Any], declared: bool) -> None:
        found = merge(schema, {"a": 0} if "a" in str(schema) else {}, {"x": 1})
        assert (found.data.get("x") == 1) is declared
        assert refused(found.undeclared) == ([] if declared else [("/x", 1)])
        assert found.rejected == ()

    @pytest.mark.rule("slot.merge.18")
    def test_nested_and_in_arrays(self) -> None:
        reply = {
            "guest": {"name": "n", "zz": 1},
            "stops": [{"at": "x", "yy": 2}],
            "xx": {"deep": 3},
        }
        found = merge(TRIP, {}, reply)
        assert found.data == {"guest": {"name": "n"}, "stops": [{"at": "x"}]}
        assert refused(found.undeclared) == [
            ("/guest/zz", 1),
            ("/stops/0/yy", 2),
            ("/xx", {"deep": 3}),
        ]
        assert found.undeclared[0].reason == "the schema does not declare it"

    @pytest.mark.rule("slot.merge.9", "slot.merge.18")
    @pytest.mark.parametrize("city", ["x", 5])
    def test_nothing_is_added_inside_a_known_member_that_is_undeclared(self, city: Any) -> None:
        known = {"zz": {"q": 1, "l": [{}]}}
        reply = {"yy": 0, "city": city, "zz": {"q": 2, "r": {"deep": 3}, "l": [{"s": 4}]}}
        found = merge(TRIP, known, reply)
        assert found.data["zz"] == known["zz"]
        assert refused(found.undeclared) == [
            ("/zz/l/0/s", 4),
            ("/zz/r", {"deep": 3}),
            ("/yy", 0),
        ]

    @pytest.mark.rule("slot.merge.9", "slot.merge.21")
    def test_nothing_is_added_inside_a_known_member_that_is_forbidden(self) -> None:
        schema = {"properties": {"f": False, "a": {}}}
        found = merge(schema, {"f": {"q": 1}}, {"f": {"q": 2, "r": 3, "n": None}, "a": 1})
        assert found.data == {"f": {"q": 1}, "a": 1}
        assert refused(found.rejected) == [("/f/r", 3)]
        assert found.undeclared == ()

    @pytest.mark.rule("slot.merge.18", "slot.merge.14")
    def test_together_with_faults(self) -> None:
        """Invalid data takes the other walk."""
        found = merge(TRIP, {}, {"days": "x", "zz": 1, "guest": {"q": 1, "age": 5}})
        assert found.data == {"guest": {"age": 5}}
        assert refused(found.undeclared) == [("/guest/q", 1), ("/zz", 1)]
        assert refused(found.rejected) == [("/days", "x")]

    @pytest.mark.rule("slot.merge.18")
    @pytest.mark.parametrize("city", ["x", 5])
    def test_in_document_order(self, city: Any) -> None:
        """Whether or not something is wrong too: members of properties first, then as given."""
        reply = {"zz": 1, "guest": {"q": 2, "name": "n", "age": 3}, "city": city, "yy": [0]}
        found = merge(TRIP, {}, reply)
        assert [refusal.pointer for refusal in found.undeclared] == ["/guest/q", "/zz", "/yy"]

    @pytest.mark.rule("slot.merge.18")
    def test_null_is_reported_too(self) -> None:
        assert refused(merge(TRIP, {}, {"zz": None}).undeclared) == [("/zz", None)]

    @pytest.mark.rule("slot.merge.9")
    def test_what_is_known_stays(self) -> None:
        assert data(TRIP, {"zz": 1, "guest": {"q": 2}}, {"city": "x"}) == {
            "zz": 1,
            "guest": {"q": 2},
            "city": "x",
        }

    @pytest.mark.rule("slot.merge.19")
    def test_free_form_objects_inside(self) -> None:
        schema = {"properties": {"extra": {"type": "object"}, "any": {}}}
        reply = {"extra": {"x": {"y": 1}}, "any": {"z": [{"w": 1}]}}
        assert data(schema, {}, reply) == reply


class TestInvalidKnownData:
    @pytest.mark.rule("slot.merge.5", "slot.merge.6", "slot.merge.8")
    @pytest.mark.parametrize(
        ("known", "reply", "expected"),
        [
            ({"days": "two"}, {"days": 2}, {"days": 2}),
            ({"guest": 5}, {"guest": {"name": "x"}}, {"guest": {"name": "x"}}),
            (
                {"guest": {"name": 5, "age": 1}},
                {"guest": {"name": "x", "age": 2}},
                {"guest": {"name": "x", "age": 1}},
            ),
            ({"tags": []}, {"tags": ["a"]}, {"tags": ["a"]}),
            ({"tags": "a"}, {"tags": ["a"]}, {"tags": ["a"]}),
            ({"tags": ["a", 5, "c"]}, {"tags": ["x", "b", "z", "w"]}, {"tags": ["a", "b", "c"]}),
            ({"tags": ["a", 5]}, {"tags": {"1": "b"}}, {"tags": ["a", "b"]}),
            ({"tags": ["a", 5]}, {"/tags/1": "b"}, {"tags": ["a", "b"]}),
            ({"tags": ["a", 5, "c"]}, {"tags": ["x"]}, {"tags": ["a", 5, "c"]}),
            (
                {"stops": [{"at": "x"}, {}]},
                {"stops": {"1": {"at": "y"}}},
                {"stops": [{"at": "x"}, {"at": "y"}]},
            ),
            ({"stops": [{}]}, {"stops": [{"at": "y"}]}, {"stops": [{"at": "y"}]}),
            ({"mode": None}, {"mode": "car"}, {"mode": "car"}),
        ],
    )
    def test_may_be_replaced(
        self, known: dict[str, Any], reply: dict[str, Any], expected: dict[str, Any]
    ) -> None:
        assert data(TRIP, known, reply) == expected

    @pytest.mark.rule("slot.merge.7")
    @pytest.mark.parametrize(
        ("known", "reply", "rejected"),
        [
            ({"days": "two"}, {"days": "three"}, [("/days", "three")]),
            ({"tags": ["a", 5]}, {"/tags/1": 6}, [("/tags/1", 6)]),
            ({"tags": []}, {"tags": ["b", 5]}, [("/tags", ["b", 5])]),
            ({"guest": 5}, {"guest": 6}, [("/guest", 6)]),
        ],
    )
    def test_but_not_by_what_is_invalid_too(
        self, known: dict[str, Any], reply: dict[str, Any], rejected: list[Any]
    ) -> None:
        found = merge(TRIP, known, reply)
        assert found.data == known
        assert found.filled == ()
        assert refused(found.rejected) == rejected

    @pytest.mark.rule("slot.merge.13")
    @pytest.mark.parametrize(
        ("known", "reply"),
        [
            ({"guest": 5}, {"guest": {"name": None}}),
            ({"guest": 5}, {"guest": {"home": {"zip": None}}}),
            ({"guest": []}, {"guest": {"name": None}}),
            ({"stops": [5]}, {"stops": {"0": {"at": None}}}),
            ({"stops": [5]}, {"stops": [{"at": None}]}),
        ],
    )
    def test_nor_by_an_object_of_nulls(self, known: dict[str, Any], reply: dict[str, Any]) -> None:
        assert data(TRIP, known, reply) == known

    @pytest.mark.rule("slot.merge.6")
    def test_an_index_of_what_was_an_array_is_a_name_now(self) -> None:
        found = merge(TRIP, {"guest": [1, 2]}, {"guest": {"name": "x", "0": 3}})
        assert found.data == {"guest": {"name": "x"}}
        assert refused(found.undeclared) == [("/guest/0", 3)]

    @pytest.mark.rule("slot.merge.5")
    def test_members_and_items_that_a_whole_reply_leaves_out(self) -> None:
        known = {"stops": [{"at": "x", "n": "bad"}, {"at": "y"}]}
        assert data(TRIP, known, {"stops": [{"n": 1}]}) == {
            "stops": [{"n": 1, "at": "x"}, {"at": "y"}]
        }

    @pytest.mark.rule("slot.merge.8")
    def test_a_broken_object_gives_up_no_valid_member(self) -> None:
        schema = {
            "properties": {"city": {"type": "string"}, "a": {}},
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        }
        assert data(schema, {"city": "x"}, {"city": "y", "a": 1}) == {"city": "x", "a": 1}

    @pytest.mark.rule("slot.merge.25")
    def test_filled_names_what_took_its_place(self) -> None:
        assert merge(TRIP, {"tags": []}, {"tags": ["a", "b"]}).filled == ("/tags",)
        assert merge(TRIP, {"tags": ["a", 5]}, {"/tags/1": "b"}).filled == ("/tags/1",)


class TestFilled:
    @pytest.mark.rule("slot.merge.25")
    def test_leaves(self) -> None:
        reply = {
            "guest": {"name": "n", "home": {"zip": "1"}},
            "tags": ["a"],
            "stops": [{"at": "x"}],
            "city": "c",
        }
        assert merge(TRIP, {}, reply).filled == (
            "/guest/name",
            "/guest/home/zip",
            "/tags",
            "/stops",
            "/city",
        )

    @pytest.mark.rule("slot.merge.25")
    def test_an_empty_object_is_a_leaf(self) -> None:
        assert merge({}, {}, {"e": {}, "g": {"h": {}}}).filled == ("/e", "/g/h")

    @pytest.mark.rule("slot.merge.25")
    def test_names_are_escaped(self) -> None:
        assert merge({}, {}, {"a/b": 1, "m~n": {"": 2}}).filled == ("/a~1b", "/m~0n/")

    @pytest.mark.rule("slot.merge.26")
    def test_a_repeated_known_value_is_not_filled(self) -> None:
        assert merge(TRIP, {"city": "x"}, {"city": "x"}).filled == ()

    @pytest.mark.rule("slot.merge.26")
    @pytest.mark.parametrize("wanted", [[True], [{"x": True}], [[0, True]]])
    def test_true_is_not_one_inside_either(self, wanted: Any) -> None:
        schema = {"properties": {"t": {"const": wanted}}}
        known = {"t": json.loads(json.dumps(wanted).replace("true", "1"))}
        merged = merge(schema, known, {"t": wanted})
        assert json.dumps(merged.data) == json.dumps({"t": wanted})
        assert merged.filled != ()

    @pytest.mark.rule("slot.merge.26")
    @pytest.mark.parametrize("same", [[1, "a"], {"x": [1.0]}, 1, None])
    def test_what_is_wrong_and_repeated_is_not_reported(self, same: Any) -> None:
        schema = {"properties": {"t": {"const": "other"}}}
        merged = merge(schema, {"t": same}, {"t": same})
        assert (merged.data, merged.filled, merged.rejected) == ({"t": same}, (), ())

    @pytest.mark.rule("slot.merge.30")
    def test_result_shares_nothing(self) -> None:
        known, reply = {"guest": {"name": "n"}}, {"tags": ["a"], "zz": [1], "days": [2]}
        found = merge(TRIP, known, reply)
        found.data["guest"]["name"] = "changed"
        found.data["tags"].append("changed")
        found.undeclared[0].value.append("changed")
        found.rejected[0].value.append("changed")
        assert known == {"guest": {"name": "n"}}
        assert reply == {"tags": ["a"], "zz": [1], "days": [2]}

    @pytest.mark.rule("slot.merge.30")
    def test_nor_does_a_known_item_that_a_whole_array_completes(self) -> None:
        item = {"properties": {"at": {"type": "string"}, "via": {}}, "required": ["at"]}
        known = {"stops": [{"via": ["Ulm"]}]}
        found = merge(
            {"properties": {"stops": {"items": item}}}, known, {"stops": [{"at": "Bonn"}]}
        )
        assert found.data == {"stops": [{"at": "Bonn", "via": ["Ulm"]}]}
        found.data["stops"][0]["via"].append("changed")
        assert known == {"stops": [{"via": ["Ulm"]}]}

    @pytest.mark.rule("slot.merge.30")
    @pytest.mark.parametrize(("known", "reply"), [([], {}), ({}, []), ({}, None), ({"a": {1}}, {})])
    def test_both_are_json_objects(self, known: Any, reply: Any) -> None:
        with pytest.raises(DataError):
            SlotProcessor(TRIP).merge(known, reply)


class TestNamesThatBeginWithASlash:
    """A key at the top that could be a name or a pointer."""

    @pytest.mark.rule("slot.merge.29")
    @pytest.mark.parametrize(
        ("names", "key", "filled"),
        [
            (["/a"], "/a", "/~1a"),
            (["/a", "a"], "/a", "/a"),
            (["/a", "b"], "/b", "/b"),
            (["/a/b"], "/a/b", "/~1a~1b"),
            (["/a/b", "a"], "/a/b", "/a/b"),
            (["/a~b"], "/a~b", "/~1a~0b"),
            (["/"], "/", "/~1"),
            (["/", ""], "/", "/"),
            (["//"], "//", "/~1~1"),
            (["/~1a"], "/~1a", "/~1~01a"),
            (["/~1a", "/a"], "/~1a", "/~1a"),
        ],
    )
    def test_which_it_is(self, names: list[str], key: str, filled: str) -> None:
        schema = {"properties": {name: {} for name in names}, "additionalProperties": True}
        merged = merge(schema, {}, {key: 1})
        assert merged.filled == (filled,)
        assert pointer.get(merged.data, filled) == 1

    @pytest.mark.rule("slot.merge.29")
    @pytest.mark.parametrize(
        "schema",
        [
            {"required": ["/a"]},
            {"allOf": [{"properties": {"/a": {}}}]},
            {"$ref": "#/definitions/d", "definitions": {"d": {"properties": {"/a": {}}}}},
        ],
    )
    def test_wherever_the_root_has_the_name(self, schema: dict[str, Any]) -> None:
        assert merge(schema, {}, {"/a": 1}).data == {"/a": 1}

    @pytest.mark.rule("slot.merge.29")
    def test_only_declared_names(self) -> None:
        """What merely may be there is read as the contract's form, a pointer."""
        for schema in ({}, {"patternProperties": {"^/": {}}}, {"additionalProperties": {}}):
            assert "/a" not in merge(schema, {}, {"/a": 1}).data

    @pytest.mark.rule("slot.merge.29")
    def test_beneath_the_top_keys_are_names(self) -> None:
        assert data({}, {}, {"g": {"/a": 1}}) == {"g": {"/a": 1}}


@pytest.mark.rule("slot.merge.2", "slot.merge.14", "slot.merge.25", "slot.merge.26")
@settings(max_examples=250, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    schema=OBJECT_SCHEMAS,
    known=OBJECTS,
    reply=st.one_of(
        OBJECTS,
        st.dictionaries(
            st.sampled_from(["/a", "/b", "/a/b", "/a/0", "/c/-", "/", "/a~1b"]), DATA, max_size=4
        ),
    ),
)
def test_whatever_is_merged(
    schema: dict[str, Any], known: dict[str, Any], reply: dict[str, Any]
) -> None:
    processor = SlotProcessor(schema)
    before = processor.check_json(known).get("required", [])
    merged = processor.merge(known, reply)

    # Valid known data is untouched.
    if not before:
        for place in leaves(known):
            assert pointer.get(merged.data, place) == pointer.get(known, place)

    # Nothing new is wrong, other than incomplete. (An object of indexes alone that took the place
    # of a known array would be read as items of that array.)
    if processor.convert_json(merged.data, known) == merged.data:
        again = processor.merge(known, merged.data)
        assert again.data == merged.data
        assert again.rejected == again.undeclared == ()

    # Every leaf is either known or filled, and what is filled is not known.
    assert set(leaves(merged.data)) <= {*leaves(known), *beneath(merged)}
    for place in merged.filled:
        assert value_at(known, place) != [pointer.get(merged.data, place)]


def leaves(value: Any, place: str = "") -> list[str]:
    """Return the pointers of all scalars and arrays that are members of objects."""
    if isinstance(value, dict):
        found = ((place + pointer.join((name,)), child) for name, child in value.items())
        return [leaf for below, child in found for leaf in leaves(child, below)]
    return [place]


def beneath(merged: Merge) -> set[str]:
    found = set(merged.filled)
    for place in merged.filled:  # an element that was filled makes its array differ
        tokens = pointer.split(place)
        found |= {pointer.join(tokens[:end]) for end in range(1, len(tokens))}
    return found


def value_at(document: Any, place: str) -> list[Any]:
    try:
        value = pointer.get(document, place)
    except LookupError:
        return []
    return [value] if isinstance(value, (str, type(None), dict, list)) else []
