"""When the tokens of a streamed answer came: the time to the first one, and the speed of those after it.

An event *holds a token* when a choice of it says something: content, reasoning, a refusal, or a part of a
tool call. The first chunk of most endpoints only names the role, the last ones only say how it ended and
what was used: none of these counts.

* ``first_token_ms``: from sending the request to the first event that holds a token.
* tokens per second: ``(tokens - 1) / (last event with a token - first event with a token)``, the inverse of
  what benchmarks of serving call time per output token. ``tokens`` is what the endpoint reported
  (``completion_tokens``), less its hidden reasoning when no reasoning was streamed.

Neither is told of an answer that was not streamed; no speed without usage, of fewer than two tokens, or
where all came within one millisecond.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from callbench.cassette.events import is_event_stream, payload
from callbench.cassette.interaction import Event, Interaction

_SAID = ("content", "reasoning_content", "reasoning", "refusal", "tool_calls", "function_call")
_REASONING = ("reasoning_content", "reasoning")


@dataclass(frozen=True, slots=True)
class TokenTimes:
    """``first_ms`` is the time to the first token; ``decoded`` tokens came in the ``decode_ms`` after it.

    ``decoded`` is ``None`` where no speed can be told.
    """

    first_ms: int
    decode_ms: int = 0
    decoded: int | None = None


def token_times(interaction: Interaction) -> TokenTimes | None:
    """The times of a recorded answer; ``None`` when it was not streamed or holds no token."""
    response = interaction.response
    if not is_event_stream(response.headers):
        return None
    first = _first(response.events)
    if first is None:
        return None
    event, said = first
    last, _ = _first(reversed(response.events)) or first
    span = last.at_ms - event.at_ms
    tokens = _tokens(interaction.usage, response.events, said)
    if tokens is None or tokens < 2 or span <= 0:
        return TokenTimes(event.at_ms)
    return TokenTimes(event.at_ms, span, tokens - 1)


def _first(events: Iterable[Event]) -> tuple[Event, frozenset[str]] | None:
    for event in events:
        said = _said(event)
        if said:
            return event, said
    return None


def _said(event: Event) -> frozenset[str]:
    """The members of a chunk's deltas that say something; none of what cannot be read."""
    try:
        chunk = orjson.loads(payload(event.data))
        deltas = [choice.get("delta") or {} for choice in chunk.get("choices") or ()]
        return frozenset(name for delta in deltas for name in _SAID if delta.get(name))
    except (ValueError, AttributeError, TypeError):
        return frozenset()


def _tokens(
    usage: Mapping[str, Any] | None, events: Sequence[Event], first: frozenset[str]
) -> int | None:
    tokens = (usage or {}).get("completion_tokens")
    if type(tokens) is not int:
        return None
    details = (usage or {}).get("completion_tokens_details")
    hidden = details.get("reasoning_tokens") if isinstance(details, dict) else None
    if type(hidden) is int and hidden > 0 and first.isdisjoint(_REASONING):
        shown = any(not _said(event).isdisjoint(_REASONING) for event in events)
        return tokens if shown else tokens - hidden
    return tokens
