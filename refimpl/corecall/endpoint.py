"""Where a model is and how it is asked; what of it may be shown."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

import httpx2


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is and how it is asked.

    ``params`` are sent with every request (``max_tokens``, ``temperature``, ``seed``);
    ``timeout`` is in seconds, per read; ``system_first`` moves system messages to the
    front, since many chat templates refuse a late one. Blanks around ``api_key``, such as
    the line break of a file it was read from, are no part of it. A user and a password in
    ``base_url`` are sent as basic authorization when there is no key, and never shown.

    Raises ``ValueError``, which shows neither key nor address, for a key that no header can
    carry and for a ``base_url`` that is no http(s) address or holds a query or a fragment;
    also for a negative number of retries.

    Contract: provider.request.1, provider.request.2, provider.request.3, provider.request.4,
    provider.request.5, provider.request.10, provider.request.11, provider.error.7.
    """

    base_url: str
    model: str
    api_key: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    timeout: float = 60.0
    retries: int = 2
    system_first: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "api_key", self.api_key.strip())
        # Errors of HTTP libraries would show it, escaped.
        if not (self.api_key.isascii() and self.api_key.isprintable()):
            raise ValueError("api_key holds a character that no header can carry")
        address = _address(self.base_url)
        if address is None:
            raise ValueError("base_url is no http or https address")
        if address.query or address.fragment:  # HTTP libraries log them, and they may hold a key
            raise ValueError("base_url holds a query or a fragment")
        if self.retries < 0:
            raise ValueError(f"retries is {self.retries}, less than 0")

    def __repr__(self) -> str:
        return f"Endpoint(url={self.url!r}, model={self.model!r})"

    @property
    def url(self) -> str:
        """Where requests go, without user and password."""
        address = urlsplit(self.base_url)
        host = address.netloc.rpartition("@")[2]
        return f"{address.scheme}://{host}{address.path.rstrip('/')}/chat/completions"

    @property
    def authorization(self) -> str:
        """The header of that name: the key, else the user and password of the address, else ``""``."""
        if self.api_key:
            return f"Bearer {self.api_key}"
        userinfo = urlsplit(self.base_url).netloc.rpartition("@")[0]
        if not userinfo:
            return ""
        user, _, password = userinfo.partition(":")
        plain = f"{unquote(user)}:{unquote(password)}".encode()
        return f"Basic {base64.b64encode(plain).decode()}"

    def hide(self, text: str) -> str:
        """Return ``text`` with ``***`` for the key and for the user and password of the address.

        Contract: provider.error.6.
        """
        userinfo = urlsplit(self.base_url).netloc.rpartition("@")[0]
        user, _, password = userinfo.partition(":")
        secrets = {self.api_key, userinfo, password or user, self.authorization.partition(" ")[2]}
        secrets |= {unquote(secret) for secret in secrets}
        secrets |= {json.dumps(secret)[1:-1] for secret in secrets}  # as a JSON body quotes it
        for secret in sorted(secrets - {""}, key=len, reverse=True):
            text = text.replace(secret, "***")
        return text


def _address(base_url: str) -> SplitResult | None:
    """Return the parts of an address, ``None`` when it is none that http can reach."""
    try:
        parts = urlsplit(base_url)
        reachable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        httpx2.URL(base_url)
    except (ValueError, httpx2.InvalidURL):
        return None
    return parts if reachable and base_url.isprintable() and " " not in base_url else None
