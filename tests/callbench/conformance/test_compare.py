"""When two results are the same."""

from __future__ import annotations

from typing import Any

import pytest

from callbench.conformance.compare import Comparator, same


@pytest.mark.parametrize(
    ("expected", "got", "comparator", "answer"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, "json", True),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, "ordered", False),
        ({"x": {"a": 1, "b": 2}}, {"x": {"b": 2, "a": 1}}, "ordered", False),
        ({"a": 1}, {"a": 1}, "ordered", True),
        (1, 1.0, "json", True),
        (1, True, "json", False),
        (0, False, "json", False),
        ([1], [True], "json", False),
        (2**53, 2.0**53, "json", True),
        (2**53 + 1, 2.0**53, "json", False),
        (None, None, "json", True),
        (None, {}, "json", False),
        ({"a": None}, {}, "json", False),
        ([1, 2], [2, 1], "json", False),
        ([1, 2], [2, 1], "set", True),
        ([1, 2], [1, 2, 2], "set", False),
        ([1.0, "a", None], [None, 1, "a"], "set", True),
        ([1, True], [True, 1], "set", True),
        ([1], [True], "set", False),
        ([{"a": 1, "b": 2}, 0], [0, {"b": 2, "a": 1}], "set", True),
        ({"required": ["a", "b"]}, {"required": ["b", "a"]}, "json", True),
        ({"required": ["a"]}, {"required": ["a", "a"]}, "json", False),
        ({"required": [1, 2]}, {"required": [2, 1]}, "json", False),
        ({"enum": ["a", "b"]}, {"enum": ["b", "a"]}, "json", False),
        (["required", "a"], ["a", "required"], "json", False),
        (b"a", b"a", "json", True),
        (b"a", "a", "json", False),
    ],
)
def test_same(expected: Any, got: Any, comparator: Comparator, answer: bool) -> None:
    assert same(expected, got, comparator) is answer
    assert same(got, expected, comparator) is answer
