"""Which answer gets which fault: decided by seed, fault, case and turn, so that no order of work matters."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from callbench.cassette.events import is_event_stream
from callbench.cassette.faults.answer import read, send
from callbench.cassette.faults.declared import Fault, Plan, Stage
from callbench.cassette.faults.kind import Faulted, Target
from callbench.cassette.interaction import Interaction, Request
from callbench.cassette.scope import CaseScope
from callbench.cassette.store import Cassette


@dataclass(frozen=True, slots=True)
class Applied:
    """A fault that was laid over an answer of a case, or could not be (``possible`` is false)."""

    label: str
    kind: str
    turn: int
    stage: Stage
    lost: bool
    possible: bool = True


@dataclass(slots=True)
class Visit:
    """What a case met so far.

    ``sound`` are the stages that were given an answer which lost nothing. ``rewritten``: an answer was
    changed, so what the case asks from then on may be recorded nowhere.
    """

    applied: list[Applied] = field(default_factory=list)
    sound: set[Stage] = field(default_factory=set)
    rewritten: Fault | None = None
    turns: dict[tuple[str, int], int] = field(default_factory=dict)
    attempts: Counter[int] = field(default_factory=Counter)
    last: Interaction | None = None
    trials: Counter[Stage] = field(default_factory=Counter)


class Faults:
    """Lays the faults of a plan over the answers of cases. Only scopes that were armed meet any."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._visits: WeakKeyDictionary[CaseScope, Visit] = WeakKeyDictionary()

    def arm(self, scope: CaseScope) -> Visit:
        """From now on the answers of this scope may be faulty."""
        return self._visits.setdefault(scope, Visit())

    def answer(self, interaction: Interaction, scope: CaseScope, ordinal: int) -> Faulted | None:
        """The recorded answer with its fault, ``None`` when it has none.

        An answer that is ``Faulted.refused``, or whose status asks to try again, leaves the turn open: the
        next request of the same key and ordinal is another attempt at it.
        """
        visit = self._visits.get(scope)
        if visit is None:
            return None
        turn = visit.turns.setdefault((interaction.key, ordinal), len(visit.turns) + 1)
        stage = stage_of(interaction.request)
        visit.attempts[turn] += 1
        if visit.attempts[turn] == 1:
            visit.trials[stage] += 1
        visit.last = interaction
        fault = self.plan.select(scope.case, turn, stage)
        if fault is None or _over(fault, visit.attempts[turn]):
            visit.sound.add(stage)
            return None
        return self._laid(fault, interaction, scope, visit, turn)

    def follow_up(
        self, request: Request, scope: CaseScope, cassette: Cassette
    ) -> tuple[Interaction, Faulted | None] | None:
        """The answer to a request that no recording answers since an earlier answer was changed.

        It is what was recorded of the case for this stage, trial by trial and the last one again; where there
        is nothing, the case's last answer again, with the same fault. ``None``: no answer was changed.
        """
        visit = self._visits.get(scope)
        if visit is None or visit.rewritten is None or visit.last is None:
            return None
        stage = stage_of(request)
        trial = visit.trials[stage]
        visit.trials[stage] += 1
        recorded = [one for one in cassette.of_case(scope.case) if stage_of(one.request) == stage]
        turn = len(visit.turns) + trial + 1
        if recorded:
            found = recorded[min(trial, len(recorded) - 1)]
            fault = self.plan.select(scope.case, turn, stage)
            if fault is None or fault.kind.attempts:
                visit.sound.add(stage)
                return found, None
            return found, self._laid(fault, found, scope, visit, turn)
        found = _as_asked(visit.last, request)
        return found, self._laid(visit.rewritten, found, scope, visit, turn)

    def _laid(
        self, fault: Fault, interaction: Interaction, scope: CaseScope, visit: Visit, turn: int
    ) -> Faulted | None:
        response = interaction.response
        target = Target(interaction, is_event_stream(response.headers), read(response))
        draw = fault.draw(self.plan.seed, scope.case, turn)
        faulted = fault.kind.apply(target, fault.params, draw)
        stage = stage_of(interaction.request)
        lost = faulted is not None and faulted.lost
        visit.applied.append(
            Applied(fault.label, fault.kind.name, turn, stage, lost, faulted is not None)
        )
        if not lost:
            visit.sound.add(stage)
        if faulted is not None and fault.kind.rewrites:
            visit.rewritten = fault
        return faulted


def _over(fault: Fault, attempt: int) -> bool:
    return fault.kind.attempts and fault.times is not None and attempt > fault.times


def stage_of(request: Request) -> Stage:
    """Stage 1 is asked streaming, stage 2 is not."""
    body = request.json()
    return "stage1" if isinstance(body, dict) and body.get("stream") is True else "stage2"


def _as_asked(interaction: Interaction, request: Request) -> Interaction:
    """The answer of a recording for another request, streamed or not as that one asks."""
    streamed = stage_of(request) == "stage1"
    answer = read(interaction.response)
    response = interaction.response
    if answer is not None and is_event_stream(response.headers) != streamed:
        response = send(answer, response, streamed=streamed)
    return Interaction(
        key=interaction.key,
        case=interaction.case,
        ordinal=interaction.ordinal,
        request=request,
        response=response,
        usage=interaction.usage,
    )
