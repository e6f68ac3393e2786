"""What the server keeps in memory is bounded, and the oldest goes first."""

from __future__ import annotations

from pathlib import Path

import pytest

from callbench.serve import answering as module
from callbench.serve.answering import Answering, By
from callbench.serve.kept import Kept

from .synthetic import made, recording, whole
from .test_answering import ask, text


def test_what_was_not_asked_for_longest_goes_first() -> None:
    kept: Kept[str, int] = Kept(10)
    kept.put("a", 1, 4)
    kept.put("b", 2, 4)
    assert kept.get("a") == 1
    kept.put("c", 3, 4)
    assert [kept.get(name) for name in "abc"] == [1, None, 3]


def test_what_is_put_again_counts_once_and_what_is_too_large_is_not_kept() -> None:
    kept: Kept[str, int] = Kept(10)
    for value in (1, 2, 3):
        kept.put("a", value, 4)
    kept.put("b", 4, 4)
    assert (kept.get("a"), kept.get("b")) == (3, 4)
    kept.put("c", 5, 11)
    assert kept.get("c") is None


@pytest.mark.trap("C6")
@pytest.mark.parametrize("by", list(By))
def test_answers_do_not_depend_on_what_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: By
) -> None:
    """TRAPS C6."""
    monkeypatch.setattr(module, "Kept", lambda: Kept(0))
    cassette = made(
        tmp_path / "c.jsonl",
        *(recording("q", whole(f"{case}{n}"), case, n) for case in "ab" for n in range(2)),
    )
    answering = Answering(cassette, by=by)
    got = [text(ask(answering, case=case)) for case in "abba"]
    assert got == ["a0", "b0", "b1", "a1"]
