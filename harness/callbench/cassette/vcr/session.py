"""What happens to a request inside ``use_cassette``, whatever client sends it: found, missed or recorded.

The patches of the clients translate their requests to ``Asked`` and recorded answers back; everything
between, the key, the masking, the ordinals, is that of ``CassetteTransport``.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit

from callbench.cassette.interaction import Interaction
from callbench.cassette.key import canonical_request
from callbench.cassette.miss import CassetteMiss, cassette_miss
from callbench.cassette.scope import CaseScope, Exchange, current_scope
from callbench.cassette.scrub import mask_request, secrets_of
from callbench.cassette.store import Cassette
from callbench.cassette.take import Take
from callbench.cassette.transport import Mode, record, recorded
from callbench.cassette.vcr.answers import one_boundary


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as a client sends it: the absolute ``url``, raw ``headers``, the whole ``body``."""

    method: str
    url: str
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes


class Session:
    """One ``use_cassette`` block: a cassette, what to do with it, and what could not be answered.

    ``misses`` are the requests of this block that had no recording, in order: a client may swallow the
    ``CassetteMiss`` that each of them raised.
    """

    def __init__(
        self,
        cassette: Cassette,
        mode: Mode,
        *,
        base_url: str = "",
        secrets: Sequence[str] = (),
        command: str = "",
    ) -> None:
        self.cassette = cassette
        self.mode = mode
        self.closed = False
        self.misses: list[CassetteMiss] = []
        self._base_url = base_url
        self._secrets = tuple(secrets)
        self._command = command
        self._outside = CaseScope("")
        self._counters: weakref.WeakKeyDictionary[CaseScope, _Counter] = weakref.WeakKeyDictionary()
        self._lock = threading.Lock()
        if mode in (Mode.RECORD, Mode.RERECORD):
            cassette.adopt()

    def find(self, asked: Asked) -> Interaction | Take:
        """The recording that answers, or the take that records the answer a real server gives.

        Raises ``CassetteMiss`` in replay.
        """
        started = time.perf_counter()
        parts = urlsplit(asked.url)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        secrets = secrets_of(asked.headers, target, self._secrets, asked.body)
        body = one_boundary(asked.body, asked.headers)
        request = mask_request(
            canonical_request(asked.method, target, body, base_url=self._base_url), secrets
        )
        key = self.cassette.key_of(request)
        scope = self._scope()
        ordinal = scope.take(key)
        found = recorded(self.cassette, self.mode, key, scope.case, ordinal, request)
        if found is not None:
            scope.add(Exchange.of(found, "replayed"))
            return found
        if self.mode is Mode.REPLAY:
            scope.give_back(key, ordinal)
            miss = cassette_miss(self.cassette, request, scope.case, ordinal, self._command)
            self.misses.append(miss)
            raise miss
        store = None if self.mode is Mode.LIVE else partial(record, self.cassette, self.mode)
        return Take(request, key, scope, ordinal, secrets, started, store)

    def _scope(self) -> CaseScope:
        """The counter of the running case in this cassette: another cassette counts on its own."""
        case = current_scope()
        if case is None:
            return self._outside
        with self._lock:
            counter = self._counters.get(case)
            if counter is None:
                counter = self._counters[case] = _Counter(case)
            return counter


class _Counter(CaseScope):
    """Counts the requests of a case in one cassette, and tells the case what was exchanged."""

    def __init__(self, case: CaseScope) -> None:
        super().__init__(case.case)
        self._case = weakref.ref(case)

    def add(self, exchange: Exchange) -> None:
        case = self._case()
        if case is not None:
            case.add(exchange)


_current: ContextVar[Session | None] = ContextVar("callbench_vcr_session", default=None)


def current_session() -> Session | None:
    """The session of this context, if it is inside of a ``use_cassette`` that has not ended."""
    session = _current.get()
    return None if session is None or session.closed else session


@contextmanager
def outside() -> Iterator[None]:
    """What runs in here belongs to no session."""
    token = _current.set(None)
    try:
        yield
    finally:
        _current.reset(token)
