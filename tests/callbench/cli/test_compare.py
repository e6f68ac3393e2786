"""``callbench compare``, gates and repeats, from the words on the command line to the exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from callbench.cli.run import run

from .conftest import CASES, Invoke, case, right_answer, write_cases
from .synthetic_model import SyntheticModel

RUN = ("run", "hotels.jsonl", "--model", "synthetic")
RECORD = ("record", "hotels.jsonl", "--model", "synthetic")
MANY = [case(number, f"City{number:02}") for number in range(1, 31)]


@pytest.fixture
def many(place: Path) -> Path:
    """Thirty cases."""
    write_cases(place / "hotels.jsonl", MANY)
    return place


def from_question(body: dict[str, Any]) -> str:
    talk = json.dumps(body["messages"], ensure_ascii=False)
    found = next(one for one in MANY if one["question"] in talk)
    return json.dumps(found["expected"])


@pytest.fixture
def runs(many: Path, callbench: Invoke, model: SyntheticModel) -> tuple[str, str]:
    """``good``: every case right; ``bad``: nothing filled."""
    model.decide = from_question
    assert callbench(*RECORD, "-o", "good", "-q").code == 0
    assert callbench(*RUN, "--system", "empty", "-o", "bad", "-q").code == 0
    return ("good", "bad")


class TestCompare:
    def test_json_is_one_object(self, callbench: Invoke, runs: tuple[str, str]) -> None:
        found = callbench("compare", *runs, "--json")
        assert (found.code, found.err) == (0, "")
        assert found.json["models"][0]["verdict"] == "worse"
        assert found.json["models"][0]["p"] == 2 / 2**30
        assert found.out == callbench("compare", *runs, "--json").out

    def test_tables_for_people_and_a_file(
        self, callbench: Invoke, runs: tuple[str, str], many: Path
    ) -> None:
        found = callbench("compare", *runs, "--markdown", "c.md", "--by", "lang", "--shown", "3")
        assert found.code == 0
        assert "worse" in found.out
        assert "hotel-1, hotel-2, hotel-3 and 27 more" in found.out
        assert "hotel-1, hotel-2, hotel-3 and 27 more" in (many / "c.md").read_text()

    @pytest.mark.trap("D11")
    def test_d11_runs_that_do_not_match_are_exit_2(
        self, callbench: Invoke, runs: tuple[str, str]
    ) -> None:
        callbench(*RUN, "--limit", "5", "-o", "five", "-q")
        found = callbench("compare", "good", "five")
        assert found.code == 2
        assert "only in good: 25 of its 30 cases" in found.err
        assert callbench("compare", "good", "five", "--common").code == 0

    @pytest.mark.trap("E5")
    def test_e5_what_does_not_exist_is_exit_2(self, callbench: Invoke) -> None:
        assert callbench("compare", "nowhere", "nothing").code == 2
        assert "Did you mean slot_f1" in callbench("compare", "a", "b", "--metric", "slotf1").err


class TestGates:
    def test_a_bound_that_holds_is_exit_0(self, callbench: Invoke, runs: tuple[str, str]) -> None:
        found = callbench(*RUN, "--fail-under", "slot_f1=1", "--fail-under", "exact=0.9", "--json")
        assert found.code == 0
        assert [one["result"] for one in found.json["gates"]] == ["passed", "passed"]

    def test_a_bound_that_does_not_is_exit_1_and_named(
        self, callbench: Invoke, runs: tuple[str, str]
    ) -> None:
        found = callbench(*RUN, "--system", "empty", "--fail-under", "exact=0.01", "--json")
        assert found.code == 1
        assert "exact is 0.0000" in found.err
        assert "95 % interval" in found.err
        assert "below 0.01" in found.err
        assert found.json["gates"][0]["rate"] == found.json["exact"]

    def test_a_regression_is_exit_1_and_the_cases_are_named(
        self, callbench: Invoke, runs: tuple[str, str]
    ) -> None:
        words = ("--baseline", "good", "--max-regression", "exact=0.02")
        found = callbench(*RUN, "--system", "empty", *words)
        assert found.code == 1
        assert "exact changed by -1.0000" in found.err
        assert "30 worse: hotel-1, hotel-2" in found.err
        same = callbench(*RUN, *words)
        assert same.code == 0
        assert "gate passed" in same.out

    def test_a_few_cases_that_turned_are_inconclusive_and_said(
        self, callbench: Invoke, runs: tuple[str, str], model: SyntheticModel
    ) -> None:
        def once_wrong(body: dict[str, Any]) -> str:
            return from_question(body).replace("City07", "Citi07")

        model.decide = once_wrong
        found = callbench(
            "record", "hotels.jsonl", "--model", "synthetic", "--again",
            "--baseline", "good", "--max-regression", "exact=0.02",
        )  # fmt: skip
        assert found.code == 0
        assert "gate inconclusive" in found.out
        assert "1 worse: hotel-7" in found.out

    def test_a_baseline_that_cannot_match_is_refused_before_anything_is_asked(
        self, callbench: Invoke, runs: tuple[str, str], model: SyntheticModel
    ) -> None:
        asked = len(model.bodies)
        words = ("--baseline", "good", "--max-regression", "exact=0.02", "--limit", "4")
        found = callbench(*RECORD, "--again", *words)
        assert found.code == 2
        assert "only in good: 26 of its 30 cases" in found.err
        assert len(model.bodies) == asked

    def test_a_failing_model_is_exit_4_and_the_gate_is_named_too(
        self, callbench: Invoke, many: Path, model: SyntheticModel
    ) -> None:
        def fails_later(body: dict[str, Any]) -> str | int:
            return 500 if "City30" in json.dumps(body) else "no JSON"

        model.decide = fails_later
        found = callbench(*RECORD, "--fail-under", "exact=0.5")
        assert found.code == 4
        assert "1 of 30 cases failed at the model" in found.err
        assert "exact is 0.0000" in found.err

    def test_a_missing_recording_is_exit_5_and_the_gate_is_not_judged(
        self, callbench: Invoke
    ) -> None:
        found = callbench(*RUN, "--fail-under", "exact=0.5")
        assert found.code == 5
        assert "gates were not judged" in found.err

    @pytest.mark.trap("E5")
    @pytest.mark.parametrize("bound", ["slot_f=0.8", "exact", "exact=two"])
    def test_e5_no_threshold_is_exit_2(
        self, callbench: Invoke, model: SyntheticModel, bound: str
    ) -> None:
        found = callbench(*RECORD, "--fail-under", bound)
        assert (found.code, model.bodies) == (2, [])

    def test_without_gates_the_object_has_none(self, callbench: Invoke) -> None:
        assert "gates" not in callbench(*RECORD, "--json").json


class TestRepeats:
    @pytest.mark.trap("C10")
    def test_c10_each_repeat_has_its_own_recording(
        self, callbench: Invoke, model: SyntheticModel, place: Path
    ) -> None:
        """Every second answer to a case is wrong, so a cache would show."""
        seen: dict[str, int] = {}

        def alternating(body: dict[str, Any]) -> Any:
            right = right_answer(body)
            seen[str(right)] = seen.get(str(right), 0) + 1
            return right if seen[str(right)] % 2 else '{"city": "Nowhere", "nights": 99}'

        model.decide = alternating
        recorded = callbench(*RECORD, "--repeats", "4", "--concurrency", "1", "--json")
        assert recorded.code == 0
        assert len(model.bodies) == 4 * len(CASES)
        assert (recorded.json["cases"], recorded.json["exact"]["value"]) == (16, 0.5)
        replayed = callbench(*RUN, "--repeats", "4", "--json")
        for key in ("exact", "slot_f1", "repeats"):
            assert replayed.json[key] == recorded.json[key]
        told = replayed.json["repeats"]
        assert (told["repeats"], told["cases"]) == (4, 4)
        # Two of four are right: 1 - C(2,2)/C(4,2), and C(2,2)/C(4,2).
        assert told["pass_at"]["2"]["value"] == pytest.approx(5 / 6)
        assert told["pass_all"]["2"]["value"] == pytest.approx(1 / 6)
        assert told["between"]["exact"]["sd"] == pytest.approx((1 / 3) ** 0.5)
        lines = Path(replayed.json["dir"], "cases.jsonl").read_text().splitlines()
        keys = [(one["id"], one["repeat"]) for one in map(json.loads, lines)]
        assert keys == [(one["id"], repeat) for one in CASES for repeat in range(4)]

    def test_more_repeats_than_recorded_are_a_miss_and_recording_adds_them(
        self, callbench: Invoke, model: SyntheticModel
    ) -> None:
        callbench(*RECORD, "--repeats", "2")
        found = callbench(*RUN, "--repeats", "3")
        assert found.code == 5
        assert "4 of 12 answers lack a recording" in found.err
        assert "--repeats 3" in found.err
        asked = len(model.bodies)
        assert callbench(*RECORD, "--repeats", "3").code == 0
        assert len(model.bodies) == asked + len(CASES)

    def test_one_answer_leaves_everything_as_it_was(self, callbench: Invoke) -> None:
        found = callbench(*RECORD, "--repeats", "1", "--json")
        assert "repeats" not in found.json
        text = Path(found.json["dir"], "cases.jsonl").read_text()
        assert "repeat" not in json.loads(text.splitlines()[0])

    def test_people_are_told(self, callbench: Invoke) -> None:
        shown = callbench(*RECORD, "--repeats", "2").out
        assert "2 answers to each of 4 cases" in shown
        assert "pass^k" in shown

    @pytest.mark.parametrize("option", [("--trace",), ("--impl", "python:corecall")])
    def test_what_follows_one_answer_does_not_go_with_repeats(
        self, callbench: Invoke, option: tuple[str, ...]
    ) -> None:
        found = callbench(*RUN, "--repeats", "2", *option)
        assert found.code == 2
        assert "--repeats" in found.err


def test_cases_with_a_tag_can_be_left_out(callbench: Invoke) -> None:
    found = callbench(*RECORD, "--skip-tag", "odd", "--json")
    assert found.json["cases"] == 2
    both = callbench(*RUN, "--tag", "even", "--skip-tag", "even")
    assert both.code == 2
    assert "No case of hotels has tag even and no tag even" in both.err
    assert (
        "--skip-tag odd" in json.loads(Path(found.json["dir"], "run.json").read_text())["command"]
    )


def test_record_takes_the_gates_of_run() -> None:
    assert "fail_under" in run.__annotations__
