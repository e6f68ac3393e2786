"""The file on disk: what survives, what is repaired, what is refused."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from callbench.cassette import (
    Cassette,
)
from callbench.errors import CassetteError, ExitCode

from .recordings import LONG, Build, answers, fill


class TestFile:
    def test_a_file_that_does_not_exist_is_empty_and_reading_makes_none(self, path: Path) -> None:
        cassette = Cassette.open(path)
        assert len(cassette) == 0
        assert cassette.header == {}
        assert cassette.find("0" * 64, "a", 0) is None
        cassette.close()
        assert not path.exists()

    def test_appending_is_there_at_once(self, path: Path, recording: Build) -> None:
        cassette = Cassette.open(
            path / ".." / "deep" / "er" / "c.jsonl", models=["m"], recorder="rec 7"
        )
        cassette.append(recording())
        assert len(Cassette.open(cassette.path)) == len(cassette) == 1
        assert cassette.header["recorder"] == {"name": "rec", "version": "7"}
        assert cassette.header["models"] == ["m"]

    def test_a_later_recording_supersedes(self, path: Path, recording: Build) -> None:
        fill(path, recording(answer="old"), recording("b?"), recording(answer="new"))
        assert answers(Cassette.open(path)) == [("a", 0, "new"), ("a", 0, "yes")]

    def test_replay_never_writes(self, path: Path, recording: Build) -> None:
        fill(path, recording(case="b"), recording(case="a"))
        before = path.read_bytes()
        with Cassette.open(path) as cassette:
            cassette.find(recording().key, "a", 0)
            assert len(list(cassette)) == 2
        assert path.read_bytes() == before
        assert [entry.name for entry in path.parent.iterdir()] == [path.name]

    def test_it_can_be_used_after_it_was_closed(self, path: Path, recording: Build) -> None:
        cassette = Cassette.open(path)
        cassette.append(recording(case="b"))
        cassette.append(recording(case="a"))
        cassette.close()
        cassette.close()
        assert [case for case, _, _ in answers(cassette)] == ["a", "b"]

    def test_a_byte_order_mark_and_blank_lines_are_harmless(
        self, path: Path, recording: Build
    ) -> None:
        """Report r220, and what editors leave behind."""
        fill(path, recording())
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n\r\n"))
        assert answers(Cassette.open(path)) == [("a", 0, "yes")]

    def test_a_last_line_without_line_end_counts(self, path: Path, recording: Build) -> None:
        fill(path, recording())
        path.write_bytes(path.read_bytes().rstrip(b"\n"))
        fill(path, recording("b?", answer="b"))
        assert answers(Cassette.open(path)) == [("a", 0, "yes"), ("a", 0, "b")]

    def test_others_may_append_meanwhile(self, path: Path, recording: Build) -> None:
        one, other = Cassette.open(path), Cassette.open(path)
        one.append(recording(f"1\n\n{LONG}", answer="1"))
        other.append(recording(f"2\n\n{LONG}", answer="2"))
        one.append(recording(f"3\n\n{LONG}", answer="3"))
        assert [answer for _, _, answer in answers(Cassette.open(path))] == ["1", "2", "3"]
        assert path.read_text().count('{"text":') == 1
        assert path.read_text().count('{"format":') == 1

    def test_others_may_put_it_in_order_meanwhile(self, path: Path, recording: Build) -> None:
        one, other = Cassette.open(path), Cassette.open(path)
        one.append(recording(case="b", answer="1"))
        other.append(recording(case="a", answer="2"))
        other.close()
        assert one.find(recording().key, "b", 0) is not None  # still reads the file it opened
        one.append(recording(case="c", answer="3"))
        assert answers(one) == [("a", 0, "2"), ("b", 0, "1"), ("c", 0, "3")]
        assert answers(Cassette.open(path)) == answers(one)


class TestDamage:
    @pytest.mark.parametrize("cut", [1, 30, 200])
    def test_a_cut_last_line_is_warned_about_and_repaired(
        self, path: Path, recording: Build, caplog: pytest.LogCaptureFixture, cut: int
    ) -> None:
        fill(path, recording(case="a"), recording(case="b"))
        whole = path.read_bytes()
        path.write_bytes(whole[: -1 - cut])
        with caplog.at_level(logging.WARNING):
            cassette = Cassette.open(path)
        assert "line (3) was cut" in caplog.text
        assert str(path) in caplog.text
        assert [case for case, _, _ in answers(cassette)] == ["a"]
        assert path.read_bytes() == whole[: -1 - cut], "reading repairs nothing"
        cassette.append(recording(case="b"))
        assert path.read_bytes() == whole

    def test_a_cut_header_is_an_empty_file(self, path: Path, recording: Build) -> None:
        path.write_bytes(b'{"format":"callbench-cass')
        cassette = Cassette.open(path)
        assert len(cassette) == 0
        cassette.append(recording())
        assert answers(Cassette.open(path)) == [("a", 0, "yes")]

    @pytest.mark.parametrize(
        ("line", "reason"),
        [
            (b'{"key":\n', "not JSON"),
            (b"<<<<<<< HEAD\n", "not JSON"),
            (b"[1]\n", "JSON object"),
            (b"{}\n", "'case' is missing"),
            (b'{"text":"0123456789ab","value":"x"}\n', "edited"),
        ],
    )
    def test_any_other_broken_line_is_an_error(
        self, path: Path, recording: Build, line: bytes, reason: str
    ) -> None:
        fill(path, recording(case="a"), recording(case="b"))
        first, second, third = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(first + second + line + third)
        with pytest.raises(CassetteError, match=reason) as caught:
            Cassette.open(path)
        assert f"{path}, line 3:" in str(caught.value)
        assert "--mode record" in caught.value.remedy
        assert caught.value.exit_code is ExitCode.CASSETTE

    def test_a_broken_last_line_with_its_line_end_is_an_error(
        self, path: Path, recording: Build
    ) -> None:
        fill(path, recording())
        path.write_bytes(path.read_bytes() + b'{"key":\n')
        with pytest.raises(CassetteError, match="line 3"):
            Cassette.open(path)

    @pytest.mark.parametrize(
        ("old", "new", "reason"),
        [
            (b'"events":[[3,"yes"]]', b'"events":[[3]]', "response/events/0"),
            (b'"method":"POST",', b"", "request/method"),
            ("⟦".encode(), "⟦0".encode(), "no line holds"),
        ],
    )
    def test_a_fault_inside_a_recording_names_its_line(
        self, path: Path, recording: Build, old: bytes, new: bytes, reason: str
    ) -> None:
        interaction = recording(LONG)
        fill(path, interaction)
        path.write_bytes(path.read_bytes().replace(old, new))
        cassette = Cassette.open(path)
        with pytest.raises(CassetteError, match=reason) as caught:
            cassette.find(interaction.key, "a", 0)
        assert f"{path}, line 3:" in str(caught.value)

    def test_no_header_and_a_newer_format_are_refused(self, path: Path, recording: Build) -> None:
        fill(path, recording())
        header, line = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(line)
        with pytest.raises(CassetteError, match=r"line 1: .*header"):
            Cassette.open(path)
        path.write_bytes(header.replace(b'"version":1', b'"version":2'))
        with pytest.raises(CassetteError, match="version 2"):
            Cassette.open(path)

    def test_a_path_that_cannot_be_read(self, tmp_path: Path) -> None:
        with pytest.raises(CassetteError, match="cannot be read"):
            Cassette.open(tmp_path)

    def test_a_full_disk_leaves_the_file_as_it_was(
        self, path: Path, recording: Build, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fill(path, recording(case="a"))
        before = path.read_bytes()
        written: list[int] = []

        def write(descriptor: int, data: bytes) -> int:
            if written:
                raise OSError(28, "No space left on device")
            written.append(real(descriptor, bytes(data[:10])))
            return 10

        real = os.write
        cassette = Cassette.open(path)
        monkeypatch.setattr("callbench.cassette.file.os.write", write)
        with pytest.raises(CassetteError, match="No space left"):
            cassette.append(recording(case="b"))
        assert path.read_bytes() == before

    @pytest.mark.trap("C5")
    def test_yaml_is_data_and_refused(self, path: Path) -> None:
        """C5: a file that would run code in a YAML loader is just not JSON."""
        path.write_text('!!python/object/apply:os.system ["touch pwned"]\n')
        with pytest.raises(CassetteError, match="line 1: not JSON"):
            Cassette.open(path)
