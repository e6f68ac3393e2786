"""What a kind of fault is: a name, a line of documentation, parameters, and what it does to an answer."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from callbench.cassette.faults.answer import Answer
from callbench.cassette.interaction import Interaction, Response

Params = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter: its value when left out, and what it may be: ``kinds`` of value, or ``choices``."""

    default: Any
    kinds: tuple[type, ...] = ()
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None

    def problem(self, value: Any) -> str:
        """Why ``value`` cannot be given, ``""`` if it can."""
        if self.choices:
            return "" if value in self.choices else f"must be one of {', '.join(self.choices)}"
        if type(value) not in self.kinds:
            return f"must be {' or '.join(_NAMES[kind] for kind in self.kinds)}"
        # Said so that what is no number (nan) is refused too.
        if self.least is not None and not value >= self.least:
            return f"must be at least {self.least:g}"
        if self.most is not None and not value <= self.most:
            return f"must be at most {self.most:g}"
        return ""


_NAMES: dict[type, str] = {int: "an integer", float: "a number", bool: "true or false", str: "text"}


class Draw:
    """Numbers that depend on nothing but the words they are made from: the same in any order of work."""

    def __init__(self, *words: object) -> None:
        self._digest = hashlib.sha256("\x1f".join(map(str, words)).encode("utf-8", "replace"))

    def unit(self, purpose: str) -> float:
        """A number from 0 to under 1 for a purpose."""
        digest = self._digest.copy()
        digest.update(b"\x1f" + purpose.encode())
        return int.from_bytes(digest.digest()[:7], "big") / 2**56

    def below(self, count: int, purpose: str) -> int:
        """An integer from 0 to under ``count``."""
        return int(self.unit(purpose) * count)


@dataclass(frozen=True, slots=True)
class Target:
    """The recorded answer a fault is laid over."""

    interaction: Interaction
    streamed: bool
    answer: Answer | None

    @property
    def response(self) -> Response:
        """The response as recorded."""
        return self.interaction.response


@dataclass(frozen=True, slots=True)
class Faulted:
    """An answer with its fault.

    ``waits`` maps the number of an event to the seconds to wait before it (the number of events: before the
    end); infinity is a stall. ``refused``: the connection ends before a response, as ``response.error`` says.
    ``lost``: what the answer gave is no longer in it, see :func:`callbench.cassette.faults.answer.lost`.
    """

    response: Response
    waits: Mapping[int, float] = field(default_factory=dict)
    refused: bool = False
    lost: bool = False

    @property
    def again(self) -> bool:
        """Whether a client may ask the same again and have another answer."""
        return self.refused or self.response.status >= 400


Apply = Callable[[Target, Params, Draw], Faulted | None]
"""Lays a fault over an answer; ``None`` when it cannot be: there is no such place in this answer."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of fault. ``attempts``: a client may ask again, so that ``times`` counts failing attempts."""

    name: str
    text: str
    apply: Apply
    params: Mapping[str, Param] = field(default_factory=dict)
    attempts: bool = False
    rewrites: bool = False
    """Whether the answer itself is changed, so that what is asked next may differ from what was recorded."""
