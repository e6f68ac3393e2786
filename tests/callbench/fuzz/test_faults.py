"""Faults that are planted in an operation are found, made small, and kept as cases that hold them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from callbench.conformance.cases import load_suite
from callbench.conformance.verdict import judge
from callbench.fuzz.corpus import append, as_case
from callbench.fuzz.hunt import Finding, Hunt
from callbench.fuzz.inputs import batches
from callbench.fuzz.places import Place
from callbench.fuzz.reduce import size

from .faults import FAULTS, Altered, negative_index

LONGEST = 200
"""Characters of a minimal input as JSON; a history alone takes fifty, a prompt as many."""

SEEDS = range(1, 9)
"""Tried in turn: inputs are drawn from the suite's cases too, so one seed is another with each case."""


def hunt(
    name: str, *, seed: int = 1, most: int = 1, known: frozenset[Place] = frozenset()
) -> list[Finding]:
    op, fault = FAULTS[name]
    hunting = Hunt(op, Altered({op: fault}), Altered(), deadline=5, known=known)
    return list(hunting.run(batches(op), examples=6000, number=seed, most=most))


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found_small_and_its_case_holds_it(name: str, tmp_path: Path) -> None:
    finding = next(found for seed in SEEDS for found in hunt(name, seed=seed))
    assert size(finding.given) <= LONGEST
    assert finding.repeats

    corpus = tmp_path / "corpus.jsonl"
    line = as_case(finding, "found")
    assert line is not None
    assert append(corpus, line)
    (case,) = load_suite(corpus)
    op, fault = FAULTS[name]
    faulty, right = Altered({op: fault}), Altered()
    assert judge(case, faulty.run(op, case.given, 5), faulty.hello).bad
    assert judge(case, right.run(op, case.given, 5), right.hello).outcome == "passed"


def test_a_minimal_input_has_nothing_to_spare() -> None:
    (finding,) = hunt("tilde_in_wrong_order")
    assert finding.given == {"pointer": "/~01"}


def test_the_same_seed_finds_the_same() -> None:
    found = [
        [(finding.given, finding.places) for finding in hunt("falsy_lost", seed=7, most=3)]
        for _ in range(2)
    ]
    assert found[0] == found[1]
    assert len(found[0]) > 1


def test_another_seed_draws_other_inputs() -> None:
    drawn = []
    for seed in (1, 2):
        peer = Altered()
        seen: list[str] = []
        peer.operations["pointer.split"] = lambda given, seen=seen: seen.append(str(given))
        hunting = Hunt("pointer.split", peer, peer, deadline=5, known=frozenset())
        list(hunting.run(batches("pointer.split"), examples=200, number=seed, most=1))
        drawn.append(seen)
    assert drawn[0] != drawn[1]


def test_what_is_known_is_passed_over_so_that_the_next_shows() -> None:
    peer = Altered({"history.extract": lambda given: negative_index(given) or None})

    def hunted(known: frozenset[Place], most: int) -> list[Finding]:
        hunting = Hunt("history.extract", peer, Altered(), deadline=5, known=known)
        return list(hunting.run(batches("history.extract"), examples=6000, number=1, most=most))

    (first,) = hunted(frozenset(), 1)
    (next_,) = hunted(first.places, 1)
    assert next_.places.isdisjoint(first.places)


def test_a_run_finds_each_difference_once() -> None:
    found = hunt("falsy_lost", most=20)
    assert 1 < len(found) == len({finding.places for finding in found})


def test_an_input_is_tried_once() -> None:
    asked: list[str] = []
    peer = Altered({"pointer.join": lambda given: asked.append(json.dumps(given))})
    hunting = Hunt("pointer.join", peer, peer, deadline=5, known=frozenset())
    list(hunting.run(batches("pointer.join"), examples=300, number=1, most=1))
    # Asked twice each: as the reference and as the peer.
    assert len(asked) == 2 * len(set(asked)) == 2 * hunting.done
