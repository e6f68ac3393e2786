"""Which case a request belongs to, beside the request: counts equal requests, collects what was exchanged.

    with case_scope("everyday-001") as scope:
        await system.run(case)
    latency = sum(exchange.elapsed_ms for exchange in scope.exchanges)

Each task and thread sees the scope it was started in; a thread made by ``threading`` opens its own.
"""

from __future__ import annotations

import heapq
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal, Self

from callbench.cassette.interaction import Interaction, case_label
from callbench.cassette.tokens import TokenTimes, token_times

Source = Literal["replayed", "recorded", "live"]


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request of a case and how it went, for the latency and token report.

    Times are those of the model: measured when it was asked, recorded ones in replay. ``elapsed_ms`` runs
    from sending the request to the end of the stream, ``first_event_ms`` to its first event. ``key``,
    ``case`` and ``ordinal`` name the recording; ``case`` is the label it was found under. ``status`` is 0
    when no response came. ``tokens`` says when the tokens of a streamed answer came. ``error`` says how the stream failed, ``"abandoned"`` when the caller left it.
    """

    key: str
    case: str
    ordinal: int
    source: Source
    status: int
    elapsed_ms: int
    first_event_ms: int | None = None
    usage: Mapping[str, Any] | None = None
    error: str | None = None
    tokens: TokenTimes | None = None

    @classmethod
    def of(cls, interaction: Interaction, source: Source) -> Self:
        """The exchange that an interaction is the record of."""
        response = interaction.response
        return cls(
            key=interaction.key,
            case=interaction.case,
            ordinal=interaction.ordinal,
            source=source,
            status=response.status,
            elapsed_ms=response.elapsed_ms,
            first_event_ms=response.events[0].at_ms if response.events else None,
            usage=interaction.usage,
            error=response.error,
            tokens=token_times(interaction),
        )


class CaseScope:
    """The ordinals and exchanges of one case; shared by all tasks that work on it."""

    def __init__(self, case: str) -> None:
        self.case = case
        self._lock = threading.Lock()
        self._next: dict[str, int] = {}
        self._free: dict[str, list[int]] = {}
        self._exchanges: list[Exchange] = []

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """What was exchanged so far, in the order it ended."""
        return tuple(self._exchanges)

    def take(self, key: str) -> int:
        """The lowest ordinal of this request that is not in use, from 0."""
        with self._lock:
            if free := self._free.get(key):
                return heapq.heappop(free)
            ordinal = self._next.get(key, 0)
            self._next[key] = ordinal + 1
            return ordinal

    def give_back(self, key: str, ordinal: int) -> None:
        """Free the ordinal of a request that was not recorded, for the attempt that will be."""
        with self._lock:
            heapq.heappush(self._free.setdefault(key, []), ordinal)

    def add(self, exchange: Exchange) -> None:
        """Note an exchange that ended."""
        self._exchanges.append(exchange)


_current: ContextVar[CaseScope | None] = ContextVar("callbench_case_scope", default=None)


def current_scope() -> CaseScope | None:
    """The scope of the case that is running here, if any."""
    return _current.get()


@contextmanager
def case_scope(case_id: str, *, repeat: int = 0) -> Iterator[CaseScope]:
    """Run one case: its requests are counted and labelled under ``case_id``.

    ``repeat`` counts repeated runs of the case from 0; each repeat has recordings of its own (TRAPS C10).
    """
    scope = CaseScope(case_label(case_id, repeat))
    token = _current.set(scope)
    try:
        yield scope
    finally:
        _current.reset(token)
