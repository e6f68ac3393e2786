"""A peer that is a program: one long-lived child, started anew after it misbehaved."""

from __future__ import annotations

import shlex
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from callbench.peer import messages
from callbench.peer.answers import Answer, Hello, Misbehaved, Trouble
from callbench.peer.child import Child, NoLine
from callbench.peer.errors import PeerError
from callbench.peer.messages import ProtocolError

HELLO_WITHIN = 10.0
"""Seconds a peer has for its hello."""

_BYE_WITHIN = 2.0


class StdioPeer:
    """The program of ``command`` (an argument vector), started when it is first needed.

    ``cwd`` is where it runs. ``restarts`` counts how often it had to be started anew.
    """

    def __init__(
        self, command: Sequence[str], *, cwd: Path | None = None, hello_within: float = HELLO_WITHIN
    ) -> None:
        self.command = tuple(command)
        self.restarts = 0
        self._cwd = cwd
        self._hello_within = hello_within
        self._child: Child | None = None
        self._hello: Hello | None = None
        self._seq = 0
        self._busy = threading.Lock()
        self._closed = False

    @property
    def hello(self) -> Hello:
        """Who it is; raises :class:`PeerError` when no valid hello comes in time."""
        if self._hello is None:
            with self._busy:
                self._started()
        assert self._hello is not None
        return self._hello

    def run(
        self, op: str, given: dict[str, Any], deadline: float, *, llm_base_url: str | None = None
    ) -> Answer:
        """Ask for one operation; whatever goes wrong is charged to it, and the child started anew."""
        with self._busy:
            child = self._started()
            self._seq += 1
            request = messages.run_request(self._seq, op, given, deadline, llm_base_url)
            try:
                line = child.exchange(messages.write(request), time.monotonic() + deadline)
                seq, answer = messages.read_answer(line)
            except NoLine as problem:
                late = f" within {deadline:g} s" if problem.kind == "deadline" else ""
                return self._misbehaved(problem.kind, problem.detail + late)
            except ProtocolError as problem:
                return self._misbehaved("protocol_error", str(problem))
            if seq != self._seq:
                return self._misbehaved("wrong_seq", f"asked {self._seq}, it answered {seq}")
            return answer

    def close(self) -> None:
        """Say bye and wait a moment; or, while an operation runs elsewhere, kill the child."""
        self._closed = True
        if self._busy.acquire(blocking=False):
            try:
                if self._child is not None:
                    self._child.finish(messages.write(messages.BYE), _BYE_WITHIN)
                    self._discard()
            finally:
                self._busy.release()
        elif (child := self._child) is not None:
            child.terminate()

    def _started(self) -> Child:
        """Return the child, which has said hello."""
        if self._child is not None:
            return self._child
        if self._closed:
            raise PeerError("the peer is closed")
        self.restarts += self._hello is not None
        try:
            child = self._child = Child(self.command, cwd=self._cwd)
        except OSError as error:
            raise PeerError(
                f"the peer cannot be started: {self.command[0]}: {error.strerror}",
                remedy="Give --impl a command line as you would type it here, or python:package.module.",
            ) from error
        if self._closed:  # meanwhile, by a thread that could not see this child yet
            child.terminate()
        try:
            request = messages.write(messages.hello_request())
            line = child.exchange(request, time.monotonic() + self._hello_within)
            self._hello = self._accepted(messages.read_hello(line))
        except NoLine as problem:
            late = f" within {self._hello_within:g} s" if problem.kind == "deadline" else ""
            raise self._no_peer(problem.detail + late) from problem
        except ProtocolError as problem:
            raise self._no_peer(str(problem)) from problem
        except BaseException:
            self._discard()
            raise
        self._seq = 0
        return child

    def _accepted(self, hello: Hello) -> Hello:
        offered = ", ".join(map(str, messages.VERSIONS))
        if hello.version == 0:
            raise ProtocolError(f"it speaks none of the protocol's versions we offer ({offered})")
        if hello.version not in messages.VERSIONS:
            raise ProtocolError(f"it chose version {hello.version}, we offered {offered}")
        return hello

    def _no_peer(self, problem: str) -> PeerError:
        log = self._discard()
        told = f"\nThe end of its standard error:\n{log}" if log else ""
        return PeerError(
            f"no valid hello from the peer: {problem}\nCommand: {shlex.join(self.command)}{told}",
            remedy="See what it says by hand with: callbench conform smoke --impl …",
        )

    def _misbehaved(self, kind: Trouble, detail: str) -> Misbehaved:
        return Misbehaved(kind, detail, self._discard())

    def _discard(self) -> str:
        """Kill the child; return the end of its log."""
        child, self._child = self._child, None
        if child is None:
            return ""
        child.discard()
        return child.log
