"""Which recording answers a request: by its content, or by the turn of its case."""

from __future__ import annotations

import json
from collections.abc import Mapping
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
from callbench.serve.kept import KeptCassette

CASE_HEADER = "x-callbench-case"

_CASE_PATH = "/case/"
_TURNS = "turns"


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
        self._kept = KeptCassette(cassette)
        self._scopes: dict[str, CaseScope] = {}
        self._turns: dict[str, list[Interaction]] = {}
        self.answers = 0
        self.misses = 0

    def answer(self, received: Received) -> Faulted:
        """Return what to send; a request that no recording answers gets 404 and is counted."""
        case, target = _case_of(received)
        scope = self._scope(case)
        if received.method == "GET" and (listed := self._models(target)) is not None:
            return Faulted(listed)
        raw = [(name.encode(), value.encode()) for name, value in received.headers.items()]
        secrets = secrets_of(raw, target, (), received.body)
        request = mask_request(canonical_request(received.method, target, received.body), secrets)
        if self._by is By.TURN:
            return self._by_turn(request, scope)
        return self._by_content(request, scope)

    def _scope(self, case: str) -> CaseScope:
        scope = self._scopes.get(case)
        if scope is None:
            scope = self._scopes[case] = CaseScope(case)
            if self._faults is not None:
                self._faults.arm(scope)
        return scope

    def _by_content(self, request: Request, scope: CaseScope) -> Faulted:
        cassette, case = self._cassette, scope.case
        key = cassette.key_of(request)
        ordinal = scope.take(key)
        found = self._kept.find(key, case, ordinal, request)
        if found is None:
            place = self._used_up.place(ordinal, cassette.recorded(key, case))
            if place is not None:
                found = self._kept.find(key, case, place, request)
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
            turns = self._turns[case] = self._cassette.of_case(case)
        ordinal = scope.take(_TURNS)
        place = self._used_up.place(ordinal, len(turns))
        if place is None:
            scope.give_back(_TURNS, ordinal)
            return self._miss(self._no_turn(case, len(turns), ordinal))
        asked = replace(turns[place], request=request)
        return self._given(_as_asked(asked), scope, _TURNS, ordinal)

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
        path = canonical_request("GET", target, b"").path.rstrip("/")
        names = self._cassette.header.get("models", [])
        models = [
            {"id": name, "object": "model", "created": 0, "owned_by": "callbench"} for name in names
        ]
        if path == "/models":
            return _json(200, {"object": "list", "data": models})
        one = next((it for it in models if path == f"/models/{it['id']}"), None)
        return None if one is None else _json(200, one)


def _case_of(received: Received) -> tuple[str, str]:
    """The case that a request names, ``""`` if none, and its target without it."""
    target = received.target
    if target.startswith(_CASE_PATH):
        name, _, rest = target[len(_CASE_PATH) :].partition("/")
        return unquote(name), f"/{rest}"
    return unquote(received.headers.get(CASE_HEADER, "")), target


def _as_asked(interaction: Interaction) -> Interaction:
    """A recording whose answer is streamed exactly when its request asks for that."""
    response = interaction.response
    body = interaction.request.json()
    streamed = isinstance(body, dict) and body.get("stream") is True
    if response.error is not None or is_event_stream(response.headers) == streamed:
        return interaction
    answer = read(response)
    if answer is None:
        return interaction
    return replace(interaction, response=send(answer, response, streamed=streamed))


def error(status: int, message: str, code: str) -> Faulted:
    """An error as the OpenAI API writes one."""
    told = {"message": message, "type": "callbench_error", "param": None, "code": code}
    return Faulted(_json(status, {"error": told}))


def _json(status: int, value: Mapping[str, Any]) -> Response:
    body = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    return Response(status, {"content-type": "application/json"}, (Event(0, body),))
