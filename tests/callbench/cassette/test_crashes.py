"""Recorders that are killed, a disk that is full, workers of pytest-xdist: nothing recorded is lost (C6).

Real processes on real files. What a recorder had told to be recorded must be there, whenever it dies.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from callbench.cassette import Cassette, Interaction
from callbench.errors import CassetteError

from .recordings import answers, fill
from .test_concurrency import start

Build = Callable[..., Interaction]

RERECORDER = textwrap.dedent(
    """
    import sys
    from callbench.cassette import Cassette, Event, Interaction, Response, canonical_request, request_key

    path, worker, finish = sys.argv[1], sys.argv[2], sys.argv[3]
    cassette = Cassette.open(path)
    cassette.adopt()
    for number in range(10):
        request = canonical_request("POST", "/x", f"{worker} {number}".encode())
        response = Response(200, {}, (Event(0, b"anew"),))
        cassette.replace(Interaction(request_key(request), f"{worker}-{number}", 0, request, response))
    print("done", flush=True)
    if finish == "close":
        cassette.close()
    else:
        sys.stdin.read()
    """
)

XDIST = textwrap.dedent(
    """
    import asyncio, os, pathlib
    import httpx2, pytest
    from callbench.cassette import Cassette, CassetteTransport, case_scope

    MODE = os.environ["MODE"]
    PATH = pathlib.Path(__file__).with_name("shared.cassette.jsonl")


    class Echo(httpx2.AsyncBaseTransport):
        async def handle_async_request(self, request):
            return httpx2.Response(200, content=b"answer to " + request.content)


    @pytest.fixture(scope="session")
    def cassette():
        with Cassette.open(PATH) as opened:
            yield opened


    async def ask(cassette, number):
        transport = CassetteTransport(cassette, MODE, Echo)
        async with httpx2.AsyncClient(transport=transport) as client:
            with case_scope(f"case-{number}"):
                return (await client.post("http://x/v1/chat", content=b"%d" % number)).content


    @pytest.mark.parametrize("number", range(8))
    def test_each_its_own(cassette, number):
        assert asyncio.run(ask(cassette, number)) == b"answer to %d" % number
    """
)


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_killed_at_any_moment(path: Path, seed: int) -> None:
    """Two record, one is killed somewhere, in a line or in putting the file in order."""
    chance = random.Random(seed)
    killed, lives = start(path, "a", 100_000), start(path, "b", 30)
    assert killed.stdout is not None
    told = [killed.stdout.readline() for _ in range(chance.randrange(1, 60))]
    time.sleep(chance.random() / 100)
    killed.kill()
    rest, _ = killed.communicate()
    lives.communicate()
    assert lives.returncode == 0
    recorded = len(told) + rest.count("\n")
    found = {case: answer for case, _, answer in answers(Cassette.open(path))}
    expected = {f"a-{n}": f"a {n}" for n in range(recorded)} | {
        f"b-{n}": f"b {n}" for n in range(30)
    }
    assert found.items() >= expected.items()
    assert len(found) - len(expected) in (0, 1)  # one may be written and not yet told


def _rerecord(path: Path, worker: str, finish: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", RERECORDER, str(path), worker, finish],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )


def test_two_that_record_anew_at_once(path: Path, recording: Build) -> None:
    fill(path, recording(case="kept", answer="old"), recording(case="a-3", answer="old"))
    workers = [_rerecord(path, name, "close") for name in ("a", "b")]
    for worker in workers:
        worker.communicate()
        assert worker.returncode == 0
    found = {case: answer for case, _, answer in answers(Cassette.open(path))}
    anew = {f"{name}-{n}": "anew" for name in "ab" for n in range(10)}
    assert found == {"kept": "old", **anew}
    assert not path.with_name(f"{path.name}.part").exists()


def test_one_that_records_anew_is_killed_and_the_next_takes_it_in(
    path: Path, recording: Build
) -> None:
    fill(path, recording(case="a-3", answer="old"))
    killed = _rerecord(path, "a", "wait")
    assert killed.stdout is not None
    assert killed.stdout.readline() == "done\n"
    killed.kill()
    killed.communicate()
    assert answers(Cassette.open(path)) == [("a-3", 0, "old")]  # until then nothing changed
    _rerecord(path, "b", "close").communicate()
    found = {case: answer for case, _, answer in answers(Cassette.open(path))}
    assert found == {f"{name}-{n}": "anew" for name in "ab" for n in range(10)}


@pytest.mark.parametrize("written", [0, 1, 40])
def test_a_full_disk_leaves_a_file_that_can_be_read(
    path: Path, recording: Build, monkeypatch: pytest.MonkeyPatch, written: int
) -> None:
    """The disk takes some bytes of the line, then none: the line is taken away again."""
    cassette = Cassette.open(path)
    cassette.append(recording(case="a", answer="one"))
    before = path.read_bytes()
    real = os.write
    room = [written]

    def full(descriptor: int, data: bytes) -> int:
        if not room[0]:
            raise OSError(28, "No space left on device")
        taken = real(descriptor, bytes(data[: room[0]]))
        room[0] -= taken
        return taken

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(CassetteError, match="No space left on device"):
            cassette.append(recording(case="b", answer="two"))
    assert path.read_bytes() == before
    cassette.append(recording(case="b", answer="two"))
    assert answers(Cassette.open(path)) == [("a", 0, "one"), ("b", 0, "two")]


def test_a_disk_full_while_the_file_is_put_in_order(
    path: Path, recording: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old file stays, with everything that was appended."""
    cassette = Cassette.open(path)
    for case in ("b", "a"):
        cassette.append(recording(case=case, answer=case))

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            cassette.close()
    assert sorted(answers(Cassette.open(path))) == [("a", 0, "a"), ("b", 0, "b")]
    assert [it.name for it in path.parent.iterdir()] == [path.name]  # and no draft is left


def test_workers_of_xdist_share_a_cassette(tmp_path: Path) -> None:
    (tmp_path / "test_shared.py").write_text(XDIST, encoding="utf-8")
    for mode in ("record", "rerecord"):
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "-n",
                "2",
                *("-p", "xdist", "-p", "no:cacheprovider"),
                "-c",
                os.devnull,
                "--rootdir",
                str(tmp_path),
                str(tmp_path / "test_shared.py"),
            ],
            capture_output=True,
            text=True,
            env={**os.environ, "MODE": mode, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            cwd=tmp_path,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        path = tmp_path / "shared.cassette.jsonl"
        assert sorted(answers(Cassette.open(path))) == sorted(
            (f"case-{n}", 0, f"answer to {n}") for n in range(8)
        )
