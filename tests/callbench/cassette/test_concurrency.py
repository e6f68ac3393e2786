"""Threads and processes on one cassette: each its own answer, nothing lost, not even on kill -9 (C6)."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path

from callbench.cassette import Cassette, Interaction

Build = Callable[..., Interaction]

RECORDER = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from callbench.cassette import Cassette, Event, Interaction, Response, canonical_request, request_key

    path, worker, count, finish = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
    cassette = Cassette.open(path)
    for number in range(count):
        body = ("A long shared paragraph of a synthetic prompt. " * 6 + f"\\n\\n{worker} {number}").encode()
        request = canonical_request("POST", "/x", body)
        response = Response(200, {}, (Event(0, f"{worker} {number}".encode()),))
        cassette.append(Interaction(request_key(request), f"{worker}-{number}", 0, request, response))
        print(number, flush=True)
    if finish == "close":
        cassette.close()
    """
)


def start(path: Path, worker: str, count: int, finish: str = "close") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", RECORDER, str(path), worker, str(count), finish],
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )


class TestProcesses:
    def test_several_recorders_lose_nothing(self, path: Path) -> None:
        """They append, and put the file in order at their end, while others still append."""
        workers = [start(path, name, 20) for name in ("a", "b", "c")]
        for worker in workers:
            worker.communicate()
            assert worker.returncode == 0
        found = {it.case: it.response.body.decode() for it in Cassette.open(path)}
        assert found == {f"{name}-{n}": f"{name} {n}" for name in "abc" for n in range(20)}

    def test_a_killed_recorder_loses_nothing_it_had_recorded(self, path: Path) -> None:
        worker = start(path, "a", 100_000)
        assert worker.stdout is not None
        done = [worker.stdout.readline() for _ in range(10)]
        worker.send_signal(signal.SIGKILL)
        worker.communicate()
        assert len(done) == 10
        found = {it.case for it in Cassette.open(path)}
        assert found >= {f"a-{n}" for n in range(10)}
        again = start(path, "b", 1)
        again.communicate()
        assert {it.case for it in Cassette.open(path)} == {*found, "b-0"}


class TestThreads:
    def test_each_thread_finds_and_records_its_own(self, path: Path, recording: Build) -> None:
        cassette = Cassette.open(path)
        wrong: list[str] = []

        def work(worker: int) -> None:
            for number in range(25):
                interaction = recording(
                    "same?", case=f"{worker}-{number}", answer=f"{worker} {number}"
                )
                cassette.append(interaction)
                found = cassette.find(interaction.key, interaction.case, 0)
                if found is None or found.response.body != interaction.response.body:
                    wrong.append(interaction.case)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
        assert len(Cassette.open(path)) == 100
