"""Running an importer: the report's arithmetic, what is written and when nothing is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callbench.dataset import load_dataset
from callbench.dataset.importers import EXTRAS, IMPORTERS
from callbench.dataset.importers.base import Draft, Excluded, Item, Source
from callbench.dataset.importers.writing import import_dataset
from callbench.errors import DatasetError, UsageError

Import = Callable[..., Any]
Lines = Callable[..., Path]

TOOL = {
    "type": "function",
    "function": {
        "name": "f",
        "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}},
    },
}


def request(*calls: Any, **fields: Any) -> dict[str, Any]:
    """A chat request that wants these argument objects of ``f``."""
    return {
        "messages": [{"role": "user", "content": "1"}],
        "tools": [TOOL],
        "expected": [{"name": "f", "arguments": call} for call in calls],
        **fields,
    }


class TestReport:
    def test_it_accounts_for_everything(self, lines: Lines, imported: Import) -> None:
        file = lines("r.jsonl", request({"a": 1}, {"a": "x"}, "{"), request({"a": 1}, tools=[]))
        report = imported("openai-tools", file).report
        assert (report["records"], report["items"], report["cases"]) == (2, 4, 2)
        assert report["excluded"] == {"broken-arguments": 1, "no-tool": 1}
        assert report["excluded_items"][0] == {
            "origin": "r.jsonl#1", "kind": "broken-arguments",
            "why": "The arguments of f are no JSON object."}  # fmt: skip
        assert report["defects"] == {"breaks-schema": 1}
        assert report["defect_items"][0]["case"] == "1/2"

    def test_the_source_is_named_by_hash(
        self, lines: Lines, imported: Import, tmp_path: Path
    ) -> None:
        import hashlib

        file = lines("r.jsonl", request({"a": 1}))
        (tmp_path / "LICENSE").write_bytes(b"free")
        (source,) = imported("openai-tools", file).report["sources"]
        assert source == {
            "file": "r.jsonl",
            "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
            "bytes": file.stat().st_size,
            "licence": "LICENSE",
            "licence_sha256": hashlib.sha256(b"free").hexdigest(),
        }

    def test_the_same_source_gives_the_same_bytes(self, lines: Lines, imported: Import) -> None:
        file = lines("r.jsonl", request({"a": 1}, {"a": "x"}))
        one, other = imported("openai-tools", file), imported("openai-tools", file)
        for name in ("cases.jsonl", "import.json"):
            assert (one.out / name).read_bytes() == (other.out / name).read_bytes()

    def test_limit_counts_cases(self, lines: Lines, imported: Import) -> None:
        file = lines(
            "r.jsonl", request({"a": 1}), request("["), request({"a": 1}), request({"a": 1})
        )
        found = imported("openai-tools", file, limit=2)
        assert [record["id"] for record in found.records] == ["1", "3"]
        assert found.report["items"] == 3
        assert found.report["options"] == {"limit": 2}


class TestIds:
    def test_an_id_taken_in_the_same_file_is_a_defect(self, lines: Lines, imported: Import) -> None:
        file = lines("r.jsonl", request({"a": 1}, id="x"), request({"a": 1}, id="x"))
        found = imported("openai-tools", file)
        assert [record["id"] for record in found.records] == ["x", "x#2"]
        assert found.kinds() == {"x#2 /id": "misaligned"}

    def test_one_taken_in_another_file_is_none(self, lines: Lines, imported: Import) -> None:
        files = (
            lines("a.jsonl", request({"a": 1}, id="x")),
            lines("b.jsonl", request({"a": 1}, id="x")),
        )
        found = imported("openai-tools", *files)
        assert [(record["id"], record["cluster"]) for record in found.records] == [
            ("x", "x"), ("x#2", "x#2")]  # fmt: skip
        assert not found.report["defects"]


class TestWholeOrNotAtAll:
    def test_a_directory_that_is_not_empty_is_left_alone(
        self, lines: Lines, tmp_path: Path
    ) -> None:
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "mine").write_text("mine")
        with pytest.raises(UsageError, match="not empty"):
            import_dataset("openai-tools", [lines("r.jsonl", request({"a": 1}))], tmp_path / "out")
        assert [entry.name for entry in (tmp_path / "out").iterdir()] == ["mine"]

    def test_an_empty_one_is_used(self, lines: Lines, tmp_path: Path) -> None:
        (tmp_path / "out").mkdir()
        import_dataset("openai-tools", [lines("r.jsonl", request({"a": 1}))], tmp_path / "out")
        assert {entry.name for entry in (tmp_path / "out").iterdir()} == {
            "cases.jsonl", "import.json"}  # fmt: skip

    @pytest.mark.parametrize("tail", ["not json\n", '{"other": 1}\n'])
    def test_a_broken_source_writes_nothing(self, lines: Lines, tmp_path: Path, tail: str) -> None:
        file = lines("in/r.jsonl", request({"a": 1}))
        file.write_text(file.read_text() + tail)
        with pytest.raises(DatasetError, match=r"r\.jsonl:2: "):
            import_dataset("openai-tools", [file], tmp_path / "out")
        assert [entry.name for entry in tmp_path.iterdir()] == ["in"]

    def test_no_case_at_all_is_an_error_that_says_why(self, lines: Lines, tmp_path: Path) -> None:
        with pytest.raises(DatasetError, match="no-tool 1: No tool is offered"):
            import_dataset("openai-tools", [lines("r.jsonl", request(tools=[]))], tmp_path / "out")
        assert not (tmp_path / "out").exists()

    def test_what_no_line_can_hold_is_left_out(self, lines: Lines, imported: Import) -> None:
        file = lines("r.jsonl", request({"a": 1}))
        half = json.dumps(request({"a": 1})).replace('"1"', '"\\ud800"')
        file.write_text(f"{file.read_text()}{half}\n")
        assert imported("openai-tools", file).report["excluded"] == {"unsound-text": 1}

    def test_a_record_nested_too_deeply(self, lines: Lines, tmp_path: Path) -> None:
        file = lines("r.jsonl", request({"a": 1}))
        deep = '{"properties": {"a": ' * 300 + "{}" + "}}" * 300
        file.write_text(
            f'{{"messages": [{{"role": "user", "content": "1"}}], "tools": [{{"name": "f", '
            f'"parameters": {deep}}}], "expected": [{{"name": "f", "arguments": {{}}}}]}}\n'
        )
        with pytest.raises(DatasetError):
            import_dataset("openai-tools", [file], tmp_path / "out")


class TestUsage:
    def test_an_unknown_importer_lists_them(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match=r"(?s)no importer \"bfc\".*bfcl"):
            import_dataset("bfc", [tmp_path], tmp_path / "out")

    def test_a_limit_below_one(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="--limit"):
            import_dataset("bfcl", [tmp_path], tmp_path / "out", limit=0)

    def test_extras_belong_to_importers(self) -> None:
        assert set(EXTRAS) <= set(IMPORTERS)


class _Made:
    """An importer of what a test made up."""

    name, summary, licence = "made", "", ""

    def __init__(self, items: list[Item]) -> None:
        self.items = items

    def read(self, source: Source) -> Iterator[Item]:
        yield from self.items


_DRAFTS = st.builds(
    lambda origin, name, a, schema: Draft(
        f"f#{origin}",
        {"id": name, "lang": "en", "tool": {"name": "t"}, "question": "1",
         "schema": {"type": "object", "properties": {"a": schema}, "required": ["a"]},
         "expected": a},
    ),
    st.integers(0, 9),
    st.sampled_from(["x", "y", "x#2"]),
    st.dictionaries(st.sampled_from(["a", "b"]), st.none() | st.integers(0, 2) | st.text("a", max_size=1)),
    st.sampled_from([{}, {"type": "integer"}, {"enum": [1]}, {"type": "bad"}]),
)  # fmt: skip
_EXCLUDED = st.builds(lambda origin: Excluded(f"f#{origin}", "out", "why"), st.integers(0, 9))


@settings(max_examples=40, deadline=None)
@given(items=st.lists(_DRAFTS | _EXCLUDED, max_size=8))
def test_items_are_cases_and_excluded_and_what_is_written_loads(
    tmp_path_factory: pytest.TempPathFactory, items: list[Item]
) -> None:
    tmp_path = tmp_path_factory.mktemp("made")
    IMPORTERS["made"] = lambda: _Made(items)
    try:
        try:
            report = import_dataset("made", [tmp_path], tmp_path / "out")
        except DatasetError:
            assert not (tmp_path / "out").exists()
            return
    finally:
        del IMPORTERS["made"]
    assert report.items == len(items)
    assert len(load_dataset(tmp_path / "out").cases) == report.cases
    assert len(report.records) == len({item.origin for item in items})
