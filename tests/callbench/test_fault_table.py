"""Every fault of the harness that is on record has a test that would show it again."""

from __future__ import annotations

import ast
import re
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent


def rows() -> list[str]:
    text = (TESTS / "FAULTS.md").read_text(encoding="utf-8")
    return re.findall(r"^\| ([CDE]\d+) \|", text, re.MULTILINE)


def marked() -> set[str]:
    return {
        argument.value
        for path in TESTS.rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "trap"
        for argument in node.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    }


def test_every_row_has_a_test_and_every_mark_a_row() -> None:
    expected = (
        [f"C{number}" for number in range(1, 11)]
        + [f"D{number}" for number in range(1, 21)]
        + [f"E{number}" for number in range(1, 8)]
    )
    assert rows() == expected
    assert {row for row in marked() if row[0] in "CDE"} == set(expected)
