"""The error for a peer of which nothing can be said: it cannot be started or does not introduce itself."""

from __future__ import annotations

from callbench.errors import UsageError


class PeerError(UsageError):
    """``--impl`` names no peer; the message says what came instead of one."""
