"""Cases as they run, scored: the line of ``cases.jsonl`` that each becomes, its credentials masked.

The one path from a case to its bytes, for a run in one process and for each of several.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass

from callbench.cassette.network import no_network
from callbench.cassette.scrub import mask_bytes
from callbench.cassette.transport import Mode
from callbench.dataset.case import Case
from callbench.errors import CassetteError
from callbench.run.config import RunConfig
from callbench.run.engine import Done, run_cases
from callbench.run.implementation import GRACE
from callbench.run.opening import Opened
from callbench.scoring.record import case_record, record_line
from callbench.scoring.verdict import score_case


@dataclass(frozen=True, slots=True)
class Scored:
    """What a run keeps of one answer to the case ``id``.

    ``line`` is its line of ``cases.jsonl``, empty where a recording was missing: ``miss``.
    ``failure`` tells a provider error, else it is ``None``.
    """

    id: str
    line: bytes
    miss: CassetteError | None = None
    failure: str | None = None


async def scored_cases(
    cases: Iterable[Case], run: Opened, config: RunConfig
) -> AsyncGenerator[Scored]:
    """Run ``cases`` and yield what to keep of each answer, in their order."""
    # An implementation is given its deadline itself, so that its child is started anew.
    limit = config.deadline + (GRACE if config.impl is not None else 0)
    async for done in run_cases(
        cases,
        run.system,
        concurrency=run.info["concurrency"],
        deadline=limit,
        repeats=config.repeats,
    ):
        if done.miss is not None:
            yield Scored(done.case.id, b"", done.miss)
        else:
            failed = done.outcome.status == "provider_error"
            line = mask_bytes(_line(done, config.repeats), run.secrets)
            yield Scored(done.case.id, line, failure=str(done.outcome.error) if failed else None)


@asynccontextmanager
async def offline(config: RunConfig) -> AsyncIterator[None]:
    """Replay reaches no network; an implementation may reach the answers we serve it on loopback."""
    with (
        no_network(loopback=config.impl is not None)
        if config.mode is Mode.REPLAY
        else nullcontext()
    ):
        yield


def _line(done: Done, repeats: int) -> bytes:
    score = score_case(done.case, done.outcome)
    record = case_record(done.case, done.outcome, score, done.spent)
    if repeats > 1:
        record = {"id": record["id"], "repeat": done.repeat, **record}
    return record_line(record)
