"""The recorded answers of a case by turn, for a system whose requests no recording is keyed by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from callbench.cassette.events import is_event_stream
from callbench.cassette.interaction import Interaction
from callbench.cassette.store import Cassette
from callbench.conformance.traffic.script import Reply, Script

Messages = list[Any]


@dataclass(frozen=True, slots=True)
class Turns:
    """What was recorded of one case: the answer of stage 1, then those of stage 2 in order."""

    reasoning: tuple[Interaction, ...] = ()
    function: tuple[Interaction, ...] = ()

    def __iter__(self) -> Iterator[Interaction]:
        return iter((*self.reasoning, *self.function))

    def of(self, model: str) -> tuple[Interaction, ...]:
        """Return those of one of the two roles."""
        return self.reasoning if model == "reasoning" else self.function

    def script(self) -> Script:
        """Return these answers as an endpoint gives them, event by event as they were recorded.

        The last answer of stage 2 answers further trials, too: a model recorded with one trial
        was not asked again.
        """
        return Script(
            tuple(map(_reply, self.reasoning)),
            tuple(map(_reply, self.function)),
            again=True,
            what="the cassette has",
        )


def turns_of(cassette: Cassette, case: str) -> Turns:
    """Return the recorded turns of a case, by its id.

    Stage 1 is what was asked streaming, stage 2 what goes on from its messages. Where a file
    holds several (other prompts, failed attempts), the latest count.
    """
    found = cassette.of_case(case)
    first = next((one for one in reversed(found) if _body(one).get("stream") is True), None)
    if first is None:
        return Turns()
    messages = _messages(first)
    trials = {
        len(_messages(one)): one
        for one in found
        if not _body(one).get("stream") and _messages(one)[: len(messages)] == messages
    }
    return Turns((first,), tuple(trials[length] for length in sorted(trials)))


def _body(interaction: Interaction) -> dict[str, Any]:
    body = interaction.request.json()
    return body if isinstance(body, dict) else {}


def _messages(interaction: Interaction) -> Messages:
    messages = _body(interaction).get("messages")
    return messages if isinstance(messages, list) else []


def _reply(interaction: Interaction) -> Reply:
    response = interaction.response
    return Reply(
        events=tuple(event.data for event in response.events),
        status=response.status,
        stream=is_event_stream(response.headers),
        cut=response.error is not None,
    )


def given(turns: Turns, replied: Sequence[tuple[str, int]]) -> list[Interaction]:
    """Return the recordings that were given as answers, each once, in that order."""
    return [turns.of(model)[turn] for model, turn in dict.fromkeys(replied)]
