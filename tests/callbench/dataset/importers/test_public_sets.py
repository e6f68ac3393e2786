"""The public sets themselves, where they are at hand: counts against an independent reader.

The reader here knows the files' formats from their documentation and uses ``jsonschema`` directly; it
shares no code with the importers.
"""

from __future__ import annotations

import itertools
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from callbench.scoring.outcome import Outcome
from callbench.scoring.verdict import score_case

DATA = Path(
    os.environ.get("CALLBENCH_SHARED_DATA") or Path(__file__).parents[5] / "shared" / "data"
)
Import = Callable[..., Any]
TYPES = {"dict": "object", "float": "number", "tuple": "array", "bool": "boolean"}

pytestmark = pytest.mark.skipif(not (DATA / "bfcl").is_dir(), reason="the public sets are not here")


def read(path: Path) -> list[dict[str, Any]]:
    """Read JSON Lines."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def translated(schema: Any) -> Any:
    """Return a schema with the type names of Draft 7."""
    if not isinstance(schema, dict):
        return schema
    found = {}
    for key, value in schema.items():
        if key == "type" and isinstance(value, str):
            if value not in ("any", "enum"):
                found[key] = TYPES.get(value, value)
        elif key == "properties":
            found[key] = {name: translated(member) for name, member in value.items()}
        else:
            found[key] = translated(value) if key == "items" else value
    return found


def forms(value: Any) -> Iterator[Any]:
    """Yield what an accepted value stands for: objects hold lists at their leaves."""
    if isinstance(value, dict):
        leaves = [[None if leaf == "" else (key, form)
                   for leaf in (leaf_list if isinstance(leaf_list, list) else [leaf_list])
                   for form in ([""] if leaf == "" else forms(leaf))]
                  for key, leaf_list in value.items()]  # fmt: skip
        for pick in itertools.product(*leaves):
            yield dict(pair for pair in pick if pair)
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        yield from map(list, itertools.product(*(list(forms(item)) for item in value)))
    else:
        yield value


def bfcl_counts(name: str) -> tuple[int, Counter[str]]:
    """Count the calls of a category, and the faults of its gold by kind."""
    tools = {entry["id"]: entry["function"] for entry in read(DATA / "bfcl" / f"{name}.json")}
    calls, faults = 0, Counter[str]()
    for entry in read(DATA / "bfcl" / "possible_answer" / f"{name}.json"):
        for call in entry["ground_truth"]:
            ((called, gold),) = call.items()
            (tool,) = [tool for tool in tools[entry["id"]] if tool["name"] == called]
            calls += 1
            schema = tool["parameters"]
            for key in schema.get("required", []):
                faults["required-but-omittable"] += "" in gold.get(key, [])
                faults["required-but-absent"] += not gold.get(key)
            for key, accepted in gold.items():
                validator = jsonschema.Draft7Validator(translated(schema["properties"][key]))
                for value in accepted:
                    if value == "" or all(map(validator.is_valid, forms(value))):
                        continue
                    words = {error.validator for error in validator.iter_errors(value)}
                    faults[
                        "null-for-non-null" if value is None
                        else "outside-enum" if "enum" in words else "breaks-schema"
                    ] += 1  # fmt: skip
    return calls, +faults


@pytest.mark.trap("D17")
@pytest.mark.parametrize("name", ["simple_python", "live_simple", "multiple", "parallel"])
def test_bfcl(imported: Import, name: str) -> None:
    """TRAPS D17: every accepted value that the tool would not take is counted, and no other."""
    found = imported("bfcl", DATA / "bfcl" / f"BFCL_v4_{name}.json")
    calls, faults = bfcl_counts(f"BFCL_v4_{name}")
    assert found.report["cases"] == found.report["items"] == calls
    assert {
        kind: n for kind, n in found.report["defects"].items() if kind != "not-in-case"
    } == faults
    for case in found.cases:
        assert score_case(case, Outcome(slot_data=case.expected)).exact


def test_bfcl_irrelevance(imported: Import) -> None:
    found = imported("bfcl", DATA / "bfcl" / "BFCL_v4_irrelevance.json")
    assert found.report["cases"] == len(read(DATA / "bfcl" / "BFCL_v4_irrelevance.json"))
    for case in found.cases:
        assert len(case.unfillable) == len(case.schema["properties"])
        assert score_case(case, Outcome(slot_data={})).exact


ACE = sorted((DATA / "acebench").glob("data_*/data_*.json"))


@pytest.mark.parametrize("path", ACE, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_acebench(imported: Import, path: Path) -> None:
    found = imported("acebench", path)
    questions = {entry["id"]: entry for entry in read(path)}
    assert found.report["records"] == len(questions)
    calls, broken = 0, set()
    for entry in read(path.parent / "possible_answer" / path.name):
        truth = entry["ground_truth"]
        if "special" in path.stem:
            calls += 1
            continue
        calls += len(truth)
        for number, (called, given) in enumerate(truth.items(), start=1):
            tools = {tool["name"]: tool for tool in questions[entry["id"]]["function"]}
            tool = tools.get(called) or tools[called.rpartition("_")[0]]
            schema = translated(tool.get("parameters") or tool["arguments"])
            if not jsonschema.Draft7Validator(schema).is_valid(given):
                broken.add(entry["id"] if number == 1 else f"{entry['id']}/{number}")
    assert found.report["items"] == calls
    if "special" not in path.stem:
        declared = {case.id for case in found.cases
                    if set(case.defects.values()) - {"unknown-parameter"}}  # fmt: skip
        assert declared == broken
    for case in found.cases:
        assert score_case(case, Outcome(slot_data=case.expected)).exact
