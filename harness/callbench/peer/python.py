"""A peer that is a Python module of this process: fast, and as fragile as what it runs."""

from __future__ import annotations

import importlib
import platform
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

from callbench.peer.answers import INTERNAL, Answer, Failed, Hello, Misbehaved, Result, Unsupported
from callbench.peer.errors import PeerError
from callbench.peer.values import decode, encode

Operation = Callable[[dict[str, Any]], Any]

UNSUPPORTED = "unsupported"
"""What ``error_kind`` gives for an error that declines an input."""

_BUILTIN: tuple[tuple[type[Exception], str], ...] = (
    (ValueError, "value_error"),
    (TypeError, "type_error"),
    (KeyError, "key_error"),
    (NotImplementedError, "not_implemented"),
)


class PythonPeer:
    """The operations of a module.

    The module has ``OPERATIONS``, a dict of functions that take the operation's input and return its
    result, and may have ``error_kind(error)``, which gives the contract's word for what they raise:
    None for a fault of its own, ``"unsupported"`` for an input it declines. Without it, Python's own
    errors are named as the contract names them. ``llm_base_url`` stands in the input.

    The deadline is kept by a timer in the main thread; in other threads it is only looked at when
    the operation is done. Raises :class:`PeerError` for a module that is none or cannot be imported.
    """

    def __init__(self, module: str) -> None:
        found = _imported(module)
        operations = getattr(found, "OPERATIONS", None)
        if not isinstance(operations, Mapping):
            raise PeerError(
                f"--impl python:{module}: the module has no OPERATIONS.",
                remedy='A peer in Python has OPERATIONS = {"slot.check": function, …}.',
            )
        self._operations: Mapping[str, Operation] = operations
        self._kind_of = getattr(found, "error_kind", builtin_kind)
        release = str(getattr(found, "RELEASE", ""))
        language = f"python {platform.python_version()}"
        self.hello = Hello(module, language, release, frozenset(operations))

    def run(
        self, op: str, given: dict[str, Any], deadline: float, *, llm_base_url: str | None = None
    ) -> Answer:
        """Do one operation in this thread."""
        copied: dict[str, Any] = _copied(given)
        if llm_base_url is not None:
            copied["llm_base_url"] = llm_base_url
        began = time.monotonic()
        try:
            with _alarm(deadline):
                answer = perform(self._operations, self._kind_of, op, copied)
        except _Late:
            return Misbehaved("deadline", f"no answer within {deadline:g} s")
        if time.monotonic() - began > deadline:
            return Misbehaved("deadline", f"no answer within {deadline:g} s")
        return answer

    def close(self) -> None:
        """Nothing to end."""


def perform(
    operations: Mapping[str, Operation],
    kind_of: Callable[[Exception], str | None],
    op: str,
    given: dict[str, Any],
) -> Answer:
    """Do one operation of a module, and say in the protocol's words what came of it."""
    operation = operations.get(op)
    if operation is None:
        return Unsupported()
    try:
        value = operation(given)
    except SystemExit as error:
        return Misbehaved("crash", f"SystemExit: {error}")
    except Exception as error:  # noqa: BLE001 - whatever an implementation raises is its answer
        kind = kind_of(error)
        if kind == UNSUPPORTED:
            return Unsupported()
        return Failed(kind or INTERNAL, f"{type(error).__name__}: {error}")
    try:
        return Result(decode(encode(value)))
    except (ValueError, RecursionError) as error:
        return Misbehaved("protocol_error", f"a result that is no JSON value: {error}")


def _copied(value: Any) -> Any:
    """Copy JSON values; one frame for each level, unlike ``copy.deepcopy``."""
    if isinstance(value, dict):
        members = {}
        for name, member in value.items():
            members[name] = _copied(member)
        return members
    if isinstance(value, list):
        items = []
        for item in value:
            items.append(_copied(item))
        return items
    return value


def builtin_kind(error: Exception) -> str | None:
    """Return the contract's word for an error of Python's own."""
    return next((kind for cls, kind in _BUILTIN if isinstance(error, cls)), None)


class _Late(BaseException):
    """The timer rang. No Exception: what is under test may catch all of those."""


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise _Late

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _imported(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise PeerError(
            f"--impl python:{name}: {error}",
            remedy="Name a module that can be imported from here (try PYTHONPATH=.).",
        ) from error
    except (Exception, SystemExit) as error:
        what = f"{type(error).__name__}: {error}"
        raise PeerError(f"--impl python:{name}: importing it failed: {what}") from error
