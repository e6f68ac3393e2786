"""Playback through cassettes beside vcrpy: the same traffic, the same client, in one run.

    python benchmarks/playback.py [SIZE ...]

A cassette of SIZE synthetic chat exchanges is asked for each of its last requests through httpx2: by vcrpy
(matching method, address and body), by ``use_cassette``, and by our own transport. What is compared is the
time of one answer; the cassette is open already.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import httpx2

from callbench.cassette import Cassette, CassetteTransport
from callbench.cassette.convert import convert
from callbench.cassette.vcr import use_cassette

SIZES = (100, 400, 1600)
ASKED = 30
URL = "http://127.0.0.1:1/v1/chat/completions"

Samples = list[float]


def body(number: int) -> bytes:
    """A synthetic request."""
    messages = [
        {"role": "system", "content": "You fill in the arguments of a tool call. " * 20},
        {"role": "user", "content": f"{number} nights in Hangzhou"},
    ]
    return json.dumps({"model": "synthetic", "messages": messages}).encode()


def write_vcrpy(path: Path, size: int) -> None:
    """Write a synthetic cassette of vcrpy."""
    from vcr.serializers import yamlserializer

    answer = json.dumps({"choices": [{"message": {"role": "assistant", "content": "{}"}}]})
    entries = [
        {
            "request": {"method": "POST", "uri": URL, "body": body(n).decode(), "headers": {}},
            "response": {
                "status": {"code": 200, "message": "OK"},
                "headers": {"content-type": ["application/json"]},
                "body": {"string": answer},
            },
        }
        for n in range(size)
    ]
    path.write_text(yamlserializer.serialize({"version": 1, "interactions": entries}))


def timed(size: int, ask: Callable[[bytes], object]) -> Samples:
    """Milliseconds of each answer."""
    samples = []
    for number in range(size - ASKED, size):
        start = time.perf_counter()
        ask(body(number))
        samples.append((time.perf_counter() - start) * 1000)
    return samples


def by_vcrpy(path: Path, size: int) -> Samples:
    """Through vcrpy's own playback."""
    import vcr

    with (
        vcr.use_cassette(str(path), record_mode="none", match_on=("method", "uri", "body")),
        httpx2.Client() as client,
    ):
        return timed(size, lambda content: client.post(URL, content=content).content)


def by_use_cassette(path: Path, size: int) -> Samples:
    """Through our store under the same client."""
    with use_cassette(path), httpx2.Client() as client:
        return timed(size, lambda content: client.post(URL, content=content).content)


def by_transport(path: Path, size: int) -> Samples:
    """Through the transport that the harness uses itself."""

    async def run() -> Samples:
        samples = []
        transport = CassetteTransport(Cassette.open(path))
        async with httpx2.AsyncClient(transport=transport) as client:
            for number in range(size - ASKED, size):
                start = time.perf_counter()
                await client.post(URL, content=body(number))
                samples.append((time.perf_counter() - start) * 1000)
        return samples

    return asyncio.run(run())


def playback(size: int) -> tuple[float, float, float]:
    """Median milliseconds of one answer: vcrpy, use_cassette, transport."""
    with tempfile.TemporaryDirectory() as directory:
        theirs, ours = Path(directory) / "b.yaml", Path(directory) / "b.cassette.jsonl"
        write_vcrpy(theirs, size)
        convert(theirs, ours)
        runs = by_vcrpy(theirs, size), by_use_cassette(ours, size), by_transport(ours, size)
        return tuple(map(statistics.median, runs))  # type: ignore[return-value]


def main() -> None:
    """Print a table."""
    sizes = [int(word) for word in sys.argv[1:]] or SIZES
    print("| interactions | vcrpy ms | use_cassette ms | transport ms | vcrpy / use_cassette |")
    print("| --: | --: | --: | --: | --: |")
    for size in sizes:
        vcrpy, bridge, transport = playback(size)
        print(
            f"| {size:,} | {vcrpy:.2f} | {bridge:.2f} | {transport:.2f} | {vcrpy / bridge:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
