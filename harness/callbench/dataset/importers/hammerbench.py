"""HammerBench: dialogues in which the arguments of a call come together turn by turn, English or Chinese.

``{"id", "messages", "single_tool", "multiple_tools"}``, the messages by ``user``, ``assistant`` and
``function call``. Every function call is a snapshot of what is known by then, and a case: its gold are
the arguments so far, and the slots that are still open are unfillable. The earlier snapshots are no
steps, for nothing was called yet; nor does the official prompt show them.

The tool is the one that the snapshot names, out of ``single_tool`` or ``multiple_tools``. Where it is
offered by neither, as in the ``ir_`` files, no tool is to be called: excluded as ``irrelevant``. A turn of
the user that is answered without a call is excluded as ``no-call``, as after a change of intent.
Personal information that goes with a request (``EK``) stays in the text, where the set has it.

The ids are the numbers of the dialogues in the basic set from which a file was made, so dialogues of
several files that share their number share a cluster.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from callbench.dataset.importers.base import Draft, Excluded, Item, Source
from callbench.dataset.importers.dialogue import (
    NO_QUESTION,
    NO_QUESTION_WHY,
    Turn,
    asked,
    without_empty,
)
from callbench.dataset.importers.node import Node, each
from callbench.dataset.importers.types import draft7
from callbench.errors import DatasetError
from corecall import pointer

_WANTED = 'a file of HammerBench: [{"messages": [{"role", "content"}], "single_tool": […]}]'
_HAN = re.compile(r"[\u4e00-\u9fff]")
_CALL = "function call"
_EXTERNAL = re.compile(r"<EK>|^EK[:：]")


class HammerBench:
    """Reads HammerBench."""

    name = "hammerbench"
    summary = "HammerBench: dialogue files, English or Chinese; one case per snapshot"
    licence = "Apache-2.0"

    def read(self, source: Source) -> Iterator[Item]:
        """Yield the items, dialogue by dialogue."""
        members = source.files("*.json")
        # A checkout also has lists of ids beside the dialogues.
        members = [each for each in members if not {"snapshot_id", "correspond_id"} & {*each.parts}]
        if not members:
            raise DatasetError(
                f"{source.path}: no *.json in it.", remedy=f"This must be {_WANTED}."
            )
        for member in members:
            folder = "/".join(member.parts[:-1])
            stem = f"{folder}/{member.stem}" if folder and len(members) > 1 else member.stem

            def dialogue(origin: str, node: Node, stem: str = stem) -> Iterator[Item]:
                return _dialogue(node, origin, stem, origin.rpartition("#")[2])

            yield from each(member, member.records(), _WANTED, dialogue)


def _dialogue(node: Node, origin: str, stem: str, number: str) -> Iterator[Item]:
    own = node.value.get("id") if isinstance(node.value, dict) else None
    key = f"{stem}/{number if own is None else own}"
    cluster = key if own is None else f"hammerbench-{own}"
    tools = _tools(node)
    category = stem.rsplit("/", 1)[-1].removeprefix("HammerBench_").lower()
    tags = ["hammerbench", category, *(["multiple-tools"] if len(tools) > 1 else ())]
    turns: list[Turn] = []
    calls = 0
    waiting = False  # the user spoke, and nothing answered yet
    for message in node["messages"].items():
        role = message["role"].text()
        if role == _CALL:
            calls += 1
            case_id = key if calls == 1 else f"{key}/{calls}"
            yield _snapshot(message["content"], origin, case_id, turns, tools, tags, cluster)
            waiting = False
            continue
        if waiting:
            yield Excluded(origin, "no-call", "The turn of the user is answered without a call.")
        if role not in ("user", "assistant"):
            raise message.fail(f'the role "{role}" is not of this format')
        waiting = role == "user"
        turns.append(Turn(role, message["content"].text()))
    if waiting or not turns:
        yield Excluded(origin, "no-call", "The last turn of the user has no call.")


def _tools(node: Node) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for field in ("single_tool", "multiple_tools"):
        offered = node.get(field)
        for tool in offered.items() if offered else ():
            found.setdefault(tool["name"].text(), tool)
    return found


def _snapshot(
    call: Node,
    origin: str,
    case_id: str,
    turns: list[Turn],
    tools: dict[str, Node],
    tags: list[str],
    cluster: str,
) -> Item:
    name, arguments = call["name"].text(), call["arguments"].object()
    split = asked(turns)
    if split is None:
        return Excluded(origin, NO_QUESTION, NO_QUESTION_WHY)
    if name not in tools:
        return Excluded(origin, "irrelevant", f'No tool "{name}" is offered.')
    conversation, question = split
    schema = draft7(tools[name]["parameters"].object())
    open_slots = [slot for slot in schema.get("properties", {}) if slot not in arguments]
    record: dict[str, Any] = {
        "id": case_id,
        "lang": "zh" if any(_HAN.search(turn.content) for turn in turns) else "en",
        "tool": {"name": name, "description": tools[name]["description"].text()},
        "schema": schema,
        "question": question,
        "conversation": conversation,
        "expected": arguments,
        "unfillable": [pointer.join([slot]) for slot in open_slots],
        "tags": [
            *tags,
            *(["incomplete"] if open_slots else ()),
            *(["external"] if any(_EXTERNAL.search(turn.content) for turn in turns) else ()),
        ],
        "cluster": cluster,
    }
    return Draft(origin, without_empty(record))
