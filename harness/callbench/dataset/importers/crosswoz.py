"""CrossWOZ: Chinese dialogues of a user and a wizard who looks things up; one case for every look-up.

``sys_state_init`` of a system turn is the first query that the wizard made in that turn, which "records
user constraints faithfully", ``sys_state`` the last one, after he relaxed constraints that found
nothing. Both carry on from turn to turn. So a call is a domain whose constraints in ``sys_state_init``
are not empty and differ from those in ``sys_state`` of the turn before; its gold are all constraints of
the domain, old and new. A domain whose ``sys_state`` differs from its ``sys_state_init`` is a further
query, made of the wizard's own accord: excluded as ``relaxed-by-system``, and a step like all others.

The tool is the domain, its slots those of the state (all but ``selectedResults``), optional strings.
A value that names several things has spaces between them, as in the set.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from callbench.dataset.importers.base import Draft, Excluded, Item, Source
from callbench.dataset.importers.dialogue import (
    NO_QUESTION,
    NO_QUESTION_WHY,
    Steps,
    Turn,
    asked,
    documents,
    without_empty,
)
from callbench.dataset.importers.node import Node, each
from callbench.errors import DatasetError

_WANTED = "a file of CrossWOZ: an object of dialogues by task id, each with messages"
_RESULTS = "selectedResults"


class CrossWoz:
    """Reads CrossWOZ."""

    name = "crosswoz"
    summary = "CrossWOZ: JSON or zip; one case per database query of the user"
    licence = "Apache-2.0"

    def read(self, source: Source) -> Iterator[Item]:
        """Yield the items, dialogue by dialogue."""
        members = documents(source, "_db")
        if not members:
            raise DatasetError(
                f"{source.path}: no *.json in it.", remedy=f"This must be {_WANTED}."
            )
        for member in members:
            found = Node(member.json(), member.full, _WANTED).object()
            yield from each(member, found.items(), _WANTED, _dialogue)


def _dialogue(origin: str, dialogue: Node) -> Iterator[Item]:
    task_id = origin.rpartition("#")[2]
    turns: list[Turn] = []
    steps = Steps()
    before: dict[str, dict[str, str]] = {}
    quiet = True
    for index, message in enumerate(dialogue["messages"].items()):
        role = message["role"].text()
        if role not in ("usr", "sys"):
            raise message.fail(f'the role "{role}" is neither usr nor sys')
        if role == "sys":
            first, last = _state(message["sys_state_init"]), _state(message["sys_state"])
            number = 0
            for domain, (slots, constraints) in first.items():
                if constraints and constraints != before.get(domain, {}):
                    number += 1
                    case_id = f"{task_id}/{index}/{number}"
                    yield _case(origin, case_id, task_id, turns, steps, domain, slots, constraints)
                    steps.add(domain, _found(message["sys_state_init"][domain]))
                relaxed = last.get(domain, ((), {}))[1]
                if relaxed and relaxed != constraints:
                    number += 1
                    yield Excluded(
                        origin,
                        "relaxed-by-system",
                        f"Message {index}: the system changed its query of {domain} by itself.",
                    )
                    steps.add(domain, _found(message["sys_state"][domain]))
            quiet = quiet and not number
            before = {domain: constraints for domain, (_, constraints) in last.items()}
        turns.append(Turn("user" if role == "usr" else "assistant", message["content"].text()))
    if quiet:
        yield Excluded(origin, "no-call", f"Dialogue {task_id} has no query.")


def _state(state: Node) -> dict[str, tuple[tuple[str, ...], dict[str, str]]]:
    """Return for every domain its slots and the constraints that are not empty."""
    found = {}
    for domain, query in state.entries():
        values = {slot: value.text() for slot, value in query.entries() if slot != _RESULTS}
        found[domain] = (tuple(values), {slot: value for slot, value in values.items() if value})
    return found


def _found(query: Node) -> dict[str, Any]:
    results = query.get(_RESULTS)
    return {_RESULTS: results.texts() if results else []}


def _case(
    origin: str,
    case_id: str,
    task_id: str,
    turns: list[Turn],
    steps: Steps,
    domain: str,
    slots: tuple[str, ...],
    constraints: dict[str, str],
) -> Item:
    split = asked(turns)
    if split is None:
        return Excluded(origin, NO_QUESTION, NO_QUESTION_WHY)
    conversation, question = split
    record = {
        "id": case_id,
        "lang": "zh",
        "tool": {"name": domain, "description": f"按用户的全部条件查询{domain}"},
        "schema": {"type": "object", "properties": {slot: {"type": "string"} for slot in slots}},
        "question": question,
        "conversation": conversation,
        "steps": steps.now(),
        "expected": constraints,
        "tags": ["crosswoz", domain],
        "cluster": task_id,
    }
    return Draft(origin, without_empty(record))
