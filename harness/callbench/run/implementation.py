"""An implementation in any language as the system under test: ``callbench run --impl``.

It is asked for ``slot.exec`` of the conformance protocol, once for each case, and finds the case's
recorded answers at ``llm_base_url``, by turn. What it gives is scored as the reference's output is.
What the answers held that was not merged (values that break the schema, undeclared members) and
which stage filled a slot is no part of its result; the reference's Slot reads it out of the same
recordings.
"""

from __future__ import annotations

import asyncio
import queue
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx2

from callbench.cassette.replay import replay
from callbench.cassette.scope import Exchange, current_scope
from callbench.cassette.store import Cassette
from callbench.conformance.traffic.endpoint import Asked, Endpoint
from callbench.dataset.case import Case
from callbench.errors import CassetteError, UsageError
from callbench.peer import Answer, Failed, Hello, Misbehaved, Peer, Result, Unsupported
from callbench.run.recorded import Turns, given, turns_of
from callbench.run.system import SlotSystem
from callbench.scoring.outcome import Outcome
from corecall import providers
from corecall.providers import ChatClient, FunctionModel, Models, ReasoningModel
from corecall.slot.schema import SlotOutput

OPERATION = "slot.exec"

GRACE = 15.0
"""Seconds beyond a case's deadline, which the peer keeps: it may have to be started anew."""


class Implementation:
    """A pool of peers, each asked for one case at a time."""

    def __init__(
        self,
        peers: Sequence[Peer],
        endpoint: Endpoint,
        cassette: Cassette,
        *,
        deadline: float,
        command: str,
        options: dict[str, Any],
    ) -> None:
        self._idle: queue.SimpleQueue[Peer] = queue.SimpleQueue()
        for peer in peers:
            self._idle.put(peer)
        self._threads = ThreadPoolExecutor(len(peers))
        self._endpoint = endpoint
        self._cassette = cassette
        self._deadline = deadline
        self._command = command
        self._options = options

    async def fill(self, case: Case) -> Outcome:
        """Return what the implementation made of ``case``; misbehavior is a provider error.

        Raises :class:`CassetteError` for a case that asks and has no recording.
        """
        turns = turns_of(self._cassette, case.id)
        loop = asyncio.get_running_loop()
        answer, asked = await loop.run_in_executor(self._threads, self._ask, case, turns)
        if asked and not tuple(turns):
            raise CassetteError(
                f"{self._cassette.path} has no recording of case {case.id!r}.",
                remedy=f"To record what is missing: {self._command}",
            )
        if (scope := current_scope()) is not None:
            replied = [(one.model, one.turn) for one in asked if one.turn is not None]
            for interaction in given(turns, replied):
                scope.add(Exchange.of(interaction, "replayed"))
        return await self._outcome(case, turns, answer, asked)

    def close(self) -> None:
        """Let go of the threads; what still runs there ends with its peer."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _ask(self, case: Case, turns: Turns) -> tuple[Answer, Sequence[Asked]]:
        peer = self._idle.get()
        try:
            with self._endpoint.visit(turns.script()) as visit:
                answer = peer.run(
                    OPERATION,
                    inputs_of(case, self._options),
                    self._deadline,
                    llm_base_url=visit.base_url,
                )
                return answer, tuple(visit.asked)
        finally:
            self._idle.put(peer)

    async def _outcome(
        self, case: Case, turns: Turns, answer: Answer, asked: Sequence[Asked]
    ) -> Outcome:
        if not isinstance(answer, Result):
            return _failed(case, _what(answer, asked))
        try:
            output = SlotOutput.model_validate(answer.value)
        except ValueError:
            return _failed(case, "its result is no {slot_data, remaining_schema}")
        slot_data = output.slot_data if asked else output.slot_data or dict(case.data)
        read = await _read(case, turns, self._options) if asked else Outcome()
        unread = read.status == "unparsed" and slot_data == case.data
        return replace(
            read,
            status="unparsed" if unread else "ok",
            slot_data=slot_data,
            remaining_schema=output.remaining_schema,
            asked=bool(asked),
            error="",
        )


def inputs_of(case: Case, options: dict[str, Any]) -> dict[str, Any]:
    """Return the input of ``slot.exec`` that stands for a case."""
    return {
        "call": {
            "name": case.tool.name,
            "description": case.tool.description,
            "data": case.data,
            "current_schema": case.schema,
            "step_num": len(case.steps),
            **options,
        },
        "vars": {
            "language": case.lang,
            "question": case.question,
            "steps": [
                {
                    "stepId": step.step_id,
                    "stepName": step.step_name,
                    "stepDescription": step.step_description,
                    "outputData": step.output_data,
                }
                for step in case.steps
            ],
            "conversation": list(case.conversation),
            "facts": list(case.facts),
            **({"thinking": case.summary} if case.summary else {}),
            **({"now": case.now.isoformat()} if case.now else {}),
        },
    }


def _failed(case: Case, error: str) -> Outcome:
    return Outcome(status="provider_error", slot_data=case.data, error=error)


def _what(answer: Failed | Unsupported | Misbehaved, asked: Sequence[Asked]) -> str:
    """Say what came in place of a result, and what was refused at the endpoint."""
    match answer:
        case Failed(kind, message):
            text = f"{kind}: {message}" if message else kind
        case Misbehaved(kind, detail):
            text = f"{kind}: {detail}"
        case Unsupported():
            text = f"it declined {OPERATION}"
    refused = next((one.problem for one in asked if one.problem), "")
    return f"{text} ({refused})" if refused and refused not in text else text


async def _read(case: Case, turns: Turns, options: dict[str, Any]) -> Outcome:
    """Return what the reference makes of the same answers."""

    def client(model: str) -> ChatClient:
        here = providers.Endpoint(base_url="http://recorded.invalid/v1", model=model, retries=0)
        return ChatClient(here, transport=_ByTurn(turns, model))

    models = Models(
        ReasoningModel(client("reasoning")),
        FunctionModel(client("function"), mode="tools", trials=max(1, len(turns.function))),
    )
    return await SlotSystem(models, **options).fill(case)


class _ByTurn(httpx2.AsyncBaseTransport):
    """Gives the recordings of one role one after another."""

    def __init__(self, turns: Turns, model: str) -> None:
        self._left = iter(turns.of(model))

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if (interaction := next(self._left, None)) is None:
            return httpx2.Response(500)
        return replay(interaction.response)


@asynccontextmanager
async def open_implementation(
    open_peer: Callable[[], Peer], cassette: Cassette, *, count: int, **given: Any
) -> AsyncIterator[tuple[Implementation, Hello]]:
    """Give the system and who it is, with ``count`` peers.

    Raises :class:`callbench.peer.PeerError` for one that cannot be started, ``UsageError`` for
    one that does not fill slots.
    """
    peers = [open_peer() for _ in range(count)]
    try:
        hello = peers[0].hello
        if OPERATION not in hello.operations:
            raise UsageError(
                f"--impl: {hello.name} does not implement {OPERATION}.",
                remedy="What it does implement is tested by callbench conform.",
            )
        with Endpoint() as endpoint:
            system = Implementation(peers, endpoint, cassette, **given)
            try:
                yield system, hello
            finally:
                system.close()
    finally:
        for peer in peers:
            peer.close()
