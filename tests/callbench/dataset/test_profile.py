"""What a dataset is made of, counted by hand here."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

from callbench.dataset.loader import load_dataset
from callbench.dataset.profile import profile


def test_the_counts_of_two_cases(write: Callable[..., Path], record: dict[str, Any]) -> None:
    other = copy.deepcopy(record)
    for name in (
        "conversation",
        "facts",
        "summary",
        "steps",
        "now",
        "accept",
        "defects",
        "cluster",
    ):
        del other[name]
    other |= {"id": "hotel-2", "lang": "zh", "question": "住"}
    other["expected"]["rooms"] = [{"beds": 1}, {"beds": 2}]
    found = profile(load_dataset(write(record, other)).cases)
    assert found == {
        "cases": 2,
        "langs": {"en": 1, "zh": 1},
        "tools": 1,
        "clusters": 2,
        "largest_cluster": 1,
        "with": {
            "conversation": 1, "facts": 1, "summary": 1, "steps": 1, "data": 2, "now": 1,
            "accept": 1, "unfillable": 2,
        },
        "slots": {
            "offered": 10, "expected": 6, "required": 4, "nested": 2, "known": 2,
            "with_alternatives": 1, "may_omit": 0, "unfillable": 2,
        },
        "types": {"integer": 4, "string": 2},
        "characters": {"min": 1, "p50": 1, "p95": 31, "max": 31},
        "tags": {"flat": 2},
    }  # fmt: skip


def test_no_case_at_all() -> None:
    found = profile([])
    assert (found["cases"], found["clusters"], found["largest_cluster"]) == (0, 0, 0)
    assert found["characters"]["max"] == 0
