"""CONTRACT.md, the tests and the docstrings name the same rules, and every rule is complete."""

from __future__ import annotations

from collections import Counter

import pytest

from .contract import AREAS, RULE_ID, Rule, docstring_ids, marked, rules, table
from .operations import OPERATIONS, check_example

RULES = rules()
IDS = [rule.id for rule in RULES]
SEEDS = ("CoreCall", "LLM", "callback_extra", "Slot", "call_llm")
EXAMPLES = [
    pytest.param(example, id=f"{rule.id}-{number}", marks=pytest.mark.rule(rule.id))
    for rule in RULES
    for number, example in enumerate(rule.examples(), 1)
]


def of(area: str, ids: object) -> set[str]:
    return {rule_id for rule_id in ids if rule_id.startswith(f"{area}.")}  # type: ignore[attr-defined]


@pytest.mark.parametrize("area", AREAS)
def test_docstrings_name_the_rules_of_the_contract(area: str) -> None:
    assert of(area, docstring_ids()) == of(area, IDS)


@pytest.mark.parametrize("area", AREAS)
def test_tests_name_the_rules_of_the_contract(area: str) -> None:
    assert of(area, marked("rule")) == of(area, IDS)


def test_marks_name_nothing_else() -> None:
    assert [name for name in marked("rule") if not RULE_ID.fullmatch(name)] == []


@pytest.mark.parametrize("area", AREAS)
def test_numbers_have_no_gaps(area: str) -> None:
    topics = Counter(rule.topic for rule in RULES if rule.area == area)
    expected = [f"{topic}.{number}" for topic in topics for number in range(1, topics[topic] + 1)]
    assert sorted(of(area, IDS)) == sorted(expected)
    assert len(set(IDS)) == len(IDS)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_has_source_behavior_and_example(rule: Rule) -> None:
    assert RULE_ID.fullmatch(rule.id)
    assert rule.source.startswith("Source: ")
    assert "decision" in rule.source or any(f"seed {seed}" in rule.source for seed in SEEDS)
    assert rule.fences
    behavior = rule.body.replace(rule.source, "").partition("```")[0].strip()
    assert len(behavior) > 20, "the behavior stands before the example"


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_of_the_contract_is_true(example: dict[str, object]) -> None:
    check_example(example)


def test_every_operation_is_described_and_used() -> None:
    described = [row[0].strip("`") for row in table("Operations of the examples")]
    assert sorted(described) == sorted(OPERATIONS)
    assert {example["op"] for rule in RULES for example in rule.examples()} == set(OPERATIONS)


def test_every_rule_that_is_mentioned_exists() -> None:
    from .contract import CONTRACT

    assert set(RULE_ID.findall(CONTRACT.read_text(encoding="utf-8"))) == set(IDS)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_section_of_a_seed_is_accounted_for(seed: str) -> None:
    rows = table(f"Where each section of the seed {seed} went")
    assert rows
    for section, _, held in rows:
        assert RULE_ID.search(held) or held.startswith(("no behavior:", "out of scope:")), section


def test_every_fault_names_rules_and_has_a_test() -> None:
    rows = {row: held for row, _, held in table("Faults seen in real systems")}
    expected = [f"A{number}" for number in range(1, 34)] + [f"B{number}" for number in range(1, 6)]
    assert list(rows) == expected
    assert [row for row, held in rows.items() if not RULE_ID.search(held)] == []
    held = {row for row in marked("trap") if row[0] in "AB"}  # the rest are the harness's own
    assert sorted(held, key=lambda row: (row[0], int(row[1:]))) == expected
