"""``CassetteFile``: one file on disk and its index; reading on demand, appending under a lock.

Reading never writes. Appending writes whole lines at once, so a killed recorder leaves at most a cut last
line, which the next append takes away. Other processes may append to the file or replace it meanwhile.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import orjson

from callbench.cassette import format as lines
from callbench.cassette import jsontext
from callbench.cassette.coding import FormatError
from callbench.cassette.index import Entry, Index, SharedText
from callbench.cassette.interaction import Interaction, Normalizer, Request
from callbench.cassette.lock import exclusive
from callbench.cassette.writer import encode
from callbench.errors import CassetteError


class CassetteFile:
    """The file at ``path``; one that does not exist holds nothing. Safe to share between threads.

    Every use of the index happens inside ``reading`` or ``writing``: an entry says where its line is in
    the file that is open now.
    """

    def __init__(
        self,
        path: Path,
        *,
        models: Iterable[str],
        recorder: str,
        normalize: Normalizer | None = None,
        scrubbers: Sequence[str] = (),
    ) -> None:
        self.path = path
        self.scrubbers = tuple(scrubbers)
        self.models = tuple(models)
        self.recorder = recorder
        self.generation = 0
        """Rises whenever the index changes."""
        self._normalize = normalize
        self._lock = threading.RLock()
        self._file: BinaryIO | None = None
        self._index = Index(path, normalize)

    @contextmanager
    def reading(self) -> Iterator[Index]:
        """The index of the file, to look up and read entries in.

        Raises ``CassetteError`` naming file and line of a broken line.
        """
        with self._lock:
            if self._file is None:
                self._load()
            yield self._index

    @contextmanager
    def writing(self) -> Iterator[int]:
        """The open file, alone among all processes and with an index that is up to date."""
        with self._lock, exclusive(self.path) as descriptor:
            self._catch_up(descriptor)
            yield descriptor

    def interaction(self, entry: Entry, request: Request | None = None) -> Interaction:
        """Read a recording; a ``request`` that is known already is not read again."""
        raw = self._read(entry)
        try:
            if request is None:
                return lines.decode_interaction(jsontext.loads(raw), self._text)
            value = orjson.loads(raw)
            if self._index.by_head:
                lines.check_interaction(value)
            return lines.decode_answer(value, request)
        except FormatError as error:
            raise self._index.broken(entry.line, str(error)) from error
        except ValueError as error:
            raise self._index.broken(entry.line, f"not JSON: {error}") from error

    def append(self, interaction: Interaction) -> None:
        """Write one recording, with the texts and the header that must stand before it.

        Raises ``CassetteError`` when the disk refuses; the file is then as it was.
        """
        with self.writing() as descriptor:
            head = b"" if self._index.closed_line else b"\n"
            if self._index.header is None:
                models = self.models or filter(None, [interaction.request.model])
                head += lines.encode_header(self.recorder, models, self.scrubbers)
            self._write(descriptor, head + encode(interaction, self._digest_of).data)
            self._catch_up(descriptor)

    def release(self) -> None:
        """Close the file; the next use opens and indexes it again."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None

    def _load(self) -> None:
        self.release()
        self.generation += 1
        self._index = Index(self.path, self._normalize)
        try:
            file = self._file = self.path.open("rb")
        except FileNotFoundError:
            return
        except OSError as error:
            raise CassetteError(f"{self.path} cannot be read: {error.strerror}.") from error
        weakref.finalize(self, file.close)  # whoever only replays need not close a cassette
        self._index.scan(file)

    def _catch_up(self, descriptor: int) -> None:
        """Take in what others appended; take away a line that a killed process left cut."""
        if self._file is None or not os.path.sameopenfile(self._file.fileno(), descriptor):
            self._load()
        elif os.fstat(descriptor).st_size > self._index.end:
            self.generation += 1
            self._index.scan(self._file)
        if os.fstat(descriptor).st_size > self._index.end:
            os.ftruncate(descriptor, self._index.end)

    def _write(self, descriptor: int, data: bytes) -> None:
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        except OSError as error:
            os.ftruncate(descriptor, self._index.end)
            raise CassetteError(
                f"{self.path}: recording failed: {error.strerror}.",
                remedy="What was recorded before is safe; make room and run again with --mode record.",
            ) from error

    def _text(self, identifier: str) -> str:
        place = self._index.texts.get(identifier)
        if place is None:
            raise FormatError(f"it refers to the text {identifier!r}, which no line holds")
        return lines.check_text(orjson.loads(self._read(place)))[1]

    def _digest_of(self, identifier: str) -> str | None:
        text = self._index.texts.get(identifier)
        return None if text is None else text.digest

    def _read(self, place: Entry | SharedText) -> bytes:
        if self._file is None:
            raise RuntimeError("entries are read inside reading() or writing()")
        self._file.seek(place.offset)
        return self._file.read(place.size)
