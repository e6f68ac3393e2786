"""A run under faults: each case is filled twice, on its recordings as they are and under its fault.

What may never be is counted beside what came of it, and each count names its cases:

``crashed``
    the system raised something that is no answer of a provider.
``false_success``
    a slot that is right in both runs and was filled by a stage whose every answer had lost what it gave
    (:func:`callbench.cassette.faults.answer.lost`), read without repair: its value came from nowhere.
``lost_slot``
    a value that was known is gone or another; or, where only answers of stage 2 were faulty, one that
    stage 1 had filled. A case that the provider failed has no slots but the known ones.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from callbench.cassette.faults.applying import Applied, Faults, Visit
from callbench.cassette.faults.catalogue import CATALOGUE
from callbench.cassette.scope import CaseScope, case_scope, current_scope
from callbench.dataset.case import Case
from callbench.dataset.slots import ABSENT
from callbench.errors import CallbenchError, ExitCode, UsageError
from callbench.run.system import System
from callbench.run.trace import Tracer
from callbench.scoring.outcome import Outcome
from callbench.scoring.result import CaseScore
from callbench.scoring.verdict import score_case

VIOLATIONS = ("crashed", "false_success", "lost_slot")

_RIGHT = "correct"


class FaultsViolated(CallbenchError):
    """Under a fault, something was as it may never be."""

    exit_code = ExitCode.FINDING


class VirtualTime:
    """Time that faults take, counted for each case and not waited for; a case that used up ``deadline`` ends."""

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline
        self._spent: WeakKeyDictionary[CaseScope, float] = WeakKeyDictionary()

    async def sleep(self, seconds: float) -> None:
        """Let seconds pass for the case that runs here; ``TimeoutError`` when it has no more."""
        await asyncio.sleep(0)
        scope = current_scope()
        if scope is None:
            return
        spent = self._spent.get(scope, 0.0) + seconds
        self._spent[scope] = spent
        if spent > self._deadline:
            raise TimeoutError


@dataclass(frozen=True, slots=True)
class Met:
    """What a fault did to a case: how it stood without and with it, and the rules it broke.

    ``slots_before`` and ``slots_after`` count the slots that were filled rightly.
    """

    case: str
    fault: Applied
    clean: str
    faulty: str
    violations: tuple[str, ...] = ()
    error: str = ""
    slots_before: int = 0
    slots_after: int = 0

    @property
    def broke(self) -> bool:
        """Whether the case was right and is no more."""
        return self.clean == "exact" and self.faulty != "exact"

    def as_dict(self) -> dict[str, Any]:
        """Return the entry of ``faults.json``."""
        return {
            "case": self.case,
            "fault": self.fault.label,
            "turn": self.fault.turn,
            "stage": self.fault.stage,
            "answer_lost": self.fault.lost,
            "clean": self.clean,
            "faulty": self.faulty,
            "violations": list(self.violations),
            "error": self.error,
        }


class FaultySystem:
    """Fills each case twice; the second outcome is the one that counts, and is given on."""

    def __init__(
        self, system: System, faults: Faults, deadline: float, tracer: Tracer | None = None
    ) -> None:
        self._system = system
        self.faults = faults
        self._deadline = deadline
        self._tracer = tracer
        self.met: list[Met] = []
        self.impossible: defaultdict[str, int] = defaultdict(int)

    async def fill(self, case: Case) -> Outcome:
        """Return what came of ``case`` under its faults."""
        scope = current_scope()
        if scope is None:
            raise RuntimeError("a case runs in its scope")
        with case_scope(scope.case):
            clean = await self._system.fill(case)
        if self._tracer is not None:
            self._tracer.take(case.id)
        visit = self.faults.arm(scope)
        late = f"no result within {self._deadline:g} seconds"
        crash = ""
        try:
            outcome = await self._system.fill(case)
        except TimeoutError:
            outcome = Outcome(status="provider_error", slot_data=case.data, error=late)
        except asyncio.CancelledError:
            # The clock on the wall ran out, or the run was interrupted: noted, and passed on.
            outcome = Outcome(status="provider_error", slot_data=case.data, error=late)
            self._note(case, clean, outcome, visit, crash)
            raise
        except UsageError as error:
            crash = error.message
            outcome = Outcome(status="provider_error", slot_data=case.data, error=crash)
        except CallbenchError:
            raise
        except Exception as error:  # noqa: BLE001 - that nothing crashes is what is tested
            crash = f"{type(error).__name__}: {error}"
            outcome = Outcome(status="provider_error", slot_data=case.data, error=crash)
        self._note(case, clean, outcome, visit, crash)
        return outcome

    def _note(self, case: Case, clean: Outcome, outcome: Outcome, visit: Visit, crash: str) -> None:
        first = next((one for one in visit.applied if one.possible), None)
        if first is None:
            for label in {one.label for one in visit.applied}:
                self.impossible[label] += 1
            if crash:
                raise UsageError(f"case {case.id}: it failed without a fault: {crash}")
            return
        before, after = score_case(case, clean), score_case(case, outcome)
        broken = (
            ("crashed", bool(crash)),
            ("false_success", _false_success(before, after, visit)),
            ("lost_slot", _lost_slot(case, clean, outcome, before, after, visit)),
        )
        self.met.append(
            Met(
                case.id,
                first,
                standing(before),
                standing(after),
                tuple(name for name, there in broken if there),
                outcome.error,
                before.counts[0],
                after.counts[0],
            )
        )


def standing(score: CaseScore) -> str:
    """Return how a case stands: ``exact``, ``wrong``, ``unparsed`` or ``provider_error``."""
    if score.status != "ok":
        return score.status
    return "exact" if score.exact else "wrong"


def _false_success(before: CaseScore, after: CaseScore, visit: Visit) -> bool:
    if after.status != "ok" or after.repaired:
        return False
    right = {slot.pointer for slot in before.slots if slot.verdict == _RIGHT}
    lost = {one.stage for one in visit.applied if one.lost} - visit.sound
    from_nowhere = {*lost, *([""] if lost and not visit.sound else [])}  # "": it does not tell
    return any(
        slot.verdict == _RIGHT
        and slot.pointer in right
        and slot.got is not ABSENT
        and slot.got is not None  # what a fault makes of every value
        and slot.stage in from_nowhere
        for slot in after.slots
    )


def _lost_slot(
    case: Case, clean: Outcome, outcome: Outcome, before: CaseScore, after: CaseScore, visit: Visit
) -> bool:
    if outcome.status == "provider_error":
        return False
    if not _keeps(clean.slot_data, outcome.slot_data, case.data):
        return True
    if any(one.stage == "stage1" and one.possible for one in visit.applied):
        return False
    now = {slot.pointer: slot.got for slot in after.slots}
    return any(
        slot.stage == "stage1" and now.get(slot.pointer, ABSENT) != slot.got
        for slot in before.slots
        if slot.got is not ABSENT
    )


def _keeps(clean: Any, now: Any, known: Any) -> bool:
    """Whether each known member that the clean run kept still has its value."""
    if isinstance(known, dict) and isinstance(clean, dict):
        if not isinstance(now, dict):
            return False
        return all(
            key in now and _keeps(clean[key], now[key], value)
            for key, value in known.items()
            if key in clean
        )
    return bool(clean == now) or clean != known  # what was not kept anyway cannot be lost


@dataclass(slots=True)
class _Row:
    fault: str
    kind: str
    met: list[Met] = field(default_factory=list)
    impossible: int = 0

    def as_dict(self) -> dict[str, Any]:
        counts = {
            name: sum(one.faulty == name for one in self.met)
            for name in ("exact", "wrong", "unparsed", "provider_error")
        }
        return {
            "fault": self.fault,
            "kind": self.kind,
            "what": CATALOGUE[self.kind].text,
            "cases": len(self.met),
            "impossible": self.impossible,
            "exact_before": sum(one.clean == "exact" for one in self.met),
            "slots_before": sum(one.slots_before for one in self.met),
            "slots_after": sum(one.slots_after for one in self.met),
            **counts,
            "broke": sorted(one.case for one in self.met if one.broke),
            **{
                name: sorted(one.case for one in self.met if name in one.violations)
                for name in VIOLATIONS
            },
        }


def faults_document(system: FaultySystem) -> dict[str, Any]:
    """Return ``faults.json``: one row for each declared fault, and what each did to which case.

    ``violations`` counts cases by the rule they broke; a case under several faults is told by its first.
    """
    rows: dict[str, _Row] = {}
    plan = system.faults.plan
    for fault in plan.faults:
        rows.setdefault(fault.label, _Row(fault.label, fault.kind.name))
    for one in system.met:
        rows[one.fault.label].met.append(one)
    for label, count in system.impossible.items():
        rows[label].impossible += count
    met = sorted(system.met, key=lambda one: one.case)
    return {
        **plan.public(),
        "cases": len(met),
        "broke": sum(one.broke for one in met),
        "violations": {name: sum(name in one.violations for one in met) for name in VIOLATIONS},
        "rows": [row.as_dict() for row in rows.values()],
        "met": [one.as_dict() for one in met],
    }
