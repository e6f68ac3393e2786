"""NESTFUL: calls that take up the results of earlier ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from callbench.dataset.importers.writing import import_dataset
from callbench.errors import DatasetError

TOOLS = [
    {
        "name": "tip",
        "description": "Compute a tip",
        "query_parameters": {
            "bill": {"type": "number", "required": True, "description": "The bill"},
            "percent": {"type": "number", "required": True},
        },
        "output_parameters": {
            "amount": {"type": "number", "description": "The tip"},
            "place": {"type": "object", "properties": {"city": {"type": "string"}}},
        },
    },
    {
        "name": "send",
        "description": "Send money",
        "parameters": {
            "amount": {"type": "number", "required": True},
            "to": {"type": "array", "items": {"type": "integer"}, "required": False},
            "note": {"type": "string", "allowed_values": ["tip", "gift"], "default_value": "gift"},
            "page": {"type": "Number", "allowed_values": "1-9"},
        },
        "output_parameters": {},
    },
]
TIP = {"name": "tip", "arguments": {"bill": 100, "percent": 20}, "label": "var1"}
SEND = {"name": "send", "arguments": {"amount": "$var1.amount$", "to": [7]}, "label": "var2"}
RESULT = {"name": "var_result", "arguments": {"tip": "$var1$"}}


def written(folder: Path, *requests: Any, tools: Any = TOOLS) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "my-data.json").write_text(json.dumps(requests), "utf-8")
    (folder / "my-spec.json").write_text(json.dumps(tools), "utf-8")
    return folder


def request(*calls: Any, text: str = "Tip 20 of 100 to 7.") -> dict[str, Any]:
    return {"input": text, "output": list(calls)}


def test_a_case_per_call(tmp_path: Path, imported: Any, perfect: Any) -> None:
    found = imported("nestful", written(tmp_path / "n", request(TIP, SEND, RESULT), request()))
    perfect(found)
    assert found.report["records"] == 2
    assert found.report["excluded"] == {"no-call": 1, "result": 1}
    assert found.report["defects"] == {}
    first, second = found.records
    assert [first["id"], second["id"]] == ["my/1", "my/1/2"]
    assert {first["cluster"], second["cluster"]} == {"my/1"}
    assert first["expected"] == {"bill": 100, "percent": 20}
    assert "steps" not in first
    assert first["schema"] == {
        "type": "object",
        "properties": {
            "bill": {"type": "number", "description": "The bill"},
            "percent": {"type": "number"},
        },
        "required": ["bill", "percent"],
    }


def test_what_an_earlier_call_gives_is_there_as_a_reference(tmp_path: Path, imported: Any) -> None:
    second = imported("nestful", written(tmp_path / "n", request(TIP, SEND))).records[1]
    assert second["expected"] == {"amount": "$var1.amount$", "to": [7]}
    assert second["steps"] == [
        {
            "step_id": "var1",
            "step_name": "tip",
            "output_data": {"amount": "$var1.amount$", "place": {"city": "$var1.place.city$"}},
        }
    ]
    assert "references" in second["tags"]
    properties = second["schema"]["properties"]
    assert properties["amount"] == {"type": ["number", "string"]}
    assert properties["to"] == {
        "type": ["array", "string"],
        "items": {"type": ["integer", "string"]},
    }
    assert properties["note"] == {"type": "string", "enum": ["tip", "gift"], "default": "gift"}
    assert properties["page"]["x-allowed-values"] == "1-9"


def test_a_first_call_takes_no_reference(tmp_path: Path, imported: Any) -> None:
    """The schema is widened only where there is something to refer to."""
    found = imported("nestful", written(tmp_path / "n", request(SEND), request(TIP)))
    assert found.report["excluded"] == {"references-later-result": 1}
    assert found.records[0]["schema"]["properties"]["bill"]["type"] == "number"
    assert found.records[0]["id"] == "my/2"


def test_a_tool_without_a_spec_and_what_refers_to_it(tmp_path: Path, imported: Any) -> None:
    fly = {"name": "fly", "arguments": {"to": "Rome"}, "label": "var1"}
    found = imported("nestful", written(tmp_path / "n", request(fly, SEND)))
    assert found.report["excluded"] == {"no-schema": 1}
    (record,) = found.records
    assert record["id"] == "my/1/2"
    assert record["steps"][0]["output_data"] == {"arguments": {"to": "Rome"}}
    assert found.kinds() == {"my/1/2 /expected/amount": "not-in-case"}


def test_a_spec_in_which_parameters_are_called_arguments(tmp_path: Path, imported: Any) -> None:
    """As in the part of the set that comes from SGD: no types, values and defaults by other names."""
    seats = {"required": False, "default_value": "1", "allowed_values": ["1", "2"]}
    to = {"description": "City", "required": True, "allowed_values": []}
    tool = {"name": "Bus.Find", "description": "", "arguments": {"to": to, "seats": seats}}
    call = {"name": "Bus.Find", "arguments": {"to": "Rome"}, "label": "var1"}
    folder = written(tmp_path / "n", request(call, text="Rome"), tools=[tool])
    assert imported("nestful", folder).records[0]["schema"] == {
        "type": "object",
        "properties": {
            "to": {"description": "City"},
            "seats": {"default": "1", "enum": ["1", "2"]},
        },
        "required": ["to"],
    }


def test_gold_that_breaks_the_spec(tmp_path: Path, imported: Any) -> None:
    call = {"name": "send", "arguments": {"note": "loan", "to": ["x"], "cc": 1}, "label": "var1"}
    found = imported("nestful", written(tmp_path / "n", request(call, text="To x.")))
    assert found.kinds() == {
        "my/1 /expected/amount": "required-but-absent",
        "my/1 /expected/note": "outside-enum",
        "my/1 /expected/to/0": "breaks-schema",
        "my/1 /expected/cc": "unknown-parameter",
    }


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"output": []}, r'my-data\.json#1: the member "input" is missing'),
        ({"input": "", "output": {}}, r"#1\.output: must be an array, is object"),
        ({"input": "", "output": [{"name": "tip"}]}, r'output\[0\]: the member "arguments"'),
        ({"input": "", "output": [{"name": "tip", "arguments": "{}"}]}, "must be an object"),
    ],
)
def test_what_is_not_of_the_format_is_named_with_its_place(
    tmp_path: Path, value: Any, says: str
) -> None:
    with pytest.raises(DatasetError, match=says):
        import_dataset("nestful", [written(tmp_path / "n", value)], tmp_path / "out")


def test_without_its_spec_nothing_is_imported(tmp_path: Path) -> None:
    folder = written(tmp_path / "n", request(TIP))
    (folder / "my-spec.json").unlink()
    with pytest.raises(DatasetError, match=r"no my-spec\.json beside it"):
        import_dataset("nestful", [folder], tmp_path / "out")


def test_public_file(shared: Any, imported: Any, perfect: Any) -> None:
    folder = shared("nestful")
    (data,) = folder.glob("*-data.json")
    (spec,) = folder.glob("*-spec.json")
    known = {tool["name"] for tool in json.loads(spec.read_text("utf-8"))}
    calls = [call for each in json.loads(data.read_text("utf-8")) for call in each["output"]]
    real = [call for call in calls if call["name"] != "var_result"]
    found = imported("nestful", folder)
    assert [record["expected"] for record in found.records] == [
        call["arguments"] for call in real if call["name"] in known
    ]
    assert found.report["excluded"] == {
        "no-schema": sum(call["name"] not in known for call in real),
        "result": len(calls) - len(real),
    }
    perfect(found)
