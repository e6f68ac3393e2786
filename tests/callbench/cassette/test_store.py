"""``Cassette``: who gets which recording, what survives, what is refused."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from callbench.cassette import (
    Cassette,
    Event,
    Interaction,
    Request,
    Response,
    canonical_request,
    request_key,
    rewrite,
)
from callbench.cassette.file import CassetteFile
from callbench.cassette.index import Entry, SharedText
from callbench.errors import CassetteError, ExitCode

Build = Callable[..., Interaction]
LONG = "You fill the parameters of a tool from what the user said. " * 5


def answers(cassette: Cassette) -> list[tuple[str, int, str]]:
    return [(it.case, it.ordinal, it.response.body.decode()) for it in cassette]


def fill(path: Path, *interactions: Interaction) -> None:
    """Record without closing: the file stays in the order of recording."""
    cassette = Cassette.open(path)
    for interaction in interactions:
        cassette.append(interaction)


class TestFind:
    def found(self, path: Path, interaction: Interaction, case: str, ordinal: int) -> str | None:
        hit = Cassette.open(path).find(interaction.key, case, ordinal)
        return None if hit is None else hit.response.body.decode()

    def test_gives_back_what_was_recorded(self, path: Path, recording: Build) -> None:
        interaction = recording(f"Go.\n\n{LONG}")
        fill(path, recording(f"Stay.\n\n{LONG}", answer="other"), interaction)
        cassette = Cassette.open(path)
        assert cassette.find(interaction.key, "a", 0) == interaction
        assert cassette.find_exact(interaction.key, "a", 0) == interaction
        assert cassette.find(interaction.key, "a", 0, request=interaction.request) == interaction

    def test_equal_requests_are_answered_in_order_then_missed(
        self, path: Path, recording: Build
    ) -> None:
        """C7: first, second, then a clear miss, never the first again."""
        first = recording(answer="1")
        fill(path, first, recording(ordinal=1, answer="2"))
        assert [self.found(path, first, "a", n) for n in range(3)] == ["1", "2", None]

    def test_each_case_has_its_own_answer(self, path: Path, recording: Build) -> None:
        """C6."""
        a = recording(case="a", answer="A")
        fill(path, recording(case="b", answer="B"), a)
        assert self.found(path, a, "a", 0) == "A"
        assert self.found(path, a, "b", 0) == "B"

    def test_a_renamed_case_keeps_its_recordings(self, path: Path, recording: Build) -> None:
        """C8: in file order, and not more of them than there are."""
        first = recording(case="old", answer="1")
        fill(
            path,
            first,
            recording(case="old", ordinal=1, answer="2"),
            recording(case="older", answer="3"),
        )
        assert [self.found(path, first, "new", n) for n in range(4)] == ["1", "2", "3", None]

    def test_a_case_with_too_few_recordings_does_not_take_anothers(
        self, path: Path, recording: Build
    ) -> None:
        """C7."""
        a = recording(case="a")
        fill(path, a, recording(case="b"), recording(case="b", ordinal=1))
        assert self.found(path, a, "a", 1) is None

    def test_repeats_do_not_share_an_answer(self, path: Path, recording: Build) -> None:
        """C10: repeat 1 of a case is not answered by repeat 0, of that case or any other."""
        first = recording(case="a", answer="0")
        fill(path, first, recording(case="b@repeat=1", answer="1"))
        assert self.found(path, first, "a@repeat=1", 0) == "1"
        assert self.found(path, first, "a@repeat=2", 0) is None
        assert self.found(path, first, "renamed", 0) == "0"

    def test_exact_never_falls_back(self, path: Path, recording: Build) -> None:
        interaction = recording(case="old")
        fill(path, interaction)
        assert Cassette.open(path).find_exact(interaction.key, "new", 0) is None

    def test_another_key_is_not_found(self, path: Path, recording: Build) -> None:
        """C1."""
        fill(path, recording("Hangzhou?"))
        assert self.found(path, recording("Suzhou?"), "a", 0) is None

    def test_ordinals_with_a_gap(self, path: Path, recording: Build) -> None:
        interaction = recording(ordinal=2, answer="2")
        fill(path, interaction, recording(ordinal=0, answer="0"))
        assert [self.found(path, interaction, "a", n) for n in range(4)] == ["0", None, "2", None]

    def test_one_look_up_reads_one_recording(
        self, path: Path, recording: Build, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """C2: nothing is scanned, whatever the size."""
        fill(path, *(recording(f"{n}?", case=str(n)) for n in range(50)))
        cassette = Cassette.open(path)
        reads: list[object] = []
        read = CassetteFile._read

        def counted(file: CassetteFile, place: Entry | SharedText) -> bytes:
            reads.append(place)
            return read(file, place)

        monkeypatch.setattr(CassetteFile, "_read", counted)
        hit = recording("33?", case="33")
        cassette.find(hit.key, "33", 0)
        cassette.find(hit.key, "renamed", 0)
        cassette.find("0" * 64, "33", 0)
        assert len(reads) == 2

    def test_how_often_a_case_can_ask(self, path: Path, recording: Build) -> None:
        interaction = recording(case="a")
        fill(path, interaction, recording(case="b"), recording(case="b", ordinal=1))
        cassette = Cassette.open(path)
        assert [cassette.recorded(interaction.key, case) for case in ("a", "b", "c")] == [1, 2, 3]
        assert cassette.recorded("0" * 64, "a") == 0


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

    def test_yaml_is_data_and_refused(self, path: Path) -> None:
        """C5: a file that would run code in a YAML loader is just not JSON."""
        path.write_text('!!python/object/apply:os.system ["touch pwned"]\n')
        with pytest.raises(CassetteError, match="line 1: not JSON"):
            Cassette.open(path)


class TestRewrite:
    def test_the_order_of_recording_leaves_no_trace(self, path: Path, recording: Build) -> None:
        interactions = [
            recording(f"{LONG}\n\n{n}", case=case, ordinal=ordinal, answer=f"{n}")
            for n, (case, ordinal) in enumerate([("b", 0), ("a", 1), ("a", 0), ("c", 0)])
        ]
        fill(path, *interactions)
        rewrite(path)
        once = path.read_bytes()
        path.unlink()
        fill(path, *reversed(interactions))
        rewrite(path)
        assert path.read_bytes() == once
        assert answers(Cassette.open(path)) == [
            ("a", 0, "2"),
            ("a", 1, "1"),
            ("b", 0, "0"),
            ("c", 0, "3"),
        ]

    def test_a_shared_text_stands_before_its_first_use_once(
        self, path: Path, recording: Build
    ) -> None:
        fill(path, recording(LONG, case="b"), recording(f"{LONG}\n\nx", case="a"))
        rewrite(path)
        kinds = [next(iter(json.loads(line))) for line in path.read_text().splitlines()]
        assert kinds == ["format", "text", "key", "key"]

    def test_within_a_case_the_order_of_recording_stays(self, path: Path, recording: Build) -> None:
        fill(
            path,
            recording("z?", answer="1"),
            recording("y?", answer="2"),
            recording("z?", answer="3"),
        )
        rewrite(path)
        assert answers(Cassette.open(path)) == [("a", 0, "3"), ("a", 0, "2")]
        assert len(path.read_text().splitlines()) == 3

    def test_the_header_names_the_models_asked(self, path: Path, recording: Build) -> None:
        fill(
            path,
            recording(model="smollm2"),
            recording(model="gemma3"),
            recording(model="smollm2", case="b"),
        )
        rewrite(path)
        assert Cassette.open(path).header["models"] == ["gemma3", "smollm2"]

    def test_closing_after_recording_puts_in_order(self, path: Path, recording: Build) -> None:
        with Cassette.open(path) as cassette:
            cassette.append(recording(case="b"))
            cassette.append(recording(case="a"))
        assert [case for case, _, _ in answers(Cassette.open(path))] == ["a", "b"]

    def test_a_file_that_does_not_exist(self, path: Path) -> None:
        with pytest.raises(CassetteError, match="does not exist"):
            rewrite(path)
        assert not path.exists()

    def test_a_broken_file_stays_as_it_is(self, path: Path, recording: Build) -> None:
        fill(path, recording(LONG))
        path.write_bytes(path.read_bytes().replace(b'[[3,"yes"]]', b"[[3]]"))
        before = path.read_bytes()
        with pytest.raises(CassetteError):
            rewrite(path)
        assert path.read_bytes() == before
        assert [entry.name for entry in path.parent.iterdir()] == [path.name]


class TestNearest:
    def test_sees_what_was_recorded_since_by_anyone(
        self, path: Path, recording: Build, ask: Callable[..., Request]
    ) -> None:
        cassette, other = Cassette.open(path), Cassette.open(path)
        seen: list[str] = []
        for recorder, content in [(cassette, "far away"), (cassette, "near b"), (other, "near c")]:
            recorder.append(recording(content, case=content))
            cassette.append(recording("none of it", case="z"))
            nearest = cassette.nearest(ask(f"{content} x"), "new")
            assert nearest is not None
            seen.append(nearest.interaction.case)
        assert seen == ["far away", "near b", "near c"]

    def test_of_an_empty_cassette(self, path: Path, ask: Callable[..., Request]) -> None:
        assert Cassette.open(path).nearest(ask(), "a") is None


class TestReplace:
    def test_what_was_asked_again_replaces_the_case_at_close(
        self, path: Path, recording: Build
    ) -> None:
        fill(
            path,
            recording("stage 1", case="a", answer="old"),
            recording("stage 2", case="a", answer="stale"),
            recording("stage 1", case="b", answer="kept"),
        )
        before = path.read_bytes()
        cassette = Cassette.open(path)
        cassette.replace(recording("stage 1", case="a", answer="new"))
        assert path.read_bytes() == before, "untouched until close"
        cassette.close()
        assert answers(Cassette.open(path)) == [("a", 0, "new"), ("b", 0, "kept")]
        assert [entry.name for entry in path.parent.iterdir()] == [path.name]

    def test_replacing_nothing_changes_nothing(self, path: Path, recording: Build) -> None:
        fill(path, recording(case="b"), recording(case="a"))
        before = path.read_bytes()
        Cassette.open(path).close()
        assert path.read_bytes() == before

    def test_into_a_new_file(self, path: Path, recording: Build) -> None:
        with Cassette.open(path) as cassette:
            cassette.replace(recording(answer="first"))
        assert answers(Cassette.open(path)) == [("a", 0, "first")]

    def test_a_killed_re_recording_is_adopted_not_lost(
        self, path: Path, recording: Build, caplog: pytest.LogCaptureFixture
    ) -> None:
        fill(path, recording(case="a", answer="old"), recording(case="b", answer="kept"))
        Cassette.open(path).replace(recording(case="a", answer="new"))  # and never closed
        cassette = Cassette.open(path)
        assert [answer for _, _, answer in answers(cassette)] == ["old", "kept"]
        with caplog.at_level(logging.WARNING):
            cassette.adopt()
        assert "interrupted" in caplog.text
        assert [answer for _, _, answer in answers(cassette)] == ["new", "kept"]
        cassette.adopt()
        assert [entry.name for entry in path.parent.iterdir()] == [path.name]

    def test_two_sessions_at_once_lose_nothing(self, path: Path, recording: Build) -> None:
        """Also when one of them merges what the other has in part."""
        fill(path, *(recording(q, case=case, answer="old") for case in "ab" for q in ("1", "2")))
        one, other = Cassette.open(path), Cassette.open(path)
        one.replace(recording("1", case="a", answer="new"))
        other.replace(recording("1", case="b", answer="new"))
        one.close()
        other.replace(recording("2", case="b", answer="new"))
        other.close()
        assert answers(Cassette.open(path)) == [("a", 0, "new"), ("b", 0, "new"), ("b", 0, "new")]


class TestNormalizer:
    @staticmethod
    def without_user(request: Request) -> Request:
        body = {name: value for name, value in request.json().items() if name != "user"}
        return canonical_request(request.method, request.path, json.dumps(body).encode())

    def test_is_applied_to_both_sides(
        self, path: Path, recording: Build, ask: Callable[..., Request]
    ) -> None:
        """Stored and asked requests are filed alike, whoever recorded them."""
        fill(path, recording(LONG, user="u1"))
        cassette = Cassette.open(path, normalize=self.without_user)
        asked = ask(LONG, user="u2")
        assert cassette.key_of(asked) == request_key(ask(LONG))
        assert cassette.find(cassette.key_of(asked), "a", 0) is not None
        plain = Cassette.open(path)
        assert plain.find(plain.key_of(asked), "a", 0) is None

    def test_also_for_what_is_appended(
        self, path: Path, recording: Build, ask: Callable[..., Request]
    ) -> None:
        cassette = Cassette.open(path, normalize=self.without_user)
        cassette.append(
            replace(recording(LONG, user="u1"), key=cassette.key_of(ask(LONG, user="u1")))
        )
        assert cassette.find(cassette.key_of(ask(LONG, user="u2")), "a", 0) is not None


class TestSize:
    def test_two_hundred_synthetic_cases_stay_under_five_megabytes(self, path: Path) -> None:
        """DESIGN §4, on synthetic traffic: 3 requests a case, 3 KB prompts, 40 events of about 300 bytes."""
        instructions = "\n\n".join(
            f"Rule {n}. " + "Fill what the user said, invent nothing. " * 6 for n in range(9)
        )
        with Cassette.open(path) as cassette:
            for case in range(200):
                schema = {
                    f"field_{case}_{n}": {"type": "string", "description": f"field {n}"}
                    for n in range(9)
                }
                turns = [
                    {
                        "role": "user",
                        "content": f"{instructions}\n\nQuestion {case}: {'word ' * 60}",
                    }
                ]
                for stage in range(3):
                    turns.append({"role": "assistant", "content": f"answer {stage}"})
                    body = json.dumps({"model": "m", "messages": turns, "tools": [schema]}).encode()
                    request = canonical_request("POST", "/v1/chat/completions", body)
                    assert len(body) > 3000
                    events = tuple(
                        Event(
                            20 * n,
                            synthetic_event(f"chatcmpl-{case}-{stage}", f"tok{n * 7919 % 1000}"),
                        )
                        for n in range(40)
                    )
                    cassette.append(
                        Interaction(
                            request_key(request),
                            f"case-{case:03}",
                            0,
                            request,
                            Response(200, {}, events),
                        )
                    )
        assert len(Cassette.open(path)) == 600
        assert path.stat().st_size < 5_000_000


def synthetic_event(identifier: str, token: str) -> bytes:
    value = {
        "choices": [{"finish_reason": None, "index": 0, "delta": {"content": token}}],
        "created": 1893456000,
        "id": identifier,
        "model": "synthetic-model-of-some-length",
        "system_fingerprint": "b0000-00000000",
        "object": "chat.completion.chunk",
        "service_tier": "default",
        "padding": "x" * 50,
    }
    return f"data: {json.dumps(value)}\n\n".encode()
