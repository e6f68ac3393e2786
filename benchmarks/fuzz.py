"""Speed of the fuzzer: examples a second, in process and over standard input and output, in one run.

    python benchmarks/fuzz.py

Both are the reference put against itself, the command as a person runs it, every operation that can be
fuzzed. Beside the clock stands what the machine's processors spent (the peer's process counted in): on a
busy machine the clock says more of the machine than of the fuzzer.
"""

from __future__ import annotations

import json
import resource
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = 500
IMPLEMENTATIONS = {
    "in process": "python:callbench.conformance.reference",
    "over stdio": shlex.join([sys.executable, "-m", "callbench.conformance.reference"]),
}


def command(impl: str, corpus: str, examples: int) -> list[str]:
    """Return the command that is timed."""
    words = [sys.executable, "-m", "callbench", "fuzz", "--impl", impl, "--json"]
    return [*words, "--examples", str(examples), "--corpus", corpus]


def spent() -> float:
    """Return the processor seconds of all processes this one has waited for, theirs included."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Print a line for each way to speak with the reference."""
    with tempfile.TemporaryDirectory() as directory:
        corpus = str(Path(directory) / "corpus.jsonl")
        for name, impl in IMPLEMENTATIONS.items():
            # What starting costs is not what an example costs.
            start = spent()
            one = [*command(impl, corpus, 1), "--op", "pointer.join"]
            subprocess.run(one, capture_output=True, check=True)  # noqa: S603 - our own command
            before = spent()
            done = subprocess.run(  # noqa: S603 - our own command
                command(impl, corpus, EXAMPLES), capture_output=True, check=True
            )
            seconds = (spent() - before) - (before - start)
            report = json.loads(done.stdout)
            print(
                f"{name}: {report['examples_per_second']:,} examples a second"
                f" ({report['examples'] / seconds:,.0f} a processor second;"
                f" {report['examples']:,} examples of {len(report['operations'])} operations)"
            )
        print(f"command: {shlex.join(command(IMPLEMENTATIONS['in process'], 'c.jsonl', EXAMPLES))}")


if __name__ == "__main__":
    main()
