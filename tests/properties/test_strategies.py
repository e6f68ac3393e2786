"""The strategies reach what they promise."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any
from uuid import UUID

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from callbench.fuzz import strategies
from callbench.fuzz.strategies import (
    KEYWORDS,
    chat_streams,
    data_for,
    event_streams,
    flattened,
    histories,
    instances,
    json_objects,
    json_values,
    names,
    near_misses,
    object_schemas,
    paths,
    pointer_replies,
    pointers,
    records,
    rendered_replies,
    right_paths,
    scalars,
    schemas,
    spellings,
    splits,
    step_ids,
    texts,
    thoughts,
)

from . import oracle
from .plain import plain_tools
from .support import canonical, places, tries

AN_ID = UUID("123e4567-e89b-12d3-a456-426614174000")
TOOL: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "minLength": 2},
        "days": {"type": "integer", "minimum": 1, "maximum": 9},
        "code": {"type": "string", "pattern": "^[A-Z]{2}[0-9]+$"},
        "price": {"type": "number", "multipleOf": 0.01, "exclusiveMinimum": 0},
        "class": {"enum": ["经济舱", "商务舱"]},
        "guests": {"type": "array", "items": {"$ref": "#/definitions/guest"}, "minItems": 1},
    },
    "required": ["city", "guests"],
    "dependencies": {"days": ["price"]},
    "additionalProperties": False,
    "definitions": {
        "guest": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "friend": {"$ref": "#/definitions/guest"}},
            "required": ["name"],
        }
    },
}

RIGHT, NEAR, FILLS = instances(TOOL), near_misses(TOOL), pointer_replies(TOOL)
REPLIES, EVENTS, CHATS = rendered_replies(), event_streams(), chat_streams()


@cache
def sample(strategy: SearchStrategy[Any]) -> list[Any]:
    """Draw several hundred values, the same ones in every run: what is rare must not be luck."""
    values: list[Any] = []

    @settings(tries(300), derandomize=True, database=None, phases=[Phase.generate])
    @given(strategy)
    def collect(value: Any) -> None:
        values.append(value)

    collect()
    return values


class _Found(Exception):
    """A draw is as wanted."""


def reaches(strategy: SearchStrategy[Any], wanted: Callable[[Any], Any]) -> bool:
    """Say whether some draw is as wanted: one of the sample, or of some thousands more."""
    if any(wanted(value) for value in sample(strategy)):
        return True

    @settings(
        tries(4000),
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        report_multiple_bugs=False,
    )
    @given(strategy)
    def look(value: Any) -> None:
        if wanted(value):
            raise _Found

    try:
        look()
    except _Found:
        return True
    return False


def keywords(schema: Any) -> Iterator[str]:
    for _, place in places(schema):
        if isinstance(place, dict):
            yield from place


class TestThePackage:
    def test_every_public_name_is_documented_with_a_use(self) -> None:
        for name in strategies.__all__:
            made = getattr(strategies, name)
            if inspect.isfunction(inspect.unwrap(made)) and not inspect.isclass(made):
                text = inspect.getdoc(inspect.unwrap(made)) or ""
                assert text.startswith("Draw "), name
                assert "::\n\n    @given(" in text, name
                assert f"{name}(" in text.partition("::")[2], name

    def test_public_names_are_complete(self) -> None:
        offered = {
            name
            for name, value in vars(strategies).items()
            if not name.startswith("_") and not inspect.ismodule(value) and name != "annotations"
        }
        assert offered == set(strategies.__all__)

    def test_the_command_does_not_import_it(self) -> None:
        code = (
            "import sys, callbench.cli, callbench.fuzz;"
            "print([n for n in sys.modules if n.split('.')[0] in ('hypothesis', 'pytest')])"
        )
        shown = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        assert shown.stdout.strip() == b"[]"

    def test_it_needs_no_pytest_and_nothing_of_the_reference(self) -> None:
        code = (
            "import sys, callbench.fuzz.strategies;"
            "print([n for n in sys.modules if n.split('.')[0] in ('corecall', '_pytest')])"
        )
        shown = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        assert shown.stdout.strip() == b"[]"


class TestValues:
    @pytest.mark.parametrize("value", [None, False, 0, "", 0.0, [], {}])
    def test_every_falsy_value(self, value: Any) -> None:
        assert reaches(json_values(), lambda drawn: canonical(drawn) == canonical(value))

    @pytest.mark.parametrize("name", ["", "0", "a/b", "m~n", "城市", "$ref", "child's_name"])
    def test_odd_names(self, name: str) -> None:
        assert reaches(names(), lambda drawn: drawn == name)
        assert reaches(json_objects(), lambda drawn: name in drawn)

    @pytest.mark.parametrize("part", ["{", "</think>", "```", "“", '"', "\r\n", "\x00", "\u2028"])
    def test_odd_texts(self, part: str) -> None:
        assert reaches(texts(), lambda text: part in text)

    def test_numbers_beyond_a_double(self) -> None:
        assert reaches(scalars(), lambda drawn: drawn == 2**53 + 1)

    @tries(60)
    @given(json_values())
    def test_all_is_json(self, value: Any) -> None:
        assert canonical(json.loads(json.dumps(value, allow_nan=False))) == canonical(value)
        json.dumps(value, ensure_ascii=False).encode()


class TestHistories:
    def test_every_spelling_of_a_uuid(self) -> None:
        text = str(AN_ID)
        drawn = set(sample(spellings(AN_ID)))
        assert {AN_ID, text, text.upper()} < drawn
        assert {str(spelling).lower() for spelling in drawn} == {text}

    def test_kinds_of_step_ids(self) -> None:
        assert reaches(step_ids(), lambda drawn: isinstance(drawn, UUID))
        assert reaches(step_ids(), lambda drawn: drawn == "步骤一")
        assert reaches(step_ids(), lambda drawn: re.fullmatch("[0-9a-f]{32}", str(drawn)))
        assert reaches(step_ids(), lambda drawn: str(drawn).startswith("urn:uuid:"))

    def test_records_with_and_without_a_name(self) -> None:
        assert reaches(records(), lambda record: "stepName" in record)
        assert reaches(records(), lambda record: "stepName" not in record)
        assert reaches(records(), lambda record: "a/b" in record["outputData"])

    def test_a_step_that_ran_twice(self) -> None:
        def twice(history: list[dict[str, Any]]) -> bool:
            ids = Counter(str(record["stepId"]).lower() for record in history)
            return max(ids.values(), default=0) > 1

        assert reaches(histories(), twice)

    def test_kinds_of_paths(self) -> None:
        record = {"stepId": "s", "outputData": {"a": [0, {"b": None}], "a/b": 1, "": {"": ""}}}
        right = {"s", "s/a", "s/a/0", "s/a/1/b", "s/", "s//"}
        assert right <= set(sample(right_paths([record])))
        ways = paths([record])
        for wanted in (*right, "", None, b"a/b"):
            assert reaches(ways, lambda path, wanted=wanted: path == wanted)
        for form in (r"s/a/(0\d|[-+ ]\d|\d\.0|[０１]).*", "S.*", "s/.*x", "s/a/0/.*", "a.*"):
            near_miss = re.compile(form)
            assert reaches(
                ways,
                lambda path, form=near_miss: isinstance(path, str) and form.fullmatch(path),
            )

    def test_what_no_path_can_name_is_not_drawn(self) -> None:
        assert right_paths([]).is_empty
        assert right_paths([{"stepId": "a/b", "outputData": {"a": 1}}]).is_empty
        assert right_paths([{"stepId": "", "outputData": {"a/b": 1}}]).is_empty
        only = [{"stepId": "", "outputData": {"a": 1}}]
        assert reaches(right_paths(only), lambda path: path == "/a")


class TestSchemas:
    def test_every_keyword_of_draft_7(self) -> None:
        assert set(oracle.Draft7Validator.VALIDATORS) <= KEYWORDS

    @pytest.mark.parametrize("keyword", sorted(KEYWORDS - {"x-unknown"}))
    def test_every_keyword_occurs(self, keyword: str) -> None:
        assert reaches(schemas(), lambda schema: keyword in keywords(schema))

    @pytest.mark.parametrize(
        "wanted",
        [
            lambda schema: '"$ref": "#"' in json.dumps(schema),
            lambda schema: '"$ref": "#anchor' in json.dumps(schema),
            lambda schema: '"$ref": "#/$defs/' in json.dumps(schema),
            lambda schema: "#/definitions/a~1b" in json.dumps(schema),
            lambda schema: "#/definitions/%E6" in json.dumps(schema),
            lambda schema: "#/definitions/收货" in json.dumps(schema, ensure_ascii=False),
            lambda schema: isinstance(schema.get("type"), list),
            lambda schema: isinstance(schema.get("items"), list),
            lambda schema: False in schema.get("properties", {}).values(),
            lambda schema: "$ref" in schema and "description" in schema,
            lambda schema: "城市" in schema.get("properties", {}),
        ],
    )
    def test_kinds(self, wanted: Callable[[Any], Any]) -> None:
        assert reaches(schemas(), wanted)

    def test_a_definition_that_holds_itself(self) -> None:
        def recursive(schema: dict[str, Any]) -> bool:
            definition = schema.get("definitions", {}).get("node")
            return '"$ref": "#/definitions/node"' in json.dumps(definition)

        assert reaches(object_schemas(), recursive)

    @tries(60)
    @given(st.one_of(schemas(), object_schemas()))
    def test_all_are_valid_and_end(self, schema: dict[str, Any]) -> None:
        assert oracle.is_schema(schema)
        oracle.accepts(schema, {"a": {"a": [{"a": 1}]}})

    @tries(40)
    @given(object_schemas())
    def test_tools_take_objects(self, schema: dict[str, Any]) -> None:
        assert schema["type"] == "object"
        assert isinstance(schema["properties"], dict)


def shares(strategy: Callable[[Any], SearchStrategy[Any]], whole: SearchStrategy[Any]) -> Counter:
    """Count valid and invalid draws for many schemas."""
    counted: Counter[bool] = Counter()

    @tries(60)
    @given(st.data())
    def count(data: st.DataObject) -> None:
        schema = data.draw(whole)
        counted[oracle.accepts(schema, data.draw(strategy(schema)))] += 1

    count()
    return counted


class TestInstances:
    @tries(80)
    @given(instances(TOOL))
    def test_a_usual_tool_is_always_satisfied(self, value: Any) -> None:
        assert oracle.accepts(TOOL, value)

    @tries(80)
    @given(plain_tools().flatmap(lambda schema: st.tuples(st.just(schema), instances(schema))))
    def test_so_is_whatever_has_no_contradictions(self, drawn: tuple[Any, Any]) -> None:
        assert oracle.accepts(*drawn)

    @tries(80)
    @given(near_misses(TOOL))
    def test_a_near_miss_is_refused(self, value: Any) -> None:
        assert not oracle.accepts(TOOL, value)

    @pytest.mark.parametrize("name", TOOL["properties"])
    def test_optional_members_come_and_go(self, name: str) -> None:
        assert reaches(RIGHT, lambda value: name in value)
        if name not in TOOL["required"]:
            assert reaches(RIGHT, lambda value: name not in value)

    @pytest.mark.parametrize(
        "wanted",
        [
            lambda value: "city" not in value,
            lambda value: value.get("guests") == [],
            lambda value: any("name" not in guest for guest in value["guests"]),
            lambda value: not 1 <= value["days"] <= 9,
            lambda value: value["class"] not in ("经济舱", "商务舱"),
            lambda value: set(value) - set(TOOL["properties"]),
            lambda value: "days" in value and "price" not in value,
            lambda value: not isinstance(value["city"], str),
        ],
    )
    def test_kinds_of_near_misses(self, wanted: Callable[[Any], Any]) -> None:
        def hit(value: Any) -> bool:
            try:
                return bool(wanted(value))
            except (AttributeError, KeyError, TypeError):
                return False

        assert reaches(NEAR, hit)

    def test_most_draws_for_any_schema_are_as_promised(self) -> None:
        right = shares(instances, schemas())
        assert right[True] > 2 * right[False]
        near = shares(near_misses, object_schemas())
        assert near[False] > 2 * near[True]
        both = shares(data_for, schemas())
        assert both[True] > 5
        assert both[False] > 5

    def test_a_schema_that_refuses_nothing(self) -> None:
        assert reaches(near_misses({}), lambda value: value != {})
        assert reaches(instances(True), lambda value: value == {})

    def test_a_schema_that_nothing_satisfies(self) -> None:
        assert reaches(instances(False), lambda value: True)
        endless: dict[str, Any] = {
            "type": "object",
            "properties": {"a": {"$ref": "#"}},
            "required": ["a"],
        }
        assert reaches(instances(endless), lambda value: "a" in value)


class TestFills:
    def test_an_object_whole_and_leaf_by_leaf(self) -> None:
        document = {"a": {"b": [1, 2]}, "m~n": 0}
        ways = flattened(document)
        for wanted in (
            {"a": {"b": [1, 2]}, "/m~0n": 0},
            {"/m~0n": 0, "/a/b": [1, 2]},
            {"/a/b": [], "/a/b/0": 1, "/a/b/1": 2, "/m~0n": 0},
            {"/a/b": [1], "/a/b/-": 2, "/m~0n": 0},
        ):
            assert json.dumps(wanted) in map(json.dumps, sample(ways))

    def test_kinds_of_pointers(self) -> None:
        document = {"a": [1], "a/b": {}}
        wanted = {"", "/a/0", "/a/-", "/a/1", "/a/01", "/a~1b", "/a~1b/m~0n", "/~", "a/b"}
        assert wanted <= set(sample(pointers(document)))

    def test_replies_for_a_tool(self) -> None:
        assert reaches(FILLS, lambda reply: "/guests/0" in reply)
        assert reaches(FILLS, lambda reply: "city" in reply)
        assert reaches(FILLS, lambda reply: any(key.endswith("/-") for key in reply))


class TestReplies:
    @pytest.mark.parametrize(
        "wanted",
        [
            lambda text: text.startswith("\ufeff"),
            lambda text: "<think>" in text and "</think>" in text,
            lambda text: text.count("</think>") == 1 and "<think>" not in text,
            lambda text: "```json\n" in text,
            lambda text: "```json\r\n" in text,
            lambda text: "~~~" in text,
            lambda text: "{city}" in text,
            lambda text: '{"draft": 1}' in text,
            lambda text: '{\n\t"' in text,
            lambda text: "\\u" in text,
            lambda text: "“引号”" in text,
        ],
    )
    def test_kinds(self, wanted: Callable[[str], bool]) -> None:
        assert reaches(REPLIES, lambda drawn: wanted(drawn[0]))

    def test_tags_and_braces_in_the_strings_of_the_answer(self) -> None:
        for part in ("</think>", "}", "```json"):
            assert reaches(
                REPLIES,
                lambda drawn, part=part: any(
                    isinstance(value, str) and part in value for _, value in places(drawn[1])
                ),
            )

    def test_objects_of_ones_own(self) -> None:
        own = st.just({"city": "杭州"})
        assert reaches(rendered_replies(own), lambda drawn: drawn[1] == {"city": "杭州"})

    @tries(60)
    @given(thoughts())
    def test_thoughts_do_not_close_themselves(self, thought: str) -> None:
        assert "</think>" not in thought


class TestStreams:
    @tries(60)
    @given(st.binary(max_size=30).flatmap(lambda data: st.tuples(st.just(data), splits(data))))
    def test_chunks_join_again(self, drawn: tuple[bytes, list[bytes]]) -> None:
        data, chunks = drawn
        assert b"".join(chunks) == data

    def test_every_offset_and_empty_chunks(self) -> None:
        data = "杭".encode()
        drawn = sample(splits(data))
        for offset in range(4):
            assert [data[:offset], data[offset:]] in drawn
        assert [data[:1], data[1:2], data[2:]] in drawn

    @pytest.mark.parametrize(
        "wanted",
        [
            lambda stream: b"\r\r" in stream.data,
            lambda stream: b"\r\n\r\n" in stream.data,
            lambda stream: b"\n\n" in stream.data,
            lambda stream: stream.data.startswith(b"\xef\xbb\xbf"),
            lambda stream: b": keep-alive" in stream.data,
            lambda stream: stream.cut is not None,
            lambda stream: any("\n" in data for _, data, _ in stream.events),
            lambda stream: any(kind == "城市" for kind, _, _ in stream.events),
            lambda stream: any(last_id == "1" for _, _, last_id in stream.events),
            lambda stream: any(data == "" for _, data, _ in stream.events),
        ],
    )
    def test_kinds_of_event_streams(self, wanted: Callable[[Any], bool]) -> None:
        assert reaches(EVENTS, wanted)

    @pytest.mark.parametrize(
        "wanted",
        [
            lambda stream: stream.reasoning and stream.content,
            lambda stream: len(stream.tool_calls) == 2,
            lambda stream: stream.finish_reason is None,
            lambda stream: b"[DONE]" not in stream.data,
            lambda stream: b'"usage"' in stream.data,
            lambda stream: b"\\u" in stream.data,
        ],
    )
    def test_kinds_of_chat_streams(self, wanted: Callable[[Any], bool]) -> None:
        assert reaches(CHATS, wanted)
