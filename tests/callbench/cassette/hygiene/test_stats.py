"""``stats``: numbers that can be counted by hand."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callbench.cassette import Cassette, Event, Interaction, Response
from callbench.cassette.hygiene.stats import percentile, stats_of
from callbench.errors import CassetteError

from .conftest import LONG


def test_by_hand(path: Path, recording: Callable[..., Interaction]) -> None:
    sse = {"content-type": "text/event-stream"}
    events = tuple(Event(at, b"data: {}\n\n") for at in (100, 150, 300))
    usage = {"prompt_tokens": 7, "completion_tokens": 5}
    first = replace(
        recording(LONG, "a"),
        response=Response(200, sse, events, elapsed_ms=310),
        usage=usage,
        recorded_at="2026-01-02T00:00:00Z",
    )
    cut = Response(200, sse, events[:2], "ReadError: gone", 200)
    with Cassette.open(path) as cassette:
        cassette.append(first)
        cassette.append(
            replace(first, case="a@repeat=1", response=cut, recorded_at="2026-01-01T00:00:00Z")
        )
        cassette.append(replace(recording("x", "b"), response=Response(429, {}, (), None, 10)))
    found = stats_of(path)
    assert (found.interactions, found.cases, found.repeats) == (3, 2, 1)
    assert (found.models, found.statuses) == ({"synthetic": 3}, {"200": 2, "429": 1})
    assert (found.events, found.streamed) == (5, 2)
    assert (found.prompt_tokens, found.completion_tokens, found.without_usage) == (14, 10, 1)
    assert (found.latency_p50, found.ttft_p50, found.ttft_p95) == (200, 100, 100)
    assert found.tokens_per_second == 20  # four tokens after the first, in 0.2 s
    assert (found.errors, found.failures) == (1, 1)
    assert (found.oldest, found.newest, found.undated) == (
        "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", 1,
    )  # fmt: skip
    assert found.shared_texts == 1
    assert found.bytes == path.stat().st_size


def test_nothing_recorded(path: Path) -> None:
    path.touch()
    found = stats_of(path)
    assert (found.interactions, found.latency_p50, found.oldest) == (0, None, None)


def test_no_file(path: Path) -> None:
    with pytest.raises(CassetteError, match="does not exist"):
        stats_of(path)


@given(st.lists(st.integers(0, 10**6), min_size=2))
def test_percentiles(values: list[int]) -> None:
    cuts = statistics.quantiles(values, n=20, method="inclusive")
    assert percentile(values, 50) == pytest.approx(statistics.median(values), abs=0.06)
    assert percentile(values, 95) == pytest.approx(cuts[-1], abs=0.06)
