"""Which parts of a request are credentials: headers, query parameters, members of a body, by their names.

Their values are looked for in everything that would be stored (``spelling``) and masked (``scrub``).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import unquote_plus

from callbench.cassette import jsontext

SHORTEST_SECRET = 8
"""Shorter credentials (``EMPTY``, ``none``) are placeholders; masking them would eat common words."""

USERINFO = re.compile(rb"://([^\s/:@\"'<>\\]{1,256}:[^\s/@\"'<>\\]{1,256})@")
"""User and password of an address, in the group."""

_KEY = r"(?:api|auth|access|subscription|secret|private|account|functions|app)[-_]?key"
_GIVEN = r"(?:access|auth|id|refresh|security|session|bearer)[-_]?token"
_WORD = r"(?:client|app|api)[-_]?secret|secret[-_]access[-_]key|authorization|passw(?:or)?d"
_SECRET_HEADER = re.compile(
    r"(?:.*[-_])?(?:apikey|key|token|secret|auth|authorization|passw(?:or)?d|cookie|credentials?|signature)"
)
_PLAIN_HEADER = re.compile(r"idempotency-key|sec-websocket-key|.*(?:routing|cache|partition)-key")
_SECRET_PARAMETER = re.compile(
    rf"(?i)(?:x[-_])?{_KEY}|{_GIVEN}|{_WORD}|key|[-_]?token|auth|secret|pwd|sig|signature|app_?id"
    r"|x-(?:amz|goog|oss|cos|ms)-(?:signature|credential|security-token)|(?:aws|oss)accesskeyid"
)
_SECRET_MEMBER = re.compile(rf"(?i)[\w-]*(?:{_KEY}|{_GIVEN}|{_WORD})")
_SECRET_OF_AUTHENTICATION = re.compile(r"(?i)[\w-]*(?:key|token|secret|password)|value")
_AUTHENTICATION = frozenset({"auth", "authentication", "credentials", "credential"})
_ISSUED = re.compile(rf"(?i){_GIVEN}|(?:client|app|api)[-_]?secret|api[-_]?key")
_NOT_LOOKED_INTO = frozenset(
    {
        "messages",
        "input",
        "contents",
        "prompt",
        "system",
        "function",
        "functions",
        "response_format",
    }
    | {"input_schema", "function_declarations", "functionDeclarations", "properties"}
)
"""Members that are not looked into: what is said, and what tools take, is their own business."""
_IN_ANY_NAME = (b"key", b"token", b"auth", b"secret", b"passw", b"cookie", b"credential")
"""Looked for one by one: a pattern that is blind to case takes most of a millisecond on a prompt."""
_PARTS_OF_AUTHORIZATION = re.compile(
    r"(?i)\b(credential|signature|response|token|key|secret|password)=\"?([^\",\s]+)"
)
_FORM = re.compile(rb"[\w.~%+-]+=[^&\s]*(?:&[\w.~%+-]+=[^&\s]*)*")
_FIELD = re.compile(
    rb'(?i)(content-disposition: *form-data;[^\r\n]*\bname="([^"\r\n]+)"[^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n)'
    rb"([^\r\n]+)"
)
_LONG_CODE = 20
"""``code=`` of this length is the key of an Azure function or of a sign-in; a shorter one is a code."""


def secrets_of(
    headers: Iterable[tuple[bytes, bytes]],
    target: str,
    extra: Sequence[str] = (),
    body: bytes = b"",
) -> tuple[str, ...]:
    """The credentials a request carries, longest first.

    ``headers``: raw names and values; ``target``: path and query as sent; ``extra``: further secrets.
    """
    found = {*extra, *_of_body(body)}
    for name, value in headers:
        if is_secret_header(name):
            found.update(_of_header(value.decode("latin-1"), cookies=name.lower() == b"cookie"))
    if "?" in target:
        for parameter, text in parameters(target.partition("?")[2]):
            if is_secret_parameter(parameter, text):
                found.update((text, unquote_plus(text)))
    return tuple(
        sorted((s for s in found if len(s) >= SHORTEST_SECRET), key=lambda s: (-len(s), s))
    )


@lru_cache(maxsize=512)
def is_secret_header(name: bytes) -> bool:
    """Whether a request header of this name carries a credential."""
    lowered = name.decode("latin-1").lower()
    return bool(_SECRET_HEADER.fullmatch(lowered)) and not _PLAIN_HEADER.fullmatch(lowered)


def is_secret_parameter(name: str, value: str) -> bool:
    """Whether a query parameter or the field of a form carries a credential."""
    if name == "code":
        return len(value) >= _LONG_CODE
    return _SECRET_PARAMETER.fullmatch(name) is not None


def is_issued(name: str) -> bool:
    """Whether a top-level member of an answer is a credential that the server gives out."""
    return _ISSUED.fullmatch(name) is not None


def _of_header(value: str, *, cookies: bool) -> Iterator[str]:
    """The secret parts of a credential header: what a server could echo."""
    if cookies:
        for cookie in value.split(";"):
            yield cookie.partition("=")[2].strip()
        return
    scheme, _, token = value.strip().partition(" ")
    yield token.strip() or scheme
    for name, part in _PARTS_OF_AUTHORIZATION.findall(token):
        yield part.partition("/")[0] if name.lower() == "credential" else part
    if scheme.lower() == "basic":
        try:
            yield base64.b64decode(token, validate=True).decode().partition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            return


def parameters(query: str) -> Iterator[tuple[str, str]]:
    """Decoded names and raw values of a query or a form."""
    for part in query.split("&"):
        name, _, value = part.partition("=")
        yield unquote_plus(name), value


def _of_body(body: bytes) -> Iterator[str]:
    if b"://" in body and b"@" in body:
        for userinfo in USERINFO.findall(body):
            yield userinfo.partition(b":")[2].decode("utf-8", "replace")
    if body[:1] in (b"{", b"["):
        for container, name in _places(_parsed(body)):
            value = container[name]
            if isinstance(value, str):
                yield value
                yield value.removeprefix("Bearer ").strip()
    elif is_form(body):
        for name, text in parameters(body.decode("utf-8", "replace")):
            if is_secret_parameter(name, text):
                yield from (text, unquote_plus(text))
    else:
        for found in _FIELD.finditer(body):
            if is_secret_parameter(found[2].decode("utf-8", "replace"), ""):
                yield found[3].decode("utf-8", "replace")


def masked_members(body: bytes, mask: str) -> bytes:
    """The body with the values of its credential members or fields masked, however short."""
    if body[:1] in (b"{", b"["):
        value = _parsed(body)
        places = [(c, name) for c, name in _places(value) if c[name] != mask]
        if not places:
            return body
        for container, name in places:
            container[name] = mask
        return jsontext.dumps(value)
    if is_form(body):
        return masked_parameters(body.decode("utf-8", "surrogateescape"), mask).encode(
            "utf-8", "surrogateescape"
        )

    def field(found: re.Match[bytes]) -> bytes:
        secret = is_secret_parameter(found[2].decode("utf-8", "replace"), "")
        return found[1] + mask.encode() if secret else found[0]

    return _FIELD.sub(field, body) if b"form-data" in body else body


def masked_parameters(query: str, mask: str) -> str:
    """A query or a form with the values of its credentials masked, however short."""
    parts = []
    for part in query.split("&"):
        name, equals, value = part.partition("=")
        secret = equals and is_secret_parameter(unquote_plus(name), value)
        parts.append(f"{name}={mask}" if secret else part)
    return "&".join(parts)


def is_form(body: bytes) -> bool:
    """Whether a body is a form in the encoding of a query."""
    return _FORM.fullmatch(body) is not None


def _parsed(body: bytes) -> Any:
    """The value of a body in which some member may be a credential, else ``None``."""
    lowered = body.lower()
    if not any(part in lowered for part in _IN_ANY_NAME):
        return None
    try:
        return jsontext.loads(body)
    except ValueError:
        return None


def _places(value: Any) -> Iterator[tuple[dict[str, Any], str]]:
    """Where in a JSON value credentials stand: the object and the name of the member.

    At the top whatever is named like one; deeper texts only, in objects of headers or of authentication
    by the names that are usual there.
    """
    pending: list[tuple[Any, str]] = [(value, "")]
    while pending:
        container, within = pending.pop()
        if isinstance(container, list):
            pending.extend((member, within) for member in container)
        elif isinstance(container, dict):
            for name, member in container.items():
                if (
                    member
                    and _is_credential(name, within)
                    and (isinstance(member, str) or container is value)
                ):
                    yield container, name
                elif name not in _NOT_LOOKED_INTO and isinstance(member, (dict, list)):
                    pending.append((member, name.lower()))


@lru_cache(maxsize=4096)
def _is_credential(name: str, within: str) -> bool:
    if within.endswith("headers"):
        return is_secret_header(name.encode())
    if within in _AUTHENTICATION and _SECRET_OF_AUTHENTICATION.fullmatch(name):
        return True
    return _SECRET_MEMBER.fullmatch(name) is not None
