"""Where in a cassette file each recording and each shared text lies; bodies stay on disk.

One pass over the file builds it. Look-up takes the same time at any size.

Every line of a file up to ``PARSED_WHOLE`` bytes is parsed in that pass, so that a broken one is told at once.
Of a larger file a recording whose line is whole, and begins as this software writes it, is found by that
beginning alone: what is broken further inside is told when it is read, with the same error.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from callbench.cassette import format as lines
from callbench.cassette import jsontext
from callbench.cassette.coding import FormatError
from callbench.cassette.interaction import REPEAT_MARK, Normalizer, repeat_of
from callbench.cassette.key import request_key
from callbench.errors import CassetteError

logger = logging.getLogger("callbench.cassette")

PARSED_WHOLE = 64 * 1024 * 1024

_BOM = b"\xef\xbb\xbf"
_HEAD = re.compile(
    rb'\{"key":"([0-9a-f]{64})","case":"([^"\\\x00-\x1f]*)","ordinal":(0|[1-9][0-9]{0,8}),"request":\{'
)


@dataclass(slots=True)
class Entry:
    """One recording: what finds it, and where its line is (``offset`` and ``size`` in bytes)."""

    key: str
    case: str
    ordinal: int
    line: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class SharedText:
    """Where the line of a shared text is, and the SHA-256 of the text."""

    offset: int
    size: int
    digest: str


@dataclass(slots=True)
class Index:
    """All recordings of one file. ``end`` is the offset after its last whole line.

    With ``normalize``, keys are computed anew from the normalized requests (and shared texts kept in
    memory for it); otherwise the stored keys are taken as they are.
    """

    path: Path
    normalize: Normalizer | None = None
    header: dict[str, Any] | None = None
    texts: dict[str, SharedText] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    end: int = 0
    line: int = 0
    closed_line: bool = True
    """Whether the byte before ``end`` is a line end."""

    by_head: bool = False
    """Whether lines may have been entered by their beginning alone."""

    _values: dict[str, str] = field(default_factory=dict)
    _by_key: dict[str, list[Entry]] = field(default_factory=dict)
    _by_case: dict[tuple[str, str], list[Entry]] = field(default_factory=dict)
    _by_label: dict[str, list[Entry]] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def exact(self, key: str, case: str, ordinal: int) -> Entry | None:
        """The recording of the ``ordinal``-th such request (from 0) of this very case label."""
        recordings = self._by_case.get((key, case), ())
        if ordinal < len(recordings) and recordings[ordinal].ordinal == ordinal:
            return recordings[ordinal]
        return next((entry for entry in recordings if entry.ordinal == ordinal), None)

    def find(self, key: str, case: str, ordinal: int) -> Entry | None:
        """``exact``, or for a label that has no recording of this request: another label's.

        So a renamed case keeps its recordings (TRAPS C8), while a case that asks once more than it was
        recorded gets nothing (C7), and repeats never share an answer (C10).
        """
        if (key, case) in self._by_case:
            return self.exact(key, case, ordinal)
        recordings = self._by_key.get(_shelf(key, case), ())
        return recordings[ordinal] if ordinal < len(recordings) else None

    def of_case(self, case: str) -> list[Entry]:
        """All recordings of a label, in the order of the file."""
        return list(self._by_label.get(case, ()))

    def recorded(self, key: str, case: str) -> int:
        """How many recordings of this request ``find`` can reach for this label."""
        own = self._by_case.get((key, case))
        return len(own if own is not None else self._by_key.get(_shelf(key, case), ()))

    def add(self, entry: Entry) -> None:
        """Enter a recording; one with the same key, case and ordinal is superseded in its place."""
        known = self.exact(entry.key, entry.case, entry.ordinal)
        if known is not None:
            known.line, known.offset, known.size = entry.line, entry.offset, entry.size
            return
        self.entries.append(entry)
        self._by_key.setdefault(_shelf(entry.key, entry.case), []).append(entry)
        self._by_case.setdefault((entry.key, entry.case), []).append(entry)
        self._by_label.setdefault(entry.case, []).append(entry)

    def scan(self, file: BinaryIO) -> None:
        """Read on from ``end`` to the end of ``file``.

        A last line that was cut (no line end, not JSON) is left out with a warning: that is what a
        killed recorder leaves. Raises ``CassetteError`` for any other broken line.
        """
        file.seek(self.end)
        heads = os.fstat(file.fileno()).st_size - self.end > PARSED_WHOLE
        heads = heads and self.normalize is None
        self.by_head = self.by_head or heads
        for raw in file:
            if not (heads and self._take_head(raw)) and not self._take(raw):
                return
            self.end += len(raw)
            self.line += 1
            self.closed_line = raw.endswith(b"\n")

    def _take_head(self, raw: bytes) -> bool:
        """Enter a line by its beginning; whether that tells enough."""
        head = _HEAD.match(raw)
        if head is None or self.header is None or not raw.endswith(b"}\n"):
            return False
        key, case, ordinal = head.groups()
        try:
            label = case.decode()
        except UnicodeDecodeError:
            return False
        size = len(raw)
        self.add(Entry(key.decode(), label, int(ordinal), self.line + 1, self.end, size))
        return True

    def _take(self, raw: bytes) -> bool:
        text = raw.removeprefix(_BOM) if self.end == 0 else raw
        if text.isspace():
            return True
        try:
            value = orjson.loads(text)
        except ValueError as error:
            if not raw.endswith(b"\n"):
                logger.warning(
                    "%s: the last line (%d) was cut while it was written; it is left out",
                    self.path,
                    self.line + 1,
                )
                return False
            raise self.broken(self.line + 1, f"not JSON: {error}") from error
        try:
            self._enter(value, raw)
        except FormatError as error:
            raise self.broken(self.line + 1, str(error)) from error
        return True

    def _enter(self, value: Any, raw: bytes) -> None:
        if not isinstance(value, dict):
            raise FormatError("a line must be a JSON object")
        if self.header is None:
            lines.check_header(value)
            self.header = value
        elif "text" in value:
            identifier, text, digest = lines.check_text(value)
            self.texts[identifier] = SharedText(self.end, len(raw), digest)
            if self.normalize is not None:
                self._values[identifier] = text
        else:
            key, case, ordinal = lines.check_interaction(value)
            if self.normalize is not None:
                exact = jsontext.loads(raw)["request"]
                key = request_key(self.normalize(lines.decode_request(exact, self._value)))
            self.add(Entry(key, case, ordinal, self.line + 1, self.end, len(raw)))

    def _value(self, identifier: str) -> str:
        if identifier not in self._values:
            raise FormatError(f"no text line {identifier!r} stands before it")
        return self._values[identifier]

    def broken(self, line: int, reason: str) -> CassetteError:
        """The error for a line that cannot be read."""
        return CassetteError(
            f"{self.path}, line {line}: {reason}.",
            remedy="Restore the file from version control, or delete that line and record again with "
            "--mode record.",
        )


def _shelf(key: str, case: str) -> str:
    """Recordings of one request that may stand in for each other: those of equal repeats."""
    repeat = repeat_of(case)
    return f"{key}{REPEAT_MARK}{repeat}" if repeat else key
