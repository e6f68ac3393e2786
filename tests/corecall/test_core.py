"""DataBase, CoreCall and its lifecycle: seed CoreCall §3–§5."""

from __future__ import annotations

import copy
from collections.abc import AsyncGenerator
from typing import Any
from uuid import UUID

import pytest
from pydantic import Field

from corecall.core import CoreCall, DataBase
from corecall.types import (
    CallError,
    CallOutputChunk,
    CallOutputType,
    CallVars,
    LanguageType,
    NodeInfo,
)

from .support import FakeFunction, FakeReasoning, Pair, executor, history


class Input(DataBase):
    city: str = Field(alias="cityName")
    note: str | None = None


class Output(DataBase):
    pass


class Probe(CoreCall, input_model=Input, output_model=Output):
    events: list[str] = Field(default_factory=list)
    fails: bool = False

    async def _init(self, call_vars: CallVars) -> Input:
        self.events.append(f"init models={self._llm_obj is not None} q={call_vars.question}")
        return Input(cityName="杭州")

    async def _exec(self, input_data: dict[str, Any]) -> AsyncGenerator[CallOutputChunk, None]:
        self.events.append(f"exec {input_data}")
        for text in ("a", "b"):
            yield CallOutputChunk(type=CallOutputType.TEXT, content=text)
        if self.fails:
            raise CallError("broken", {"code": 1})

    async def _after_exec(self, input_data: dict[str, Any]) -> None:
        self.events.append("after")


class TestDataBase:
    def test_override_is_laid_over_properties_and_nothing_else(self) -> None:
        plain = Input.model_json_schema()
        override = {"cityName": {"enum": ["杭州"]}, "extra": {"type": "integer"}}
        before = copy.deepcopy(override)
        schema = Input.model_json_schema(override=override)
        assert schema["properties"]["cityName"] == {"enum": ["杭州"]}
        assert schema["properties"]["extra"] == {"type": "integer"}
        assert schema["properties"]["note"] == plain["properties"]["note"]
        assert schema["required"] == plain["required"] == ["cityName"]
        schema["properties"]["cityName"]["enum"].append("x")
        assert override == before

    def test_each_schema_is_fresh(self) -> None:
        Input.model_json_schema(override={"x": {}})
        assert "x" not in Input.model_json_schema()["properties"]

    def test_a_model_without_properties_takes_an_override(self) -> None:
        assert Output.model_json_schema(override={"x": {}})["properties"] == {"x": {}}


class TestClassDefinition:
    @pytest.mark.parametrize("given", [{}, {"input_model": Input}, {"output_model": Output}])
    def test_leaving_out_a_model_is_a_type_error(self, given: dict[str, Any]) -> None:
        with pytest.raises(TypeError):
            type("Half", (CoreCall,), {"__module__": __name__}, **given)
        with pytest.raises(TypeError):
            type("Half", (Probe,), {"__module__": __name__}, **given)

    def test_the_models_are_class_variables(self) -> None:
        assert (Probe.input_model, Probe.output_model) == (Input, Output)
        assert "input_model" not in Probe.model_fields

    def test_defaults_of_the_seed(self) -> None:
        call = Probe(name="n", description="d", surplus=[1])
        assert (call.node, call.enable_filling, call.to_user) == (None, False, False)
        assert call.surplus == [1]  # type: ignore[attr-defined]

    @pytest.mark.parametrize("field", ["name", "description"])
    def test_name_and_description_have_no_default(self, field: str) -> None:
        given = {"name": "n", "description": "d"}
        del given[field]
        with pytest.raises(ValueError, match=field):
            Probe(**given)

    def test_the_json_schema_shows_only_the_parameters(self) -> None:
        schema = Probe.model_json_schema()
        assert set(schema["properties"]) == {"to_user", "events", "fails"}
        assert schema.get("required", []) == []


async def test_what_a_subclass_must_write_is_not_implemented_on_the_base() -> None:
    class Bare(CoreCall, input_model=Input, output_model=Output):
        pass

    with pytest.raises(NotImplementedError):
        Bare.info()
    with pytest.raises(NotImplementedError):
        await Bare.instance(executor(), None)
    call = Bare(name="n", description="d")
    chunks = [chunk async for chunk in call.exec(executor(), {})]
    assert chunks == [CallOutputChunk(type=CallOutputType.TEXT, content="")]


