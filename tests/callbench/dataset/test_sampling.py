"""Samples: whole dialogues, by seed and name alone, byte for byte."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callbench.dataset.case import Case, Tool
from callbench.dataset.copying import write_lines
from callbench.dataset.loader import Dataset, load_dataset
from callbench.dataset.sampling import drawn, sample_lines
from callbench.errors import UsageError


def dataset(clusters: list[int]) -> Dataset:
    """A dataset of dialogues of these sizes; a size of 0 is a case without a cluster."""
    cases = [
        Case(
            f"{number}-{index}", "en", Tool("t"), {}, "q", {}, cluster=f"d{number}" if size else ""
        )
        for number, size in enumerate(clusters)
        for index in range(size or 1)
    ]
    return Dataset("d", Path("d"), "", tuple(cases))


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12), st.data())
def test_dialogues_are_whole_and_samples_of_one_seed_grow(sizes: list[int], data: Any) -> None:
    whole = dataset(sizes)
    count = data.draw(st.integers(1, len(whole.cases)))
    seed = data.draw(st.integers(0, 5))
    try:
        ids = drawn(whole, count, seed)
    except UsageError:
        assert all(size > count for size in sizes)
        return
    assert 1 <= len(ids) <= count
    taken = [case for case in whole.cases if case.id in ids]
    for case in whole.cases:
        if case.cluster and case.cluster in {one.cluster for one in taken}:
            assert case.id in ids
    assert drawn(whole, len(whole.cases), seed) == {case.id for case in whole.cases}


def test_without_dialogues_a_smaller_sample_lies_in_a_larger_one() -> None:
    whole = dataset([0] * 50)
    assert drawn(whole, 10, 3) < drawn(whole, 20, 3) < drawn(whole, 50, 3)
    assert drawn(whole, 10, 3) != drawn(whole, 10, 4)


def test_a_case_named_like_a_dialogue_is_its_own() -> None:
    cases = (
        Case("d0", "en", Tool("t"), {}, "q", {}),
        Case("other", "en", Tool("t"), {}, "q", {}, cluster="d0"),
    )
    assert all(len(drawn(Dataset("d", Path("d"), "", cases), 1, seed)) == 1 for seed in range(8))


@pytest.mark.parametrize("count", [0, -1, 4])
def test_a_count_that_cannot_be_drawn_is_refused(count: int) -> None:
    with pytest.raises(UsageError, match="which has 3 cases"):
        drawn(dataset([1, 1, 1]), count, 0)


def test_dialogues_that_are_all_too_large_are_an_error() -> None:
    with pytest.raises(UsageError, match="No dialogue of d has 1 cases or fewer") as caught:
        drawn(dataset([2, 3]), 1, 0)
    assert "the smallest has 2" in str(caught.value)


def test_lines_are_taken_over_byte_for_byte(
    write: Callable[..., Path], record: dict[str, Any], tmp_path: Path
) -> None:
    odd = json.dumps({**record, "id": "odd"}, indent=None).replace(",", " ,", 3).encode()
    path = write({**record, "id": "one"}, odd + b"\r\n", b"\n", {**record, "id": "two"})
    whole = load_dataset(path)
    out = tmp_path / "out" / "part.jsonl"
    assert write_lines(out, sample_lines(whole, frozenset({"odd"}))) == 1
    assert out.read_bytes() == odd + b"\n"
    assert [case.id for case in load_dataset(out).cases] == ["odd"]


def test_a_file_that_exists_is_not_overwritten(tmp_path: Path) -> None:
    out = tmp_path / "there.jsonl"
    out.write_bytes(b"precious")
    with pytest.raises(UsageError, match="not overwritten"):
        write_lines(out, [b"new"])
    assert out.read_bytes() == b"precious"


def test_an_error_while_writing_leaves_nothing_behind(tmp_path: Path) -> None:
    def lines() -> Any:
        yield b"one"
        raise UsageError("no more")

    with pytest.raises(UsageError, match="no more"):
        write_lines(tmp_path / "new.jsonl", lines())
    assert list(tmp_path.iterdir()) == []


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"must end in \.jsonl"):
        write_lines(tmp_path / "new.json", [])
