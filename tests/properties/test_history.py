"""Paths into earlier steps, against a list of all paths there are."""

from __future__ import annotations

import logging
import re
from typing import Any
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from callbench.fuzz.strategies import histories, json_values, paths, records, right_paths, spellings
from corecall.core import CoreCall
from corecall.types import ExecutorHistory

from .support import tries

extract = CoreCall._extract_history_variables
_UUID = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
UPPER = "123E4567-E89B-12D3-A456-426614174000"


def filed(history: list[dict[str, Any]]) -> dict[Any, ExecutorHistory]:
    """File records under their ids, as the executor does: the last of a step counts."""
    made = [ExecutorHistory(**record) for record in history]
    return {record.stepId: record for record in made}


def folded(step: object) -> str:
    """Return a step id in the one spelling that all its spellings share."""
    text = str(step)
    return text.lower() if _UUID.fullmatch(text.lower()) else text


def every_path(past: dict[Any, ExecutorHistory]) -> dict[str, Any]:
    """List every path there is into ``past``, the step's id in its folded spelling."""
    found: dict[str, Any] = {}

    def note(path: str, value: Any) -> None:
        found[path] = value
        if isinstance(value, dict):
            inside = list(value.items())
        else:
            items = value if isinstance(value, list) else []
            inside = [(str(place), item) for place, item in enumerate(items)]
        for key, child in inside:
            if "/" not in key:
                note(f"{path}/{key}", child)

    for step, record in past.items():
        if "/" not in str(step):
            note(folded(step), record.outputData)
    found.pop("", None)
    return found


def looked_up(path: Any, past: dict[Any, ExecutorHistory]) -> Any:
    """Look ``path`` up in the list of all paths."""
    if not isinstance(path, str):
        return None
    step, slash, rest = path.partition("/")
    return every_path(past).get(folded(step) + slash + rest)


@pytest.mark.rule(
    "history.path.1",
    "history.path.6",
    "history.path.7",
    "history.path.8",
    "history.path.10",
    "history.path.11",
    "history.path.14",
    "history.path.15",
    "history.path.16",
    "history.step.1",
)
@tries(120)
@given(st.data())
def test_any_path_gives_what_the_list_of_all_paths_has(data: st.DataObject) -> None:
    history = data.draw(histories())
    past = filed(history)
    path = data.draw(paths(history))
    assert extract(path, past) is looked_up(path, past)


@pytest.mark.rule("history.path.2", "history.path.3", "history.path.4", "history.path.5")
@tries(80)
@given(st.data())
def test_right_paths_are_found_falsy_values_too(data: st.DataObject) -> None:
    past = filed(data.draw(histories()))
    path = data.draw(right_paths([dict(record) for record in past.values()]) | st.none())
    if path is not None:
        step, slash, rest = path.partition("/")
        assert extract(path, past) is every_path(past)[folded(step) + slash + rest]


@pytest.mark.rule("history.path.13")
@tries(80)
@given(path=st.one_of(json_values(), st.text(), st.binary()), history=json_values())
@example(path=b"a", history={})
@example(path="a/b", history={"a": {"outputData": {"b": 1}}})
def test_nothing_raises(path: Any, history: Any) -> None:
    """Neither path nor history need be of the right type."""
    assert extract(path, history) is None


@pytest.mark.rule("history.step.2", "history.step.4")
@tries(80)
@given(data=st.data(), identity=st.uuids(), record=records())
@example(data=None, identity=UUID(UPPER), record={"stepId": "", "outputData": {"a": 0}})
def test_every_spelling_of_a_uuid_is_the_same_step(
    data: st.DataObject | None, identity: UUID, record: dict[str, Any]
) -> None:
    if data is None:
        filing, asking = UPPER, UPPER.lower()
    else:
        filing, asking = str(data.draw(spellings(identity))), data.draw(spellings(identity))
    step = ExecutorHistory(**{**record, "stepId": filing})
    for past in ({step.stepId: step}, {filing: step}, {identity: step}):
        assert extract(str(asking), past) is step.outputData


@pytest.mark.rule("history.step.1", "history.step.3")
@tries(80)
@given(st.data())
def test_other_steps_change_nothing(data: st.DataObject) -> None:
    history = data.draw(histories())
    path = data.draw(paths(history))
    past = filed(history)
    alone = extract(path, past)
    asked = folded(path.partition("/")[0]) if isinstance(path, str) else None
    more = filed(data.draw(histories()))
    more = {step: record for step, record in more.items() if folded(step) != asked}
    assert extract(path, {**more, **past}) is alone
    assert extract(path, {**past, **{s: r for s, r in more.items() if s not in past}}) is alone


@pytest.mark.rule("history.path.12")
@tries(80)
@given(st.data())
def test_none_is_logged_at_error_and_a_value_is_not(data: st.DataObject) -> None:
    history = data.draw(histories())
    past = filed(history)
    path = data.draw(paths(history))
    lines: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = lines.append  # type: ignore[method-assign]
    log = logging.getLogger("corecall.history")
    log.addHandler(handler)
    try:
        extract(path, past)
    finally:
        log.removeHandler(handler)
    step, slash, rest = path.partition("/") if isinstance(path, str) else ("", "", "")
    found = isinstance(path, str) and folded(step) + slash + rest in every_path(past)
    assert [line.levelno for line in lines] == ([] if found else [logging.ERROR])
