"""Reading a run from disk, whole or damaged."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from callbench.errors import DatasetError, UsageError
from callbench.report import TruncatedRunWarning, iter_records, read_info

Make = Callable[..., dict[str, Any]]
Write = Callable[..., Path]


def test_records_come_back_in_order(make_record: Make, write_run: Write) -> None:
    records = [make_record("b"), make_record("a", question="杭州？")]
    assert list(iter_records(write_run(*records))) == records


def test_a_cut_off_last_line_is_left_out_with_a_warning(
    make_record: Make, write_run: Write
) -> None:
    for cut in (b'{"id": "b", "la', '{"question": "杭'.encode()[:-1]):
        directory = write_run(make_record("a"), cut)
        with pytest.warns(TruncatedRunWarning, match=r"cases\.jsonl:2: the last line is cut off"):
            assert [one["id"] for one in iter_records(directory)] == ["a"]


def test_a_last_line_that_only_lacks_its_newline_is_whole(
    make_record: Make, write_run: Write
) -> None:
    directory = write_run(make_record("a"), json.dumps(make_record("b")).encode())
    assert [one["id"] for one in iter_records(directory)] == ["a", "b"]


@pytest.mark.parametrize("line", [b"{broken\n", b"\xff\n", b"\n", b"[]\n", b'{"id": "x"}\n'])
def test_any_other_broken_line_is_an_error_with_its_number(
    make_record: Make, write_run: Write, line: bytes
) -> None:
    for lines in ((make_record("a"), line, make_record("b")), (make_record("a"), line)):
        with pytest.raises(DatasetError, match=r"cases\.jsonl:2: not "):
            list(iter_records(write_run(*lines)))


@pytest.mark.trap("E2")
def test_e2_a_second_result_of_a_case_is_an_error(make_record: Make, write_run: Write) -> None:
    directory = write_run(make_record("a"), make_record("b"), make_record("a"))
    with pytest.raises(
        DatasetError, match=r":3: case a has a second result; the first is on line 1"
    ):
        list(iter_records(directory))


def test_what_is_no_run_is_a_usage_error(tmp_path: Path, write_run: Write) -> None:
    with pytest.raises(UsageError, match=r"it has no run\.json"):
        read_info(tmp_path)
    directory = write_run()
    (directory / "cases.jsonl").unlink()
    with pytest.raises(UsageError, match=r"has no cases\.jsonl"):
        list(iter_records(directory))


@pytest.mark.parametrize("raw", ["{", "[]"])
def test_a_damaged_run_json_is_named(write_run: Write, raw: str) -> None:
    directory = write_run()
    (directory / "run.json").write_text(raw)
    with pytest.raises(DatasetError, match=r"run\.json"):
        read_info(directory)
