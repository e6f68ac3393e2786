"""A program as a peer: the recorded transcript of an old one, and broken ones."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from callbench.errors import ExitCode
from callbench.peer import Failed, Misbehaved, PeerError, Result, StdioPeer, Unsupported
from callbench.peer.child import Child

from .conftest import HERE, Broken

ONE = {"pointer": "/a"}
TWO = {"pointer": "/a/b"}
SOON = 0.2


def ask(peer: StdioPeer, given: dict[str, Any] = ONE, deadline: float = 10.0) -> Any:
    return peer.run("pointer.split", given, deadline)


def test_the_transcript_of_an_old_peer_is_understood() -> None:
    """Recorded with members that today's protocol does not know."""
    command = [sys.executable, "-S", str(HERE / "replaying.py"), str(HERE / "old_peer.jsonl")]
    peer = StdioPeer(command)
    assert peer.hello.name == "corecall-fortran"
    assert peer.hello.operations == {"history.extract", "slot.check", "stream.rest"}
    assert ask(peer) == Result(0)
    assert ask(peer) == Failed("invalid_schema", "/type")
    assert ask(peer) == Unsupported()
    assert ask(peer) == Result(12345678901234567890)
    peer.close()


class TestTrouble:
    """Each is charged to the case that ran; the next one meets a new child."""

    def test_a_crash_tells_exit_code_and_log(self, broken: Broken) -> None:
        peer = broken("crashes")
        assert ask(peer, TWO) == Misbehaved(
            "crash", "the process ended: exit code 3", "cannot go on"
        )
        assert (ask(peer), peer.restarts) == (Result(["a"]), 1)

    def test_a_signal_is_named(self, broken: Broken) -> None:
        answer = ask(broken("killed"))
        assert (answer.kind, answer.detail) == (
            "crash",
            "the process ended: it was killed by SIGSEGV",
        )

    def test_a_hang(self, broken: Broken) -> None:
        peer = broken("hangs")
        assert peer.hello.name == "hanger"
        assert ask(peer, TWO, SOON) == Misbehaved("deadline", "no answer within 0.2 s")
        assert (ask(peer), peer.restarts) == (Result(["a"]), 1)

    def test_garbage_is_shown(self, broken: Broken) -> None:
        answer = ask(broken("garbage"))
        assert answer.kind == "protocol_error"
        assert answer.detail == 'a line that is not JSON: "DEBUG: about to answer"'

    def test_a_message_that_breaks_the_schema(self, broken: Broken) -> None:
        answer = ask(broken("breaks_schema"))
        assert answer.kind == "protocol_error"
        assert answer.detail.startswith('/kind: "IndexError" is not one of')

    def test_another_seq(self, broken: Broken) -> None:
        peer = broken("out_of_order")
        assert ask(peer) == Result(["a"])
        assert ask(peer) == Misbehaved("wrong_seq", "asked 2, it answered 1")
        assert ask(peer) == Result(["a"])

    def test_a_huge_line(self, broken: Broken) -> None:
        answer = ask(broken("huge_line"))
        assert (answer.kind, answer.detail) == ("protocol_error", "a line of more than 16 MB")

    def test_a_line_without_end(self, broken: Broken) -> None:
        peer = broken("partial_line")
        assert peer.hello.name == "half"
        answer = ask(peer, ONE, SOON)
        assert answer.kind == "deadline"
        assert answer.detail.startswith('a line was begun, but has no end (LF): "{')

    def test_a_closed_output(self, broken: Broken) -> None:
        answer = ask(broken("closes_stdout"))
        assert answer.kind == "crash"
        assert answer.detail == "it closed its standard output, but did not end"

    def test_a_request_that_is_never_read(self, broken: Broken) -> None:
        """More than a pipe holds: writing it must not block for ever either."""
        peer = broken("hangs")
        assert peer.hello.name == "hanger"
        peer._child.terminate()  # type: ignore[union-attr]
        answer = ask(peer, {"pointer": "x" * 2**20}, SOON)
        assert answer.kind == "crash"


