"""Where a wrong value came from: nowhere in the case, or from the wrong place in it.

Texts are compared folded and on borders of words, numbers by value (TRAPS D8), see
:mod:`callbench.dataset.evidence`. A date reckoned from "tomorrow" therefore comes from nowhere, as
does anything else that is not written there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from callbench.dataset.case import Case
from callbench.dataset.evidence import holds, texts
from callbench.dataset.slots import Path, flatten

_WORDED = ("title", "description", "enum", "const", "default", "examples", "example")
_BORDER = "\n\ue000\n"


class Places:
    """What is written in one case, gathered when the first wrong value asks for it."""

    __slots__ = ("_case", "_expected", "_written")

    def __init__(self, case: Case) -> None:
        self._case = case
        self._written = _BORDER.join(_written(case))
        self._expected = {
            path: _BORDER.join(map(str, _scalars(value)))
            for path, value in flatten(case.expected).items()
        }

    def origin(self, path: Path, value: Any) -> str:
        """Return ``elsewhere`` or ``nowhere``; empty where that cannot be told.

        ``elsewhere`` is anything the model is told, the tool's texts and enums among it, and what is
        expected of another slot. Of a list or an object every part must be found. That of ``true``,
        ``null``, empty text and empty containers cannot be told.
        """
        parts = list(_scalars(value))
        if not parts:
            return ""
        others = _BORDER.join(text for place, text in self._expected.items() if place != path)
        found = all(holds(self._written, part) or holds(others, part) for part in parts)
        return "elsewhere" if found else "nowhere"


def _written(case: Case) -> Iterator[str]:
    for _, text in texts(case):
        yield text
    yield case.tool.name
    yield case.tool.description
    yield from _worded(case.schema)


def _worded(schema: Any) -> Iterator[str]:
    """Yield the texts and numbers of a schema that say what to fill in."""
    if isinstance(schema, list):
        for item in schema:
            yield from _worded(item)
    elif isinstance(schema, dict):
        for word, value in schema.items():
            if word in _WORDED:
                yield from map(str, _scalars(value))
            if isinstance(value, dict | list):
                yield from _worded(value)


def _scalars(value: Any) -> Iterator[str | int | float]:
    if isinstance(value, dict):
        for member in value.values():
            yield from _scalars(member)
    elif isinstance(value, list):
        for item in value:
            yield from _scalars(item)
    elif isinstance(value, str | int | float) and not isinstance(value, bool) and value != "":
        yield value
