"""Running cases: several in flight, results in the order of the dataset, one per case, bounded."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from itertools import islice

from callbench.cassette.scope import CaseScope, case_scope
from callbench.dataset.case import Case
from callbench.errors import CassetteError
from callbench.run.system import System
from callbench.scoring.outcome import Outcome
from callbench.scoring.record import Spent


@dataclass(frozen=True, slots=True)
class Done:
    """A case that ran: what came of it and what it took, or the recording it lacked.

    ``repeat`` numbers the answers to one case from 0.
    """

    case: Case
    outcome: Outcome
    spent: Spent
    miss: CassetteError | None = None
    repeat: int = 0


async def run_cases(
    cases: Iterable[Case], system: System, *, concurrency: int, deadline: float, repeats: int = 1
) -> AsyncIterator[Done]:
    """Yield each case's result in the order of ``cases``, ``repeats`` results of a case running.

    At most ``concurrency`` cases are in flight or finished but not yet yielded, so memory
    does not grow with their number. A case that takes longer than ``deadline`` seconds is
    cancelled and becomes a provider error; nothing of it can arrive later.
    """
    if concurrency == 1:  # replay: a task per case would cost more than the case
        for case in cases:
            for repeat in range(repeats):
                yield await _run(case, repeat, system, deadline)
        return
    waiting = ((case, repeat) for case in cases for repeat in range(repeats))
    running = deque(
        asyncio.create_task(_run(*one, system, deadline)) for one in islice(waiting, concurrency)
    )
    try:
        while running:
            done = await running.popleft()
            for one in islice(waiting, 1):
                running.append(asyncio.create_task(_run(*one, system, deadline)))
            yield done
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def _run(case: Case, repeat: int, system: System, deadline: float) -> Done:
    miss: CassetteError | None = None
    with case_scope(case.id, repeat=repeat) as scope:
        try:
            async with asyncio.timeout(deadline):
                outcome = await system.fill(case)
        except TimeoutError:
            error = f"no result within {deadline:g} seconds"
            outcome = Outcome(status="provider_error", slot_data=case.data, error=error)
        except CassetteError as error:
            miss = error
            outcome = Outcome(status="provider_error", slot_data=case.data, error=error.message)
        except BaseExceptionGroup as group:  # what a client raised in a task group
            miss = _first_of(group)
            if miss is None:
                raise
            outcome = Outcome(status="provider_error", slot_data=case.data, error=miss.message)
    return Done(case, outcome, _spent(scope), miss, repeat)


def _first_of(group: BaseExceptionGroup[BaseException]) -> CassetteError | None:
    """The ``CassetteError`` of a group that holds nothing else, however deep."""
    if group.split(CassetteError)[1] is not None:
        return None
    first: BaseException = group
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    return first if isinstance(first, CassetteError) else None


def _spent(scope: CaseScope) -> Spent:
    usages = [exchange.usage for exchange in scope.exchanges if exchange.usage]
    prompt = [usage["prompt_tokens"] for usage in usages if "prompt_tokens" in usage]
    completion = [usage["completion_tokens"] for usage in usages if "completion_tokens" in usage]
    first = next(iter(scope.exchanges), None)
    streamed = [exchange.tokens for exchange in scope.exchanges if exchange.tokens]
    timed = [tokens for tokens in streamed if tokens.decoded is not None]
    decode_ms = sum(tokens.decode_ms for tokens in timed)
    return Spent(
        calls=len(scope.exchanges),
        prompt_tokens=sum(prompt) if prompt else None,
        completion_tokens=sum(completion) if completion else None,
        ms=float(sum(exchange.elapsed_ms for exchange in scope.exchanges)),
        first_event_ms=first.first_event_ms if first else None,
        first_token_ms=float(streamed[0].first_ms) if streamed else None,
        tokens_per_second=(
            1000 * sum(tokens.decoded or 0 for tokens in timed) / decode_ms if timed else None
        ),
    )
