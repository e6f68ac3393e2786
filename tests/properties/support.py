"""What the property tests share: their settings, JSON equality, walks over JSON values."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import HealthCheck, settings

Tokens = tuple[str, ...]

ABSENT: Any = object()


def tries(count: int) -> settings:
    """Settings of a property test: so many examples, new ones in every run, no timing."""
    return settings(
        max_examples=count,
        deadline=None,
        derandomize=False,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


def canonical(value: Any) -> str:
    """Return ``value`` as text that is equal exactly for equal JSON values, key order apart."""
    return json.dumps(value, sort_keys=True)


def places(value: Any, tokens: Tokens = ()) -> Iterator[tuple[Tokens, Any]]:
    """Yield every place in ``value``, the root first, with what stands there."""
    yield tokens, value
    if isinstance(value, dict):
        for name, child in value.items():
            yield from places(child, (*tokens, name))
    elif isinstance(value, list):
        for number, child in enumerate(value):
            yield from places(child, (*tokens, str(number)))


def parsed(pointer: str) -> Tokens:
    """Return the tokens of a well-formed JSON Pointer."""
    tokens = pointer.split("/")[1:]
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in tokens)


def related(one: Tokens, other: Tokens) -> bool:
    """Say whether one of two places is the other or beneath it."""
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def at(value: Any, tokens: Tokens) -> Any:
    """Return what stands at ``tokens``, or :data:`ABSENT`."""
    return dict(places(value)).get(tokens, ABSENT)


def reordered(value: Any) -> Any:
    """Return a copy of ``value`` with the members of every object in reverse order."""
    if isinstance(value, dict):
        return {name: reordered(value[name]) for name in reversed(value)}
    if isinstance(value, list):
        return [reordered(child) for child in value]
    return value
