"""No secret reaches a cassette: request headers are never kept, and the credentials they hold are masked.

The credentials of a request (``credentials`` says which parts those are) are looked for in everything that
would be stored: path, body, response headers, events, error text. Masking happens before the key is
computed, so a recording made with one key answers a request made with another.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from callbench.cassette.credentials import (
    USERINFO,
    is_issued,
    masked_members,
    masked_parameters,
)
from callbench.cassette.credentials import secrets_of as secrets_of
from callbench.cassette.events import is_event_stream
from callbench.cassette.interaction import Event, Request, Response
from callbench.cassette.pieces import Place, Span, replace_spread
from callbench.cassette.spelling import holds_secret as holds_secret
from callbench.cassette.spelling import replace_secrets, spans

MASK = "***"

RESPONSE_HEADERS = ("content-type", "retry-after", "retry-after-ms")
"""The response headers that are stored; everything else, and every request header, is not."""

POLICY = {
    "request_headers": [],
    "response_headers": list(RESPONSE_HEADERS),
    "credentials": f"masked as {MASK}",
}
"""What the header line of a cassette says about scrubbing."""

_ALLOWED_HEADERS = frozenset(RESPONSE_HEADERS)
_USERINFO_TEXT = re.compile(USERINFO.pattern.decode())
_MAY_BE_ISSUED = re.compile(rb'(?i)(?:token|secret|key)"\s*:')


def mask_request(request: Request, secrets: Sequence[str]) -> Request:
    """The request with every credential replaced by ``***``, in path and body."""
    path = _mask_parameters(request.path)
    body = _mask_userinfo(masked_members(request.body, MASK))
    if secrets:
        path, body = _mask_text(path, secrets), _mask_bytes(body, secrets)
    if path == request.path and body == request.body:
        return request
    return replace(request, path=path, body=body)


def _mask_userinfo(data: bytes) -> bytes:
    """Mask user and password of addresses."""
    if b"://" not in data or b"@" not in data:
        return data
    return USERINFO.sub(b"://%b:%b@" % (MASK.encode(), MASK.encode()), data)


def _mask_parameters(path: str) -> str:
    """Mask the values of key-like query parameters, however short."""
    head, mark, query = path.partition("?")
    return f"{head}?{masked_parameters(query, MASK)}" if mark else path


def mask_response(response: Response, secrets: Sequence[str]) -> Response:
    """The response with every credential masked, also one that is spread over several events.

    Credentials that the server gives out (``access_token``) are masked, too; headers that are not
    allowed go.
    """
    if not response.headers.keys() <= _ALLOWED_HEADERS:
        kept = {n: v for n, v in response.headers.items() if n in _ALLOWED_HEADERS}
        response = replace(response, headers=kept)
    stream = is_event_stream(response.headers)
    at = any(b"@" in event.data for event in response.events)
    issued = not stream and any(_MAY_BE_ISSUED.search(event.data) for event in response.events)
    if not (secrets or at or issued or "@" in (response.error or "")):
        return response
    events = [
        Event(event.at_ms, _mask_userinfo(_mask_bytes(event.data, secrets)))
        for event in response.events
    ]
    error = None if response.error is None else _mask_text(response.error, secrets)
    if error is not None:
        error = _mask_userinfo(error.encode("utf-8", "surrogateescape")).decode(
            "utf-8", "surrogateescape"
        )
    return replace(
        response,
        headers={name: _mask_text(value, secrets) for name, value in response.headers.items()},
        events=_mask_spread(events, secrets, event_stream=stream),
        error=error,
    )


def mask_bytes(data: bytes, secrets: Sequence[str]) -> bytes:
    """The data with every spelling of the credentials replaced by ``***``; placeholders stay."""
    return _mask_bytes(data, secrets_of((), "", secrets))


def _mask_bytes(data: bytes, secrets: Sequence[str]) -> bytes:
    return replace_secrets(data, secrets, MASK.encode())


def _mask_text(text: str, secrets: Sequence[str]) -> str:
    return _mask_bytes(text.encode("utf-8", "surrogateescape"), secrets).decode(
        "utf-8", "surrogateescape"
    )


def _mask_spread(
    events: Sequence[Event], secrets: Sequence[str], *, event_stream: bool
) -> tuple[Event, ...]:
    """Mask credentials that a model streamed piece by piece, or a server escaped its own way."""

    def find(text: str, place: Place) -> list[Span]:
        if not event_stream and _given_out(place) and text != MASK:
            return [Span(0, len(text), MASK)]
        return [Span(start, end, MASK) for start, end in spans(text, secrets)] + [
            Span(*found.span(1), f"{MASK}:{MASK}")
            for found in _USERINFO_TEXT.finditer(text)
            if found[1] != f"{MASK}:{MASK}"
        ]

    return replace_spread(events, find, event_stream=event_stream)


def _given_out(place: Place) -> bool:
    """Whether a text of an answer is a credential: ``access_token``, ``client_secret/value``."""
    name = place[0] if len(place) == 1 or place[1:] == ("value",) else None
    return isinstance(name, str) and is_issued(name)
