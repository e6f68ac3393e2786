"""The built-in plan, ``--faults all``: every kind over the cases of a dataset, by rotation."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from callbench.cassette.faults.catalogue import CATALOGUE
from callbench.cassette.faults.declared import Fault, Plan, Stage, fault
from callbench.cassette.store import Cassette

ALL = "all"

_VARIANTS: dict[str, list[dict[str, Any]]] = {
    "status": [
        {"code": 429, "retry_after": 1},
        {"code": 500},
        {"code": 503, "times": "always"},
        {"code": 400},
    ],
    "reset": [{}, {"times": "always"}, {"at": "middle"}],
    "slow-first-byte": [{"seconds": 5}],
    "stall": [{}, {"seconds": 5}],
    "cut-in-event": [{}, {"clean": False}],
    "malformed-json": [{"how": how} for how in ("brace", "comma", "quote")],
    "two-tool-calls": [{}, {"order": "other-first"}],
}
"""Kinds that come in several forms; the others come as they are."""

_FAULTS = [{"name": name, **params} for name in CATALOGUE for params in _VARIANTS.get(name, [{}])]


def matrix(cases: Iterable[tuple[str, Stage]], seed: int = 0) -> Plan:
    """Return the plan that gives each case one fault, in turn; ``seed`` says where the rotation begins.

    ``cases`` are ids with the stage whose answers are to fail. Each stage has a rotation of its own.
    """
    seen: dict[Stage, int] = {}
    chosen: dict[tuple[int, Stage], list[str]] = {}
    for case, stage in cases:
        place = seen.get(stage, 0)
        seen[stage] = place + 1
        chosen.setdefault(((place + seed) % len(_FAULTS), stage), []).append(case)
    made: list[Fault] = [
        fault({**_FAULTS[number], "cases": ids, "stage": stage})
        for (number, stage), ids in sorted(chosen.items())
    ]
    written = json.dumps(_FAULTS, sort_keys=True).encode()
    return Plan(tuple(made), seed, ALL, hashlib.sha256(written).hexdigest())


def stages_of(cassette: Cassette, cases: Iterable[str]) -> list[tuple[str, Stage]]:
    """Give each case the stage where it is to fail: the last that was recorded of it.

    So the few cases that reach stage 2 show what becomes of the slots of stage 1.
    """
    found: list[tuple[str, Stage]] = []
    for case in cases:
        bodies = [one.request.json() for one in cassette.of_case(case)]
        asked = [isinstance(body, dict) and body.get("stream") is True for body in bodies]
        found.append((case, "stage2" if asked and not all(asked) else "stage1"))
    return found
