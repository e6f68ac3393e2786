"""``Cassette``: recordings looked up by content, recorded by many at once, replaced as a whole.

This is what transports, servers and verbs use; the file underneath is ``file.CassetteFile``.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from callbench.cassette import format as lines
from callbench.cassette.file import CassetteFile
from callbench.cassette.index import Entry
from callbench.cassette.interaction import Interaction, Normalizer, Request
from callbench.cassette.key import request_key
from callbench.cassette.lock import exclusive
from callbench.cassette.nearest import Nearest, Neighbors
from callbench.cassette.scrubbers import Scrubber, Scrubbing
from callbench.cassette.writer import recorder_name, replace_file
from callbench.errors import CassetteError

logger = logging.getLogger("callbench.cassette")

_Identity = tuple[str, str, int]


class _Stored(NamedTuple):
    """A recording and the file it lies in."""

    file: CassetteFile
    entry: Entry

    @property
    def identity(self) -> _Identity:
        return self.entry.key, self.entry.case, self.entry.ordinal

    def interaction(self) -> Interaction:
        return self.file.interaction(self.entry)


class Cassette:
    """The recordings of one file. Safe to share between threads and tasks; processes may share the file.

    Use it as a context manager, or call ``close``: that is when re-recordings take their place and what was
    appended is put in order.
    """

    def __init__(
        self,
        file: CassetteFile,
        normalize: Normalizer | None = None,
        scrubbing: Scrubbing | None = None,
    ) -> None:
        """For ``open``, which is the way to make one."""
        self.path = file.path
        self.scrubbing = scrubbing or Scrubbing()
        """What is taken out of requests and answers before they are looked up and stored."""
        self._file = file
        self._normalize = normalize
        self._neighbors: tuple[int, Neighbors] | None = None
        self._appended = False
        self._journal: CassetteFile | None = None
        self._replaced: set[_Identity] = set()

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        models: Iterable[str] = (),
        recorder: str | None = None,
        normalize: Normalizer | None = None,
        scrubbers: Sequence[Scrubber | str] | Scrubbing = (),
    ) -> Self:
        """Index the file at ``path``; one that does not exist is a cassette without recordings.

        ``models`` and ``recorder`` (``"<name> <version>"``) go into the header of a new file. ``normalize``
        is applied to every request before its key is computed, stored ones included. ``scrubbers`` are
        applied before that, to requests and to what is recorded (see ``scrubbers``). Raises
        ``CassetteError`` naming file and line of a broken line; a cut last line is only warned about.
        """
        scrubbing = scrubbers if isinstance(scrubbers, Scrubbing) else Scrubbing.of(scrubbers)
        file = CassetteFile(
            Path(path),
            models=models,
            recorder=recorder or recorder_name(),
            normalize=normalize,
            scrubbers=scrubbing.names,
        )
        with file.reading():
            return cls(file, normalize, scrubbing)

    def __len__(self) -> int:
        with self._file.reading() as index:
            return len(index.entries)

    def __iter__(self) -> Iterator[Interaction]:
        """All recordings that count, in the order of the file."""
        with self._file.reading() as index:
            identities = [(entry.key, entry.case, entry.ordinal) for entry in index]
        for identity in identities:
            interaction = self.find_exact(*identity)
            if interaction is not None:
                yield interaction

    @property
    def header(self) -> dict[str, Any]:
        """The header line as parsed; empty for a file that does not exist yet."""
        with self._file.reading() as index:
            return dict(index.header or {})

    # --- look-up ----------------------------------------------------------------------------------

    def key_of(self, request: Request) -> str:
        """The key under which this cassette files ``request``."""
        request = self.scrubbing.request(request)
        return request_key(self._normalize(request) if self._normalize else request)

    def find(
        self, key: str, case: str, ordinal: int, *, request: Request | None = None
    ) -> Interaction | None:
        """The recording that answers: of this case and ordinal, else of another case label.

        A label that has recordings of this request, but fewer, gets ``None`` (TRAPS C7). A label that has
        none gets those of the key in file order, so renaming cases loses nothing (C8). A caller who has the
        ``request`` spares the reading of it.
        """
        with self._file.reading() as index:
            entry = index.find(key, case, ordinal)
            return None if entry is None else self._file.interaction(entry, request)

    def find_exact(
        self, key: str, case: str, ordinal: int, *, request: Request | None = None
    ) -> Interaction | None:
        """The recording of exactly this case label and ordinal: what recording counts as present."""
        with self._file.reading() as index:
            entry = index.exact(key, case, ordinal)
            return None if entry is None else self._file.interaction(entry, request)

    def of_case(self, case: str) -> list[Interaction]:
        """All recordings of a case label, whatever was asked, in the order of the file."""
        with self._file.reading() as index:
            return [self._file.interaction(entry) for entry in index.of_case(case)]

    def recorded(self, key: str, case: str) -> int:
        """How many times this request can be answered for this case."""
        with self._file.reading() as index:
            return index.recorded(key, case)

    def nearest(self, request: Request, case: str) -> Nearest | None:
        """The recording closest to ``request`` and what differs; ``None`` when there is none.

        One of the same case is preferred, then one of the same model. Only for a miss: it reads a bounded
        number of recordings once, and compares texts.
        """
        file = self._file
        request = self.scrubbing.request(request)
        with file.reading() as index:
            if self._neighbors is None or self._neighbors[0] != file.generation:
                self._neighbors = (file.generation, Neighbors(index.entries, file.interaction))
            return self._neighbors[1].nearest(request, case)

    # --- recording --------------------------------------------------------------------------------

    def append(self, interaction: Interaction) -> None:
        """Write one recording at the end of the file, whole, whoever else is writing.

        Raises ``CassetteError`` when the disk refuses.
        """
        self._file.append(self._scrubbed(interaction))
        self._appended = True

    def replace(self, interaction: Interaction) -> None:
        """Record anew: on ``close``, what was replaced takes the place of all the file holds for its cases.

        Cases that were not asked again keep their recordings. Until then the file stays as it is.
        """
        interaction = self._scrubbed(interaction)
        with self._file.reading():
            if self._journal is None:
                self._journal = self._open_journal()
            self._journal.append(interaction)
            self._replaced.add((interaction.key, interaction.case, interaction.ordinal))

    def _scrubbed(self, interaction: Interaction) -> Interaction:
        """What may be written of an interaction, under the key of what is left of its request."""
        if not self.scrubbing:
            return interaction
        request = self.scrubbing.request(interaction.request)
        return dataclasses.replace(
            interaction,
            key=interaction.key if request == interaction.request else self.key_of(request),
            request=request,
            response=self.scrubbing.response(interaction.response),
            vcr=self.scrubbing.beside(interaction.vcr),
        )

    def adopt(self) -> None:
        """Take in what a re-recording left behind that was killed before it could ``close``.

        Raises ``CassetteError`` for a file that was recorded with other scrubbers than are used now.
        """
        header = self.header
        if header and set(lines.scrubbers_of(header)) != set(self.scrubbing.names):
            raise CassetteError(
                f"{self.path} was recorded with {_scrubbers(lines.scrubbers_of(header))}, "
                f"this run uses {_scrubbers(self.scrubbing.names)}: one file cannot hold both.",
                remedy="Use the same scrubbers, or apply these to the file first: "
                f"callbench cassette scrub {self.path}",
            )
        with self._file.reading():
            if self._journal is None and self._journal_path.exists():
                logger.warning("%s: taking in a re-recording that was interrupted", self.path)
                self._commit(self._open_journal())

    def close(self) -> None:
        """Let re-recordings take their place, put appended lines in order, release the file."""
        with self._file.reading():
            if self._journal is not None:
                journal, self._journal = self._journal, None
                self._commit(journal)
            elif self._appended:
                with self._file.writing():
                    self._rewrite(())
            self._file.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    # --- putting the file in order ----------------------------------------------------------------

    @property
    def _journal_path(self) -> Path:
        return self.path.with_name(f"{self.path.name}.part")

    def _open_journal(self) -> CassetteFile:
        return CassetteFile(
            self._journal_path,
            models=(),
            recorder=self._file.recorder,
            normalize=self._normalize,
        )

    def _commit(self, journal: CassetteFile) -> None:
        """Merge the journal into the file, which is replaced at once, and remove the journal."""
        journal.release()
        with exclusive(journal.path), journal.reading() as fresh:
            if fresh.entries:
                with self._file.writing():
                    self._rewrite(
                        [_Stored(journal, entry) for entry in fresh],
                        replaced={entry.case for entry in fresh},
                    )
            journal.release()
            journal.path.unlink()
        self._replaced.clear()

    def _rewrite(self, fresh: Iterable[_Stored], *, replaced: Collection[str] = ()) -> None:
        """Write the file anew, in order: its recordings but those of ``replaced`` cases, and ``fresh``.

        What this session recorded stays in any case: another process may have merged it already.
        """
        with self._file.reading() as index:
            kept = (_Stored(self._file, entry) for entry in index if entry.case not in replaced)
            mine = (
                _Stored(self._file, entry)
                for entry in index
                if (entry.key, entry.case, entry.ordinal) in self._replaced
            )
            by_identity = {stored.identity: stored for stored in (*kept, *mine, *fresh)}
            ordered = sorted(by_identity.values(), key=lambda it: (it.entry.case, it.entry.ordinal))
            models = {stored.interaction().request.model for stored in ordered} - {""}
            replace_file(
                self.path,
                (stored.interaction() for stored in ordered),
                models=models or self._file.models,
                recorder=self._file.recorder,
                scrubbers=lines.scrubbers_of(index.header) or self._file.scrubbers,
            )
            self._file.release()
        self._appended = False


def _scrubbers(names: Sequence[str]) -> str:
    return f"the scrubbers {', '.join(names)}" if names else "no scrubbers"


def rewrite(path: str | Path) -> None:
    """Put a file in order (case, then ordinal), drop what was superseded, store shared texts once.

    The same recordings give the same file, whatever order the cases were recorded in; so a re-recording
    shows a small difference. The file is replaced at once. Raises ``CassetteError`` for a broken line or a
    file that does not exist.
    """
    if not Path(path).exists():
        raise CassetteError(f"{path} does not exist.")
    cassette = Cassette.open(path)
    with cassette._file.writing():
        cassette._rewrite(())
