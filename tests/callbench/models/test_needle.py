"""Needle behind the chat-completions shape; a stand-in process plays the engine."""

from __future__ import annotations

import asyncio
import ctypes
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from callbench.errors import ProviderError
from callbench.models import needle_child
from callbench.models.needle import NeedleEngine, NeedleTransport, query_of
from corecall.providers import ChatClient, Endpoint, FunctionModel

CHILD = Path(__file__).with_name("fake_needle_child.py")
WEATHER = {
    "name": "fill_parameters",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}
SLOT = """<instructions>Fill the parameters.</instructions>
<example><question>What of Hangzhou?</question></example>
<context>
  Current time: 2026-03-12 09:30:00
  Facts:
  - booked on 2020-01-01 08:00
</context>
<question>
  Weather in Paris, please?
</question>
<tool_info>
  Tool name: get_weather
  Tool description: Look up: the weather
</tool_info>
<tool_call>{"type": "object"}</tool_call>
"""


def user(text: Any) -> dict[str, Any]:
    return {"role": "user", "content": text}


class TestQuery:
    def test_sections_give_question_time_and_tool(self) -> None:
        query = query_of([user(SLOT)], [WEATHER])
        assert query.query == "Weather in Paris, please?"
        assert query.system == "date: 2026-03-12 Thu 09:30"
        assert query.tools == (
            {
                "name": "get_weather",
                "description": "Look up: the weather",
                "parameters": WEATHER["parameters"],
            },
        )

    def test_a_later_turn_without_sections_does_not_hide_the_question(self) -> None:
        """The turn that says what is missing comes after the prompt (DESIGN 3.3, stage 2)."""
        turns = [user(SLOT), {"role": "assistant", "content": "{}"}, user("Still missing: city")]
        assert query_of(turns, [WEATHER]).query == "Weather in Paris, please?"

    def test_an_assistant_turn_is_not_the_question(self) -> None:
        turns = [user(SLOT), {"role": "assistant", "content": "<question>mine</question>"}]
        assert query_of(turns, [WEATHER]).query == "Weather in Paris, please?"

    def test_chinese_sections(self) -> None:
        text = (
            "<context>\n  当前时间：2026-03-12 09:30:00\n</context>\n<question>\n  杭州天气？\n"
            "</question>\n<tool_info>\n  工具名称：weather\n  工具描述：查询天气\n</tool_info>"
        )
        query = query_of([user(text)], [WEATHER])
        assert (query.query, query.system) == ("杭州天气？", "date: 2026-03-12 Thu 09:30")
        assert query.tools[0]["name"] == "weather"
        assert query.tools[0]["description"] == "查询天气"

    def test_no_time_no_date(self) -> None:
        assert query_of([user("<question>q</question>")], [WEATHER]).system == ""

    def test_a_plain_prompt_is_its_last_user_message(self) -> None:
        turns = [
            {"role": "system", "content": "s"},
            user("first"),
            user([{"type": "text", "text": "last"}, {"type": "text", "text": "one"}]),
            {"role": "assistant", "content": None},
        ]
        query = query_of(turns, [{**WEATHER, "description": "d"}])
        assert query.query == "last\none"
        assert query.tools[0]["name"] == "fill_parameters"
        assert query.tools[0]["description"] == "d"

    def test_with_several_tools_each_keeps_its_name(self) -> None:
        other = {"name": "other", "parameters": None}
        tools = query_of([user(SLOT)], [WEATHER, other]).tools
        assert [tool["name"] for tool in tools] == ["fill_parameters", "other"]
        assert tools[1]["parameters"] == {"type": "object"}

    def test_references_are_put_in_place(self) -> None:
        parameters = {
            "properties": {"c": {"$ref": "#/definitions/c"}},
            "definitions": {"c": {"type": "string"}},
        }
        (tool,) = query_of([user("q")], [{"name": "t", "parameters": parameters}]).tools
        assert tool["parameters"] == {"properties": {"c": {"type": "string"}}}


