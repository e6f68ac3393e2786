"""CONTRACT.md read as data: its rules, their examples, and the tables at its end."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
CONTRACT = ROOT / "refimpl" / "CONTRACT.md"
AREAS = (
    "core",
    "history",
    "executor",
    "llm",
    "slot",
    "schema",
    "reply",
    "provider",
    "stream",
    "callback",
    "fewshot",
)
RULE_ID = re.compile(rf"\b(?:{'|'.join(AREAS)})\.[a-z][a-z0-9_]*\.[1-9][0-9]*\b")
_HEADING = re.compile(r"^#### `([^`]+)` (.+)$")
_FENCE = re.compile(r"^(`{3,})([a-z0-9]*)$")


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: ``source`` is its line, ``body`` all its text, ``fences`` its (language, text)."""

    id: str
    title: str
    line: int
    source: str
    body: str
    fences: tuple[tuple[str, str], ...]

    @property
    def area(self) -> str:
        return self.id.partition(".")[0]

    @property
    def topic(self) -> str:
        return self.id.rpartition(".")[0]

    @property
    def number(self) -> int:
        return int(self.id.rpartition(".")[2])

    def examples(self) -> list[dict[str, Any]]:
        """Return the executable examples, in order."""
        return [
            json.loads(line)
            for language, text in self.fences
            if language == "jsonl"
            for line in text.splitlines()
            if line.strip()
        ]


def rules() -> list[Rule]:
    """Return every rule of CONTRACT.md, in order."""
    lines = CONTRACT.read_text(encoding="utf-8").splitlines()
    found: list[Rule] = []
    start: tuple[int, str, str] | None = None
    body: list[str] = []

    def close() -> None:
        if start is not None:
            line, rule_id, title = start
            source = next((text for text in body if text.startswith("Source: ")), "")
            found.append(Rule(rule_id, title, line, source, "\n".join(body), tuple(_fences(body))))

    fence = ""
    for number, line in enumerate(lines, 1):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1] == fence and not mark[2]:
            fence = ""
        elif not fence and (line.startswith("#")):
            close()
            heading = _HEADING.match(line)
            start = (number, heading[1], heading[2]) if heading else None
            body = []
            continue
        body.append(line)
    close()
    return found


def _fences(body: list[str]) -> Iterator[tuple[str, str]]:
    opened, language, text = "", "", list[str]()
    for line in body:
        mark = _FENCE.match(line)
        if mark and not opened:
            opened, language, text = mark[1], mark[2], []
        elif mark and mark[1] == opened and not mark[2]:
            yield language, "\n".join(text)
            opened = ""
        elif opened:
            text.append(line)


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
    """Return what ``pytest.mark.<mark>(…)`` names in the tests, with the files that name it."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
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
