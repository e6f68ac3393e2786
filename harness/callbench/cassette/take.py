"""``Take``: one answer on its way from a real server to a client, measured and, if asked for, recorded."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from callbench.cassette import events as sse
from callbench.cassette.interaction import Interaction, Request, Response
from callbench.cassette.replay import error_text
from callbench.cassette.scope import CaseScope, Exchange
from callbench.cassette.scrub import mask_response

Store = Callable[[Interaction, Sequence[str]], None]


class Take:
    """Whoever passes the answer on sets ``response`` (status and stored headers), feeds every chunk, and
    says how it ended: ``finish``, ``leave`` or ``drop``.

    ``store`` writes the recording, with the credentials that must not be in it; without it nothing is
    written. ``started`` is a ``time.perf_counter`` value.
    """

    def __init__(
        self,
        request: Request,
        key: str,
        scope: CaseScope,
        ordinal: int,
        secrets: Sequence[str],
        started: float,
        store: Store | None,
    ) -> None:
        self._request = request
        self._key = key
        self._scope = scope
        self._ordinal = ordinal
        self.secrets = secrets
        self._started = started
        self._store = store
        self._chunks: list[tuple[int, bytes]] = []
        self._open = True
        self.response = Response(status=0)
        self.vcr: Mapping[str, Any] | None = None
        """For the interaction's member of that name."""

    def feed(self, chunk: bytes) -> None:
        """A chunk came from the network."""
        self._chunks.append((self._elapsed(), chunk))

    def finish(self, error: BaseException | None = None) -> None:
        """The stream ended, by itself or with an error: record it. Later calls do nothing."""
        if not self._open:
            return
        self._open = False
        text = None if error is None else error_text(error)
        interaction = self._interaction(text)
        if self._store is not None:
            self._store(interaction, self.secrets)
        self._scope.add(Exchange.of(interaction, "live" if self._store is None else "recorded"))

    def leave(self) -> None:
        """The caller closes the stream: half an answer is not recorded, a said-all one is."""
        if not self._open:
            return
        stream = sse.is_event_stream(self.response.headers)
        if stream and sse.said_done(sse.split_events(self._chunks, event_stream=True)):
            self.finish()
        else:
            self.drop("abandoned")

    def drop(self, error: str) -> None:
        """Nothing is recorded: no answer came, or the caller left it."""
        if not self._open:
            return
        self._open = False
        self._scope.give_back(self._key, self._ordinal)
        self._scope.add(Exchange.of(self._interaction(error), "live"))

    def _interaction(self, error: str | None) -> Interaction:
        stream = sse.is_event_stream(self.response.headers)
        events = sse.split_events(self._chunks, event_stream=stream)
        response = mask_response(
            replace(self.response, events=events, error=error, elapsed_ms=self._elapsed()),
            self.secrets,
        )
        return Interaction(
            key=self._key,
            case=self._scope.case,
            ordinal=self._ordinal,
            request=self._request,
            response=response,
            usage=sse.usage_of(response.events, event_stream=stream),
            recorded_at=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
            vcr=self.vcr,
        )

    def _elapsed(self) -> int:
        return round((time.perf_counter() - self._started) * 1000)
