"""Schemas of public sets, read from a directory of data that is no part of this project.

``CALLBENCH_SHARED_DATA`` names it; else ``shared/data`` beside the checkout is tried. Types that the sets
write their own way become JSON Schema's; nothing else is changed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

DATA = Path(
    os.environ.get("CALLBENCH_SHARED_DATA") or Path(__file__).parents[3] / "shared" / "data"
)

_TYPES = {"dict": "object", "float": "number", "tuple": "array", "bool": "boolean", "list": "array"}


class Sample(NamedTuple):
    """A schema, where it is from, and values with the verdict that the set gives them."""

    origin: str
    schema: Any
    values: tuple[tuple[Any, bool], ...] = ()


def suite() -> list[Sample]:
    """Return every group of the Draft 7 suite."""
    return [
        Sample(f"{path.stem}: {group['description']}", group["schema"], _verdicts(group))
        for path in sorted((DATA / "json-schema-test-suite" / "draft7").glob("*.json"))
        for group in _read(path)
    ]


def tools() -> list[Sample]:
    """Return the schemas of the tools of every other set, each once."""
    found: dict[str, Sample] = {}
    for samples in (_maskbench(), _bfcl(), _acebench(), _sgd(), _nestful(), _hammerbench()):
        for sample in samples:
            found.setdefault(json.dumps(sample.schema), sample)
    return list(found.values())


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _lines(pattern: str) -> Iterator[tuple[str, Any]]:
    for path in sorted(DATA.glob(pattern)):
        for line in path.read_text(encoding="utf-8").splitlines():
            yield path.stem, json.loads(line)


def _verdicts(group: dict[str, Any]) -> tuple[tuple[Any, bool], ...]:
    return tuple((case["data"], case["valid"]) for case in group["tests"])


def _maskbench() -> Iterator[Sample]:
    for path in sorted((DATA / "maskbench" / "data").glob("*.json")):
        group = _read(path)
        values = _verdicts(group)
        if '"format"' in json.dumps(group["schema"]):  # asserted there, an annotation here
            values = tuple(value for value in values if value[1])
        yield Sample(f"maskbench {path.stem}", group["schema"], values)


def _bfcl() -> Iterator[Sample]:
    for name, case in _lines("bfcl/BFCL_*.json"):
        for function in case["function"]:
            yield Sample(f"{name} {case['id']}", _plain(function["parameters"]))


def _acebench() -> Iterator[Sample]:
    for name, case in _lines("acebench/data_*/data_*.json"):
        for function in case["function"]:
            schema = function.get("arguments", function.get("parameters"))
            yield Sample(f"{name} {case['id']}", _plain(schema))


def _sgd() -> Iterator[Sample]:
    for path in sorted(DATA.glob("sgd/*/schema.json")):
        for service in _read(path):
            slots = {
                slot["name"]: {"type": "string", "description": slot["description"]}
                | ({"enum": slot["possible_values"]} if slot["is_categorical"] else {})
                for slot in service["slots"]
            }
            for intent in service["intents"]:
                names = [*intent["required_slots"], *intent["optional_slots"]]
                schema = {
                    "type": "object",
                    "properties": {name: slots[name] for name in names},
                    "required": intent["required_slots"],
                }
                yield Sample(f"sgd {service['service_name']} {intent['name']}", schema)


def _nestful() -> Iterator[Sample]:
    for path in sorted((DATA / "nestful").glob("*-spec.json")):
        for function in _read(path):
            declared = function.get("query_parameters") or function.get("parameters", {})
            required = [name for name, own in declared.items() if own.get("required") is True]
            properties = {
                name: _plain({key: own[key] for key in own if key != "required"})
                for name, own in declared.items()
            }
            schema = {"type": "object", "properties": properties, "required": required}
            yield Sample(f"nestful {function['name']}", schema)


def _hammerbench() -> Iterator[Sample]:
    for path in sorted(DATA.glob("hammerbench/*/examples.json")):
        for case in _read(path):
            for tool in case["multiple_tools"]:
                yield Sample(f"hammerbench {case['id']}", tool["parameters"])


def _plain(schema: Any) -> Any:
    """Return ``schema`` with the types of JSON Schema."""
    if isinstance(schema, list):
        return [_plain(child) for child in schema]
    if not isinstance(schema, dict):
        return schema
    copied = {key: _plain(child) for key, child in schema.items()}
    kind = copied.get("type")
    if isinstance(kind, str):
        copied["type"] = _TYPES.get(kind, kind)
        if kind == "any":
            del copied["type"]
    return copied
