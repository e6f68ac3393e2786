"""``Cassette``: who gets which recording, and which is the nearest."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from callbench.cassette import (
    Cassette,
    Interaction,
    Request,
    Response,
    canonical_request,
    request_key,
)
from callbench.cassette.file import CassetteFile
from callbench.cassette.index import Entry, SharedText

from .recordings import LONG, Build, fill


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

    @pytest.mark.trap("C7")
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

    @pytest.mark.trap("C8")
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

    @pytest.mark.trap("C10")
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

    def test_integers_beyond_64_bits_come_back_exactly(self, path: Path) -> None:
        request = canonical_request("POST", "/x", b'{"a":18446744073709551617,"b":1e+30}')
        interaction = Interaction(request_key(request), "a", 0, request, Response(200))
        fill(path, interaction)
        assert b"18446744073709551617" in request.body
        assert list(Cassette.open(path)) == [interaction]

    def test_another_key_is_not_found(self, path: Path, recording: Build) -> None:
        """C1."""
        fill(path, recording("Hangzhou?"))
        assert self.found(path, recording("Suzhou?"), "a", 0) is None

    def test_ordinals_with_a_gap(self, path: Path, recording: Build) -> None:
        interaction = recording(ordinal=2, answer="2")
        fill(path, interaction, recording(ordinal=0, answer="0"))
        assert [self.found(path, interaction, "a", n) for n in range(4)] == ["0", None, "2", None]

    @pytest.mark.trap("C2")
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

    def test_the_same_path_comes_before_similar_text(
        self, path: Path, recording: Build, ask: Callable[..., Request]
    ) -> None:
        near = recording("one two three")
        moved = replace(near, request=replace(near.request, path="/embeddings"), case="moved")
        fill(path, moved, recording("something else", case="same path"))
        nearest = Cassette.open(path).nearest(ask("one two three four"), "new")
        assert nearest is not None
        assert nearest.interaction.case == "same path"

    def test_the_end_of_long_prompts_counts(
        self, path: Path, recording: Build, ask: Callable[..., Request]
    ) -> None:
        rules = " ".join(f"rule{n}" for n in range(3000))
        fill(path, *(recording(f"{rules} {end}", case=end) for end in ("apples", "pears", "plums")))
        nearest = Cassette.open(path).nearest(ask(f"{rules} ripe pears"), "new")
        assert nearest is not None
        assert nearest.interaction.case == "pears"

    def test_of_an_empty_cassette(self, path: Path, ask: Callable[..., Request]) -> None:
        assert Cassette.open(path).nearest(ask(), "a") is None


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
