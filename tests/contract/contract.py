"""CONTRACT.md read as data: its rules, their examples, and the tables at its end."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from callbench.conformance.contract import AREAS, RULE_ID, Rule, read_rules

__all__ = ["AREAS", "CONTRACT", "RULE_ID", "Rule", "docstring_ids", "marked", "rules", "table"]

ROOT = Path(__file__).resolve().parents[2]
CONTRACT = ROOT / "refimpl" / "CONTRACT.md"


def rules() -> list[Rule]:
    """Return every rule of CONTRACT.md, in order."""
    return read_rules(CONTRACT)


def docstring_ids() -> dict[str, list[str]]:
    """Return the rule ids that docstrings of corecall name, with the places that name them."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "refimpl" / "corecall").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                for rule_id in RULE_ID.findall(ast.get_docstring(node) or ""):
                    place = f"{path.relative_to(ROOT)}:{getattr(node, 'name', '')}"
                    found.setdefault(rule_id, []).append(place)
    return found


def marked(mark: str) -> dict[str, list[str]]:
    """Return what ``pytest.mark.<mark>(…)`` names in the tests, with the files that name it.

    The examples of the contract, which bear their rules' ids too, are not counted.
    """
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        if path.name == "test_contract.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == mark
                and isinstance(node.func.value, ast.Attribute)
                and node.func.value.attr == "mark"
            ):
                for argument in node.args:
                    assert isinstance(argument, ast.Constant), f"{path}: {mark} takes literals"
                    found.setdefault(argument.value, []).append(str(path.relative_to(ROOT)))
    return found


def table(heading: str) -> list[list[str]]:
    """Return the cells of every table row beneath the ``## `` heading, without the head rows."""
    text = CONTRACT.read_text(encoding="utf-8")
    _, _, after = text.partition(f"\n## {heading}\n")
    section = re.split(r"^## ", after, maxsplit=1, flags=re.MULTILINE)[0]
    rows = [line for line in section.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows]
    return [
        row
        for place, row in enumerate(cells)
        if not all(set(cell) <= set("-: ") for cell in row)
        and not (
            place + 1 < len(cells) and all(set(cell) <= set("-: ") for cell in cells[place + 1])
        )
    ]
