"""No secret reaches a cassette: request headers are never kept, and the credentials they hold are masked.

The credentials of a request (its authorization headers, key-like query parameters) are looked for in
everything that would be stored: path, body, response headers, events, error text. Masking happens before
the key is computed, so a recording made with one key answers a request made with another.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any
from urllib.parse import quote, unquote_plus

from callbench.cassette import jsontext
from callbench.cassette.events import is_event_stream, payload
from callbench.cassette.interaction import Event, Request, Response

MASK = "***"
SHORTEST_SECRET = 8
"""Shorter credentials (``EMPTY``, ``none``) are placeholders; masking them would eat common words."""

RESPONSE_HEADERS = ("content-type", "retry-after", "retry-after-ms")
"""The response headers that are stored; everything else, and every request header, is not."""

POLICY = {
    "request_headers": [],
    "response_headers": list(RESPONSE_HEADERS),
    "credentials": f"masked as {MASK}",
}
"""What the header line of a cassette says about scrubbing."""

_SECRET_HEADERS = frozenset(
    {
        b"authorization",
        b"proxy-authorization",
        b"api-key",
        b"x-api-key",
        b"x-goog-api-key",
        b"x-auth-token",
        b"cookie",
    }
)
_ONE_SPELLING = re.compile(r"[A-Za-z0-9._~-]+")
_SECRET_PARAMETER = re.compile(
    r"(?i)(?:api[-_]?key|subscription[-_]key|key|(?:access|auth|id|refresh)?[-_]?token|auth|authorization"
    r"|secret|client[-_]secret|password|passwd|pwd|sig|signature)"
)


def secrets_of(
    headers: Iterable[tuple[bytes, bytes]], target: str, extra: Sequence[str] = ()
) -> tuple[str, ...]:
    """The credentials a request carries, longest first.

    ``headers``: raw names and values; ``target``: path and query as sent; ``extra``: further secrets.
    """
    found = set(extra)
    for name, value in headers:
        lowered = name.lower()
        if lowered in _SECRET_HEADERS:
            found.update(_credentials(value.decode("latin-1"), cookies=lowered == b"cookie"))
    if "?" in target:
        for parameter, text in _parameters(target):
            if _SECRET_PARAMETER.fullmatch(parameter):
                found.update((text, unquote_plus(text)))
    return tuple(
        sorted((s for s in found if len(s) >= SHORTEST_SECRET), key=lambda s: (-len(s), s))
    )


def _credentials(value: str, *, cookies: bool) -> Iterable[str]:
    """The secret parts of a credential header: what a server could echo."""
    if cookies:
        for cookie in value.split(";"):
            yield cookie.partition("=")[2].strip()
        return
    scheme, _, token = value.strip().partition(" ")
    yield token.strip() or scheme
    if scheme.lower() == "basic":
        try:
            yield base64.b64decode(token, validate=True).decode().partition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            return


def _parameters(target: str) -> Iterable[tuple[str, str]]:
    for part in target.partition("?")[2].split("&"):
        name, _, value = part.partition("=")
        yield unquote_plus(name), value


def mask_request(request: Request, secrets: Sequence[str]) -> Request:
    """The request with every credential replaced by ``***``, in path and body."""
    path = _mask_text(_mask_parameters(request.path), secrets) if secrets else request.path
    if not secrets:
        return request if "?" not in path else replace(request, path=_mask_parameters(path))
    body = _mask_bytes(request.body, secrets)
    if path == request.path and body == request.body:
        return request
    return replace(request, path=path, body=body)


def _mask_parameters(path: str) -> str:
    """Mask the values of key-like query parameters, however short."""
    head, mark, query = path.partition("?")
    if not mark:
        return path
    parts = []
    for part in query.split("&"):
        name, equals, _ = part.partition("=")
        secret = equals and _SECRET_PARAMETER.fullmatch(unquote_plus(name))
        parts.append(f"{name}={MASK}" if secret else part)
    return f"{head}?{'&'.join(parts)}"


def mask_response(response: Response, secrets: Sequence[str]) -> Response:
    """The response with every credential masked, also one that is spread over several events."""
    if not secrets:
        return response
    events = [Event(event.at_ms, _mask_bytes(event.data, secrets)) for event in response.events]
    stream = is_event_stream(response.headers)
    return replace(
        response,
        headers={name: _mask_text(value, secrets) for name, value in response.headers.items()},
        events=tuple(_mask_spread(events, secrets, event_stream=stream)),
        error=None if response.error is None else _mask_text(response.error, secrets),
    )


def mask_bytes(data: bytes, secrets: Sequence[str]) -> bytes:
    """The data with every spelling of the credentials replaced by ``***``; placeholders stay."""
    return _mask_bytes(data, secrets_of((), "", secrets))


def holds_secret(data: bytes, secrets: Sequence[str]) -> bool:
    """Whether any spelling of a credential occurs in ``data``: the last check before writing."""
    return any(spelling in data for secret in secrets for spelling in _spellings(secret))


def _spellings(secret: str) -> tuple[bytes, ...]:
    """The credential as plain text, inside a JSON string and percent-encoded; longest first."""
    if _ONE_SPELLING.fullmatch(secret):
        return (secret.encode(),)
    plain = {secret.encode(), jsontext.dumps(secret)[1:-1], quote(secret, safe="").encode()}
    return tuple(sorted(plain, key=lambda spelling: (-len(spelling), spelling)))


def _mask_bytes(data: bytes, secrets: Sequence[str]) -> bytes:
    for secret in secrets:
        for spelling in _spellings(secret):
            if spelling in data:
                data = data.replace(spelling, MASK.encode())
    return data


def _mask_text(text: str, secrets: Sequence[str]) -> str:
    return _mask_bytes(text.encode("utf-8", "surrogateescape"), secrets).decode(
        "utf-8", "surrogateescape"
    )


_Place = tuple[str | int, ...]


def _mask_spread(
    events: Sequence[Event], secrets: Sequence[str], *, event_stream: bool
) -> list[Event]:
    """Mask credentials that a model streamed piece by piece, or a server escaped its own way.

    The texts at the same place of successive events (``choices/0/delta/content``) are read as one; an
    event with a part of a credential in it is written anew, all others keep their bytes.
    """
    values = [_document(event.data, event_stream=event_stream) for event in events]
    pieces: dict[_Place, list[tuple[int, str]]] = defaultdict(list)
    for number, value in enumerate(values):
        for place, text in _texts(value):
            pieces[place].append((number, text))
    changed: set[int] = set()
    for place, texts in pieces.items():
        masked = _mask_joined([text for _, text in texts], secrets)
        for (number, text), new in zip(texts, masked, strict=True):
            if new != text:
                values[number] = _with_text(values[number], place, new)
                changed.add(number)
    return [
        replace(event, data=_written(event.data, values[number], event_stream=event_stream))
        if number in changed
        else event
        for number, event in enumerate(events)
    ]


def _document(data: bytes, *, event_stream: bool) -> Any:
    """The JSON value an event carries; a text that is not JSON stands for itself."""
    text = payload(data) if event_stream else data
    try:
        return jsontext.loads(text)
    except ValueError:
        return text.decode("utf-8", "surrogateescape")


def _written(data: bytes, value: Any, *, event_stream: bool) -> bytes:
    """The event ``data`` with ``value`` as its payload; its other fields stay."""
    text = (
        value.encode("utf-8", "surrogateescape")
        if isinstance(value, str)
        else jsontext.dumps(value)
    )
    if not event_stream:
        return text
    fields = [line for line in data.splitlines() if line and line.partition(b":")[0] != b"data"]
    return b"\n".join([*fields, *(b"data: " + line for line in text.split(b"\n"))]) + b"\n\n"


def _texts(value: Any, place: _Place = ()) -> Iterable[tuple[_Place, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from _texts(member, (*place, name))
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from _texts(member, (*place, index))


def _with_text(value: Any, place: _Place, text: str) -> Any:
    if not place:
        return text
    parent = value
    for step in place[:-1]:
        parent = parent[step]
    parent[place[-1]] = text
    return value


def _mask_joined(texts: list[str], secrets: Sequence[str]) -> list[str]:
    """Mask credentials in the joined texts; the mask stands in the piece where one begins."""
    joined = "".join(texts)
    spans = sorted(
        (found.start(), found.end())
        for secret in secrets
        for found in re.finditer(re.escape(secret), joined)
    )
    if not spans:
        return texts
    ends = [0]
    for text in texts:
        ends.append(ends[-1] + len(text))
    return [_cut(joined, begin, end, spans) for begin, end in pairwise(ends)]


def _cut(joined: str, begin: int, end: int, spans: list[tuple[int, int]]) -> str:
    """The part ``begin:end`` of ``joined`` with the given spans masked."""
    parts: list[str] = []
    position = begin
    for start, stop in spans:
        if stop <= position or start >= end:
            continue
        parts.append(joined[position : max(start, position)])
        if start >= begin:
            parts.append(MASK)
        position = min(stop, end)
    parts.append(joined[position:end])
    return "".join(parts)
