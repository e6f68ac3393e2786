"""What the patches share: the headers of answers, what is stored of them and what a client gets back."""

from __future__ import annotations

from collections.abc import Iterable

from callbench.cassette.interaction import Interaction
from callbench.cassette.scrub import MASK, RESPONSE_HEADERS

_OF_THE_WIRE = frozenset({"content-encoding", "content-length", "transfer-encoding", "connection"})
"""Headers about how bytes traveled; a replayed body is whole and not compressed."""


def stored_headers(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The allow-listed headers of an answer, names in lower case."""
    lowered = {name.lower(): value for name, value in headers}
    return {name: lowered[name] for name in RESPONSE_HEADERS if name in lowered}


def answer_headers(interaction: Interaction) -> list[tuple[str, str]]:
    """The headers a client gets with a recorded answer: those stored, and those a vcrpy cassette had."""
    stored = interaction.response.headers
    fields = list(stored.items())
    for name, values in (interaction.vcr or {}).get("response_headers", {}).items():
        if name.lower() not in _OF_THE_WIRE and name.lower() not in stored:
            given = [values] if isinstance(values, str) else values
            fields.extend((name, value) for value in given if value != MASK)
    return fields
