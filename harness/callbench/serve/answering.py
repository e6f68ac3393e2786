"""Which recording answers a request: by its content, or by the turn of its case.

A client in a browser is no client: a page must not read recordings, whatever name it gave this address
(DNS rebinding). So a ``Host`` or an ``Origin`` that is not this machine is refused, and no CORS header sent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from enum import StrEnum
from typing import Any
from urllib.parse import unquote

from callbench.cassette.events import is_event_stream
from callbench.cassette.faults.answer import read, send
from callbench.cassette.faults.applying import Faults
from callbench.cassette.faults.kind import Faulted
from callbench.cassette.interaction import Event, Interaction, Request, Response
from callbench.cassette.key import canonical_request
from callbench.cassette.miss import cassette_miss
from callbench.cassette.scope import CaseScope
from callbench.cassette.scrub import mask_request, secrets_of
from callbench.cassette.store import Cassette
from callbench.conformance.traffic.http import Received
from callbench.serve.kept import Kept

CASE_HEADER = "x-callbench-case"
METHODS = "GET, HEAD, OPTIONS, POST"

_LOOPBACK = re.compile(r"(?i)(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d*)?")
_CASE_PATH = "/case/"
_TURNS = "turns"
_OVERHEAD = 1024
_OF_EVENT = 160
_NOT_HERE = (
    "the header {} says {!r}: recordings are given to programs of this machine only, "
    "asking 127.0.0.1 or localhost"
)


class By(StrEnum):
    """How a request finds its recording."""

    CONTENT = "content"
    """By what it asks, to the byte of each message; equal ones in the order of recording."""
    TURN = "turn"
    """By its case: the n-th request gets the n-th recorded answer, streamed or not as it asks."""


class UsedUp(StrEnum):
    """What follows when all recordings of a request, or of a case, were given."""

    MISS = "miss"
    LOOP = "loop"
    LAST = "last"

    def place(self, ordinal: int, count: int) -> int | None:
        """The number of the recording to give as answer number ``ordinal``, of ``count`` there are."""
        if ordinal < count:
            return ordinal
        if not count or self is UsedUp.MISS:
            return None
        return ordinal % count if self is UsedUp.LOOP else count - 1


class Answering:
    """Answers requests from one cassette, whoever asks; each case counts its own."""

    def __init__(
        self,
        cassette: Cassette,
        *,
        by: By = By.CONTENT,
        used_up: UsedUp = UsedUp.MISS,
        faults: Faults | None = None,
    ) -> None:
        self._cassette = cassette
        self._by = by
        self._used_up = used_up
        self._faults = faults
        self._asked: Kept[Hashable, tuple[Request, str]] = Kept()
        self._found: Kept[tuple[str, str, int], Interaction] = Kept()
        self._sent: Kept[tuple[str, int, bool], Response] = Kept()
        self._turns: Kept[str, list[Interaction]] = Kept()
        self._scopes: dict[str, CaseScope] = {}
        self.answers = 0
        self.misses = 0

    def answer(self, received: Received) -> Faulted:
        """Return what to send; a request that no recording answers gets 404 and is counted.

        A ``GET`` that has none is no question to a model: it gets 404 as well, and is not counted.
        """
        for header in ("host", "origin"):
            if not _is_here(received.headers.get(header)):
                return error(403, _NOT_HERE.format(header, received.headers[header]), "not_local")
        if received.method == "OPTIONS":
            return Faulted(Response(200, {"allow": METHODS}))
        case, target = _case_of(received)
        method = "GET" if received.method == "HEAD" else received.method
        if method == "GET" and (listed := self._models(target)) is not None:
            return Faulted(listed)
        request, key = self._request(method, target, received)
        if method == "GET" and not self._cassette.recorded(key, case):
            told = f"GET {request.path}: there is nothing; ask POST /v1/chat/completions"
            return error(404, told, "not_found")
        scope = self._scope(case)
        if self._by is By.TURN:
            return self._by_turn(request, scope)
        return self._by_content(request, key, scope)

    def _request(self, method: str, target: str, received: Received) -> tuple[Request, str]:
        """The request as it would be recorded, and its key."""
        identity = (method, target, tuple(received.headers.items()), received.body)
        known = self._asked.get(identity)
        if known is not None:
            return known
        raw = [(name.encode(), value.encode()) for name, value in received.headers.items()]
        secrets = secrets_of(raw, target, (), received.body)
        request = mask_request(canonical_request(method, target, received.body), secrets)
        made = (request, self._cassette.key_of(request))
        head = sum(len(name) + len(value) for name, value in identity[2])
        self._asked.put(identity, made, len(received.body) + len(request.body) + head + _OVERHEAD)
        return made

    def _scope(self, case: str) -> CaseScope:
        scope = self._scopes.get(case)
        if scope is None:
            scope = self._scopes[case] = CaseScope(case)
            if self._faults is not None:
                self._faults.arm(scope)
        return scope

    def _by_content(self, request: Request, key: str, scope: CaseScope) -> Faulted:
        cassette, case = self._cassette, scope.case
        ordinal = scope.take(key)
        place = self._used_up.place(ordinal, cassette.recorded(key, case))
        found = None if place is None else self._find(key, case, place, request)
        if found is not None:
            return self._given(found, scope, key, ordinal)
        scope.give_back(key, ordinal)
        if self._faults is not None:
            follow = self._faults.follow_up(request, scope, cassette)
            if follow is not None:
                self.answers += 1
                interaction, faulted = follow
                return faulted or Faulted(interaction.response)
        miss = cassette_miss(cassette, request, case, ordinal)
        return self._miss(miss.message)

    def _find(self, key: str, case: str, place: int, request: Request) -> Interaction | None:
        identity = (key, case, place)
        found = self._found.get(identity)
        if found is None:
            found = self._cassette.find(key, case, place, request=request)
            if found is not None:
                self._found.put(identity, found, _size(found))
        return found

    def _by_turn(self, request: Request, scope: CaseScope) -> Faulted:
        case = scope.case
        if not case:
            return error(
                400,
                "answers are given by turn: name the case in the header "
                f"{CASE_HEADER}, or ask at {_CASE_PATH}ID/v1",
                "no_case",
            )
        turns = self._turns.get(case)
        if turns is None:
            turns = self._cassette.of_case(case)
            self._turns.put(case, turns, _OVERHEAD + sum(map(_size, turns)))
        ordinal = scope.take(_TURNS)
        place = self._used_up.place(ordinal, len(turns))
        if place is None:
            scope.give_back(_TURNS, ordinal)
            return self._miss(self._no_turn(case, len(turns), ordinal))
        recorded = turns[place].request
        if (recorded.method, recorded.path) != (request.method, request.path):
            scope.give_back(_TURNS, ordinal)
            told = f"{request.method} {request.path}: the next answer of case {case!r} is to "
            return self._miss(f"{told}{recorded.method} {recorded.path}.")
        body = request.json()
        streamed = isinstance(body, dict) and body.get("stream") is True
        response = self._sent.get((case, place, streamed))
        if response is None:
            response = _as_asked(turns[place].response, streamed=streamed)
            self._sent.put((case, place, streamed), response, _size_of(request, response))
        asked = replace(turns[place], request=request, response=response)
        return self._given(asked, scope, _TURNS, ordinal)

    def _given(self, found: Interaction, scope: CaseScope, key: str, ordinal: int) -> Faulted:
        self.answers += 1
        if self._faults is not None:
            faulted = self._faults.answer(found, scope, ordinal)
            if faulted is not None:
                if faulted.again:
                    scope.give_back(key, ordinal)
                return faulted
        return Faulted(found.response)

    def _miss(self, text: str) -> Faulted:
        self.misses += 1
        return error(404, text, "cassette_miss")

    def _no_turn(self, case: str, count: int, ordinal: int) -> str:
        path = self._cassette.path
        if count:
            times = "1 answer" if count == 1 else f"{count} answers"
            return f"{path} has {times} of case {case!r}, and it was asked {ordinal + 1} times."
        known = {one.case for one in self._cassette}
        near = get_close_matches(case, known, n=1)
        told = f" The nearest is {near[0]!r}." if near else ""
        return f"{path} has no case {case!r}; it has {len(known)} others.{told}"

    def _models(self, target: str) -> Response | None:
        """The list of models, or one of them, where a client asks for that; ``None`` where it does not."""
        path = unquote(canonical_request("GET", target, b"").path.partition("?")[0].rstrip("/"))
        names = self._cassette.header.get("models", [])
        models = [
            {"id": name, "object": "model", "created": 0, "owned_by": "callbench"} for name in names
        ]
        if path == "/models":
            return _json(200, {"object": "list", "data": models})
        one = next((it for it in models if path == f"/models/{it['id']}"), None)
        return None if one is None else _json(200, one)


def _is_here(address: str | None) -> bool:
    """Whether a ``Host`` or an ``Origin`` names this machine; one that is missing does."""
    return address is None or bool(_LOOPBACK.fullmatch(address.rpartition("://")[2]))


def _size(interaction: Interaction) -> int:
    """About the bytes that a recording takes in memory."""
    return _size_of(interaction.request, interaction.response)


def _size_of(request: Request, response: Response) -> int:
    data = sum(len(event.data) for event in response.events) + len(request.body)
    return data + _OVERHEAD + _OF_EVENT * len(response.events)


def _case_of(received: Received) -> tuple[str, str]:
    """The case that a request names, ``""`` if none, and its target without it."""
    target = received.target
    if target.startswith(_CASE_PATH):
        name, _, rest = target[len(_CASE_PATH) :].partition("/")
        return unquote(name), f"/{rest}"
    return unquote(received.headers.get(CASE_HEADER, "")), target


def _as_asked(response: Response, *, streamed: bool) -> Response:
    """The recorded answer, streamed exactly when that is asked for."""
    if response.error is not None or is_event_stream(response.headers) == streamed:
        return response
    answer = read(response)
    return response if answer is None else send(answer, response, streamed=streamed)


def error(status: int, message: str, code: str) -> Faulted:
    """An error as the OpenAI API writes one."""
    told = {"message": message, "type": "callbench_error", "param": None, "code": code}
    return Faulted(_json(status, {"error": told}))


def _json(status: int, value: Mapping[str, Any]) -> Response:
    body = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    return Response(status, {"content-type": "application/json"}, (Event(0, body),))
