"""The rules of a case, in two steps.

:func:`shape` holds a line against ``case.schema.json``; :func:`meaning` checks what a schema cannot
say, for a line of the right shape. Both return the faults they find, in the order of the rules.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any

import jsonschema_rs

from callbench.dataset.declared import json_type
from callbench.dataset.folding import fold
from callbench.dataset.problems import Fault
from callbench.dataset.slots import (
    ABSENT,
    beneath,
    find,
    flatten,
    lookup,
    related,
    same,
    to_pointer,
)
from callbench.dataset.tooling import Tooling, tooling
from corecall import pointer
from corecall.slot.processor import DataError, SchemaError

TIME_KINDS = frozenset({"date", "time", "datetime", "duration"})
"""Ways to compare that read a text as a time."""

WAIVED = frozenset({"expected-schema", "expected-declared", "accept-value", "accept-pointer"})
"""Rules whose faults are admitted where the case's ``defects`` names them."""

SCHEMA_DEFECTS = frozenset(
    {
        "breaks-schema",
        "outside-enum",
        "null-for-non-null",
        "unknown-parameter",
        "required-but-absent",
    }
)
"""Kinds of defect that are faults of these rules, so that a declared one can be held to it."""


@cache
def case_schema() -> dict[str, Any]:
    """Return the documented schema of a case line."""
    text = files("callbench.dataset").joinpath("case.schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


@cache
def _validator() -> jsonschema_rs.Draft7Validator:
    return jsonschema_rs.Draft7Validator(case_schema())


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint that names the known names most like ``name``, empty when none is like it."""
    close = difflib.get_close_matches(name, list(known), n=3, cutoff=0.6)
    return f"Did you mean {' or '.join(close)}?" if close else ""


# -- shape ------------------------------------------------------------------------------------------


def shape(record: dict[str, Any]) -> list[Fault]:
    """Hold a parsed line against the schema of a case."""
    if _validator().is_valid(record):
        return []
    return [
        fault
        for error in _validator().iter_errors(record)
        for fault in _shape_faults(record, error)
    ]


def _shape_faults(record: dict[str, Any], error: jsonschema_rs.ValidationError) -> Iterator[Fault]:
    path = [str(token) for token in error.instance_path]
    place = pointer.join(path)
    kind: Any = error.kind
    match kind.name:
        case "additionalProperties":
            known = _schema_at(error.schema_path[:-1]).get("properties", {})
            for name in kind.unexpected:
                yield Fault(
                    pointer.join([*path, name]),
                    "unknown-field",
                    f'There is no field "{name}" here.',
                    nearest(name, known) or f"Known fields: {', '.join(known)}.",
                )
        case "required":
            yield Fault(
                pointer.join([*path, kind.property]),
                "missing-field",
                f'The field "{kind.property}" is missing.',
                "Add it.",
            )
        case "type":
            wanted = " or ".join(kind.types)
            got = json_type(find(record, place))
            yield Fault(place, "type", f"Must be of type {wanted}, is {got}.", "Change the value.")
        case "pattern" if place == "/now":
            yield _bad_now(str(record["now"]))
        case "pattern" | "propertyNames":
            yield Fault(
                place,
                "pointer",
                f"Not an RFC 6901 pointer: {error.message.split(' does not match')[0]}.",
                'Write it as "/address/city" or "/items/0"; ~ is ~0 and / is ~1 inside a name.',
            )
        case _:
            yield Fault(place, "value", f"{error.message}.", "Change the value.")


def _schema_at(path: list[str | int]) -> dict[str, Any]:
    node: Any = case_schema()
    for token in path:
        node = node[token]
    found: dict[str, Any] = node
    return found


def _bad_now(text: str) -> Fault:
    return Fault(
        "/now",
        "now",
        f'"{text}" is not a local time.',
        "Write it as 2026-03-12T09:30:00, without a zone.",
    )


# -- meaning ----------------------------------------------------------------------------------------


def meaning(record: dict[str, Any]) -> list[Fault]:
    """Check what a schema cannot say of a line that has the right shape."""
    faults = list(_now(record))
    try:
        tools = tooling(record["schema"])
    except SchemaError as error:
        return [
            *faults,
            Fault(
                f"/schema{error.pointer}",
                "schema",
                f"Not a valid Draft 7 schema: {error.reason}.",
                "Mend the schema.",
            ),
        ]
    try:
        found = list(_Checks(record, tools).run())
    except DataError as error:
        return [*faults, Fault("", "data", f"{error}.", "Make it simpler.")]
    return [*faults, *_undeclared(found, record.get("defects", {}))]


def _now(record: dict[str, Any]) -> Iterator[Fault]:
    if "now" in record:
        try:
            datetime.fromisoformat(record["now"])
        except ValueError:
            yield _bad_now(record["now"])


def _match(field: str, match: str | None, there: Any) -> Iterator[Fault]:
    if there is ABSENT:
        return
    if match in ("set", "list") and not isinstance(there, list):
        yield Fault(
            field, "accept-match", f"Only a list can be compared as a {match}.", "Drop the match."
        )
    if match in TIME_KINDS and (there is None or isinstance(there, bool | int | float)):
        yield Fault(
            field, "accept-match", f"Only a text can be read as a {match}.", "Drop the match."
        )


def _aliases(field: str, aliases: dict[str, list[str]]) -> Iterator[Fault]:
    """Yield the spellings that stand for two things."""
    owner: dict[str, str] = {}
    for name, more in aliases.items():
        for spelling in (name, *more):
            if owner.setdefault(fold(spelling), name) != name:
                yield Fault(
                    f"{field}/aliases{pointer.join([name])}",
                    "accept-aliases",
                    f'"{spelling}" is a spelling of "{owner[fold(spelling)]}" already.',
                    "Let each spelling stand in one entry.",
                )


def _undeclared(faults: list[Fault], defects: dict[str, str]) -> Iterator[Fault]:
    """Yield the faults that the case does not declare, and what it declares that is not there."""
    there = set()
    for fault in faults:
        if fault.rule in WAIVED and fault.pointer in defects:
            there.add(fault.pointer)
        else:
            yield fault
    for place, kind in defects.items():
        if kind in SCHEMA_DEFECTS and place not in there:
            yield Fault(
                pointer.join(["defects", place]),
                "defect-stale",
                f"{place} is declared {kind}, and nothing is wrong there.",
                "Take it out.",
            )


class _Checks:
    """The checks of one case that need its schema."""

    def __init__(self, record: dict[str, Any], tools: Tooling) -> None:
        self.processor = tools.processor
        self.declared = tools.declared
        self.schema = record["schema"]
        self.expected = record["expected"]
        self.data = record.get("data", {})
        self.accept = record.get("accept", {})
        self.unfillable = record.get("unfillable", [])
        self.open = set(self._remaining(self.expected))

    def run(self) -> Iterator[Fault]:
        yield from self._expected_satisfies_schema()
        yield from self._expected_is_declared()
        yield from self._expected_holds_data()
        for place, entry in self.accept.items():
            yield from self._accept(place, entry)
        for index, place in enumerate(self.unfillable):
            yield from self._unfillable(index, place)

    def _remaining(self, data: dict[str, Any]) -> list[str]:
        found: list[str] = self.processor.check_json(data).get("required", [])
        return found

    def _left_open(self, place: str) -> bool:
        """Say whether the case itself says that this violation must stay."""
        return any(related(place, other) for other in self.unfillable)

    def _expected_satisfies_schema(self) -> Iterator[Fault]:
        for place in sorted(self.open):
            if self._left_open(place):
                continue
            if find(self.expected, place) is ABSENT:
                yield Fault(
                    f"/expected{place}",
                    "expected-schema",
                    "The schema requires it, and it is not there.",
                    "Add it, or list its pointer in unfillable when nothing in the case supports it.",
                )
            else:
                yield Fault(
                    f"/expected{place}",
                    "expected-schema",
                    f"The value breaks its own schema: {self._reason(self.expected, place)}.",
                    "Mend the value or the schema.",
                )

    def _expected_is_declared(self) -> Iterator[Fault]:
        for refusal in self.processor.merge(self.data, self.expected).undeclared:
            yield Fault(
                f"/expected{refusal.pointer}",
                "expected-declared",
                "The schema does not declare it, so no answer could ever fill it.",
                nearest(refusal.pointer, self._places()) or "Declare it, or take it out.",
            )

    def _reason(self, data: dict[str, Any], place: str) -> str:
        for error in jsonschema_rs.Draft7Validator(self.schema).iter_errors(data):
            if beneath(pointer.join([str(token) for token in error.instance_path]), place):
                return error.message
        return "it is not valid there"

    def _expected_holds_data(self) -> Iterator[Fault]:
        if not self.data:
            return
        # The root breaks its schema merely because arguments are still missing; anything else
        # that is there and breaks it is to be asked for again, so expected may differ from it.
        broken = [
            place
            for place in self._remaining(self.data)
            if place and find(self.data, place) is not ABSENT
        ]
        for path, known in flatten(self.data).items():
            place = to_pointer(path)
            if any(beneath(place, other) for other in broken):
                continue
            wanted = lookup(self.expected, path)
            if wanted is ABSENT:
                yield Fault(
                    f"/data{place}",
                    "expected-data",
                    "It is known and valid, and expected does not have it.",
                    "Repeat it in expected: that is the whole argument object.",
                )
            elif not same(wanted, known):
                yield Fault(
                    f"/data{place}",
                    "expected-data",
                    "It is known and valid, and expected has another value.",
                    "Known data is never overwritten: give expected the same value.",
                )

    def _accept(self, place: str, entry: dict[str, Any]) -> Iterator[Fault]:
        field = pointer.join(["accept", place])
        there = find(self.expected, place)
        if there is ABSENT and not self.declared.declares(self.declared.path(place)):
            yield Fault(
                field,
                "accept-pointer",
                "It is neither in expected nor declared by the schema.",
                nearest(place, self._places()) or "Name a slot of the tool.",
            )
            return
        yield from _match(field, entry.get("match"), there)
        yield from _aliases(field, entry.get("aliases", {}))
        for index, value in enumerate(entry.get("values", [])):
            filled = self.processor.convert_json({place: value}, self.expected)
            broken = [other for other in self._remaining(filled) if related(other, place)]
            if any(self._breaks(other, place) for other in broken):
                yield Fault(
                    f"{field}/values/{index}",
                    "accept-value",
                    f"The value breaks the slot's schema: {self._reason(filled, place)}.",
                    "Accept only what the tool would take.",
                )

    def _breaks(self, broken: str, place: str) -> bool:
        """Say whether an accepted value at ``place`` is to blame for what is broken now."""
        if beneath(broken, place):
            return not (broken in self.open and self._left_open(broken))
        return broken not in self.open

    def _unfillable(self, index: int, place: str) -> Iterator[Fault]:
        field = f"/unfillable/{index}"
        if find(self.expected, place) is not ABSENT:
            yield Fault(
                field,
                "unfillable-expected",
                f"{place} is in expected, so something supports it.",
                "Take it out of one of the two.",
            )
        elif not self.declared.declares(self.declared.path(place)):
            yield Fault(
                field,
                "unfillable-pointer",
                f"The schema does not declare {place}.",
                nearest(place, self._places()) or "Name a slot of the tool.",
            )
        elif place in self.accept:
            yield Fault(
                field,
                "unfillable-accept",
                f"accept says what is right at {place}, unfillable that nothing is.",
                "Take it out of one of the two.",
            )

    def _places(self) -> list[str]:
        """Return pointers a person may have meant."""
        top = [pointer.join([name]) for name in self.schema.get("properties", {})]
        inner = [to_pointer(path) for path in flatten(self.expected)]
        return [
            place for place in (*top, *inner) if self.declared.declares(self.declared.path(place))
        ]
