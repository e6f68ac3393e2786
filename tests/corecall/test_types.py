"""The values that travel through a call: what they require, refuse and keep."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import Environment

from corecall.core import CoreCall
from corecall.types import (
    CallError,
    CallIds,
    CallOutputChunk,
    CallOutputType,
    CallVars,
    ExecutorBackground,
    ExecutorHistory,
    LanguageType,
    NodeInfo,
    step_key,
)

from .support import executor, history

UPPER = "123E4567-E89B-12D3-A456-426614174000"
IDS = {"task_id": "t", "executor_id": "e", "user_id": "u"}
VARS: dict[str, Any] = {
    "language": "zh",
    "ids": IDS,
    "question": "q",
    "step_data": {},
    "step_order": [],
    "background": {},
    "thinking": "",
}


@pytest.mark.rule("core.type.1")
def test_there_are_two_languages() -> None:
    assert [language.value for language in LanguageType] == ["zh", "en"]
    assert (LanguageType.CHINESE, LanguageType.ENGLISH) == ("zh", "en")
    with pytest.raises(ValueError, match="language"):
        executor(language="fr")


class TestChunk:
    @pytest.mark.rule("core.type.2")
    def test_there_are_three_types(self) -> None:
        assert {kind.name: kind.value for kind in CallOutputType} == {
            "TEXT": "text",
            "DATA": "data",
            "ERROR": "error",
        }
        with pytest.raises(ValueError, match="type"):
            CallOutputChunk(type="image", content="a")  # type: ignore[arg-type]

    @pytest.mark.rule("core.type.3")
    @pytest.mark.parametrize("content", ["", "a", {}, {"message": "m", "data": {}}])
    @pytest.mark.parametrize("kind", list(CallOutputType))
    def test_content_is_text_or_an_object(self, kind: CallOutputType, content: Any) -> None:
        assert CallOutputChunk(type=kind, content=content).content == content

    @pytest.mark.rule("core.type.3")
    @pytest.mark.parametrize("content", [5, 1.5, True, None, ["a"]])
    def test_content_is_nothing_else(self, content: Any) -> None:
        with pytest.raises(ValueError, match="content"):
            CallOutputChunk(type=CallOutputType.DATA, content=content)

    @pytest.mark.rule("core.type.3")
    @pytest.mark.parametrize("given", [{"type": "text"}, {"content": "a"}])
    def test_type_and_content_are_required(self, given: dict[str, Any]) -> None:
        with pytest.raises(ValueError):
            CallOutputChunk(**given)


class TestVariables:
    @pytest.mark.rule("core.type.4")
    @pytest.mark.parametrize("field", list(VARS))
    def test_the_fields_of_the_seed_are_required(self, field: str) -> None:
        assert CallVars(**VARS).now is None
        with pytest.raises(ValueError, match=field):
            CallVars(**{name: value for name, value in VARS.items() if name != field})

    @pytest.mark.rule("core.type.5")
    @pytest.mark.parametrize("field", list(IDS))
    def test_three_ids_are_required(self, field: str) -> None:
        with pytest.raises(ValueError, match=field):
            CallIds(**{name: value for name, value in IDS.items() if name != field})

    @pytest.mark.rule("core.type.5")
    def test_three_ids_may_be_null_or_left_out(self) -> None:
        free = {"session_id": None, "app_id": None, "conversation_id": None}
        assert CallIds(**IDS).model_dump() == CallIds(**IDS, **free).model_dump() == {**IDS, **free}

    @pytest.mark.rule("core.type.6")
    @pytest.mark.parametrize("spelled", [UPPER, "task 7", UUID(UPPER)])
    def test_an_id_stays_as_it_is_written(self, spelled: Any) -> None:
        ids = CallIds(
            task_id=spelled, executor_id="e", user_id="u", app_id=spelled, conversation_id=spelled
        )
        assert [ids.task_id, ids.app_id, ids.conversation_id] == [spelled] * 3
        assert {type(ids.task_id), type(ids.app_id)} == {type(spelled)}

    @pytest.mark.rule("core.type.6")
    def test_a_number_is_no_id(self) -> None:
        with pytest.raises(ValueError, match="task_id"):
            CallIds(task_id=5, executor_id="e", user_id="u")  # type: ignore[arg-type]


class TestHistoryRecord:
    @pytest.mark.rule("core.type.7")
    def test_name_and_description_may_be_left_out(self) -> None:
        record = ExecutorHistory(stepId="s", outputData={"a": {"b": [1]}})
        assert (record.stepName, record.stepDescription) == ("", "")
        assert record.outputData == {"a": {"b": [1]}}

    @pytest.mark.rule("core.type.7")
    @pytest.mark.parametrize(
        ("given", "field"),
        [
            ({"stepId": "s"}, "outputData"),
            ({"outputData": {}}, "stepId"),
            ({"stepId": "s", "outputData": [1]}, "outputData"),
            ({"stepId": "s", "outputData": "text"}, "outputData"),
            ({"stepId": "s", "outputData": None}, "outputData"),
        ],
    )
    def test_the_output_is_an_object_and_required(self, given: dict[str, Any], field: str) -> None:
        with pytest.raises(ValueError, match=field):
            ExecutorHistory(**given)

    @pytest.mark.rule("core.type.8")
    @pytest.mark.trap("A7")
    def test_templates_see_snake_case_names(self) -> None:
        record = history("s", {"v": 1}, stepName="one", stepDescription="first")
        source = "{{ r.step_name }}|{{ r.step_description }}|{{ r.output_data.v }}"
        # An unknown attribute would print nothing here.
        assert Environment(autoescape=True).from_string(source).render(r=record) == "one|first|1"

    @pytest.mark.rule("core.type.16")
    def test_other_members_are_kept(self) -> None:
        assert history("s", {}, status="success").model_dump()["status"] == "success"


class TestStepId:
    @pytest.mark.rule("core.type.9")
    @pytest.mark.trap("A3")
    @pytest.mark.parametrize("spelled", [UPPER, UPPER.lower(), UPPER[:8].lower() + UPPER[8:]])
    def test_what_spells_a_uuid_is_that_uuid(self, spelled: str) -> None:
        assert step_key(spelled) == history(spelled, {}).stepId == UUID(UPPER)
        assert history(spelled, {}).model_dump(mode="json")["stepId"] == UPPER.lower()

    @pytest.mark.rule("core.type.9")
    @pytest.mark.parametrize(
        "spelled",
        [
            "step1",
            "",
            UPPER.replace("-", ""),
            f"{{{UPPER}}}",
            f"urn:uuid:{UPPER}",
            f" {UPPER}",
            f"{UPPER}\n",
            UPPER[:-1],
            *(UPPER[:place] + UPPER[place + 1 :] for place in (8, 13, 18, 23)),
            UPPER.replace("0", "０"),  # a full-width digit
            UPPER.replace("E", "G"),
        ],
    )
    def test_anything_else_is_itself(self, spelled: str) -> None:
        assert step_key(spelled) == history(spelled, {}).stepId == spelled

    @pytest.mark.rule("core.type.9", "core.vars.4")
    def test_the_variables_know_the_step_by_its_uuid(self) -> None:
        found = CoreCall._assemble_call_vars(executor(context=[history(UPPER, {})]))
        assert list(found.step_data) == found.step_order == [UUID(UPPER)]

    @pytest.mark.rule("core.type.9")
    @given(st.uuids())
    def test_every_uuid_is_known_by_its_text(self, step_id: UUID) -> None:
        assert step_key(str(step_id)) == step_key(str(step_id).upper()) == step_id

    @pytest.mark.rule("core.type.10")
    @pytest.mark.parametrize("step_id", [None, 5, ["s"], {"id": "s"}, True])
    def test_it_is_text_or_a_uuid(self, step_id: Any) -> None:
        with pytest.raises(ValueError, match="stepId"):
            history(step_id, {})


class TestBackground:
    TALK = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]

    @pytest.mark.rule("core.type.11")
    def test_it_may_be_empty(self) -> None:
        found = ExecutorBackground()
        assert (found.num, found.conversation, found.facts) == (0, [], [])

    @pytest.mark.rule("core.type.11")
    @pytest.mark.rule("core.class.10")
    @pytest.mark.parametrize(
        "given",
        [
            {"facts": [1]},
            {"facts": "f"},
            {"num": "many"},
            {"num": "2"},
            {"num": True},
            {"num": 1.5},
        ],
    )
    def test_facts_are_texts_and_num_a_number(self, given: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match=next(iter(given))):
            ExecutorBackground(**given)

    @pytest.mark.rule("core.type.12")
    @pytest.mark.parametrize(
        ("record", "lacks"),
        [
            ({"role": "user"}, "no content"),
            ({"content": "a"}, "no role"),
            ({}, "no role and no content"),
            ({"role": "user", "Content": "a"}, "no content"),
            ({"role": "user", "content": None}, "content"),
            ({"role": 5, "content": "a"}, "role"),
            ("a", "conversation"),
        ],
    )
    def test_a_record_without_role_or_content_is_refused_here(
        self, record: Any, lacks: str
    ) -> None:
        with pytest.raises(ValueError, match=lacks) as caught:
            ExecutorBackground(conversation=[*self.TALK, record])
        assert "conversation.2" in str(caught.value)

    @pytest.mark.rule("core.type.12")
    def test_a_record_keeps_what_else_it_says(self) -> None:
        record = {"role": "tool", "content": "", "id": "7"}
        assert ExecutorBackground(conversation=[record]).conversation == [record]

    @pytest.mark.rule("core.type.13")
    @pytest.mark.parametrize("num", [0, 1])
    def test_num_cuts_nothing(self, num: int) -> None:
        assert ExecutorBackground(num=num, conversation=self.TALK).conversation == self.TALK


@pytest.mark.rule("core.type.14")
@pytest.mark.trap("A10")
def test_the_text_of_a_call_error_is_its_message() -> None:
    error = CallError("读取失败", {"code": 5})
    assert (str(error), error.message, error.data) == ("读取失败", "读取失败", {"code": 5})
    assert CallError("x").data == {}


class TestNode:
    @pytest.mark.rule("core.type.15")
    def test_everything_may_be_left_out(self) -> None:
        node = NodeInfo()
        assert (node.id, node.name, node.description, node.override) == ("", "", "", None)

    @pytest.mark.rule("core.type.15")
    def test_other_members_are_kept(self) -> None:
        assert NodeInfo(position=[1, 2]).model_dump()["position"] == [1, 2]  # type: ignore[call-arg]
