"""The bundled suite: enough of it, true of the reference, and a case for every rule that shows."""

from __future__ import annotations

import json
from collections.abc import Sequence

import jsonschema
import pytest

from callbench.bundled import bundled
from callbench.conformance.cases import Case, known_rules, load_suite
from callbench.conformance.runner import run_cases
from callbench.peer import REFERENCE, opener

DIRECTORY = bundled("datasets") / "conformance"
# Where jsonschema is known to judge otherwise (chapter schema.engine), or never comes back.
JSONSCHEMA_DIFFERS = {f"schema.valid.{number}" for number in (7, 10, 11, 12, 16, 19, 22)} | {
    "schema.limit.5",
    "schema.limit.6",
}
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


def test_jsonschema_judges_as_the_cases_expect(suite: Sequence[Case]) -> None:
    judged = [
        case
        for case in suite
        if case.op in ("slot.check", "slot.places")
        and not case.error
        and case.rule not in JSONSCHEMA_DIFFERS
        and not case.rule.startswith("schema.engine.")
    ]
    wrong = []
    for case in judged:
        valid = jsonschema.Draft7Validator(case.given["schema"]).is_valid(case.given["data"])
        if valid != (case.gives in ({}, [])):
            wrong.append(case.id)
    assert len(judged) > 100
    assert wrong == []
