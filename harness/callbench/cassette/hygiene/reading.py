"""A cassette file line by line, as it is: also what the index passes over, such as superseded lines.

Memory does not grow with the recordings: of shared texts only the places are kept.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Literal, Self

from callbench.cassette import format as lines
from callbench.cassette import jsontext
from callbench.cassette.coding import FormatError
from callbench.cassette.interaction import Interaction
from callbench.errors import CassetteError

_BOM = b"\xef\xbb\xbf"
_KEPT_TEXTS = 512
_REFERENCE = re.compile("⟦([0-9a-f]+)⟧")


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its number from 1, its bytes, its JSON value, what it is, and where it begins."""

    number: int
    raw: bytes
    value: dict[str, Any]
    kind: Literal["header", "text", "interaction"]
    offset: int


class Reader:
    """The lines of one file; a context manager. ``cut`` tells of a last line that was not finished."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.header: dict[str, Any] = {}
        self.cut: int | None = None
        """The number of a last line that was cut while it was written; it is left out."""
        self.number = 0
        """The number of the line that was read last."""
        self.late: set[str] = set()
        """Texts that stand only after an interaction that refers to them."""
        self._texts: dict[str, tuple[int, int]] = {}
        self._cache: OrderedDict[str, str] = OrderedDict()
        self._seen: set[str] = set()
        self._searched = False
        try:
            self._file: BinaryIO = self.path.open("rb")
        except FileNotFoundError:
            raise CassetteError(f"{self.path} does not exist.") from None
        except OSError as error:
            raise CassetteError(f"{self.path} cannot be read: {error.strerror}.") from error
        self._texts_file: BinaryIO = self.path.open("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()
        self._texts_file.close()

    def __iter__(self) -> Iterator[Line]:
        """All lines. Raises ``CassetteError`` naming file and line of one that cannot be read."""
        offset = 0
        self._file.seek(0)
        for number, raw in enumerate(self._file, 1):
            self.number = number
            text = raw.removeprefix(_BOM) if offset == 0 else raw
            if not text.isspace():
                try:
                    value = jsontext.loads(text)
                except ValueError as error:
                    if not raw.endswith(b"\n"):
                        self.cut = number
                        return
                    raise self.broken(number, f"not JSON: {error}") from error
                try:
                    yield self._line(value, raw, number, offset)
                except FormatError as error:
                    raise self.broken(number, str(error)) from error
            offset += len(raw)

    def interactions(self) -> Iterator[tuple[Line, Interaction]]:
        """All recordings with their lines. Raises ``CassetteError`` as iteration does."""
        for line in self:
            if line.kind == "interaction":
                yield line, self.interaction(line)

    def interaction(self, line: Line) -> Interaction:
        """The recording of a line. Raises ``CassetteError`` for one that cannot be read."""
        try:
            return lines.decode_interaction(line.value, self._text)
        except FormatError as error:
            raise self.broken(line.number, str(error)) from error

    def broken(self, number: int, reason: str) -> CassetteError:
        """The error for a line that cannot be read."""
        return CassetteError(
            f"{self.path}, line {number}: {reason}.",
            remedy="Restore the file from version control, or delete that line and record again.",
        )

    def _line(self, value: Any, raw: bytes, number: int, offset: int) -> Line:
        if not isinstance(value, dict):
            raise FormatError("a line must be a JSON object")
        if not self.header:
            lines.check_header(value)
            self.header = value
            return Line(number, raw, value, "header", offset)
        if "text" in value:
            identifier, _, _ = lines.check_text(value)
            self._texts.setdefault(identifier, (offset, len(raw)))
            self._seen.add(identifier)
            return Line(number, raw, value, "text", offset)
        lines.check_interaction(value)
        return Line(number, raw, value, "interaction", offset)

    def _text(self, identifier: str) -> str:
        if identifier not in self._seen and identifier in self._texts:
            self.late.add(identifier)
        if identifier in self._cache:
            self._cache.move_to_end(identifier)
            return self._cache[identifier]
        if identifier not in self._texts:
            self._search()
            self.late.update({identifier} & self._texts.keys())
        place = self._texts.get(identifier)
        if place is None:
            raise FormatError(f"it refers to the text {identifier!r}, which no line holds")
        self._texts_file.seek(place[0])
        text = str(jsontext.loads(self._texts_file.read(place[1]))["value"])
        self._cache[identifier] = text
        if len(self._cache) > _KEPT_TEXTS:
            self._cache.popitem(last=False)
        return text

    def _search(self) -> None:
        """Look for texts in the whole file, once: the format has them first, readers do not insist."""
        if self._searched:
            return
        self._searched = True
        offset = 0
        with self.path.open("rb") as file:
            for raw in file:
                try:
                    value = jsontext.loads(raw)
                except ValueError:
                    value = None
                if isinstance(value, dict) and "value" in value and "text" in value:
                    identifier = str(value["text"])
                    self._texts.setdefault(identifier, (offset, len(raw)))
                offset += len(raw)


def references(value: Any) -> Iterator[str]:
    """The ids of shared texts that an encoded request refers to; ask before it is decoded."""
    if isinstance(value, str):
        yield from _REFERENCE.findall(value)
    elif isinstance(value, dict):
        for member in value.values():
            yield from references(member)
    elif isinstance(value, list):
        for member in value:
            yield from references(member)
