"""What ``models list``, ``pull`` and ``check`` report."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest

from callbench.errors import ExitCode
from callbench.models.catalogue import Catalogue, ModelProfile, WeightFile, WeightPart
from callbench.models.inventory import check_model, list_models, pull_model
from callbench.models.opening import Engines

CONTENT = b"weights"
SHA = hashlib.sha256(CONTENT).hexdigest()
FILE = WeightFile("w.gguf", SHA, 7, (WeightPart("cb-none", "1.0", "w", SHA, 7),))
LOCAL = ModelProfile(
    name="local",
    model="local",
    engine="llama",
    base_url="http://local.embedded/v1",
    description="a tiny one",
    license="Apache-2.0",
    weights=(FILE,),
)
FAR = ModelProfile(name="far", model="m", base_url="https://h/v1", api_key_env="CB_TEST_KEY")


class FakeEngines(Engines):
    """Gives a transport that answers as told."""

    def __init__(self, answer: Callable[[httpx2.Request], httpx2.Response]) -> None:
        super().__init__()
        self._answer = answer

    def transport(self, profile: ModelProfile) -> httpx2.AsyncBaseTransport:
        return httpx2.MockTransport(self._answer)


class Events(httpx2.AsyncByteStream):
    def __init__(self, text: str) -> None:
        self._text = text

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._text.encode()


def says(content: str) -> Callable[[httpx2.Request], httpx2.Response]:
    def answer(request: httpx2.Request) -> httpx2.Response:
        if json.loads(request.content)["stream"]:
            chunk = {"choices": [{"delta": {"content": content}, "finish_reason": "stop"}]}
            return httpx2.Response(
                200,
                headers={"content-type": "text/event-stream"},
                stream=Events(f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n"),
            )
        message = {"role": "assistant", "content": content}
        return httpx2.Response(200, json={"choices": [{"message": message}]})

    return answer


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CALLBENCH_CACHE", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    path = tmp_path / "weights" / SHA[:16] / "w.gguf"
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT)
    return path


class TestList:
    def test_ready(self) -> None:
        (row,) = list_models(Catalogue({"local": LOCAL}))
        assert (row.name, row.engine, row.roles) == ("local", "llama", ("reasoning", "function"))
        assert (row.ready, row.note, row.source) == (True, "", "built in")
        assert row.megabytes == 7e-6
        assert (row.description, row.license) == ("a tiny one", "Apache-2.0")

    def test_without_weights(self, place: Path) -> None:
        place.unlink()
        (row,) = list_models(Catalogue({"local": LOCAL}))
        assert not row.ready
        assert "callbench models pull local" in row.note
        assert "\n" not in row.note
        assert row.megabytes == 7e-6

    def test_without_the_engine(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        (row,) = list_models(Catalogue({"local": LOCAL}))
        assert "callbench[local]" in row.note

    def test_an_endpoint(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("CB_TEST_KEY", raising=False)
        mine = replace(FAR, source="callbench.toml")
        (row,) = list_models(Catalogue({"far": mine}))
        assert (row.ready, row.note) == (False, "CB_TEST_KEY is not set")
        assert (row.description, row.source) == ("m at https://h/v1", "callbench.toml")
        assert row.megabytes is None
        monkeypatch.setenv("CB_TEST_KEY", "k")
        assert list_models(Catalogue({"far": mine}))[0].ready


def test_pull(place: Path) -> None:
    (row,) = pull_model(LOCAL)
    assert (row.name, row.file, row.path, row.sha256) == ("local", "w.gguf", place, SHA)
    assert row.megabytes == 7e-6


class TestCheck:
    async def test_answers(self) -> None:
        row = await check_model(LOCAL, engines=FakeEngines(says('{"city": "Paris"}')))
        assert (row.ok, row.problem, row.exit_code) == (True, "", ExitCode.OK)
        assert row.answer == "{'city': 'Paris'}"
        assert row.milliseconds is not None
        assert row.milliseconds > 0

    async def test_a_reasoning_model_is_asked_as_stage_1_asks(self) -> None:
        profile = replace(LOCAL, roles=("reasoning",), reply_mode="json_schema")
        row = await check_model(profile, engines=FakeEngines(says('{"city": "Paris"}')))
        assert (row.ok, row.answer) == (True, '{"city": "Paris"}')
        row = await check_model(profile, engines=FakeEngines(says("no idea")))
        assert (row.ok, row.exit_code) == (False, ExitCode.PROVIDER)
        row = await check_model(
            replace(profile, reply_mode="text"), engines=FakeEngines(says("no idea"))
        )
        assert row.ok

    async def test_answers_but_not_as_asked(self) -> None:
        row = await check_model(LOCAL, engines=FakeEngines(says("no idea")))
        assert (row.ok, row.exit_code) == (False, ExitCode.PROVIDER)
        assert row.problem.startswith("It answers, but not as asked")

    async def test_refused(self) -> None:
        row = await check_model(
            LOCAL, engines=FakeEngines(lambda r: httpx2.Response(401, text="who are you"))
        )
        assert (row.ok, row.exit_code) == (False, ExitCode.PROVIDER)
        assert "who are you" in row.problem

    def test_damaged_weights(self, place: Path) -> None:
        place.write_bytes(b"weightZ")
        row = asyncio.run(check_model(LOCAL, engines=FakeEngines(says("{}"))))
        assert (row.ok, row.exit_code) == (False, ExitCode.USAGE)
        assert "is damaged" in row.problem
        assert "callbench models pull local" in row.problem

    def test_missing_weights(self, place: Path) -> None:
        place.unlink()
        row = asyncio.run(check_model(LOCAL, engines=FakeEngines(says("{}"))))
        assert (row.ok, row.exit_code) == (False, ExitCode.USAGE)

    async def test_missing_engine(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        row = await check_model(LOCAL, engines=FakeEngines(says("{}")))
        assert (row.ok, row.exit_code) == (False, ExitCode.USAGE)
        assert "xllamacpp" in row.problem

    async def test_missing_key(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("CB_TEST_KEY", raising=False)
        row = await check_model(FAR)
        assert (row.ok, row.exit_code) == (False, ExitCode.USAGE)
