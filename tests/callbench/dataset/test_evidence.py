"""Where a case holds a value: word and number borders, words for numbers, no substrings."""

from __future__ import annotations

from datetime import datetime

import pytest

from callbench.dataset.case import Case, Step, Tool
from callbench.dataset.evidence import holds, places


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("two nights in Oslo", "Oslo"),
        ("two nights in oslo", "OSLO"),
        ("two nights in Oslo", 2),
        ("a table for twenty-four", 24),
        ("a table for twenty four", 24),
        ("we are a dozen", 12),
        ("it costs 1,250.50 euros", 1250.5),
        ("it costs 1,250,000 euros", 1250000),
        ("at 7pm", 7),
        ("about 50k", 50),
        ("minus -5 degrees", -5),
        ("value 3.0", 3),
        ("住两晚", 2),
        ("十二点", 12),
        ("一共二十三个人", 23),
        ("三万两千元", 32000),
        ("一百零五", 105),
        ("二〇二六年", 2026),
        ("一百二", 120),
        ("三万二", 32000),
        ("三万零二", 30002),
        ("1e1000000 of them", "1E1000000"),
        ("房间１２３", 123),
        ("请在杭州市订", "杭州"),
        ("flight BA1390 please", "BA1390"),
        ("the code is 481516", "481516"),
        ("the price is “fair”", '"fair"'),
    ],
)
def test_holds(text: str, value: str | float) -> None:
    assert holds(text, value)


@pytest.mark.trap("D8")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("10 nights", 1),
        ("a party", "art"),
        ("carpet", "car"),
        ("version 1.5", 15),
        ("192.168.1.1", 192.168),
        ("it costs 1,250.50 euros", 250.5),
        ("it costs 1,250.50 euros", 1),
        ("192.168.1.1", 1.1),
        ("5 degrees", -5),
        ("二十三", 20),
        ("一百二", 102),
        ("one", "1e1000000"),
        ("one", "9" * 100_000),
        ("nothing at all", ""),
        ("  ", " "),
        ("three", "thre"),
        ("1990", 19),
    ],
)
def test_does_not_hold(text: str, value: str | float) -> None:
    """TRAPS D8: no part of a word or of a number counts."""
    assert not holds(text, value)


def case(**more: object) -> Case:
    fields: dict[str, object] = {
        "id": "c", "lang": "en", "tool": Tool("t"), "schema": {}, "question": "Oslo", "expected": {},
    }  # fmt: skip
    return Case(**{**fields, **more})  # type: ignore[arg-type]


def test_every_field_that_a_model_is_given_is_looked_through() -> None:
    found = case(
        question="seek seven",
        conversation=({"role": "user", "content": "seven"}, {"role": "assistant", "content": "no"}),
        facts=("nothing", "it is 7"),
        summary="7 it was",
        steps=(Step("s", {"a": {"b": [7]}}),),
        data={"x": "7"},
    )
    assert places(found, 7) == (
        "/question", "/conversation/0", "/facts/1", "/summary", "/steps/0", "/data",
    )  # fmt: skip


def test_the_time_it_is_counts() -> None:
    assert places(case(now=datetime(2026, 3, 12, 9, 30)), 2026) == ("/now",)


def test_a_structure_is_held_where_all_of_its_parts_are() -> None:
    both = case(question="Oslo and Rome", facts=("Lyon",))
    assert places(both, ["Oslo", "Lyon"]) == ("/question", "/facts/0")
    assert places(both, {"a": "Oslo", "b": ["Paris"]}) == ()
    assert places(both, []) == ()


@pytest.mark.parametrize("value", [True, False, None])
def test_what_has_no_text_is_held_nowhere(value: object) -> None:
    assert places(case(question="True False None null"), value) == ()