@pytest.fixture
def engine() -> Iterator[NeedleEngine]:
    paths = {"lib.so": Path("lib.so"), "needle3.cact": Path("w.cact")}
    engine = NeedleEngine(lambda: paths, timeout=20, child=CHILD)
    yield engine
    engine.close()


@pytest.fixture
async def http(engine: NeedleEngine) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(
        transport=NeedleTransport(engine), base_url="http://needle3.embedded/v1"
    ) as client:
        yield client


async def post(http: httpx2.AsyncClient, query: str, **more: Any) -> httpx2.Response:
    body = {
        "model": "needle3",
        "messages": [user(query)],
        "tools": [{"type": "function", "function": WEATHER}],
        **more,
    }
    return await http.post("/chat/completions", json=body, timeout=30)


FORCED = {"tool_choice": {"type": "function", "function": {"name": "fill_parameters"}}}


class TestTransport:
    async def test_a_call_becomes_a_tool_call(self, http: httpx2.AsyncClient) -> None:
        response = await post(http, "Weather in Paris", max_tokens=99)
        (choice,) = response.json()["choices"]
        assert choice["finish_reason"] == "tool_calls"
        assert choice["message"]["content"] is None
        (call,) = choice["message"]["tool_calls"]
        assert (call["type"], call["function"]["name"]) == ("function", "fill_parameters")
        asked = json.loads(call["function"]["arguments"])["echo"]
        assert (asked["query"], asked["system"], asked["max_tokens"]) == (
            "Weather in Paris",
            "",
            99,
        )

    async def test_the_tools_name_goes_in_and_the_requests_name_comes_out(
        self, http: httpx2.AsyncClient
    ) -> None:
        response = await post(http, SLOT, **FORCED)
        call = response.json()["choices"][0]["message"]["tool_calls"][0]["function"]
        assert call["name"] == "fill_parameters"
        assert json.loads(call["arguments"])["echo"]["tools"][0]["name"] == "get_weather"

    @pytest.mark.trap("E6")
    async def test_nothing_is_tracked(self, http: httpx2.AsyncClient) -> None:
        """E6: no telemetry."""
        response = await post(http, "q")
        call = response.json()["choices"][0]["message"]["tool_calls"][0]["function"]
        assert json.loads(call["arguments"])["echo"]["env"] == ["0", "1"]

    async def test_no_call_is_plain_content(self, http: httpx2.AsyncClient) -> None:
        (choice,) = (await post(http, "nothing", **FORCED)).json()["choices"]
        assert choice["finish_reason"] == "stop"
        assert choice["message"] == {"role": "assistant", "content": "no tool fits"}

    async def test_a_doubted_call_counts_only_when_a_call_is_forced(
        self, http: httpx2.AsyncClient
    ) -> None:
        free = (await post(http, "doubt")).json()["choices"][0]
        assert "tool_calls" not in free["message"]
        for choice in (FORCED, {"tool_choice": "required"}):
            forced = (await post(http, "doubt", **choice)).json()["choices"][0]
            assert len(forced["message"]["tool_calls"]) == 1

    async def test_streams(self, http: httpx2.AsyncClient) -> None:
        response = await post(http, "q", stream=True)
        assert response.headers["content-type"] == "text/event-stream"
        events = response.text.split("\n\n")
        assert events[-2:] == ["data: [DONE]", ""]
        first, last = (json.loads(event.removeprefix("data: ")) for event in events[:2])
        assert first["object"] == last["object"] == "chat.completion.chunk"
        assert first["choices"][0]["delta"]["tool_calls"][0]["index"] == 0
        assert last["choices"][0] == {"index": 0, "delta": {}, "finish_reason": "tool_calls"}

    @pytest.mark.parametrize(
        ("method", "path", "content", "status"),
        [
            ("GET", "/models", b"", 404),
            ("GET", "/chat/completions", b"", 404),
            ("POST", "/chat/completions", b"{", 400),
            ("POST", "/chat/completions", b"[]", 400),
            ("POST", "/chat/completions", b'{"messages": [], "tools": [1]}', 400),
            ("POST", "/chat/completions", b'{"messages": []}', 400),
        ],
    )
    async def test_refusals(
        self, http: httpx2.AsyncClient, method: str, path: str, content: bytes, status: int
    ) -> None:
        response = await http.request(method, path, content=content)
        assert response.status_code == status
        assert response.json()["error"]["message"]

    async def test_tools_forbidden(self, http: httpx2.AsyncClient) -> None:
        response = await post(http, "q", tool_choice="none")
        assert response.status_code == 400

    async def test_works_as_a_function_model(self, engine: NeedleEngine) -> None:
        endpoint = Endpoint(base_url="http://needle3.embedded/v1", model="needle3")
        client = ChatClient(endpoint, transport=NeedleTransport(engine))
        given = await FunctionModel(client, mode="tools").call([user("q")], {"type": "object"})
        await client.aclose()
        assert given["echo"]["query"] == "q"


