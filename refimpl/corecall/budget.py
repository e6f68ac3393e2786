"""What one rendering of a prompt may use: steps, characters, integers of a size.

A template can ask for more than any machine has in a few characters (``"x" * 10**9``, two nested
loops). So everything that can grow is charged to the :class:`Budget` of the rendering *before* it is
made, and one that asks for too much ends with a :class:`LimitError` that names the limit.
:mod:`corecall.sandbox` is where the charging happens.

Contract: llm.limit.1, llm.limit.2, llm.limit.3, llm.limit.4, llm.limit.5.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from itertools import islice
from typing import Any

MAX_STEPS = 200_000
"""Turns of loops in one rendering; a long body counts more than once, and a call several times."""

MAX_CHARACTERS = 10_000_000
"""Characters (and items of lists) in everything made in one rendering, its output included."""

MAX_INTEGER_BITS = 14_000
"""Largest integer an operator may make: about 4,200 digits."""

MAX_DEPTH = 250
"""Deepest nesting of a value that is compared, filtered or written out."""

_READ_AT_ONCE = 16
"""So many characters of a text that is only looked at cost as much as one that is made."""

_ITEM_READ = 2
_CONTAINER_READ = 8
"""A look at an item, and at a container of them, takes as long as making so many characters."""

_WRITTEN_AT_ONCE = 32
_SCALARS = frozenset({str, int, float, bool, type(None)})
_CONTAINERS: tuple[type, ...] = (
    list,
    tuple,
    dict,
    type({}.keys()),
    type({}.values()),
    type({}.items()),
)
_SIZED: tuple[type[Any], ...] = (*_CONTAINERS, str, range)
_PRINTF = re.compile(r"%(?:\([^()]*\))?[#0\- +]*([0-9]*)(?:\.([0-9]*))?[hlL]?([a-zA-Z%])", re.ASCII)
_LONGEST_ESCAPE = 10
"""Characters that ``ascii()`` may write for one."""


_TOO_LARGE = "it makes an integer of more than 4,200 digits"


class LimitError(Exception):
    """A rendering asked for more than a prompt may use; the message names the limit."""


class Budget:
    """What is left of one rendering's steps and characters."""

    __slots__ = ("_characters", "_steps")

    def __init__(self) -> None:
        self._steps = MAX_STEPS
        self._characters = MAX_CHARACTERS

    def step(self, count: int) -> None:
        """Charge turns of a loop, or calls."""
        self._steps -= count
        if self._steps < 0:
            raise LimitError(f"it takes more than {MAX_STEPS:,} steps")

    def make(self, length: int) -> None:
        """Charge characters or items that are about to be made."""
        self._characters -= length
        if self._characters < 0:
            raise LimitError(f"it makes more than {MAX_CHARACTERS:,} characters")

    def made(self, value: Any) -> Any:
        """Charge a text or a container that no one could measure before it was made."""
        if isinstance(value, int) and value.bit_length() > MAX_INTEGER_BITS:
            raise LimitError(_TOO_LARGE)
        if isinstance(value, (str, list, tuple, dict)):
            self.make(len(value))
        return value

    def read(self, value: Any) -> Any:
        """Charge a look at all of ``value``; return it, counting its items if it is an iterator."""
        if isinstance(value, str):
            self.make(len(value) // _READ_AT_ONCE)
        elif isinstance(value, _CONTAINERS):
            self._walk(value)
        elif isinstance(value, Iterator):
            return self._counted(value, 1)
        return value

    def turns(self, value: Any, weight: int) -> Any:
        """Charge ``weight`` steps for each item of what a loop goes through; return it."""
        if isinstance(value, _SIZED):
            self.step(len(value) * weight)
            return value
        return self._counted(value, weight)

    def text(self, value: Any) -> str:
        """Return ``value`` as text, charging for one that was not text yet."""
        if isinstance(value, str):
            return value
        text: str = str(self.read(value))
        self.make(len(text))
        return text

    def joined(self, pieces: Iterable[str]) -> str:
        """Return the pieces as one text, taking few at a time so that too many are never held."""
        source = iter(pieces)
        kept: list[str] = []
        while True:
            batch = list(islice(source, _WRITTEN_AT_ONCE))
            self.make(sum(map(len, batch)))
            kept += batch
            if len(batch) < _WRITTEN_AT_ONCE:
                return "".join(kept)

    def _counted(self, values: Iterable[Any], weight: int) -> Iterator[Any]:
        for value in values:
            self.step(weight)
            yield value

    def _walk(self, container: Any) -> None:
        level: list[Any] = [container]
        for _ in range(MAX_DEPTH):
            self.make(_ITEM_READ * sum(map(len, level)) + _CONTAINER_READ * len(level))
            length = 0
            deeper: list[Any] = []
            for found in level:
                for child in found.values() if isinstance(found, dict) else found:
                    if isinstance(child, str):
                        length += len(child)
                    elif type(child) not in _SCALARS and isinstance(child, _CONTAINERS):
                        deeper.append(child)
            self.make(length // _READ_AT_ONCE)
            if not deeper:
                return
            level = deeper
        raise LimitError(f"a value nests deeper than {MAX_DEPTH}")

    # -- what operators and formats ask for ------------------------------------------------------

    def operation(self, operator: str, left: Any, right: Any) -> None:
        """Charge what ``left operator right`` would make."""
        if operator == "%":
            if isinstance(left, str):
                self.printf(left, right)
        elif operator == "+":
            if isinstance(left, (str, list, tuple)) and isinstance(right, (str, list, tuple)):
                self.make(len(left) + len(right))
        elif isinstance(left, int) and isinstance(right, int):
            grown = (
                left.bit_length() - 1
            )  # the result has more bits than this, but not twice as many
            grown = grown * right if operator == "**" else grown + right.bit_length() - 1
            if grown >= MAX_INTEGER_BITS:
                raise LimitError(_TOO_LARGE)
        elif operator == "*":
            for many, times in ((left, right), (right, left)):
                if isinstance(many, (str, list, tuple)) and isinstance(times, int):
                    self.make(len(many) * max(times, 0))

    def printf(self, template: str, values: Any) -> None:
        """Charge what ``template % values`` would make."""
        fields = list(_PRINTF.finditer(template))
        if "%" in _PRINTF.sub("", template):
            raise LimitError(f"the format {template[:80]!r} has a field that cannot be measured")
        width = sum(int(number) for field in fields for number in field.groups()[:2] if number)
        escaped = any(field[3] in "ar" for field in fields)
        self._formatted(template, len(fields), width, values, escaped=escaped)

    def braces(self, template: str, values: Any) -> None:
        """Charge what ``template.format(…)`` would make of ``values``, all its arguments."""
        width = 0
        escaped = False
        fields = 0
        for _, name, spec, conversion in string.Formatter().parse(template):
            if name is None:
                continue
            fields += 1
            escaped = escaped or conversion in ("a", "r")
            if spec and "{" in spec:
                raise LimitError(
                    f"the format {template[:80]!r} has a field that cannot be measured"
                )
            width += sum(int(number) for number in re.findall("[0-9]+", spec or ""))
        self._formatted(template, fields, width, values, escaped=escaped)

    def _formatted(
        self, template: str, fields: int, width: int, values: Any, *, escaped: bool
    ) -> None:
        self.make(len(template) + width)
        if not isinstance(values, tuple):
            values = (values,)
        longest = max((len(self.text(value)) for value in values), default=0)
        self.make(fields * longest * (_LONGEST_ESCAPE if escaped else 1))


BUDGET: ContextVar[Budget] = ContextVar("BUDGET")
"""The budget of the rendering that goes on; there is none while a template is compiled."""
