"""Checks of a peer's plumbing: does it speak the protocol? What it computes is not looked at."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from callbench.conformance.cases import ASKING, Case, load_suite
from callbench.peer import Answer, Failed, PeerError, Result, Unsupported, messages
from callbench.peer.child import Child, NoLine
from callbench.peer.messages import ProtocolError
from callbench.peer.opening import in_process

_WITHIN = 10.0
_END_WITHIN = 5.0
_NO_OPERATION = "no.such_operation"
# What line readers split at, and JSON does not escape: only LF ends a line of the protocol.
_SEPARATORS = "a\u2028b\u2029c\u0085d\u000be\u00e9\U0001f600"


@dataclass(frozen=True, slots=True)
class Check:
    """One check. ``passed`` is None when there was nothing to check; ``found`` says what came."""

    name: str
    passed: bool | None
    found: str = ""
    remedy: str = ""


class _Wrong(Exception):
    """What a check found wrong."""


class _Nothing(Exception):
    """There is nothing to check here."""


def smoke_test(impl: str, *, within: float = _WITHIN) -> Iterator[Check]:
    """Check the peer that ``impl`` names, one thing after another; ends when nothing answers at all.

    ``within`` is how many seconds it has for each answer. Raises :class:`callbench.peer.PeerError`
    when it cannot be started.
    """
    plumbing = _Plumbing(_command(impl), load_suite(), within)
    try:
        yield from _smoke(plumbing)
    finally:
        plumbing.close()


def _command(impl: str) -> Sequence[str]:
    if in_process(impl):
        module = impl.partition(":")[2]
        return (sys.executable, "-m", "callbench.peer.serving", module)
    try:
        command = shlex.split(impl)
    except ValueError as error:
        raise PeerError(f"--impl {impl}: {error}", remedy="Quote it as for a shell.") from error
    if not command:
        raise PeerError("--impl is empty.", remedy="Give the command line of your peer.")
    return command


def _smoke(plumbing: _Plumbing) -> Iterator[Check]:
    for name, check, remedy in (
        (
            "it starts and says hello",
            plumbing.hello,
            'On {"cmd": "hello"} write one line: cmd, version, name, language, release, operations. '
            "End it with LF, flush, and print nothing else on standard output.",
        ),
        (
            "hello has the members of the protocol and no others",
            plumbing.strict_hello,
            "Leave the others out: strict in writing.",
        ),
        (
            "it chooses its version among several, and ignores members it does not know",
            plumbing.lenient_hello,
            'Look for your version in "versions", answer with it, and read no more than you need.',
        ),
        (
            'it says "version": 0 and ends when it speaks none of the versions',
            plumbing.no_version,
            'Answer {"cmd": "hello", "version": 0} and end with exit code 0.',
        ),
        (
            "an operation it does not know is unsupported",
            plumbing.unknown_operation,
            'Answer {"cmd": "unsupported", "seq": …} with the seq of the request.',
        ),
        (
            "an operation it lists is answered",
            plumbing.known_operation,
            "Answer with result, error or unsupported, and the seq of the request.",
        ),
        (
            "an error is a word of the contract",
            plumbing.error,
            "Map your language's exceptions to the kinds of PROTOCOL.md; go on afterwards.",
        ),
        (
            "unknown members of a request are ignored, in any order",
            plumbing.lenient_run,
            "Read the members by name; ignore what you do not know.",
        ),
        (
            "only LF ends a line, and text is UTF-8",
            plumbing.separators,
            "Split the input at the byte 0x0A alone: U+2028 and U+0085 may stand inside a string, "
            "and some line readers split there. Decode each line as UTF-8.",
        ),
        (
            "a line of a megabyte is read",
            plumbing.long_line,
            "Read whole lines, whatever their length.",
        ),
        (
            "requests that come together are answered in order",
            plumbing.pipelined,
            "Answer in the order in which you were asked, one line for each request.",
        ),
        (
            "it ends with exit code 0 on bye",
            plumbing.bye,
            "End the process on bye, without an answer.",
        ),
        (
            "it ends with exit code 0 when standard input ends",
            plumbing.end_of_input,
            "Leave the loop at the end of the input, and end.",
        ),
    ):
        done = plumbing.checked(name, check, remedy)
        yield done
        if check == plumbing.hello and not done.passed:
            return


class _Plumbing:
    """The checks. They share one child, as cases do, until one of them goes wrong."""

    def __init__(self, command: Sequence[str], suite: Sequence[Case], within: float) -> None:
        self._command = command
        self._suite = suite
        self._within = within
        self._operations: frozenset[str] = frozenset()
        self._child: Child | None = None
        self._hello_line = b""
        self._seq = 0

    def checked(self, name: str, check: Callable[[], str | None], remedy: str) -> Check:
        """Do one check and say what came of it."""
        try:
            return Check(name, True, check() or "")
        except _Nothing as nothing:
            return Check(name, None, str(nothing))
        except (_Wrong, ProtocolError) as wrong:
            found = str(wrong)
        except NoLine as wrong:
            found = wrong.detail
            if wrong.kind == "deadline":
                found += f" within {self._within:g} s"
        self.close()
        return Check(name, False, found, remedy)

    def close(self) -> None:
        """End the child; the next check starts another."""
        if self._child is not None:
            self._child.discard()
        self._child = None

    def hello(self) -> str:
        self._running()
        hello = messages.read_hello(self._hello_line)
        if hello.version not in messages.VERSIONS:
            raise _Wrong(f"version {hello.version}, offered {list(messages.VERSIONS)}")
        self._operations = hello.operations
        return (
            f"{hello.name} {hello.release} ({hello.language}), {len(hello.operations)} operations"
        )

    def strict_hello(self) -> None:
        if surplus := messages.surplus(messages.read(self._hello_line)):
            raise _Wrong(f"it also has {', '.join(surplus)}")
        known = {case.op for case in self._suite} | ASKING
        if strange := sorted(self._operations - known):
            raise _Wrong(f"operations the contract does not know: {', '.join(strange)}")

    def lenient_hello(self) -> None:
        request = {"new": {"a": [1]}, "versions": [1, 999], "harness": "x", "cmd": "hello"}
        with self._another() as child:
            hello = messages.read_hello(self._exchange(child, request))
        if hello.version not in messages.VERSIONS:
            raise _Wrong(f"offered 1 and 999, it chose {hello.version}")

    def no_version(self) -> None:
        with self._another() as child:
            request = {**messages.hello_request(), "versions": [999]}
            hello = messages.read_hello(self._exchange(child, request))
            if hello.version != 0:
                raise _Wrong(f"offered 999 alone, it chose {hello.version}")
            _ends(child.finish(b"", _END_WITHIN))

    def unknown_operation(self) -> None:
        _is_unsupported(self._run(_NO_OPERATION, {}))

    def known_operation(self) -> str:
        case = self._case(lambda case: True)
        answer = self._run(case.op, case.given)
        if isinstance(answer, Failed) and answer.kind == "internal":
            raise _Wrong(f"{case.op}: internal: {answer.message}")
        return case.op

    def error(self) -> str:
        case = self._case(lambda case: bool(case.error))
        first = self._run(case.op, case.given)
        if not isinstance(first, Failed):
            raise _Wrong(f"{case.id} expects the error {case.error}; it gave {first}")
        _is_unsupported(self._run(_NO_OPERATION, {}))
        return f"{case.op}: {first.kind}"

    def lenient_run(self) -> None:
        request = self._request(_NO_OPERATION, {})
        request = {"new": None, **dict(reversed(request.items())), "more": {}}
        _is_unsupported(self._answers([request])[0])

    def separators(self) -> None:
        _is_unsupported(self._run(_NO_OPERATION, {"text": _SEPARATORS}))
        if "pointer.split" in self._operations:
            answer = self._run("pointer.split", {"pointer": f"/{_SEPARATORS}"})
            if answer != Result([_SEPARATORS]):
                raise _Wrong(f"the text came back as {answer}")

    def long_line(self) -> None:
        _is_unsupported(self._run(_NO_OPERATION, {"text": "x" * 2**20}))

    def pipelined(self) -> None:
        for answer in self._answers([self._request(_NO_OPERATION, {}) for _ in range(5)]):
            _is_unsupported(answer)

    def bye(self) -> None:
        _ends(self._running().finish(messages.write(messages.BYE), _END_WITHIN))
        self.close()

    def end_of_input(self) -> None:
        _ends(self._running().finish(b"", _END_WITHIN))

    def _case(self, fits: Callable[[Case], bool]) -> Case:
        for case in self._suite:
            if case.op in self._operations - ASKING and not case.extension and fits(case):
                return case
        raise _Nothing("it lists no operation that could be asked")

    def _run(self, op: str, given: dict[str, Any]) -> Answer:
        return self._answers([self._request(op, given)])[0]

    def _request(self, op: str, given: dict[str, Any]) -> dict[str, Any]:
        self._seq += 1
        return messages.run_request(self._seq, op, given, self._within, None)

    def _answers(self, requests: Sequence[dict[str, Any]]) -> list[Answer]:
        """Send the requests at once and read an answer to each."""
        child = self._running()
        unsent = b"".join(messages.write(request) for request in requests)
        answers = []
        for request in requests:
            line = self._exchange(child, unsent)
            unsent = b""
            seq, answer = messages.read_answer(line)
            if seq != request["seq"]:
                raise _Wrong(f"asked {request['seq']}, it answered {seq}")
            if surplus := messages.surplus(messages.read(line)):
                raise _Wrong(f"the answer also has {', '.join(surplus)}")
            answers.append(answer)
        return answers

    def _running(self) -> Child:
        if self._child is None:
            self._child = self._start()
            self._hello_line = self._exchange(self._child, messages.hello_request())
        return self._child

    @contextmanager
    def _another(self) -> Iterator[Child]:
        child = self._start()
        try:
            yield child
        finally:
            child.discard()

    def _start(self) -> Child:
        try:
            return Child(self._command)
        except OSError as error:
            raise PeerError(
                f"the peer cannot be started: {self._command[0]}: {error.strerror}",
                remedy="Give --impl a command line as you would type it here.",
            ) from error

    def _exchange(self, child: Child, message: dict[str, Any] | bytes) -> bytes:
        line = message if isinstance(message, bytes) else messages.write(message)
        return child.exchange(line, time.monotonic() + self._within)


def _is_unsupported(answer: Answer) -> None:
    if not isinstance(answer, Unsupported):
        raise _Wrong(f"not unsupported, but {answer}")


def _ends(code: int | None) -> None:
    if code is None:
        raise _Wrong(f"it did not end within {_END_WITHIN:g} s")
    if code != 0:
        raise _Wrong(f"exit code {code}")