class TestLifecycle:
    async def test_the_order_of_the_seed(self) -> None:
        runner = executor(question="where?")
        node = NodeInfo(id="n1")
        call = await Probe.instance(runner, node)
        assert (call.name, call.description, call.node) == ("book", "Book a hotel", node)
        assert call.input == {"cityName": "杭州"}  # by alias, without None
        assert call.events == ["init models=True q=where?"]
        seen = []
        async for chunk in call.exec(runner, {"given": 1}):
            seen.append(chunk.content)
            assert "after" not in call.events
        assert seen == ["a", "b"]
        assert call.events[1:] == ["exec {'given': 1}", "after"]

    async def test_after_exec_does_not_run_when_exec_raises(self) -> None:
        call = await Probe.instance(executor(), None, fails=True)
        with pytest.raises(CallError, match="broken"):
            async for _ in call.exec(executor(), {}):
                pass
        assert "after" not in call.events

    @pytest.mark.parametrize("name", ["name", "description", "node"])
    async def test_a_keyword_may_not_override_what_the_step_says(self, name: str) -> None:
        with pytest.raises(TypeError):
            await Probe.instance(executor(), None, **{name: "mine"})

    async def test_init_may_return_a_partial_model(self) -> None:
        class Partial(Probe, input_model=Input, output_model=Output):
            async def _init(self, call_vars: CallVars) -> Input:
                return Input.model_construct(note="n")

        call = await Partial.instance(executor(), None)
        assert call.input == {"note": "n"}


class TestCallVars:
    def test_each_comes_from_where_the_seed_says(self) -> None:
        runner = executor(
            context=[history("s1", {"a": 1}), history("s2", {}), history("s1", {"a": 2})],
            conversation=[{"role": "user", "content": "hi"}],
            facts=["f"],
            question="q",
            sessionId="session",
            reasoning="thought",
            language=LanguageType.CHINESE,
        )
        found = CoreCall._assemble_call_vars(runner)
        assert found.language is LanguageType.CHINESE
        assert found.ids.model_dump() == {
            "task_id": "task-1",
            "executor_id": "exec-1",
            "session_id": "session",
            "user_id": "user-1",
            "app_id": "app-1",
            "conversation_id": "conv-1",
        }
        assert found.question == "q"
        assert found.step_order == ["s1", "s2", "s1"]
        assert found.step_data["s1"].outputData == {"a": 2}
        assert found.background.facts == ["f"]
        assert found.thinking == "thought"

    def test_a_step_id_written_as_uuid_is_that_uuid(self) -> None:
        text = "123E4567-E89B-12D3-A456-426614174000"
        found = CoreCall._assemble_call_vars(executor(context=[history(text, {})]))
        assert list(found.step_data) == found.step_order == [UUID(text)]

    @pytest.mark.parametrize("step_id", [None, 5, ["s"]])
    def test_a_step_id_is_text_or_a_uuid(self, step_id: Any) -> None:
        with pytest.raises(ValueError, match="stepId"):
            history(step_id, {})

    def test_no_reasoning_is_the_empty_string(self) -> None:
        assert CoreCall._assemble_call_vars(executor(reasoning=None)).thinking == ""

    def test_no_state_is_a_value_error_and_logged(self, caplog: pytest.LogCaptureFixture) -> None:
        runner = executor()
        runner.task.state = None
        with pytest.raises(ValueError, match="task-1"):
            CoreCall._assemble_call_vars(runner)
        assert caplog.records[0].levelname == "ERROR"


class TestModels:
    async def test_llm_yields_each_content_and_none_as_empty(self) -> None:
        reasoning = FakeReasoning([["a", None, "", "b"]])
        call = await Probe.instance(executor(Pair(reasoning)), None)
        messages = [{"role": "user", "content": "q"}]
        assert [text async for text in call._llm(messages)] == ["a", "", "", "b"]
        assert reasoning.requests == [{"messages": messages, "streaming": False}]

    async def test_json_asks_the_function_model(self) -> None:
        function = FakeFunction([{"a": 1}])
        call = await Probe.instance(executor(Pair(function=function)), None)
        assert await call._json([], {"type": "object"}) == {"a": 1}
        assert function.requests == [([], {"type": "object"})]

    async def test_json_without_a_function_model_is_a_call_error(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        call = await Probe.instance(executor(), None)
        with pytest.raises(CallError, match="no function model"):
            await call._json([], {})
        assert caplog.records[0].levelname == "ERROR"


def test_a10_the_text_of_a_call_error_is_its_message() -> None:
    error = CallError("读取失败", {"code": 5})
    assert (str(error), error.data) == ("读取失败", {"code": 5})
    assert CallError("x").data == {}
