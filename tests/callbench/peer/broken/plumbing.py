"""What every peer of this directory does rightly: the conversation. Each breaks one thing of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

Message = dict[str, Any]

OPERATIONS = ["history.extract", "pointer.split", "slot.check"]


def requests() -> Iterator[Message]:
    """Yield what the harness sends, to the end."""
    for line in sys.stdin.buffer:
        yield json.loads(line)


def send(message: Message) -> None:
    """Write an answer as the protocol says."""
    raw(json.dumps(message).encode() + b"\n")


def raw(data: bytes) -> None:
    """Write bytes as they are."""
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def hello(name: str) -> None:
    """Introduce this peer."""
    send(
        {
            "cmd": "hello",
            "version": 1,
            "name": name,
            "language": "python",
            "release": "0",
            "operations": OPERATIONS,
        }
    )


def right(request: Message) -> Message:
    """Return the right answer, of the only operation that these peers know: pointer.split."""
    pointer = request["input"].get("pointer", "")
    tokens = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    return {"cmd": "result", "seq": request["seq"], "value": tokens}


def converse(name: str, answer: Callable[[Message], None]) -> None:
    """Speak with the harness; ``answer`` does what a run asks for."""
    for request in requests():
        if request["cmd"] == "hello":
            hello(name)
        elif request["cmd"] == "run":
            answer(request)
        else:
            return
