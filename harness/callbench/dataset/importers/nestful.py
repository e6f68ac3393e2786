"""NESTFUL: a request and the calls that serve it, some of which take the results of earlier ones.

``X-data.json`` holds ``{"input", "output": [{"name", "arguments", "label"}]}`` and ``X-spec.json``
beside it the tools. Each call is a case. Its gold is as it stands in the set, references included: the
results are not known, so the steps before it show for each declared output the set's own reference,
``{"tip_amount": "$var1.tip_amount$"}``, and that is what the call is to take up. As any argument may be
such a reference, the schema of a case that has steps before it admits a string beside the declared type
wherever another type is declared.

The closing ``var_result`` is not a call but says what the answer is made of: excluded as ``result``. So
is, as ``no-schema``, a call of a tool that the spec does not have, and as ``references-later-result`` one
that refers to no earlier call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from callbench.dataset.importers.base import Draft, Excluded, Item, Member, Source
from callbench.dataset.importers.dialogue import without_empty
from callbench.dataset.importers.node import Node, each
from callbench.dataset.importers.types import draft7
from callbench.errors import DatasetError

_WANTED = 'a data file of NESTFUL: [{"input": …, "output": [{"name", "arguments", "label"}]}]'
_SPEC = 'a spec file of NESTFUL: [{"name", "description", "query_parameters", "output_parameters"}]'
_RESULT = "var_result"
_OUTPUTS = "output_parameters"
_REFERENCE = re.compile(r"\$([A-Za-z_]\w*)(?:\.[^$]*)?\$")


class Nestful:
    """Reads NESTFUL."""

    name = "nestful"
    summary = "NESTFUL: *-data.json with *-spec.json beside it; one case per call"
    licence = "Apache-2.0"

    def read(self, source: Source) -> Iterator[Item]:
        """Yield the items, request by request."""
        members = source.files("*-data.json")
        if not members:
            raise DatasetError(
                f"{source.path}: no *-data.json in it.", remedy=f"This must be {_WANTED}."
            )
        for member in members:
            tools = _tools(member)
            stem = member.stem.removesuffix("-data")

            def request(
                origin: str, node: Node, stem: str = stem, tools: dict[str, Node] = tools
            ) -> Iterator[Item]:
                return _request(node, origin, f"{stem}/{origin.rpartition('#')[2]}", tools)

            yield from each(member, member.records(), _WANTED, request)


def _tools(member: Member) -> dict[str, Node]:
    name = f"{member.stem.removesuffix('-data')}-spec.json"
    spec = member.beside(name)
    if spec is None:
        raise DatasetError(
            f"{member.full}: no {name} beside it.",
            remedy="Put the tools of the set into the same directory.",
        )
    found: dict[str, Node] = {}
    for tool in Node(spec.json(), spec.full, _SPEC).items():
        found.setdefault(tool["name"].text(), tool)
    return found


def _request(node: Node, origin: str, key: str, tools: dict[str, Node]) -> Iterator[Item]:
    question = node["input"].text()
    steps: list[dict[str, Any]] = []
    quiet = True
    for number, call in enumerate(node["output"].items(), start=1):
        quiet = False
        name, arguments = call["name"].text(), call["arguments"].object()
        if name == _RESULT:
            yield Excluded(
                origin, "result", "It says what the answer is made of and calls no tool."
            )
            continue
        references = _REFERENCE.findall(json.dumps(arguments, ensure_ascii=False))
        unknown = sorted(set(references) - {step["step_id"] for step in steps})
        if name not in tools:
            yield Excluded(origin, "no-schema", f'The spec has no tool "{name}".')
        elif unknown:
            why = f"{name} refers to {', '.join(unknown)}, which is no earlier call."
            yield Excluded(origin, "references-later-result", why)
        else:
            tool = tools[name]
            record = {
                "id": key if number == 1 else f"{key}/{number}",
                "lang": "en",
                "tool": {"name": name, "description": tool["description"].text()},
                "schema": _schema(tool, bool(steps)),
                "question": question,
                "steps": list(steps),
                "expected": arguments,
                "tags": ["nestful", "references" if references else "plain"],
                "cluster": key,
            }
            yield Draft(origin, without_empty(record))
        label = call.get("label")
        step_id = label.text().strip("$") if label else f"call-{number}"
        output = _outputs(tools.get(name), step_id) or {"arguments": arguments}
        steps.append({"step_id": step_id, "step_name": name, "output_data": output})
    if quiet:
        yield Excluded(origin, "no-call", "The request has no call.")


# -- tools ------------------------------------------------------------------------------------------


def _schema(tool: Node, widen: bool) -> dict[str, Any]:
    # The specs have them as parameters, query_parameters or arguments.
    properties = {
        name: _parameter(parameter)
        for group, named in tool.entries()
        if group == "arguments" or (group.endswith("parameters") and group != _OUTPUTS)
        for name, parameter in named.entries()
    }
    schema = draft7({"type": "object", "properties": properties})
    if widen:
        schema["properties"] = {
            name: _widened(schema) for name, schema in schema["properties"].items()
        }
    return schema


def _parameter(node: Node) -> dict[str, Any]:
    """Write what the specs call ``allowed_values`` and ``default_value`` as JSON Schema does."""
    found = dict(node.object())
    allowed = found.pop("allowed_values", None)
    if isinstance(allowed, list):
        if allowed:
            found["enum"] = allowed
    elif allowed is not None:
        found["x-allowed-values"] = allowed
    if "default_value" in found:
        found["default"] = found.pop("default_value")
    return found


def _widened(schema: Any) -> Any:
    """Admit a string, which a reference is, beside every type but string."""
    if not isinstance(schema, dict):
        return schema
    found = dict(schema)
    kind = schema.get("type")
    if isinstance(kind, str) and kind != "string":
        found["type"] = [kind, "string"]
    if isinstance(schema.get("properties"), dict):
        found["properties"] = {
            name: _widened(member) for name, member in schema["properties"].items()
        }
    if isinstance(schema.get("items"), dict):
        found["items"] = _widened(schema["items"])
    return found


def _outputs(tool: Node | None, label: str) -> dict[str, Any]:
    """Return for every declared output of a tool the reference to it."""
    declared = tool.get(_OUTPUTS) if tool else None
    if declared is None or not declared.object():
        return {}
    return {name: _reference(node, f"{label}.{name}") for name, node in declared.entries()}


def _reference(node: Node, path: str) -> Any:
    inner = node.get("properties") if isinstance(node.value, dict) else None
    if inner is None or not isinstance(inner.value, dict):
        return f"${path}$"
    return {name: _reference(member, f"{path}.{name}") for name, member in inner.entries()}
