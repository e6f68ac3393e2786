"""Replay in time: events when they came, scaled; the failure when it came; all by a clock of the test."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest

from callbench.cassette import Cassette, CassetteTransport, Event, Interaction, Request, Response
from callbench.cassette.replay import Timing, emitted, read_pace
from callbench.errors import UsageError

from .synthetic_client import BODY, Client, only, record
from .synthetic_server import EVENT_STREAM, stream

EVENTS = (Event(120, b"data: a\n\n"), Event(150, b"data: b\n\n"), Event(900, b"data: c\n\n"))


class Clock:
    """Time that passes only where someone waits; ``extra`` is what each wait takes beside."""

    def __init__(self, extra: float = 0.0) -> None:
        self.now = 1000.0
        self.extra = extra

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds + self.extra

    @property
    def ms(self) -> float:
        return round((self.now - 1000) * 1000, 6)


async def came(response: Response, timing: Timing, clock: Clock) -> list[float]:
    """When each event came, and the end, in ms."""
    times = [clock.ms async for _ in emitted(response, timing)]
    return [*times, clock.ms]


@pytest.mark.parametrize(
    ("pace", "expected"),
    [(1.0, [120, 150, 900, 1000]), (2.0, [60, 75, 450, 500]), (None, [0, 0, 0, 0])],
)
async def test_events_come_when_they_came(pace: float | None, expected: list[float]) -> None:
    clock = Clock()
    timing = Timing(pace, clock.sleep, clock)
    response = Response(200, EVENT_STREAM, EVENTS, elapsed_ms=1000)
    assert await came(response, timing, clock) == expected


async def test_waits_that_last_too_long_do_not_add_up() -> None:
    """What is late is late; what follows is due at its own time."""
    clock = Clock(extra=0.05)
    events = tuple(Event(100 * n, b"x") for n in range(1, 6))
    times = await came(
        Response(200, {}, events, elapsed_ms=500), Timing(1, clock.sleep, clock), clock
    )
    assert times[:5] == [150, 250, 350, 450, 550]


async def test_a_client_that_reads_slowly_gets_what_has_come_meanwhile() -> None:
    clock = Clock()
    response = Response(200, {}, EVENTS, elapsed_ms=1000)
    times = []
    async for _ in emitted(response, Timing(1, clock.sleep, clock)):
        times.append(clock.ms)
        clock.now += 0.5
    assert times == [120, 620, 1120]


async def test_times_that_do_not_rise_are_no_wait() -> None:
    clock = Clock()
    events = (Event(50, b"a"), Event(20, b"b"), Event(70, b"c"))
    response = Response(200, {}, events, elapsed_ms=10)
    assert await came(response, Timing(1, clock.sleep, clock), clock) == [50, 50, 70, 70]


@pytest.mark.trap("C3")
async def test_a_run_of_requests_through_the_transport(path: Path) -> None:
    """C3: first event and end as they were recorded over a socket, by the recording's own times."""
    await record(path, stream("Hang", "zhou"))
    recorded = only(path).response
    clock = Clock()
    timing = Timing(0.5, clock.sleep, clock)
    times = []
    async with Client(Cassette.open(path), "replay", timing=timing) as client:
        client.transport._scope.case = "a"
        async with client.http.stream("POST", "/chat/completions", json=BODY) as response:
            async for _ in response.aiter_raw():
                times.append(clock.ms)
    assert times == [2 * event.at_ms for event in recorded.events]
    assert clock.ms == 2 * recorded.elapsed_ms


@pytest.mark.parametrize(
    ("error", "kind", "ends"),
    [
        ("RemoteProtocolError: cut", httpx2.RemoteProtocolError, 1000),
        ("ReadTimeout: slow", httpx2.ReadTimeout, 1000),
    ],
)
async def test_a_failure_comes_when_it_came(
    path: Path, error: str, kind: type[Exception], ends: float
) -> None:
    response = Response(200, EVENT_STREAM, EVENTS, error, 1000)
    await ends_in(path, response, None, kind, 3, ends)


async def test_a_gap_longer_than_the_timeout_of_the_client_is_its_timeout(path: Path) -> None:
    """As on a socket: 750 ms without a byte are more than 0.5 seconds."""
    response = Response(200, EVENT_STREAM, EVENTS, None, 1000)
    await ends_in(path, response, 0.5, httpx2.ReadTimeout, 2, 650)


async def ends_in(
    path: Path,
    response: Response,
    limit: float | None,
    kind: type[Exception],
    pieces: int,
    ends: float,
) -> None:
    cassette = Cassette.open(path)
    request = Request("POST", "/chat/completions", b"{}")
    cassette.append(Interaction(cassette.key_of(request), "", 0, request, response))
    clock = Clock()
    transport = CassetteTransport(cassette, timing=Timing(1, clock.sleep, clock))
    got = []
    async with httpx2.AsyncClient(transport=transport, timeout=limit) as http:
        with pytest.raises(kind):
            async with http.stream("POST", "http://x/v1/chat/completions", content=b"{}") as answer:
                async for piece in answer.aiter_raw():
                    got.append(piece)
    assert got == [event.data for event in EVENTS[:pieces]]
    assert clock.ms == ends


class TestReading:
    @pytest.mark.parametrize(
        ("text", "pace"),
        [
            ("instant", None),
            ("real", 1.0),
            ("2x", 2.0),
            ("2×", 2.0),
            ("0.5x", 0.5),
            (" 10X ", 10.0),
        ],
    )
    def test_paces(self, text: str, pace: float | None) -> None:
        assert read_pace(text) == pace

    @pytest.mark.parametrize("text", ["", "x", "fast", "0", "-1x", "nan", "inf", "2y"])
    def test_anything_else_is_told(self, text: str) -> None:
        with pytest.raises(UsageError, match="--pace"):
            read_pace(text)
