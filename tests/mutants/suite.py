"""``python -m mutants.suite RULE``: put the conformance suite to ``corecall``, until a case fails.

Prints the id of the first case that fails, and exits with 1; a suite that passes is silent. Cases
of the rule come first, then those of its topic and of its area, then the others, a batch at a time:
what breaks a rule is mostly seen near it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import groupby

from callbench.conformance.cases import Case, load_suite
from callbench.conformance.runner import run_cases
from callbench.peer import REFERENCE, opener

DEADLINE = 30.0  # seconds for a case; how fast a machine is says nothing about a mutant
_BATCH = 25


def batches(cases: Sequence[Case], rule: str) -> Iterator[list[Case]]:
    """Yield all cases, those nearest to ``rule`` first."""
    topic, area = rule.rpartition(".")[0], rule.partition(".")[0]

    def distance(case: Case) -> int:
        return 3 - sum(
            (case.rule == rule, case.rule.rpartition(".")[0] == topic, case.area == area)
        )

    for _, group in groupby(sorted(cases, key=distance), distance):
        near = list(group)
        for start in range(0, len(near), _BATCH):
            yield near[start : start + _BATCH]


def first_failing(cases: Sequence[Case], rule: str) -> str:
    """Return the id of the first case that fails, ``""`` if none does."""
    for batch in batches(cases, rule):
        finished = run_cases(batch, opener(REFERENCE), deadline=DEADLINE, patience=1)
        if wrong := [verdict for verdict in finished.verdicts if verdict.outcome != "passed"]:
            return wrong[0].case.id
    return ""


if __name__ == "__main__":
    found = first_failing(load_suite(), sys.argv[1])
    print(found, end="")
    sys.exit(1 if found else 0)
