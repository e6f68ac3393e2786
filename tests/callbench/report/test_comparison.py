"""Runs joined by id and compared: what is refused, what is counted, what is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from callbench.errors import DatasetError, UsageError
from callbench.report.comparison import Question, compare
from callbench.report.comparison_tables import p_value, points, to_markdown, to_terminal

Make = Callable[..., dict[str, Any]]
Write = Callable[..., Path]

INFO = {"dataset": "d", "dataset_sha256": "ab" * 32, "scorer_version": 1, "system": "slot"}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(name: str, *records: dict[str, Any], **info: Any) -> Path:
        directory = tmp_path / name
        directory.mkdir()
        told = {**INFO, "run_id": name, "model": name, **info}
        (directory / "run.json").write_text(json.dumps(told))
        lines = [json.dumps(record) + "\n" for record in records]
        (directory / "cases.jsonl").write_text("".join(lines))
        return directory

    return written


@pytest.fixture
def cases(make_record: Make) -> Callable[..., list[dict[str, Any]]]:
    """Records ``c0``, ``c1`` … from a text: ``+`` right, ``-`` wrong, ``E`` a provider error."""

    def made(text: str, **fields: Any) -> list[dict[str, Any]]:
        verdict = {"+": "correct", "-": "wrong_value"}
        return [
            make_record(f"c{index}", status="provider_error", **fields)
            if letter == "E"
            else make_record(f"c{index}", ("/x", verdict[letter], {}), **fields)
            for index, letter in enumerate(text)
        ]

    return made


def test_the_object_is_as_documented(write: Write, cases: Any) -> None:
    found = compare(
        [write("a", *cases("++--" * 5)), write("b", *cases("+-+-" * 5))], Question(by="lang")
    )
    assert (found["metric"], found["cases"], found["dataset"]) == ("exact", 20, "d")
    assert found["baseline"]["name"] == "a"
    (model,) = found["models"]
    assert model["rate"]["value"] == 0.5
    assert (model["test"], model["p"], model["p_holm"]) == ("mcnemar", 1.0, 1.0)
    assert model["difference"]["value"] == 0
    assert model["difference"]["seed"] == found["seed"]
    assert model["verdict"] == "inconclusive"
    assert model["changed"] == {
        "by": "exact",
        "gained": 5,
        "lost": 5,
        "gained_ids": ["c2", "c6", "c10", "c14", "c18"],
        "lost_ids": ["c1", "c5", "c9", "c13", "c17"],
    }
    assert [(one["name"], one["pairs"], one["p_bh"]) for one in model["slices"]] == [("en", 20, 1)]
    assert json.loads(json.dumps(found)) == found


@pytest.mark.trap("D11")
def test_d11_the_order_of_lines_decides_nothing(write: Write, cases: Any) -> None:
    first = write("a", *cases("+++---++-+"))
    straight = compare([first, write("b", *cases("-+-+-+-+-+"))], Question())
    turned = compare([first, write("c", *reversed(cases("-+-+-+-+-+")))], Question())
    for key in ("difference", "p", "changed"):
        assert straight["models"][0][key] == turned["models"][0][key]


@pytest.mark.trap("D11")
@pytest.mark.parametrize(
    ("info", "count", "said"),
    [
        ({"dataset_sha256": "cd" * 32}, 4, "dataset: d (sha256 abababababab)"),
        ({}, 3, "1 of its 4 cases: c3"),
        ({}, 9, "5 of its 9 cases: c4, c5, c6, c7, c8"),
    ],
)
def test_d11_runs_that_do_not_match_are_refused_and_what_differs_is_said(
    write: Write, cases: Any, info: dict[str, Any], count: int, said: str
) -> None:
    paths = [write("a", *cases("++++")), write("b", *cases("+" * count), **info)]
    with pytest.raises(UsageError, match="not over the same cases") as error:
        compare(paths, Question())
    assert said in str(error.value)
    assert "--common" in str(error.value)


def test_what_is_common_is_compared_and_the_rest_is_counted(write: Write, cases: Any) -> None:
    paths = [write("a", *cases("+++++")), write("b", *cases("++-"), dataset_sha256="0")]
    found = compare(paths, Question(common=True))
    assert (found["cases"], found["baseline"]["left_out"], found["models"][0]["left_out"]) == (
        3,
        2,
        0,
    )
    assert found["baseline"]["rate"]["n"] == 3
    assert "a: 2 of its cases are not in all runs" in to_markdown(found)


@pytest.mark.trap("D11")
def test_d11_one_id_for_two_texts_is_an_error_even_so(write: Write, cases: Any) -> None:
    paths = [write("a", *cases("++")), write("b", *cases("++", question="Another?"))]
    with pytest.raises(DatasetError, match="Case c0 is not the same"):
        compare(paths, Question(common=True))


def test_scores_of_two_scorers_are_never_compared(write: Write, cases: Any) -> None:
    paths = [write("a", *cases("++")), write("b", *cases("++"), scorer_version=2)]
    with pytest.raises(UsageError, match="different versions of the scorer"):
        compare(paths, Question(common=True))


def test_nothing_in_common_is_an_error(write: Write, cases: Any, make_record: Make) -> None:
    paths = [write("a", *cases("++")), write("b", make_record("z"))]
    with pytest.raises(UsageError, match="no case in common"):
        compare(paths, Question(common=True))


@pytest.mark.trap("D10")
def test_d10_provider_errors_stand_apart_or_are_wrong_as_the_metric_says(
    write: Write, cases: Any
) -> None:
    paths = [write("a", *cases("+++-")), write("b", *cases("E+++"))]
    scored = compare(paths, Question())["models"][0]
    assert (scored["provider_errors"], scored["provider_error_pairs"], scored["pairs"]) == (1, 1, 3)
    assert scored["difference"]["value"] == pytest.approx(1 / 3)
    everything = compare(paths, Question("exact_all"))["models"][0]
    assert (everything["provider_error_pairs"], everything["pairs"]) == (0, 4)
    assert everything["difference"]["value"] == 0
    assert everything["changed"]["lost_ids"] == ["c0"]


def test_holm_is_over_the_models(write: Write, cases: Any) -> None:
    base = "-" * 40
    paths = [
        write("a", *cases(base)),
        write("b", *cases("+" * 7 + base[7:])),
        write("c", *cases("+" * 6 + base[6:])),
        write("e", *cases(base)),
    ]
    models = compare(paths, Question())["models"]
    # Two-sided, of 7, 6 and no cases that all turned right.
    assert [one["p"] for one in models] == [2 / 2**7, 2 / 2**6, 1.0]
    assert [one["p_holm"] for one in models] == [6 / 2**7, 4 / 2**6, 1.0]
    assert [one["verdict"] for one in models] == ["better", "inconclusive", "inconclusive"]


def test_slices_by_tag_are_corrected_together(write: Write, make_record: Make) -> None:
    def records(right: int) -> list[dict[str, Any]]:
        return [
            make_record(
                f"c{index}",
                ("/x", "correct" if index < right else "missing", {}),
                tags=["all", "early" if index < 10 else "late"],
            )
            for index in range(20)
        ]

    paths = [write("a", *records(0)), write("b", *records(10))]
    slices = compare(paths, Question(by="tag"))["models"][0]["slices"]
    assert [one["name"] for one in slices] == ["all", "early", "late"]
    p = 2 / 2**10
    assert [one["p"] for one in slices] == [p, p, 1.0]
    assert [one["p_bh"] for one in slices] == pytest.approx([1.5 * p, 1.5 * p, 1.0])
    assert [one["pairs"] for one in slices] == [20, 10, 10]


def test_slices_by_slot_type_are_over_the_cases_with_such_slots(
    write: Write, make_record: Make
) -> None:
    def records(verdict: str) -> list[dict[str, Any]]:
        number = {"type": "integer"}
        return [
            make_record("c0", ("/x", verdict, number), ("/y", "correct", {})),
            make_record("c1", ("/y", "missing", {})),
        ]

    paths = [write("a", *records("correct")), write("b", *records("wrong_value"))]
    slices = compare(paths, Question("slot_f1", by="type"))["models"][0]["slices"]
    assert [(one["name"], one["pairs"]) for one in slices] == [("integer", 1), ("string", 2)]
    assert [one["difference"]["value"] for one in slices] == [-1.0, 0.0]


def test_repeats_count_as_the_mean_of_a_case(write: Write, make_record: Make) -> None:
    def answers(*texts: str) -> list[dict[str, Any]]:
        return [
            make_record(f"c{at}", ("/x", "correct" if letter == "+" else "missing", {}))
            | {"repeat": repeat}
            for at, text in enumerate(texts)
            for repeat, letter in enumerate(text)
        ]

    paths = [write("a", *answers("++--", "----")), write("b", *answers("+++-", "+---"))]
    found = compare(paths, Question())
    (model,) = found["models"]
    assert (found["cases"], model["cases"], model["pairs"]) == (2, 8, 2)
    assert model["difference"]["value"] == pytest.approx((0.75 + 0.25) / 2 - (0.5 + 0) / 2)
    # Both clusters moved up by a quarter: of four exchanges two lie as far apart.
    assert model["p"] == 0.5
    assert model["changed"]["gained_ids"] == ["c0", "c1"]


@pytest.mark.trap("E5")
@pytest.mark.parametrize(
    ("question", "said"),
    [
        (Question("slot_f"), "Did you mean slot_f1"),
        (Question(by="day"), "Slices: lang, tag, type"),
        (Question("exact", by="type"), "slot_f1"),
        (Question(margin=2.0), "from 0 to 1"),
    ],
)
def test_e5_a_question_that_makes_no_sense_is_refused(
    write: Write, cases: Any, question: Question, said: str
) -> None:
    with pytest.raises(UsageError) as error:
        compare([write("a", *cases("+")), write("b", *cases("+"))], question)
    assert said in str(error.value)


def test_one_run_is_too_few(write: Write, cases: Any) -> None:
    with pytest.raises(UsageError, match="two runs"):
        compare([write("a", *cases("+"))], Question())


def test_runs_of_one_model_are_told_apart(write: Write, cases: Any) -> None:
    paths = [write(name, *cases("+"), model="m") for name in ("x", "y")]
    found = compare([*paths, write("z", *cases("+"), model="m", system="fewshot")], Question())
    assert [found["baseline"]["name"], *(one["name"] for one in found["models"])] == [
        "x",
        "y",
        "m fewshot",
    ]


def test_tables_say_what_the_object_says(write: Write, cases: Any) -> None:
    paths = [write("a", *cases("-" * 30)), write("b", *cases("+" * 20 + "-" * 10))]
    found = compare(paths, Question(by="lang", shown=2))
    page = to_markdown(found)
    rows = [line for line in page.splitlines() if line.startswith("|")]
    assert "| a | 30 | 0 | 0 |" in page
    assert "better" in next(row for row in rows if row.startswith("| b "))
    assert "20 better: c0, c1 and 18 more; 0 worse" in page
    console = Console(width=200, record=True, file=None, force_terminal=False)
    with console.capture() as capture:
        to_terminal(console, found)
    shown = capture.get()
    assert points(found["models"][0]["difference"]) in shown
    assert p_value(found["models"][0]["p_holm"]) in shown
    assert page == to_markdown(compare(paths, Question(by="lang", shown=2)))


def test_a_run_is_not_compared_with_itself(write: Write, cases: Any) -> None:
    path = write("a", *cases("+-"))
    for again in (path, path / "cases.jsonl", path / ".." / "a"):
        with pytest.raises(UsageError, match="named twice"):
            compare([path, again], Question())


def test_a_run_that_ended_early_says_so(write: Write, cases: Any) -> None:
    told = {"cases": 4, "repeats": 1}
    paths = [write("a", *cases("++-+"), **told), write("b", *cases("+"), **told)]
    found = compare(paths, Question(common=True))
    assert found["baseline"]["ended_early"] is None
    page = to_markdown(found)
    assert "b: The run ended early: 1 of its 4 cases is there." in page
    assert "a: 3 of its cases are not in all runs: left out." in page
    assert "1 case in all runs" in page.partition("\n")[0]


def test_each_difference_says_over_what_and_by_what_it_is(write: Write, cases: Any) -> None:
    baseline = write("a", *cases("-" * 30))
    other = write("b", *cases("+" * 20 + "-" * 10))
    page = to_markdown(compare([baseline, other], Question()))
    assert "b: 30 pairs in 30 clusters; interval: paired bootstrap; p: exact McNemar." in page
    joined = [
        write(name, *(one | {"cluster": f"d{at // 2}"} for at, one in enumerate(cases(text))))
        for name, text in (("c", "-" * 8), ("d", "+" * 8))
    ]
    page = to_markdown(compare(joined, Question()))
    assert (
        "d: 8 pairs in 4 clusters; interval: Bonett and Price; "
        "p: sign-flip permutation of clusters, all counted."
    ) in page
    nothing = [write("e", *cases("E")), write("f", *cases("+"))]
    page = to_markdown(compare(nothing, Question()))
    assert "f: 0 pairs in 0 clusters; a rate over nothing has no difference." in page
    assert "f: 1 case ended in a provider error in it or in the baseline" in page


def test_a_small_p_is_shown_as_a_bound() -> None:
    assert (p_value(0.0), p_value(0.0099), p_value(None)) == ("<0.001", "0.010", "–")
