"""What all official scorers share: what was said, counts, ids."""

from __future__ import annotations

from typing import Any

import pytest

from callbench.dataset import Case, Tool
from callbench.errors import DatasetError, UsageError
from callbench.scoring import Outcome, official

CASE = Case(
    "c",
    "en",
    Tool("t"),
    {
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "l": {"type": "array", "items": {"type": "object", "properties": {"x": {}}}},
            "o": {"type": "object", "properties": {"p": {"type": "string"}}},
        },
    },
    "q",
    {"a": 1},
    data={"k": 1},
)


@pytest.mark.parametrize(
    ("outcome", "wanted"),
    [
        (Outcome(slot_data={"a": 1}), {"a": 1}),
        (Outcome(status="unparsed"), None),
        (Outcome(asked=False), {"k": 1}),
        (Outcome(asked=False, slot_data={"k": 1, "a": 2}), {"k": 1, "a": 2}),
        (Outcome(rejected=(("/a", "x", "type"),)), {"a": "x"}),
        (Outcome(rejected=(("/a", "x", "type"), ("/a", "y", "type"))), {"a": "y"}),
        # What took its place later stands.
        (Outcome(slot_data={"a": 2}, rejected=(("/a", "x", "type"),)), {"a": 2}),
        (Outcome(undeclared=(("/z", 1), ("/o/q", None))), {"z": 1, "o": {"q": None}}),
        (Outcome(rejected=(("/o/p", 5, "type"),)), {"o": {"p": 5}}),
        (Outcome(rejected=(("/l/0/x", 5, "type"),)), {"l": [{"x": 5}]}),
        (Outcome(slot_data={"a": 1}, undeclared=(("/a/b", 5),)), {"a": 1, "/a/b": 5}),
        (Outcome(rejected=(("", {"a": 3}, "not"),)), {"a": 3}),
    ],
)
def test_what_the_model_said(outcome: Outcome, wanted: dict[str, Any] | None) -> None:
    before = repr(outcome)
    assert official.said(CASE, outcome) == wanted
    assert repr(outcome) == before


@pytest.mark.parametrize("name", official.SCORERS)
def test_every_scorer_counts_alike(name: str) -> None:
    cases = [Case(str(n), "en", Tool("t"), CASE.schema, "1", {"a": 1}) for n in range(4)]
    found = official.score(
        name,
        cases,
        {
            "0": {"a": 1},
            "1": None,
            "2": Outcome(status="provider_error", error="429"),
            "3": Outcome(slot_data={"a": 1}),
        },
    )
    assert (found["cases"], found["scored"], found["provider_errors"]) == (4, 3, 1)
    assert found["unparsed"] == 1
    assert found["scorer"] == f"{name}@{official.SCORERS[name].version}"
    assert [one["id"] for one in found["results"]] == ["0", "1", "2", "3"]
    assert found["results"][2] == {"id": "2", "status": "provider_error"}
    for rate in found["metrics"].values():
        assert rate["low"] <= rate["value"] <= rate["high"]


@pytest.mark.parametrize("name", official.SCORERS)
def test_every_scorer_takes_whatever_a_model_says(name: str) -> None:
    odd: list[Any] = [None, True, 1, 1.5, "", "x", [], [1, [2]], [{}], {}, {"x": {"y": [None]}}]
    rule = official.SCORERS[name]
    for expected in odd:
        case = Case("c", "en", Tool("t"), CASE.schema, "x 1", {"a": expected, "l": expected})
        for value in odd:
            rule.judge(case, {"a": value, "l": value, "z": value})


@pytest.mark.trap("D11")
def test_ids_must_match() -> None:
    """TRAPS D11."""
    with pytest.raises(DatasetError, match="c has no prediction"):
        official.score("bfcl-ast", [CASE], {})
    with pytest.raises(DatasetError, match="no case d"):
        official.score("bfcl-ast", [CASE], {"c": {}, "d": {}})


def test_a_scorer_is_found_by_name_and_by_its_own_version() -> None:
    assert official.scorer("bfcl-ast@1") is official.scorer("bfcl-ast")
    for name in ("bfcl-ast@2", "bfcl", ""):
        with pytest.raises(UsageError, match="no scorer"):
            official.scorer(name)
