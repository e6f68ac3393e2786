"""Sources: the same files plain, in a directory and in a zip; what is refused and how."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path

import pytest

from callbench.dataset.importers import source as module
from callbench.dataset.importers.source import Source
from callbench.errors import DatasetError, UsageError

RECORDS = [{"a": 1}, {"b": "é"}]
AS_LINES = "\n".join(json.dumps(record, ensure_ascii=False) for record in RECORDS).encode()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A directory with a file, one below it, and a licence."""
    (tmp_path / "set" / "gold").mkdir(parents=True)
    (tmp_path / "set" / "q.json").write_bytes(AS_LINES)
    (tmp_path / "set" / "gold" / "q.json").write_bytes(b"[]")
    (tmp_path / "set" / "LICENSE.md").write_bytes(b"free")
    return tmp_path / "set"


@pytest.fixture
def zipped(tree: Path) -> Path:
    """The same files in a zip."""
    path = tree.parent / "set.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry in sorted(tree.rglob("*")):
            if entry.is_file():
                archive.write(entry, entry.relative_to(tree).as_posix())
    return path


class TestShapes:
    def test_a_file_a_directory_and_a_zip_give_the_same_records(
        self, tree: Path, zipped: Path
    ) -> None:
        plain = Source(tree / "q.json").given
        assert plain is not None
        found = [plain, Source(tree).files("q.json")[1], Source(zipped).files("q.json")[1]]
        assert [member.parts for member in found] == [("q.json",)] * 3
        for member in found:
            assert [record for _, record in member.records()] == RECORDS
            assert member.sha256 == hashlib.sha256(AS_LINES).hexdigest()
            assert member.bytes == len(AS_LINES)

    def test_a_member_of_a_zip_says_so(self, zipped: Path) -> None:
        assert [member.name for member in Source(zipped).files("gold/*")] == ["set.zip!gold/q.json"]

    def test_the_neighbor_is_found_in_each(self, tree: Path, zipped: Path) -> None:
        for start in (Source(tree / "q.json").given, Source(tree).files("q.json")[1],
                      Source(zipped).files("q.json")[1]):  # fmt: skip
            assert start is not None
            beside = start.beside("gold/q.json")
            assert beside is not None
            assert beside.json() == []
            assert start.beside("gold/none.json") is None

    def test_a_directory_is_never_left(self, tree: Path) -> None:
        (tree.parent / "outside.json").write_bytes(b"{}")
        assert Source(tree).files("q.json")[1].beside("../outside.json") is None

    def test_what_was_opened_is_remembered(self, tree: Path) -> None:
        source = Source(tree)
        source.files("*.json")[0].read()
        assert list(source.opened) == ["gold/q.json"]

    @pytest.mark.parametrize("inside", [True, False])
    def test_the_license_is_found(self, tree: Path, zipped: Path, inside: bool) -> None:
        found = Source(zipped if inside else tree / "q.json").licence()
        assert found is not None
        assert found.read() == b"free"

    def test_a_path_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="no file or directory"):
            Source(tmp_path / "none")


class TestText:
    @pytest.mark.parametrize(
        "raw",
        [
            AS_LINES,
            b"\xef\xbb\xbf" + AS_LINES,
            AS_LINES.replace(b"\n", b"\r\n") + b"\r\n\r\n",
            json.dumps(RECORDS, indent=2).encode(),
            b"\xef\xbb\xbf \n" + json.dumps(RECORDS).encode(),
        ],
        ids=["lines", "bom", "crlf", "array", "bom-array"],
    )
    def test_every_way_of_writing_records(self, tmp_path: Path, raw: bytes) -> None:
        (tmp_path / "f.json").write_bytes(raw)
        member = Source(tmp_path / "f.json").given
        assert member is not None
        assert [record for _, record in member.records()] == RECORDS

    def test_a_record_has_its_line_number(self, tmp_path: Path) -> None:
        (tmp_path / "f.json").write_bytes(b'{"a":1}\n\n{"b":2}')
        member = Source(tmp_path / "f.json").given
        assert member is not None
        assert [number for number, _ in member.records()] == [1, 3]

    @pytest.mark.parametrize(
        ("raw", "says"),
        [
            (b'{"a": 1}\n{"a": }', r"f\.json:2: not JSON at column 7"),
            (b'{"a": 1}\n{"a": 1, "a": 2}', r':2: not sound JSON: the key "a" stands twice'),
            (b'{"a": NaN}', ":1: not sound JSON: NaN is no JSON number"),
            (b'{"a": 1e999}', ":1: not sound JSON: 1e999 is no JSON number"),
            (b'{"a": "\xff"}', r":1: byte 8 \(0xff\) is not UTF-8"),
            (b'{"a":' * 100_000, ":1: not sound JSON: it is nested too deeply"),
        ],
        ids=["json", "twice", "nan", "large", "utf-8", "deep"],
    )
    def test_what_is_no_sound_json(self, tmp_path: Path, raw: bytes, says: str) -> None:
        (tmp_path / "f.json").write_bytes(raw)
        member = Source(tmp_path / "f.json").given
        assert member is not None
        with pytest.raises(DatasetError, match=says):
            list(member.records())


class TestBounds:
    def test_a_bomb_ends_with_an_error(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "MOST_ZIPPED", 2**20)
        path = tmp_path / "bomb.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("q.json", b" " * 2**22)
        assert path.stat().st_size < 2**14
        with pytest.raises(DatasetError, match="unpacks to more than 1 MiB"):
            list(Source(path).files("q.json")[0].lines())

    def test_a_long_line_ends_with_an_error(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "MOST_WHOLE", 2**20)
        (tmp_path / "f.json").write_bytes(b"\n" + b"1" * (2**20 + 1))
        member = Source(tmp_path / "f.json").given
        assert member is not None
        with pytest.raises(DatasetError, match="line 2 has more than 1 MiB"):
            list(member.lines())
        with pytest.raises(DatasetError, match="it has more than 1 MiB"):
            member.read()

    def test_a_name_that_climbs_out_is_only_a_name(self, tmp_path: Path) -> None:
        path = tmp_path / "slip.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("../../evil.json", b'{"a": 1}')
        members = Source(path).files("*.json")
        assert [member.json() for member in members] == [{"a": 1}]
        assert list(tmp_path.iterdir()) == [path]

    def test_a_damaged_member(self, tmp_path: Path, zipped: Path) -> None:
        raw = bytearray(zipped.read_bytes())
        at = raw.index(b"q.json", raw.index(b"PK\x03\x04")) + 8
        raw[at + 4] ^= 0xFF
        path = tmp_path / "bad.zip"
        path.write_bytes(bytes(raw))
        with pytest.raises(DatasetError):
            for member in Source(path).files("*.json", "*.md"):
                member.read()


def test_a_zip_whose_end_is_lost_is_no_text(tmp_path: Path, zipped: Path) -> None:
    cut = tmp_path / "cut.zip"
    cut.write_bytes(zipped.read_bytes()[:-30])
    with pytest.raises(DatasetError, match=r"cut\.zip: the zip is damaged"):
        Source(cut)


def test_what_macs_add_to_a_zip_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "mac.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.json", b"{}")
        archive.writestr("__MACOSX/._a.json", b"\x00\x05\x16\x07")
    assert [member.name for member in Source(path).files("*.json")] == ["mac.zip!a.json"]


def test_more_files_than_any_set_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("callbench.dataset.importers.source.MOST_MEMBERS", 2)
    for name in "abc":
        (tmp_path / f"{name}.json").write_text("{}")
    with pytest.raises(DatasetError, match="more than 2 files"):
        Source(tmp_path).files("*.json")
