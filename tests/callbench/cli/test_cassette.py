"""``callbench cassette``: verbs, forms of output, exit codes; inputs stay untouched."""

from __future__ import annotations

import itertools
import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from callbench.cassette import Cassette

from .conftest import CASES, Invoke, right_answer, write_cases
from .synthetic_model import SyntheticModel

FILE = "cassettes/hotels.synthetic.cassette.jsonl"
DATA = ("hotels.jsonl", "--model", "synthetic")


@pytest.fixture
def recorded(callbench: Invoke, place: Path) -> Path:
    """The four hotels, recorded from the synthetic model."""
    assert callbench("record", *DATA, "--quiet").code == 0
    return place / FILE


def test_stats(callbench: Invoke, recorded: Path) -> None:
    (found,) = callbench("cassette", "stats", FILE, "--json").json["files"]
    assert (found["interactions"], found["cases"], found["models"]) == (4, 4, {"s1": 4})
    assert "4 interactions" in callbench("cassette", "stats", FILE).out


def test_check_sound(callbench: Invoke, recorded: Path) -> None:
    done = callbench("cassette", "check", FILE)
    assert (done.code, done.out) == (0, "")
    assert "nothing found" in done.err


def test_check_in_every_form(callbench: Invoke, recorded: Path) -> None:
    text = recorded.read_text("utf-8")
    recorded.write_text(text.replace("1 nights in Oslo", "7 nights in Oslo"), "utf-8")
    done = callbench("cassette", "check", FILE, "--junit", "out/junit.xml")
    assert done.code == 1
    assert f"{FILE}:3: key:" in done.out
    failed = [case.get("name") for case in ET.parse("out/junit.xml").iter("testcase") if len(case)]
    assert failed == ["key"]
    assert callbench("cassette", "check", FILE, "--github").out.startswith(
        f"::error file={FILE},line=3,title=cassette%3A key::"
    )
    (found,) = callbench("cassette", "check", FILE, "--json").json["findings"]
    assert (found["file"], found["line"], found["rule"]) == (FILE, 3, "key")
    assert found["remedy"]


def test_damaged_beats_findings(callbench: Invoke, recorded: Path) -> None:
    lines = recorded.read_text("utf-8").splitlines(keepends=True)
    recorded.write_text("".join([*lines[:-1], "{\n"]), "utf-8")
    done = callbench("cassette", "check", FILE, "none.jsonl", "--max-size", "1")
    assert done.code == 5
    assert f"{FILE}:{len(lines)}: damaged" in done.out
    assert "none.jsonl: damaged" in done.out


def test_limits(callbench: Invoke, recorded: Path) -> None:
    assert callbench("cassette", "check", FILE, "--max-size", "100", "--max-age", "1").code == 1
    assert callbench("cassette", "check", FILE, "--max-age", "1").code == 0


def test_scan(callbench: Invoke, place: Path) -> None:
    (place / "notes.md").write_text("write to li.wei@mail.cn\n", "utf-8")
    done = callbench("cassette", "scan", ".")
    assert done.code == 1
    assert "notes.md:1: email" in done.out
    assert "li.wei" not in done.out
    allow = '[[allow]]\nreason = "invented"\nvalues = ["li.wei@mail.cn"]\n'
    (place / "scan-allow.toml").write_text(allow, "utf-8")
    done = callbench("cassette", "scan", ".")
    assert done.code == 0
    assert "more are allowed by scan-allow.toml" in done.err  # the list holds the value, too
    assert callbench("cassette", "scan", "nowhere").code == 2


