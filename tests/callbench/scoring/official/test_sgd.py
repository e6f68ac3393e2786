"""``sgd-jga``: the similarity against fuzzywuzzy itself, the sums by hand."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callbench.dataset import Accept, Case, Tool
from callbench.scoring.official import SCORERS, score
from callbench.scoring.official.sgd import token_sort_ratio

CASE = Case(
    id="c",
    lang="en",
    tool=Tool("FindRestaurants"),
    schema={
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "date": {"type": "string"},
            "live_music": {"type": "string", "enum": ["True", "False"]},
            "cuisine": {"type": "string"},
        },
    },
    question="q",
    expected={"city": "San Jose", "date": "2019-03-01", "live_music": "True"},
    accept={"/city": Accept(("SJ",)), "/live_music": Accept(("False",))},
)


def judged(name: str, arguments: dict[str, Any] | None) -> tuple[float, float]:
    result = SCORERS[name].judge(CASE, arguments)
    return result["joint"], result["average"]


@pytest.fixture(scope="module")
def fuzz() -> Any:
    """fuzzywuzzy without python-Levenshtein, which it warns to be slow."""
    pytest.importorskip("fuzzywuzzy.utils", reason="make test installs fuzzywuzzy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = importlib.import_module("fuzzywuzzy.fuzz")
    if module.SequenceMatcher.__module__ != "difflib":
        pytest.skip("python-Levenshtein is installed, whose ratio is another")
    return module


TEXTS = st.text() | st.lists(
    st.sampled_from(["march", "1st", "2019", "-", "café", "San", "Jose", "杭州", "，", "_"])
).map(" ".join)


@given(one=TEXTS, other=TEXTS)
def test_the_similarity_is_fuzzywuzzys(one: str, other: str, fuzz: Any) -> None:
    assert token_sort_ratio(one, other) == fuzz.token_sort_ratio(one, other) / 100


def test_gold_and_accepted_variants_score_one() -> None:
    for name in ("sgd-jga", "sgd-jga-exact"):
        assert judged(name, CASE.expected) == (1, 1)
        assert judged(name, {**CASE.expected, "city": "SJ"}) == (1, 1)


def test_any_mutated_slot_lowers_both() -> None:
    for slot in CASE.expected:
        dropped = {key: value for key, value in CASE.expected.items() if key != slot}
        for name in ("sgd-jga", "sgd-jga-exact"):
            assert judged(name, dropped) == (0, pytest.approx(2 / 3))
            joint, average = judged(name, {**CASE.expected, slot: "zzz"})
            assert joint < 0.5
            assert average < 1
    # A slot that gold does not fill is in the joint accuracy only.
    assert judged("sgd-jga", {**CASE.expected, "cuisine": "Thai"}) == (0, 1)
    assert judged("sgd-jga", None) == (0, 0)


def test_what_is_surprising() -> None:
    # TRAPS D15: a day off is nine tenths right.
    near = {**CASE.expected, "date": "2019-03-02"}
    assert judged("sgd-jga", near) == (0.9, pytest.approx(2.9 / 3))
    assert judged("sgd-jga-exact", near) == (0, pytest.approx(2 / 3))
    # Undeclared is ignored; a categorical slot knows its first reference only.
    assert judged("sgd-jga", {**CASE.expected, "what": "1"}) == (1, 1)
    assert judged("sgd-jga", {**CASE.expected, "live_music": "False"})[0] == 0
    assert token_sort_ratio("é", "ü") == 1


def test_a_boolean_is_its_text_and_the_average_of_nothing_is_no_case() -> None:
    assert judged("sgd-jga", {**CASE.expected, "live_music": True}) == (1, 1)
    nothing = Case("n", "en", Tool("t"), CASE.schema, "q", {})
    found = score("sgd-jga", [CASE, nothing], {"c": {"city": "San Jose"}, "n": {}})["metrics"]
    joint, average = found["joint_goal_accuracy"], found["average_goal_accuracy"]
    assert (joint["value"], joint["n"]) == (0.5, 2)
    assert (average["value"], average["n"]) == (pytest.approx(1 / 3), 1)


def test_where_no_slot_is_declared_there_is_no_joint_accuracy_either() -> None:
    """The official metric says NA there; 1 would be a score for nothing."""
    nothing = Case("n", "en", Tool("t"), {"type": "object"}, "q", {})
    found = score("sgd-jga", [CASE, nothing], {"c": {}, "n": {}})["metrics"]
    assert (found["joint_goal_accuracy"]["value"], found["joint_goal_accuracy"]["n"]) == (0, 1)
