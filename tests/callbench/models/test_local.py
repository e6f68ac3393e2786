"""The real engines with the real weights: skipped where they are not installed or pulled.

Marked ``local``; CI installs the extras, pulls the weights and runs them.
"""

from __future__ import annotations

import importlib.util
import json
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import jsonschema
import pytest

from callbench.errors import UsageError
from callbench.models import weights
from callbench.models.catalogue import load_catalogue
from callbench.models.inventory import check_model
from callbench.models.llama import LlamaEngine, LlamaTransport
from callbench.models.needle import NeedleEngine, NeedleTransport

# One worker runs them all: two engines at once would starve each other.
pytestmark = [pytest.mark.local, pytest.mark.xdist_group("local")]

TEXT = {"type": "string", "maxLength": 12}


def located(name: str) -> dict[str, Path]:
    """Return where the weights of a built-in model are, or skip the test."""
    try:
        return weights.locate(load_catalogue().profile(name))
    except UsageError as error:
        pytest.skip(str(error))


def need_llama() -> None:
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("xllamacpp is not installed")


def obj(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


@pytest.fixture(scope="module")
def engine() -> Iterator[LlamaEngine]:
    need_llama()
    (path,) = located("smollm2").values()
    with LlamaEngine("smollm2", lambda: path, context=2048) as engine:
        yield engine


@pytest.fixture
async def http(engine: LlamaEngine) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(
        transport=LlamaTransport(engine), base_url="http://smollm2.embedded/v1", timeout=300
    ) as client:
        yield client


def request(schema: Any, text: str = "Weather in Paris for 3 days?", **more: Any) -> dict[str, Any]:
    return {
        "model": "smollm2",
        "messages": [{"role": "user", "content": text}],
        "max_tokens": 64,
        "temperature": 0,
        "seed": 7,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "n", "schema": schema},
        },
        **more,
    }


async def answer(http: httpx2.AsyncClient, body: dict[str, Any]) -> dict[str, Any]:
    response = await http.post("/chat/completions", json=body)
    assert response.status_code == 200, response.text
    choice: dict[str, Any] = response.json()["choices"][0]
    return choice


class TestServer:
    def test_listens_on_loopback_only(self, engine: LlamaEngine) -> None:
        url = httpx2.URL(engine.start())
        assert (url.scheme, url.host) == ("http", "127.0.0.1")
        table = Path("/proc/net/tcp")
        if not table.is_file():
            pytest.skip("no list of sockets to read")
        listening = [
            line.split()[1]
            for line in table.read_text(encoding="ascii").splitlines()[1:]
            if line.split()[3] == "0A" and line.split()[1].endswith(f":{url.port:04X}")
        ]
        assert listening == [f"0100007F:{url.port:04X}"]

    async def test_answers_only_with_its_token(self, engine: LlamaEngine) -> None:
        async with httpx2.AsyncClient(trust_env=False) as client:
            response = await client.post(f"{engine.start()}/v1/chat/completions", json={})
        assert response.status_code == 401

    def test_closing_frees_the_port(self) -> None:
        need_llama()
        (path,) = located("smollm2").values()
        with LlamaEngine("smollm2", lambda: path, context=512) as own:
            url = httpx2.URL(own.start())
        with pytest.raises(OSError, match="refused"):
            socket.create_connection((url.host, url.port or 0), timeout=5)


class TestAnswers:
    async def test_the_same_request_gives_the_same_bytes(self, http: httpx2.AsyncClient) -> None:
        body = request(obj(city=TEXT, days={"type": "integer", "minimum": 0, "maximum": 99}))
        first = await answer(http, body)
        await answer(http, request(obj(other=TEXT), "Something else in between"))
        assert await answer(http, body) == first
        assert json.loads(first["message"]["content"])["days"] == 3

    async def test_streaming_is_bound_too_and_says_the_same(self, http: httpx2.AsyncClient) -> None:
        body = request(obj(zeta={"type": "integer", "maximum": 9}, alpha=TEXT))
        whole = (await answer(http, body))["message"]["content"]
        pieces = []
        async with http.stream("POST", "/chat/completions", json={**body, "stream": True}) as got:
            async for line in got.aiter_lines():
                if line.startswith("data: {"):
                    chunk = json.loads(line.removeprefix("data: "))
                    assert chunk["model"] == "smollm2"
                    pieces += [c["delta"].get("content") or "" for c in chunk["choices"]]
        assert len(pieces) > 3
        assert "".join(pieces) == whole
        assert list(json.loads(whole)) == ["zeta", "alpha"]

    async def test_truncation_says_length(self, http: httpx2.AsyncClient) -> None:
        choice = await answer(http, request(obj(city=TEXT), max_tokens=2))
        assert choice["finish_reason"] == "length"

    async def test_a_late_system_message_is_taken(self, http: httpx2.AsyncClient) -> None:
        """DESIGN 3.2: conversation, system, user."""
        turns = [
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": "Hello."},
            {"role": "system", "content": "Answer in JSON."},
            {"role": "user", "content": "Weather in Paris?"},
        ]
        choice = await answer(http, request(obj(city=TEXT), messages=turns))
        assert "city" in json.loads(choice["message"]["content"])

    async def test_a_prompt_beyond_the_context_is_refused(self, http: httpx2.AsyncClient) -> None:
        response = await http.post(
            "/chat/completions", json=request(obj(city=TEXT), "word " * 4000)
        )
        assert response.status_code == 400
        assert "context" in response.text


