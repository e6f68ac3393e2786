"""Run the mutants: ``make mutants``. Tests must kill each one, and so must the conformance suite.

Every mutant meets the tests of the rule it breaks, if it is still alive all tests of the reference,
and then, in a process of its own, the conformance suite alone, as any implementation does. The
report says for each ``rule's tests / all tests / suite``: the test or case that failed first.
A survivor is exit code 1, of the suite unless no operation can show it (``observable = false``).
``--by tests`` or ``--by suite`` is one half; ``--only NAME`` (a part of the name is enough) repeats
a few, ``--jobs N`` works on N at a time.
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
from pathlib import Path
from queue import SimpleQueue

from contract.contract import marked

from .catalogue import MUTANTS
from .fate import Fate, totals
from .mutant import ROOT, SOURCE, Mutant

TESTS = ("tests/corecall", "tests/properties", "tests/contract")
LIMIT = 600  # seconds that all tests may take with one variant; one that hangs is dead too
_NONE_SELECTED = 5
_HANGS = "(hangs)"


class Lab:
    """Copies of the reference, each for one mutant at a time."""

    def __init__(self, scratch: Path, jobs: int, by: str) -> None:
        self.by = by
        self._own = {rule: sorted(set(files)) for rule, files in marked("rule").items()}
        self._copies: SimpleQueue[Path] = SimpleQueue()
        without = shutil.ignore_patterns("__pycache__")
        for number in range(jobs):
            self._copies.put(shutil.copytree(SOURCE, scratch / str(number), ignore=without))

    def without_mutant(self) -> str:
        """Return what fails although nothing was changed, ``""`` if nothing does."""
        copy = self._copies.get()
        try:
            tests = run_tests(copy, TESTS) if self.by != "suite" else ""
            return tests or (run_suite(copy, "") if self.by != "tests" else "")
        finally:
            self._copies.put(copy)

    def fate_of(self, mutant: Mutant) -> Fate:
        """Meet one mutant with its rule's tests, then, if it lives, with all; and with the suite."""
        copy = self._copies.get()
        own = tests = suite = None
        try:
            mutant.apply(copy / "corecall")
            if self.by != "suite":
                own = run_tests(copy, ("--rule", mutant.rule, *self._own.get(mutant.rule, TESTS)))
                tests = None if own else run_tests(copy, TESTS)
            if self.by != "tests":
                suite = run_suite(copy, mutant.rule)
            return Fate(mutant, own, tests, suite)
        finally:
            mutant.restore(copy / "corecall")
            self._copies.put(copy)


def main() -> int:
    """Run the mutants that are asked for and print their fates."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--by", choices=("tests", "suite", "both"), default="both")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    mutants = [m for m in MUTANTS if not given.only or any(o in m.name for o in given.only)]
    if broken := [f"{m.name}: {problem}" for m in mutants if (problem := m.problem())]:
        print("These mutants no longer fit the code:", *broken, sep="\n  ")
        return 2
    with tempfile.TemporaryDirectory(prefix="mutants-") as scratch:
        lab = Lab(Path(scratch), given.jobs, given.by)
        if not given.only and (failed := lab.without_mutant()):
            print(f"Without any mutant, this fails: {failed}")
            return 2
        fates = []
        with ThreadPoolExecutor(given.jobs) as pool:
            for fate in pool.map(lab.fate_of, mutants):
                fates.append(fate)
                print(fate, flush=True)
    print("", *totals(fates, given.by), sep="\n")
    return 1 if any(fate.wrong for fate in fates) else 0


def run_tests(package: Path, options: tuple[str, ...]) -> str:
    """Return the first test that fails when ``corecall`` is imported from ``package``, or ``""``."""
    command = ["pytest", "-x", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider"]
    done = _run(package, [*command, "-p", "no:randomly", *options], ROOT)
    if done is None:
        return _HANGS
    if done.returncode in (0, _NONE_SELECTED):
        return ""
    return next(_failures(done.stdout), f"(exit {done.returncode})")


def run_suite(package: Path, rule: str) -> str:
    """Return the first case that fails there, those of ``rule`` before the others, or ``""``."""
    done = _run(package, ["mutants.suite", rule], ROOT / "tests")
    if done is None:
        return _HANGS
    return done.stdout or (f"(exit {done.returncode})" if done.returncode else "")


def _run(package: Path, module: list[str], cwd: Path) -> subprocess.CompletedProcess[str] | None:
    environment = {**os.environ, "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", *module]
    try:
        return subprocess.run(
            command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=LIMIT
        )
    except subprocess.TimeoutExpired:
        return None


def _failures(text: str) -> Iterator[str]:
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word in ("FAILED", "ERROR"):
            yield rest.partition(" - ")[0]


if __name__ == "__main__":
    sys.exit(main())
