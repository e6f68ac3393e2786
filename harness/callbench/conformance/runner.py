"""Cases put to peers, and the sum of what came of it."""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from callbench.conformance.cases import ASKING, Case
from callbench.conformance.known import Known
from callbench.conformance.traffic.endpoint import Asked, Endpoint
from callbench.conformance.verdict import OUTCOMES, Outcome, Verdict, judge
from callbench.errors import ExitCode
from callbench.peer import Answer, Hello, Misbehaved, Peer, Unsupported

Advance = Callable[[int, int], None]

PATIENCE = 10
"""So many deadlines in a row, and a peer is no longer asked: what is left would take hours."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A run: the peer, a verdict for each case in the order of the suite, and the seconds it took."""

    hello: Hello
    verdicts: Sequence[Verdict]
    seconds: float
    known: Mapping[str, Known] = field(default_factory=dict)

    def count(self, outcome: Outcome) -> int:
        """Return the number of cases with this outcome."""
        return sum(verdict.outcome == outcome for verdict in self.verdicts)

    @property
    def missing(self) -> int:
        """The number of cases that are not implemented and no extension."""
        return sum(v.outcome == "unsupported" and not v.case.extension for v in self.verdicts)

    @property
    def failures(self) -> list[Verdict]:
        """The cases that failed and were not known to."""
        return [v for v in self.verdicts if v.bad and v.case.id not in self.known]

    @property
    def known_failures(self) -> list[Verdict]:
        """The cases that failed, as they are known to."""
        return [v for v in self.verdicts if v.bad and v.case.id in self.known]

    @property
    def mended(self) -> list[Verdict]:
        """The cases that are known to fail and did not: the list is out of date."""
        return [v for v in self.verdicts if not v.bad and v.case.id in self.known]

    @property
    def exit_code(self) -> ExitCode:
        """0, or 6 when anything is not as expected."""
        return ExitCode.DIFFERENCE if self.failures or self.mended else ExitCode.OK

    @property
    def cases_per_second(self) -> float:
        """How fast it was."""
        return len(self.verdicts) / self.seconds if self.seconds else 0.0

    def by(self, key: Callable[[Case], str]) -> dict[str, dict[str, int]]:
        """Return the number of cases with each outcome, by a property of the case."""
        counts: dict[str, Counter[str]] = {}
        for verdict in self.verdicts:
            counts.setdefault(key(verdict.case), Counter())[verdict.outcome] += 1
        return {name: {o: counts[name][o] for o in OUTCOMES} for name in sorted(counts)}


def run_cases(
    cases: Sequence[Case],
    open_peer: Callable[[], Peer],
    *,
    deadline: float = 5.0,
    jobs: int = 1,
    require_all: bool = False,
    patience: int = PATIENCE,
    known: Mapping[str, Known] | None = None,
    advance: Advance = lambda done, total: None,
) -> Finished:
    """Put every case to a peer, ``jobs`` of them at a time, each to a peer of its own.

    ``deadline`` is in seconds and for one case. Operations that the peer does not list are not
    asked, nor is anything after ``patience`` deadlines in a row; those cases count as misbehavior,
    too. Raises :class:`callbench.peer.PeerError` for a peer that cannot be started.
    """
    peers = [open_peer() for _ in range(max(1, min(jobs, len(cases))))]
    endpoint = Endpoint() if any(case.op in ASKING for case in cases) else None
    verdicts: list[Verdict | None] = [None] * len(cases)
    places = itertools.count()
    done = itertools.count(1)
    stop = threading.Event()

    def work(peer: Peer) -> None:
        late = 0
        while not stop.is_set() and (place := next(places)) < len(cases):
            case = cases[place]
            began = time.perf_counter()
            answer: Answer
            asked: Sequence[Asked] = ()
            if case.op not in hello.operations:
                answer = Unsupported()
            elif late >= patience:
                answer = Misbehaved("deadline", f"not asked: {late} deadlines in a row before it")
            else:
                answer, asked = _put(case, peer, deadline, endpoint)
                missed = isinstance(answer, Misbehaved) and answer.kind == "deadline"
                late = late + 1 if missed else 0
            verdict = judge(case, answer, hello, asked=asked, require_all=require_all)
            verdicts[place] = replace(verdict, seconds=time.perf_counter() - began)
            advance(next(done), len(cases))

    try:
        hello = peers[0].hello
        began = time.perf_counter()
        if len(peers) == 1:  # in this thread, which alone can keep a deadline in process
            work(peers[0])
        else:
            _together(work, peers, stop)
        seconds = time.perf_counter() - began
    finally:
        stop.set()
        for peer in peers:
            peer.close()
        if endpoint is not None:
            endpoint.close()
    return Finished(hello, [v for v in verdicts if v is not None], seconds, known or {})


def _put(
    case: Case, peer: Peer, deadline: float, endpoint: Endpoint | None
) -> tuple[Answer, Sequence[Asked]]:
    """Put a case to a peer; return its answer, and what it asked the models of the case."""
    if endpoint is None or case.op not in ASKING:
        return peer.run(case.op, case.given, deadline), ()
    with endpoint.visit(case.script) as visit:
        answer = peer.run(case.op, case.given, deadline, llm_base_url=visit.base_url)
        return answer, tuple(visit.asked)


def _together(work: Callable[[Peer], None], peers: Sequence[Peer], stop: threading.Event) -> None:
    with ThreadPoolExecutor(len(peers)) as pool:
        try:
            for one in [pool.submit(work, peer) for peer in peers]:
                one.result()
        except BaseException:  # Ctrl-C, or a peer that cannot be started again
            stop.set()
            for peer in peers:
                peer.close()
            raise
