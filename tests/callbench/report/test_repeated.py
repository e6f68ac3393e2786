"""The summary of a run with repeats, by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from statistics import stdev
from typing import Any

import pytest

from callbench.errors import DatasetError
from callbench.report import summarize
from callbench.report.frames import load_run
from callbench.report.write import write_report

Make = Callable[..., dict[str, Any]]


def answers(make_record: Make, **texts: str) -> list[dict[str, Any]]:
    """``+`` right, ``-`` wrong, ``E`` a provider error; one letter a repeat."""
    made = []
    for name, text in texts.items():
        for repeat, letter in enumerate(text):
            if letter == "E":
                record = make_record(name, status="provider_error")
            else:
                record = make_record(name, ("/x", "correct" if letter == "+" else "missing", {}))
            made.append({"id": name, "repeat": repeat, **record})
    return made


def test_pass_at_k_and_pass_all_k(make_record: Make) -> None:
    row = summarize("m", answers(make_record, a="++-", b="---", c="+++", d="-E+"))
    told = row["repeats"]
    assert (told["repeats"], told["cases"]) == (3, 4)
    one, two, three = (told["pass_at"][k] for k in "123")
    # a: 2 of 3, b: 0 of 3, c: 3 of 3, d: 1 of 2 scored
    assert one["value"] == pytest.approx((2 / 3 + 0 + 1 + 1 / 2) / 4)
    assert two["value"] == pytest.approx((1 + 0 + 1 + 1) / 4)
    assert (three["value"], three["n"]) == (pytest.approx((1 + 0 + 1) / 3), 3)
    assert told["pass_all"]["2"]["value"] == pytest.approx((1 / 3 + 0 + 1 + 0) / 4)
    assert told["pass_all"]["3"]["value"] == pytest.approx(1 / 3)


def test_the_spread_between_repeats(make_record: Make) -> None:
    row = summarize("m", answers(make_record, a="++-", b="+--", c="+++", d="-E+"))
    exact = row["repeats"]["between"]["exact"]
    by_repeat = [3 / 4, 2 / 3, 2 / 4]
    assert exact == {
        "runs": 3,
        "sd": pytest.approx(stdev(by_repeat)),
        "low": 2 / 4,
        "high": 3 / 4,
    }


def test_answers_to_one_case_are_not_independent(make_record: Make) -> None:
    texts = {f"c{index}": "++++" if index % 2 else "----" for index in range(20)}
    row = summarize("m", answers(make_record, **texts))
    once = summarize("m", [make_record(n, ("/x", "correct" if "+" in t else "missing", {})) for n, t in texts.items()])  # fmt: skip
    assert (row["exact"]["n"], row["exact"]["clusters"]) == (80, 20)
    assert row["exact"]["low"] <= once["exact"]["low"]
    assert "repeats" not in once


@pytest.mark.trap("E2")
def test_e2_one_result_for_each_repeat(make_record: Make, write_run: Any) -> None:
    records = answers(make_record, a="++")
    assert len(list(load_run(write_run(*records)).records())) == 2
    directory = write_run(*records, records[1])
    with pytest.raises(DatasetError, match="second result of repeat 1"):
        list(load_run(directory).records())


def test_frames_and_report_know_the_repeat(make_record: Make, write_run: Any) -> None:
    run = load_run(write_run(*answers(make_record, a="+-", b="++")))
    assert list(run.cases["repeat"]) == [0, 1, 0, 1]
    assert list(run.slots["repeat"]) == [0, 1, 0, 1]
    write_report(run.path)
    assert "## Repeats" in (run.path / "report.md").read_text()
    page = (run.path / "report.md").read_text()
    scores = page.partition("## Scores")[2]
    assert "|  | answers | exact %" in scores.partition("Rates are")[0]
    assert "|  | answers | exact %" in scores.partition("## By language")[2]
    assert (run.path / "cases.csv").read_text().splitlines()[2].startswith("a,1,")
    single = load_run(write_run(make_record("a")))
    assert list(single.cases["repeat"]) == [0]


def test_a_report_of_a_run_that_ended_early_says_so(make_record: Make, write_run: Any) -> None:
    path = write_run(*answers(make_record, a="+-", b="+"))
    info = json.loads((path / "run.json").read_text())
    (path / "run.json").write_text(json.dumps(info | {"cases": 2, "repeats": 2}))
    write_report(path)
    assert (
        "> The run ended early: 3 of its 4 answers are there." in (path / "report.md").read_text()
    )
    (path / "run.json").write_text(json.dumps(info | {"cases": 1, "repeats": 3}))
    write_report(path)
    assert "ended early" not in (path / "report.md").read_text()
