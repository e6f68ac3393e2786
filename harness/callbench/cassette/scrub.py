"""No secret reaches a cassette: request headers are never kept, and the credentials they hold are masked.

The credentials of a request (its authorization headers, key-like query parameters and top-level members
of its body, user and password of an address) are looked for in everything that would be stored: path,
body, response headers, events, error text. Masking happens before the key is computed, so a recording
made with one key answers a request made with another.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote, unquote_plus

from callbench.cassette import jsontext
from callbench.cassette.events import is_event_stream
from callbench.cassette.interaction import Event, Request, Response
from callbench.cassette.pieces import Place, Span, replace_spread

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
_SECRET_MEMBER = re.compile(
    r"(?i)(?:x[-_])?(?:api[-_]?key|subscription[-_]key|(?:access|auth|refresh)[-_]?token|authorization"
    r"|(?:client[-_]|app[-_])?secret|secret[-_](?:access[-_])?key|password|passwd)"
)
"""Members of a request's body that hold credentials; deeper ones are a tool's own business."""
_IN_ANY_MEMBER = (b"key", b"token", b"auth", b"secret", b"passw")
"""Looked for one by one: a pattern that is blind to case takes most of a millisecond on a prompt."""
_FORM = re.compile(rb"[\w.~%+-]+=[^&\s]*(?:&[\w.~%+-]+=[^&\s]*)*")
_USERINFO = re.compile(rb"(?<=://)[^\s/:@\"'<>\\]{1,256}:[^\s/@\"'<>\\]{1,256}(?=@)")
_USERINFO_TEXT = re.compile(_USERINFO.pattern.decode())


def secrets_of(
    headers: Iterable[tuple[bytes, bytes]],
    target: str,
    extra: Sequence[str] = (),
    body: bytes = b"",
) -> tuple[str, ...]:
    """The credentials a request carries, longest first.

    ``headers``: raw names and values; ``target``: path and query as sent; ``extra``: further secrets.
    """
    found = {*extra, *_body_credentials(body)}
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


def _body_credentials(body: bytes) -> Iterable[str]:
    if b"://" in body:
        for userinfo in _USERINFO.findall(body):
            yield userinfo.partition(b":")[2].decode("utf-8", "replace")
    for _, value in _secret_members(body):
        if isinstance(value, str):
            yield value
            yield value.removeprefix("Bearer ").strip()


def _secret_members(body: bytes) -> list[tuple[str, Any]]:
    """The top-level members of a JSON body, or the fields of a form, that are named like credentials."""
    lowered = body.lower()
    if not any(part in lowered for part in _IN_ANY_MEMBER):
        return []
    if body.startswith(b"{"):
        try:
            value = jsontext.loads(body)
        except ValueError:
            return []
        members = value.items()
    elif _FORM.fullmatch(body):
        members = [
            (name, unquote_plus(text))
            for name, text in _parameters("?" + body.decode("utf-8", "replace"))
        ]
    else:
        return []
    return [(name, text) for name, text in members if _SECRET_MEMBER.fullmatch(name) and text]


def mask_request(request: Request, secrets: Sequence[str]) -> Request:
    """The request with every credential replaced by ``***``, in path and body."""
    path = _mask_parameters(request.path)
    body = _mask_userinfo(_mask_members(request.body))
    if secrets:
        path, body = _mask_text(path, secrets), _mask_bytes(body, secrets)
    if path == request.path and body == request.body:
        return request
    return replace(request, path=path, body=body)


def _mask_members(body: bytes) -> bytes:
    """Mask the values of credential members of a body, however short."""
    names = {name for name, value in _secret_members(body) if value != MASK}
    if not names:
        return body
    if body.startswith(b"{"):
        value = jsontext.loads(body)
        return jsontext.dumps({k: MASK if k in names else v for k, v in value.items()})
    parts = []
    for part in body.split(b"&"):
        name = part.partition(b"=")[0]
        secret = unquote_plus(name.decode("utf-8", "replace")) in names
        parts.append(name + b"=" + MASK.encode() if secret else part)
    return b"&".join(parts)


def _mask_userinfo(data: bytes) -> bytes:
    """Mask user and password of addresses."""
    if b"://" not in data:
        return data
    return _USERINFO.sub(b"%b:%b" % (MASK.encode(), MASK.encode()), data)


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
    at = any(b"@" in event.data for event in response.events)
    if not (secrets or at or "@" in (response.error or "")):
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
    stream = is_event_stream(response.headers)
    return replace(
        response,
        headers={name: _mask_text(value, secrets) for name, value in response.headers.items()},
        events=_mask_spread(events, secrets, event_stream=stream),
        error=error,
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


def _mask_spread(
    events: Sequence[Event], secrets: Sequence[str], *, event_stream: bool
) -> tuple[Event, ...]:
    """Mask credentials that a model streamed piece by piece, or a server escaped its own way."""

    def find(text: str, _: Place) -> list[Span]:
        return [
            Span(found.start(), found.end(), MASK)
            for secret in secrets
            for found in re.finditer(re.escape(secret), text)
        ] + [
            Span(found.start(), found.end(), f"{MASK}:{MASK}")
            for found in _USERINFO_TEXT.finditer(text)
            if found[0] != f"{MASK}:{MASK}"
        ]

    return replace_spread(events, find, event_stream=event_stream)
