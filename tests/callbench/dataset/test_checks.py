"""The rules of a case: each broken by one edit of a valid line, each named with field and rule."""

from __future__ import annotations

import copy
from typing import Any, ClassVar

import jsonschema
import pytest

from callbench.dataset.checks import case_schema, meaning, nearest, shape
from callbench.dataset.problems import Fault

Record = dict[str, Any]


def only(faults: list[Fault]) -> tuple[str, str]:
    assert len(faults) == 1, faults
    return faults[0].rule, faults[0].pointer


def test_the_documented_schema_is_a_valid_schema_and_admits_a_full_case(record: Record) -> None:
    jsonschema.Draft7Validator.check_schema(case_schema())
    assert jsonschema.Draft7Validator(case_schema()).is_valid(record)
    assert set(record) == set(case_schema()["properties"])
    assert shape(record) == []
    assert meaning(record) == []


def test_every_field_is_documented() -> None:
    assert all("description" in field for field in case_schema()["properties"].values())


@pytest.mark.parametrize("name", ["id", "lang", "tool", "schema", "question", "expected"])
def test_a_missing_field_is_named(record: Record, name: str) -> None:
    del record[name]
    assert only(shape(record)) == ("missing-field", f"/{name}")


@pytest.mark.parametrize(
    "name",
    [
        "conversation",
        "facts",
        "summary",
        "steps",
        "data",
        "now",
        "accept",
        "unfillable",
        "defects",
        "tags",
        "cluster",
    ],
)
def test_every_other_field_may_be_left_out(record: Record, name: str) -> None:
    del record[name]
    assert shape(record) == []


def test_an_unknown_field_is_named_with_the_nearest_known_one(record: Record) -> None:
    record["expcted"] = {}
    (fault,) = shape(record)
    assert (fault.rule, fault.pointer) == ("unknown-field", "/expcted")
    assert fault.remedy == "Did you mean expected?"


def test_an_unknown_field_like_no_other_gets_the_list(record: Record) -> None:
    record["tool"]["zzz"] = 1
    (fault,) = shape(record)
    assert (fault.rule, fault.pointer) == ("unknown-field", "/tool/zzz")
    assert fault.remedy == "Known fields: name, description."


@pytest.mark.parametrize(
    ("name", "value", "wanted", "got"),
    [
        ("id", 1, "string", "integer"),
        ("tool", [], "object", "array"),
        ("schema", True, "object", "boolean"),
        ("question", None, "string", "null"),
        ("facts", "x", "array", "string"),
        ("expected", [], "object", "array"),
    ],
)
def test_a_wrong_type_is_named(
    record: Record, name: str, value: Any, wanted: str, got: str
) -> None:
    record[name] = value
    (fault,) = shape(record)
    assert (fault.rule, fault.pointer) == ("type", f"/{name}")
    assert fault.message == f"Must be of type {wanted}, is {got}."


@pytest.mark.parametrize(
    ("pointer", "edit"),
    [
        ("/lang", lambda record: record.update(lang="fr")),
        ("/id", lambda record: record.update(id="")),
        ("/conversation/0/role", lambda record: record["conversation"][0].update(role="robot")),
        ("/accept/~1city/match", lambda record: record["accept"]["/city"].update(match="like")),
        ("/tags", lambda record: record.update(tags=["a", "a"])),
    ],
)
def test_a_value_outside_what_the_field_admits_is_named(
    record: Record, pointer: str, edit: Any
) -> None:
    edit(record)
    assert only(shape(record)) == ("value", pointer)


@pytest.mark.parametrize("text", ["city", "/a~2", "", "/a~"])
def test_what_is_no_pointer_is_named(record: Record, text: str) -> None:
    record["unfillable"] = [text]
    assert only(shape(record)) == ("pointer", "/unfillable/0")
    record["unfillable"], record["accept"] = [], {text: {}}
    (fault,) = shape(record)
    assert (fault.rule, fault.pointer) == ("pointer", "/accept")
    assert f'"{text}"' in fault.message


@pytest.mark.parametrize(
    "now",
    [
        "2026-03-12",
        "2026-03-12T09:30:00Z",
        "2026-03-12T09:30:00+08:00",
        "tomorrow",
        "2026-3-12T09:30",
    ],
)
def test_now_must_be_local_time(record: Record, now: str) -> None:
    record["now"] = now
    assert only(shape(record)) == ("now", "/now")


