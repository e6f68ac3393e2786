"""JsonGenerator and FunctionModel: an object out of a model, bound by a schema."""

from __future__ import annotations

import copy
import json
import pickle
import re
from typing import Any

import httpx2
import pytest
from hypothesis import assume, given

from callbench.fuzz.strategies import json_objects, object_schemas
from corecall.generator import GenerationError, JsonGenerator, strict, tool_name
from corecall.providers import FunctionModel, TransportError
from corecall.slot.processor import SchemaError, SlotProcessor

from .test_providers import Server, message

OBJECT_SCHEMAS = object_schemas()
OBJECTS = json_objects()

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
    @pytest.mark.rule("provider.mode.1", "provider.function.2")
    async def test_json_schema_is_strict(self) -> None:
        server = Server(message('{"city": "Oslo", "nights": null}'))
        assert await generate(server) == {"city": "Oslo"}
        sent = server.bodies[0]["response_format"]["json_schema"]
        assert (sent["name"], sent["strict"]) == ("book_hotel", True)
        assert sent["schema"]["required"] == ["city", "nights"]
        assert sent["schema"]["properties"]["nights"]["type"] == ["integer", "null"]

    @pytest.mark.rule("provider.mode.2")
    async def test_tools_force_the_one_call(self) -> None:
        server = Server(message(None, tool_calls=[call('{"city": "Oslo"}')]))
        assert await generate(server, "tools") == {"city": "Oslo"}
        function = {"name": "book_hotel", "description": "Book a hotel", "parameters": SCHEMA}
        assert server.bodies[0]["tools"] == [{"type": "function", "function": function}]
        assert server.bodies[0]["tool_choice"]["function"] == {"name": "book_hotel"}
        assert server.bodies[0]["messages"] == ASK

    @pytest.mark.rule("provider.mode.3", "provider.mode.4", "provider.mode.5")
    async def test_json_object_and_prompt_tell_the_schema(self) -> None:
        for mode in ("json_object", "prompt"):
            server = Server(message('{"city": "Oslo"}'))
            assert await generate(server, mode) == {"city": "Oslo"}
            body = server.bodies[0]
            assert ("response_format" in body) == (mode == "json_object")
            assert json.dumps(SCHEMA) in body["messages"][-1]["content"]
            assert [m["role"] for m in body["messages"]] == ["user"]

    @pytest.mark.rule("provider.mode.1")
    async def test_json_schema_is_the_default_and_nothing_else_is_sent(self) -> None:
        server = Server(message('{"city": "Oslo"}'))
        await FunctionModel(server.client()).call(ASK, SCHEMA)
        assert set(server.bodies[0]) == {"model", "messages", "stream", "response_format"}
        assert server.bodies[0]["messages"] == ASK
        assert server.bodies[0]["stream"] is False

    @pytest.mark.rule("provider.mode.2")
    @pytest.mark.parametrize("more", [{}, {"description": ""}])
    async def test_a_tool_without_description_has_none(self, more: dict[str, str]) -> None:
        server = Server(message("{}"))
        await FunctionModel(server.client(), mode="tools").call(ASK, {"type": "object", **more})
        (tool,) = server.bodies[0]["tools"]
        assert set(tool["function"]) == {"name", "parameters"}
        assert server.bodies[0]["tool_choice"] == {
            "type": "function",
            "function": {"name": "fill_parameters"},
        }

    @pytest.mark.rule("provider.mode.3", "provider.mode.4")
    @pytest.mark.parametrize(
        ("mode", "bound"), [("json_object", {"type": "json_object"}), ("prompt", None)]
    )
    async def test_what_binds_the_others(self, mode: Any, bound: Any) -> None:
        server = Server(message('{"city": "Oslo"}'))
        await generate(server, mode)
        assert server.bodies[0].get("response_format") == bound
        assert "tools" not in server.bodies[0]

    @pytest.mark.rule("provider.mode.5")
    @pytest.mark.parametrize("mode", ["json_object", "prompt"])
    @pytest.mark.parametrize(
        ("question", "told"),
        [
            ("Book", "Output only one JSON object that satisfies this JSON Schema:"),
            ("订房", "只输出一个符合以下JSON Schema的JSON对象："),
        ],
    )
    async def test_the_schema_is_told_in_the_language_of_the_talk(
        self, mode: Any, question: str, told: str
    ) -> None:
        schema = {"type": "object", "title": "订"}
        written = '{"type": "object", "title": "订"}'
        system = {"role": "system", "content": question}
        user = {"role": "user", "content": question}
        for talk, last in (
            (
                [system, user],
                [system, {"role": "user", "content": f"{question}\n\n{told}\n{written}"}],
            ),
            ([system], [system, {"role": "user", "content": f"{told}\n{written}"}]),
        ):
            server = Server(message("{}"))
            await FunctionModel(server.client(), mode=mode).call(talk, schema)
            assert server.bodies[0]["messages"] == last


