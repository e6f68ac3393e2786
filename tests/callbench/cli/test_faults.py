"""``callbench run --faults``: the files it leaves, what it refuses, how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Invoke

RUN = ("run", "hotels.jsonl", "--model", "synthetic")

FAULTS = """\
seed = 7
[[fault]]
name = "status"
code = 503
cases = ["hotel-1"]
[[fault]]
name = "refusal"
cases = ["hotel-2"]
[[fault]]
name = "status"
code = 400
cases = ["hotel-3"]
"""

CHEAT = """
from typing import Any
from corecall.slot.schema import SlotInput, SlotOutput
from corecall.slot.slot import Slot

class Cheat(Slot, input_model=SlotInput, output_model=SlotOutput):
    async def _llm_slot_fill(self, asked: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        answer, data = await super()._llm_slot_fill(asked)
        self.trace.unparsed.clear()
        return answer, data or {"city": "杭州", "nights": 2}
"""


@pytest.fixture
def recorded(callbench: Invoke, place: Path) -> Path:
    (place / "faults.toml").write_text(FAULTS, encoding="utf-8")
    assert callbench("record", "hotels.jsonl", "--model", "synthetic", "--out", "clean").code == 0
    return place


def test_each_case_is_told_and_the_run_says_what_it_is(callbench: Invoke, recorded: Path) -> None:
    before = {path: path.read_bytes() for path in (recorded / "cassettes").iterdir()}
    result = callbench(*RUN, "--faults", "faults.toml", "--out", "out", "--json")
    assert (result.code, result.err) == (0, "")
    told = result.json["faults"]
    assert told["violations"] == {"crashed": 0, "false_success": 0, "lost_slot": 0}
    rows = {row["fault"]: row for row in told["rows"]}
    assert rows["status"]["exact"] == 1  # the reference asks again
    assert rows["status code=400"]["provider_error"] == 1
    assert rows["refusal"]["broke"] == ["hotel-2"]
    assert (result.json["cases"], result.json["provider_errors"]) == (4, 1)
    info = json.loads((recorded / "out" / "run.json").read_bytes())
    assert info["faults"]["file"] == "faults.toml"
    assert info["faults"]["seed"] == 7
    assert "--faults faults.toml" in info["command"]
    page = (recorded / "out" / "report.md").read_text(encoding="utf-8")
    notice = page.splitlines()[2]
    assert notice.startswith("> These are not the model's scores")
    assert "3 cases met one" in notice
    assert {path: path.read_bytes() for path in (recorded / "cassettes").iterdir()} == before


def test_all_is_every_kind_and_a_report_made_again_is_the_same(
    callbench: Invoke, recorded: Path
) -> None:
    assert callbench(*RUN, "--faults", "all", "--out", "out").code == 0
    page = (recorded / "out" / "report.md").read_bytes()
    assert callbench("report", "out").code == 0
    assert (recorded / "out" / "report.md").read_bytes() == page
    assert b"## Faults" in page


def test_a_false_success_ends_it_with_1(
    callbench: Invoke, recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (recorded / "cheat.py").write_text(CHEAT, encoding="utf-8")
    monkeypatch.syspath_prepend(str(recorded))
    result = callbench(*RUN, "--faults", "faults.toml", "--system", "cheat:Cheat", "--quiet")
    assert result.code == 1
    assert "false_success: 1" in result.err


def test_a_selection_of_cases_meets_the_same_faults(callbench: Invoke, recorded: Path) -> None:
    met = {}
    for out, words in (
        ("whole", ()),
        ("some", ("--tag", "even")),
        ("one", ("--concurrency", "1")),
    ):
        code = callbench(*RUN, "--faults", "all", "--out", out, *words).code
        assert code == 0
        told = json.loads((recorded / out / "faults.json").read_bytes())
        met[out] = {one["case"]: one["fault"] for one in told["met"]}
    assert met["some"] == {name: met["whole"][name] for name in ("hotel-2", "hotel-4")}
    assert met["one"] == met["whole"]


def test_such_runs_are_compared_with_none(callbench: Invoke, recorded: Path) -> None:
    assert callbench(*RUN, "--faults", "faults.toml", "--out", "faulty").code == 0
    for words in (
        ("compare", "clean", "faulty"),
        ("compare", "faulty", "clean"),
        (*RUN, "--baseline", "faulty", "--max-regression", "exact=0.1"),
        (*RUN, "--faults", "all", "--baseline", "clean", "--max-regression", "exact=0.1"),
    ):
        result = callbench(*words)
        assert result.code == 2, words
        assert "are not the model's" in result.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--mode", "record"), "no model's answer"),
        (("--impl", "x"), "callbench serve"),
        (("--system", "empty"), "asks no model"),
        (("--faults", "none.toml"), "none.toml"),
    ],
)
def test_what_does_not_go_with_it(
    callbench: Invoke, recorded: Path, words: tuple[str, ...], told: str
) -> None:
    result = callbench(*RUN, "--faults", "faults.toml", *words)
    assert result.code == 2
    assert told in result.err
