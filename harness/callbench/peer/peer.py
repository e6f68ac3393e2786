"""The one seam between what judges and what is judged."""

from __future__ import annotations

from typing import Any, Protocol

from callbench.peer.answers import Answer, Hello


class Peer(Protocol):
    """An implementation under test."""

    @property
    def hello(self) -> Hello:
        """Who it is. Starts it when it is not running; raises :class:`PeerError` if that fails."""

    def run(
        self, op: str, given: dict[str, Any], deadline: float, *, llm_base_url: str | None = None
    ) -> Answer:
        """Do one operation within ``deadline`` seconds.

        ``given`` is the operation's input as plain values, and stays unchanged. Whatever the peer
        does is an :data:`Answer`; only a peer that cannot be started raises :class:`PeerError`.
        """

    def close(self) -> None:
        """End it. May be called from another thread while an operation runs, and more than once."""