class TestAnswers:
    @pytest.mark.rule("provider.function.1")
    async def test_a_valid_object_is_given(self) -> None:
        server = Server(message('Sure: {"city": "Oslo", "nights": 2}'))
        assert await generate(server) == {"city": "Oslo", "nights": 2}
        assert len(server.requests) == 1

    @pytest.mark.rule("provider.function.1")
    async def test_nothing_is_repaired(self) -> None:
        server = Server(message("{'city': 'Oslo'}"))
        with pytest.raises(GenerationError):
            await generate(server, trials=1)

    @pytest.mark.rule("provider.function.2")
    async def test_a_null_is_dropped_where_the_schema_has_none(self) -> None:
        schema = {
            "type": "object",
            "properties": {
                "a": {"type": "string"},
                "b": {"type": ["string", "null"]},
                "c": {"type": "object", "properties": {"d": {"type": "integer"}}},
            },
        }
        server = Server(message('{"a": null, "b": null, "c": {"d": null}}'))
        assert await FunctionModel(server.client()).call(ASK, schema) == {"b": None, "c": {}}

    @pytest.mark.rule("provider.function.3")
    @pytest.mark.parametrize("mode", ["json_schema", "tools", "json_object", "prompt"])
    async def test_an_invalid_schema_is_refused_before_anything_is_sent(self, mode: Any) -> None:
        server = Server()
        with pytest.raises(SchemaError):
            await FunctionModel(server.client(), mode=mode).call(ASK, {"properties": []})
        assert server.requests == []

    @pytest.mark.trap("A30")
    @pytest.mark.rule("provider.function.4")
    async def test_a_failing_endpoint_is_no_bad_answer(self) -> None:
        server = Server(httpx2.Response(401, text="no"), message('{"city": "Oslo"}'))
        with pytest.raises(TransportError, match="HTTP 401"):
            await generate(server)
        assert len(server.requests) == 1

    @pytest.mark.trap("A30")
    @pytest.mark.rule("provider.function.4")
    async def test_an_error_of_our_own_code_passes(self) -> None:
        async def ask(*_: Any) -> Any:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await JsonGenerator(ask).generate(ASK, SCHEMA)


class TestToolCalls:
    @pytest.mark.trap("A24")
    @pytest.mark.rule("reply.tool.2")
    async def test_without_a_call_the_text_is_read(self) -> None:
        assert await generate(Server(message('{"city": "Oslo"}')), "tools") == {"city": "Oslo"}

    @pytest.mark.trap("A24")
    @pytest.mark.rule("reply.tool.1", "provider.function.1")
    async def test_the_first_call_with_the_right_name_wins(self) -> None:
        calls = [call('{"city": "Rome"}', "other"), call('{"city": "Oslo"}'), call('{"city": "X"}')]
        assert await generate(Server(message(None, tool_calls=calls)), "tools") == {"city": "Oslo"}

    @pytest.mark.trap("A24")
    @pytest.mark.rule("provider.trial.4")
    async def test_a_call_of_another_tool_is_a_bad_answer_that_is_shown(self) -> None:
        wrong = message(None, tool_calls=[call('{"city": "Rome"}', "other")])
        server = Server(wrong, message(None, tool_calls=[call('{"city": "Oslo"}')]))
        assert await generate(server, "tools") == {"city": "Oslo"}
        assert server.bodies[1]["messages"][1]["content"] == '{"city": "Rome"}'

    @pytest.mark.trap("A24")
    @pytest.mark.rule("reply.tool.2")
    async def test_arguments_that_are_no_object_fall_back_to_the_text(self) -> None:
        answer = message('{"city": "Oslo"}', tool_calls=[call("[]")])
        assert await generate(Server(answer), "tools") == {"city": "Oslo"}

    @pytest.mark.trap("A24")
    @pytest.mark.rule("provider.trial.4")
    async def test_content_null_is_a_bad_answer_not_a_crash(self) -> None:
        server = Server(message(None), message('{"city": "Oslo"}'))
        assert await generate(server) == {"city": "Oslo"}


