"""Where an importer reads: a plain file, a directory, or a zip, through one interface.

Nothing is ever extracted; a zip's members are read in place, so no name in it can reach outside. What
is read is bounded by what really comes out, whatever the zip's header promises. Whatever was opened
is remembered, so that the report can say by hash what a dataset was made from.
"""

from __future__ import annotations

import hashlib
import json
import math
import posixpath
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import IO, Any, NoReturn

from callbench.errors import DatasetError, UsageError

MOST_WHOLE = 512 * 2**20
"""The most bytes that are held in memory at once: of a file read as a whole, or of one line."""
MOST_ZIPPED = 4 * 2**30
"""The most bytes that a member of a zip may unpack to."""
MOST_MEMBERS = 100_000
_CHUNK = 1 << 20
_BOM = b"\xef\xbb\xbf"
_LICENCES = ("licen[cs]e*", "copying*")


class Member:
    """One file of a source. ``name`` is its path in the source; in a zip it is ``zip!path``."""

    def __init__(self, source: Source, path: str) -> None:
        self._source = source
        self._path = path
        self.name = f"{source.path.name}!{path}" if source.zipped else path

    @property
    def stem(self) -> str:
        """The file's name without its directory and its last suffix."""
        return PurePosixPath(self._path).stem

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of the file's path in the source, its own name last."""
        return PurePosixPath(self._path).parts

    @property
    def full(self) -> str:
        """The path as a person would write it, for messages."""
        if self._source.zipped:
            return f"{self._source.path}!{self._path}"
        return str(self._source.locate(self._path))

    def beside(self, relative: str) -> Member | None:
        """Return the file at a path relative to this one's directory, ``None`` when there is none."""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(self._path), relative))
        return self._source.at(path)

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open the file for reading bytes. Raises :class:`DatasetError` when it cannot be read."""
        self._source.note(self)
        try:
            with self._source.stream(self._path) as stream:
                yield stream
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError) as error:
            # RuntimeError: encrypted; NotImplementedError: a compression this Python lacks.
            raise DatasetError(
                f"{self.full}: cannot be read out of the zip: {error}.",
                remedy="Unpack it yourself and give the directory.",
            ) from error

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield each line that is not blank with its number from 1, without BOM and line ending."""
        with self.open() as stream:
            number = 0
            while raw := stream.readline(MOST_WHOLE + 1):
                number += 1
                if len(raw) > MOST_WHOLE:
                    raise self._too_large(f"line {number} has", MOST_WHOLE)
                line = raw.removeprefix(_BOM) if number == 1 else raw
                line = line.strip(b" \t\r\n")
                if line:
                    yield number, line

    def read(self) -> bytes:
        """Return the whole file, without a BOM."""
        with self.open() as stream:
            raw = stream.read(MOST_WHOLE + 1)
        if len(raw) > MOST_WHOLE:
            raise self._too_large("it has", MOST_WHOLE)
        return raw.removeprefix(_BOM)

    def text(self) -> str:
        """Return the whole file as UTF-8 text."""
        return self._decoded(self.read(), "")

    def json(self) -> Any:
        """Return the file as one JSON document. A key that stands twice is an error, as is NaN."""
        return self._parsed(self.read(), "")

    def records(self) -> Iterator[tuple[int, Any]]:
        """Yield the records of JSON Lines, or of one JSON array, numbered from 1.

        For JSON Lines the number is the line's. A pretty-printed array is read as a whole.
        """
        with self.open() as stream:
            head = stream.read(_CHUNK).removeprefix(_BOM).lstrip()
        if head[:1] == b"[":
            value = self.json()
            yield from enumerate(value, start=1)
            return
        for number, line in self.lines():
            yield number, self._parsed(line, f":{number}")

    def _parsed(self, raw: bytes, place: str) -> Any:
        text = self._decoded(raw, place)
        try:
            return loads(text)
        except json.JSONDecodeError as error:
            at = place or f":{error.lineno}"
            raise DatasetError(
                f"{self.full}{at}: not JSON at column {error.colno}: {error.msg}.",
                remedy="This format holds JSON Lines or one JSON document; is it the right file?",
            ) from None
        except (ValueError, RecursionError) as error:
            why = "it is nested too deeply" if isinstance(error, RecursionError) else error
            raise DatasetError(
                f"{self.full}{place}: not sound JSON: {why}.", remedy="Mend the file."
            ) from None

    def _decoded(self, raw: bytes, place: str) -> str:
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise DatasetError(
                f"{self.full}{place}: byte {error.start + 1} (0x{raw[error.start]:02x}) is not UTF-8.",
                remedy="Save the file as UTF-8.",
            ) from None

    def _too_large(self, what: str, most: int) -> DatasetError:
        return DatasetError(
            f"{self.full}: {what} more than {most // 2**20} MiB.",
            remedy="Split the file; this is far beyond any set of this format.",
        )

    @cached_property
    def _digest(self) -> tuple[str, int]:
        digest, size = hashlib.sha256(), 0
        with self.open() as stream:
            while chunk := stream.read(_CHUNK):
                digest.update(chunk)
                size += len(chunk)
        return digest.hexdigest(), size

    @property
    def sha256(self) -> str:
        """The hash of the file's bytes."""
        return self._digest[0]

    @property
    def bytes(self) -> int:
        """The size of the file."""
        return self._digest[1]