@pytest.mark.parametrize("now", ["2026-02-30T00:00:00", "2026-01-01T25:00:00"])
def test_now_must_exist(record: Record, now: str) -> None:
    record["now"] = now
    assert shape(record) == []
    assert only(meaning(record)) == ("now", "/now")


def test_an_invalid_schema_is_named_with_the_place_inside_it(record: Record) -> None:
    record["schema"]["properties"]["city"]["type"] = "strin"
    (fault,) = meaning(record)
    assert fault.rule == "schema"
    assert fault.pointer.startswith("/schema/properties/city")


def test_a_schema_nested_too_deep_is_named(record: Record) -> None:
    deep: Record = {}
    for _ in range(120):
        deep = {"type": "object", "properties": {"a": deep}}
    record["schema"] = deep
    (fault,) = meaning(record)
    assert fault.rule == "schema"


def test_data_nested_too_deep_is_named(record: Record) -> None:
    deep: Any = 1
    for _ in range(120):
        deep = [deep]
    record["schema"]["properties"]["free"] = {}
    record["expected"]["free"] = deep
    (fault,) = meaning(record)
    assert fault.rule == "data"


class TestExpectedAgainstItsSchema:
    def test_a_missing_required_value_needs_to_be_unfillable(self, record: Record) -> None:
        record["unfillable"] = []
        assert only(meaning(record)) == ("expected-schema", "/expected/phone")

    def test_a_value_that_breaks_its_schema_is_named_with_the_reason(self, record: Record) -> None:
        record["data"], record["expected"]["nights"] = {}, 0
        (fault,) = meaning(record)
        assert (fault.rule, fault.pointer) == ("expected-schema", "/expected/nights")
        assert "0 is less than the minimum of 1" in fault.message

    def test_a_key_missing_in_a_list_item_is_named_there(self, record: Record) -> None:
        record["expected"]["rooms"] = [{"beds": 1}, {}]
        assert only(meaning(record)) == ("expected-schema", "/expected/rooms/1/beds")

    def test_an_unfillable_pointer_excuses_what_is_above_it(self, record: Record) -> None:
        """/contact is required and absent since /contact/phone, all it would hold, is unfillable."""
        schema = record["schema"]
        schema["properties"]["contact"] = {
            "type": "object",
            "properties": {"phone": {"type": "string"}},
            "required": ["phone"],
        }
        schema["required"].append("contact")
        record["unfillable"] = ["/phone", "/contact/phone"]
        assert meaning(record) == []

    def test_an_unfillable_pointer_excuses_what_is_beneath_it(self, record: Record) -> None:
        record["schema"]["properties"]["contact"] = {
            "type": "object",
            "properties": {"phone": {"type": "string"}},
            "required": ["phone"],
        }
        record["expected"]["contact"] = {}
        record["unfillable"] = ["/phone", "/contact/phone"]
        assert meaning(record) == []

    def test_an_unfillable_pointer_excuses_nothing_beside_it(self, record: Record) -> None:
        del record["expected"]["city"], record["accept"]
        assert only(meaning(record)) == ("expected-schema", "/expected/city")

    def test_a_choice_that_only_unfillable_slots_could_satisfy_is_excused(
        self, record: Record
    ) -> None:
        record["schema"]["anyOf"] = [{"required": ["phone"]}, {"required": ["note"]}]
        assert meaning(record) == []

    def test_a_key_that_the_schema_does_not_declare_is_named_with_the_nearest(
        self, record: Record
    ) -> None:
        """No system could ever fill it: what is not declared is not merged."""
        record["expected"]["nots"] = "quiet"
        (fault,) = meaning(record)
        assert (fault.rule, fault.pointer) == ("expected-declared", "/expected/nots")
        assert "/note" in fault.remedy
        assert "/nots" not in fault.remedy

    def test_an_object_without_properties_takes_any_key(self, record: Record) -> None:
        record["schema"]["properties"]["filters"] = {"type": "object"}
        record["expected"]["filters"] = {"stars": 4}
        record["accept"] = {"/filters/stars": {"values": [5]}, "/filters/other": {"values": [1]}}
        assert meaning(record) == []

    def test_known_data_may_hold_what_the_schema_does_not_declare(self, record: Record) -> None:
        record["data"]["extra"] = record["expected"]["extra"] = 1
        assert meaning(record) == []


