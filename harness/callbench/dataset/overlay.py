"""Overlays: what is wrong with the gold of a dataset, mended apart from it, each mend with its reason.

An overlay is JSON Lines (``overlay.schema.json``), one line for each case it mends:

    {"id": "simple_12", "sha256": "9f2c…", "reason": "The enum has m, the gold says meter.",
     "set": {"/expected/unit": "m"}, "remove": ["/accept/~1unit"]}

``sha256`` is that of the case as it was when the mend was written (``callbench dataset lint --overlay``
writes lines to begin with). An overlay that names another case than the one it was written for is
refused, whole. Only what is right can be mended, never what a model is asked: recordings stay valid.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from callbench.dataset.checks import meaning, nearest, shape
from callbench.dataset.difference import case_sha256, records
from callbench.dataset.lines import content, parse
from callbench.dataset.loader import Dataset
from callbench.dataset.problems import Fault
from callbench.dataset.slots import beneath, related
from callbench.errors import DatasetError, UsageError
from corecall import pointer

GOLD = ("/expected", "/accept", "/unfillable")
"""The fields an overlay may mend."""

DEFECT_TAG = "gold-defect"
_FIELDS = frozenset({"id", "sha256", "reason", "set", "remove"})
_MOST = 20


@dataclass(frozen=True, slots=True)
class Mend:
    """What is to be changed in one case: values by pointer of the case, pointers to take out."""

    id: str
    sha256: str
    reason: str
    set: dict[str, Any] = field(default_factory=dict)
    remove: tuple[str, ...] = ()
    place: str = ""

    @property
    def pointers(self) -> tuple[str, ...]:
        """All pointers it touches."""
        return (*self.set, *self.remove)


@dataclass(frozen=True, slots=True)
class Overlay:
    """The mends of a file; ``untouched`` counts its lines that nobody has filled in."""

    mends: tuple[Mend, ...]
    untouched: int = 0


class _Refused(Exception):
    """One mend cannot be applied; the text says why."""


def load_overlay(path: Path) -> Overlay:
    """Read an overlay file. Raises ``DatasetError`` that lists each bad line with its number.

    A line as lint wrote it, without a reason and changing nothing, is counted and passed over.
    """
    mends: dict[str, Mend] = {}
    untouched = 0
    problems: list[str] = []
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}.") from error
    for number, raw in enumerate(lines, start=1):
        line = content(raw, first=number == 1)
        if not line:
            continue
        place = f"{path}:{number}"
        try:
            parsed = parse(line)
            if not isinstance(parsed, Fault) and not any(
                parsed.get(name) for name in ("reason", "set", "remove")
            ):
                untouched += 1
                continue
            mend = _mend(parsed, place)
            if mend.id in mends:
                raise _Refused(
                    f"the case {mend.id} is mended twice, first at {mends[mend.id].place}"
                )
            mends[mend.id] = mend
        except _Refused as error:
            problems.append(f"{place}: {error}.")
    if not mends and not problems:
        problems.append(
            f"{path}: it mends no case" + f", {untouched} lines are blank" * bool(untouched)
        )
    _raise("The overlay cannot be read:", problems)
    return Overlay(tuple(mends.values()), untouched)


def mended(dataset: Dataset, mends: Sequence[Mend]) -> list[bytes]:
    """Return the lines of the dataset with the mends applied, all others byte for byte.

    A defect that a case declares and that is no longer there is no longer declared; a case without
    any loses the tag ``gold-defect``. Raises ``DatasetError`` that lists each mend that names no case,
    or a case that has changed, or one that would not be sound; nothing is applied then.
    """
    by_id = {mend.id: mend for mend in mends}
    problems: list[str] = []
    lines: list[bytes] = []
    for record, (_, _, raw) in zip(records(dataset), dataset.lines(), strict=True):
        mend = by_id.pop(record["id"], None)
        if mend is None:
            lines.append(raw)
            continue
        try:
            lines.append(json.dumps(_applied(record, mend), ensure_ascii=False).encode())
        except _Refused as error:
            problems.append(f"{mend.place}: {mend.id}: {error}.")
    for mend in by_id.values():
        hint = nearest(mend.id, [case.id for case in dataset.cases])
        problems.append(f"{mend.place}: {dataset.name} has no case {mend.id}. {hint}".rstrip())
    _raise(f"The overlay does not fit {dataset.name}; nothing was changed:", problems)
    return lines


def blank(record: dict[str, Any], note: str) -> dict[str, Any]:
    """Return a line of an overlay to fill in: ``note`` says what was found wrong."""
    return {
        "id": record["id"], "sha256": case_sha256(record), "reason": "", "found": note,
        "set": {}, "remove": [],
    }  # fmt: skip


def _mend(line: dict[str, Any] | Fault, place: str) -> Mend:
    if isinstance(line, Fault):
        raise _Refused(line.message.rstrip("."))
    line = {key: value for key, value in line.items() if key != "found"}
    if unknown := line.keys() - _FIELDS:
        raise _Refused(f'unknown field "{min(unknown)}"; known are {", ".join(sorted(_FIELDS))}')
    for name in ("id", "sha256", "reason"):
        value = line.get(name)
        if not isinstance(value, str) or not value.strip():
            raise _Refused(f'"{name}" must be a text that is not empty')
    changes, removals = line.get("set", {}), line.get("remove", [])
    if not isinstance(changes, dict) or not isinstance(removals, list):
        raise _Refused('"set" must be an object and "remove" a list')
    mend = Mend(
        line["id"], line["sha256"], line["reason"], changes, tuple(map(str, removals)), place
    )
    if not mend.pointers:
        raise _Refused("it changes nothing")
    for one in mend.pointers:
        try:
            pointer.split(one)
        except ValueError as error:
            raise _Refused(f'"{one}" is no RFC 6901 pointer') from error
        if not any(beneath(one, gold) for gold in GOLD):
            raise _Refused(f'"{one}" is not in {", ".join(GOLD)}: only what is right can be mended')
    return mend


def _applied(record: dict[str, Any], mend: Mend) -> dict[str, Any]:
    if case_sha256(record) != mend.sha256:
        raise _Refused(
            f"the case has changed since this was written (its sha256 is now {case_sha256(record)}); "
            "read it again, then write the new sha256"
        )
    result = copy.deepcopy(record)
    for place in mend.remove:
        _remove(result, place)
    for place, value in mend.set.items():
        _set(result, place, value)
    for name in ("accept", "unfillable"):
        if not result.get(name, True):
            del result[name]
    if result == record:
        raise _Refused("what it sets stands there already")
    if faults := _still_declared(result, mend):
        first = faults[0]
        raise _Refused(
            f"mended, {first.pointer} would break the rule {first.rule}: "
            f"{first.message.rstrip('.')}"
        )
    return result


def _still_declared(record: dict[str, Any], mend: Mend) -> list[Fault]:
    """Take out declared defects that are gone; return the faults that nothing declares."""
    declared = record.pop("defects", {})
    faults = shape(record) or meaning(record)
    there = {fault.pointer for fault in faults}
    left = {
        place: kind
        for place, kind in declared.items()
        if place in there or not any(related(place, one) for one in mend.pointers)
    }
    if left:
        record["defects"] = left
        return shape(record) or meaning(record)
    if DEFECT_TAG in record.get("tags", ()):
        record["tags"] = [tag for tag in record["tags"] if tag != DEFECT_TAG]
    return faults


def _parent(root: Any, place: str) -> tuple[Any, str]:
    *above, last = pointer.split(place)
    node = root
    for token in above:
        if isinstance(node, list):
            node = node[_index(node, token, place)]
        elif isinstance(node, dict):
            node = node.setdefault(token, {}) if node is root else node.get(token)
    if not isinstance(node, dict | list):
        raise _Refused(f'there is nothing to hold "{place}"')
    return node, last


def _set(root: dict[str, Any], place: str, value: Any) -> None:
    node, last = _parent(root, place)
    if isinstance(node, dict):
        node[last] = value
    elif last == "-":
        node.append(value)
    else:
        node[_index(node, last, place)] = value


def _remove(root: dict[str, Any], place: str) -> None:
    node, last = _parent(root, place)
    if isinstance(node, list):
        del node[_index(node, last, place)]
    elif last in node:
        del node[last]
    else:
        raise _Refused(f'there is no "{place}" to take out')


def _index(node: list[Any], token: str, place: str) -> int:
    if token.isascii() and token.isdigit() and int(token) < len(node):
        return int(token)
    raise _Refused(f'the list has {len(node)} items, "{place}" is none of them')


def _raise(title: str, problems: Sequence[str]) -> None:
    if not problems:
        return
    shown = list(problems[:_MOST])
    if len(problems) > _MOST:
        shown.append(f"(and {len(problems) - _MOST} more)")
    raise DatasetError(
        "\n".join([title, *shown]),
        remedy="The format is documented in callbench/dataset/overlay.schema.json.",
    )


def overlay_lines(found: Iterator[tuple[dict[str, Any], str]]) -> Iterator[bytes]:
    """Yield lines of an overlay to fill in, one for each record with what was found wrong."""
    for record, note in found:
        yield json.dumps(blank(record, note), ensure_ascii=False).encode()
