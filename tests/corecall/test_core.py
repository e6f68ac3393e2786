"""DataBase and CoreCall: schema, class, lifecycle, and the way to the models."""

from __future__ import annotations

import copy
from collections.abc import AsyncGenerator
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from corecall.core import CoreCall, DataBase
from corecall.llm.llm import LLM
from corecall.slot.slot import Slot
from corecall.types import (
    CallError,
    CallInfo,
    CallOutputChunk,
    CallOutputType,
    CallVars,
    LanguageType,
    NodeInfo,
)

from .support import FakeFunction, FakeReasoning, Pair, executor, history

TEXT = CallOutputType.TEXT


class Guest(BaseModel):
    full_name: str = Field(alias="fullName")
    age: int | None = None


class Input(DataBase):
    city: str = Field(alias="cityName")
    note: str | None = None


class Output(DataBase):
    pass


class Probe(CoreCall, input_model=Input, output_model=Output):
    """Writes down what happens to it; ``fails`` says where it raises."""

    events: list[str] = Field(default_factory=list)
    fails: str = ""

    async def _init(self, call_vars: CallVars) -> Input:
        self.events.append(f"init q={call_vars.question}")
        self._fail("init")
        return Input(cityName="杭州")

    async def _exec(self, input_data: dict[str, Any]) -> AsyncGenerator[CallOutputChunk, None]:
        self.events.append(f"exec {input_data}")
        try:
            for text in ("a", "", "b"):
                self.events.append(f"yield {text}")
                yield CallOutputChunk(type=TEXT, content=text)
            self._fail("exec")
        finally:
            self.events.append("exec ended")

    async def _after_exec(self, input_data: dict[str, Any]) -> None:
        self.events.append(f"after {input_data}")
        self._fail("after")

    def _fail(self, where: str) -> None:
        if self.fails == where:
            raise CallError(f"broken in {where}", {"code": 1})


class Bare(CoreCall, input_model=Input, output_model=Output):
    """Writes nothing that a subclass may leave out."""


def bare() -> Bare:
    return Bare(name="n", description="d")


async def chunks_of(call: CoreCall, data: dict[str, Any] | None = None) -> list[CallOutputChunk]:
    return [chunk async for chunk in call.exec(executor(), data or {})]


class TestDataBase:
    @pytest.mark.rule("core.data.1")
    @pytest.mark.parametrize("override", [None, {}])
    def test_without_an_override_it_is_the_models_own_schema(self, override: Any) -> None:
        class Same(BaseModel):
            city: str = Field(alias="cityName")
            note: str | None = None

        own = {**Same.model_json_schema(), "title": "Input"}
        assert Input.model_json_schema() == Input.model_json_schema(override) == own

    @pytest.mark.rule("core.data.2", "core.data.4")
    def test_an_entry_replaces_a_property_and_nothing_else_changes(self) -> None:
        class Trip(DataBase):
            guest: Guest
            city: str = Field(alias="cityName", min_length=2)

        plain = Trip.model_json_schema()
        schema = Trip.model_json_schema(override={"cityName": {"enum": ["杭州"]}, "day": {}})
        assert schema["properties"]["cityName"] == {"enum": ["杭州"]}
        assert schema["properties"]["guest"] == plain["properties"]["guest"]
        del plain["properties"], schema["properties"]
        assert schema == plain
        assert schema["required"] == ["guest", "cityName"]
        assert set(Output.model_json_schema(override={"x": {}})) == set(Output.model_json_schema())
        assert "Guest" in schema["$defs"]

    @pytest.mark.rule("core.data.3")
    def test_an_undeclared_name_is_added_at_the_end(self) -> None:
        schema = Input.model_json_schema(override={"extra": {"type": "integer"}})
        assert list(schema["properties"]) == ["cityName", "note", "extra"]
        assert schema["properties"]["extra"] == {"type": "integer"}
        assert Output.model_json_schema(override={"x": {}})["properties"] == {"x": {}}

    @pytest.mark.rule("core.data.5")
    def test_each_schema_is_fresh(self) -> None:
        override = {"x": {"enum": [1]}}
        before = copy.deepcopy(override)
        Input.model_json_schema(override)["properties"]["x"]["enum"].append(2)
        assert override == before
        override["x"]["enum"].append(3)
        assert "x" not in Input.model_json_schema()["properties"]

    @pytest.mark.rule("core.data.6")
    def test_other_arguments_reach_the_generator(self) -> None:
        schema = Input.model_json_schema(by_alias=False, override={"x": {}})
        assert list(schema["properties"]) == ["city", "note", "x"]

    @pytest.mark.rule("core.data.2", "core.data.3", "core.data.4", "core.data.5")
    @given(st.dictionaries(st.sampled_from(["cityName", "note", "a", "b"]), st.just({"enum": [1]})))
    def test_an_override_is_plain_overlay(self, override: dict[str, Any]) -> None:
        plain = Input.model_json_schema()
        expected = {**plain, "properties": {**plain["properties"], **override}}
        assert Input.model_json_schema(override) == expected
        assert Input.model_json_schema() == plain


