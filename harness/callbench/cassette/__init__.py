"""Cassettes: recorded model traffic, found by content, replayed event by event, readable in a diff.

    with Cassette.open("everyday.cassette.jsonl") as cassette:
        transport = CassetteTransport(cassette, "replay")
        with case_scope("everyday-001") as scope:
            ...  # use httpx2.AsyncClient(transport=transport)

The file format is described in ``cassette.schema.json`` beside this module, and in ``format``.
"""

from callbench.cassette.events import rechunked
from callbench.cassette.interaction import Event, Interaction, Normalizer, Request, Response
from callbench.cassette.key import canonical_request, request_key
from callbench.cassette.miss import CassetteMiss
from callbench.cassette.nearest import Nearest
from callbench.cassette.network import NetworkDenied, no_network
from callbench.cassette.scope import CaseScope, Exchange, case_scope, current_scope
from callbench.cassette.store import Cassette, rewrite
from callbench.cassette.transport import CassetteTransport, Mode

__all__ = [
    "CaseScope",
    "Cassette",
    "CassetteMiss",
    "CassetteTransport",
    "Event",
    "Exchange",
    "Interaction",
    "Mode",
    "Nearest",
    "NetworkDenied",
    "Normalizer",
    "Request",
    "Response",
    "canonical_request",
    "case_scope",
    "current_scope",
    "no_network",
    "rechunked",
    "request_key",
    "rewrite",
]
