"""A child process that reads and writes lines: deadlines, its log, its end. POSIX only."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
import weakref
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from callbench.peer.answers import Trouble
from callbench.peer.messages import MAX_LINE, shown

LOG_KEPT = 64 * 1024
"""Bytes of standard error that are kept, the last ones; all of it is read."""

_CHUNK = 64 * 1024
_MOST_READS = 16
_LAST_WORDS = 0.5
"""Seconds that a process which closed its output has to end, so that its exit code can be told."""


class NoLine(Exception):
    """The child did not give a line; ``kind`` and ``detail`` say why."""

    def __init__(self, kind: Trouble, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


class Child:
    """A running program in a process group of its own, which ends with it.

    One thread uses it; only :meth:`terminate` may be called from any. Raises ``OSError`` if the
    program cannot be started.
    """

    def __init__(self, command: Sequence[str], *, cwd: Path | None = None) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - running it is the point
            command,
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._in = self._process.stdin.fileno()
        self._out = self._process.stdout.fileno()
        self._err = self._process.stderr.fileno()
        self._selector = selectors.DefaultSelector()
        for descriptor in (self._in, self._out, self._err):
            os.set_blocking(descriptor, False)
        self._selector.register(self._out, selectors.EVENT_READ)
        self._selector.register(self._err, selectors.EVENT_READ)
        self._unsent = memoryview(b"")
        self._received = bytearray()
        self._searched = 0
        self._log = bytearray()
        # Also when nobody closes it: at the exit of the interpreter at the latest.
        self._end = weakref.finalize(self, _kill_group, self._process)

    @property
    def log(self) -> str:
        """The end of what the child wrote to standard error."""
        return self._log.decode("utf-8", "replace").strip()

    def exchange(self, line: bytes, until: float) -> bytes:
        """Send a line and return the next line that comes, without its end.

        ``until`` is a time of ``time.monotonic()``. Raises :class:`NoLine`.
        """
        self._send(line)
        while True:
            end = self._received.find(b"\n", self._searched)
            if end >= 0 and end <= MAX_LINE:
                found = bytes(self._received[:end])
                del self._received[: end + 1]
                self._searched = 0
                return found
            self._searched = len(self._received)
            if len(self._received) > MAX_LINE:
                raise NoLine("protocol_error", f"a line of more than {MAX_LINE // 2**20} MB")
            if self._closed(self._out):
                raise NoLine("crash", self._last_words())
            left = until - time.monotonic()
            if left <= 0:
                raise NoLine("deadline", self._lateness())
            self._step(left)

    def finish(self, line: bytes, within: float) -> int | None:
        """Send a last line, close its input, wait; return the exit code, None if it had to be killed."""
        self._send(line)
        until = time.monotonic() + within
        while not (self._closed(self._out) and self._closed(self._err)):
            if not self._unsent:
                self._close_input()
            if (left := until - time.monotonic()) <= 0:
                break
            self._received.clear()
            # A process that ended may leave a child of its own that holds the pipes.
            if self._process.poll() is not None and not self._step(0):
                break
            self._step(min(left, 0.05))
        self._close_input()
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(max(0.0, until - time.monotonic()))
        return None

    def terminate(self) -> None:
        """Kill the process group; whoever waits for a line learns that the process ended."""
        _signal_group(self._process)

    def discard(self) -> None:
        """Read what is left of the log, kill the process group and let go of everything."""
        for _ in range(_MOST_READS):
            if not self._step(0):
                break
        self._end()
        self._selector.close()

    def _send(self, line: bytes) -> None:
        self._unsent = memoryview(bytes(self._unsent) + line)
        self._write()
        if self._unsent and self._closed(self._in):
            self._selector.register(self._in, selectors.EVENT_WRITE)

    def _step(self, timeout: float) -> bool:
        """Wait for the child to read or write, at most ``timeout`` seconds; tell whether it did."""
        ready = self._selector.select(timeout)
        for key, _ in ready:
            if key.fd == self._in:
                self._write()
                if not self._unsent:
                    self._forget(self._in)
            elif data := self._read(key.fd):
                if key.fd == self._out:
                    self._received += data
                else:
                    self._log += data
                    del self._log[:-LOG_KEPT]
        return bool(ready)

    def _read(self, descriptor: int) -> bytes:
        try:
            data = os.read(descriptor, _CHUNK)
        except BlockingIOError:  # pragma: no cover - a spurious wake-up
            return b""
        if not data:
            self._forget(descriptor)
        return data

    def _write(self) -> None:
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self._in, self._unsent[:_CHUNK]) :]
        except BlockingIOError:
            pass
        except OSError:  # it no longer reads; its output says what that means
            self._unsent = memoryview(b"")

    def _forget(self, descriptor: int) -> None:
        with suppress(KeyError):
            self._selector.unregister(descriptor)

    def _closed(self, descriptor: int) -> bool:
        return descriptor not in self._selector.get_map()

    def _close_input(self) -> None:
        assert self._process.stdin is not None
        self._forget(self._in)
        with suppress(OSError):
            self._process.stdin.close()

    def _last_words(self) -> str:
        until = time.monotonic() + _LAST_WORDS
        while not self._closed(self._err) and (left := until - time.monotonic()) > 0:
            if not self._step(min(left, 0.05)) and self._process.poll() is not None:
                break
        try:
            code = self._process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            how = "it closed its standard output, but did not end"
        else:
            how = f"it was killed by {_signal_name(-code)}" if code < 0 else f"exit code {code}"
            how = f"the process ended: {how}"
        if self._received:
            how += f", in the middle of a line: {shown(bytes(self._received[:200]))}"
        return how

    def _lateness(self) -> str:
        if self._received:
            begun = shown(bytes(self._received[:200]))
            return f"a line was begun, but has no end (LF): {begun}"
        return "it did not read the request" if self._unsent else "no answer"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _signal_group(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    _signal_group(process)
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with suppress(OSError):
                stream.close()
