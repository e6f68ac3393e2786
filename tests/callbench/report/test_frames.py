"""The frames of a run: ``callbench.load_run``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from callbench.errors import UsageError
from callbench.report.frames import load_run

Make = Callable[..., dict[str, Any]]
Write = Callable[..., Path]


@pytest.fixture
def run_path(make_record: Make, write_run: Write) -> Path:
    return write_run(
        make_record(
            "a",
            ("/x", "correct", {"expected": "x", "got": "X", "stage": "stage1"}),
            ("/y", "wrong_value", {"expected": None, "got": [1]}),
            ("/z", "missing", {"expected": {"k": 1}}),
            tags=["t"],
            slot_data={"x": "X", "y": [1]},
        ),
        make_record(
            "b",
            status="provider_error",
            prompt_tokens=None,
            timing={"ms": 2.0, "first_event_ms": None},
        ),
    )


def test_one_row_a_case(run_path: Path) -> None:
    cases = load_run(run_path).cases
    assert cases["id"].tolist() == ["a", "b"]
    first = cases.iloc[0]
    assert (first["exact"], first["status"], first["tags"]) == (False, "ok", ["t"])
    assert (first["tp"], first["fp"], first["fn"]) == (1, 1, 2)
    assert first["slot_data"] == {"x": "X", "y": [1]}
    assert (first["prompt_tokens"], first["ms"], first["first_event_ms"]) == (100, 1.0, 0.5)


def test_a_provider_error_has_no_verdict_and_leaves_the_means_alone(run_path: Path) -> None:
    cases = load_run(run_path).cases
    assert cases["exact"].isna().tolist() == [False, True]
    assert cases["exact"].mean() == 0
    assert cases["prompt_tokens"].isna().tolist() == [False, True]


def test_one_row_a_slot_and_null_is_not_absent(run_path: Path) -> None:
    slots = load_run(run_path).slots
    assert slots["pointer"].tolist() == ["/x", "/y", "/z"]
    assert slots["id"].tolist() == ["a"] * 3
    assert slots["verdict"].value_counts().to_dict() == {
        "correct": 1,
        "wrong_value": 1,
        "missing": 1,
    }
    assert slots["expected"].tolist() == ["x", None, {"k": 1}]
    assert slots["got"].tolist()[:2] == ["X", [1]]
    assert slots["got"].tolist()[2] is pd.NA
    assert slots["stage"].tolist() == ["stage1", "", ""]


def test_the_two_frames_join_by_id(run_path: Path) -> None:
    run = load_run(run_path)
    joined = run.slots.merge(run.cases[["id", "question"]], on="id")
    assert joined["question"].tolist() == ["Question a?"] * 3


def test_a_run_may_be_named_by_its_log(run_path: Path) -> None:
    run = load_run(run_path / "cases.jsonl")
    assert run.info["model"] == "smollm2"
    assert run.summary()["cases"] == 2


def test_a_run_without_cases_has_frames_with_the_same_columns(
    run_path: Path, write_run: Write
) -> None:
    full = load_run(run_path)
    columns = (full.cases.dtypes.to_dict(), full.slots.dtypes.to_dict())
    empty = load_run(write_run())
    assert (len(empty.cases), len(empty.slots)) == (0, 0)
    assert list(empty.cases.columns) == list(columns[0])
    assert empty.slots.dtypes.to_dict() == columns[1]


def test_what_is_no_run_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        load_run(str(tmp_path))
