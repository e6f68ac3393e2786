"""Where a wrong value came from: nowhere in the case, or from the wrong place in it.

Texts are compared folded and on borders of words, numbers by value (TRAPS D8), see
:mod:`callbench.dataset.evidence`. A date reckoned from "tomorrow" therefore comes from nowhere, as
does anything else that is not written there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from callbench.dataset.case import Case
from callbench.dataset.evidence import Sought, Written, scalars, texts
from callbench.dataset.slots import Path, flatten
from callbench.dataset.tooling import tooling


class Places:
    """What is written in one case, gathered when the first wrong value asks for it."""

    __slots__ = ("_all_expected", "_expected", "_tool", "_written")

    def __init__(self, case: Case) -> None:
        self._written = Written.of(_written(case))
        self._tool = tooling(case.schema).written
        texts_at = {
            path: list(map(str, scalars(value))) for path, value in flatten(case.expected).items()
        }
        self._expected = {path: Written.of(told) for path, told in texts_at.items()}
        self._all_expected = Written.of(text for told in texts_at.values() for text in told)

    def origin(self, path: Path, value: Any) -> str:
        """Return ``elsewhere`` or ``nowhere``; empty where that cannot be told.

        ``elsewhere`` is anything the model is told, the tool's texts and enums among it, and what is
        expected of another slot. Of a list or an object every part must be found. That of ``true``,
        ``null``, empty text and empty containers cannot be told.
        """
        parts = [Sought.of(part) for part in scalars(value)]
        if not parts:
            return ""
        return "elsewhere" if all(self._found(path, part) for part in parts) else "nowhere"

    def _found(self, path: Path, part: Sought) -> bool:
        if self._written.holds(part) or self._tool.holds(part):
            return True
        return self._all_expected.holds(part) and any(
            text.holds(part) for place, text in self._expected.items() if place != path
        )


def _written(case: Case) -> Iterator[str]:
    for _, text in texts(case):
        yield text
    yield case.tool.name
    yield case.tool.description
