"""JsonGenerator and FunctionModel: seed CoreCall §3.4.12, DESIGN §3.5."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest

from corecall.generator import GenerationError, JsonGenerator, strict, tool_name
from corecall.providers import FunctionModel
from corecall.slot.processor import SlotProcessor

from .test_providers import Server, message

SCHEMA: dict[str, Any] = {
    "title": "book_hotel",
    "description": "Book a hotel",
    "type": "object",
    "properties": {"city": {"type": "string"}, "nights": {"type": "integer"}},
    "required": ["city"],
}
ASK = [{"role": "user", "content": "Two nights in Oslo"}]


def call(arguments: str, name: str = "book_hotel") -> dict[str, Any]:
    return {"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}


async def generate(server: Server, mode: Any = "json_schema", **options: Any) -> dict[str, Any]:
    return await FunctionModel(server.client(), mode=mode, **options).call(ASK, SCHEMA)


class TestModes:
    async def test_json_schema_is_strict(self) -> None:
        server = Server(message('{"city": "Oslo", "nights": null}'))
        assert await generate(server) == {"city": "Oslo"}
        sent = server.bodies[0]["response_format"]["json_schema"]
        assert (sent["name"], sent["strict"]) == ("book_hotel", True)
        assert sent["schema"]["required"] == ["city", "nights"]
        assert sent["schema"]["properties"]["nights"]["type"] == ["integer", "null"]

    async def test_tools_force_the_one_call(self) -> None:
        server = Server(message(None, tool_calls=[call('{"city": "Oslo"}')]))
        assert await generate(server, "tools") == {"city": "Oslo"}
        function = {"name": "book_hotel", "description": "Book a hotel", "parameters": SCHEMA}
        assert server.bodies[0]["tools"] == [{"type": "function", "function": function}]
        assert server.bodies[0]["tool_choice"]["function"] == {"name": "book_hotel"}
        assert server.bodies[0]["messages"] == ASK

    async def test_json_object_and_prompt_tell_the_schema(self) -> None:
        for mode in ("json_object", "prompt"):
            server = Server(message('{"city": "Oslo"}'))
            assert await generate(server, mode) == {"city": "Oslo"}
            body = server.bodies[0]
            assert ("response_format" in body) == (mode == "json_object")
            assert json.dumps(SCHEMA) in body["messages"][-1]["content"]
            assert [m["role"] for m in body["messages"]] == ["user"]


class TestToolCalls:
    """A24."""

    async def test_without_a_call_the_text_is_read(self) -> None:
        assert await generate(Server(message('{"city": "Oslo"}')), "tools") == {"city": "Oslo"}

    async def test_the_first_call_with_the_right_name_wins(self) -> None:
        calls = [call('{"city": "Rome"}', "other"), call('{"city": "Oslo"}'), call('{"city": "X"}')]
        assert await generate(Server(message(None, tool_calls=calls)), "tools") == {"city": "Oslo"}

    async def test_a_call_of_another_tool_is_a_bad_answer_that_is_shown(self) -> None:
        wrong = message(None, tool_calls=[call('{"city": "Rome"}', "other")])
        server = Server(wrong, message(None, tool_calls=[call('{"city": "Oslo"}')]))
        assert await generate(server, "tools") == {"city": "Oslo"}
        assert server.bodies[1]["messages"][1]["content"] == '{"city": "Rome"}'

    async def test_arguments_that_are_no_object_fall_back_to_the_text(self) -> None:
        answer = message('{"city": "Oslo"}', tool_calls=[call("[]")])
        assert await generate(Server(answer), "tools") == {"city": "Oslo"}

    async def test_content_null_is_a_bad_answer_not_a_crash(self) -> None:
        server = Server(message(None), message('{"city": "Oslo"}'))
        assert await generate(server) == {"city": "Oslo"}


class TestTrials:
    async def test_a27_the_model_sees_its_bad_answer_and_the_reason_as_a_user_turn(self) -> None:
        server = Server(message('{"nights": "two"}'), message('{"city": "Oslo"}'))
        assert await generate(server) == {"city": "Oslo"}
        first, second = (body["messages"] for body in server.bodies)
        assert first == ASK
        assert second[:2] == [*ASK, {"role": "assistant", "content": '{"nights": "two"}'}]
        assert second[2]["role"] == "user"
        assert "/city" in second[2]["content"]
        assert "/nights" in second[2]["content"]
        assert len(second) == 3

    async def test_every_trial_adds_to_the_same_talk(self) -> None:
        server = Server(message("no"), message("nor"), message('{"city": "Oslo"}'))
        await generate(server)
        roles = [m["role"] for m in server.bodies[2]["messages"]]
        assert roles == ["user", "assistant", "user", "assistant", "user"]

    async def test_three_trials_then_an_error_with_what_the_last_one_held(self) -> None:
        server = Server(*[message('{"nights": 2}')] * 3)
        with pytest.raises(GenerationError, match="/city") as caught:
            await generate(server)
        assert len(server.requests) == 3
        assert caught.value.object == {"nights": 2}
        assert caught.value.answer == '{"nights": 2}'

    async def test_the_number_of_trials_can_be_set(self) -> None:
        server = Server(message("no"))
        with pytest.raises(GenerationError):
            await generate(server, trials=1)
        assert len(server.requests) == 1

    def test_no_trial_at_all_is_refused(self) -> None:
        with pytest.raises(ValueError, match="trials is 0"):
            FunctionModel(Server().client(), trials=0)

    def test_the_error_survives_the_way_to_another_process(self) -> None:
        error = GenerationError("no", answer="x", partial={"a": 1})
        back = pickle.loads(pickle.dumps(error))
        assert (str(back), back.answer, back.object) == ("no", "x", {"a": 1})
        assert back.data == error.data

    async def test_a_null_for_what_is_required_is_an_answer_not_a_fault(self) -> None:
        server = Server(message('{"city": null, "nights": 2}'))
        with pytest.raises(GenerationError) as caught:
            await generate(server)
        assert caught.value.object == {"nights": 2}
        assert len(server.requests) == 1

    async def test_the_second_turn_speaks_the_users_language(self) -> None:
        server = Server(message("no"), message('{"city": "杭州"}'))
        ask = [{"role": "user", "content": "杭州两晚"}]
        await FunctionModel(server.client()).call(ask, SCHEMA)
        assert "请" in server.bodies[1]["messages"][-1]["content"]

    async def test_a9_chinese_data_in_an_english_talk_stay_english(self) -> None:
        server = Server(message("no"), message('{"city": "杭州"}'))
        await FunctionModel(server.client()).call([{"role": "user", "content": "To 杭州"}], SCHEMA)
        assert server.bodies[1]["messages"][-1]["content"].isascii()

    async def test_the_callers_messages_and_schema_stay_as_they_are(self) -> None:
        ask, schema = copy.deepcopy(ASK), copy.deepcopy(SCHEMA)
        server = Server(message("no"), message('{"city": "Oslo"}'))
        await FunctionModel(server.client()).call(ask, schema)
        assert (ask, schema) == (ASK, SCHEMA)


class TestStrict:
    def test_only_what_can_be_null_becomes_required(self) -> None:
        schema = {
            "type": "object",
            "properties": {
                "a": {"type": "string"},
                "b": {"$ref": "#/definitions/b"},
                "c": {"type": "object", "properties": {"d": {"type": "number"}}},
            },
            "required": ["b"],
            "definitions": {"b": {"type": "object", "properties": {}}},
        }
        found = strict(schema)
        assert found["required"][0] == "b"
        assert "a" in found["required"]
        assert found["properties"]["c"]["required"] == ["d"]
        assert found["properties"]["c"]["additionalProperties"] is False

    def test_what_the_schema_says_of_other_properties_stays(self) -> None:
        schema = {"type": "object", "properties": {}, "additionalProperties": {"type": "string"}}
        assert strict(schema)["additionalProperties"] == {"type": ["string", "null"]}
        assert "additionalProperties" not in strict({"type": "object"})

    @pytest.mark.parametrize(
        "schema",
        [
            {
                "allOf": [
                    {"properties": {"a": {"type": "string"}}},
                    {"properties": {"b": {"type": "string"}}},
                ]
            },
            {
                "properties": {"a": {"type": "string"}},
                "anyOf": [{"properties": {"b": {"type": "string"}}}],
            },
            {
                "properties": {"a": {"type": "string"}},
                "allOf": [{"$ref": "#/definitions/b"}],
                "definitions": {"b": {"properties": {"b": {"type": "string"}}, "required": ["b"]}},
            },
        ],
    )
    def test_schemas_joined_on_one_object_still_admit_what_each_declares(
        self, schema: dict[str, Any]
    ) -> None:
        bound = {"type": "object", **schema}
        assert SlotProcessor(strict(bound)).is_valid({"a": "x", "b": "y"})

    def test_alternatives_of_one_value_are_closed(self) -> None:
        branch = {"type": "object", "properties": {"a": {"type": "string"}}}
        found = strict({"properties": {"x": {"anyOf": [branch, {"type": "string"}]}}})
        assert found["properties"]["x"]["anyOf"][0]["additionalProperties"] is False

    def test_property_names_that_are_keywords_stay_names(self) -> None:
        schema = {
            "type": "object",
            "properties": {"properties": {"type": "string"}, "default": {"type": "string"}},
        }
        found = strict(schema)
        assert list(found["properties"]) == ["properties", "default"]
        assert found["properties"]["default"] == {"type": ["string", "null"]}

    def test_data_in_enums_and_defaults_is_not_schema(self) -> None:
        schema = {
            "type": "object",
            "properties": {"o": {"enum": [{"properties": {"x": {"type": "string"}}}]}},
        }
        option = strict(schema)["properties"]["o"]["enum"][0]
        assert option == {"properties": {"x": {"type": "string"}}}

    @pytest.mark.parametrize(
        ("title", "name"),
        [
            ("book_hotel", "book_hotel"),
            ("订酒店", "fill_parameters"),
            ("a b/c", "a_b_c"),
            ("", "fill_parameters"),
            ("x" * 90, "x" * 64),
        ],
    )
    def test_function_names_are_what_endpoints_accept(self, title: str, name: str) -> None:
        assert tool_name({"title": title}) == name


def test_process_response_is_the_seeds_first_step() -> None:
    assert json.loads(JsonGenerator.process_response('好的：\n```json\n{"a": 1}\n```')) == {"a": 1}
    assert JsonGenerator.process_response("no object") == "{}"
