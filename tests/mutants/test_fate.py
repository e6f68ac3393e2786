"""Who is told of a mutant's fate, and which cases it meets first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from callbench.conformance.cases import Case

from .catalogue import MUTANTS
from .fate import Fate, totals
from .suite import batches

SHOWN = replace(MUTANTS[0], name="shown", observable=True, reason="")
HIDDEN = replace(SHOWN, name="hidden", observable=False, reason="log lines are not compared")


@pytest.mark.parametrize(
    ("fate", "wrong"),
    [
        (Fate(SHOWN, "test_a", None, "a.b.1-1"), False),
        (Fate(SHOWN, "", "test_b", "a.b.1-1"), False),
        (Fate(SHOWN, "", "", "a.b.1-1"), True),
        (Fate(SHOWN, "test_a", None, ""), True),
        (Fate(SHOWN, "test_a", None, None), False),
        (Fate(SHOWN, None, None, "a.b.1-1"), False),
        (Fate(HIDDEN, "test_a", None, ""), False),
        (Fate(HIDDEN, "test_a", None, "a.b.1-1"), True),
        (Fate(HIDDEN, "", "", ""), True),
    ],
)
def test_a_survivor_is_wrong_unless_no_operation_can_show_it(fate: Fate, wrong: bool) -> None:
    assert fate.wrong is wrong


def test_the_totals_count_each_kind_of_killer_and_name_the_survivors() -> None:
    fates = [
        Fate(SHOWN, "test_a", None, "a.b.1-1"),
        Fate(replace(SHOWN, name="by all"), "", "test_b", "a.b.1-1"),
        Fate(replace(SHOWN, name="alive"), "", "", ""),
        Fate(HIDDEN, "test_a", None, ""),
    ]
    said = list(totals(fates, "both"))
    assert said[0] == "4 mutants"
    assert "killed by the tests: 3" in said
    assert "killed by their own rule's tests: 2" in said
    assert "killed by the suite alone: 2; no operation shows 1, 1 survived" in said
    assert [line.split()[0] for line in said if "survived:" in line] == ["alive", "alive"]


def test_cases_of_the_rule_come_first_then_its_topic_its_area_the_rest() -> None:
    rules = ["slot.a.1", "core.b.1", "core.a.2", "core.a.1", "core.a.12", "core.a.1"]
    cases = [Case(str(place), "x.y", {}, rule=rule) for place, rule in enumerate(rules)]
    assert [[case.id for case in batch] for batch in batches(cases, "core.a.1")] == [
        ["3", "5"],
        ["2", "4"],
        ["1"],
        ["0"],
    ]
