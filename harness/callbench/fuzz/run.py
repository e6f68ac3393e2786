"""One run: each operation hunted in turn, what is known passed over, what is found kept at once."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from callbench.conformance.cases import Case
from callbench.fuzz.corpus import append, as_case
from callbench.fuzz.hunt import Finding, Hunt
from callbench.fuzz.inputs import batches
from callbench.fuzz.inputs.suite import suite
from callbench.fuzz.places import Place, places
from callbench.peer import Peer

Skip = str


@dataclass(slots=True)
class Tally:
    """What became of one operation; ``skipped`` says why nothing or not all was tried."""

    examples: int = 0
    declined: int = 0
    known: int = 0
    findings: int = 0
    seconds: float = 0.0
    skipped: Skip = ""


@dataclass(slots=True)
class Report:
    """What a run did so far."""

    findings: list[Finding] = field(default_factory=list)
    operations: dict[str, Tally] = field(default_factory=dict)
    appended: int = 0
    interrupted: bool = False
    seconds: float = 0.0

    @property
    def examples(self) -> int:
        return sum(tally.examples for tally in self.operations.values())

    @property
    def known(self) -> int:
        return sum(tally.known for tally in self.operations.values())

    @property
    def examples_per_second(self) -> float:
        spent = sum(tally.seconds for tally in self.operations.values())
        return self.examples / spent if spent else 0.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do: ``most`` is the number of findings per operation, ``corpus`` where they go."""

    ops: Sequence[str]
    examples: int
    seed: int
    most: int
    deadline: float
    corpus: Path
    known: Sequence[Case] = ()


def fuzz(
    plan: Plan,
    peer: Peer,
    reference: Peer,
    *,
    found: Callable[[Finding], None] = lambda finding: None,
    advance: Callable[[int, int], None] = lambda done, total: None,
) -> Report:
    """Run a plan. ``found`` is called with each finding, after it went into the corpus.

    A ``KeyboardInterrupt`` ends the run: the report is what was found until then.
    Raises :class:`callbench.peer.PeerError` for a peer that cannot be started.
    """
    report = Report()
    began = time.perf_counter()
    implemented = peer.hello.operations
    try:
        for number, op in enumerate(plan.ops):
            tally = report.operations[op] = Tally()
            if op not in implemented:
                tally.skipped = "not implemented"
            else:
                _hunt(plan, op, tally, report, peer, reference, found)
            advance(number + 1, len(plan.ops))
    except KeyboardInterrupt:
        report.interrupted = True
    report.seconds = time.perf_counter() - began
    return report


def _hunt(
    plan: Plan,
    op: str,
    tally: Tally,
    report: Report,
    peer: Peer,
    reference: Peer,
    found: Callable[[Finding], None],
) -> None:
    cases = [case for case in plan.known if case.op == op]
    known = known_places(cases, peer, reference, plan.deadline)
    hunt = Hunt(op, peer, reference, deadline=plan.deadline, known=known)
    began = time.perf_counter()
    try:
        for finding in hunt.run(
            batches(op), examples=plan.examples, number=plan.seed, most=plan.most
        ):
            tally.findings += 1
            report.findings.append(finding)
            case = as_case(finding, f"{_told(finding)} (callbench fuzz --seed {plan.seed})")
            report.appended += case is not None and append(plan.corpus, case)
            found(finding)
    finally:
        tally.examples, tally.declined, tally.known = hunt.done, hunt.declined, hunt.met
        # Shrinking is not what examples a second tell.
        tally.seconds = max(0.0, time.perf_counter() - began - hunt.shrinking)
    if hunt.given_up:
        troubles = hunt.troubles > hunt.declined
        tally.skipped = "given up: the peer " + ("misbehaves" if troubles else "declines")


def known_places(
    cases: Iterable[Case], peer: Peer, reference: Peer, deadline: float
) -> frozenset[Place]:
    """Return the differences that the inputs of ``cases`` show now."""
    found: set[Place] = set()
    for case in cases:
        expected = reference.run(case.op, case.given, deadline)
        found |= places(expected, peer.run(case.op, case.given, deadline))
    return frozenset(found)


def chapters(op: str) -> str:
    """Return the topics of the contract that the suite's cases of an operation are about."""
    topics = Counter(case.rule.rpartition(".")[0] for case in suite() if case.op == op)
    return ", ".join(topic for topic, _ in topics.most_common(3) if topic)


def _told(finding: Finding) -> str:
    return "; ".join(sorted(map(str, finding.places)))
