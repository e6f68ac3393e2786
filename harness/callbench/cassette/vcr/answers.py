"""What the patches share: what is stored of an answer's head, what a client gets back, multipart bodies."""

from __future__ import annotations

import re
from collections.abc import Iterable

from callbench.cassette.interaction import Interaction, Request, Response
from callbench.cassette.scrub import MASK, RESPONSE_HEADERS, mask_request
from callbench.cassette.take import Take

_BOUNDARY = re.compile(rb'multipart/[^;]+;.*\bboundary="?([^";,]+)', re.IGNORECASE)

_OF_THE_WIRE = frozenset({"content-encoding", "content-length", "transfer-encoding", "connection"})
"""Headers about how bytes traveled; a replayed body is whole and not compressed."""


def stored_headers(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The allow-listed headers of an answer, names in lower case."""
    lowered = {name.lower(): value for name, value in headers}
    return {name: lowered[name] for name in RESPONSE_HEADERS if name in lowered}


def take_head(take: Take, status: int, headers: Iterable[tuple[str, str]]) -> None:
    """Tell a take the head of the answer. Where a redirection leads is kept beside it."""
    fields = list(headers)
    take.response = Response(status, stored_headers(fields))
    places = [value for name, value in fields if name.lower() == "location"]
    if places and 300 <= status < 400:
        masked = [mask_request(Request("GET", place, b""), take.secrets).path for place in places]
        take.vcr = {"response_headers": {"location": masked}}


def one_boundary(body: bytes, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """A multipart body with a fixed boundary: clients draw a new one for each request."""
    for name, value in headers:
        if name.lower() == b"content-type" and (found := _BOUNDARY.match(value)):
            return body.replace(found[1], b"boundary")
    return body


def answer_headers(interaction: Interaction) -> list[tuple[str, str]]:
    """The headers a client gets with a recorded answer: those stored, and those a vcrpy cassette had."""
    stored = interaction.response.headers
    fields = list(stored.items())
    for name, values in (interaction.vcr or {}).get("response_headers", {}).items():
        if name.lower() not in _OF_THE_WIRE and name.lower() not in stored:
            given = [values] if isinstance(values, str) else values
            fields.extend((name, value) for value in given if value != MASK)
    return fields
