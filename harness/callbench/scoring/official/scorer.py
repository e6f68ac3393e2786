"""What an official scorer is: a named, versioned, pure rule over a case and a prediction.

The prediction is what the model said: ``slot_data`` with the values put back that were not merged
because they broke their slot's schema or were not declared. ``None`` is a reply that could not be
read. A provider error is no prediction; it stands apart and is in no metric's denominator.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from callbench.dataset.case import Case
from callbench.dataset.slots import ABSENT, find
from callbench.dataset.tooling import tooling
from callbench.scoring.outcome import Outcome
from callbench.scoring.statistics.intervals import Rate
from callbench.scoring.statistics.repeats import mean_by_cluster
from corecall import pointer
from corecall.slot.processor import DataError

Arguments = dict[str, Any]
Result = dict[str, Any]
"""What a scorer says of one case: JSON, without the id."""

Judged = Sequence[tuple[str, Result]]
"""Results, each with what its case hangs together with (the dialogue; ``""`` for nothing)."""


@dataclass(frozen=True, slots=True)
class Scorer:
    """One official scorer. ``version`` is raised when a result may come out differently.

    ``summary`` is one line; ``source`` says where the rule is published. ``judge`` gives the result
    of a case, ``total`` the metrics over results, the headline first.
    """

    name: str
    version: int
    summary: str
    source: str
    judge: Callable[[Case, Arguments | None], Result]
    total: Callable[[Judged], Mapping[str, Rate]]

    @property
    def label(self) -> str:
        """``name@version``, as results are cited."""
        return f"{self.name}@{self.version}"


def said(case: Case, outcome: Outcome) -> Arguments | None:
    """Return the arguments that the model gave, ``None`` when its reply could not be read.

    A refused value goes back to its pointer unless a later one took its place there; parents are
    made as the schema says. Where it cannot go (through a scalar) the pointer itself is its key,
    so that nothing said is lost.
    """
    if outcome.status != "ok":
        return None
    given = outcome.slot_data if outcome.asked or outcome.slot_data else case.data
    arguments = copy.deepcopy(given)
    refused = {place: value for place, value, _ in outcome.rejected} | dict(outcome.undeclared)
    for place, value in refused.items():
        if place == "":  # the whole answer was refused: its members are what was said
            arguments = {**value, **arguments} if isinstance(value, dict) else arguments
        elif find(arguments, place) is ABSENT:
            arguments = _put_back(case, arguments, place, value)
    return arguments


def _put_back(case: Case, arguments: Arguments, place: str, value: Any) -> Arguments:
    try:
        whole = tooling(case.schema).processor.convert_json({place: value}, arguments)
    except (DataError, ValueError):  # nested too deep to be merged
        whole = arguments
    return whole if find(whole, place) is not ABSENT else {**arguments, place: value}


def share(key: str) -> Callable[[Judged], Rate]:
    """Return the total that is the mean of a number from 0 to 1 over the results that have it."""

    def total(judged: Judged) -> Rate:
        told = ((result[key], cluster) for cluster, result in judged)
        return mean_by_cluster(one for one in told if one[0] is not None)

    return total


def text_of(value: Any) -> str:
    """Return a value as the text that sets of string values would write it as."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value)
    return json.dumps(value, ensure_ascii=False)


def accepted(case: Case, name: str) -> list[Any]:
    """Return the values that a top-level slot may have, the expected one first."""
    entry = case.accept.get(pointer.join([name]))
    expected = [case.expected[name]] if name in case.expected else []
    return [*expected, *(entry.values if entry else ())]
