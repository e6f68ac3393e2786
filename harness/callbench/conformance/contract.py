"""CONTRACT.md read as data: its rules, with their text and their executable examples."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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

    @property
    def extension(self) -> bool:
        """Whether a port may decline it."""
        return "Extension." in self.source

    def examples(self) -> list[dict[str, Any]]:
        """Return the executable examples, in order."""
        return [
            json.loads(line)
            for language, text in self.fences
            if language == "jsonl"
            for line in text.split("\n")
            if line.strip()
        ]


def read_rules(contract: Path) -> list[Rule]:
    """Return every rule of a CONTRACT.md, in order."""
    found: list[Rule] = []
    start: tuple[int, str, str] | None = None
    body: list[str] = []

    def close() -> None:
        if start is not None:
            line, rule_id, title = start
            source = next((text for text in body if text.startswith("Source: ")), "")
            found.append(Rule(rule_id, title, line, source, "\n".join(body), tuple(_fences(body))))

    fence = ""
    # Only LF ends a line: an example may hold other separators.
    for number, line in enumerate(contract.read_text(encoding="utf-8").split("\n"), 1):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1] == fence and not mark[2]:
            fence = ""
        elif not fence and line.startswith("#"):
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
