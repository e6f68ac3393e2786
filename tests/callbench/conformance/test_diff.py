"""What differs between two results, place by place."""

from __future__ import annotations

from typing import Any

import pytest

from callbench.conformance.compare import Comparator
from callbench.conformance.diff import MOST_DIFFERENCES, differences, show


@pytest.mark.parametrize(
    ("expected", "got", "comparator", "lines"),
    [
        (1, 1.0, "json", []),
        (1, True, "json", ["the whole: expected 1, got true"]),
        ({"a": 1}, {}, "json", ["/a: expected 1, got nothing"]),
        ({}, {"a/b": 1}, "json", ["/a~1b: expected nothing, got 1"]),
        ([1], [1, 2], "json", ["/1: expected nothing, got 2"]),
        ([1, 2], [1], "json", ["/1: expected 2, got nothing"]),
        ({"a": [{"b": 1}]}, {"a": [{"b": 2}]}, "json", ["/a/0/b: expected 1, got 2"]),
        ({"a": {}}, {"a": []}, "json", ["/a: expected {}, got []"]),
        (
            {"required": ["a", "b"]},
            {"required": ["b", "c"]},
            "json",
            ['/required: lacks "a"', '/required: has "c" too much'],
        ),
        ([1, 2], [2, 2], "set", ["the whole: lacks 1", "the whole: has 2 too much"]),
        (
            {"a": 1, "b": 2},
            {"b": 2, "a": 1},
            "ordered",
            ['the whole: expected the order ["a", "b"], got ["b", "a"]'],
        ),
        (2**60, 1.0, "json", ['the whole: expected {"$int": "1152921504606846976"}, got {"$float": "1.0"}']),
    ],
)  # fmt: skip
def test_differences(expected: Any, got: Any, comparator: Comparator, lines: list[str]) -> None:
    assert differences(expected, got, comparator) == lines


def test_in_a_long_text_only_what_differs_is_shown() -> None:
    before, after = "word " * 40 + "old" + " word" * 40, "word " * 40 + "new" + " word" * 40
    (line,) = differences(before, after)
    assert "[-old-]{+new+}" in line
    assert len(line) < 150


def test_many_differences_are_counted() -> None:
    lines = differences(list(range(100)), [])
    assert len(lines) == MOST_DIFFERENCES + 1
    assert lines[-1] == f"… and {100 - MOST_DIFFERENCES} more"


def test_a_long_value_is_shortened_in_the_middle() -> None:
    shown = show(["a" * 1000, "z"])
    assert len(shown) < 210
    assert (shown[:3], shown[-4:]) == ('["a', '"z"]')