class TestProcess:
    async def test_one_process_answers_all_one_at_a_time(self, http: httpx2.AsyncClient) -> None:
        responses = await asyncio.gather(*(post(http, f"q{i}") for i in range(4)))
        asked = [
            json.loads(r.json()["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"])[
                "echo"
            ]
            for r in responses
        ]
        assert [a["query"] for a in asked] == ["q0", "q1", "q2", "q3"]
        assert len({a["pid"] for a in asked}) == 1

    async def test_a_crash_is_this_requests_failure_only(self, http: httpx2.AsyncClient) -> None:
        response = await post(http, "crash")
        assert response.status_code == 422  # 4xx: providers do not try it again
        assert "crashed" in response.json()["error"]["message"]
        assert (await post(http, "q")).status_code == 200

    @pytest.mark.trap("E1")
    async def test_a_hang_ends_at_the_deadline(self) -> None:
        """E1: a deadline on everything."""
        paths = {"lib.so": Path("lib.so"), "needle3.cact": Path("w.cact")}
        engine = NeedleEngine(lambda: paths, timeout=0.5, child=CHILD)
        transport = NeedleTransport(engine)
        async with httpx2.AsyncClient(transport=transport, base_url="http://n/v1") as http:
            response = await post(http, "hang")
        engine.close()
        assert response.status_code == 422
        assert "ran out of time" in response.json()["error"]["message"]

    async def test_a_refusal_keeps_the_process(self, http: httpx2.AsyncClient) -> None:
        response = await post(http, "refuse")
        assert (response.status_code, response.json()["error"]["message"]) == (422, "bad tools")
        assert (await post(http, "q")).status_code == 200

    @pytest.mark.parametrize(
        ("library", "reason"), [("broken.so", "cannot load"), ("silent.so", "ended at once")]
    )
    async def test_an_engine_that_does_not_start(self, library: str, reason: str) -> None:
        paths = {library: Path(library), "needle3.cact": Path("w.cact")}
        engine = NeedleEngine(lambda: paths, timeout=20, child=CHILD)
        transport = NeedleTransport(engine)
        async with httpx2.AsyncClient(transport=transport, base_url="http://n/v1") as http:
            with pytest.raises(ProviderError, match=reason) as caught:
                await post(http, "q")
        assert "callbench models check needle3" in caught.value.remedy

    def test_closing_twice_is_fine(self, engine: NeedleEngine) -> None:
        engine.close()
        engine.close()


def test_an_answer_cut_inside_a_character_is_read_as_far_as_it_goes() -> None:
    class Library:
        """Writes what the engine wrote when its limit fell inside a character."""

        def needle_init(self, *given: Any) -> int:
            return 0

        def needle_complete(self, query: bytes, limit: int, buffer: Any, size: int) -> int:
            buffer.value = '{"text": "杭'.encode()[:-1] + b'"}'
            return 0

    request = {"tools": [], "system": "", "query": "q", "max_tokens": 8}
    answer = needle_child._answer(Library(), request, ctypes.create_string_buffer(99))
    assert answer == {"response": {"text": "\ufffd"}}
