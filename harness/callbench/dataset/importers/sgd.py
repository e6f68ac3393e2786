"""The Schema-Guided Dialogue set (SGD, also SGD-X): one case for every service call.

A source is a split directory, a zip of one, or one ``dialogues_*.json`` whose ``schema.json`` stands
beside it. Every value is a string. The tool is the intent that is called, with the slots it requires,
then the optional ones with their defaults; a slot has an enum only when it ``is_categorical``, for the
values listed of other slots are examples. A default of ``""`` means "any" and is no default.

The gold are the canonical values of the call. What the user's state says of the same slot, the spoken
variants, is accepted too. ``dontcare`` is SGD's word for "no preference": such slots are left out of
calls, and as the default of most optional slots it counts as left out when it is given.

The set writes dates against 1 March 2019, so that is the time of every case.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from callbench.dataset.importers.base import Defect, Draft, Excluded, Item, Member, Source
from callbench.dataset.importers.dialogue import (
    NO_QUESTION,
    NO_QUESTION_WHY,
    Steps,
    Turn,
    asked,
    without_empty,
)
from callbench.dataset.importers.node import Node, each
from callbench.errors import DatasetError
from corecall import pointer

TODAY = "2019-03-01T00:00:00"
_WANTED = "a dialogue file of SGD, with its schema.json beside it"


class Sgd:
    """Reads SGD."""

    name = "sgd"
    summary = "Schema-Guided Dialogue: a split directory or zip; one case per service call"
    licence = "CC-BY-SA-4.0"

    def read(self, source: Source) -> Iterator[Item]:
        """Yield the items, dialogue by dialogue."""
        members = source.files("dialogues_*.json") or [
            member for member in source.files("*.json") if member.stem != "schema"
        ]
        if not members:
            raise DatasetError(
                f"{source.path}: no dialogues_*.json in it.", remedy=f"This must be {_WANTED}."
            )
        folders = {member.parts[:-1] for member in members}
        services: dict[tuple[str, ...], dict[str, Node]] = {}
        for member in members:
            folder = member.parts[:-1]
            if folder not in services:
                services[folder] = _services(member)
            # Splits number their dialogues alike, so several of them need their name in the id.
            prefix = f"{'/'.join(folder)}/" if len(folders) > 1 else ""
            known = services[folder]

            def dialogue(
                origin: str,
                node: Node,
                prefix: str = prefix,
                known: dict[str, Node] = known,
            ) -> Iterator[Item]:
                return _Dialogue(node, origin, prefix, known).read()

            yield from each(member, member.records(), _WANTED, dialogue)


def _services(member: Member) -> dict[str, Node]:
    beside = member.beside("schema.json")
    if beside is None:
        raise DatasetError(
            f"{member.full}: no schema.json beside it.",
            remedy="Put the split's schema.json into the same directory.",
        )
    root = Node(beside.json(), beside.full, "a schema file of SGD")
    return {service["service_name"].text(): service for service in root.items()}


class _Dialogue:
    """One dialogue on its way to cases."""

    def __init__(self, node: Node, origin: str, prefix: str, services: dict[str, Node]) -> None:
        self.node = node
        self.origin = origin
        self.id = node["dialogue_id"].text()
        self.key = f"{prefix}{self.id}"
        self.services = services
        self.turns: list[Turn] = []
        self.steps = Steps()
        self.states: dict[str, dict[str, list[str]]] = defaultdict(dict)
        self.canonical: dict[tuple[str, str, str], set[str]] = defaultdict(set)

    def read(self) -> Iterator[Item]:
        calls = 0
        for index, turn in enumerate(self.node["turns"].items()):
            user = turn["speaker"].text() == "USER"
            if user:
                self._hear(turn)
            made = [frame for frame in turn["frames"].items() if frame.get("service_call")]
            for number, frame in enumerate(made, start=1):
                calls += 1
                yield self._case(frame, f"{self.key}/{index}/{number}")
                self._step(frame)
            if not user:
                self._hear(turn)
        if not calls:
            yield Excluded(self.origin, "no-call", f"Dialogue {self.id} has no service call.")

    def _hear(self, turn: Node) -> None:
        role = "user" if turn["speaker"].text() == "USER" else "assistant"
        self.turns.append(Turn(role, turn["utterance"].text()))
        for frame in turn["frames"].items():
            self._learn(frame)
            state = frame.get("state")
            if state is not None:
                slots = state["slot_values"].entries()
                known = {slot: values.texts() for slot, values in slots}
                self.states[frame["service"].text()] = known

    def _learn(self, frame: Node) -> None:
        """Note which canonical values the annotation gives to what is said."""
        service = frame["service"].text()
        actions = frame.get("actions")
        for action in actions.items() if actions else ():
            spoken, canonical = action.get("values"), action.get("canonical_values")
            if spoken and canonical:
                slot = action["slot"].text()
                for said, meant in zip(spoken.texts(), canonical.texts(), strict=False):
                    self.canonical[service, slot, said].add(meant)

    def _step(self, frame: Node) -> None:
        name = f"{frame['service'].text()}.{frame['service_call']['method'].text()}"
        results = frame.get("service_results")
        known = (
            {"results": [result.object() for result in results.items()]}
            if results is not None
            else {"arguments": frame["service_call"]["parameters"].object()}
        )
        self.steps.add(name, known)

    def _case(self, frame: Node, case_id: str) -> Item:
        split = asked(self.turns)
        if split is None:
            return Excluded(self.origin, NO_QUESTION, NO_QUESTION_WHY)
        conversation, question = split
        service = frame["service"]
        name, call = service.text(), frame["service_call"]
        intent = self._intent(service, call["method"])
        expected = {slot: value.text() for slot, value in call["parameters"].entries()}
        accept, defects = self._accept(name, expected)
        record = {
            "id": case_id,
            "lang": "en",
            "tool": {
                "name": f"{name}.{intent['name'].text()}",
                "description": intent["description"].text(),
            },
            "schema": _schema(self.services[name], intent),
            "question": question,
            "conversation": conversation,
            "steps": self.steps.now(),
            "now": TODAY,
            "expected": expected,
            "accept": accept,
            "tags": _tags(name, intent, expected),
            "cluster": self.key,
        }
        return Draft(self.origin, without_empty(record), defects)

    def _intent(self, service: Node, method: Node) -> Node:
        if service.text() not in self.services:
            raise service.fail(f'schema.json has no service "{service.text()}"')
        for intent in self.services[service.text()]["intents"].items():
            if intent["name"].text() == method.text():
                return intent
        raise method.fail(f'schema.json has no intent "{method.text()}" of {service.text()}')

    def _accept(
        self, service: str, expected: dict[str, str]
    ) -> tuple[dict[str, Any], tuple[Defect, ...]]:
        """Accept the spoken variants of each value, and report one that means another value."""
        accept: dict[str, Any] = {}
        defects = []
        for slot, value in expected.items():
            state = self.states[service].get(slot, [])
            variants = [said for said in dict.fromkeys(state) if said != value]
            if not variants:
                continue
            place = pointer.join([slot])
            accept[place] = {"values": variants}
            for index, said in enumerate(variants):
                meant = self.canonical.get((service, slot, said))
                if meant and value not in meant:
                    field = pointer.join(["accept", place, "values", str(index)])
                    why = f'"{said}" is annotated as {" or ".join(sorted(meant))}, not as {value}.'
                    defects.append(Defect(field, "misaligned", why))
        return accept, tuple(defects)


def _schema(service: Node, intent: Node) -> dict[str, Any]:
    slots = {slot["name"].text(): slot for slot in service["slots"].items()}
    required = intent["required_slots"].texts()
    optional = {slot: default.text() for slot, default in intent["optional_slots"].entries()}
    properties: dict[str, Any] = {}
    for name in (*required, *optional):
        if name not in slots:
            raise intent.fail(f'the service has no slot "{name}"')
        slot = slots[name]
        found: dict[str, Any] = {"type": "string", "description": slot["description"].text()}
        if slot["is_categorical"].flag():
            found["enum"] = list(dict.fromkeys(slot["possible_values"].texts()))
        if optional.get(name):
            found["default"] = optional[name]
        properties[name] = found
    return {"type": "object", "properties": properties, "required": required}


def _tags(service: str, intent: Node, expected: dict[str, str]) -> list[str]:
    tags = ["sgd", service.split("_")[0].lower()]
    transactional = intent.get("is_transactional")
    if transactional is not None and transactional.flag():
        tags.append("transactional")
    optional = {slot: default.text() for slot, default in intent["optional_slots"].entries()}
    if any(expected.get(slot) == default for slot, default in optional.items()):
        tags.append("default-given")
    return tags