class TestClassDefinition:
    @pytest.mark.rule("core.class.4")
    @pytest.mark.parametrize("base", [CoreCall, Probe])
    @pytest.mark.parametrize("given", [{}, {"input_model": Input}, {"output_model": Output}])
    def test_leaving_out_a_model_is_a_type_error(
        self, base: type[CoreCall], given: dict[str, Any]
    ) -> None:
        with pytest.raises(TypeError):
            type("Half", (base,), {"__module__": __name__}, **given)

    @pytest.mark.rule("core.class.3")
    def test_the_models_are_variables_of_the_class(self) -> None:
        class Other(Probe, input_model=Output, output_model=Input):
            pass

        assert (Probe.input_model, Probe.output_model) == (Input, Output)
        assert (Other.input_model, Other.output_model) == (Output, Input)
        assert "input_model" not in {*Probe.model_fields, *bare().model_dump()}

    @pytest.mark.rule("core.class.5")
    def test_other_arguments_reach_the_parents_hook(self) -> None:
        class Tagged:
            tag = ""

            def __init_subclass__(cls, *, tag: str = "", **kwargs: Any) -> None:
                super().__init_subclass__(**kwargs)
                cls.tag = tag

        class Both(CoreCall, Tagged, input_model=Input, output_model=Output, tag="t"):
            pass

        assert Both.tag == "t"

    @pytest.mark.rule("core.class.2")
    def test_defaults_of_the_seed(self) -> None:
        call = bare()
        assert (call.node, call.enable_filling, call.to_user) == (None, False, False)

    @pytest.mark.rule("core.class.1")
    @pytest.mark.parametrize("field", ["name", "description"])
    def test_name_and_description_have_no_default(self, field: str) -> None:
        given = {"name": "n", "description": "d"}
        del given[field]
        with pytest.raises(ValueError, match=field):
            Probe(**given)

    @pytest.mark.rule("core.class.6")
    def test_an_attribute_may_be_of_any_type(self) -> None:
        class Connection:
            pass

        class Db(CoreCall, input_model=Input, output_model=Output):
            connection: Connection

        kept = Connection()
        assert Db(name="n", description="d", connection=kept).connection is kept

    @pytest.mark.rule("core.class.7")
    def test_undeclared_attributes_are_kept(self) -> None:
        call = Probe(name="n", description="d", surplus=[1])
        assert call.surplus == [1]  # type: ignore[attr-defined]
        assert call.model_dump()["surplus"] == [1]

    @pytest.mark.rule("core.class.8")
    def test_the_schema_shows_the_parameters_only(self) -> None:
        schema = Probe.model_json_schema()
        assert set(schema["properties"]) == {"to_user", "events", "fails"}
        assert schema.get("required", []) == []

    @pytest.mark.rule("core.class.10")
    @pytest.mark.parametrize(
        "given",
        [
            {"to_user": "false"},
            {"to_user": 1},
            {"enable_filling": "yes"},
            {"enable_filling": 0},
            {"temperature": "0.5"},
            {"temperature": True},
            {"step_history_size": "3"},
            {"step_history_size": True},
            {"history_length": "0"},
            {"history_length": False},
        ],
    )
    def test_no_attribute_is_converted(self, given: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match=next(iter(given))):
            LLM(name="n", description="d", **given)

    @pytest.mark.rule("core.class.10")
    @pytest.mark.parametrize("given", [{"step_num": "1"}, {"ask_optional": 1}, {"repair": "no"}])
    def test_nor_one_of_the_slot(self, given: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match=next(iter(given))):
            Slot(name="n", description="d", **given)

    @pytest.mark.rule("core.class.10")
    def test_a_whole_number_may_be_written_with_a_fraction(self) -> None:
        assert LLM(name="n", description="d", step_history_size=2.0).step_history_size == 2

    @pytest.mark.rule("core.class.9")
    async def test_the_input_is_part_of_no_dump(self) -> None:
        assert bare().input == {}
        call = await Probe.instance(executor(), None)
        assert call.input
        assert "input" not in call.model_dump()
        assert "杭州" not in call.model_dump_json()


