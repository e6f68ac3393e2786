"""ACEBench, English and Chinese: the normal and special categories.

A question file is JSON Lines ``{id, question, function, time | profile}``; its gold stands in
``possible_answer/`` under the same name. ``question`` is one text whose lines ``user:`` and ``system:``
begin the turns; ``system`` is the agent's voice, so it becomes the assistant. A tool has ``parameters``
or ``arguments``. ``time`` becomes ``now`` and stays a fact as it was said; each part of ``profile`` is a
fact.

The gold of a normal category is ``{tool: arguments}``: one case per call, ``tool_1`` and ``tool_2`` being two
calls of ``tool``. A list of such answers names alternatives: the first is expected, what the others
have at a parameter is accepted there (so a mix of two alternatives is right too); an alternative with
other tools cannot be said and is counted as left out.

``special_incomplete`` names the parameters that nothing supports: they are unfillable.
``special_error_param`` names parameters and the wrong values that the user gave for them: unfillable too.
Its Chinese file names the tool and the value only; the parameter is then the one of that name, or the
only text parameter that refuses the value, else the record is left out. Neither says what the other
parameters should be: a required one is declared ``required-but-absent``. ``special_irrelevant``: no
tool helps, every parameter of the first one is unfillable. The agent categories are judged by the
state of a simulated world, so they are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from callbench.dataset.importers.acebench_question import known, turns
from callbench.dataset.importers.answers import Answers
from callbench.dataset.importers.base import Defect, Draft, Excluded, Item, Member, Source
from callbench.dataset.importers.records import (
    case_record,
    declared_places,
    first_place,
    language,
)
from callbench.dataset.importers.types import draft7
from callbench.dataset.slots import find, same
from callbench.errors import DatasetError, UsageError
from corecall import pointer
from corecall.slot.processor import SchemaError, SlotProcessor

_NUMBERED = re.compile(r"_\d+$")


class AceBench:
    """Reads ACEBench question files with their gold."""

    name = "acebench"
    summary = "ACEBench, English and Chinese: normal and special categories"
    licence = "MIT"

    def read(self, source: Source) -> Iterator[Item]:
        """Yield one item for every call of every category in the source."""
        files = [source.given] if source.given else source.files("data_*.json", "data_*.jsonl")
        files = [
            member for member in files if source.given or "possible_answer" not in member.parts
        ]
        if not files:
            raise DatasetError(
                f"{source.path}: no ACEBench question file in it.",
                remedy="Give the file, or a directory or zip with data_*.json and possible_answer/.",
            )
        for member in files:
            yield from _category(member, source)


def _category(member: Member, source: Source) -> Iterator[Item]:
    category = member.stem.removeprefix("data_")
    lang = next((part[-2:] for part in member.parts if part in ("data_en", "data_zh")), None)
    if lang is None and source.given:
        folder = source.path.resolve().parent.name
        lang = folder[-2:] if folder in ("data_en", "data_zh") else None
    gold = None
    for number, entry in member.records():
        origin = f"{member.name}#{number}"
        if not isinstance(entry, dict) or "id" not in entry or "question" not in entry:
            raise DatasetError(
                f"{member.full}:{number}: no ACEBench question: it needs id and question.",
                remedy="Give the question file; its gold is found beside it or named by --gold.",
            )
        if category.startswith("agent") or "initial_config" in entry:
            yield Excluded(
                origin, "agent", "Judged by the state of a simulated world, not by calls."
            )
            continue
        if gold is None:
            gold = _gold(member, source)
        answer = gold.of(str(entry["id"]))
        yield from _entry(entry, origin, category, lang, answer[1] if answer else None)
    if gold is not None:
        yield from gold.unused()


def _gold(member: Member, source: Source) -> Answers:
    named = source.extra.get("gold")
    if named is not None:
        found = named.given or next(iter(named.files(member.parts[-1])), None)
    else:
        found = member.beside(f"possible_answer/{member.parts[-1]}")
    if found is None:
        if source.given:
            raise UsageError(
                f"{member.full}: its gold is not beside it as possible_answer/{member.parts[-1]}.",
                remedy="Name it with --gold FILE.",
            )
        return Answers()
    answers = Answers()
    for number, entry in found.records():
        if not isinstance(entry, dict) or "id" not in entry or "ground_truth" not in entry:
            raise DatasetError(
                f"{found.full}:{number}: no ACEBench gold: it needs id and ground_truth.",
                remedy="Give the file of possible_answer/.",
            )
        answers.add(str(entry["id"]), f"{found.name}#{number}", entry["ground_truth"])
    return answers


def _entry(
    entry: dict[str, Any], origin: str, category: str, lang: str | None, truth: Any
) -> Iterator[Item]:
    name = str(entry["id"])
    tools = entry.get("function")
    tools = [tools] if isinstance(tools, dict) else tools
    if isinstance(tools, list):
        tools = [tool for tool in tools if isinstance(tool, dict)]
    said = turns(str(entry["question"]))
    if not isinstance(tools, list) or not tools:
        yield Excluded(origin, "no-tool", "No tool is offered.")
        return
    if said is None:
        yield Excluded(origin, "no-question", "There is no turn of the user to answer.")
        return
    if truth is None:
        yield Excluded(origin, "no-gold", f'There is no gold of the id "{name}".')
        return
    now, facts = known(entry)
    base = {
        "id": name,
        "lang": lang or language(said[-1]["content"]),
        "question": said[-1]["content"],
        "conversation": said[:-1],
        "facts": facts,
        "now": now,
        "cluster": _NUMBERED.sub("", name) if "multi_turn" in category else name,
    }
    tags = ["acebench", category, *["multiple-tools"] * (len(tools) > 1)]
    if isinstance(truth, str) or "irrelevant" in category:
        yield _irrelevant(origin, base, tools[0], tags)
    elif "incomplete" in category or "error_param" in category:
        yield _special(origin, base, tools, tags, truth, wrong="error_param" in category)
    else:
        yield from _calls(origin, base, tools, tags, truth)


def _tool_schema(tool: dict[str, Any]) -> dict[str, Any]:
    for key in ("parameters", "arguments", "_arguments"):
        if isinstance(tool.get(key), dict):
            return draft7(tool[key])
    return draft7(None)


def _called(tools: list[dict[str, Any]], name: str) -> dict[str, Any] | None:
    """Return the tool of this name, or of this name without the number of the call."""
    for wanted in (name, _NUMBERED.sub("", name)):
        for tool in tools:
            if tool.get("name") == wanted:
                return tool
    return None


def _calls(
    origin: str, base: dict[str, Any], tools: list[dict[str, Any]], tags: list[str], truth: Any
) -> Iterator[Item]:
    answers = truth if isinstance(truth, list) else [truth]
    if not answers or not all(isinstance(answer, dict) and answer for answer in answers):
        yield Excluded(origin, "other-gold", "The gold is no object of arguments by tool.")
        return
    first = answers[0]
    others = [answer for answer in answers[1:] if answer.keys() == first.keys()]
    for answer in answers[1:]:
        if answer.keys() != first.keys():
            yield Excluded(
                origin, "other-answer", f"Calling {', '.join(answer)} would be right too."
            )
    steps: list[dict[str, Any]] = []
    for number, (called, given) in enumerate(first.items(), start=1):
        tool = _called(tools, called)
        if tool is None:
            yield Excluded(
                origin, "unknown-tool", f'The gold calls "{called}", which is not offered.'
            )
            continue
        if not isinstance(given, dict):
            yield Excluded(origin, "other-gold", f"The gold of {called} is no object of arguments.")
            continue
        name = base["id"] if number == 1 else f"{base['id']}/{number}"
        accept = _accept(given, [answer[called] for answer in others])
        record = case_record(
            {**base, "id": name}, tool, _tool_schema(tool), given, accept=accept,
            steps=list(steps), tags=[*tags, *["parallel-call"] * (len(first) > 1)],
        )  # fmt: skip
        yield Draft(origin, record)
        steps.append({"step_id": f"call-{number}", "step_name": str(tool["name"]),
                      "output_data": {"arguments": given}})  # fmt: skip


def _accept(given: dict[str, Any], others: list[Any]) -> dict[str, dict[str, Any]]:
    """Return what alternative arguments have that the first ones have not, by parameter."""
    accept: dict[str, dict[str, Any]] = {}
    alternatives = [other for other in others if isinstance(other, dict)]
    for key in dict.fromkeys(key for each in (given, *alternatives) for key in each):
        values: list[Any] = []
        for other in alternatives:
            known = [*([given[key]] if key in given else []), *values]
            if key in other and not any(same(other[key], value) for value in known):
                values.append(other[key])
        omit = key in given and any(key not in other for other in alternatives)
        entry = {**({"values": values} if values else {}), **({"may_omit": True} if omit else {})}
        if entry:
            accept[pointer.join([key])] = entry
    return accept


def _irrelevant(origin: str, base: dict[str, Any], tool: dict[str, Any], tags: list[str]) -> Item:
    schema = _tool_schema(tool)
    unfillable = declared_places(schema)
    return Draft(
        origin,
        case_record(base, tool, schema, {}, unfillable=unfillable, tags=[*tags, "irrelevance"]),
    )


def _special(
    origin: str,
    base: dict[str, Any],
    tools: list[dict[str, Any]],
    tags: list[str],
    truth: Any,
    *,
    wrong: bool,
) -> Item:
    """Return the case of a question that cannot be answered for lack of a good value."""
    if not isinstance(truth, dict) or not truth:
        return Excluded(origin, "other-gold", "The gold is no object of names.")
    named = {
        str(key): value if isinstance(value, list) else [value] for key, value in truth.items()
    }
    tool = next((found for key in named if (found := _called(tools, key))), None)
    if tool is not None:
        names = [str(name).strip() for values in named.values() for name in values]
    else:
        names = list(named)
        tool = _declaring(tools, names)
        if tool is None:
            return Excluded(origin, "unknown-slot", f"No tool declares {', '.join(names)}.")
    schema = _tool_schema(tool)
    places = {}
    for name in names:
        place = first_place(schema, name)
        if place is None and wrong:
            place = _refusing(schema, name)
        places[name] = place
    unfillable = list(dict.fromkeys(place for place in places.values() if place))
    if not unfillable:
        return Excluded(
            origin, "unknown-slot", f"No parameter of {tool.get('name')} is {', '.join(names)}."
        )
    defects = tuple(
        Defect("/unfillable", "misaligned", f'The gold speaks of "{name}", which is no parameter.')
        for name, place in places.items()
        if place is None
    )
    kind = "wrong-value" if wrong else "incomplete"
    record = case_record(base, tool, schema, {}, unfillable=unfillable, tags=[*tags, kind])
    return Draft(origin, record, defects)


def _declaring(tools: list[dict[str, Any]], names: list[str]) -> dict[str, Any] | None:
    """Return the first tool that declares all of these parameters."""
    for tool in tools:
        schema = _tool_schema(tool)
        if all(first_place(schema, name) for name in names):
            return tool
    return None


def _refusing(schema: dict[str, Any], value: str) -> str | None:
    """Return the only text parameter that refuses a value: a free one, else one of an enum."""
    value = value.strip().strip("'\"")
    for closed in (False, True):
        refusing = []
        for place in declared_places(schema):
            node = find(schema.get("properties"), place)
            if not isinstance(node, dict) or node.get("type") != "string":
                continue
            try:
                refuses = not SlotProcessor({"properties": {"value": node}}).is_valid(
                    {"value": value}
                )
            except SchemaError:
                continue
            if refuses and ("enum" in node) == closed:
                refusing.append(place)
        if len(refusing) == 1:
            return refusing[0]
    return None
