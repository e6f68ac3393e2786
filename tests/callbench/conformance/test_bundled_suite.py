"""The bundled suite: enough of it, true of the reference, and a case for every rule that shows."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from callbench.bundled import bundled
from callbench.conformance.cases import Case, known_rules, load_suite
from callbench.conformance.runner import run_cases
from callbench.peer import REFERENCE, opener

DIRECTORY = bundled("datasets") / "conformance"
WITHOUT_CASE: dict[str, str] = json.loads((DIRECTORY / "without_case.json").read_bytes())


@pytest.fixture(scope="module")
def suite() -> Sequence[Case]:
    return load_suite()  # ids are unique and rules exist, or it cannot be loaded


def test_there_are_enough_cases(suite: Sequence[Case]) -> None:
    assert len(suite) >= 600


def test_every_rule_has_a_case_or_a_reason_why_none_can_be(suite: Sequence[Case]) -> None:
    with_case = {case.rule for case in suite}
    assert set(known_rules()) - with_case == set(WITHOUT_CASE)
    assert all(len(reason) > 20 for reason in WITHOUT_CASE.values())


def test_what_is_written_by_hand_says_which_mistake_it_is_for() -> None:
    assert [case.id for case in load_suite(DIRECTORY / "rules.jsonl") if not case.note] == []


def test_the_reference_passes_every_case(suite: Sequence[Case]) -> None:
    finished = run_cases(suite, opener(REFERENCE), deadline=120)
    assert [v.case.id for v in finished.verdicts if v.outcome != "passed"] == []