class TestInfo:
    @pytest.mark.rule("core.info.1", "core.info.2")
    def test_a_subclass_says_its_name_in_the_language_asked_for(self) -> None:
        class MyCall(CoreCall, input_model=Input, output_model=Output):
            @classmethod
            def info(cls, language: LanguageType = LanguageType.CHINESE) -> CallInfo:
                if language == LanguageType.CHINESE:
                    return CallInfo(name="我的工具", description="这是一个自定义工具")
                return CallInfo(name="My Tool", description="This is a custom tool")

        assert MyCall.info().model_dump() == {
            "name": "我的工具",
            "description": "这是一个自定义工具",
        }
        assert MyCall.info(LanguageType.ENGLISH).name == "My Tool"

    @pytest.mark.rule("core.info.1")
    @pytest.mark.parametrize("given", [{"name": "n"}, {"description": "d"}])
    def test_both_are_required(self, given: dict[str, str]) -> None:
        with pytest.raises(ValueError):
            CallInfo(**given)

    @pytest.mark.rule("core.info.2", "core.info.3")
    def test_the_base_has_none_in_any_language(self) -> None:
        for arguments in ((), (LanguageType.ENGLISH,)):
            with pytest.raises(NotImplementedError, match=r"Bare\.info"):
                Bare.info(*arguments)


class TestInstance:
    @pytest.mark.rule("core.life.1")
    async def test_the_call_is_named_after_the_step(self) -> None:
        node = NodeInfo(id="n1")
        call = await Probe.instance(executor(), node)
        assert (call.name, call.description) == ("book", "Book a hotel")
        assert call.node is node
        assert (await Probe.instance(executor())).node is None

    @pytest.mark.rule("core.life.2")
    async def test_further_arguments_are_there_before_init(self) -> None:
        with pytest.raises(CallError):
            await Probe.instance(executor(), None, fails="init")
        call = await Probe.instance(executor(), None, surplus="x", to_user=True)
        assert (call.surplus, call.to_user) == ("x", True)  # type: ignore[attr-defined]

    @pytest.mark.rule("core.life.3")
    @pytest.mark.parametrize("name", ["name", "description", "node"])
    async def test_no_argument_takes_the_place_of_what_the_step_says(self, name: str) -> None:
        with pytest.raises(TypeError):
            await Probe.instance(executor(), None, **{name: "mine"})

    @pytest.mark.rule("core.life.4")
    async def test_the_models_are_kept_before_init_may_ask_them(self) -> None:
        class Asking(Bare, input_model=Input, output_model=Output):
            async def _init(self, call_vars: CallVars) -> Input:
                return Input(cityName="".join([text async for text in self._llm([])]))

        models = Pair(FakeReasoning([["Os", "lo"]]))
        call = await Asking.instance(executor(models), None)
        assert call.input == {"cityName": "Oslo"}
        assert call._llm_obj is models

    @pytest.mark.rule("core.life.4", "core.vars.6")
    async def test_without_variables_there_is_no_init(self) -> None:
        runner = executor()
        runner.task.state = None
        events: list[str] = []

        class Watched(Bare, input_model=Input, output_model=Output):
            async def _init(self, call_vars: CallVars) -> Input:
                events.append("init")
                return Input(cityName="x")

        with pytest.raises(ValueError, match="task-1"):
            await Watched.instance(runner, None)
        assert events == []

    @pytest.mark.rule("core.life.5", "core.life.6")
    async def test_the_input_is_dumped_by_alias_without_nulls(self) -> None:
        class Trip(DataBase):
            city: str = Field(alias="cityName")
            note: str | None = None
            guests: list[Guest]
            free: dict[str, Any]

        free: dict[str, Any] = {"k": None, "list": []}

        class Booked(Bare, input_model=Trip, output_model=Output):
            async def _init(self, call_vars: CallVars) -> Trip:
                return Trip(cityName="杭州", guests=[Guest(fullName="Ida")], free=free)

        call = await Booked.instance(executor(), None)
        assert call.input == {
            "cityName": "杭州",
            "guests": [{"fullName": "Ida"}],
            "free": {"k": None, "list": []},
        }
        call.input["free"]["list"].append(1)
        assert free["list"] == []

    @pytest.mark.rule("core.life.17")
    @pytest.mark.parametrize("given", [{}, {"stars": 3}])
    async def test_defaults_are_part_of_the_input(self, given: dict[str, int]) -> None:
        class Rated(DataBase):
            city: str
            stars: int = 3

        class Rating(Bare, input_model=Rated, output_model=Output):
            async def _init(self, call_vars: CallVars) -> Rated:
                return Rated(city="杭州", **given)

        call = await Rating.instance(executor(), None)
        assert call.input == {"city": "杭州", "stars": 3}

    @pytest.mark.rule("core.life.7")
    async def test_init_may_give_a_partial_model(self) -> None:
        class Partial(Bare, input_model=Input, output_model=Output):
            async def _init(self, call_vars: CallVars) -> Input:
                return Input.model_construct(note=5)  # type: ignore[arg-type]

        call = await Partial.instance(executor(), None)
        assert call.input == {"note": 5}

    @pytest.mark.rule("core.life.8")
    async def test_init_must_be_written(self) -> None:
        with pytest.raises(NotImplementedError, match=r"Bare\._init"):
            await Bare.instance(executor(), None)

    @pytest.mark.rule("core.life.9")
    async def test_an_error_of_init_is_the_error_of_instance(self) -> None:
        with pytest.raises(CallError, match="broken in init") as caught:
            await Probe.instance(executor(), None, fails="init")
        assert caught.value.data == {"code": 1}