class TestTrials:
    @pytest.mark.trap("A27")
    @pytest.mark.rule("provider.trial.1", "provider.trial.3")
    async def test_the_model_sees_its_bad_answer_and_the_reason_as_a_user_turn(self) -> None:
        server = Server(message('{"nights": "two"}'), message('{"city": "Oslo"}'))
        assert await generate(server) == {"city": "Oslo"}
        first, second = (body["messages"] for body in server.bodies)
        assert first == ASK
        assert second[:2] == [*ASK, {"role": "assistant", "content": '{"nights": "two"}'}]
        assert second[2]["role"] == "user"
        assert "/city" in second[2]["content"]
        assert "/nights" in second[2]["content"]
        assert len(second) == 3

    @pytest.mark.trap("A27")
    @pytest.mark.rule("provider.trial.1")
    async def test_every_trial_adds_to_the_same_talk(self) -> None:
        server = Server(message("no"), message("nor"), message('{"city": "Oslo"}'))
        await generate(server)
        roles = [m["role"] for m in server.bodies[2]["messages"]]
        assert roles == ["user", "assistant", "user", "assistant", "user"]

    @pytest.mark.rule("provider.trial.5")
    async def test_three_trials_then_an_error_with_what_the_last_one_held(self) -> None:
        server = Server(*[message('{"nights": 2}')] * 3)
        with pytest.raises(GenerationError, match="/city") as caught:
            await generate(server)
        assert len(server.requests) == 3
        assert caught.value.object == {"nights": 2}
        assert caught.value.answer == '{"nights": 2}'

    @pytest.mark.rule("provider.trial.1")
    async def test_the_parameters_stay_the_same(self) -> None:
        server = Server(message("no"), message('{"city": "Oslo"}'))
        await generate(server)
        first, second = server.bodies
        assert first["response_format"] == second["response_format"]

    @pytest.mark.trap("A27")
    @pytest.mark.rule("provider.trial.2", "provider.trial.3")
    @pytest.mark.parametrize(
        ("question", "turn"),
        [
            (
                "Book",
                "That output is not right, these are missing or invalid: {}. "
                "Output only one JSON object again.",
            ),
            ("订房", "上面的输出不正确，缺少或不符合要求的字段：{}。请重新只输出一个JSON对象。"),
        ],
    )
    @pytest.mark.parametrize(
        ("answer", "reason"),
        [
            ('{"nights": "two"}', "/city, /nights"),
            ("no", "the reply holds no JSON object"),
            ("[1]", "the reply is a JSON array, not an object"),
        ],
    )
    async def test_the_words_of_the_second_turn(
        self, question: str, turn: str, answer: str, reason: str
    ) -> None:
        server = Server(message(answer), message('{"city": "Oslo"}'))
        await FunctionModel(server.client()).call([{"role": "user", "content": question}], SCHEMA)
        last = {"role": "user", "content": turn.format(reason)}
        assert server.bodies[1]["messages"][-1] == last

    @pytest.mark.trap("A27")
    @pytest.mark.rule("provider.trial.4")
    @pytest.mark.parametrize(
        ("content", "arguments", "shown"),
        [
            ("So:", ['{"nights": 1}', "{}"], 'So:\n{"nights": 1}\n{}'),
            (None, ['{"nights": 1}', ""], '{"nights": 1}'),
            (" \n", [], "{}"),
            (" x\n", [], " x\n"),
        ],
    )
    async def test_the_assistants_turn_is_all_the_model_said(
        self, content: str | None, arguments: list[str], shown: str
    ) -> None:
        calls = [call(text, "other") for text in arguments]
        server = Server(message(content, tool_calls=calls), message('{"city": "Oslo"}'))
        await generate(server, "tools")
        assert server.bodies[1]["messages"][1] == {"role": "assistant", "content": shown}

    @pytest.mark.rule("provider.trial.5")
    async def test_the_last_object_is_told_without_the_nulls_that_are_none(self) -> None:
        server = Server(message('{"city": null, "nights": "x"}'))
        with pytest.raises(GenerationError) as caught:
            await generate(server, trials=1)
        assert caught.value.object == {"nights": "x"}

    @pytest.mark.rule("provider.trial.5")
    async def test_the_error_of_answers_without_object(self) -> None:
        server = Server(*[message("no")] * 3)
        with pytest.raises(GenerationError) as caught:
            await generate(server)
        assert str(caught.value) == (
            "the function model gave no valid object: the reply holds no JSON object"
        )
        assert caught.value.data == {"answer": "no", "object": {}}

    @pytest.mark.rule("provider.trial.6")
    async def test_null_beside_another_fault_is_asked_again(self) -> None:
        server = Server(message('{"city": null, "nights": "x"}'), message('{"city": "Oslo"}'))
        assert await generate(server) == {"city": "Oslo"}

    @pytest.mark.rule("provider.trial.7")
    @pytest.mark.parametrize(
        ("talk", "chinese"),
        [
            (["Book", "订房"], True),
            (["订房", "Book"], False),
            (["1. 订 Paris"], True),
            (["東京へ"], False),
            (["To 杭州"], False),
            (["…"], False),
            ([], False),
        ],
    )
    async def test_the_language_is_that_of_the_first_letter_of_the_last_message(
        self, talk: list[str], chinese: bool
    ) -> None:
        server = Server(message("no"), message('{"city": "Oslo"}'))
        messages = [{"role": "user", "content": text} for text in talk]
        await FunctionModel(server.client()).call(messages, SCHEMA)
        assert ("请" in server.bodies[1]["messages"][-1]["content"]) is chinese

    @pytest.mark.rule("provider.trial.5")
    async def test_the_number_of_trials_can_be_set(self) -> None:
        server = Server(message("no"))
        with pytest.raises(GenerationError):
            await generate(server, trials=1)
        assert len(server.requests) == 1

    @pytest.mark.rule("provider.trial.5")
    def test_no_trial_at_all_is_refused(self) -> None:
        with pytest.raises(ValueError, match="trials is 0"):
            FunctionModel(Server().client(), trials=0)

    @pytest.mark.rule("provider.trial.9")
    @pytest.mark.trap("A24")
    @pytest.mark.parametrize(
        ("content", "answer"), [(None, ""), ("I cannot.", "I cannot."), ('{"a": 1}', '{"a": 1}')]
    )
    async def test_the_call_of_another_tool_is_no_answer_of_one_that_gave_up(
        self, content: str | None, answer: str
    ) -> None:
        function = {"name": "another", "arguments": '{"city": "Oslo", "nights": 2}'}
        server = Server(message(content, tool_calls=[{"id": "c", "function": function}]))
        with pytest.raises(GenerationError) as caught:
            await generate(server, trials=1)
        assert caught.value.answer == answer

    @pytest.mark.rule("provider.trial.9")
    async def test_only_the_first_call_of_the_tool_is_the_answer_of_one_that_gave_up(self) -> None:
        calls = [call('{"city": "Oslo"}', "other"), call("{}"), call('{"city": "Bergen"}')]
        server = Server(message("So:", tool_calls=calls))
        with pytest.raises(GenerationError) as caught:
            await generate(server, trials=1)
        assert caught.value.answer == "So:\n{}"

    @pytest.mark.rule("provider.trial.9")
    async def test_a_model_that_said_nothing_gave_no_answer(self) -> None:
        server = Server(message(None))
        with pytest.raises(GenerationError) as caught:
            await generate(server, trials=1)
        assert caught.value.answer == ""

    def test_the_error_survives_the_way_to_another_process(self) -> None:
        error = GenerationError("no", answer="x", partial={"a": 1})
        back = pickle.loads(pickle.dumps(error))
        assert (str(back), back.answer, back.object) == ("no", "x", {"a": 1})
        assert back.data == error.data

    @pytest.mark.rule("provider.trial.6")
    async def test_a_null_for_what_is_required_is_an_answer_not_a_fault(self) -> None:
        server = Server(message('{"city": null, "nights": 2}'))
        with pytest.raises(GenerationError) as caught:
            await generate(server)
        assert caught.value.object == {"nights": 2}
        assert len(server.requests) == 1

    @pytest.mark.rule("provider.trial.7")
    async def test_the_second_turn_speaks_the_users_language(self) -> None:
        server = Server(message("no"), message('{"city": "杭州"}'))
        ask = [{"role": "user", "content": "杭州两晚"}]
        await FunctionModel(server.client()).call(ask, SCHEMA)
        assert "请" in server.bodies[1]["messages"][-1]["content"]

    @pytest.mark.trap("A9")
    @pytest.mark.rule("provider.trial.7")
    async def test_chinese_data_in_an_english_talk_stay_english(self) -> None:
        server = Server(message("no"), message('{"city": "杭州"}'))
        await FunctionModel(server.client()).call([{"role": "user", "content": "To 杭州"}], SCHEMA)
        assert server.bodies[1]["messages"][-1]["content"].isascii()

    @pytest.mark.rule("provider.trial.8")
    async def test_the_callers_messages_and_schema_stay_as_they_are(self) -> None:
        ask, schema = copy.deepcopy(ASK), copy.deepcopy(SCHEMA)
        server = Server(message("no"), message('{"city": "Oslo"}'))
        await FunctionModel(server.client()).call(ask, schema)
        assert (ask, schema) == (ASK, SCHEMA)


