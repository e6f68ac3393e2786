"""Recordings that were asked for lately, decoded: a server is asked for the same ones again and again."""

from __future__ import annotations

from collections import OrderedDict

from callbench.cassette.interaction import Interaction, Request
from callbench.cassette.store import Cassette

MOST_BYTES = 32 * 1024 * 1024
"""Bytes of answers that are kept; the one not asked for longest goes first."""


class KeptCassette:
    """Looks recordings up as :meth:`Cassette.find` does; one that was replaced on disk meanwhile may be old."""

    def __init__(self, cassette: Cassette, most: int = MOST_BYTES) -> None:
        self._cassette = cassette
        self._most = most
        self._size = 0
        self._kept: OrderedDict[tuple[str, str, int], tuple[Interaction, int]] = OrderedDict()

    def find(self, key: str, case: str, ordinal: int, request: Request) -> Interaction | None:
        """Return the recording that answers, ``None`` if there is none (yet)."""
        identity = (key, case, ordinal)
        kept = self._kept.get(identity)
        if kept is not None:
            self._kept.move_to_end(identity)
            return kept[0]
        found = self._cassette.find(key, case, ordinal, request=request)
        if found is not None:
            size = sum(len(event.data) for event in found.response.events) + len(found.request.body)
            self._kept[identity] = (found, size)
            self._size += size
            while self._size > self._most:
                self._size -= self._kept.popitem(last=False)[1][1]
        return found
