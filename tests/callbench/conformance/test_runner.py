"""Cases put to peers: order, patience, what a verdict is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from callbench.conformance.cases import Case
from callbench.conformance.runner import run_cases
from callbench.conformance.verdict import judge
from callbench.peer import Answer, Failed, Hello, Misbehaved, Result, Unsupported

HELLO = Hello("fake", "none", "0", frozenset({"pointer.split"}))
LATE = Misbehaved("deadline", "no answer")


class Fake:
    """Answers by the number in the input; notes what it was asked."""

    def __init__(self, answer: Callable[[int], Answer]) -> None:
        self.hello = HELLO
        self.answer = answer
        self.asked: list[int] = []
        self.closed = 0

    def run(self, op: str, given: dict[str, Any], deadline: float, **_: Any) -> Answer:
        self.asked.append(given["n"])
        return self.answer(given["n"])

    def close(self) -> None:
        self.closed += 1


def cases(count: int) -> list[Case]:
    return [Case(id=f"a-{n}", op="pointer.split", given={"n": n}, gives=n) for n in range(count)]


def test_verdicts_are_in_the_order_of_the_cases_whatever_the_number_of_peers() -> None:
    peers: list[Fake] = []

    def another() -> Fake:
        peers.append(Fake(lambda n: Result(n if n % 3 else "wrong")))
        return peers[-1]

    finished = run_cases(cases(50), another, jobs=4)
    assert [verdict.case.given["n"] for verdict in finished.verdicts] == list(range(50))
    assert [v.case.given["n"] for v in finished.failures] == list(range(0, 50, 3))
    assert sorted(n for peer in peers for n in peer.asked) == list(range(50))
    assert (len(peers), {peer.closed for peer in peers}) == (4, {1})


def test_no_more_peers_than_cases() -> None:
    peers: list[Fake] = []

    def another() -> Fake:
        peers.append(Fake(Result))
        return peers[-1]

    run_cases(cases(2), another, jobs=8)
    assert len(peers) == 2


def test_after_many_deadlines_in_a_row_a_peer_is_no_longer_asked() -> None:
    peer = Fake(lambda n: LATE)
    finished = run_cases(cases(6), lambda: peer, patience=3)
    assert peer.asked == [0, 1, 2]
    assert finished.count("misbehaved") == 6
    assert finished.verdicts[3].got == "deadline: not asked: 3 deadlines in a row before it"


def test_an_answer_between_two_deadlines_restores_patience() -> None:
    peer = Fake(lambda n: Result(n) if n % 3 == 2 else LATE)
    finished = run_cases(cases(9), lambda: peer, patience=3)
    assert (len(peer.asked), finished.count("passed")) == (9, 3)


def test_what_a_peer_does_not_list_is_not_asked() -> None:
    peer = Fake(Result)
    (verdict,) = run_cases([Case(id="a", op="slot.check", given={})], lambda: peer).verdicts
    assert (peer.asked, verdict.outcome) == ([], "unsupported")


def test_the_peer_is_closed_when_something_goes_wrong() -> None:
    def fail(n: int) -> Answer:
        raise RuntimeError

    peer = Fake(fail)
    with pytest.raises(RuntimeError):
        run_cases(cases(2), lambda: peer)
    assert peer.closed == 1


PLAIN = Case(id="a", op="pointer.split", given={}, gives=None)
ERROR = Case(id="a", op="pointer.split", given={}, error="value_error")
EXTENSION = Case(id="a", op="pointer.split", given={}, extension=True)
OTHER = Case(id="a", op="slot.check", given={})


@pytest.mark.parametrize(
    ("case", "answer", "outcome"),
    [
        (PLAIN, Result(None), "passed"),
        (PLAIN, Result(False), "failed"),
        (PLAIN, Failed("value_error"), "failed"),
        (PLAIN, Unsupported(), "failed"),
        (PLAIN, LATE, "misbehaved"),
        (ERROR, Failed("value_error", "whatever"), "passed"),
        (ERROR, Failed("key_error"), "failed"),
        (ERROR, Failed("internal"), "failed"),
        (ERROR, Result(None), "failed"),
        (ERROR, Misbehaved("crash", ""), "misbehaved"),
        (EXTENSION, Unsupported(), "unsupported"),
        (EXTENSION, Result(1), "failed"),
        (OTHER, Unsupported(), "unsupported"),
    ],
)
def test_judging(case: Case, answer: Answer, outcome: str) -> None:
    assert judge(case, answer, HELLO).outcome == outcome
