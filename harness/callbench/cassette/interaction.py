"""What a cassette holds: frozen values, free of files and of any HTTP library.

An interaction is one request and everything that came back for it. Secrets are gone before these values
are built (``scrub``); how they look on disk is the business of ``format``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from callbench.cassette import jsontext

RETRYABLE_STATUS = frozenset({408, 409, 429})
REPEAT_MARK = "@repeat="


@dataclass(frozen=True, slots=True)
class Request:
    """A canonical request: ``path`` without host and base, ``body`` in canonical form (see ``key``)."""

    method: str
    path: str
    body: bytes

    def json(self) -> Any:
        """The body as a JSON value, or ``None`` when it is not JSON."""
        try:
            return jsontext.loads(self.body)
        except ValueError:
            return None

    @property
    def model(self) -> str:
        """The model the body asks for, or ``""``."""
        body = self.json()
        name = body.get("model") if isinstance(body, dict) else None
        return name if isinstance(name, str) else ""


Normalizer = Callable[[Request], Request]
"""Takes out of a request what must not decide which recording answers it (a user id, a clock).

It must be a pure function, and changing its own result again must change nothing.
"""


@dataclass(frozen=True, slots=True)
class Event:
    """Bytes that belong together: one server-sent event, or the whole body of any other response.

    ``at_ms``: when the network chunk that completed it came, in ms since the request was sent.
    """

    at_ms: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Response:
    """What came back. ``error`` names the failure that ended the stream: ``"ReadError: peer closed"``.

    ``elapsed_ms`` is the time from sending the request to the end of the stream.
    """

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    error: str | None = None
    elapsed_ms: int = 0

    @property
    def body(self) -> bytes:
        """All bytes that came."""
        return b"".join(event.data for event in self.events)

    @property
    def failed(self) -> bool:
        """Whether asking again might give an answer: a cut stream, or a status that providers retry."""
        return self.error is not None or self.status in RETRYABLE_STATUS or self.status >= 500


@dataclass(frozen=True, slots=True)
class Interaction:
    """One recorded exchange.

    ``key`` finds it (``key.request_key``); equal requests are told apart by ``case`` and by ``ordinal``,
    which counts them within the case from 0. ``usage`` is the token count as the endpoint reported it
    (``prompt_tokens``, ``completion_tokens``, and its details). ``recorded_at`` is UTC in ISO 8601.
    ``vcr`` is what only the bridge to vcrpy needs (``vcr.mapping`` describes it), absent otherwise.
    """

    key: str
    case: str
    ordinal: int
    request: Request
    response: Response
    usage: Mapping[str, Any] | None = None
    recorded_at: str | None = None
    vcr: Mapping[str, Any] | None = None


def case_label(case_id: str, repeat: int = 0) -> str:
    """The label under which repeat number ``repeat`` (from 0) of a case is recorded."""
    return f"{case_id}{REPEAT_MARK}{repeat}" if repeat else case_id


def repeat_of(label: str) -> str:
    """The repeat part of a case label (``""`` for the first), the same for equal repeats of any case."""
    _, mark, repeat = label.rpartition(REPEAT_MARK)
    return repeat if mark else ""
