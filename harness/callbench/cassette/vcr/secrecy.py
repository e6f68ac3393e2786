"""What must not pass from a vcrpy cassette into ours: found in the whole file first, then masked everywhere.

vcrpy keeps all headers and the whole address. Values of headers that are named like credentials, or say
who asked, are masked; so is whatever looks like a key, in headers, addresses and bodies.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from callbench.cassette.interaction import Request
from callbench.cassette.scrub import MASK, mask_bytes, mask_request, secrets_of

_SECRET_HEADER = re.compile(
    r"(?i)auth|key|token|secret|cookie|session|passw|credential|signature|hmac|csrf|xsrf|account"
    r"|organization|user-?id|forwarded|client-ip|real-ip"
)
_PLAIN_HEADER = re.compile(
    r"(?i)access-control-.*|www-authenticate|proxy-authenticate|.*ratelimit.*|.*rate-limit.*|:authority"
)


def is_secret_header(name: str) -> bool:
    """Whether the value of such a header is never stored."""
    return bool(_SECRET_HEADER.search(name)) and not _PLAIN_HEADER.fullmatch(name)


def credentials(
    headers: Mapping[str, list[str]], target: str, body: bytes, texts: Iterable[bytes]
) -> set[str]:
    """The credentials of one recorded exchange: those the request carries, and what looks like a key.

    ``texts``: everything of it that will be stored.
    """
    from callbench.cassette.detect import secrets_in

    raw = [(name.encode(), value.encode()) for name, values in headers.items() for value in values]
    found = set(secrets_of(raw, target, (), body))
    for text in texts:
        for hit in secrets_in(text.decode("utf-8", "replace"), entropy=False):
            if "\ufffd" not in hit.value:
                found.add(hit.value)
    return found - {MASK}


def masked_headers(
    headers: Mapping[str, list[str]], secrets: Sequence[str], masked: Counter[str]
) -> dict[str, list[str]]:
    """The headers without credentials; names, order and number of values stay."""
    kept = {}
    for name, values in headers.items():
        secret = is_secret_header(name)
        kept[name] = [MASK if secret and v else _masked(v, secrets) for v in values]
        if kept[name] != values:
            masked[f"headers {name.lower()}"] += 1
    return kept


def masked_uri(uri: str, secrets: Sequence[str], masked: Counter[str]) -> str:
    """The address without credentials in its query, and without a user's name and password."""
    address = mask_request(Request("GET", uri, uri.encode()), secrets)
    kept = mask_request(Request("GET", "/", address.path.encode()), secrets).body.decode()
    masked["addresses"] += kept != uri
    return kept


def masked_value(value: Any, secrets: Sequence[str]) -> Any:
    """A JSON value with every credential in its texts masked."""
    if isinstance(value, str):
        return _masked(value, secrets)
    if isinstance(value, dict):
        return {_masked(k, secrets): masked_value(v, secrets) for k, v in value.items()}
    if isinstance(value, list):
        return [masked_value(v, secrets) for v in value]
    return value


def _masked(text: str, secrets: Sequence[str]) -> str:
    data = text.encode("utf-8", "surrogateescape")
    return mask_bytes(data, secrets).decode("utf-8", "surrogateescape")