NUMBER = {"type": "integer", "minimum": 0, "maximum": 9}
ENDLESS = {
    "type": "object",
    "properties": {"v": NUMBER, "c": {"$ref": "#"}},
    "required": ["v"],
}
SCHEMAS = {
    "r127: pattern in a nested object": obj(o=obj(s={"type": "string", "pattern": "^[a-z]{1,9}$"})),
    "r127: large maxLength in a nested object": obj(
        o=obj(s={"type": "string", "maxLength": 9999}, n=NUMBER)
    ),
    "$ref into definitions": {"definitions": {"p": NUMBER}, **obj(a={"$ref": "#/definitions/p"})},
    "$ref with an escape": {
        "definitions": {"a/b": NUMBER},
        **obj(a={"$ref": "#/definitions/a~1b"}),
    },
    "$ref into $defs": {"$defs": {"p": NUMBER}, **obj(a={"$ref": "#/$defs/p"})},
    "anyOf": obj(a={"anyOf": [NUMBER, {"type": "null"}]}),
    "anyOf beside properties": {
        "type": "object",
        "properties": {"a": NUMBER, "b": NUMBER},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
    },
    "enum of several types": obj(a={"enum": ["x", 1, None]}),
    "const": obj(a={"const": {"k": 1}}),
    "pattern with \\d": obj(a={"type": "string", "pattern": r"^\d{4}-\d{2}$"}),
    "date": obj(a={"type": "string", "format": "date"}),
    "bounds": obj(a={"type": "integer", "minimum": 3, "maximum": 10}),
    "a fraction as bound": obj(a={"type": "integer", "minimum": 0.5, "maximum": 9.5}),
    "a huge bound": obj(a={"type": "integer", "minimum": 0, "maximum": 10**30}, b=NUMBER),
    "nested arrays": obj(
        a={
            "type": "array",
            "maxItems": 2,
            "items": {"type": "array", "maxItems": 2, "items": obj(x=NUMBER)},
        }
    ),
    "a forbidden property": {
        "type": "object",
        "properties": {"a": NUMBER, "b": False},
        "required": ["a"],
    },
    "keys that need escapes": obj(**{"a/b~c": NUMBER, 'q"x': NUMBER, "": NUMBER, "城市": NUMBER}),
}


@pytest.mark.parametrize("name", SCHEMAS)
async def test_grammar_gives_valid_objects(http: httpx2.AsyncClient, name: str) -> None:
    schema = SCHEMAS[name]
    choice = await answer(http, request(schema, max_tokens=120))
    assert choice["finish_reason"] == "stop"
    jsonschema.Draft7Validator(schema).validate(json.loads(choice["message"]["content"]))


async def test_a_recursive_schema_is_accepted(http: httpx2.AsyncClient) -> None:
    choice = await answer(http, request(ENDLESS, max_tokens=40))
    assert choice["finish_reason"] == "length"  # a small model nests on and on
    assert "".join(choice["message"]["content"].split()).startswith('{"v":')


@pytest.mark.parametrize("name", ["smollm2", "gemma3-270m", "needle3"])
async def test_check(name: str) -> None:
    if name != "needle3":
        need_llama()
    located(name)
    row = await check_model(load_catalogue().profile(name))
    assert (row.ok, row.problem) == (True, "")
    assert "city" in row.answer


@pytest.fixture(scope="module")
def needle() -> Iterator[NeedleEngine]:
    paths = located("needle3")
    engine = NeedleEngine(lambda: paths, timeout=300)
    yield engine
    engine.close()


class TestNeedle:
    async def ask(self, engine: NeedleEngine, schema: Any, text: str) -> Any:
        tool = {"name": "weather", "description": "Weather of a city", "parameters": schema}
        body = {
            "messages": [{"role": "user", "content": text}],
            "tools": [{"type": "function", "function": tool}],
            "tool_choice": {"type": "function", "function": {"name": "weather"}},
        }
        async with httpx2.AsyncClient(
            transport=NeedleTransport(engine), base_url="http://needle3.embedded/v1", timeout=300
        ) as http:
            response = await http.post("/chat/completions", json=body)
        assert response.status_code == 200, response.text
        calls = response.json()["choices"][0]["message"].get("tool_calls", [])
        assert {call["function"]["name"] for call in calls} <= {"weather"}
        return json.loads(calls[0]["function"]["arguments"]) if calls else None

    async def test_answers_and_repeats(self, needle: NeedleEngine) -> None:
        schema = obj(city={"type": "string"}, days={"type": "integer"})
        for _ in range(2):
            given = await self.ask(needle, schema, "Weather in Paris for 3 days")
            assert given == {"city": "Paris", "days": 3}
            await self.ask(needle, schema, "Weather in Lagos for 5 days")

    @pytest.mark.parametrize(
        "schema", [ENDLESS, SCHEMAS["enum of several types"], SCHEMAS["nested arrays"]]
    )
    async def test_odd_schemas_do_not_end_the_process(
        self, needle: NeedleEngine, schema: Any
    ) -> None:
        await self.ask(needle, schema, "Give 3 and 5 for everything")
        city = obj(city={"type": "string"})
        assert await self.ask(needle, city, "Weather in Paris") == {"city": "Paris"}
