"""The verdict on every slot of a case, and on the case.

Each slot gets exactly one verdict, whatever happened to the others (TRAPS D6). What the verdicts
count for is this: true positive = correct; false positive = wrong value, wrong type,
schema-invalid, hallucinated or undeclared; false negative = wrong or missing; the rest counts in neither.

Policy where a rule must be chosen:

* Absent, ``null`` and ``""`` are three different things (TRAPS D13).
* A schema default given explicitly equals the slot left out, either way round; the rung then says
  ``default``, which is not strict (TRAPS D4). It does not excuse a slot that must be there.
* What is given in the case's ``data`` and kept is ``known`` and not scored; changed or dropped, it
  is scored like any other slot.
* A wrong value that breaks its slot's schema is ``wrong_type`` where not even its type fits, else
  ``schema_invalid``, whether it was merged or refused, and not also ``missing``. So is one that
  stood in a whole that was refused. Where nothing was expected it is ``hallucinated``.
* What is made up, and a wrong value of the right type, has an ``origin``: it is written ``nowhere``
  in the case, or ``elsewhere``, which is copied from the wrong place.
* What gold expects and the schema does not declare (a declared defect of the gold) can never be
  filled: the slot is ``missing``, and a value given there is not also ``undeclared``.
* An unparsed reply is no abstention (TRAPS D9): expected slots are ``missing`` and slots to be left
  open get no verdict. A provider error judges nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from callbench.dataset.case import Case
from callbench.dataset.declared import json_type
from callbench.dataset.slots import (
    ABSENT,
    Blocked,
    Path,
    ancestors,
    beneath,
    flatten,
    lookup,
    related,
    resolve,
    same,
    to_pointer,
)
from callbench.dataset.tooling import tooling
from callbench.scoring.matching import Matcher
from callbench.scoring.origin import Places
from callbench.scoring.outcome import Outcome
from callbench.scoring.result import (
    ORIGINATED,
    RIGHT,
    SCORER_VERSION,
    STRICT_RUNGS,
    CaseScore,
    SlotScore,
)
from callbench.scoring.settling import Settled, settle
from corecall.slot.processor import DataError, SlotProcessor

__all__ = ["SCORER_VERSION", "CaseScore", "SlotScore", "score_case"]


def score_case(case: Case, outcome: Outcome) -> CaseScore:
    """Judge what a system did with a case. Neither is mutated."""
    if outcome.status == "provider_error":
        return CaseScore("provider_error", None, None, None)
    parsed = outcome.status == "ok"
    # With nothing to ask the result is empty by contract; the arguments are then what was known.
    given = outcome.slot_data if parsed and (outcome.asked or outcome.slot_data) else case.data
    tools = tooling(case.schema)
    matcher = Matcher(case, tools.declared)
    valid = parsed and _holds(tools.processor, given)
    broken = () if valid or not parsed else _broken(tools.processor, given)
    judge = _Judge(case, matcher, settle(matcher, given, outcome, broken))
    slots = tuple(judge.run())
    exact = parsed and all(slot.verdict in RIGHT for slot in slots)
    return CaseScore(
        status=outcome.status,
        exact=exact,
        exact_strict=(
            exact and not outcome.repaired and all(slot.rung in STRICT_RUNGS for slot in slots)
        ),
        schema_valid=valid,
        repaired=outcome.repaired,
        slots=slots,
    )


def _left_out(root: Any, path: Path) -> int:
    """Return the depth from which a document has nothing on a path, at most the whole."""
    found = (at for at in range(1, len(path)) if lookup(root, path[:at]) is ABSENT)
    return next(found, len(path))


def _holds(processor: SlotProcessor, given: dict[str, Any]) -> bool:
    try:
        return processor.is_valid(given)
    except DataError:
        return False  # not JSON, or nested too deeply for any tool


def _broken(processor: SlotProcessor, given: dict[str, Any]) -> tuple[str, ...]:
    """Return the pointers of values that are there and break their schema."""
    try:
        return tuple(processor.check_json(given).get("required", ()))
    except DataError:
        return ()


@dataclass(slots=True)
class _Judge:
    """Walks one case once; lives for one call of :func:`score_case`."""

    case: Case
    matcher: Matcher
    settled: Settled
    parsed: bool = field(init=False)
    asked: bool = field(init=False)
    known: dict[Path, Any] = field(init=False)
    rejected: dict[str, Any] = field(init=False)
    spent: set[str] = field(init=False, default_factory=set)
    """Rejections that some slot's verdict already accounts for."""
    places: Places | None = None

    def __post_init__(self) -> None:
        outcome = self.settled.outcome
        self.parsed = outcome.status == "ok"
        self.asked = outcome.asked
        self.known = flatten(self.case.data)
        # A pointer refused in both stages is one slot; the last value stands.
        self.rejected = {place: value for place, value, _ in outcome.rejected}

    def run(self) -> list[SlotScore]:
        """Return the verdicts: expected slots, then what came beside them, then open slots."""
        expected = flatten(self.settled.expected)
        slots = [self._expected(path, value) for path, value in expected.items()]
        slots += self._extras(expected)
        if self.parsed:
            slots += self._refused(expected)
            slots += self._left_open(slots)
        return slots

    def _score(
        self,
        path: Path,
        verdict: str,
        expected: Any = ABSENT,
        got: Any = ABSENT,
        rung: str = "",
    ) -> SlotScore:
        label = self.matcher.declared.label(path)
        place = label.pointer
        origin = self._origin(path, got) if verdict in ORIGINATED else ""
        if self.settled.reordered and verdict == "correct" and rung != "default":
            moved = any(beneath(place, other) for other in self.settled.reordered)
            rung = "set" if moved else rung
        return SlotScore(
            pointer=place,
            verdict=verdict,
            type=label.type or json_type(got if expected is ABSENT else expected),
            required=label.required,
            expected=expected,
            got=got,
            rung=rung,
            stage="" if got is ABSENT else self._stage(place),
            origin=origin,
        )

    def _origin(self, path: Path, value: Any) -> str:
        if self.places is None:
            self.places = Places(self.case)
        return self.places.origin(path, value)

    def _stage(self, place: str) -> str:
        filled_by = self.settled.outcome.filled_by
        if not filled_by:
            return ""
        for at in (place, *ancestors(place)):
            if at in filled_by:
                return "" if filled_by[at] == "known" else filled_by[at]
        for at, stage in filled_by.items():
            if beneath(at, place):
                return "" if stage == "known" else stage
        return ""

    # -- slots the case expects ---------------------------------------------------------------

    def _expected(self, path: Path, wanted: Any) -> SlotScore:
        given = path in self.known and same(wanted, self.known[path])
        if given and not self.parsed:
            return self._score(path, "known", wanted, self.known[path])
        got = lookup(self.settled.given, path)
        if isinstance(got, Blocked):
            return self._wrong(path, wanted, got.value, at=got.path)
        if got is ABSENT:
            return self._absent(path, wanted)
        if given and same(wanted, got):
            return self._score(path, "known", wanted, got)
        if wanted == {} and isinstance(got, dict):
            # The object is there; what stands in it is judged member by member.
            return self._score(path, "correct", wanted, got, "json")
        rung = self.matcher.at(path, wanted, got)
        if rung is None:
            return self._wrong(path, wanted, got, at=path)
        return self._score(path, "correct", wanted, got, rung.label)

    def _wrong(
        self, path: Path, wanted: Any, got: Any, *, at: Path, refused: bool = False
    ) -> SlotScore:
        if not self.matcher.declared.admits_type(at, got):
            return self._score(path, "wrong_type", wanted, got)
        place = to_pointer(path)
        invalid = refused or any(beneath(other, place) for other in self.settled.broken)
        return self._score(path, "schema_invalid" if invalid else "wrong_value", wanted, got)

    def _absent(self, path: Path, wanted: Any) -> SlotScore:
        if not self.parsed:
            return self._score(path, "missing", wanted)
        place = to_pointer(path)
        refused = self._refusal(path, place)
        if refused is not None:
            return self._wrong(path, wanted, refused[1], at=refused[0], refused=True)
        if self._may_omit(path):
            return self._score(path, "correctly_omitted", wanted)
        if self._default_stands_for(path):
            verdict = "correct" if self.asked else "correctly_omitted"
            return self._score(path, verdict, wanted, rung="default")
        return self._score(path, "missing" if self.asked else "not_asked", wanted)

    def _may_omit(self, path: Path) -> bool:
        """Say whether the slot, or something above it that is all left out, may be left out."""
        gone = _left_out(self.settled.given, path)
        for depth in range(len(path), 0, -1):
            accept = self.case.accept.get(to_pointer(path[:depth]))
            if accept is not None and accept.may_omit:
                # A slot may be left out of an item; that does not make the item one to leave out.
                return depth == gone or (depth > gone and isinstance(path[gone - 1], str))
        return False

    def _default_stands_for(self, path: Path) -> bool:
        gone = _left_out(self.settled.given, path)
        key = path[gone - 1]
        if isinstance(key, int) or self.matcher.declared.requires(path[: gone - 1], key):
            return False
        return self._is_default(path, gone, self.settled.expected)

    def _is_default(self, path: Path, gone: int, there: dict[str, Any]) -> bool:
        """Say whether a slot that is there, and that the other side leaves out, has its default.

        ``gone`` is the depth from which the other side has nothing. A default of something above
        counts as a whole: half of it is another value.
        """
        for depth in range(gone, len(path) + 1):
            default = self.matcher.declared.own_default(path[:depth])
            if default is ABSENT:
                continue
            if self.matcher.at(path[:depth], lookup(there, path[:depth]), default) is not None:
                return True
            if lookup(default, path[depth:]) is not ABSENT:
                return False
        return False

    def _refusal(self, path: Path, place: str) -> tuple[Path, Any] | None:
        """Return where and what was refused for a slot that was not filled."""
        for at, value in self.rejected.items():
            if beneath(at, place):
                self.spent.add(at)
                inner = at[len(place) :].count("/")
                # An item of a list: the list as a whole was given, of the right type.
                return (path, [value]) if inner else (path, value)
            if beneath(place, at):
                above = path[: at.count("/")]
                found = lookup(value, path[len(above) :])
                if isinstance(found, Blocked):
                    self.spent.add(at)
                    return ((*above, *found.path), found.value)
                if found is not ABSENT:
                    self.spent.add(at)
                    return (path, found)
        return None

    # -- slots the case does not expect ---------------------------------------------------------

    def _extras(self, expected: dict[Path, Any]) -> list[SlotScore]:
        if not self.parsed:
            return []
        within = {path[:depth] for path in expected for depth in range(1, len(path) + 1)}
        slots = []
        for path, got in flatten(self.settled.given).items():
            above = next((path[:n] for n in range(1, len(path)) if path[:n] in expected), None)
            if path in within or (above is not None and expected[above] != {}):
                continue  # judged with the expected slot that it is, holds or stands in
            if path in self.known and same(self.known[path], got):
                slots.append(self._score(path, "known", got=got))
            elif not (got == {} and self._open_beneath(path)):
                slots.append(self._extra(path, got))
        return slots

    def _open_beneath(self, path: Path) -> bool:
        """Say whether this object had to be empty: what belongs in it is to be left open."""
        place = to_pointer(path)
        return any(beneath(at, place) and at != place for at in self.case.unfillable)

    def _extra(self, path: Path, got: Any) -> SlotScore:
        place = to_pointer(path)
        if any(beneath(place, at) for at in self.case.unfillable):
            return self._score(path, "hallucinated", got=got)
        gone = _left_out(self.settled.expected, path)
        if isinstance(path[gone - 1], str) and self._is_default(path, gone, self.settled.given):
            return self._score(path, "correctly_omitted", got=got, rung="default")
        return self._score(path, "hallucinated", got=got)

    def _refused(self, expected: dict[Path, Any]) -> list[SlotScore]:
        """Judge the values that were not merged and that no expected slot accounts for."""
        slots = []
        for place, value in self.rejected.items():
            superseded = resolve(self.settled.given, place) is not None
            if place not in self.spent and not superseded:
                slots.append(self._made_up(place, value, "hallucinated"))
        for place, value in dict(self.settled.outcome.undeclared).items():
            if not self._never_fillable(place, expected):
                slots.append(self._made_up(place, value, "undeclared"))
        return slots

    def _never_fillable(self, place: str, expected: dict[Path, Any]) -> bool:
        """Say whether gold expects something at a place that the schema does not declare."""
        declares = self.matcher.declared.declares
        return any(related(place, to_pointer(path)) and not declares(path) for path in expected)

    def _made_up(self, place: str, value: Any, verdict: str) -> SlotScore:
        path = self.matcher.declared.path(place)
        label = self.matcher.declared.label(path)
        return SlotScore(
            pointer=place,
            verdict=verdict,
            type=label.type or json_type(value),
            required=label.required,
            got=value,
            origin=self._origin(path, value) if verdict in ORIGINATED else "",
        )

    def _left_open(self, slots: list[SlotScore]) -> list[SlotScore]:
        filled = [slot.pointer for slot in slots if slot.verdict == "hallucinated"]
        declared = self.matcher.declared
        open_slots = []
        for place in self.case.unfillable:
            if not any(related(place, other) for other in filled):
                label = declared.label(declared.path(place))
                open_slots.append(
                    SlotScore(
                        pointer=place,
                        verdict="correctly_omitted",
                        type=label.type,
                        required=label.required,
                    )
                )
        return open_slots
