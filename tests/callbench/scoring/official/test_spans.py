"""``span-f1`` against seqeval on the same labels."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callbench.dataset import Case, Tool
from callbench.scoring.official import SCORERS, score
from callbench.scoring.official.spans import locate


def case(question: str, expected: dict[str, Any], id_: str = "c") -> Case:
    return Case(id_, "en", Tool("t"), {"type": "object"}, question, expected)


@pytest.mark.parametrize(
    ("text", "arguments", "spans", "unplaced"),
    [
        ("play a song by Abba", {"artist": "Abba"}, {("/artist", 15, 19)}, 0),
        ("play 10 or 1 songs", {"n": 1}, {("/n", 11, 12)}, 0),  # TRAPS D8
        ("play 10 songs", {"n": "1"}, set(), 1),
        ("明天在杭州", {"day": "明天", "city": "杭州"}, {("/day", 0, 2), ("/city", 3, 5)}, 0),
        ("给3个人", {"n": 3}, {("/n", 1, 2)}, 0),
        ("a b a", {"x": ["a", "a", "a"]}, {("/x", 0, 1), ("/x", 4, 5)}, 1),
        ("a b", {"x": {"y": "b"}, "z": [{"w": "a"}]}, {("/x/y", 2, 3), ("/z/w", 0, 1)}, 0),
        ("true a", {"x": True, "y": None, "z": ""}, set(), 0),
        ("abba", {"artist": "Abba"}, set(), 1),
        ("day after", {"x": "day after", "y": "after"}, {("/x", 0, 9), ("/y", 4, 9)}, 0),
    ],
)
def test_where_values_stand(
    text: str, arguments: dict[str, Any], spans: set[Any], unplaced: int
) -> None:
    assert locate(text, arguments) == (spans, unplaced)


WORDS = [f"w{number}" for number in range(8)]
LABELS = st.lists(st.sampled_from(["a", "b", "c", None]), min_size=8, max_size=8)


def arguments_of(labels: list[str | None]) -> dict[str, Any]:
    """Each labeled word is a value of its own; words are all different, so places are sure."""
    found: dict[str, list[str]] = {}
    for word, label in zip(WORDS, labels, strict=True):
        if label:
            found.setdefault(label, []).append(word)
    return dict(found)


@given(pairs=st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=5))
def test_the_rates_are_seqevals(
    pairs: list[tuple[list[str | None], list[str | None]]], seqeval: Any
) -> None:
    cases, given_ = [], {}
    for number, (gold, said) in enumerate(pairs):
        cases.append(case(" ".join(WORDS), arguments_of(gold), str(number)))
        given_[str(number)] = arguments_of(said)
    ours = score("span-f1", cases, given_)["metrics"]
    tags = [
        [[f"B-{label}" if label else "O" for label in side[which]] for side in pairs]
        for which in (0, 1)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of divisions by zero, which seqeval calls 0
        precision, recall, f1, _ = seqeval.precision_recall_fscore_support(*tags, average="micro")
    for name, official in (("span_precision", precision), ("span_recall", recall), ("span_f1", f1)):
        assert (ours[name]["value"] or 0) == pytest.approx(official)


def test_gold_scores_one_and_any_mutated_slot_less() -> None:
    one = case("play Abba at noon in Oslo", {"artist": "Abba", "time": "noon", "city": "Oslo"})

    def f1(arguments: dict[str, Any] | None) -> Any:
        return score("span-f1", [one], {"c": arguments})["metrics"]["span_f1"]["value"]

    assert f1(one.expected) == 1
    for name in one.expected:
        dropped = {key: value for key, value in one.expected.items() if key != name}
        assert f1(dropped) == pytest.approx(4 / 5)
        assert f1({**one.expected, name: "made up"}) == pytest.approx(4 / 5)  # costs recall only
        assert f1({**one.expected, name: "play"}) == pytest.approx(4 / 6)  # stands there: both
    assert f1({**one.expected, "extra": "play"}) == pytest.approx(6 / 7)
    assert f1(None) == 0
    assert SCORERS["span-f1"].judge(one, {"x": "made up"})["unplaced"] == 1


@pytest.mark.trap("D16")
def test_nothing_against_nothing_has_no_value() -> None:
    """TRAPS D16."""
    found = score("span-f1", [case("q", {})], {"c": {}})["metrics"]["span_f1"]
    assert (found["value"], found["n"]) == (None, 0)
