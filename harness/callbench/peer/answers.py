"""What a peer says of itself, and the four ways in which it can answer. All of it is frozen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Trouble = Literal["deadline", "crash", "protocol_error", "wrong_seq"]

INTERNAL = "internal"
"""The kind of an error that is a fault of the peer itself; no case expects it."""


@dataclass(frozen=True, slots=True)
class Hello:
    """Who a peer is, and the operations it implements."""

    name: str
    language: str
    release: str
    operations: frozenset[str]
    version: int = 1


@dataclass(frozen=True, slots=True)
class Result:
    """The operation gave ``value``: plain JSON values, and bytes; ``None`` is one of them."""

    value: Any


@dataclass(frozen=True, slots=True)
class Failed:
    """The operation failed with an error of this ``kind``, a word of the contract."""

    kind: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Unsupported:
    """The peer does not implement this operation, or declines this input of it."""


@dataclass(frozen=True, slots=True)
class Misbehaved:
    """The peer gave no answer: too late, ended, or not what the protocol says.

    ``log`` is the end of what it wrote to standard error.
    """

    kind: Trouble
    detail: str
    log: str = ""


Answer: TypeAlias = Result | Failed | Unsupported | Misbehaved
