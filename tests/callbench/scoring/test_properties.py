"""What holds for every case: gold scores one, any change scores less, counts add up."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callbench.dataset import Case, Tool
from callbench.dataset.slots import flatten, to_pointer
from callbench.scoring import CaseScore, Outcome, score_case
from callbench.scoring.result import FALSE_NEGATIVE, FALSE_POSITIVE, TRUE_POSITIVE

LEAVES: dict[str, st.SearchStrategy[Any]] = {
    "string": st.sampled_from(["", "a", "b", "-5", "5", "1.5", "杭州"]),
    "integer": st.integers(-2, 2),
    "number": st.sampled_from([0.5, 1, 2.0]),
    "boolean": st.booleans(),
    "null": st.none(),
}
NAMES = st.sampled_from(["a", "b", "a/b", "", "0"])


@st.composite
def schemas(draw: st.DrawFn, depth: int = 2) -> dict[str, Any]:
    """A small schema: scalars, enums, nested objects, lists of either."""
    kinds = [*LEAVES, "enum", *(["object", "array"] if depth else [])]
    kind = draw(st.sampled_from(kinds))
    if kind == "enum":
        return {"enum": ["x", "X", 1]}
    if kind == "array":
        return {"type": "array", "items": draw(schemas(depth - 1))}
    if kind == "object":
        return {
            "type": "object",
            "properties": draw(st.dictionaries(NAMES, schemas(depth - 1), max_size=3)),
        }
    return {"type": kind}


def values(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """The values of a schema; of an object any part of its properties."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema["type"] == "array":
        return st.lists(values(schema["items"]), max_size=3)
    if schema["type"] == "object":
        members = {name: values(inner) for name, inner in schema["properties"].items()}
        return st.fixed_dictionaries({}, optional=members)
    return LEAVES[schema["type"]]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    properties = draw(st.dictionaries(NAMES, schemas(), max_size=4))
    schema = {"type": "object", "properties": properties}
    expected = draw(values(schema))
    return Case("c", "en", Tool("t"), schema, "q", expected)


def score(case: Case, slot_data: dict[str, Any], **outcome: Any) -> CaseScore:
    return score_case(case, Outcome(slot_data=slot_data, **outcome))


def f1(result: CaseScore) -> float:
    tp, fp, fn = result.counts
    return 1.0 if fp + fn == 0 else 2 * tp / (2 * tp + fp + fn)


@given(cases())
def test_gold_scores_one(case: Case) -> None:
    result = score(case, copy.deepcopy(case.expected))
    assert result.exact_strict
    assert result.schema_valid
    assert result.counts == (len(flatten(case.expected)), 0, 0)
    assert {slot.verdict for slot in result.slots} <= {"correct"}


@pytest.mark.trap("D7")
@given(cases(), st.data())
def test_d7_dropping_any_slot_scores_less(case: Case, data: st.DataObject) -> None:
    paths = [path for path in flatten(case.expected) if isinstance(path[-1], str)]
    if not paths:
        return
    path = data.draw(st.sampled_from(paths))
    given_ = copy.deepcopy(case.expected)
    parent: Any = given_
    for token in path[:-1]:
        parent = parent[token]
    del parent[path[-1]]
    result = score(case, given_)
    assert result.exact is False
    assert f1(result) < 1
    verdicts = {slot.pointer: slot.verdict for slot in result.slots}
    assert verdicts[to_pointer(path)] == "missing"


@pytest.mark.trap("D7")
@given(cases(), st.data())
def test_d7_changing_any_slot_scores_less(case: Case, data: st.DataObject) -> None:
    paths = list(flatten(case.expected))
    if not paths:
        return
    path = data.draw(st.sampled_from(paths))
    given_ = copy.deepcopy(case.expected)
    parent: Any = given_
    for token in path[:-1]:
        parent = parent[token]
    parent[path[-1]] = ["another", parent[path[-1]]]
    result = score(case, given_)
    assert result.exact is False
    assert f1(result) < 1
    counted = FALSE_POSITIVE & FALSE_NEGATIVE
    wrong = [slot.pointer for slot in result.slots if slot.verdict in counted]
    assert wrong == [to_pointer(path)]


@given(cases(), st.data())
def test_making_something_up_scores_less(case: Case, data: st.DataObject) -> None:
    made_up = data.draw(st.sampled_from([None, "", 0, {}, [], {"x": 1}]))
    result = score(case, {**case.expected, "made up": made_up})
    assert result.exact is False
    assert f1(result) < 1


@given(cases(), st.data())
def test_counts_add_up_for_any_answer(case: Case, data: st.DataObject) -> None:
    answer = data.draw(values(case.schema))
    result = score(case, answer)
    tp, fp, fn = result.counts
    assert tp + fn == len(flatten(case.expected))
    pointers = [slot.pointer for slot in result.slots]
    assert len(set(pointers)) == len(pointers)
    counted = TRUE_POSITIVE | FALSE_POSITIVE | FALSE_NEGATIVE
    assert all(slot.verdict in counted for slot in result.slots)
    assert result.exact == (fp + fn == 0)
    assert not result.exact_strict or result.exact


@given(cases(), st.data())
def test_an_answer_and_its_case_may_change_places(case: Case, data: st.DataObject) -> None:
    """Exactness is symmetric, as equality is; without defaults and ``accept`` nothing else decides."""
    answer = data.draw(values(case.schema))
    mirrored = Case("c", "en", Tool("t"), case.schema, "q", answer)
    assert score(case, answer).exact == score(mirrored, case.expected).exact


@given(cases())
def test_an_unparsed_reply_finds_nothing(case: Case) -> None:
    result = score(case, {}, status="unparsed")
    assert result.counts == (0, 0, len(flatten(case.expected)))
    assert result.exact is False
