"""The way to the embedded server: schemas in its dialect, fallbacks, nothing but loopback."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest

from callbench.errors import ProviderError, UsageError
from callbench.models.llama import LlamaEngine, LlamaTransport

SCHEMA = {
    "type": "object",
    "properties": {"z": {"type": "string", "pattern": r"^\d$"}, "a": True},
}


class FakeServer:
    """Stands for ``xllamacpp.Server``: keeps the parameters it was given."""

    def __init__(self, params: Any) -> None:
        if params.model.path.endswith("bad.gguf"):
            raise RuntimeError("Failed to init server")
        STARTED.append(params)
        self.listening_address = "http://127.0.0.1:4242"

    def handle_completions(self, request: dict[str, Any]) -> None:
        FIRST_TOKENS.append(request["max_tokens"])


STARTED: list[Any] = []
FIRST_TOKENS: list[int] = []


class FakeParams:
    def __init__(self) -> None:
        self.model = SimpleNamespace(path="")
        self.cpuparams = SimpleNamespace(n_threads=-1)
        self.cpuparams_batch = SimpleNamespace(n_threads=-1)
        self.sampling = SimpleNamespace(temp=0.8, seed=-1)
        self.hostnames = ["0.0.0.0"]
        self.chat_template = ""


@pytest.fixture(autouse=True)
def _fake_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    STARTED.clear()
    FIRST_TOKENS.clear()
    fake = SimpleNamespace(CommonParams=FakeParams, Server=FakeServer)
    monkeypatch.setitem(sys.modules, "xllamacpp", fake)  # type: ignore[arg-type]


@pytest.fixture
def engine() -> LlamaEngine:
    return LlamaEngine("tiny", lambda: Path("tiny.gguf"), context=2048, threads=3)


class TestEngine:
    def test_listens_on_loopback_only_with_a_token(self, engine: LlamaEngine) -> None:
        assert engine.start() == "http://127.0.0.1:4242"
        (params,) = STARTED
        assert params.hostnames == ["127.0.0.1"]
        assert params.port == 0
        assert params.api_keys == [engine.token]
        assert len(engine.token) >= 32
        assert engine.token != LlamaEngine("tiny", lambda: Path("t")).token

    def test_answers_repeat_and_say_no_path(self, engine: LlamaEngine) -> None:
        engine.start()
        (params,) = STARTED
        assert params.sampling.temp == 0.0
        assert params.sampling.seed >= 0
        assert (params.n_parallel, params.cache_prompt, params.cache_ram_mib) == (1, False, 0)
        assert params.model_alias == {"tiny"}
        assert params.n_ctx == 2048
        assert params.cpuparams.n_threads == params.cpuparams_batch.n_threads == 3
        assert params.verbosity < 0

    @pytest.mark.parametrize(("cores", "threads"), [(8, 4), (3, 1), (2, 1), (1, 1)])
    def test_half_the_cores_by_default(
        self, cores: int, threads: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Busy threads of two engines on the same cores would only wait for each other."""
        monkeypatch.setattr("os.sched_getaffinity", lambda pid: set(range(cores)), raising=False)
        LlamaEngine("tiny", lambda: Path("tiny.gguf")).start()
        assert STARTED[0].cpuparams.n_threads == threads

    def test_has_answered_before_it_can_be_closed(self, engine: LlamaEngine) -> None:
        """A server that is stopped before its loop has begun hangs (observed)."""
        engine.start()
        assert FIRST_TOKENS == [1]

    def test_starts_once_and_again_after_closing(self, engine: LlamaEngine) -> None:
        with engine:
            engine.start()
            assert len(STARTED) == 1
        engine.close()
        engine.start()
        assert len(STARTED) == 2

    def test_a_template_replaces_the_files(self) -> None:
        LlamaEngine("tiny", lambda: Path("t.gguf"), chat_template="{{ messages }}").start()
        LlamaEngine("tiny", lambda: Path("t.gguf")).start()
        assert [params.chat_template for params in STARTED] == ["{{ messages }}", ""]

    def test_weights_that_do_not_load(self) -> None:
        with pytest.raises(ProviderError, match=r"tiny: llama\.cpp cannot load bad\.gguf"):
            LlamaEngine("tiny", lambda: Path("bad.gguf")).start()

    def test_without_the_extra(self, engine: LlamaEngine, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "xllamacpp", None)  # type: ignore[arg-type]
        with pytest.raises(UsageError) as caught:
            engine.start()
        assert "callbench[local]" in caught.value.remedy


