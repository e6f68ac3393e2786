"""C3, B1, B2: wherever a network cuts a recorded answer, the client reads the same reply."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx2
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from callbench.bundled import bundled
from callbench.cassette import Cassette, Event, Interaction, Response, rechunked
from callbench.cassette.replay import replay
from corecall.providers import ChatClient, Endpoint

PHASES = (Phase.explicit, Phase.reuse, Phase.generate)  # shrinking a recording takes minutes
BUNDLED = sorted(bundled("cassettes").glob("*.cassette.jsonl"))


class Answers(httpx2.AsyncBaseTransport):
    """Gives one response, cut as the test says."""

    def __init__(self, response: Response) -> None:
        self.response = response

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return replay(self.response)


def reply(interaction: Interaction, events: tuple[Event, ...]) -> object:
    """What the reference client makes of a response: its pieces joined, or the whole completion."""
    recorded = interaction.response
    response = Response(recorded.status, recorded.headers, events, recorded.error)
    body = json.loads(interaction.request.body)

    async def ask() -> object:
        client = ChatClient(Endpoint("http://recorded/v1", "m"), transport=Answers(response))
        try:
            if not body.get("stream"):
                whole = await client.complete(body["messages"])
                return [whole.content, whole.reasoning, whole.tool_calls]
            said = ["", ""]
            async for piece in client.stream(body["messages"]):
                said[0] += piece.content
                said[1] += piece.reasoning
            return said
        finally:
            await client.aclose()

    return asyncio.run(ask())


@pytest.mark.parametrize("path", BUNDLED, ids=lambda path: path.name)
@settings(max_examples=15, deadline=None, phases=PHASES)
@given(data=st.data())
def test_any_cut_of_any_bundled_recording_reads_the_same(path: Path, data: st.DataObject) -> None:
    interactions = _loaded(path)
    interaction = interactions[data.draw(st.integers(0, len(interactions) - 1))]
    events = interaction.response.events
    size = len(interaction.response.body)
    borders = data.draw(st.lists(st.integers(0, size), max_size=200))
    if data.draw(st.booleans()):
        borders = list(range(size))  # every byte alone
    cut = rechunked(events, borders)
    assert b"".join(event.data for event in cut) == interaction.response.body
    assert reply(interaction, cut) == reply(interaction, events)


_kept: dict[Path, list[Interaction]] = {}


def _loaded(path: Path) -> list[Interaction]:
    if path not in _kept:
        _kept[path] = list(Cassette.open(path))
    return _kept[path]


def test_pieces_come_when_the_event_of_their_last_byte_came() -> None:
    events = (Event(5, b"abc"), Event(9, b"def"))
    assert rechunked(events, [1, 4, 6, 99, -1, 0]) == (
        Event(5, b"a"),
        Event(9, b"bcd"),
        Event(9, b"ef"),
    )
    assert rechunked((), [1]) == ()
