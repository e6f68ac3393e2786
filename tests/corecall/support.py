"""Fakes and builders that several corecall tests share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from corecall.executor import StepExecutor, StepInfo, Task, TaskMetadata, TaskRuntime, TaskState
from corecall.types import CallError, ExecutorBackground, ExecutorHistory, LanguageType


@dataclass
class Piece:
    content: str | None


@dataclass
class FakeReasoning:
    """Answers each call with the next reply, in the pieces given."""

    replies: list[list[str | None] | Exception] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)

    async def call(
        self, messages: list[dict[str, str]], streaming: bool = False, **options: Any
    ) -> AsyncIterator[Piece]:
        self.requests.append({"messages": messages, "streaming": streaming, **options})
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        for text in reply:
            yield Piece(text)


@dataclass
class FakeFunction:
    """Answers each call with the next object, or raises the next error."""

    answers: list[dict[str, Any] | CallError] = field(default_factory=list)
    requests: list[tuple[list[dict[str, str]], dict[str, Any]]] = field(default_factory=list)

    async def call(self, messages: list[dict[str, str]], schema: dict[str, Any]) -> dict[str, Any]:
        self.requests.append((messages, schema))
        answer = self.answers.pop(0)
        if isinstance(answer, CallError):
            raise answer
        return answer


@dataclass
class Pair:
    reasoning: Any = field(default_factory=FakeReasoning)
    function: Any = None


def history(step_id: str, output: dict[str, Any], **more: Any) -> ExecutorHistory:
    return ExecutorHistory(stepId=step_id, outputData=output, **more)


def executor(
    llm: Any = None,
    *,
    context: list[ExecutorHistory] | None = None,
    conversation: list[dict[str, str]] | None = None,
    facts: list[str] | None = None,
    question: str = "What is it?",
    **runtime: Any,
) -> StepExecutor:
    runtime.setdefault("language", LanguageType.ENGLISH)
    return StepExecutor(
        task=Task(
            metadata=TaskMetadata(id="task-1", userId="user-1", conversationId="conv-1"),
            state=TaskState(executorId="exec-1", appId="app-1"),
            runtime=TaskRuntime(**runtime),
            context=context or [],
        ),
        question=question,
        background=ExecutorBackground(num=10, conversation=conversation or [], facts=facts or []),
        llm=llm or Pair(),
        step=StepInfo(name="book", description="Book a hotel"),
    )
