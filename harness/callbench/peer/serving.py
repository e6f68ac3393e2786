"""The peer's side of the protocol for a Python module: ``python -m callbench.peer.serving MODULE``."""

from __future__ import annotations

import importlib
import platform
import sys
from types import ModuleType
from typing import IO, Any

from callbench.peer import messages
from callbench.peer.answers import Hello
from callbench.peer.messages import ProtocolError
from callbench.peer.python import builtin_kind, perform
from callbench.peer.values import decode


def serve(
    module: ModuleType,
    *,
    name: str,
    release: str,
    source: IO[bytes] | None = None,
    sink: IO[bytes] | None = None,
) -> int:
    """Answer until ``bye`` or the end of ``source``; return the exit code.

    ``module`` is as :class:`callbench.peer.python.PythonPeer` describes it.
    """
    source = sys.stdin.buffer if source is None else source
    if sink is None:
        sink, sys.stdout = sys.stdout.buffer, sys.stderr  # whatever prints does not disturb us
    for line in source:
        try:
            message = messages.read(line.rstrip(b"\r\n"))
            answer = _answer(module, name, release, message)
        except ProtocolError as error:
            print(f"not understood: {error}", file=sys.stderr)
            return 1
        if answer is None:
            return 0
        sink.write(messages.write(answer))
        sink.flush()
        if answer.get("version") == 0:
            return 0
    return 0


def _answer(module: Any, name: str, release: str, message: dict[str, Any]) -> dict[str, Any] | None:
    match message:
        case {"cmd": "hello", "versions": list(versions)}:
            common = [v for v in versions if v in messages.VERSIONS]
            if not common:
                return {"cmd": "hello", "version": 0}
            language = f"python {platform.python_version()}"
            operations = frozenset(module.OPERATIONS)
            return messages.hello_answer(Hello(name, language, release, operations, max(common)))
        case {"cmd": "run", "seq": int(seq), "op": str(op), "input": dict(tagged)}:
            try:
                given = {member: decode(value) for member, value in tagged.items()}
            except ValueError as error:
                raise ProtocolError(f"input: {error}") from error
            if "llm_base_url" in message:
                given["llm_base_url"] = message["llm_base_url"]
            kind_of = getattr(module, "error_kind", builtin_kind)
            return messages.run_answer(seq, perform(module.OPERATIONS, kind_of, op, given))
        case {"cmd": "bye"}:
            return None
    raise ProtocolError(f"no message of the protocol: {messages.shown(messages.write(message))}")


if __name__ == "__main__":
    sys.exit(serve(importlib.import_module(sys.argv[1]), name=sys.argv[1], release=""))
