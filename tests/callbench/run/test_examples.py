"""Examples before a case: which cases are chosen, and which never."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from callbench.dataset.case import Case, Tool
from callbench.dataset.loader import Dataset, load_dataset
from callbench.errors import UsageError
from callbench.run.examples import ExamplePool


def case(name: str, **more: object) -> Case:
    made = Case(id=name, lang="en", tool=Tool("t"), schema={}, question=f"{name}?", expected={})
    return replace(made, **more)  # type: ignore[arg-type]


def pool(*cases: Case) -> ExamplePool:
    return ExamplePool(Dataset("d", Path(), "", cases))


def chosen(pool: ExamplePool, case: Case, count: int = 9) -> list[str]:
    return [other.id for other in pool.examples(case, count)]


MANY = [case(str(number)) for number in range(30)]


def test_no_case_of_everyday_has_an_example_that_gives_it_away() -> None:
    dataset = load_dataset("everyday")
    everyday = ExamplePool(dataset)
    for one in dataset.cases:
        examples = everyday.examples(one, 5)
        assert len({other.id for other in examples}) == 5
        for other in examples:
            assert other.lang == one.lang
            assert other.cluster != one.cluster
            assert other.question != one.question


@pytest.mark.parametrize(
    "other",
    [
        case("a2", cluster="dialogue", question="quite another?"),
        case("a2", lang="zh"),
        case("a2", question=" A? "),
    ],
    ids=["its cluster", "another language", "the same question"],
)
def test_what_gives_it_away_is_left_out(other: Case) -> None:
    one = case("a", cluster="dialogue", question="a?")
    assert chosen(pool(one, other, case("b")), one) == ["b"]


def test_cases_without_a_cluster_are_each_their_own() -> None:
    one, other = case("a"), case("b")
    assert chosen(pool(one, other), one) == ["b"]


def test_an_id_may_be_any_text() -> None:
    one, other = case("\ud800"), case("")
    assert chosen(pool(one, other), one) == [""]


def test_the_order_of_the_dataset_does_not_matter() -> None:
    forth, back = pool(*MANY), pool(*reversed(MANY))
    for one in MANY:
        assert chosen(forth, one, 3) == chosen(back, one, 3)


def test_fewer_are_the_first_of_more() -> None:
    found = chosen(pool(*MANY), MANY[0], 29)
    assert sorted(found) == sorted(one.id for one in MANY[1:])
    assert chosen(pool(*MANY), MANY[0], 4) == found[:4]


def test_cases_have_examples_of_their_own() -> None:
    """Not the same few for everyone: an odd example would then color every answer."""
    everyone = pool(*MANY)
    assert len({tuple(chosen(everyone, one, 3)) for one in MANY}) == len(MANY)


def test_a_new_case_changes_the_examples_of_few() -> None:
    before, after = pool(*MANY), pool(*MANY, case("new"))
    changed = [one.id for one in MANY if chosen(before, one, 3) != chosen(after, one, 3)]
    assert len(changed) == 3


def test_check_names_the_first_case_that_has_too_few() -> None:
    cases = [case("a"), case("b"), case("c", lang="zh")]
    found = pool(*cases)
    found.check(cases[:2], 1)
    found.check(cases, 0)
    with pytest.raises(UsageError, match="case c has 0 others"):
        found.check(cases, 1)
