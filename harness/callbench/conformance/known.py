"""Cases that are known to fail: a file of them, each with its reason and a link.

TOML (``[[case]]`` tables) or JSON Lines, by the file's name; the members are ``id``, ``reason`` and
``link``. A case of the list must fail: one that passes is told, so that the list stays true.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from callbench.conformance.verdict import Verdict
from callbench.errors import DatasetError, UsageError

_MEMBERS = ("id", "reason", "link")


@dataclass(frozen=True, slots=True)
class Known:
    """A case that is known to fail: why, and where that is discussed (``""``: nowhere yet)."""

    id: str
    reason: str
    link: str = ""


def load_known(path: Path, *, ids: Iterable[str] | None = None) -> dict[str, Known]:
    """Load a file of known failures, by id; ``ids`` are those that exist.

    Raises :class:`UsageError` for a file that cannot be read and :class:`DatasetError` for an entry
    that breaks a rule.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(
            f"--known-failing {path}: {why}.", remedy="With --update it is written."
        ) from error
    known: dict[str, Known] = {}
    existing = None if ids is None else frozenset(ids)
    for place, entry in _entries(path, text):
        found = _known(place, entry)
        if found.id in known:
            raise DatasetError(f'{place}: "{found.id}" stands twice.', remedy="Remove one.")
        if existing is not None and found.id not in existing:
            raise DatasetError(
                f'{place}: the suite has no case "{found.id}".',
                remedy="Remove the entry; --update does.",
            )
        known[found.id] = found
    return known


def updated(known: dict[str, Known], verdicts: Sequence[Verdict]) -> list[Known]:
    """Return the list as it must be: what failed now, and what was not run; old reasons are kept."""
    run = {verdict.case.id: verdict for verdict in verdicts}
    kept = {name: entry for name, entry in known.items() if name not in run or run[name].bad}
    new = {
        name: Known(name, f"{verdict.why}: {verdict.got}"[:200])
        for name, verdict in run.items()
        if verdict.bad and name not in known
    }
    return [entry for _, entry in sorted({**kept, **new}.items())]


def write_known(path: Path, entries: Sequence[Known]) -> None:
    """Write the file; comments in it are lost."""
    if path.suffix == ".toml":
        text = "\n".join(
            f"[[case]]\nid = {_toml(e.id)}\nreason = {_toml(e.reason)}\nlink = {_toml(e.link)}\n"
            for e in entries
        )
    else:
        text = "".join(
            json.dumps({"id": e.id, "reason": e.reason, "link": e.link}) + "\n" for e in entries
        )
    path.write_text(text, encoding="utf-8", newline="\n")


def _entries(path: Path, text: str) -> list[tuple[str, Any]]:
    if path.suffix == ".toml":
        try:
            document = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise DatasetError(f"{path}: not TOML: {error}.") from error
        cases = document.pop("case", [])
        if document or not isinstance(cases, list):
            raise DatasetError(f"{path}: it holds more than [[case]] tables.")
        return [(f"{path}: case {number}", entry) for number, entry in enumerate(cases, 1)]
    entries = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                entries.append((f"{path}:{number}", json.loads(line)))
            except ValueError as error:
                raise DatasetError(f"{path}:{number}: not JSON: {error}.") from error
    return entries


def _known(place: str, entry: Any) -> Known:
    if not isinstance(entry, dict):
        raise DatasetError(f"{place}: it is no object.", remedy=f"Members: {', '.join(_MEMBERS)}.")
    for name, value in entry.items():
        if name not in _MEMBERS or not isinstance(value, str):
            raise DatasetError(
                f"{place}: {name} is no member, or no text.",
                remedy=f"Members: {', '.join(_MEMBERS)}; each a text.",
            )
    for name in ("id", "reason"):
        if not entry.get(name, "").strip():
            raise DatasetError(
                f"{place}: {name} is empty.", remedy="Say which case fails, and why."
            )
    return Known(entry["id"], entry["reason"], entry.get("link", ""))


def _toml(text: str) -> str:
    """Return a TOML basic string: JSON's escapes, but for DEL, and no surrogates."""
    clean = text.encode("utf-8", "replace").decode()
    return json.dumps(clean, ensure_ascii=False).replace("\x7f", "\\u007f")
