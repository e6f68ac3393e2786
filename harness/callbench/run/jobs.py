"""``--jobs``: the cases of a replay spread over worker processes, results in the dataset's order.

A worker (:mod:`callbench.run.worker`) is told once what the run is and where its cases stand; then it
gets ranges of case numbers on its standard input and answers each with the lines to write. This process
alone writes. Few ranges are under way at a time, so memory does not grow with the number of cases.
A worker ends when its input does, so none outlives this process, however that ends.
"""

from __future__ import annotations

import asyncio
import pickle
import signal
import struct
import sys
from collections import deque
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from callbench.dataset.loader import Dataset
from callbench.errors import CallbenchError
from callbench.run.config import RunConfig
from callbench.run.scored import Scored

HEAD = struct.Struct(">Q")
"""Before each message: its length in bytes."""

_MOST_AT_ONCE = 32  # cases in one range
_AHEAD = 2  # ranges a worker has, so that it never waits for the next
_PATIENCE = 5.0  # seconds for a worker that has nothing left to do to end by itself

# Ctrl-C in a terminal reaches every process there; what ends a worker is this process.
_START = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); sys.path[:] = sys.argv[1:]; "
    "from callbench.run.worker import main; main()"
)


@dataclass(frozen=True, slots=True)
class Task:
    """What a worker is told first; ``dataset`` is a selection of ``whole``."""

    config: RunConfig
    whole: Dataset
    dataset: Dataset


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a range: the cases up to its end, or up to the ``error`` that stopped it."""

    scored: list[Scored]
    error: BaseException | None = None


class WorkerDied(CallbenchError):
    """A worker process ended before its work did."""


async def scored_by_workers(task: Task) -> AsyncGenerator[Scored]:
    """Yield what to keep of each case of ``task.dataset``, in order, from ``config.jobs`` processes.

    Raises what a worker raised, and ``WorkerDied``, after the cases before it.
    """
    count = len(task.dataset.cases)
    jobs = min(task.config.jobs, count)
    size = max(1, min(_MOST_AT_ONCE, count // (4 * jobs)))
    starts = iter(range(0, count, size))
    workers = [_Worker(number) for number in range(1, jobs + 1)]
    waiting: asyncio.Queue[_Range] = asyncio.Queue()
    under_way: deque[_Range] = deque()

    def hand_out() -> None:
        start = next(starts, None)
        if start is not None:
            one = _Range(start, min(start + size, count))
            under_way.append(one)
            waiting.put_nowait(one)

    for _ in range(2 * _AHEAD * jobs):
        hand_out()
    said = pickle.dumps(task)
    tasks = [asyncio.create_task(worker.work(said, waiting)) for worker in workers]
    try:
        while under_way:
            answer = await under_way[0].answered(tasks)
            under_way.popleft()
            hand_out()
            for scored in answer.scored:
                yield scored
            if answer.error is not None:
                raise answer.error
    except BaseException:
        for worker in workers:
            worker.kill()
        raise
    finally:
        for running in tasks:
            running.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(worker.close() for worker in workers))


@dataclass(slots=True)
class _Range:
    """The cases from ``start`` up to ``stop``, and the answer that will come."""

    start: int
    stop: int
    answer: asyncio.Future[Answer] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    async def answered(self, tasks: list[asyncio.Task[None]]) -> Answer:
        """Wait for the answer, or for all workers to have failed without taking this up."""
        while not self.answer.done():
            running: list[asyncio.Future[Any]] = [one for one in tasks if not one.done()]
            if not running:
                await asyncio.gather(*tasks)
            running.append(self.answer)
            await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        return self.answer.result()


class _Worker:
    """One worker process; ``number`` counts from 1."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._process: asyncio.subprocess.Process | None = None

    async def work(self, task: bytes, waiting: asyncio.Queue[_Range]) -> None:
        """Start the process and keep it busy. An error goes to the first range it leaves open."""
        taken: deque[_Range] = deque()
        try:
            await self._start()
            self._send(task)
            while True:
                while len(taken) < _AHEAD and (not taken or not waiting.empty()):
                    taken.append(await waiting.get())
                    self._send(pickle.dumps((taken[-1].start, taken[-1].stop)))
                answer = await self._receive()
                taken.popleft().answer.set_result(answer)
        except Exception as error:  # noqa: BLE001 - raised again where the range is waited for
            reason = error
            if isinstance(error, EOFError):
                reason = await self._died()
            for one in taken:
                one.answer.set_exception(reason)
                one.answer.exception()  # which nobody may come to ask for
            raise reason from None

    async def _start(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            _START,
            *_import_path(),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )

    def _send(self, message: bytes) -> None:
        """Send without waiting: that a worker is gone is seen where its last answers were read."""
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(HEAD.pack(len(message)) + message)

    async def _receive(self) -> Answer:
        assert self._process is not None
        assert self._process.stdout is not None
        stream = self._process.stdout
        (length,) = HEAD.unpack(await stream.readexactly(HEAD.size))
        answer: Answer = pickle.loads(await stream.readexactly(length))  # noqa: S301 - of our own
        return answer

    async def _died(self) -> WorkerDied:
        assert self._process is not None
        try:
            code = await asyncio.wait_for(self._process.wait(), _PATIENCE)
        except TimeoutError:
            self.kill()
            how = "answers no more"
        else:
            how = f"ended with code {code}"
            if code < 0:
                how = f"was killed by {signal.Signals(-code).name}"
        return WorkerDied(
            f"Worker {self._number} of --jobs (process {self._process.pid}) {how}.",
            remedy="What was scored before is kept. If memory ran out, use fewer --jobs.",
        )

    def kill(self) -> None:
        """End the process at once."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()

    async def close(self) -> None:
        """End the process, which has nothing left to do."""
        if self._process is None:
            return
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), _PATIENCE)
        except TimeoutError:
            self.kill()
            await self._process.wait()


def _import_path() -> list[str]:
    """Return where this process imports from: there the user's own system is."""
    return [str(Path(place).absolute()) for place in sys.path]
