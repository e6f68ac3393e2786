"""The Berkeley Function-Calling Leaderboard, version 3 and 4: single-turn categories.

A question file is JSON Lines ``{id, question: [[message, …], …], function: [{name, description,
parameters}]}``; its gold stands in ``possible_answer/`` under the same name, beside it or one directory up:
``{id, ground_truth: [{function: {parameter: [accepted, …]}}]}``.

In a list of accepted values the first is the expected one and the rest are accepted. The empty
text in it is no value but the mark "may be left out", so it becomes ``may_omit``; where it stands
alone, nothing is expected. It is a value as well only where the schema says so (its enum or default
has the empty text). An object in the list holds such lists at its leaves, and so does each object of
a list of objects. A required parameter that may be left out is a defect, an empty list of accepted
values too: nothing at all would be right.

The gold of the executable categories are Python calls of keyword arguments, in version 3 in the question
file itself. A record of an irrelevance category has no gold: nothing is expected and every parameter of the tool
is unfillable. Of several tools the called one is the case's; an irrelevance case takes the first. Left out
with the reason are the multi-turn and agentic categories (memory, web search), which have other gold, the
relevance category, where some call is right and no gold says which, and ``format_sensitivity``, which
lists questions of other categories to be asked in other prompts.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from typing import Any

from callbench.dataset.importers.accepted import AcceptedCall
from callbench.dataset.importers.answers import Answers as _Answers
from callbench.dataset.importers.base import Draft, Excluded, Item, Member, Source
from callbench.dataset.importers.records import (
    case_record,
    declared_places,
    language,
    messages,
)
from callbench.dataset.importers.types import draft7
from callbench.errors import DatasetError, UsageError
from corecall.slot.processor import SchemaError

_VARIANTS = "format_sensitivity"


class Bfcl:
    """Reads BFCL question files with their gold."""

    name = "bfcl"
    summary = "Berkeley Function-Calling Leaderboard: simple, multiple, parallel, live, irrelevance"
    licence = "Apache-2.0"

    def read(self, source: Source) -> Iterator[Item]:
        """Yield one item for every call of every category in the source."""
        files = [source.given] if source.given else _question_files(source)
        if not files:
            raise DatasetError(
                f"{source.path}: no BFCL question file in it.",
                remedy="Give the file, or a directory or zip with BFCL_v4_*.json and possible_answer/.",
            )
        for member in files:
            yield from _category(member, source)


def _question_files(source: Source) -> list[Member]:
    found = source.files("BFCL*.json", "BFCL*.jsonl")
    kept = [member for member in found if "possible_answer" not in member.parts]
    return [member for member in kept if not {"multi_turn_func_doc", "memory_prereq_conversation",
            "unused_datasets"} & set(member.parts)]  # fmt: skip


def _category(member: Member, source: Source) -> Iterator[Item]:
    category = member.stem
    for version in ("BFCL_v3_", "BFCL_v4_", "BFCL_"):
        category = category.removeprefix(version)
    if category == _VARIANTS:
        yield Excluded(
            f"{member.name}#1", "prompt-variants", "It lists questions of other categories."
        )
        return
    irrelevant = "irrelevance" in category
    gold: _Answers | None = None
    for number, entry in member.records():
        origin = f"{member.name}#{number}"
        if not isinstance(entry, dict) or "id" not in entry or "question" not in entry:
            raise DatasetError(
                f"{member.full}:{number}: no BFCL question: it needs id and question.",
                remedy="Give the question file; its gold is found beside it or named by --gold.",
            )
        other = _out_of_scope(entry, category)
        if other is not None:
            yield Excluded(origin, *other)
            continue
        if gold is None and not irrelevant and "ground_truth" not in entry:
            gold = _gold(member, source)
        yield from _entry(entry, origin, category, irrelevant=irrelevant, gold=gold)
    if gold:
        yield from gold.unused()


def _out_of_scope(entry: dict[str, Any], category: str) -> tuple[str, str] | None:
    """Return the kind and the reason why a category has no single gold call, ``None`` when it has."""
    if category.startswith("multi_turn"):
        return "multi-turn", "Calls against a simulated system, no single gold call."
    if category.startswith(("memory", "web_search")) or (
        "involved_classes" in entry and "function" not in entry
    ):
        return "agentic", "Judged by the answer of an agent, not by calls."
    if category.endswith("relevance") and "irrelevance" not in category:
        return "any-call", "Some call is right, and no gold says which."
    return None


def _gold(member: Member, source: Source) -> _Answers:
    named = source.extra.get("gold")
    if named is not None:
        given = named.given
        found = given or next(iter(named.files(f"{member.stem}.json*")), None)
    else:
        name = member.parts[-1]
        found = member.beside(f"possible_answer/{name}") or member.beside(
            f"../possible_answer/{name}"
        )
    if found is None:
        if source.given:
            raise UsageError(
                f"{member.full}: its gold is not beside it as possible_answer/{member.parts[-1]}.",
                remedy="Name it with --gold FILE.",
            )
        return _Answers()
    answers = _Answers()
    for number, entry in found.records():
        if not isinstance(entry, dict) or "id" not in entry or "ground_truth" not in entry:
            raise DatasetError(
                f"{found.full}:{number}: no BFCL gold: it needs id and ground_truth.",
                remedy="Give the file of possible_answer/.",
            )
        answers.add(str(entry["id"]), f"{found.name}#{number}", entry["ground_truth"])
    return answers


def _entry(
    entry: dict[str, Any],
    origin: str,
    category: str,
    *,
    irrelevant: bool,
    gold: _Answers | None,
) -> Iterator[Item]:
    name = str(entry["id"])
    answer = gold.of(name) if gold else None
    if "ground_truth" in entry:
        answer = (origin, entry["ground_truth"])
    plain = "ground_truth" in entry or (answer is not None and _is_written(answer[1]))
    if plain and answer is not None:
        answer = (answer[0], _written_calls(answer[1]))
    tools = entry.get("function")
    if isinstance(tools, dict):
        tools = [tools]
    if isinstance(tools, list):
        tools = [tool for tool in tools if isinstance(tool, dict)]
    if not isinstance(tools, list) or not tools:
        yield Excluded(origin, "no-tool", "No tool is offered.")
        return
    said = messages(entry["question"])
    if said is None or not said[-1]["content"].strip():
        yield Excluded(origin, "no-question", "There is no message of a user to answer.")
        return
    base = {"id": name, "lang": language(said[-1]["content"]), "question": said[-1]["content"],
            "conversation": said[:-1], "cluster": name}  # fmt: skip
    tags = ["bfcl", category, *["multiple-tools"] * (len(tools) > 1)]
    if irrelevant:
        schema = draft7(tools[0].get("parameters"))
        yield Draft(origin, case_record(base, tools[0], schema, {}, tags=list(dict.fromkeys([*tags, "irrelevance"])),
                                  unfillable=declared_places(schema)))  # fmt: skip
        return
    if answer is None:
        yield Excluded(origin, "no-gold", f'There is no gold of the id "{name}".')
        return
    yield from _calls(answer[1], origin, base, tools, tags, plain=plain)


def _is_written(truth: Any) -> bool:
    return isinstance(truth, list) and all(isinstance(call, str) for call in truth)


def _written_calls(truth: Any) -> Any:
    """Return calls that are written as Python, ``f(a=1)``, as arguments by function."""
    if not _is_written(truth):
        return truth
    calls = []
    for written in truth:
        try:
            call = ast.parse(written.strip(), mode="eval").body
            if not isinstance(call, ast.Call):
                return written
            given = {
                key.arg: _json(ast.literal_eval(key.value)) for key in call.keywords if key.arg
            }
            if call.args or len(given) != len(call.keywords):
                return written
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            return written
        calls.append({ast.unparse(call.func): given})
    return calls


def _json(value: Any) -> Any:
    """Return a Python literal as JSON has it. Raises ``ValueError`` for what JSON has not."""
    match value:
        case list() | tuple():
            return [_json(item) for item in value]
        case dict() if all(isinstance(key, str) for key in value):
            return {key: _json(item) for key, item in value.items()}
        case None | bool() | str() | int():
            return value
        case float() if math.isfinite(value):
            return value
    raise ValueError(f"{value!r} is no JSON")


def _calls(
    truth: Any,
    origin: str,
    base: dict[str, Any],
    tools: list[dict[str, Any]],
    tags: list[str],
    *,
    plain: bool,
) -> Iterator[Item]:
    if not isinstance(truth, list) or not all(isinstance(call, dict) for call in truth):
        yield Excluded(origin, "other-gold", "The gold is no list of calls by function name.")
        return
    calls = [(tool, given) for call in truth for tool, given in call.items()]
    if not calls:
        yield Excluded(origin, "no-call", "The gold has no call.")
        return
    steps: list[dict[str, Any]] = []
    for number, (called, given) in enumerate(calls, start=1):
        tool = next((each for each in tools if each.get("name") == called), None)
        name = base["id"] if number == 1 else f"{base['id']}/{number}"
        if tool is None:
            yield Excluded(
                origin, "unknown-tool", f'The gold calls "{called}", which is not offered.'
            )
            continue
        schema = draft7(tool.get("parameters"))
        try:
            gold = AcceptedCall(schema, given) if plain else AcceptedCall(schema).arguments(given)
        except SchemaError as error:
            yield Excluded(origin, "invalid-schema", f"The schema of {called}: {error}.")
            continue
        except OverflowError:
            yield Excluded(origin, "too-many-alternatives", f"The gold of {called} has too many.")
            continue
        except TypeError as error:
            yield Excluded(origin, "other-gold", f"The gold of {called}: {error}.")
            continue
        record = case_record({**base, "id": name}, tool, schema, gold.expected, accept=gold.accept,
                       steps=list(steps), tags=[*tags, *["parallel-call"] * (len(calls) > 1)])  # fmt: skip
        yield Draft(origin, record, tuple(gold.defects))
        steps.append({"step_id": f"call-{number}", "step_name": called,
                      "output_data": {"arguments": gold.expected}})  # fmt: skip