class TestExec:
    @pytest.mark.rule("core.life.10")
    async def test_what_is_executed_is_what_exec_is_given(self) -> None:
        call = await Probe.instance(executor(), None)
        call.events.clear()
        await chunks_of(call, {"given": 1})
        assert call.events[0] == "exec {'given': 1}"
        assert call.events[-1] == "after {'given': 1}"

    @pytest.mark.rule("core.life.11")
    async def test_each_chunk_is_forwarded_before_the_next_is_made(self) -> None:
        call = Probe(name="n", description="d")
        seen = []
        async for chunk in call.exec(executor(), {}):
            seen.append(chunk.content)
            assert [event for event in call.events if event.startswith("yield")] == [
                f"yield {text}" for text in seen
            ]
        assert seen == ["a", "", "b"]

    @pytest.mark.rule("core.life.11")
    async def test_a_chunk_is_forwarded_as_the_same_object(self) -> None:
        made = [CallOutputChunk(type=CallOutputType.DATA, content={"n": n}) for n in range(2)]

        class Fixed(Bare, input_model=Input, output_model=Output):
            async def _exec(self, input_data: dict[str, Any]) -> AsyncGenerator[Any, None]:
                for chunk in made:
                    yield chunk

        found = await chunks_of(Fixed(name="n", description="d"))
        assert [id(chunk) for chunk in found] == [id(chunk) for chunk in made]

    @pytest.mark.rule("core.life.12")
    async def test_by_default_one_empty_text(self) -> None:
        assert await chunks_of(bare()) == [CallOutputChunk(type=TEXT, content="")]

    @pytest.mark.rule("core.life.13")
    async def test_clean_up_runs_once_after_the_last_chunk(self) -> None:
        call = Probe(name="n", description="d")
        async for _ in call.exec(executor(), {}):
            assert "after {}" not in call.events
        assert call.events[-2:] == ["exec ended", "after {}"]
        assert call.events.count("after {}") == 1

    @pytest.mark.rule("core.life.13")
    async def test_what_clean_up_raises_is_raised(self) -> None:
        with pytest.raises(CallError, match="broken in after"):
            await chunks_of(Probe(name="n", description="d", fails="after"))

    @pytest.mark.rule("core.life.14")
    async def test_by_default_clean_up_does_nothing(self) -> None:
        call, data = bare(), {"a": 1}
        before = call.model_dump()
        assert await call._after_exec(data) is None  # type: ignore[func-returns-value]
        assert (call.model_dump(), data) == (before, {"a": 1})

    @pytest.mark.rule("core.life.15")
    async def test_no_clean_up_after_a_failure(self) -> None:
        call = Probe(name="n", description="d", fails="exec")
        with pytest.raises(CallError, match="broken in exec"):
            await chunks_of(call)
        assert call.events[-1] == "exec ended"

    @pytest.mark.rule("core.life.16")
    async def test_leaving_early_ends_the_execution(self) -> None:
        call = Probe(name="n", description="d")
        chunks = call.exec(executor(), {})
        assert (await anext(chunks)).content == "a"
        await chunks.aclose()
        assert call.events[-2:] == ["yield a", "exec ended"]