def test_unused_and_prune(callbench: Invoke, recorded: Path, place: Path) -> None:
    assert callbench("cassette", "unused", *DATA).code == 0
    write_cases(place / "hotels.jsonl", CASES[1:])
    done = callbench("cassette", "unused", *DATA, "--json")
    assert done.code == 1
    assert [one["case"] for one in done.json["unused"]] == ["hotel-1"]
    assert (done.json["used"], done.json["undecided"]) == (3, [])

    before = recorded.read_bytes()
    assert "hotel-1" in callbench("cassette", "prune", *DATA, "--dry-run").out
    refused = callbench("cassette", "prune", *DATA)
    assert (refused.code, "--in-place" in refused.err) == (2, True)
    assert recorded.read_bytes() == before
    assert callbench("cassette", "prune", *DATA, "--in-place").code == 0
    with Cassette.open(recorded) as cassette:
        assert [one.case for one in cassette] == ["hotel-2", "hotel-3", "hotel-4"]
    assert callbench("cassette", "unused", *DATA).code == 0
    assert callbench("run", *DATA, "--quiet").code == 0


def test_repeats_whose_second_turns_differ_survive_pruning(
    callbench: Invoke, place: Path, model: SyntheticModel
) -> None:
    """What stage 2 is asked depends on the answer of stage 1, which each repeat has of its own."""
    calls = itertools.count()

    def in_two(body: dict[str, Any]) -> str:
        right = json.loads(str(right_answer(body)))
        if not body["stream"]:
            return json.dumps({"nights": right["nights"]})
        return json.dumps({"city": right["city"]}) + " " * next(calls)

    model.decide = in_two
    assert callbench("record", *DATA, "--repeats", "3", "--quiet").code == 0
    assert callbench("cassette", "unused", *DATA).code == 0
    assert callbench("cassette", "missing", *DATA).code == 0
    write_cases(place / "hotels.jsonl", CASES[1:])
    assert callbench("cassette", "prune", *DATA, "--in-place").code == 0
    with Cassette.open(place / FILE) as cassette:
        assert len(cassette) == 3 * 3 * 2
    assert callbench("run", *DATA, "--repeats", "3", "--quiet").code == 0


def test_only_one_language_is_asked(callbench: Invoke, recorded: Path) -> None:
    found = callbench("cassette", "unused", *DATA, "--lang", "zh", "--json").json
    assert [one["case"] for one in found["unused"]] == ["hotel-1", "hotel-3", "hotel-4"]


def test_missing_is_named_and_hides_what_comes_later(
    callbench: Invoke, recorded: Path, place: Path
) -> None:
    assert callbench("cassette", "missing", *DATA).code == 0
    changed = [{**CASES[0], "question": "1 nights in Oslo, right now"}, *CASES[1:]]
    write_cases(place / "hotels.jsonl", changed)
    done = callbench("cassette", "missing", *DATA)
    assert done.code == 1
    assert "case 'hotel-1'" in done.out
    assert "[-please-]{+right now+}" in done.out
    assert "1 of 4 cases lack a recording" in done.err
    assert "later turns" in done.err
    found = callbench("cassette", "missing", *DATA, "--json").json
    assert [(one["case"], one["ordinal"]) for one in found["missing"]] == [("hotel-1", 0)]
    # What was recorded of that case may be needed again: it is undecided and survives pruning.
    unused = callbench("cassette", "unused", *DATA, "--json")
    assert (unused.code, [one["case"] for one in unused.json["undecided"]]) == (0, ["hotel-1"])
    assert callbench("cassette", "prune", *DATA, "--in-place").code == 0
    with Cassette.open(recorded) as cassette:
        assert len(cassette) == 4


def test_unused_without_a_file(callbench: Invoke) -> None:
    done = callbench("cassette", "unused", *DATA)
    assert (done.code, "does not exist" in done.err) == (2, True)
    assert callbench("cassette", "unused", *DATA, "--system", "empty").code == 2


def test_diff(callbench: Invoke, recorded: Path, place: Path) -> None:
    other = place / "other.jsonl"
    other.write_text(recorded.read_text("utf-8").replace("Rome", "Bonn"), "utf-8")
    assert callbench("cassette", "diff", FILE, FILE).code == 0
    done = callbench("cassette", "diff", FILE, "other.jsonl")
    assert done.code == 1
    assert "hotel-4" in done.out
    assert "[-Rome-]{+Bonn+}" in done.out
    (change,) = callbench("cassette", "diff", FILE, "other.jsonl", "--json").json["changes"]
    assert (change["kind"], change["case"]) == ("changed", "hotel-4")


