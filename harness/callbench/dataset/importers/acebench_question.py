"""The question of an ACEBench record: its turns, the time it is asked at, the profile."""

from __future__ import annotations

import ast
import re
from datetime import datetime
from typing import Any

_TURN = re.compile(r"^(user|system)\s*[:：][ \t]*", re.M)
_CLOCK = r"(?:\D{0,20}?(\d{1,2}):(\d{2}))?"
_DATES = (
    re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})" + _CLOCK),
    re.compile(r"(\d{4})\s*年\s*(\d{1,2})\s*月\s*(\d{1,2})\s*日" + _CLOCK),
)
_WORDED = re.compile(r"([A-Z][a-z]{2,8})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})" + _CLOCK)


def turns(text: str) -> list[dict[str, str]] | None:
    """Return the turns up to the last one of the user; ``None`` when the user says nothing."""
    marks = list(_TURN.finditer(text))
    if not marks:
        return [{"role": "user", "content": text.strip()}] if text.strip() else None
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    turns = [
        {
            "role": "user" if mark[1] == "user" else "assistant",
            "content": text[mark.end() : end].strip(),
        }
        for mark, end in zip(marks, ends, strict=True)
    ]
    before = text[: marks[0].start()].strip()
    if before:
        turns.insert(0, {"role": "user", "content": before})
    last = max((at for at, turn in enumerate(turns) if turn["role"] == "user"), default=None)
    return None if last is None else turns[: last + 1]


def known(entry: dict[str, Any]) -> tuple[str | None, list[str]]:
    """Return the time of the question, when it can be read, and what is known as facts."""
    said = str(entry.get("time") or "").strip()
    facts = [said] if said else []
    profile = entry.get("profile")
    if profile:
        facts += _profile(profile)
    return _date(said), facts


def _date(text: str) -> str | None:
    for pattern in _DATES:
        match = pattern.search(text)
        if match:
            return _moment(*match.groups(default="0"))
    match = _WORDED.search(text)
    if match:
        name, day, year, hour, minute = match.groups(default="0")
        for form in ("%B", "%b"):
            try:
                month = datetime.strptime(name[: None if form == "%B" else 3], form).month
            except ValueError:
                continue
            return _moment(year, str(month), day, hour, minute)
    return None


def _moment(*parts: str) -> str | None:
    try:
        return datetime(*(int(part) for part in parts)).isoformat()  # type: ignore[arg-type]
    except ValueError:
        return None


def _profile(profile: Any) -> list[str]:
    """Return one fact for each feature and each kind of history of a profile."""
    if isinstance(profile, str):
        try:
            profile = ast.literal_eval(profile.strip().rstrip("。.;； "))
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return [str(profile).strip()]
    if not isinstance(profile, dict):
        return [str(profile)]
    facts = []
    for group, members in profile.items():
        pairs = members.items() if isinstance(members, dict) else [(group, members)]
        for key, value in pairs:
            shown = "; ".join(map(str, value)) if isinstance(value, list) else str(value)
            facts.append(f"{key}: {shown}")
    return facts