class TestCallVars:
    @pytest.mark.rule("core.vars.1", "core.vars.2")
    def test_each_comes_from_where_the_seed_says(self) -> None:
        now = datetime(2026, 3, 12, 9, 5, 7)
        runner = executor(
            conversation=[{"role": "user", "content": "hi"}],
            facts=["f"],
            question="q",
            sessionId="session",
            reasoning="thought",
            language=LanguageType.CHINESE,
            now=now,
        )
        found = CoreCall._assemble_call_vars(runner)
        assert found.language is LanguageType.CHINESE
        assert found.question == "q"
        assert found.background == runner.background
        assert found.thinking == "thought"
        assert found.now == now
        assert found.ids.model_dump() == {
            "task_id": "task-1",
            "executor_id": "exec-1",
            "session_id": "session",
            "user_id": "user-1",
            "app_id": "app-1",
            "conversation_id": "conv-1",
        }

    @pytest.mark.rule("core.vars.1")
    def test_what_the_executor_says_is_not_fixed(self) -> None:
        found = CoreCall._assemble_call_vars(executor(language=LanguageType.ENGLISH, question=""))
        assert (found.language, found.question, found.now) == (LanguageType.ENGLISH, "", None)

    @pytest.mark.rule("core.vars.2")
    def test_ids_that_may_be_absent_are_null(self) -> None:
        runner = executor()
        runner.task.metadata.conversationId = None
        assert runner.task.state is not None
        runner.task.state.appId = None
        ids = CoreCall._assemble_call_vars(runner).ids
        assert (ids.session_id, ids.app_id, ids.conversation_id) == (None, None, None)

    @pytest.mark.rule("core.vars.2")
    @pytest.mark.parametrize("absent", ["sessionId", "appId", "conversationId"])
    def test_none_is_made_up_from_another(self, absent: str) -> None:
        runner = executor(sessionId="session")
        task = runner.task
        for holder in (task.runtime, task.state, task.metadata):
            if absent in type(holder).model_fields:
                setattr(holder, absent, None)
        task.metadata.userId = ""
        ids = CoreCall._assemble_call_vars(runner).ids.model_dump()
        expected = {
            "task_id": "task-1",
            "executor_id": "exec-1",
            "session_id": "session",
            "user_id": "",
            "app_id": "app-1",
            "conversation_id": "conv-1",
        }
        name = {"sessionId": "session_id", "appId": "app_id", "conversationId": "conversation_id"}
        assert ids == {**expected, name[absent]: None}

    @pytest.mark.rule("core.vars.3")
    def test_no_reasoning_is_the_empty_string(self) -> None:
        assert CoreCall._assemble_call_vars(executor(reasoning=None)).thinking == ""

    @pytest.mark.rule("core.vars.4")
    def test_history_is_by_step_id_and_in_order(self) -> None:
        records = [history("b", {"v": 1}), history("a", {"v": 2}), history("c", {})]
        found = CoreCall._assemble_call_vars(executor(context=records))
        assert found.step_order == ["b", "a", "c"]
        assert found.step_data == {"a": records[1], "b": records[0], "c": records[2]}

    @pytest.mark.rule("core.vars.5")
    def test_a_step_that_ran_twice_keeps_its_last_record_and_both_places(self) -> None:
        records = [history("s", {"v": 1}), history("z", {}), history("s", {"v": 2})]
        found = CoreCall._assemble_call_vars(executor(context=records))
        assert found.step_order == ["s", "z", "s"]
        assert found.step_data["s"].outputData == {"v": 2}

    @pytest.mark.rule("core.vars.4", "core.vars.5")
    @given(st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), st.integers())))
    def test_every_run_has_its_place_and_the_last_record_counts(
        self, runs: list[tuple[str, int]]
    ) -> None:
        records = [history(step, {"v": value}) for step, value in runs]
        found = CoreCall._assemble_call_vars(executor(context=records))
        assert found.step_order == [step for step, _ in runs]
        assert {key: record.outputData["v"] for key, record in found.step_data.items()} == dict(
            runs
        )

    @pytest.mark.rule("core.vars.6")
    def test_no_state_is_a_value_error_and_logged(self, caplog: pytest.LogCaptureFixture) -> None:
        runner = executor()
        runner.task.state = None
        with pytest.raises(ValueError, match="task-1"):
            CoreCall._assemble_call_vars(runner)
        assert [record.levelname for record in caplog.records] == ["ERROR"]


