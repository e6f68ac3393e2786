"""The verbs that look at datasets and mend them, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .conftest import Invoke


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_stats(callbench: Invoke) -> None:
    result = callbench("dataset", "stats", "hotels.jsonl", "--json")
    assert result.code == 0
    assert (result.json["dataset"], result.json["cases"]) == ("hotels", 4)
    assert result.json["langs"] == {"en": 3, "zh": 1}
    text = callbench("dataset", "stats", "hotels.jsonl")
    assert "cases: 4\n" in text.out
    assert "langs: en 3, zh 1\n" in text.out


def test_lint_finds_and_writes_an_overlay_that_mends(callbench: Invoke, tmp_path: Path) -> None:
    broken = lines(Path("hotels.jsonl"))
    broken[0]["expected"]["city"] = "Bergen"
    Path("broken.jsonl").write_text("".join(json.dumps(one) + "\n" for one in broken))
    found = callbench("dataset", "lint", "broken.jsonl", "--overlay", "mends.jsonl")
    assert found.code == 1
    assert (
        'broken.jsonl:1: hotel-1 /expected/city [answerable] "Bergen" occurs nowhere' in found.out
    )
    assert "1 findings in 4 cases" in found.err
    (blank,) = lines(Path("mends.jsonl"))
    blank |= {"reason": "The question says Oslo.", "set": {"/expected/city": "Oslo"}}
    Path("mends.jsonl").write_text(json.dumps(blank) + "\n")
    mended = callbench("dataset", "overlay", "broken.jsonl", "mends.jsonl", "-o", "mended.jsonl")
    assert mended.code == 0
    assert "hotel-1: /expected/city: The question says Oslo." in mended.out
    assert lines(Path("mended.jsonl")) == lines(Path("hotels.jsonl"))
    assert callbench("dataset", "lint", "mended.jsonl").code == 0
    # The overlay was written for the broken text: it does not fit the mended one.
    again = callbench("dataset", "overlay", "mended.jsonl", "mends.jsonl", "-o", "again.jsonl")
    assert again.code == 3
    assert "mends.jsonl:1: hotel-1: the case has changed" in again.err
    assert not Path("again.jsonl").exists()


def test_lint_as_one_object(callbench: Invoke) -> None:
    result = callbench("dataset", "lint", "hotels.jsonl", "--json")
    assert (result.code, result.json) == (
        0, {"dataset": "hotels", "findings": 0, "by_rule": {}, "items": []},
    )  # fmt: skip


def test_a_rule_that_does_not_exist(callbench: Invoke) -> None:
    for option in ("--rule", "--ignore"):
        result = callbench("dataset", "lint", "hotels.jsonl", option, "answerabel")
        assert result.code == 2
        assert "Did you mean answerable?" in result.err


def test_sample_and_diff(callbench: Invoke) -> None:
    assert callbench("dataset", "sample", "hotels.jsonl", "-n", "2", "-o", "part.jsonl").code == 0
    assert len(lines(Path("part.jsonl"))) == 2
    result = callbench("dataset", "diff", "hotels.jsonl", "part.jsonl", "--json")
    assert result.code == 1
    assert result.json["same"] == 2
    assert len(result.json["only_before"]) == 2
    assert callbench("dataset", "diff", "hotels.jsonl", "hotels.jsonl").code == 0
    again = callbench("dataset", "sample", "hotels.jsonl", "-n", "2", "-o", "part.jsonl")
    assert again.code == 2
    assert "not overwritten" in again.err


def test_diff_shows_the_field(callbench: Invoke) -> None:
    other = lines(Path("hotels.jsonl"))
    other[1]["expected"]["nights"] = 3
    Path("other.jsonl").write_text("".join(json.dumps(one) + "\n" for one in other))
    result = callbench("dataset", "diff", "hotels.jsonl", "other.jsonl")
    assert result.code == 1
    assert "changed: hotel-2\n  /expected/nights: 2 -> 3\n" in result.out
    assert "3 the same, 1 changed (1 in the gold alone)" in result.err
