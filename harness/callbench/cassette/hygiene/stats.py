"""What a cassette holds: counts, times, tokens, age. One pass, a few numbers kept for each recording."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from callbench.cassette.format import scrubbers_of
from callbench.cassette.hygiene.reading import Reader
from callbench.cassette.interaction import REPEAT_MARK, Interaction


@dataclass(frozen=True, slots=True)
class Stats:
    """The numbers of one file.

    Times are in ms; ``None`` where nothing was measured. ``ttft_*`` is the time to the first event and
    ``tokens_per_second`` the median rate after it, both of streamed answers without error. ``cases``
    counts labels without their repeats. ``errors`` counts cut streams, ``failures`` statuses from 400.
    """

    file: str
    bytes: int
    interactions: int
    cases: int
    repeats: int
    models: dict[str, int]
    statuses: dict[str, int]
    events: int
    streamed: int
    prompt_tokens: int
    completion_tokens: int
    without_usage: int
    latency_p50: float | None
    latency_p95: float | None
    ttft_p50: float | None
    ttft_p95: float | None
    tokens_per_second: float | None
    errors: int
    failures: int
    oldest: str | None
    newest: str | None
    undated: int
    shared_texts: int
    shared_bytes: int
    scrubbers: list[str]

    def as_object(self) -> dict[str, Any]:
        """The object of ``--json``."""
        return asdict(self)


def stats_of(path: Path) -> Stats:
    """Read a file through. Raises ``CassetteError`` for a line that cannot be read."""
    cases: set[str] = set()
    repeats = 0
    models: Counter[str] = Counter()
    statuses: Counter[str] = Counter()
    latency, first, rate = array("d"), array("d"), array("d")
    events = streamed = prompt = completion = without = errors = failures = undated = 0
    texts = text_bytes = count = 0
    oldest: str | None = None
    newest: str | None = None
    with Reader(path) as reader:
        for line in reader:
            if line.kind == "text":
                texts += 1
                text_bytes += len(line.raw)
            if line.kind != "interaction":
                continue
            one = reader.interaction(line)
            count += 1
            case, mark, _ = one.case.rpartition(REPEAT_MARK)
            repeats += bool(mark)
            cases.add(case if mark else one.case)
            models[one.request.model] += 1
            response = one.response
            statuses[str(response.status)] += 1
            events += len(response.events)
            errors += response.error is not None
            failures += response.status >= 400
            latency.append(response.elapsed_ms)
            usage = one.usage or {}
            without += one.usage is None
            prompt += _count(usage.get("prompt_tokens"))
            completion += _count(usage.get("completion_tokens"))
            if len(response.events) > 1:
                streamed += 1
                if response.error is None:
                    first.append(response.events[0].at_ms)
                    speed = _speed(one)
                    if speed is not None:
                        rate.append(speed)
            if one.recorded_at is None:
                undated += 1
            else:
                oldest = min(oldest or one.recorded_at, one.recorded_at)
                newest = max(newest or one.recorded_at, one.recorded_at)
        scrubbers = scrubbers_of(reader.header)
    return Stats(
        file=str(path),
        bytes=path.stat().st_size,
        interactions=count,
        cases=len(cases),
        repeats=repeats,
        models=dict(sorted(models.items())),
        statuses=dict(sorted(statuses.items())),
        events=events,
        streamed=streamed,
        prompt_tokens=prompt,
        completion_tokens=completion,
        without_usage=without,
        latency_p50=percentile(latency, 50),
        latency_p95=percentile(latency, 95),
        ttft_p50=percentile(first, 50),
        ttft_p95=percentile(first, 95),
        tokens_per_second=percentile(rate, 50),
        errors=errors,
        failures=failures,
        oldest=oldest,
        newest=newest,
        undated=undated,
        shared_texts=texts,
        shared_bytes=text_bytes,
        scrubbers=list(scrubbers),
    )


def _count(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _speed(one: Interaction) -> float | None:
    """Completion tokens a second between the first and the last event.

    The first token came with the first event, so it is not counted.
    """
    tokens = _count((one.usage or {}).get("completion_tokens"))
    events = one.response.events
    took = events[-1].at_ms - events[0].at_ms
    return (tokens - 1) * 1000 / took if tokens > 1 and took > 0 else None


def percentile(values: Sequence[float], share: float) -> float | None:
    """The percentile ``share`` (0 to 100) by linear interpolation, ``None`` of nothing."""
    if not values:
        return None
    ordered = sorted(values)
    place = (len(ordered) - 1) * share / 100
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return round(ordered[low] + (ordered[high] - ordered[low]) * (place - low), 1)
