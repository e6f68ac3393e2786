"""Lint: what is sound and still may be wrong. Each rule finds its fault, and not the sound case."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from callbench.dataset.lint import ACROSS, RULES, lint
from callbench.dataset.loader import load_dataset

Record = dict[str, Any]
Find = Callable[..., list[tuple[str, str, str]]]


@pytest.fixture
def sound() -> Record:
    return {
        "id": "a",
        "lang": "en",
        "tool": {"name": "book"},
        "schema": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "nights": {"type": "integer"},
                "board": {"enum": ["half", "full"]},
                "day": {"type": "string", "format": "date"},
                "pets": {"type": "boolean"},
            },
        },
        "question": "Two nights in Oslo",
        "expected": {"city": "Oslo", "nights": 2},
    }


@pytest.fixture
def find(write: Callable[..., Path]) -> Find:
    def find(*records: Record, rules: tuple[str, ...] = ()) -> list[tuple[str, str, str]]:
        dataset = load_dataset(write(*records))
        return [(found.rule, found.case, found.pointer) for found, _ in lint(dataset, rules)]

    return find


def test_a_sound_case_has_no_finding(sound: Record, find: Find) -> None:
    assert find(sound) == []


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        ({"expected": {"city": "Bergen"}}, ("answerable", "/expected/city")),
        ({"expected": {"nights": 5}}, ("answerable", "/expected/nights")),
        ({"question": "A night in Oslo on next Friday", "expected": {"day": "2026-03-20"}},
         ("needs-now", "/question")),
        ({"question": "明天住两晚", "lang": "zh", "expected": {"day": "2026-03-20"}},
         ("needs-now", "/question")),
        ({"question": "在奥斯陆住两晚", "expected": {"nights": 2}}, ("language", "/lang")),
        ({"lang": "zh"}, ("language", "/lang")),
        ({"accept": {"/city": {"values": ["Christiania", "Oslo"]}}},
         ("redundant-accept", "/accept/~1city/values/1")),
        ({"accept": {"/city": {"values": ["Kristiania", "Kristiania"]}}},
         ("redundant-accept", "/accept/~1city/values/1")),
        ({"question": " ", "expected": {}}, ("blank", "/question")),
        ({"expected": {"city": "Oslo", "nights": "two"}, "defects": {"/expected/nights": "breaks-schema"}},
         ("gold-defect", "/expected/nights")),
    ],
)  # fmt: skip
def test_each_rule_finds_its_fault(
    sound: Record, find: Find, change: Record, finding: tuple[str, str]
) -> None:
    rule, place = finding
    assert find({**sound, **change}, rules=(rule,)) == [(rule, "a", place)]


@pytest.mark.parametrize(
    "change",
    [
        {"expected": {"board": "half"}},  # chosen
        {"expected": {"pets": True}},  # a boolean is no text
        {"question": "two hours in Oslo", "expected": {"nights": 120}},  # converted
        {"question": "about a couple of nights", "expected": {"nights": 2}},
        {"question": "tomorrow", "now": "2026-03-12T09:00:00", "expected": {"day": "2026-03-13"}},
        {"question": "call +47 22 55 01 99", "expected": {"city": "+4722550199"}},
        {"expected": {"city": "Bergen"}, "facts": ["Home: Bergen"]},
        {"expected": {"city": "Bergen"}, "accept": {"/city": {"values": ["Oslo"]}}},
        {"expected": {"city": "Bergen"}, "accept": {"/city": {"may_omit": True}}},
        {"question": "see you next week in Oslo", "expected": {"city": "Oslo"}},  # no date wanted
        {"question": "12345", "lang": "zh", "expected": {}},  # no letters at all
    ],
)
def test_what_follows_from_the_case_is_no_finding(
    sound: Record, find: Find, change: Record
) -> None:
    assert find({**sound, **change}) == []


def test_a_name_that_nothing_explains(sound: Record, find: Find) -> None:
    bare = copy.deepcopy(sound)
    bare["schema"]["properties"] = {
        "x": {"type": "string"},
        "y": {"type": "string", "description": "d"},
    }
    bare["expected"] = {}
    assert find(bare) == [("blank", "a", "/schema/properties/x")]
    bare["schema"]["properties"] = {"名称": {"type": "string"}, "价": {"type": "string"}}
    assert find(bare) == []


def test_the_same_question_twice(sound: Record, find: Find) -> None:
    again = {**sound, "id": "b", "tags": ["other"], "cluster": "c"}
    assert find(sound, again) == [("duplicate", "b", "/id")]


def test_the_same_question_with_another_answer(sound: Record, find: Find) -> None:
    other = {**sound, "id": "b", "expected": {"city": "Oslo", "nights": 2, "pets": True}}
    assert find(sound, other) == [("contradiction", "b", "/expected")]
    assert find(sound, {**other, "question": "Two nights in Oslo with the cat"}) == []


def test_only_the_rules_asked_for(sound: Record, find: Find) -> None:
    wrong = {**sound, "lang": "zh", "expected": {"city": "Bergen"}}
    assert {rule for rule, *_ in find(wrong)} == {"language", "answerable"}
    assert find(wrong, rules=("language",)) == [("language", "a", "/lang")]


def test_a_finding_names_file_line_case_place_rule_and_remedy(
    sound: Record, write: Callable[..., Path]
) -> None:
    path = write({**sound, "id": "first"}, {**sound, "expected": {"city": "Bergen"}})
    found = [str(one) for one, _ in lint(load_dataset(path), ("answerable",))]
    assert len(found) == 1
    assert found[0].startswith(
        'cases.jsonl:2: a /expected/city [answerable] "Bergen" occurs nowhere'
    )


def test_every_rule_has_a_name_and_a_line() -> None:
    assert set(RULES).isdisjoint(ACROSS)
    assert all(text for text, _ in RULES.values())


def test_the_bundled_dataset_has_neither_contradictions_nor_defects() -> None:
    found = lint(
        load_dataset("everyday"), ("contradiction", "gold-defect", "duplicate", "language")
    )
    assert list(found) == []
