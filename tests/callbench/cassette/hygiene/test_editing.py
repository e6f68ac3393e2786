"""Edits: what stays, what goes, and that the input is untouched unless it is the output."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from callbench.cassette import Cassette, Event, Interaction, request_key
from callbench.cassette.hygiene import editing
from callbench.cassette.hygiene.editing import merge, prune, rekey, scrub, split
from callbench.cassette.scrubbers import Scrubbing
from callbench.cassette.writer import replace_file
from callbench.errors import CassetteError, UsageError

from .conftest import LONG, rules

Build = Callable[..., Interaction]


def told(path: Path) -> list[tuple[str, int, str]]:
    with Cassette.open(path) as cassette:
        return [(it.case, it.ordinal, it.response.body.decode()) for it in cassette]


def identities(path: Path) -> list[tuple[str, str, int]]:
    with Cassette.open(path) as cassette:
        return [(it.key, it.case, it.ordinal) for it in cassette]


class TestPrune:
    def test_what_is_named_goes_with_its_texts(self, sound: Path, tmp_path: Path) -> None:
        before = sound.read_bytes()
        gone = {one for one in identities(sound) if one[1] in ("b", "c")}
        assert prune(sound, tmp_path / "out.jsonl", gone) == 2
        assert told(tmp_path / "out.jsonl") == [("a", 0, "yes"), ("a", 1, "again")]
        assert rules(tmp_path / "out.jsonl") == []
        assert sound.read_bytes() == before

    def test_nothing_named_changes_nothing(self, sound: Path) -> None:
        before = sound.read_bytes()
        assert prune(sound, sound, ()) == 0
        assert sound.read_bytes() == before

    def test_who_may_read_the_file_stays(self, sound: Path) -> None:
        sound.chmod(0o600)
        prune(sound, sound, set())
        assert sound.stat().st_mode & 0o777 == 0o600

    def test_a_cut_line_is_not_dropped_silently(self, sound: Path) -> None:
        sound.write_bytes(sound.read_bytes()[:-9])
        before = sound.read_bytes()
        with pytest.raises(CassetteError, match="cut"):
            prune(sound, sound, ())
        assert sound.read_bytes() == before

    def test_a_failed_write_leaves_the_file(
        self, sound: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = sound.read_bytes()

        def full(descriptor: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.fsync", full)
        with pytest.raises(OSError, match="No space"):
            prune(sound, sound, identities(sound)[:1])
        assert sound.read_bytes() == before
        assert list(sound.parent.iterdir()) == [sound]


class TestMerge:
    @pytest.fixture
    def files(self, tmp_path: Path, recording: Build) -> list[Path]:
        """They agree on a (but for times), differ on b, and each has one of its own."""
        one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
        slow = recording("a", "a")
        slow = replace(slow, response=replace(slow.response, elapsed_ms=99))
        with Cassette.open(one) as cassette:
            cassette.append(recording("a", "a"))
            cassette.append(
                replace(recording("b", "b", answer="1"), recorded_at="2026-01-02T00:00:00Z")
            )
            cassette.append(recording(LONG, "c"))
        with Cassette.open(two) as cassette:
            cassette.append(slow)
            cassette.append(
                replace(recording("b", "b", answer="2"), recorded_at="2026-01-01T00:00:00Z")
            )
            cassette.append(recording(LONG, "d", model="other"))
        return [one, two]

    def test_conflicts_are_listed_and_nothing_is_written(
        self, files: list[Path], tmp_path: Path
    ) -> None:
        (conflict,) = merge(files, tmp_path / "out.jsonl")
        assert (conflict.case, conflict.ordinal) == ("b", 0)
        assert [(path.name, line) for path, line in conflict.places] == [
            ("one.jsonl", 3),
            ("two.jsonl", 3),
        ]
        assert not (tmp_path / "out.jsonl").exists()

    @pytest.mark.parametrize(("prefer", "answer"), [("first", "1"), ("last", "2"), ("newest", "1")])
    def test_preferred(self, files: list[Path], tmp_path: Path, prefer: str, answer: str) -> None:
        out = tmp_path / "out.jsonl"
        assert len(merge(files, out, prefer)) == 1  # type: ignore[arg-type]
        assert told(out) == [("a", 0, "yes"), ("b", 0, answer), ("c", 0, "yes"), ("d", 0, "yes")]
        assert rules(out) == []
        header = json.loads(out.read_text("utf-8").splitlines()[0])
        assert header["models"] == ["other", "synthetic"]

    def test_a_file_with_itself_into_itself(self, files: list[Path], tmp_path: Path) -> None:
        """One file by two names: its lock is taken once, or the command would wait for itself."""
        before = files[0].read_bytes()
        alias = tmp_path / "alias.jsonl"
        alias.symlink_to(files[0])
        assert merge([files[0], alias, files[0]], files[0]) == []
        assert files[0].read_bytes() == before

    def test_a_directory_is_no_file_to_write(self, files: list[Path], tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="is a directory"):
            merge(files[:1], tmp_path)

    def test_into_one_of_them(self, files: list[Path]) -> None:
        merge(files, files[0], "last")
        assert [case for case, _, _ in told(files[0])] == ["a", "b", "c", "d"]
        assert [case for case, _, _ in told(files[1])] == ["a", "b", "d"]

    def test_other_scrubbers_do_not_mix(self, tmp_path: Path, recording: Build) -> None:
        one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
        replace_file(one, [recording()], models=[], recorder="x 1")
        replace_file(two, [recording()], models=[], recorder="x 1", scrubbers=["emails"])
        with pytest.raises(UsageError, match="different ways"):
            merge([one, two], tmp_path / "out.jsonl")


class TestSplit:
    def test_every_recording_in_one_part_and_merged_back(self, sound: Path, tmp_path: Path) -> None:
        before = sound.read_bytes()
        parts = split(sound, tmp_path / "parts", lambda place: place.case)
        assert {path.name: count for path, count in parts.items()} == {
            "synthetic.a.cassette.jsonl": 2,
            "synthetic.b.cassette.jsonl": 1,
            "synthetic.c.cassette.jsonl": 1,
        }
        assert [rules(path) for path in parts] == [[], [], []]
        assert merge(list(parts), tmp_path / "whole.jsonl") == []
        assert (tmp_path / "whole.jsonl").read_bytes() == before == sound.read_bytes()

    def test_names_that_no_file_can_have_stay_apart(self, path: Path, recording: Build) -> None:
        with Cassette.open(path) as cassette:
            for case in ("a/b", "a:b", "A:B", "../x", ""):
                cassette.append(recording(case, case))
        parts = split(path, path.parent / "parts", lambda place: place.case)
        assert len(parts) == 5
        assert all(part.parent == path.parent / "parts" and part.exists() for part in parts)
        assert len({str(part).casefold() for part in parts}) == 5

    def test_nothing_is_overwritten(self, sound: Path, tmp_path: Path) -> None:
        split(sound, tmp_path / "parts", lambda place: place.case)
        with pytest.raises(UsageError, match="exists"):
            split(sound, tmp_path / "parts", lambda place: place.case)


class TestRekey:
    def test_a_sound_file_stays_as_it_is(self, sound: Path) -> None:
        before = sound.read_bytes()
        assert rekey(sound, sound) == 0
        assert sound.read_bytes() == before

    def test_wrong_keys_and_order_are_mended_and_nothing_is_lost(
        self, path: Path, recording: Build
    ) -> None:
        recorded = [
            replace(recording("b", "b"), key="0" * 64),
            replace(recording("a", "a"), key="1" * 64),
            replace(recording("a", "a", answer="again"), key="2" * 64),
        ]
        replace_file(path, recorded, models=["m"], recorder="old 3")
        assert rekey(path, path) == 3
        assert told(path) == [("a", 0, "yes"), ("a", 1, "again"), ("b", 0, "yes")]
        assert rules(path) == []
        assert json.loads(path.read_text("utf-8").splitlines()[0])["recorder"] == {
            "name": "old", "version": "3",
        }  # fmt: skip


class TestScrub:
    def test_a_file_recorded_without(self, path: Path, recording: Build) -> None:
        with Cassette.open(path) as cassette:
            cassette.append(recording("li.wei@mail.cn", "a", answer="1"))
            cassette.append(recording("none", "b"))
        scrubbing = Scrubbing.of(["emails"])
        out = path.with_name("out.jsonl")
        assert scrub(path, out, scrubbing) == 1
        assert "li.wei" not in out.read_text("utf-8")
        assert rules(out) == []
        with Cassette.open(out, scrubbers=["emails"]) as cassette:
            asked = recording("li.wei@mail.cn").request
            found = cassette.find(cassette.key_of(asked), "a", 0)
        assert found is not None
        assert found.response.body == b"1"
        once = out.read_bytes()
        assert scrub(out, out, scrubbing) == 0
        assert out.read_bytes() == once

    def test_requests_that_become_equal_are_asked_one_after_another(
        self, path: Path, recording: Build
    ) -> None:
        with Cassette.open(path) as cassette:
            for number in (1, 2):
                request = recording(api_key=f"number-{number}").request
                one = replace(recording("x", answer=str(number)), request=request)
                cassette.append(replace(one, key=request_key(request)))
        assert scrub(path, path, Scrubbing()) == 2
        found = sorted(told(path))
        assert [ordinal for _, ordinal, _ in found] == [0, 1]
        assert len({key for key, _, _ in identities(path)}) == 1
        assert rules(path) == []

    def test_default_masking_too(self, path: Path, recording: Build) -> None:
        one = recording("a")
        one = replace(
            one,
            response=replace(one.response, events=(Event(0, b"see https://me:pass1234@host.cn/"),)),
        )
        replace_file(path, [one], models=[], recorder="x 1")
        scrub(path, path, Scrubbing())
        assert told(path) == [("a", 0, "see https://***:***@host.cn/")]


def test_no_whole_file_is_kept_in_memory(
    path: Path, recording: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Recordings are decoded one at a time while they are written: read, written, read, written."""
    with Cassette.open(path) as cassette:
        for number in range(5):
            cassette.append(recording(str(number), str(number)))
    order: list[str] = []
    read = editing.Places.read

    def watched(self: editing.Places, place: editing.Place) -> Interaction:
        order.append("read")
        return read(self, place)

    def write(out: Path, found: object, **_: object) -> None:
        for _one in found:  # type: ignore[attr-defined]
            order.append("write")

    monkeypatch.setattr(editing.Places, "read", watched)
    monkeypatch.setattr(editing, "replace_file", write)
    prune(path, path.with_name("out"), ())
    assert order == ["read", "write"] * 5