class TestExpectedAgainstData:
    def test_known_data_must_stand_in_expected(self, record: Record) -> None:
        record["data"]["note"] = "quiet"
        (fault,) = meaning(record)
        assert (fault.rule, fault.pointer) == ("expected-data", "/data/note")
        assert "does not have it" in fault.message

    def test_known_data_must_not_be_contradicted(self, record: Record) -> None:
        record["data"]["nights"] = 3
        (fault,) = meaning(record)
        assert (fault.rule, fault.pointer) == ("expected-data", "/data/nights")
        assert "another value" in fault.message

    def test_a_number_written_otherwise_is_no_contradiction(self, record: Record) -> None:
        record["data"]["nights"] = 2.0
        assert meaning(record) == []

    def test_known_data_that_breaks_the_schema_may_be_mended_by_expected(
        self, record: Record
    ) -> None:
        record["data"]["nights"] = 0
        assert meaning(record) == []

    def test_a_root_that_only_lacks_arguments_does_not_hide_a_contradiction(
        self, record: Record
    ) -> None:
        record["schema"]["anyOf"] = [{"required": ["city"]}, {"required": ["note"]}]
        record["data"] = {"nights": 5}
        assert only(meaning(record)) == ("expected-data", "/data/nights")


class TestAccept:
    def test_a_pointer_to_no_slot_is_named_with_the_nearest(self, record: Record) -> None:
        record["accept"] = {"/citty": {"values": []}}
        (fault,) = meaning(record)
        assert (fault.rule, fault.pointer) == ("accept-pointer", "/accept/~1citty")
        assert "/city" in fault.remedy

    def test_a_declared_slot_that_expected_leaves_out_may_be_named(self, record: Record) -> None:
        record["accept"] = {"/note": {"values": ["quiet"]}}
        assert meaning(record) == []

    def test_every_value_must_satisfy_the_slots_schema(self, record: Record) -> None:
        record["accept"] = {"/city": {"values": ["Hangzhou", 5]}}
        (fault,) = meaning(record)
        assert (fault.rule, fault.pointer) == ("accept-value", "/accept/~1city/values/1")
        assert "5 is not of type" in fault.message

    def test_a_value_for_an_absent_slot_is_held_against_its_schema_too(
        self, record: Record
    ) -> None:
        record["accept"] = {"/rooms": {"values": [[{"beds": "two"}]]}}
        assert only(meaning(record)) == ("accept-value", "/accept/~1rooms/values/0")

    @pytest.mark.parametrize("match", ["set", "list"])
    def test_only_a_list_can_be_a_set_or_a_list(self, record: Record, match: str) -> None:
        record["accept"] = {"/city": {"match": match}}
        assert only(meaning(record)) == ("accept-match", "/accept/~1city")
        record["expected"]["rooms"] = [{"beds": 1}]
        record["accept"] = {"/rooms": {"match": match}, "/note": {"match": match}}
        assert meaning(record) == []

    @pytest.mark.parametrize("match", ["date", "time", "datetime", "duration"])
    def test_only_a_text_can_be_a_time(self, record: Record, match: str) -> None:
        record["accept"] = {"/nights": {"match": match}}
        assert only(meaning(record)) == ("accept-match", "/accept/~1nights")
        record["accept"] = {"/city": {"match": match, "date_order": "dmy"}}
        assert shape(record) == []
        assert meaning(record) == []

    def test_a_spelling_stands_for_one_thing(self, record: Record) -> None:
        record["accept"] = {"/city": {"aliases": {"New York": ["NYC"], "Boston": ["BOS", "nyc "]}}}
        assert shape(record) == []
        (fault,) = meaning(record)
        assert (fault.rule, fault.pointer) == ("accept-aliases", "/accept/~1city/aliases/Boston")
        record["accept"] = {"/city": {"aliases": {"New York": ["NYC", "new york"]}}}
        assert meaning(record) == []

    @pytest.mark.parametrize(
        ("entry", "place"),
        [
            ({"aliases": {"a": []}}, "/aliases/a"),
            ({"aliases": {"a": [1]}}, "/aliases/a/0"),
            ({"aliases": ["a"]}, "/aliases"),
            ({"date_order": "ydm"}, "/date_order"),
            ({"match": "near"}, "/match"),
        ],
    )
    def test_what_aliases_and_orders_look_like(
        self, record: Record, entry: Any, place: str
    ) -> None:
        record["accept"] = {"/city": entry}
        (fault,) = shape(record)
        assert fault.pointer == f"/accept/~1city{place}"


