"""Loading datasets: files, directories, bundled names, and everything wrong with them at once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from callbench.dataset import (
    Accept,
    Dataset,
    InvalidDataset,
    Step,
    Tool,
    iter_cases,
    load_dataset,
    select,
)
from callbench.errors import DatasetError, ExitCode, UsageError

Record = dict[str, Any]
Write = Callable[..., Path]


def problems(path: Path) -> list[tuple[int, str, str]]:
    with pytest.raises(InvalidDataset) as caught:
        load_dataset(path)
    assert caught.value.exit_code is ExitCode.DATASET
    return [(one.line, one.fault.pointer, one.fault.rule) for one in caught.value.problems]


def test_every_field_of_a_line_reaches_the_case(record: Record, write: Write) -> None:
    (case,) = load_dataset(write(record)).cases
    assert case.id == "hotel-1"
    assert case.lang == "en"
    assert case.tool == Tool("book_hotel", "Books a hotel.")
    assert case.schema == record["schema"]
    assert case.question == record["question"]
    assert case.conversation == tuple(record["conversation"])
    assert case.facts == ("The user likes quiet rooms.",)
    assert case.summary == "Planning a trip."
    assert case.steps == (Step("s1", {"found": 3}, "search", "Searches."),)
    assert case.data == {"nights": 2}
    assert case.now == datetime(2026, 3, 12, 9, 30)
    assert case.expected == {"city": "Hangzhou", "nights": 2}
    assert case.accept == {"/city": Accept(("Hangzhou City",), "text", False)}
    assert case.unfillable == ("/phone",)
    assert case.defects == {"/steps/0": "misaligned"}
    assert case.tags == ("flat",)
    assert case.cluster == "d1"
    assert case.line == 1


def test_every_part_of_accept_reaches_the_case(record: Record, write: Write) -> None:
    record["accept"]["/city"] = {
        "values": ["a"],
        "match": "date",
        "may_omit": True,
        "aliases": {"x": ["y", "z"]},
        "date_order": "dmy",
    }
    (case,) = load_dataset(write(record)).cases
    assert case.accept == {"/city": Accept(("a",), "date", True, {"x": ("y", "z")}, "dmy")}


def test_what_is_left_out_is_empty(record: Record, write: Write) -> None:
    for name in set(record) - {"id", "lang", "tool", "schema", "question", "expected"}:
        del record[name]
    record["schema"]["required"].remove("phone")
    (case,) = load_dataset(write(record)).cases
    assert (case.conversation, case.facts, case.summary, case.steps) == ((), (), "", ())
    assert (case.data, case.now, case.accept, case.defects) == ({}, None, {}, {})
    assert (case.unfillable, case.tags, case.cluster) == ((), (), "")


def test_blank_lines_crlf_bom_and_a_missing_last_newline_are_tolerated(
    record: Record, write: Write
) -> None:
    """Reports r219, r220: a BOM must not cost the first record."""
    first, second = (json.dumps(record | {"id": name}).encode() for name in "ab")
    path = write(b"\xef\xbb\xbf" + first + b"\r\n", b"\r\n", b"  \n", second)
    cases = load_dataset(path).cases
    assert [(case.id, case.line) for case in cases] == [("a", 1), ("b", 4)]


def test_the_hash_is_over_the_bytes_of_the_files_in_name_order(
    record: Record, write: Write
) -> None:
    later = write(record | {"id": "z"}, name="set/b.jsonl")
    first = write(record, name="set/a.jsonl")
    dataset = load_dataset(first.parent)
    assert dataset.sha256 == hashlib.sha256(first.read_bytes() + later.read_bytes()).hexdigest()
    assert [case.id for case in dataset.cases] == ["hotel-1", "z"]
    assert (dataset.name, dataset.path) == ("set", first.parent)


def test_a_case_can_be_had_by_index_and_by_slice(record: Record, write: Write) -> None:
    cases = load_dataset(write(*(record | {"id": str(n)} for n in range(5)))).cases
    assert len(cases) == 5
    assert cases[3].id == "3"
    assert cases[-1].id == "4"
    assert [case.id for case in cases[1:4:2]] == ["1", "3"]
    with pytest.raises(IndexError):
        cases[5]


def test_cases_can_be_walked_twice_and_side_by_side(record: Record, write: Write) -> None:
    cases = load_dataset(write(*(record | {"id": str(n)} for n in range(3)))).cases
    pairs = [(one.id, other.id) for one, other in zip(cases, cases, strict=True)]
    assert pairs == [("0", "0"), ("1", "1"), ("2", "2")]


def test_a_file_that_changes_while_in_use_is_noticed(record: Record, write: Write) -> None:
    dataset = load_dataset(write(record))
    dataset.path.write_text("{}\n")
    with pytest.raises(DatasetError, match="changed while it was in use"):
        list(dataset.cases)


class TestFaults:
    def test_the_message_names_file_line_field_rule_and_remedy(
        self, record: Record, write: Write
    ) -> None:
        path = write(record, record | {"id": "b", "expcted": {}})
        with pytest.raises(InvalidDataset) as caught:
            load_dataset(path)
        assert (
            f'{path}:2: /expcted [unknown-field] There is no field "expcted" here. Did you mean expected?'
            in str(caught.value).splitlines()
        )

    def test_a_file_is_read_to_its_end_so_that_it_can_be_mended_in_one_go(
        self, record: Record, write: Write
    ) -> None:
        path = write(
            b"not json\n",
            record | {"id": "a", "lang": "fr"},
            record,
            b"\n",
            record,
            record | {"id": "c", "now": "x", "unfillable": []},
        )
        assert problems(path) == [
            (1, "", "json"),
            (2, "/lang", "value"),
            (5, "/id", "duplicate-id"),
            (6, "/now", "now"),
        ]

    def test_several_faults_of_one_line_are_all_named(self, record: Record, write: Write) -> None:
        record["unfillable"] = []
        record["accept"] = {"/nope": {}}
        assert problems(write(record)) == [
            (1, "/expected/phone", "expected-schema"),
            (1, "/accept/~1nope", "accept-pointer"),
        ]

    def test_twenty_are_enough(self, write: Write) -> None:
        path = write(*[b"x\n"] * 30)
        with pytest.raises(InvalidDataset, match="stopped after 20") as caught:
            load_dataset(path)
        assert len(caught.value.problems) == 20

    def test_nineteen_are_all_of_them(self, write: Write) -> None:
        with pytest.raises(InvalidDataset) as caught:
            load_dataset(write(*[b"x\n"] * 19))
        assert "stopped" not in str(caught.value)
        assert "19 problems" in str(caught.value)

    def test_a_duplicate_says_where_the_first_stands_across_files(
        self, record: Record, write: Write
    ) -> None:
        first = write(b"\n", record, name="set/a.jsonl")
        second = write(record, name="set/b.jsonl")
        with pytest.raises(InvalidDataset) as caught:
            load_dataset(first.parent)
        (problem,) = caught.value.problems
        assert (problem.file, problem.line, problem.fault.rule) == (second, 1, "duplicate-id")
        assert f"{first}:2" in problem.fault.message

    def test_a_duplicate_is_found_even_where_another_rule_is_broken(
        self, record: Record, write: Write
    ) -> None:
        assert problems(write(record, record | {"lang": "fr"})) == [
            (2, "/lang", "value"),
            (2, "/id", "duplicate-id"),
        ]

    @pytest.mark.parametrize("raw", [b"", b"\n\n", b"\xef\xbb\xbf"])
    def test_a_file_without_cases_is_an_error(self, write: Write, raw: bytes) -> None:
        with pytest.raises(DatasetError, match=r"cases\.jsonl has no cases"):
            load_dataset(write(raw))

    def test_a_directory_without_files_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(DatasetError, match=r"no \*\.jsonl file"):
            load_dataset(tmp_path)


class TestIterCases:
    def test_cases_come_as_they_are_checked(self, record: Record, write: Write) -> None:
        path = write(record, record | {"id": "b"})
        assert [case.id for case in iter_cases(path)] == ["hotel-1", "b"]

    def test_the_first_fault_ends_them(self, record: Record, write: Write) -> None:
        cases = iter_cases(write(record, b"x\n", record | {"id": "c"}))
        assert next(cases).id == "hotel-1"
        with pytest.raises(InvalidDataset):
            next(cases)


class TestNames:
    def test_a_bundled_dataset_is_found_by_name(self) -> None:
        dataset = load_dataset("everyday")
        assert dataset.name == "everyday"
        assert len(dataset.cases) >= 200

    def test_a_bundled_name_comes_before_a_directory_of_that_name(
        self, record: Record, write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        write(record, name="everyday/a.jsonl")
        monkeypatch.chdir(tmp_path)
        assert len(load_dataset("everyday").cases) > 1
        assert len(load_dataset("./everyday").cases) == 1

    def test_a_directory_with_a_name_of_its_own_needs_no_dot(
        self, record: Record, write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        write(record, name="mine/a.jsonl")
        monkeypatch.chdir(tmp_path)
        assert load_dataset("mine").name == "mine"

    def test_an_unknown_name_is_a_usage_error_with_the_nearest(self) -> None:
        with pytest.raises(UsageError, match='no dataset "everydy"') as caught:
            load_dataset("everydy")
        assert caught.value.remedy == "Did you mean everyday?"
        assert caught.value.exit_code is ExitCode.USAGE

    def test_an_unknown_name_like_no_other_gets_the_list(self) -> None:
        with pytest.raises(UsageError, match=r"Bundled datasets: .*everyday"):
            load_dataset("qqqq")

    @pytest.mark.parametrize("path", ["no/such", "cases.jsonl", "./everydy"])
    def test_a_path_that_is_not_there_is_a_usage_error(self, path: str) -> None:
        with pytest.raises(UsageError, match="no dataset file or directory"):
            load_dataset(path)


class TestSelect:
    @pytest.fixture
    def dataset(self, record: Record, write: Write) -> Dataset:
        rows = [("a", "en", ["x"]), ("b", "zh", ["x", "y"]), ("c", "en", ["y"]), ("d", "zh", [])]
        return load_dataset(
            write(*(record | {"id": name, "lang": lang, "tags": tags} for name, lang, tags in rows))
        )

    @staticmethod
    def ids(dataset: Dataset) -> str:
        return "".join(case.id for case in dataset.cases)

    def test_without_a_condition_all_stay(self, dataset: Dataset) -> None:
        assert self.ids(select(dataset)) == "abcd"

    def test_by_language_tag_and_limit(self, dataset: Dataset) -> None:
        assert self.ids(select(dataset, lang="zh")) == "bd"
        assert self.ids(select(dataset, tags=["y"])) == "bc"
        assert self.ids(select(dataset, tags=["x", "y"])) == "abc"
        assert self.ids(select(dataset, lang="en", tags=["y"])) == "c"
        assert self.ids(select(dataset, limit=2)) == "ab"
        assert self.ids(select(dataset, lang="en", limit=1)) == "a"
        assert self.ids(select(select(dataset, lang="en"), tags=["y"])) == "c"

    def test_the_rest_of_the_dataset_stays(self, dataset: Dataset) -> None:
        chosen = select(dataset, lang="zh")
        assert (chosen.name, chosen.sha256) == (dataset.name, dataset.sha256)

    def test_nothing_left_is_a_usage_error(self, dataset: Dataset) -> None:
        with pytest.raises(UsageError, match="language en and tag yy") as caught:
            select(dataset, lang="en", tags=["yy"])
        assert "Did you mean y?" in caught.value.remedy
        with pytest.raises(UsageError, match=r"Languages: en, zh\. Tags: x, y"):
            select(dataset, tags=["qqq"])

    @pytest.mark.parametrize("limit", [0, -1])
    def test_a_limit_below_one_is_a_usage_error(self, dataset: Dataset, limit: int) -> None:
        with pytest.raises(UsageError, match="--limit"):
            select(dataset, limit=limit)