class TestLog:
    def test_all_of_it_is_read_and_the_end_kept(self, broken: Broken) -> None:
        peer = broken("floods_stderr")
        for _ in range(3):
            assert ask(peer) == Result(["a"])
        peer._child._step(1)  # type: ignore[union-attr]
        assert len(peer._child._log) <= 64 * 1024  # type: ignore[union-attr]
        assert peer.restarts == 0


class TestStart:
    def test_a_program_that_is_not_there(self) -> None:
        with pytest.raises(PeerError, match="cannot be started: no-such-program") as caught:
            _ = StdioPeer(["no-such-program"]).hello
        assert caught.value.exit_code is ExitCode.USAGE

    def test_one_that_ends_at_once(self, broken: Broken) -> None:
        with pytest.raises(PeerError, match=r"no valid hello.*exit code 1") as caught:
            _ = broken("dies_at_start").hello
        assert "no database" in str(caught.value)
        assert "dies_at_start.py" in str(caught.value)

    def test_one_that_says_nothing(self, broken: Broken) -> None:
        with pytest.raises(PeerError, match=r"no answer within 0\.2 s"):
            _ = broken("silent", hello_within=SOON).hello

    def test_one_of_another_version(self, broken: Broken) -> None:
        with pytest.raises(PeerError, match="none of the protocol's versions"):
            _ = broken("other_version").hello

    def test_one_that_speaks_something_else(self) -> None:
        with pytest.raises(PeerError, match='not JSON: "READY"'):
            _ = StdioPeer(["sh", "-c", "echo READY; cat"]).hello


def gone(number: int) -> bool:
    """Wait a moment for a process to be gone; one that is dead but not buried counts as gone."""
    for _ in range(200):
        try:
            state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False


class TestEnd:
    def test_bye_is_said_and_the_process_ends_by_itself(self, tmp_path: Path) -> None:
        told = tmp_path / "told"
        script = f'read hello; echo \'{{"cmd": "hello", "version": 1, "name": "s", "language": "sh", "release": "", "operations": []}}\'; read bye; echo "$bye" > {told}'
        peer = StdioPeer(["sh", "-c", script])
        assert peer.hello.language == "sh"
        peer.close()
        assert told.read_text() == '{"cmd":"bye"}\n'

    @pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc")
    def test_what_the_peer_started_ends_with_it(self, broken: Broken) -> None:
        peer = broken("leaves_a_child")
        assert peer.hello.name == "parent"
        answer = ask(peer, ONE, 0.5)
        assert answer.kind == "deadline"
        assert gone(int(answer.log))

    def test_closing_from_another_thread_ends_what_runs(self, broken: Broken) -> None:
        peer = broken("hangs")
        assert peer.hello.name == "hanger"
        threading.Timer(0.1, peer.close).start()
        assert ask(peer, TWO, 30.0).kind == "crash"

    def test_closing_twice_is_once(self, broken: Broken) -> None:
        peer = broken("hangs")
        assert ask(peer) == Result(["a"])
        number = peer._child._process.pid  # type: ignore[union-attr]
        peer.close()
        peer.close()
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)

    def test_a_closed_peer_is_not_started_again(self, broken: Broken) -> None:
        peer = broken("hangs")
        peer.close()
        with pytest.raises(PeerError, match="closed"):
            ask(peer)

    def test_closing_while_the_child_is_being_made_ends_it(
        self, broken: Broken, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        peer = broken("hangs")

        class Slow(Child):
            def __init__(self, *words: Any, **options: Any) -> None:
                peer.close()
                super().__init__(*words, **options)

        monkeypatch.setattr("callbench.peer.stdio.Child", Slow)
        with pytest.raises(PeerError, match="SIGKILL"):
            ask(peer, TWO, 30.0)

    @pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc")
    def test_a_peer_that_nobody_closes_ends_with_us(self) -> None:
        script = (
            "import sys; from callbench.peer import StdioPeer\n"
            f"peer = StdioPeer([sys.executable, '-S', {str(HERE / 'broken' / 'hangs.py')!r}])\n"
            "peer.run('pointer.split', {'pointer': '/a'}, 10)\n"
            "print(peer._child._process.pid)"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60)
        assert gone(int(done.stdout))
