"""Tables with a mapping: the example of the docstring, types by the schema, what is refused."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from callbench.errors import DatasetError, UsageError

Import = Callable[..., Any]

SCHEMA = """{"type": "object", "properties": {"city": {"type": "string"}, "code": {"type": "string"},
 "stars": {"type": "integer"}, "pool": {"type": "boolean"}, "tags": {"type": "array"},
 "range": {"type": "object", "properties": {"max": {"type": "number"}}}}}"""
MAPPING = """
schema_file = "tool.json"
[columns]
id = "case"
question = "utterance"
now = "asked"
facts = "fact"
[expected]
city = "city"
code = "code"
stars = "stars"
pool = "pool"
tags = "tags"
"/range/max" = "max_price"
[constants]
"tool.name" = "find_hotel"
tags = ["hotels"]
"""
HEADER = "case,utterance,asked,fact,city,code,stars,pool,tags,max_price\n"
ROW = (
    'h1,"Oslo, 4 stars,\n007, 90.5, x",2026-01-02T03:04,Likes tea.,Oslo,007,4,True,"[""x""]",90.5\n'
)
EXPECTED = {"city": "Oslo", "code": "007", "stars": 4, "pool": True, "tags": ["x"],
            "range": {"max": 90.5}}  # fmt: skip


@pytest.fixture
def mapping(tmp_path: Path) -> Callable[[str], dict[str, Path]]:
    """Write a mapping with its schema file."""

    def write(text: str = MAPPING) -> dict[str, Path]:
        (tmp_path / "tool.json").write_text(SCHEMA, "utf-8")
        (tmp_path / "map.toml").write_text(text, "utf-8")
        return {"mapping": tmp_path / "map.toml"}

    return write


@pytest.fixture
def table(tmp_path: Path) -> Callable[[str], Path]:
    """Write a CSV file."""

    def write(text: str) -> Path:
        path = tmp_path / "t.csv"
        path.write_bytes(text.encode())
        return path

    return write


class TestCsv:
    @pytest.mark.parametrize("bom", ["", "\ufeff"])
    @pytest.mark.parametrize("ending", ["\n", "\r\n"])
    def test_a_row_is_a_case(
        self, imported: Import, mapping: Any, table: Any, bom: str, ending: str
    ) -> None:
        file = table(bom + (HEADER + ROW).replace("\n", ending))
        found = imported("csv", file, extra=mapping())
        (record,) = found.records
        assert record["expected"] == EXPECTED
        assert record["question"] == "Oslo, 4 stars,\n007, 90.5, x".replace("\n", ending)
        assert (record["id"], record["now"]) == ("h1", "2026-01-02T03:04")
        assert (record["facts"], record["tags"]) == (["Likes tea."], ["hotels"])
        assert record["tool"] == {"name": "find_hotel"}
        assert not found.report["defects"]
        assert {each["file"] for each in found.report["sources"]} == {
            "t.csv", "map.toml", "tool.json"}  # fmt: skip

    def test_an_empty_cell_is_not_given(self, imported: Import, mapping: Any, table: Any) -> None:
        (record,) = imported(
            "csv", table(HEADER + "h2,Oslo,,,Oslo,,,,,\n"), extra=mapping()
        ).records
        assert record["expected"] == {"city": "Oslo"}
        assert "now" not in record
        assert "facts" not in record

    def test_a_cell_that_does_not_fit_is_kept(
        self, imported: Import, mapping: Any, table: Any
    ) -> None:
        found = imported("csv", table(HEADER + "h3,four,,,,,four,,,\n"), extra=mapping())
        assert found.records[0]["expected"] == {"stars": "four"}
        assert found.kinds() == {"h3 /expected/stars": "breaks-schema"}

    def test_expected_and_schema_from_one_column_each(
        self, imported: Import, mapping: Any, table: Any
    ) -> None:
        text = '[columns]\nquestion = "q"\nexpected = "e"\nschema = "s"\n"tool.name" = "t"\n'
        rows = 'q,e,s,t\n北京,"{""a"": 1}","{""properties"": {""a"": {""type"": ""float""}}}",f\nx,{,{},f\n'
        found = imported("csv", table(rows), extra=mapping(text))
        (record,) = found.records
        assert (record["expected"], record["lang"], record["id"]) == ({"a": 1}, "zh", "2")
        assert record["schema"]["properties"] == {"a": {"type": "number"}}
        assert found.report["excluded"] == {"broken-cell": 1}

    def test_a_zip_reads_the_same(
        self, imported: Import, mapping: Any, table: Any, tmp_path: Path
    ) -> None:
        file = table(HEADER + ROW)
        with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
            archive.write(file, "t.csv")
        plain = imported("csv", file, extra=mapping())
        assert imported("csv", tmp_path / "t.zip", extra=mapping()).records == plain.records

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            (HEADER + "h1,too,few\n", r"t\.csv:2: 3 cells, the header has 10"),
            (HEADER.replace("city", "town") + ROW, r'no column "city"'),
            ("", r"no column"),
            (HEADER + 'h1,"open\n', r"t\.csv:\d: unexpected end of data"),
        ],
        ids=["ragged", "renamed", "empty", "quote"],
    )
    def test_a_broken_table(
        self, imported: Import, mapping: Any, table: Any, text: str, says: str
    ) -> None:
        with pytest.raises(DatasetError, match=says):
            imported("csv", table(text), extra=mapping())

    def test_a_table_that_is_not_utf_8(
        self, imported: Import, mapping: Any, tmp_path: Path
    ) -> None:
        (tmp_path / "t.csv").write_bytes(HEADER.encode() + b"h1,\xff,,,,,,,,\n")
        with pytest.raises(DatasetError, match="can't decode byte 0xff"):
            imported("csv", tmp_path / "t.csv", extra=mapping())


class TestMapping:
    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("[columns]\nqestion = 'q'", 'no field "qestion".\nDid you mean question'),
            (
                "[colums]\nquestion = 'q'",
                '"colums" is not part of a mapping.\nDid you mean columns',
            ),
            ("columns = 1", '"columns" is not part'),
            ("[columns]\nquestion = 1", "1 is no column's name"),
            ("[columns", "not TOML"),
            ('schema_file = "none.json"', "no none.json beside it"),
        ],
    )
    def test_a_wrong_mapping(
        self, imported: Import, mapping: Any, table: Any, text: str, says: str
    ) -> None:
        with pytest.raises(UsageError, match=says):
            imported("csv", table(HEADER + ROW), extra=mapping(text))

    def test_none_at_all(self, imported: Import, table: Any) -> None:
        with pytest.raises(UsageError, match="needs --mapping"):
            imported("csv", table(HEADER + ROW))


class TestParquet:
    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        """Two rows with the types that Parquet has and JSON has not."""
        pa = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        rows = {
            "case": ["h1", "h2"],
            "utterance": ["Oslo 4 007 90.5 x", "Oslo"],
            "asked": [datetime(2026, 1, 2, 3, 4), None],
            "fact": [["Likes tea."], None],
            "city": ["Oslo", "Oslo"],
            "code": ["007", None],
            "stars": [4, None],
            "pool": [True, None],
            "tags": [["x"], None],
            "max_price": [Decimal("90.5"), None],
        }
        parquet.write_table(pa.table(rows), tmp_path / "t.parquet", row_group_size=1)
        return tmp_path / "t.parquet"

    def test_types_are_those_of_the_table(self, imported: Import, mapping: Any, file: Path) -> None:
        first, second = imported("parquet", file, extra=mapping()).records
        assert first["expected"] == EXPECTED
        assert (first["now"], first["facts"]) == ("2026-01-02T03:04:00", ["Likes tea."])
        assert second["expected"] == {"city": "Oslo"}

    def test_out_of_a_zip(self, imported: Import, mapping: Any, file: Path, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
            archive.write(file, "t.parquet")
        assert imported("parquet", tmp_path / "t.zip", extra=mapping()).report["cases"] == 2

    def test_a_damaged_file(self, imported: Import, mapping: Any, tmp_path: Path) -> None:
        pytest.importorskip("pyarrow")
        (tmp_path / "t.parquet").write_bytes(b"PAR1 nothing")
        with pytest.raises(DatasetError, match="cannot be read as Parquet"):
            imported("parquet", tmp_path / "t.parquet", extra=mapping())

    def test_without_pyarrow_the_extra_is_named(
        self, imported: Import, mapping: Any, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(UsageError, match=r"callbench\[parquet\]"):
            imported("parquet", file, extra=mapping())


def test_a_column_of_the_mapping_that_stands_twice(
    tmp_path: Path, mapping: Any, imported: Import
) -> None:
    (tmp_path / "t.csv").write_text(HEADER[:-1] + ",city\n" + ROW[:-1] + ",Rome\n", "utf-8")
    with pytest.raises(DatasetError, match=r't\.csv:1: the column "city" stands twice'):
        imported("csv", tmp_path / "t.csv", extra=mapping())


def test_a_number_that_no_json_can_hold_leaves_its_row_out(
    tmp_path: Path, mapping: Any, imported: Import
) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    text = MAPPING.replace('id = "case"\n', "").replace('now = "asked"\nfacts = "fact"\n', "")
    text = (
        text.split("[expected]")[0] + '[expected]\nstars = "stars"\n[constants]\n"tool.name" = "x"'
    )
    table = pyarrow.table({"utterance": ["a 4"] * 3, "stars": [float("nan"), 4.0, float("inf")]})
    parquet.write_table(table, tmp_path / "t.parquet")
    found = imported("parquet", tmp_path / "t.parquet", extra=mapping(text))
    assert found.report["excluded"] == {"broken-cell": 2}
    assert [record["expected"] for record in found.records] == [{"stars": 4}]
