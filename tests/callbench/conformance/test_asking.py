"""The cases that ask a model: the reference passes, and a fault is found and named by its rule."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from typing import Any

import pytest

from callbench.conformance.cases import ASKING, Case, load_suite
from callbench.conformance.reports import as_object, explain
from callbench.conformance.runner import run_cases
from callbench.conformance.verdict import Verdict, judge
from callbench.peer import Hello, Result
from callbench.peer.opening import REFERENCE, opener
from corecall.core import CoreCall
from corecall.llm.llm import LLM
from corecall.providers import FunctionModel, ReasoningModel
from corecall.slot.slot import Slot

CASES = [case for case in load_suite() if case.op in ASKING]


def failures(impl: str = REFERENCE, *, jobs: int = 1) -> list[Verdict]:
    return run_cases(CASES, opener(impl), deadline=60, jobs=jobs, require_all=True).failures


@pytest.mark.parametrize(
    ("impl", "jobs"),
    [
        (REFERENCE, 1),
        (shlex.join([sys.executable, "-m", "callbench.conformance.reference"]), 2),
        (shlex.join([sys.executable, "-m", "callbench.peer.serving", REFERENCE[7:]]), 1),
    ],
    ids=["in process", "two children", "served"],
)
def test_the_reference_passes(impl: str, jobs: int) -> None:
    assert [explain(verdict, "") for verdict in failures(impl, jobs=jobs)] == []


def test_there_are_enough_of_each() -> None:
    count = {op: sum(case.op == op for case in CASES) for op in ASKING}
    assert count["llm.exec"] >= 20
    assert count["slot.exec"] >= 20
    assert count["core.lifecycle"] >= 8


Patch = pytest.MonkeyPatch
Original = Callable[..., Any]


def wrapped(patch: Patch, owner: Any, name: str, change: Callable[..., Any]) -> None:
    """Replace a function of the reference by ``change(original, *arguments)``."""
    original = getattr(owner, name)
    patch.setattr(owner, name, lambda *given, **more: change(original, *given, **more))


def no_temperature(patch: Patch) -> None:
    def call(original: Original, *given: Any, temperature: Any = None, **more: Any) -> Any:
        return original(*given, **more)

    wrapped(patch, ReasoningModel, "call", call)


def zero_is_no_temperature(patch: Patch) -> None:
    def call(original: Original, *given: Any, temperature: Any = None, **more: Any) -> Any:
        return original(*given, temperature=temperature or None, **more)

    wrapped(patch, ReasoningModel, "call", call)


def never_streams(patch: Patch) -> None:
    def call(original: Original, *given: Any, streaming: bool = False, **more: Any) -> Any:
        return original(*given, streaming=False, **more)

    wrapped(patch, ReasoningModel, "call", call)


def another_mode(patch: Patch) -> None:
    def made(original: Original, *given: Any, mode: str = "", **more: Any) -> Any:
        original(*given, mode="json_schema", **more)

    wrapped(patch, FunctionModel, "__init__", made)


def one_trial(patch: Patch) -> None:
    def made(original: Original, *given: Any, **more: Any) -> Any:
        original(*given, trials=1, **more)

    wrapped(patch, FunctionModel, "__init__", made)


def stage_2_alone(patch: Patch) -> None:
    def ask(original: Original, self: Any, messages: list[Any], schema: Any) -> Any:
        return original(self, messages[-1:], schema)

    wrapped(patch, Slot, "_json", ask)


def whole_schema_again(patch: Patch) -> None:
    def ask(original: Original, self: Any, messages: list[Any], schema: Any) -> Any:
        return original(self, messages, self._titled(self.current_schema))

    wrapped(patch, Slot, "_json", ask)


def ends_on_the_assistant(patch: Patch) -> None:
    def prepare(original: Original, self: Any) -> Any:
        return [*original(self), {"role": "assistant", "content": "{"}]

    wrapped(patch, Slot, "_prepare_messages", prepare)


def conversation_after_the_prompt(patch: Patch) -> None:
    def prepare(original: Original, self: Any) -> Any:
        *conversation, prompt = original(self)
        return [prompt, *conversation] if conversation else [prompt]

    wrapped(patch, Slot, "_prepare_messages", prepare)


def no_schema_in_the_prompt(patch: Patch) -> None:
    def prepare(original: Original, self: Any) -> Any:
        *before, prompt = original(self)
        content = prompt["content"].partition("<tool_call>")[0]
        return [*before, {**prompt, "content": content}]

    wrapped(patch, Slot, "_prepare_messages", prepare)


def all_of_the_conversation(patch: Patch) -> None:
    def prepare(original: Original, self: Any, call_vars: Any) -> Any:
        self.history_length = 99
        return original(self, call_vars)

    wrapped(patch, LLM, "_prepare_message", prepare)


def always_asks(patch: Patch) -> None:
    def asked(original: Original, self: Any, remaining: Any) -> Any:
        return original(self, remaining) or {"properties": {"/city": {}}, "required": ["/city"]}

    wrapped(patch, Slot, "_asked", asked)


def cleans_up_after_a_failure(patch: Patch) -> None:
    async def run(self: Any, executor: Any, input_data: Any) -> Any:
        try:
            async for chunk in self._exec(input_data):
                yield chunk
        finally:
            await self._after_exec(input_data)

    patch.setattr(CoreCall, "exec", run)


@pytest.mark.parametrize(
    ("fault", "rule"),
    [
        (no_temperature, "llm.exec.2"),
        (zero_is_no_temperature, "provider.reasoning.3"),
        (never_streams, "llm.exec.1"),
        (never_streams, "slot.stage1.1"),
        (another_mode, "provider.mode.2"),
        (one_trial, "provider.trial.1"),
        (stage_2_alone, "slot.stage2.2"),
        (whole_schema_again, "slot.stage2.6"),
        (ends_on_the_assistant, "slot.prompt.13"),
        (conversation_after_the_prompt, "slot.prompt.13"),
        (no_schema_in_the_prompt, "slot.prompt.11"),
        (all_of_the_conversation, "llm.message.2"),
        (always_asks, "slot.result.1"),
        (cleans_up_after_a_failure, "core.life.15"),
    ],
)
def test_a_fault_is_named_by_its_rule(
    fault: Callable[[Patch], None], rule: str, monkeypatch: Patch
) -> None:
    fault(monkeypatch)
    found = failures()
    named = {one.rule for verdict in found for one in verdict.faults}
    assert rule in named | {verdict.case.rule for verdict in found if not verdict.faults}


def test_a_failing_request_is_told(monkeypatch: Patch) -> None:
    no_temperature(monkeypatch)
    cases = [case for case in CASES if case.id == "llm.exec.2-given"]
    finished = run_cases(cases, opener(REFERENCE), deadline=60)
    (failure,) = as_object(finished, REFERENCE, lambda verdict: "")["failures"]
    assert failure["why"] == "what it asked breaks llm.exec.2"
    told = "request 1 (reasoning) has no temperature, expected temperature 0.25"
    assert failure["requests"] == [{"rule": "llm.exec.2", "fault": told}]
    assert f"  asked     llm.exec.2: {told}" in explain(finished.verdicts[0], "")


class TestChunks:
    HELLO = Hello("fake", "none", "0", frozenset({"llm.exec"}))

    def passes(self, expected: list[Any], got: list[Any]) -> bool:
        case = Case(id="a", op="llm.exec", given={}, gives={"chunks": expected})
        return judge(case, Result({"chunks": got}), self.HELLO).outcome == "passed"

    def text(self, content: Any) -> dict[str, Any]:
        return {"type": "text", "content": content}

    def test_adjacent_text_may_be_joined_or_not(self) -> None:
        assert self.passes([self.text("ab")], [self.text("a"), self.text("b")])
        assert self.passes([self.text("a"), self.text("b")], [self.text("ab")])

    def test_nothing_else_may(self) -> None:
        assert not self.passes([self.text("ab")], [self.text("ba")])
        assert not self.passes([], [self.text("")])
        assert not self.passes([self.text("ab")], [{"type": "data", "content": "ab"}])
        odd = {**self.text("b"), "more": 1}
        assert not self.passes([self.text("ab")], [self.text("a"), odd])