class Source:
    """A path that an importer reads.

    ``extra`` holds further files that the person named, by the name of the option, as ``gold``.
    ``opened`` lists the members that were opened, each once, in that order.
    """

    def __init__(self, path: Path, extra: Mapping[str, Source] | None = None) -> None:
        if not path.exists():
            raise UsageError(f"There is no file or directory {path}.", remedy="Check the path.")
        self.path = path
        self.extra = dict(extra or {})
        self.opened: dict[str, Member] = {}
        self.zipped = path.is_file() and (zipfile.is_zipfile(path) or _begins_as_zip(path))
        self._zip = self._unzip() if self.zipped else None

    def _unzip(self) -> zipfile.ZipFile:
        try:
            return zipfile.ZipFile(self.path)
        except zipfile.BadZipFile as error:
            raise DatasetError(
                f"{self.path}: the zip is damaged: {error}.", remedy="Download it again."
            ) from error

    @property
    def given(self) -> Member | None:
        """The file itself when the source is a plain file, else ``None``."""
        if self.path.is_dir() or self.zipped:
            return None
        return Member(self, self.path.name)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The paths of all files in the source, sorted, with ``/`` on every system."""
        if self._zip is not None:
            found = [entry.filename for entry in self._zip.infolist() if not entry.is_dir()]
        elif self.path.is_dir():
            found = [
                entry.relative_to(self.path).as_posix()
                for entry in self.path.rglob("*")
                if entry.is_file()
            ]
        else:
            found = [self.path.name]
        if len(found) > MOST_MEMBERS:
            raise DatasetError(
                f"{self.path} holds more than {MOST_MEMBERS} files.", remedy="Give a part of it."
            )
        return tuple(sorted(name for name in found if "__MACOSX" not in name))

    def files(self, *patterns: str) -> list[Member]:
        """Return the files that match a pattern, in name order, each once.

        A pattern without a slash is held against the file's own name at any depth; one with a slash
        against the end of its path. A plain file is held against the patterns too: see ``given``.
        """
        return [
            Member(self, name)
            for name in self.names
            if any(PurePosixPath(name).match(pattern) for pattern in patterns)
        ]

    def at(self, path: str) -> Member | None:
        """Return the file at a path in the source; for a plain file, of its directory."""
        if self._zip is not None:
            return Member(self, path) if path in self.names else None
        if self.path.is_dir() and path.startswith("../"):
            return None
        return Member(self, path) if self.locate(path).is_file() else None

    def licence(self) -> Member | None:
        """Return the licence file in the source's top directory, beside it, or just above."""
        top = [name for name in self.names if "/" not in name.rstrip("/")]
        if self._zip is not None or self.path.is_dir():
            inner = sorted(self.names, key=lambda name: (name.count("/"), name))
            for name in [*top, *inner]:
                if _is_licence(PurePosixPath(name).name):
                    return Member(self, name)
        here = self.path.resolve().parent
        for folder in (here, here.parent):
            for entry in sorted(folder.iterdir()):
                if entry.is_file() and _is_licence(entry.name):
                    return Member(Source(entry), entry.name)
        return None

    def locate(self, path: str) -> Path:
        """Return where a file of a plain source stands on disk."""
        return (self.path if self.path.is_dir() else self.path.parent) / path

    def note(self, member: Member) -> None:
        """Remember that a member was opened."""
        self.opened.setdefault(member.name, member)

    @contextmanager
    def stream(self, path: str) -> Iterator[IO[bytes]]:
        """Open a file of the source; only for :class:`Member`."""
        if self._zip is None:
            with self.locate(path).open("rb") as plain:
                yield plain
            return
        with self._zip.open(path) as packed:
            yield _Bounded(packed, f"{self.path}!{path}")  # type: ignore[misc]


class _Bounded:
    """A stream out of a zip that ends with an error when more comes out than any set holds."""

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self._stream = stream
        self._name = name
        self._left = MOST_ZIPPED

    def read(self, size: int = -1) -> bytes:
        return self._counted(self._stream.read(min(size, self._left + 1) if size >= 0 else -1))

    def readline(self, size: int = -1) -> bytes:
        return self._counted(self._stream.readline(size))

    def _counted(self, raw: bytes) -> bytes:
        self._left -= len(raw)
        if self._left < 0:
            raise DatasetError(
                f"{self._name}: unpacks to more than {MOST_ZIPPED // 2**20} MiB.",
                remedy="This is no set of this format; unpack it yourself if it is.",
            )
        return raw


def _begins_as_zip(path: Path) -> bool:
    """Say whether a file is a zip whose end is lost."""
    with path.open("rb") as stream:
        return stream.read(4) == b"PK\x03\x04"


def _is_licence(name: str) -> bool:
    return any(fnmatchcase(name.lower(), pattern) for pattern in _LICENCES)


def loads(text: str) -> Any:
    """Parse JSON; a key that stands twice in an object and a number that is none are errors.

    Raises ``ValueError`` (``JSONDecodeError`` when it is no JSON at all) and ``RecursionError``.
    """
    return json.loads(
        text, object_pairs_hook=_members, parse_constant=_constant, parse_float=_finite
    )


def _finite(digits: str) -> float:
    value = float(digits)
    return value if math.isfinite(value) else _constant(digits)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise ValueError(f'the key "{twice}" stands twice in one object')
    return found


def _constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON number")
