"""Which models play which role, and which cassette file a run uses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2
import pytest

from callbench.cassette import CassetteMiss, case_scope
from callbench.cassette.store import Cassette
from callbench.cassette.transport import Mode
from callbench.errors import UsageError
from callbench.models.catalogue import load_catalogue
from callbench.run import cassettes
from callbench.run.cassettes import cassette_path
from callbench.run.config import RunConfig
from callbench.run.session import open_models, roles_of


class TestRoles:
    def test_one_model_plays_both(self) -> None:
        roles = roles_of(load_catalogue(), "smollm2", None)
        assert roles.reasoning is roles.function

    def test_two_models_share_the_work(self) -> None:
        roles = roles_of(load_catalogue(), "smollm2", "needle3")
        assert (roles.reasoning.name, roles.function.name) == ("smollm2", "needle3")

    def test_a_function_model_alone_is_refused_with_the_way_to_use_it(self) -> None:
        with pytest.raises(UsageError, match="--function-model needle3"):
            roles_of(load_catalogue(), "needle3", None)

    def test_a_reasoning_model_is_no_function_model(self, tmp_path: Path) -> None:
        config = tmp_path / "callbench.toml"
        config.write_text(
            '[models.talk]\nbase_url = "http://x.test/v1"\nmodel = "m"\nroles = ["reasoning"]\n'
        )
        with pytest.raises(UsageError, match="talk"):
            roles_of(load_catalogue(config), "smollm2", "talk")

    def test_a_role_that_is_not_asked_takes_the_model_of_the_other(self) -> None:
        catalogue = load_catalogue()
        alone = roles_of(catalogue, "needle3", None, ("function",))
        assert (alone.reasoning.name, alone.function.name) == ("needle3", "needle3")
        beside = roles_of(catalogue, "smollm2", "needle3", ("function",))
        assert {role: profile.name for role, profile in beside.in_use.items()} == {
            "function": "needle3"
        }
        first = roles_of(catalogue, "smollm2", "needle3", ("reasoning",))
        assert {role: profile.name for role, profile in first.in_use.items()} == {
            "reasoning": "smollm2"
        }
        assert first.function.name == "smollm2"


class TestOpenModels:
    async def test_replay_starts_nothing_and_misses_name_the_command(self, tmp_path: Path) -> None:
        roles = roles_of(load_catalogue(), "smollm2", "needle3")
        with Cassette.open(tmp_path / "none.cassette.jsonl") as cassette:
            async with open_models(roles, cassette, Mode.REPLAY, command="record me") as models:
                with case_scope("c"), pytest.raises(CassetteMiss, match="record me"):
                    async for _ in models.reasoning.call([{"role": "user", "content": "q"}]):
                        pass

    async def test_the_profile_reaches_the_request(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        config = tmp_path / "callbench.toml"
        config.write_text(
            '[models.mine]\nbase_url = "http://x.test/v1"\nmodel = "m"\nmax_tokens = 9\n'
            'reply_mode = "json_schema"\nfunction_mode = "tools"\nsystem_first = true\ntrials = 1\n'
        )
        sent: list[httpx2.Request] = []

        async def answer(self: Any, request: httpx2.Request) -> httpx2.Response:
            sent.append(request)
            choice = {"message": {"content": "{}"}, "finish_reason": "stop"}
            return httpx2.Response(200, json={"choices": [choice]})

        monkeypatch.setattr(httpx2.AsyncHTTPTransport, "handle_async_request", answer)
        roles = roles_of(load_catalogue(config), "mine", None)
        talk = [{"role": "user", "content": "q"}, {"role": "system", "content": "s"}]
        schema = {"type": "object", "required": ["a"]}
        with Cassette.open(tmp_path / "live.cassette.jsonl") as cassette:
            async with open_models(roles, cassette, Mode.LIVE, command="") as models:
                async for _ in models.reasoning.call(talk, response_schema=schema):
                    pass
                assert models.function is not None
                with pytest.raises(Exception, match="/a"):
                    await models.function.call(talk, schema)
        reasoning, function = (request.content for request in sent)  # one trial, so two requests
        assert b'"max_tokens":9' in reasoning
        assert b'"json_schema"' in reasoning
        assert reasoning.index(b'"s"') < reasoning.index(b'"q"')
        assert b'"tools"' in function


class TestCassettePath:
    @pytest.fixture(autouse=True)
    def shipped(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        shipped = tmp_path / "shipped"
        shipped.mkdir()
        (shipped / "d.m.cassette.jsonl").touch()
        here = tmp_path / "here"
        here.mkdir()
        monkeypatch.chdir(here)
        monkeypatch.setattr(cassettes, "bundled", lambda kind: shipped)
        return shipped

    def test_replay_takes_the_bundled_one_unless_there_is_one_here(self, shipped: Path) -> None:
        config = RunConfig(model="m")
        assert cassette_path(config, "d") == shipped / "d.m.cassette.jsonl"
        Path("cassettes").mkdir()
        Path("cassettes/d.m.cassette.jsonl").touch()
        assert cassette_path(config, "d") == Path("cassettes/d.m.cassette.jsonl")

    def test_recording_never_writes_into_the_package(self) -> None:
        config = RunConfig(model="m", mode=Mode.RECORD)
        assert cassette_path(config, "d") == Path("cassettes/d.m.cassette.jsonl")

    def test_the_name_says_both_models(self) -> None:
        config = RunConfig(model="m", function_model="f")
        assert cassette_path(config, "d").name == "d.m+f.cassette.jsonl"

    @pytest.mark.parametrize(
        ("system", "name"),
        [
            ("slot", "d.m+f.cassette.jsonl"),
            ("stage1", "d.m+f.cassette.jsonl"),
            ("stage2", "d.m+f.stage2.cassette.jsonl"),
            ("fewshot", "d.m+f.fewshot.cassette.jsonl"),
            ("own.module:Slot", "d.m+f.cassette.jsonl"),
        ],
    )
    def test_the_name_says_the_system_where_its_requests_are_others(
        self, system: str, name: str
    ) -> None:
        config = RunConfig(model="m", function_model="f", system=system)
        assert cassette_path(config, "d").name == name

    def test_the_one_asked_for(self) -> None:
        config = RunConfig(model="m", cassette=Path("x.jsonl"))
        assert cassette_path(config, "d") == Path("x.jsonl")
