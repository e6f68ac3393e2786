"""``hammerbench``: names only, by snapshot."""

from __future__ import annotations

import pytest

from callbench.dataset import Case, Tool
from callbench.scoring.official import SCORERS, score

CASE = Case("c", "en", Tool("t"), {"type": "object"}, "q", {"city": "Oslo", "day": {"of": "May"}})
JUDGE = SCORERS["hammerbench"].judge


def test_gold_has_neither_fault_and_dropping_or_adding_any_slot_has_one() -> None:
    assert JUDGE(CASE, CASE.expected) == {"phr": 0, "pmr": 0, "hallucinated": [], "missing": []}
    for name in CASE.expected:
        dropped = {key: value for key, value in CASE.expected.items() if key != name}
        assert JUDGE(CASE, dropped) == {"phr": 0, "pmr": 1, "hallucinated": [], "missing": [name]}
    added = JUDGE(CASE, {**CASE.expected, "what": ""})
    assert (added["phr"], added["pmr"], added["hallucinated"]) == (1, 0, ["what"])


@pytest.mark.trap("D7")
def test_the_official_rule_looks_at_no_value() -> None:
    """TRAPS D7: what the documentation calls surprising is really so."""
    assert JUDGE(CASE, {"city": "Rome", "day": None})["pmr"] == 0


def test_rates_are_shares_of_snapshots_and_an_unread_reply_misses_all() -> None:
    cases = [
        Case(str(n), "en", Tool("t"), {"type": "object"}, "q", CASE.expected) for n in range(4)
    ]
    said = {"0": CASE.expected, "1": {"x": 1, "y": 2, "z": 3}, "2": None, "3": CASE.expected}
    found = score("hammerbench", cases, said)
    rates = {name: rate["value"] for name, rate in found["metrics"].items()}
    assert rates == {"parameter_hallucination_rate": 0.25, "parameter_missing_rate": 0.5}
    assert (found["scored"], found["unparsed"]) == (4, 1)
