"""Finding the defects of a set's gold. The gold is kept as it is: a defect is declared, never mended.

What the loader would refuse is declared in the case's ``defects`` at the very field, so that the
case loads and everybody sees what is wrong with it. A value that occurs nowhere in the case is only
reported: it may still be derived from what is there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from callbench.dataset.checks import WAIVED, meaning, shape
from callbench.dataset.evidence import holds, texts
from callbench.dataset.importers.base import Defect, Draft, Excluded
from callbench.dataset.importers.source import loads
from callbench.dataset.loader import case_of
from callbench.dataset.problems import Fault
from callbench.dataset.slots import ABSENT, find, flatten, same, to_pointer
from callbench.dataset.tooling import tooling
from corecall import pointer

GOLD_DEFECT = "gold-defect"
"""The tag of a case whose gold has a defect that is declared in it."""
_REPORTED_ONLY = frozenset({"not-in-case"})


def audit(draft: Draft) -> tuple[dict[str, Any], tuple[Defect, ...]] | Excluded:
    """Return the case with its defects declared, and all its defects; or why it is no case."""
    record = draft.record
    broken = shape(record)
    if broken:
        return _unsound(draft, broken[0])
    faults = meaning(record)
    found = {defect.pointer: defect for defect in draft.defects}
    for fault in faults:
        if fault.rule in WAIVED:
            found.setdefault(fault.pointer, _defect(record, fault))
    for place, value in flatten(record["expected"]).items():
        if isinstance(value, str) and _escaped_twice(value, record):
            message = "The text is escaped twice: the case has it without the backslashes."
            field = f"/expected{to_pointer(place)}"
            found[field] = Defect(field, "double-escaped", message)
    declared = {
        place: defect.kind for place, defect in found.items() if defect.kind not in _REPORTED_ONLY
    }
    if declared:
        record = {
            **record,
            "defects": declared,
            "tags": list(dict.fromkeys([*record.get("tags", ()), GOLD_DEFECT])),
        }
        faults = shape(record) or meaning(record)
    if faults:
        return _unsound(draft, faults[0])
    return record, (*found.values(), *_unsupported(record, found))


def _unsound(draft: Draft, fault: Fault) -> Excluded:
    why = f"{fault.pointer or 'The case'}: {fault.message}"
    return Excluded(draft.origin, f"unsound-{fault.rule}", why)


def _defect(record: dict[str, Any], fault: Fault) -> Defect:
    return Defect(fault.pointer, _kind(record, fault), fault.message)


def _kind(record: dict[str, Any], fault: Fault) -> str:
    if fault.rule in ("expected-declared", "accept-pointer"):
        return "unknown-parameter"
    value = find(record, fault.pointer)
    if value is ABSENT:
        return "required-but-absent"
    if value is None:
        return "null-for-non-null"
    if isinstance(value, str) and _is_json(value):
        return "double-escaped"
    tokens = pointer.split(fault.pointer)
    place = tokens[1] if tokens[0] == "accept" else pointer.join(tokens[1:])
    declared = tooling(record["schema"]).declared
    path = declared.path(place)
    if _outside(declared.at(path), value):
        return "outside-enum"
    if isinstance(value, list) and any(
        _outside(declared.at((*path, index)), item) for index, item in enumerate(value)
    ):
        return "outside-enum"
    return "breaks-schema"


def _is_json(text: str) -> bool:
    """Say whether a text is an object or a list written as JSON."""
    try:
        return isinstance(loads(text), dict | list)
    except (ValueError, RecursionError):
        return False


def _outside(nodes: tuple[dict[str, Any], ...], value: Any) -> bool:
    return any(
        not any(same(value, member) for member in node["enum"]) for node in nodes if "enum" in node
    )


def _escaped_twice(value: str, record: dict[str, Any]) -> bool:
    """Say whether a text with backslashes stands in the case with one level of them undone."""
    if "\\" not in value:
        return False
    try:
        once = loads(f'"{value}"')
    except ValueError:
        return False
    said = [text for _, text in texts(case_of(record, 0))]
    return (
        once != value
        and any(once in text for text in said)
        and not any(value in text for text in said)
    )


def _unsupported(record: dict[str, Any], known: dict[str, Defect]) -> Iterator[Defect]:
    """Yield the expected values that are found nowhere in the case, nor any value accepted there.

    What the schema says of the slot counts as said.
    """
    case = case_of(record, 0)
    spoken = [text for _, text in texts(case)]
    declared = tooling(case.schema).declared
    for path, value in flatten(case.expected).items():
        place = to_pointer(path)
        if f"/expected{place}" in known:
            continue
        accepted = case.accept[place].values if place in case.accept else ()
        nodes = [*declared.at(path), *(declared.at((*path, 0)) if isinstance(value, list) else ())]
        offered = [
            json.dumps(node[word], ensure_ascii=False)
            for node in nodes
            for word in ("enum", "default", "const", "description")
            if word in node
        ]
        if any(_found(one, spoken) for one in accepted) or _found(value, [*spoken, *offered]):
            continue
        yield Defect(
            f"/expected{place}", "not-in-case", f"{value!r:.80} occurs nowhere in the case."
        )


def _found(value: Any, spoken: list[str]) -> bool:
    """Say whether each string and number of a value is held by some text; 0.05 is also 5%."""
    match value:
        case None | bool() | "":
            return True
        case list():
            return all(_found(item, spoken) for item in value)
        case dict():
            return all(_found(item, spoken) for item in value.values())
        case str():
            return any(holds(text, value) for text in spoken)
        case _:
            percent = round(value * 100, 10)
            return any(
                holds(text, value) or ("%" in text and holds(text, percent)) for text in spoken
            )
