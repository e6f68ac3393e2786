"""Where in a file each recording that counts lies, to read them in any order.

Kept for each: key, case, ordinal, turns and where its line is; bodies stay on disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from callbench.cassette import jsontext
from callbench.cassette.hygiene.reading import Line, Reader
from callbench.cassette.interaction import Interaction


@dataclass(frozen=True, slots=True)
class Place:
    """One recording: what finds it, its messages counted, its model and date, its line."""

    key: str
    case: str
    ordinal: int
    turns: int
    model: str
    recorded_at: str
    line: int
    offset: int
    size: int

    @property
    def identity(self) -> tuple[str, str, int]:
        """What no two recordings that count share."""
        return self.key, self.case, self.ordinal


class Places:
    """The recordings of one file that count, in its order; a later line supersedes an earlier one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._reader = Reader(path)
        self._file = path.open("rb")
        found: dict[tuple[str, str, int], Place] = {}
        for line in self._reader:
            if line.kind == "interaction":
                place = _place(line)
                found[place.identity] = place
        self._places = tuple(found.values())

    @property
    def header(self) -> dict[str, Any]:
        """The header line."""
        return self._reader.header

    @property
    def cut(self) -> bool:
        """Whether the last line was cut, and so is not among the recordings."""
        return self._reader.cut is not None

    def __iter__(self) -> Iterator[Place]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._reader.__exit__(exc_type, exc, traceback)
        self._file.close()

    def read(self, place: Place) -> Interaction:
        """The recording at a place."""
        self._file.seek(place.offset)
        raw = self._file.read(place.size)
        line = Line(place.line, raw, jsontext.loads(raw), "interaction", place.offset)
        return self._reader.interaction(line)


def _place(line: Line) -> Place:
    value = line.value
    body = value["request"].get("json")
    body = body if isinstance(body, dict) else {}
    messages, model = body.get("messages"), body.get("model")
    return Place(
        value["key"],
        value["case"],
        value["ordinal"],
        len(messages) if isinstance(messages, list) else 0,
        model if isinstance(model, str) else "",
        str(value.get("recorded_at") or ""),
        line.number,
        line.offset,
        len(line.raw),
    )