class TestStrict:
    @pytest.mark.rule("provider.strict.1")
    def test_what_admits_null_is_required_after_what_was(self) -> None:
        found = strict(
            {
                "type": "object",
                "properties": {
                    "a": {"type": "string"},
                    "b": {"enum": ["x", "y"]},
                    "c": {"const": 1},
                    "d": {"anyOf": [{"type": "object"}, {"type": "integer"}]},
                    "e": {"type": ["array", "null"]},
                    "z": {"type": "object"},
                },
                "required": ["z"],
            }
        )
        assert found["required"] == ["z", "a", "b", "c", "d", "e"]

    @pytest.mark.rule("provider.strict.2")
    def test_what_has_no_null_stays_optional(self) -> None:
        found = strict(
            {
                "type": "object",
                "properties": {"o": {"type": "object"}, "l": {"type": "array"}, "u": {}, "t": True},
            }
        )
        assert found["required"] == []

    @pytest.mark.rule("provider.function.3")
    @pytest.mark.parametrize(
        "schema", [{"properties": []}, {"allOf": 5}, {"required": "a"}, {"properties": {"a": 5}}]
    )
    def test_an_invalid_schema_is_refused(self, schema: dict[str, Any]) -> None:
        with pytest.raises(SchemaError):
            strict(schema)

    @pytest.mark.rule("provider.strict.1", "provider.strict.3", "provider.strict.4")
    @given(OBJECT_SCHEMAS, OBJECTS)
    def test_it_is_a_schema_and_admits_nothing_the_widened_one_does_not(
        self, schema: dict[str, Any], data: dict[str, Any]
    ) -> None:
        # A stricter part beneath one of these makes the whole laxer.
        assume(not {"not", "oneOf", "if"} & set(re.findall(r'"(\w+)":', json.dumps(schema))))
        before = copy.deepcopy(schema)
        bound = SlotProcessor(strict(schema))
        assert schema == before
        if bound.is_valid(data):
            widened = SlotProcessor.add_null_to_basic_types(schema)
            assert SlotProcessor(widened).is_valid(data)

    @pytest.mark.rule("provider.strict.1")
    @given(OBJECT_SCHEMAS)
    def test_once_strict_it_stays_as_it_is(self, schema: dict[str, Any]) -> None:
        assert strict(strict(schema)) == strict(schema)

    @pytest.mark.rule("provider.strict.5")
    def test_nothing_joined_is_closed(self) -> None:
        part: dict[str, Any] = {"properties": {"a": {"type": "string"}}}
        for joined in (
            {"allOf": [part, part]},
            {**part, "allOf": [part]},
            {**part, "anyOf": [part, part]},
            {**part, "oneOf": [part, {"required": ["b"]}]},
            {**part, "if": part, "then": part},
            {**part, "allOf": [{"$ref": "#/definitions/d"}], "definitions": {"d": part}},
        ):
            assert '"additionalProperties"' not in json.dumps(strict(joined))

    @pytest.mark.rule("provider.strict.1", "provider.strict.2", "provider.strict.3")
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

    @pytest.mark.rule("provider.strict.3")
    def test_what_the_schema_says_of_other_properties_stays(self) -> None:
        schema = {"type": "object", "properties": {}, "additionalProperties": {"type": "string"}}
        assert strict(schema)["additionalProperties"] == {"type": ["string", "null"]}
        assert "additionalProperties" not in strict({"type": "object"})

    @pytest.mark.rule("provider.strict.5")
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

    @pytest.mark.rule("provider.strict.4")
    def test_alternatives_of_one_value_are_closed(self) -> None:
        branch = {"type": "object", "properties": {"a": {"type": "string"}}}
        found = strict({"properties": {"x": {"anyOf": [branch, {"type": "string"}]}}})
        assert found["properties"]["x"]["anyOf"][0]["additionalProperties"] is False

    @pytest.mark.rule("provider.strict.4")
    @pytest.mark.parametrize(
        ("around", "reached"),
        [
            ({"properties": {"p": "HERE"}}, True),
            ({"properties": {"p": {"items": "HERE"}}}, True),
            ({"properties": {"p": {"items": ["HERE"]}}}, True),
            ({"additionalProperties": "HERE"}, True),
            ({"definitions": {"d": "HERE"}}, True),
            ({"$defs": {"d": "HERE"}}, True),
            ({"properties": {"p": {"oneOf": ["HERE"]}}}, False),
            ({"properties": {"p": {"not": "HERE"}}}, False),
            ({"properties": {"p": {"default": "HERE"}}}, False),
            ({"examples": ["HERE"]}, False),
        ],
    )
    def test_which_schemas_are_reached(self, around: dict[str, Any], reached: bool) -> None:
        inner = '{"type": "object", "properties": {"a": {"type": "string"}}}'
        schema = json.loads(json.dumps(around).replace('"HERE"', inner))
        assert ('"required": ["a"]' in json.dumps(strict(schema))) is reached

    @pytest.mark.rule("provider.strict.4")
    def test_property_names_that_are_keywords_stay_names(self) -> None:
        schema = {
            "type": "object",
            "properties": {"properties": {"type": "string"}, "default": {"type": "string"}},
        }
        found = strict(schema)
        assert list(found["properties"]) == ["properties", "default"]
        assert found["properties"]["default"] == {"type": ["string", "null"]}

    @pytest.mark.rule("provider.strict.4")
    def test_data_in_enums_and_defaults_is_not_schema(self) -> None:
        schema = {
            "type": "object",
            "properties": {"o": {"enum": [{"properties": {"x": {"type": "string"}}}]}},
        }
        option = strict(schema)["properties"]["o"]["enum"][0]
        assert option == {"properties": {"x": {"type": "string"}}}

    @pytest.mark.rule("provider.mode.6")
    @pytest.mark.parametrize(
        ("title", "name"),
        [
            ("book_hotel", "book_hotel"),
            ("订酒店", "fill_parameters"),
            ("a b/c", "a_b_c"),
            ("_a-1_", "a-1"),
            ("订 a  酒店", "a"),
            ("", "fill_parameters"),
            ("x" * 90, "x" * 64),
            ("!" + "x" * 90, "x" * 64),  # dropped before the cut
            ("x" * 63 + "! y", "x" * 63 + "_"),  # and not after it
        ],
    )
    def test_function_names_are_what_endpoints_accept(self, title: str, name: str) -> None:
        assert tool_name({"title": title}) == name


@pytest.mark.rule("reply.process.1", "reply.process.2")
def test_process_response_is_the_seeds_first_step() -> None:
    assert json.loads(JsonGenerator.process_response('好的：\n```json\n{"a": 1}\n```')) == {"a": 1}
    assert JsonGenerator.process_response("no object") == "{}"
