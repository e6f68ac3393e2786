"""``callbench score``: a stored run scored again, without any model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from callbench.report import rescore

from .conftest import CASES, Invoke, write_cases
from .synthetic_model import SyntheticModel


@pytest.fixture
def stored(callbench: Invoke, place: Path, model: SyntheticModel) -> Path:
    """A run of the synthetic model in ``run``; the model is gone afterwards."""
    words = ("run", "./hotels.jsonl", "--model", "synthetic", "--mode", "record", "-o", "run", "-q")
    assert callbench(*words).code == 0
    (place / "callbench.toml").unlink()
    return place / "run"


def files(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def records(directory: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line) for line in (directory / "cases.jsonl").read_text("utf-8").splitlines()
    ]


def change(directory: Path, **values: Any) -> None:
    """Edit every record of a run."""
    lines = [json.dumps({**one, **values}) + "\n" for one in records(directory)]
    (directory / "cases.jsonl").write_text("".join(lines), "utf-8")


def test_with_nothing_changed_every_file_keeps_its_bytes(
    callbench: Invoke, stored: Path, model: SyntheticModel
) -> None:
    before = files(stored)
    asked = len(model.bodies)
    result = callbench("score", "run")
    assert (result.code, "0 of 4 cases scored otherwise" in result.err) == (0, True)
    assert files(stored) == before
    assert len(model.bodies) == asked


def test_a_score_that_was_edited_comes_back(callbench: Invoke, stored: Path) -> None:
    before = files(stored)
    change(stored, exact=False, slots=[])
    assert callbench("report", "run").code == 0
    assert files(stored) != before
    found = callbench("score", "run", "--json").json
    assert found["scorers"]["callbench"]["changed"] == 4
    assert found["scorers"]["callbench"]["exact"]["value"] == 1
    assert files(stored) == before


def test_out_leaves_the_run_alone(callbench: Invoke, stored: Path, place: Path) -> None:
    change(stored, exact=False)
    before = files(stored)
    assert callbench("score", "run", "-o", "copy", "--json").json["dir"] == "copy"
    assert files(stored) == before
    assert [one["exact"] for one in records(place / "copy")] == [True] * 4
    again = callbench("score", "run", "-o", "copy")
    assert (again.code, "copy is there already" in again.err) == (2, True)


def moved(place: Path, **expected: Any) -> None:
    first = {**CASES[0], "expected": {**CASES[0]["expected"], **expected}}
    write_cases(place / "moved.jsonl", [first, *CASES[1:]])


def test_other_gold_is_refused_unless_meant_and_then_both_are_recorded(
    callbench: Invoke, stored: Path, place: Path
) -> None:
    before = files(stored)
    info = json.loads(before["run.json"])
    moved(place, city="Bergen")
    refused = callbench("score", "run", "--dataset", "moved.jsonl")
    assert refused.code == 3
    assert info["dataset_sha256"] in refused.err
    assert "--changed" in refused.err
    assert files(stored) == before

    words = ("score", "run", "--dataset", "moved.jsonl", "--changed", "--scorer", "all", "--json")
    found = callbench(*words).json["scorers"]
    assert found["callbench"]["changed"] == 1
    assert found["callbench"]["exact"]["value"] == 0.75
    assert found["bfcl-ast"]["metrics"]["accuracy"]["value"] == 0.75
    told = json.loads((stored / "run.json").read_bytes())
    assert told["answered"]["dataset_sha256"] == info["dataset_sha256"] != told["dataset_sha256"]

    # Scored on what it was run on, it is what it was.
    (copied,) = [callbench("score", "run", "--dataset", "hotels.jsonl")]
    assert copied.code == 0
    after = {name: text for name, text in files(stored).items() if not name.startswith("scores.")}
    assert after == before


def test_a_new_version_of_the_scorer_is_recorded_beside_the_first(
    callbench: Invoke, stored: Path
) -> None:
    info = json.loads((stored / "run.json").read_bytes())
    now = info["scorer_version"]
    (stored / "run.json").write_text(json.dumps({**info, "scorer_version": 0}), "utf-8")
    assert callbench("score", "run").code == 0
    told = json.loads((stored / "run.json").read_bytes())
    assert (told["scorer_version"], told["answered"]["scorer_version"]) == (now, 0)


def test_a_record_that_is_none_is_named(callbench: Invoke, stored: Path) -> None:
    change(stored, outcome={"what": 1})
    before = files(stored)
    result = callbench("score", "run")
    assert (result.code, "cases.jsonl:1" in result.err) == (3, True)
    assert files(stored) == before


def test_what_is_no_run_is_refused(callbench: Invoke, place: Path) -> None:
    for words in (("score", "."), ("score", "nothing", "-o", "copy"), ("score",)):
        assert callbench(*words).code == 2
    assert not list(place.glob("copy*"))


def test_changed_alone_says_nothing(callbench: Invoke, stored: Path) -> None:
    result = callbench("score", "run", "--changed")
    assert (result.code, "--dataset" in result.err) == (2, True)


@pytest.mark.trap("D11")
@pytest.mark.parametrize("cases", [CASES[:3], [*CASES, {**CASES[0], "id": "hotel-5"}]])
def test_ids_that_do_not_match_are_refused(
    callbench: Invoke, stored: Path, place: Path, cases: list[dict[str, Any]]
) -> None:
    """TRAPS D11."""
    before = files(stored)
    write_cases(place / "moved.jsonl", cases)
    for scorer in ("callbench", "bfcl-ast"):
        words = ("score", "run", "--dataset", "moved.jsonl", "--changed", "--scorer", scorer)
        result = callbench(*words)
        assert result.code == 3
        assert ("hotel-4" if len(cases) == 3 else "hotel-5") in result.err
    assert files(stored) == before


@pytest.mark.trap("D11")
def test_answers_are_joined_by_id_not_by_place(
    callbench: Invoke, stored: Path, place: Path
) -> None:
    """TRAPS D11."""
    write_cases(place / "moved.jsonl", CASES[::-1])
    result = callbench("score", "run", "--dataset", "moved.jsonl", "--changed", "--json")
    assert result.json["scorers"]["callbench"]["exact"]["value"] == 1


def test_a_run_of_an_earlier_version_says_that_it_cannot(callbench: Invoke, stored: Path) -> None:
    lines = [{k: v for k, v in one.items() if k != "outcome"} for one in records(stored)]
    (stored / "cases.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines), "utf-8")
    result = callbench("score", "run")
    assert result.code == 2
    assert "cannot be scored again" in result.err
    assert "callbench run ./hotels.jsonl" in result.err
    assert callbench("report", "run").code == 0  # it can still be read


def test_a_dataset_that_moved_is_asked_for(callbench: Invoke, stored: Path, place: Path) -> None:
    (place / "hotels.jsonl").rename(place / "inns.jsonl")
    result = callbench("score", "run")
    assert (result.code, "--dataset PATH" in result.err) == (2, True)
    assert callbench("score", "run", "--dataset", "inns.jsonl").code == 0


def test_official_scorers_write_a_file_each_and_leave_the_rest(
    callbench: Invoke, stored: Path
) -> None:
    before = files(stored)
    result = callbench("score", "run", "--scorer", "bfcl-ast", "--scorer", "sgd-jga")
    assert result.code == 0
    assert "bfcl-ast@1" in result.out
    assert "joint_goal_accuracy" in result.out
    after = files(stored)
    assert after.keys() - before.keys() == {"scores.bfcl-ast.json", "scores.sgd-jga.json"}
    assert {name: after[name] for name in before} == before
    document = json.loads(after["scores.bfcl-ast.json"])
    assert (document["scorer"], document["cases"], document["scored"]) == ("bfcl-ast@1", 4, 4)
    assert document["metrics"]["accuracy"] | {"low": 0, "high": 0} == {
        "value": 1, "low": 0, "high": 0, "n": 4, "method": "wilson",
    }  # fmt: skip
    assert [one["id"] for one in document["results"]] == [one["id"] for one in CASES]
    assert callbench("score", "run", "--scorer", "bfcl-ast").code == 0
    assert files(stored) == after


def test_an_unknown_scorer_names_those_there_are(callbench: Invoke, stored: Path) -> None:
    for name in ("bleu", "bfcl-ast@99"):
        result = callbench("score", "run", "--scorer", name)
        assert (result.code, "bfcl-ast@1" in result.err) == (2, True)


def test_list_names_scorers_with_versions(callbench: Invoke) -> None:
    plain = callbench("score", "--list")
    listed = callbench("score", "--list", "--json").json
    names = {"callbench", "bfcl-ast", "sgd-jga", "sgd-jga-exact", "jga-trade", "span-f1"}
    assert listed.keys() == names | {"hammerbench"}
    for name, one in listed.items():
        assert f"{name}@{one['version']}" in plain.out
    assert len(plain.out.splitlines()) == len(listed)


def test_repeats_are_scored_each(callbench: Invoke, place: Path) -> None:
    words = ("run", "./hotels.jsonl", "--model", "synthetic", "--mode", "record", "-o", "run", "-q")
    assert callbench(*words, "--repeats", "2").code == 0
    before = files(place / "run")
    assert callbench("score", "run", "--scorer", "all").code == 0
    after = files(place / "run")
    assert {name: after[name] for name in before} == before
    results = json.loads(after["scores.span-f1.json"])["results"]
    assert [(one["id"], one["repeat"]) for one in results] == [
        (record["id"], record["repeat"]) for record in records(place / "run")
    ]


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("when", ["_score_into", "_baselines", "write_report"])
def test_what_goes_wrong_in_the_middle_leaves_the_run_as_it_was(
    callbench: Invoke,
    stored: Path,
    monkeypatch: pytest.MonkeyPatch,
    failure: BaseException,
    when: str,
) -> None:
    """A full disk, or Ctrl-C: after some of the new files were written."""
    change(stored, exact=False, slots=[])
    info = json.loads((stored / "run.json").read_bytes())
    (stored / "run.json").write_text(json.dumps({**info, "scorer_version": 0}), "utf-8")
    before = files(stored)
    whole = getattr(rescore, when)

    def half(*args: Any, **options: Any) -> Any:
        whole(*args, **options)
        raise failure

    monkeypatch.setattr(rescore, when, half)
    assert callbench("score", "run").code != 0
    assert files(stored) == before
    monkeypatch.undo()
    monkeypatch.chdir(stored.parent)
    assert "4 of 4 cases scored otherwise" in callbench("score", "run").err
    assert [one["exact"] for one in records(stored)] == [True] * 4


def test_of_several_official_scorers_none_is_written_unless_all_are_done(
    callbench: Invoke, stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files(stored)

    def full(path: Path, content: bytes) -> int:
        path.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    assert callbench("score", "run", "--scorer", "bfcl-ast").code != 0
    assert files(stored) == before