def test_split_and_merge(callbench: Invoke, recorded: Path, place: Path) -> None:
    words = ("cassette", "split", FILE, "--by", "lang", "-o", "parts")
    assert callbench(*words).code == 2
    assert callbench(*words, "--dataset", "hotels.jsonl").code == 0
    names = sorted(path.name for path in (place / "parts").iterdir())
    assert names == [f"hotels.synthetic.{lang}.cassette.jsonl" for lang in ("en", "zh")]
    parts = [f"parts/{name}" for name in names]
    assert callbench("cassette", "merge", *parts, "-o", "whole.jsonl").code == 0
    assert (place / "whole.jsonl").read_bytes() == recorded.read_bytes()


def test_merge_conflict(callbench: Invoke, recorded: Path, place: Path) -> None:
    lines = recorded.read_text("utf-8").splitlines(keepends=True)
    value = json.loads(lines[2])
    value["response"]["events"] = [[1, "another answer"]]
    lines[2] = json.dumps(value, ensure_ascii=False) + "\n"
    (place / "other.jsonl").write_text("".join(lines), "utf-8")
    words = ("cassette", "merge", FILE, "other.jsonl", "-o", "out.jsonl")
    done = callbench(*words)
    assert (done.code, "hotel-1" in done.out, (place / "out.jsonl").exists()) == (1, True, False)
    assert callbench(*words, "--prefer", "last").code == 0
    assert "another answer" in (place / "out.jsonl").read_text("utf-8")


def test_rekey(callbench: Invoke, recorded: Path, place: Path) -> None:
    whole = recorded.read_bytes()
    lines = recorded.read_text("utf-8").splitlines(keepends=True)
    value = json.loads(lines[2])
    lines[2] = lines[2].replace(value["key"], "0" * 64)
    recorded.write_text("".join(lines), "utf-8")
    assert callbench("cassette", "rekey", FILE).code == 2
    assert callbench("cassette", "rekey", FILE, "-o", "out.jsonl").code == 0
    assert (place / "out.jsonl").read_bytes() == whole


class TestConfiguredScrubbers:
    CONFIG = '\n[scrub]\nuse = ["emails"]\npatterns = { city = "Oslo" }\n'

    def configure(self, place: Path, text: str) -> None:
        path = place / "callbench.toml"
        path.write_text(path.read_text("utf-8") + text, "utf-8")

    def test_record_and_replay(self, callbench: Invoke, place: Path) -> None:
        self.configure(place, self.CONFIG)
        assert callbench("record", *DATA, "--quiet").code == 0
        text = (place / FILE).read_text("utf-8")
        assert text.count("Oslo") == 1  # in the header, which names the pattern
        assert "<city:" in text
        assert callbench("run", *DATA, "--quiet").code == 0
        assert callbench("cassette", "check", FILE).code == 0

    def test_a_file_from_before(self, callbench: Invoke, place: Path, recorded: Path) -> None:
        self.configure(place, self.CONFIG)
        assert "recorded with the scrubbers (none)" in callbench("run", *DATA, "--quiet").err
        assert callbench("cassette", "check", FILE).code == 1
        assert callbench("cassette", "scrub", FILE, "--in-place").code == 0
        assert callbench("cassette", "check", FILE).code == 0
        assert callbench("run", *DATA, "--quiet").code == 0

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ('use = ["faces"]', "no scrubber 'faces'"),
            ('use = "emails"', "use must be a list"),
            ("user = []", "unknown key 'user'"),
            ('patterns = { a = "(" }', "is none"),
            ('fields = ["user"]', "must be a pointer"),
            ('use = ["emails"]\nkey_env = "NO_SUCH_KEY"', "NO_SUCH_KEY"),
        ],
    )
    def test_refused(self, callbench: Invoke, place: Path, text: str, told: str) -> None:
        self.configure(place, f"\n[scrub]\n{text}\n")
        done = callbench("run", *DATA, "--quiet")
        assert done.code == 2
        assert "callbench.toml: [scrub]" in done.err
        assert told in done.err