class TestUnfillable:
    def test_what_is_expected_is_not_unfillable(self, record: Record) -> None:
        record["unfillable"] = ["/phone", "/city"]
        assert only(meaning(record)) == ("unfillable-expected", "/unfillable/1")

    def test_a_slot_the_tool_does_not_have_is_named_with_the_nearest(self, record: Record) -> None:
        record["unfillable"] = ["/phone", "/nite"]
        (fault,) = meaning(record)
        assert (fault.rule, fault.pointer) == ("unfillable-pointer", "/unfillable/1")
        assert "/note" in fault.remedy

    def test_a_slot_cannot_be_unfillable_and_accepted(self, record: Record) -> None:
        record["accept"]["/phone"] = {"values": ["1"]}
        assert only(meaning(record)) == ("unfillable-accept", "/unfillable/0")


@pytest.mark.trap("D17")
class TestDefects:
    """TRAPS D17: gold that breaks its own schema is kept, named, and admitted only there."""

    BROKEN: ClassVar = {
        "breaks-schema": ("/expected/nights", lambda record: record["expected"].update(nights=0)),
        "null-for-non-null": (
            "/expected/city",
            lambda record: record["expected"].update(city=None),
        ),
        "outside-enum": (
            "/expected/note",
            lambda record: (
                record["schema"]["properties"].update(note={"enum": ["a"]}),
                record["expected"].update(note="b"),
            ),
        ),
        "unknown-parameter": (
            "/expected/nihgts",
            lambda record: record["expected"].update(nihgts=2),
        ),
        "required-but-absent": ("/expected/city", lambda record: record["expected"].pop("city")),
    }

    @pytest.fixture
    def plain(self, record: Record) -> Record:
        record["data"], record["accept"], record["defects"] = {}, {}, {}
        return record

    @pytest.mark.parametrize("kind", BROKEN)
    def test_a_fault_is_admitted_where_it_is_declared(self, plain: Record, kind: str) -> None:
        place, spoil = self.BROKEN[kind]
        spoil(plain)
        assert only(meaning(plain))[1] == place
        plain["defects"] = {place: kind}
        assert shape(plain) == []
        assert meaning(plain) == []

    @pytest.mark.parametrize("kind", BROKEN)
    def test_a_declared_fault_must_be_there(self, plain: Record, kind: str) -> None:
        plain["defects"] = {"/expected/city": kind}
        (fault,) = meaning(plain)
        assert (fault.rule, fault.pointer) == ("defect-stale", "/defects/~1expected~1city")

    def test_it_admits_nothing_elsewhere(self, plain: Record) -> None:
        plain["expected"]["nights"] = 0
        plain["defects"] = {"/expected/city": "not-in-case"}
        assert only(meaning(plain)) == ("expected-schema", "/expected/nights")

    @pytest.mark.parametrize("kind", ["misaligned", "double-escaped", "not-in-case", "other"])
    def test_what_no_rule_of_the_schema_can_see_is_taken_at_its_word(
        self, plain: Record, kind: str
    ) -> None:
        plain["defects"] = {"/expected/city": kind, "/accept/~1city/values/0": kind}
        assert meaning(plain) == []

    def test_an_accepted_value_is_held_to_the_schema_on_its_own(self, plain: Record) -> None:
        plain["expected"]["city"] = 5
        plain["accept"] = {"/city": {"values": ["Hangzhou", 6]}}
        plain["defects"] = {"/expected/city": "breaks-schema"}
        assert only(meaning(plain)) == ("accept-value", "/accept/~1city/values/1")
        plain["defects"]["/accept/~1city/values/1"] = "breaks-schema"
        assert meaning(plain) == []

    def test_an_accepted_slot_that_the_tool_does_not_have(self, plain: Record) -> None:
        plain["accept"] = {"/citty": {"values": ["x"]}}
        plain["defects"] = {"/accept/~1citty": "unknown-parameter"}
        assert meaning(plain) == []

    def test_other_rules_are_not_waived(self, plain: Record) -> None:
        plain["data"] = {"nights": 3}
        plain["defects"] = {"/data/nights": "misaligned"}
        assert only(meaning(plain)) == ("expected-data", "/data/nights")


def test_checking_changes_nothing(record: Record) -> None:
    before = copy.deepcopy(record)
    meaning(record)
    assert record == before


def test_nearest_is_silent_when_nothing_is_near() -> None:
    assert nearest("abc", ["xyz"]) == ""
    assert nearest("everydy", ["everyday", "conformance"]) == "Did you mean everyday?"
