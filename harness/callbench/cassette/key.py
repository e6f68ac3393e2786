"""The canonical request and its key.

What decides which recording answers: method, path after the base, and the meaning of the body. What does
not: host, headers, whitespace, the order of the body's top-level members, the value of an API key.
"""

from __future__ import annotations

import hashlib
import re
from urllib.parse import urlsplit

from callbench.cassette import jsontext
from callbench.cassette.interaction import Request

_VERSIONED_BASE = re.compile(r"(?:/[^/?]+)*?/v\d+[a-z0-9]*(?=/)")


def canonical_request(method: str, target: str, body: bytes, *, base_url: str = "") -> Request:
    """Bring a request into canonical form.

    ``target`` is the path as sent, with its query. What comes before the endpoint is dropped: the path of
    ``base_url`` where the target starts with it, else everything up to a version segment
    (``/openai/v1/chat/completions`` is ``/chat/completions``). A JSON body is compacted with its
    top-level members sorted and nested order kept; any other body stays byte for byte.
    """
    canonical = jsontext.canonical(body)
    return Request(
        method=method.upper(),
        path=path_after_base(target, base_url),
        body=body if canonical is None else canonical,
    )


def path_after_base(target: str, base_url: str = "") -> str:
    """The part of ``target`` (path and query) that names the endpoint; starts with ``/``."""
    base = urlsplit(base_url).path.rstrip("/")
    if base:
        rest = target.removeprefix(base)
        return rest if rest != target and rest.startswith("/") else target
    found = _VERSIONED_BASE.match(target)
    return target[found.end() :] if found else target


def request_key(request: Request) -> str:
    """SHA-256 over method, path and canonical body, as 64 hex digits.

    A line break ends the head: no method or path holds one, so no two requests share their bytes.
    """
    head = f"{request.method} {request.path}\n".encode()
    return hashlib.sha256(head + request.body).hexdigest()
