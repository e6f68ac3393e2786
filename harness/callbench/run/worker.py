"""A worker of ``--jobs``: runs and scores the ranges of cases it is told, see :mod:`callbench.run.jobs`."""

from __future__ import annotations

import asyncio
import os
import pickle
import traceback
from dataclasses import replace
from typing import Any, BinaryIO

from callbench.errors import CallbenchError, CassetteError
from callbench.run.jobs import HEAD, Answer, Task
from callbench.run.opening import opened
from callbench.run.scored import Scored, offline, scored_cases


def main() -> None:
    """Work until there is no more input."""
    # What a system of the user's own reads or prints must not come between our messages.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    told = os.fdopen(os.dup(0), "rb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    with told, answers:
        try:
            asyncio.run(_work(told, answers))
        except BrokenPipeError:
            os._exit(0)  # nobody waits for our answers any more


async def _work(told: BinaryIO, answers: BinaryIO) -> None:
    task: Task = _receive(told)
    scored: list[Scored] = []
    try:
        async with offline(task.config), opened(task.config, task.whole, task.dataset) as run:
            while (wanted := _receive(told)) is not None:
                cases = task.dataset.cases[slice(*wanted)]
                async for one in scored_cases(cases, run, task.config):
                    scored.append(one if one.miss is None else _with_miss(one, one.miss))
                _send(answers, Answer(scored))
                scored = []
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001 - raised again by the process that asked
        _send(answers, Answer(scored, _sendable(error)))


def _with_miss(one: Scored, miss: CassetteError) -> Scored:
    return replace(one, miss=_sendable(miss))


def _receive(told: BinaryIO) -> Any:
    """Return the next message, ``None`` at the end of the input."""
    head = told.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    return pickle.loads(told.read(HEAD.unpack(head)[0]))  # noqa: S301 - of our own process


def _send(answers: BinaryIO, answer: Answer) -> None:
    message = pickle.dumps(answer)
    answers.write(HEAD.pack(len(message)) + message)
    answers.flush()


def _sendable(error: Exception) -> Any:
    """Return the error as it can be raised in another process."""
    try:
        same = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    except Exception:  # noqa: BLE001 - an exception may be made of anything
        same = RuntimeError(f"{type(error).__name__}: {error}")
    if not isinstance(error, CallbenchError):
        same.add_note("In a worker of --jobs:\n" + "".join(traceback.format_exception(error)))
    return same
