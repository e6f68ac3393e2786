"""Opening and look-up of cassettes of growing size, beside vcrpy's on the same traffic, in one run.

    python benchmarks/cassettes.py

The traffic is made from a bundled recording: its answers under new keys, so that every line has the size a
real one has. Each size is measured in a process of its own, so that memory is that of one cassette; times are
processor time, since a busy machine says more of itself than of the library. vcrpy looks a request up by
going through all it has, and is measured to 400 recordings only.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from callbench.bundled import bundled
from callbench.cassette import Cassette, Request, request_key
from callbench.cassette import format as lines
from callbench.cassette.writer import encode, recorder_name

OURS = (100, 10_000, 100_000)
VCR = (100, 400)
LOOKUPS = 100
SOURCE = "everyday.smollm2.cassette.jsonl"


def asked(number: int) -> Request:
    """Return the request that recording ``number`` answers."""
    return Request("POST", "/chat/completions", b'{"messages":[],"seed":%d}' % number)


def write(path: Path, size: int) -> None:
    """Write a cassette of ``size`` recordings."""
    found = list(Cassette.open(bundled("cassettes") / SOURCE))
    digests: dict[str, str] = {}
    ends: list[bytes] = []  # of each recording, what follows its key and its case
    with path.open("wb") as file:
        file.write(lines.encode_header(recorder_name(), ["synthetic"]))
        for one in found:
            encoded = encode(one, digests.get)
            digests.update((name, digest) for name, digest, _ in encoded.texts)
            file.writelines(text for _, _, text in encoded.texts)
            ends.append(encoded.line[encoded.line.index(b',"ordinal":') :])
        for number in range(size):
            key = request_key(asked(number))
            head = f'{{"key":"{key}","case":"case-{number}"'
            file.write(head.encode() + ends[number % len(ends)])


def measured(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor seconds of a call, and its result."""
    before = time.process_time()
    result = call()
    return time.process_time() - before, result


def ours(path: Path, size: int) -> dict[str, float]:
    """Open a cassette and look recordings up, evenly over the file."""
    opening, cassette = measured(lambda: Cassette.open(path))

    def look_up() -> None:
        for turn in range(LOOKUPS):
            number = turn * size // LOOKUPS
            request = asked(number)
            found = cassette.find(cassette.key_of(request), f"case-{number}", 0, request=request)
            assert found is not None

    finding, _ = measured(look_up)
    return {"open": opening, "find": finding / LOOKUPS}


def vcrpy(path: Path, size: int) -> dict[str, float]:
    """The same of a vcrpy cassette with the same bodies, matching them as its users do."""
    from vcr.cassette import Cassette as VcrCassette
    from vcr.matchers import body, method, uri
    from vcr.request import Request as VcrRequest

    def request(number: int) -> Any:
        return VcrRequest("POST", "http://synthetic/v1/chat/completions", asked(number).body, {})

    found = list(Cassette.open(bundled("cassettes") / SOURCE))
    made = VcrCassette(str(path), match_on=(method, uri, body), record_mode="all")
    for number in range(size):
        answer = found[number % len(found)].response
        text = {"string": answer.body}
        reply = {"status": {"code": 200, "message": "OK"}, "headers": {}, "body": text}
        made.append(request(number), reply)
    made._save(force=True)
    opening, opened = measured(
        lambda: VcrCassette.load(path=str(path), match_on=(method, uri, body), record_mode="none")
    )

    def look_up() -> None:
        for turn in range(LOOKUPS):
            opened.play_response(request(turn * size // LOOKUPS))

    finding, _ = measured(look_up)
    return {"open": opening, "find": finding / LOOKUPS}


def one(what: str, size: int) -> None:
    """Measure in this process and print the numbers as JSON."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / f"{what}.yaml"
        if what == "ours":
            # Written by a child, so that writing is no part of the memory of reading.
            subprocess.run([sys.executable, __file__, "write", str(size), str(path)], check=True)  # noqa: S603
            told = ours(path, size)
        else:
            told = vcrpy(path, size)
        told["file"] = path.stat().st_size / 1e6
    told["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(told))


def main() -> None:
    """Print a line for each size, and how vcrpy compares at the sizes both have."""
    rows: dict[tuple[str, int], dict[str, float]] = {}
    for what, size in [*(("ours", n) for n in OURS), *(("vcrpy", n) for n in VCR)]:
        words = [sys.executable, __file__, what, str(size)]
        done = subprocess.run(words, capture_output=True, check=True)  # noqa: S603 - this file
        row = rows[what, size] = json.loads(done.stdout)
        print(
            f"{what} {size:,}: open {row['open']:.3f} s, look-up {1000 * row['find']:.3f} ms, "
            f"memory of the process {row['memory']:,.0f} MB, file {row['file']:,.1f} MB",
            flush=True,
        )
    small, large = rows["ours", OURS[0]], rows["ours", OURS[-1]]
    print(f"ours, {OURS[-1]:,} to {OURS[0]:,}: look-up {large['find'] / small['find']:.1f} times")
    for size in VCR:
        beside, at = rows["vcrpy", size], min(OURS, key=lambda n, size=size: abs(n - size))
        print(
            f"vcrpy at {size:,} to ours at {at:,}: "
            f"look-up {beside['find'] / rows['ours', at]['find']:,.0f} times"
        )


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if not arguments:
        main()
    elif arguments[0] == "write":
        write(Path(arguments[2]), int(arguments[1]))
    else:
        one(arguments[0], int(arguments[1]))
