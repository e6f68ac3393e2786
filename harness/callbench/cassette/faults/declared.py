"""The file that declares faults, TOML or JSON; the plan made of it.

    seed = 7
    [[fault]]
    name = "cut-in-character"   # a kind of the catalogue
    rate = 0.2                  # of the turns that the rest selects; all of them when left out
    cases = ["hotel-1"]         # these cases
    turn = 1                    # the n-th request of a case, from 1
    stage = "stage1"            # what is asked streaming; stage2: the rest
    times = 2                   # failing attempts of a turn, or "always" (status and reset)

The other members are parameters of the kind. The first fault that selects a turn is laid over its answer.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from callbench.cassette.faults.catalogue import CATALOGUE
from callbench.cassette.faults.kind import Draw, Kind
from callbench.cassette.interaction import REPEAT_MARK
from callbench.errors import UsageError

Stage = Literal["stage1", "stage2"]
STAGES: tuple[Stage, ...] = ("stage1", "stage2")

_SELECTING = ("name", "rate", "cases", "turn", "stage", "times")


@dataclass(frozen=True, slots=True)
class Fault:
    """One declared fault. ``times`` counts the attempts of a turn that fail; ``None``: all."""

    kind: Kind
    params: Mapping[str, Any] = field(default_factory=dict)
    rate: float = 1.0
    cases: frozenset[str] | None = None
    turn: int | None = None
    stage: Stage | None = None
    times: int | None = 1

    @property
    def label(self) -> str:
        """Its name in reports: that of the kind, and what was given beside it."""
        words = [self.kind.name]
        for name, value in self.params.items():
            if value != self.kind.params[name].default:
                words.append(f"{name}={_shown(value)}")
        if self.kind.attempts and self.times != 1:
            words.append(f"times={_shown(self.times or 'always')}")
        return " ".join(words)

    def selects(self, seed: int, case: str, turn: int, stage: Stage) -> bool:
        """Whether it is for this turn: a matter of seed, name, case and turn, of nothing else."""
        if self.cases is not None and case.partition(REPEAT_MARK)[0] not in self.cases:
            return False
        if self.turn not in (None, turn) or self.stage not in (None, stage):
            return False
        return self.rate >= 1 or self.draw(seed, case, turn).unit("rate") < self.rate

    def draw(self, seed: int, case: str, turn: int) -> Draw:
        """What decides by chance in this turn."""
        return Draw(seed, self.label, case, turn)


@dataclass(frozen=True, slots=True)
class Plan:
    """The faults of a run, in the order they are tried. ``name`` and ``sha256`` are those of the file."""

    faults: tuple[Fault, ...]
    seed: int = 0
    name: str = ""
    sha256: str = ""

    def select(self, case: str, turn: int, stage: Stage) -> Fault | None:
        """The fault for a turn, if any."""
        for fault in self.faults:
            if fault.selects(self.seed, case, turn, stage):
                return fault
        return None

    def public(self) -> dict[str, Any]:
        """What ``run.json`` says of it."""
        return {"file": self.name, "sha256": self.sha256, "seed": self.seed}


def load_plan(path: str | Path, cases: Iterable[str] | None = None) -> Plan:
    """Read a file of faults. Raises ``UsageError`` naming file, fault and member.

    ``cases`` are the ids there are; a fault for another one is an error.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"--faults {path}: {error.strerror}.",
            remedy="Name a TOML or JSON file of faults, or all for every kind by rotation.",
        ) from error
    try:
        text = data.decode()
        value = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        kind = "JSON" if path.suffix.lower() == ".json" else "TOML"
        raise UsageError(f"{path} is not {kind}: {error}.") from error
    plan = _plan(value, path, hashlib.sha256(data).hexdigest())
    if cases is not None:
        _known(plan, path, set(cases))
    return plan


def _known(plan: Plan, path: Path, cases: set[str]) -> None:
    for number, one in enumerate(plan.faults, start=1):
        for name in sorted((one.cases or frozenset()) - cases):
            near = get_close_matches(name, cases, n=1)
            raise UsageError(
                f"{path}: fault {number} ({one.kind.name}): there is no case {json.dumps(name)}.",
                remedy=f"Did you mean {near[0]}?" if near else "Name ids of the dataset's cases.",
            )


def _plan(value: Any, path: Path, sha256: str) -> Plan:
    if not isinstance(value, dict):
        raise UsageError(f"{path} does not hold an object.")
    for member in value:
        if member not in ("seed", "fault"):
            raise UsageError(
                f"{path}: '{member}' is no member.", remedy="There are seed and fault, a list."
            )
    seed = value.get("seed", 0)
    if type(seed) is not int:
        raise UsageError(f"{path}: 'seed' must be an integer.")
    faults = value.get("fault")
    if not isinstance(faults, list) or not faults:
        raise UsageError(f"{path} declares no fault.", remedy="Begin each with [[fault]].")
    made = tuple(fault(one, f"{path}: fault {n}") for n, one in enumerate(faults, start=1))
    return Plan(made, seed, path.name, sha256)


def fault(value: Any, place: str = "fault") -> Fault:
    """Return the fault that an object declares; ``UsageError`` beginning with ``place`` if it is none."""
    if not isinstance(value, dict):
        raise UsageError(f"{place} is no table.")
    name = value.get("name")
    kind = CATALOGUE.get(name) if isinstance(name, str) else None
    if kind is None:
        near = get_close_matches(str(name), CATALOGUE, n=1)
        raise UsageError(
            f"{place}: there is no fault {json.dumps(name)}.",
            remedy=(f"Did you mean {near[0]}? " if near else "")
            + f"Faults: {', '.join(CATALOGUE)}.",
        )
    for rule, broken in _broken(value, kind):
        if broken:
            raise UsageError(f"{place} ({kind.name}): {rule}.")
    cases = value.get("cases")
    times = value.get("times", 1)
    return Fault(
        kind,
        {name: value.get(name, param.default) for name, param in kind.params.items()},
        rate=float(value.get("rate", 1.0)),
        cases=None if cases is None else frozenset(cases),
        turn=value.get("turn"),
        stage=value.get("stage"),
        times=None if times == "always" else times,
    )


def _broken(value: Mapping[str, Any], kind: Kind) -> Sequence[tuple[str, bool]]:
    """The rules of a fault's members, each with whether it is broken."""
    rules: list[tuple[str, bool]] = []
    known = (*_SELECTING, *kind.params)
    for member in value:
        told = f"'{member}' is no member; there are {', '.join(known)}"
        rules.append((told, member not in known))
    rate, cases, turn = value.get("rate", 1.0), value.get("cases", []), value.get("turn", 1)
    times = value.get("times", 1)
    names = isinstance(cases, list) and all(isinstance(one, str) for one in cases)
    names = names and (bool(cases) or "cases" not in value)
    rules += [
        ("'rate' must be a number from 0 to 1", not (_number(rate) and 0 <= rate <= 1)),
        ("'cases' must be a list of ids", not names),
        ("'turn' must be an integer from 1", type(turn) is not int or turn < 1),
        ("'stage' must be stage1 or stage2", value.get("stage", "stage1") not in STAGES),
        (
            "'times' must be an integer from 1, or \"always\"",
            times != "always" and (type(times) is not int or times < 1),
        ),
        ("'times' is for status and reset", "times" in value and not kind.attempts),
    ]
    for name, param in kind.params.items():
        if name in value:
            told = param.problem(value[name])
            rules.append((f"'{name}' {told}", bool(told)))
    return rules


def _number(value: Any) -> bool:
    return type(value) in (int, float)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)
