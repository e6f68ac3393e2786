"""The recording closest to a request that has none, so that a miss can say what differs.

Looked for only after a miss (TRAPS C2), among a bounded number of recordings, by the words that two
requests share.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from callbench.cassette.diff import CJK, differences
from callbench.cassette.index import Entry
from callbench.cassette.interaction import Interaction, Request

MOST_CANDIDATES = 2000
"""A larger cassette is sampled evenly; recordings of the same case are always looked at."""

_MOST_OF_A_CASE = 200
_MOST_WORDS = 1000
_WORD = re.compile(rf"[{CJK}]|[^\W{CJK}]+")
"""Chinese, Japanese and Korean text has no spaces: each character counts."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """The closest recording, its line in the file, and what differs, recorded first."""

    interaction: Interaction
    line: int
    differences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Candidate:
    entry: Entry
    model: str
    path: str
    words: frozenset[int]


class Neighbors:
    """The candidates of one cassette, read once at the first miss.

    ``read`` gives the interaction of an entry.
    """

    def __init__(self, entries: Sequence[Entry], read: Callable[[Entry], Interaction]) -> None:
        self._entries = entries
        self._read = read
        step = max(1, -(-len(entries) // MOST_CANDIDATES))
        self._sample = [self._candidate(entry) for entry in entries[::step]]

    def nearest(self, request: Request, case: str) -> Nearest | None:
        """The closest recording to ``request``: of the same case, then of the same model, then by text."""
        asked = _words(request)
        model = request.model

        def closeness(candidate: _Candidate) -> tuple[bool, bool, float]:
            shared = len(candidate.words & asked)
            return (
                candidate.path == request.path,
                candidate.model == model,
                shared / (len(candidate.words) + len(asked) - shared or 1),
            )

        own = [entry for entry in self._entries if entry.case == case][:_MOST_OF_A_CASE]
        candidates = [self._candidate(entry) for entry in own] or self._sample
        if not candidates:
            return None
        entry = max(candidates, key=closeness).entry
        interaction = self._read(entry)
        return Nearest(interaction, entry.line, tuple(differences(interaction.request, request)))

    def _candidate(self, entry: Entry) -> _Candidate:
        request = self._read(entry).request
        return _Candidate(entry, request.model, request.path, _words(request))


def _words(request: Request) -> frozenset[int]:
    """Hashes of the words of a request; the last ones, where prompts hold what is special to them."""
    text = request.body.decode("utf-8", "replace").replace("\\n", " ")
    words = _WORD.findall(text)
    return frozenset(map(hash, words[-_MOST_WORDS:]))