class Streaming(FakeReasoning):
    """Says when its stream was closed, and may break in the middle."""

    def __init__(self, pieces: list[str | None], error: Exception | None = None) -> None:
        super().__init__([pieces])
        self.error = error
        self.closed = False

    async def call(self, *args: Any, **options: Any) -> Any:
        try:
            async for piece in super().call(*args, **options):
                yield piece
            if self.error:
                raise self.error
        finally:
            self.closed = True


class TestModels:
    MESSAGES = [{"role": "user", "content": "q"}]

    async def probe(self, reasoning: Any = None, function: Any = None) -> Probe:
        return await Probe.instance(executor(Pair(reasoning, function)), None)

    @pytest.mark.rule("core.model.1")
    async def test_llm_asks_the_reasoning_model(self) -> None:
        reasoning = FakeReasoning([["a"], ["b"], ["c"]])
        call = await self.probe(reasoning)
        for flags in ({}, {"streaming": True}, {"streaming": False}):
            async for _ in call._llm(self.MESSAGES, **flags):
                pass
        assert reasoning.requests == [
            {"messages": self.MESSAGES, "streaming": streaming}
            for streaming in (False, True, False)
        ]

    @pytest.mark.rule("core.model.2")
    async def test_llm_yields_each_content_and_null_as_empty(self) -> None:
        call = await self.probe(FakeReasoning([["a", None, "", "b"]]))
        assert [text async for text in call._llm(self.MESSAGES)] == ["a", "", "", "b"]

    @pytest.mark.rule("core.model.3")
    async def test_options_reach_the_reasoning_model(self) -> None:
        reasoning = FakeReasoning([["a"]])
        call = await self.probe(reasoning)
        async for _ in call._llm([], streaming=True, temperature=0.1, response_schema={}):
            pass
        expected = {"streaming": True, "temperature": 0.1, "response_schema": {}}
        assert reasoning.requests == [{"messages": [], **expected}]

    @pytest.mark.rule("core.model.4")
    async def test_leaving_early_ends_the_request(self) -> None:
        reasoning = Streaming(["a", "b"])
        texts = (await self.probe(reasoning))._llm([])
        assert await anext(texts) == "a"
        assert not reasoning.closed
        await texts.aclose()
        assert reasoning.closed

    @pytest.mark.rule("core.model.5")
    async def test_json_asks_the_function_model(self) -> None:
        function = FakeFunction([{"a": 1}])
        call = await self.probe(function=function)
        assert await call._json(self.MESSAGES, {"type": "object"}) == {"a": 1}
        assert function.requests == [(self.MESSAGES, {"type": "object"})]

    @pytest.mark.rule("core.model.6")
    async def test_json_without_a_function_model_is_a_call_error(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        reasoning = FakeReasoning([])
        call = await self.probe(reasoning)
        with pytest.raises(CallError, match=r"no function model.*'book'"):
            await call._json([], {})
        assert [record.levelname for record in caplog.records] == ["ERROR"]
        assert reasoning.requests == []

    @pytest.mark.rule("core.model.7")
    async def test_a_failure_of_the_function_model_is_the_calls(self) -> None:
        error = CallError("no valid object after 3 trials", {"trials": 3})
        call = await self.probe(function=FakeFunction([error]))
        with pytest.raises(CallError) as caught:
            await call._json([], {})
        assert caught.value is error

    @pytest.mark.rule("core.model.7")
    async def test_a_failure_of_the_reasoning_model_is_the_calls(self) -> None:
        error = OSError("reset")
        call = await self.probe(Streaming(["a"], error))
        got = []
        with pytest.raises(OSError) as caught:
            async for text in call._llm([]):
                got.append(text)
        assert caught.value is error
        assert got == ["a"]