async def ask(
    engine: LlamaEngine,
    answer: Callable[[httpx2.Request], httpx2.Response],
    body: Any,
    **options: Any,
) -> httpx2.Response:
    transport = LlamaTransport(engine, httpx2.MockTransport(answer))
    async with httpx2.AsyncClient(transport=transport, **options) as client:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return await client.post("http://tiny.embedded/v1/chat/completions", content=content)


def bound(schema: Any = SCHEMA) -> dict[str, Any]:
    return {
        "messages": [],
        "max_tokens": 5,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "n", "strict": True, "schema": schema},
        },
    }


def schema_of(request: httpx2.Request) -> Any:
    return json.loads(request.content)["response_format"]["json_schema"]["schema"]


class TestTransport:
    async def test_goes_to_the_server_with_its_token(self, engine: LlamaEngine) -> None:
        seen: list[httpx2.Request] = []

        def answer(request: httpx2.Request) -> httpx2.Response:
            seen.append(request)
            return httpx2.Response(200, json={})

        headers = {"authorization": "Bearer of-another", "x-mine": "1"}
        await ask(engine, answer, {"messages": []}, headers=headers, timeout=7)
        (request,) = seen
        assert str(request.url) == "http://127.0.0.1:4242/v1/chat/completions"
        assert request.headers["host"] == "127.0.0.1:4242"
        assert request.headers["authorization"] == f"Bearer {engine.token}"
        assert request.headers["x-mine"] == "1"
        assert request.headers["content-length"] == str(len(request.content))
        assert request.extensions["timeout"]["read"] == 7

    async def test_puts_the_schema_into_the_dialect_in_order(self, engine: LlamaEngine) -> None:
        bodies: list[Any] = []

        def answer(request: httpx2.Request) -> httpx2.Response:
            bodies.append(json.loads(request.content))
            return httpx2.Response(200, json={})

        await ask(engine, answer, bound())
        (body,) = bodies
        assert (body["max_tokens"], body["messages"]) == (5, [])
        schema = body["response_format"]["json_schema"]["schema"]
        assert schema["properties"] == {"z": {"type": "string", "pattern": "^[0-9]$"}, "a": {}}
        assert list(schema["properties"]) == ["z", "a"]

    @pytest.mark.parametrize(
        "body",
        [
            b"not json",
            b"[1]",
            b'{"messages":  [], "response_format": null}',
            b'{"response_format": {"type": "json_schema", "json_schema": {"schema": true}}}',
            b'{"response_format": {"type": "json_object"}}',
        ],
    )
    async def test_other_requests_pass_as_they_are(self, engine: LlamaEngine, body: bytes) -> None:
        seen: list[bytes] = []

        def answer(request: httpx2.Request) -> httpx2.Response:
            seen.append(request.content)
            return httpx2.Response(400, json={"error": {"message": "no"}})

        response = await ask(engine, answer, body)
        assert seen == [body]
        assert response.status_code == 400

    async def test_a_refused_schema_is_reduced_then_given_up(self, engine: LlamaEngine) -> None:
        """r127 (ggml-org/llama.cpp#25746)."""
        schemas: list[Any] = []

        def answer(request: httpx2.Request) -> httpx2.Response:
            schemas.append(schema_of(request))
            if len(schemas) < 3:
                return httpx2.Response(400, json={"error": {"message": "failed to parse grammar"}})
            return httpx2.Response(200, json={"ok": True})

        response = await ask(engine, answer, bound())
        assert response.json() == {"ok": True}
        assert schemas[0]["properties"]["z"] == {"type": "string", "pattern": "^[0-9]$"}
        assert schemas[1] == {"type": "object", "properties": {"z": {"type": "string"}, "a": {}}}
        assert schemas[2] == {"type": "object"}

    async def test_the_last_refusal_is_passed_on(self, engine: LlamaEngine) -> None:
        count = 0

        def answer(request: httpx2.Request) -> httpx2.Response:
            nonlocal count
            count += 1
            return httpx2.Response(400, json={"error": {"message": f"no {count}"}})

        response = await ask(engine, answer, bound())
        assert (response.status_code, response.json()["error"]["message"]) == (400, "no 3")

    async def test_a_prompt_that_is_too_long_is_not_a_schema_fault(
        self, engine: LlamaEngine
    ) -> None:
        count = 0

        def answer(request: httpx2.Request) -> httpx2.Response:
            nonlocal count
            count += 1
            return httpx2.Response(400, json={"error": {"type": "exceed_context_size_error"}})

        assert (await ask(engine, answer, bound())).status_code == 400
        assert count == 1

    async def test_closing_leaves_the_engine_up(self, engine: LlamaEngine) -> None:
        await ask(engine, lambda request: httpx2.Response(200), {})
        await ask(engine, lambda request: httpx2.Response(200), {})
        assert len(STARTED) == 1
