"""Putting a file in order, replacing recordings, and how large a file gets."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from callbench.cassette import (
    Cassette,
    Event,
    Interaction,
    Response,
    canonical_request,
    request_key,
    rewrite,
)
from callbench.cassette.writer import replace_file
from callbench.errors import CassetteError

from .recordings import LONG, Build, answers, fill


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

    def test_a_failure_while_writing_leaves_nothing_behind(
        self, path: Path, recording: Build
    ) -> None:
        fill(path, recording())
        before = path.read_bytes()

        def failing() -> Iterator[Interaction]:
            yield recording()
            raise CassetteError("synthetic")

        with pytest.raises(CassetteError, match="synthetic"):
            replace_file(path, failing(), models=[], recorder="x 1")
        assert path.read_bytes() == before
        assert [entry.name for entry in path.parent.iterdir()] == [path.name]

    def test_a_broken_file_stays_as_it_is(self, path: Path, recording: Build) -> None:
        fill(path, recording(LONG))
        path.write_bytes(path.read_bytes().replace(b'[[3,"yes"]]', b"[[3]]"))
        before = path.read_bytes()
        with pytest.raises(CassetteError):
            rewrite(path)
        assert path.read_bytes() == before
        assert [entry.name for entry in path.parent.iterdir()] == [path.name]


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


class TestSize:
    def test_two_hundred_synthetic_cases_stay_under_five_megabytes(self, path: Path) -> None:
        """On synthetic traffic: 3 requests a case, 3 KB prompts, 40 events of about 300 bytes."""
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
