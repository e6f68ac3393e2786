"""Run the mutants: ``make mutants``. Each one must make a test fail.

Every mutant meets the tests of the rule it breaks first, then, if it is still alive, all tests of
the reference. The report says which of the two killed it, and how; survivors are exit code 1.
``--only NAME`` (a part of the name is enough) repeats a few, ``--jobs N`` works on N at a time.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from contract.contract import marked

from .catalogue import MUTANTS
from .mutant import ROOT, SOURCE, Mutant

SUITE = ("tests/corecall", "tests/properties", "tests/contract")
LIMIT = 600  # seconds that all tests may take with one variant; one that hangs is dead too
_FAILED, _NONE_SELECTED = 1, 5


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a mutant: who killed it (``""``: nobody), and the first test that failed."""

    mutant: Mutant
    killer: str
    test: str


def main() -> int:
    """Run the mutants that are asked for and print their fates."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    mutants = [m for m in MUTANTS if not given.only or any(o in m.name for o in given.only)]
    if broken := [f"{m.name}: {problem}" for m in mutants if (problem := m.problem())]:
        print("These mutants no longer fit the code:", *broken, sep="\n  ")
        return 2
    with tempfile.TemporaryDirectory(prefix="mutants-") as scratch:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(given.jobs):
            copies.put(shutil.copytree(SOURCE, Path(scratch) / str(number)))
        if not given.only and (failed := first_failure(copies, SUITE)):
            print(f"The tests fail without any mutant: {failed}")
            return 2
        own = {rule: sorted(set(files)) for rule, files in marked("rule").items()}
        fates = []
        with ThreadPoolExecutor(given.jobs) as pool:
            for fate in pool.map(lambda mutant: fate_of(mutant, copies, own), mutants):
                fates.append(fate)
                by = f"{fate.killer:<9} {fate.test}" if fate.killer else "SURVIVED"
                print(f"{fate.mutant.name:<34} {fate.mutant.rule:<20} {by}", flush=True)
    alive = [fate.mutant for fate in fates if not fate.killer]
    own = sum(fate.killer == "its rule" for fate in fates)
    print(
        f"\n{len(fates)} mutants: {len(fates) - len(alive)} killed, {own} by their own rule's tests"
    )
    for mutant in alive:
        print(f"  {mutant.name} survived: {mutant.fault} ({mutant.file})")
    return 1 if alive else 0


def fate_of(mutant: Mutant, copies: SimpleQueue[Path], own: dict[str, list[str]]) -> Fate:
    """Meet one mutant with its rule's tests, in the files that ``own`` names, then with all."""
    copy = copies.get()
    try:
        mutant.apply(copy / "corecall")
        if test := run_tests(copy, ("--rule", mutant.rule, *own.get(mutant.rule, SUITE))):
            return Fate(mutant, "its rule", test)
        if test := run_tests(copy, SUITE):
            return Fate(mutant, "the suite", test)
        return Fate(mutant, "", "")
    finally:
        mutant.restore(copy / "corecall")
        copies.put(copy)


def first_failure(copies: SimpleQueue[Path], options: tuple[str, ...]) -> str:
    """Run the tests on a copy without a mutant."""
    copy = copies.get()
    try:
        return run_tests(copy, options)
    finally:
        copies.put(copy)


def run_tests(package: Path, options: tuple[str, ...]) -> str:
    """Return the first test that fails when ``corecall`` is imported from ``package``, or ``""``."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "--tb=no", "-p"]
    command += ["no:cacheprovider", "-p", "no:randomly", *options]
    environment = {**os.environ, "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=LIMIT
        )
    except subprocess.TimeoutExpired:
        return "(hangs)"
    if done.returncode in (0, _NONE_SELECTED):
        return ""
    return next(_failures(done.stdout), f"(exit {done.returncode})")


def _failures(text: str) -> Iterator[str]:
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word in ("FAILED", "ERROR"):
            yield rest.partition(" - ")[0]


if __name__ == "__main__":
    sys.exit(main())
