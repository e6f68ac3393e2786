"""MultiWOZ in its own layout (also ConvLab's, in Chinese): ``{id: {"log": [{"text", "metadata"}]}}``.

The state of the dialogue stands in the ``metadata`` of each system turn: for every domain the
constraints of the search (``semi``) and of the booking (``book``). A call is a domain whose constraints
are not empty and differ from those in the system turn before; its gold is the whole state of the
domain, old and new. The tool is the domain; its slots are those of the state, optional strings, those
of the booking with ``book `` or ``预订`` before their name. ``book.booked`` is what a booking gave and
so the result of the step; where nothing was booked, a step shows what was asked for.

``""``, ``none``, ``not mentioned`` and ``未提及`` mean that there is no constraint. ``dontcare`` and
``不在意`` are values, and the schema says so. A list of values, as later versions have it, holds the
variants of one value. The ontology of the set is not used as an enum: its lists
are what annotators wrote, of which some are alternatives, misspelt, or of another slot.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
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
from corecall import pointer

_WANTED = "a dialogue file of MultiWOZ: an object of dialogues by id, each with a log"
_BESIDE = ("ontology", "schema", "_acts", "_descriptions", "_db")
_NOTHING = ("", "none", "not mentioned", "未提及")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_WORDS = {
    "en": ("book ", '"dontcare" when the user has no preference', "Look up or book: {}"),
    "zh": ("预订", "用户没有要求时填“不在意”", "查询或预订{}"),
}


class MultiWoz:
    """Reads MultiWOZ."""

    name = "multiwoz"
    summary = "MultiWOZ, original or ConvLab layout, English or Chinese; one case per new state"
    licence = "MIT"

    def read(self, source: Source) -> Iterator[Item]:
        """Yield the items, dialogue by dialogue."""
        members = documents(source, *_BESIDE)
        if not members:
            raise DatasetError(
                f"{source.path}: no dialogue file in it.", remedy=f"This must be {_WANTED}."
            )
        for member in members:
            found = Node(member.json(), member.full, _WANTED).object()
            yield from each(member, found.items(), _WANTED, _dialogue)


def _dialogue(origin: str, dialogue: Node) -> Iterator[Item]:
    name = origin.rpartition("#")[2]
    turns: list[Turn] = []
    steps = Steps()
    before: dict[str, dict[str, Any]] = {}
    quiet = True
    for index, turn in enumerate(dialogue["log"].items()):
        metadata = turn["metadata"]
        number = 0
        for domain, state in metadata.entries():
            now = _state(domain, state)
            if now.constraints and now.constraints != before.get(domain, {}):
                number += 1
                quiet = False
                case_id = f"{name}/{index}/{number}"
                yield _case(origin, case_id, name, turns, steps, domain, now)
                steps.add(domain, now.output())
            before[domain] = now.constraints
        role = "assistant" if metadata.object() else "user"
        turns.append(Turn(role, turn["text"].text()))
    if quiet:
        yield Excluded(origin, "no-call", f"Dialogue {name} has no constraint.")


def _lang(domain: str) -> str:
    return "zh" if _HAN.search(domain) else "en"


@dataclass(slots=True)
class _State:
    """A domain in one turn: its slots with what is said of them, what is set, what is booked."""

    slots: dict[str, dict[str, Any]] = field(default_factory=dict)
    constraints: dict[str, str] = field(default_factory=dict)
    variants: dict[str, list[str]] = field(default_factory=dict)
    booked: list[Any] = field(default_factory=list)

    def output(self) -> dict[str, Any]:
        """Return what is known of the call's result."""
        return {"booked": self.booked} if self.booked else {"arguments": self.constraints}


def _state(domain: str, state: Node) -> _State:
    mark, no_preference, _ = _WORDS[_lang(domain)]
    found = _State()
    search, booking = state.get("semi"), state.get("book")
    for slot, value in search.entries() if search else ():
        found.slots[slot] = {"type": "string", "description": no_preference}
        _set(found, slot, value)
    for slot, value in booking.entries() if booking else ():
        if isinstance(value.value, bool):
            continue  # whether a booking failed
        if slot == "booked":
            found.booked = [item.value for item in value.items()]
            continue
        found.slots[f"{mark}{slot}"] = {"type": "string"}
        _set(found, f"{mark}{slot}", value)
    return found


def _set(state: _State, slot: str, value: Node) -> None:
    values = value.texts() if isinstance(value.value, list) else [value.text()]
    given = [text for text in values if text.strip().lower() not in _NOTHING]
    if given:
        state.constraints[slot] = given[0]
        if len(given) > 1:
            state.variants[slot] = given[1:]


def _case(
    origin: str,
    case_id: str,
    name: str,
    turns: list[Turn],
    steps: Steps,
    domain: str,
    state: _State,
) -> Item:
    split = asked(turns)
    if split is None:
        return Excluded(origin, NO_QUESTION, NO_QUESTION_WHY)
    conversation, question = split
    lang = _lang(domain)
    record = {
        "id": case_id,
        "lang": lang,
        "tool": {"name": domain, "description": _WORDS[lang][2].format(domain)},
        "schema": {"type": "object", "properties": state.slots},
        "question": question,
        "conversation": conversation,
        "steps": steps.now(),
        "expected": state.constraints,
        "accept": {
            pointer.join([slot]): {"values": values} for slot, values in state.variants.items()
        },
        "tags": ["multiwoz", domain],
        "cluster": name,
    }
    return Draft(origin, without_empty(record))
