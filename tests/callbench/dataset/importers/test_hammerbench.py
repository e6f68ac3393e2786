"""HammerBench: a case is a snapshot of the arguments known by a turn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from callbench.dataset.importers.writing import import_dataset
from callbench.errors import DatasetError
from callbench.scoring import Outcome, score_case

TOOL = {
    "name": "Cars.query",
    "description": "Query violations",
    "parameters": {
        "type": "object",
        "properties": {
            "plate": {"type": "string", "description": "Plate"},
            "city": {"type": "string", "description": "City"},
        },
        "required": ["plate", "city"],
    },
}
OTHER = {"name": "Food.find", "description": "", "parameters": {"type": "object", "properties": {}}}


def message(role: str, content: Any) -> dict[str, Any]:
    return {"role": role, "content": content}


def call(name: str = "Cars.query", **arguments: Any) -> dict[str, Any]:
    return message("function call", {"name": name, "arguments": arguments})


TALK = {
    "id": 17,
    "messages": [
        message("user", "Check my car"),
        call(),
        message("assistant", "Which city?"),
        message("user", "Bonn, see the mail<EK>:The plate is BN 1"),
        call(city="Bonn"),
        message("assistant", "Which plate?"),
        message("user", "BN 1, sorry, in Rome"),
        call(city="Rome", plate="BN 1"),
    ],
    "single_tool": [TOOL],
    "multiple_tools": [OTHER, TOOL],
}


def written(path: Path, *talks: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(talks, ensure_ascii=False), "utf-8")
    return path


def test_a_case_per_snapshot(tmp_path: Path, imported: Any, perfect: Any) -> None:
    found = imported("hammerbench", written(tmp_path / "HammerBench_SO_case1.json", TALK))
    perfect(found)
    assert (found.report["records"], found.report["items"]) == (1, 3)
    assert found.report["defects"] == {}
    assert [record["id"] for record in found.records] == [
        "HammerBench_SO_case1/17",
        "HammerBench_SO_case1/17/2",
        "HammerBench_SO_case1/17/3",
    ]
    assert {record["cluster"] for record in found.records} == {"hammerbench-17"}
    assert [record["expected"] for record in found.records] == [
        {},
        {"city": "Bonn"},
        {"city": "Rome", "plate": "BN 1"},
    ]
    assert [record.get("unfillable") for record in found.records] == [
        ["/plate", "/city"],
        ["/plate"],
        None,
    ]
    first, second, third = found.records
    assert first["tool"] == {"name": "Cars.query", "description": "Query violations"}
    assert first["schema"] == TOOL["parameters"]
    assert first["tags"] == ["hammerbench", "so_case1", "multiple-tools", "incomplete"]
    assert "external" in second["tags"]
    assert "steps" not in third
    assert [turn["role"] for turn in third["conversation"]] == ["user", "assistant"] * 2
    assert third["question"] == "BN 1, sorry, in Rome"


def test_filling_what_nobody_said_is_a_hallucination(tmp_path: Path, imported: Any) -> None:
    found = imported("hammerbench", written(tmp_path / "x.json", TALK))
    score = score_case(found.cases[1], Outcome(slot_data={"city": "Bonn", "plate": "AA 1"}))
    assert not score.exact
    assert {slot.pointer: slot.verdict for slot in score.slots}["/plate"] == "hallucinated"


def test_a_tool_that_is_not_offered(tmp_path: Path, imported: Any) -> None:
    talk = {"messages": TALK["messages"][:2], "multiple_tools": [OTHER]}
    good = {"messages": [message("user", "in Bonn"), call(city="Bonn")], "single_tool": [TOOL]}
    found = imported("hammerbench", written(tmp_path / "ir_ST_Perfect.json", talk, good))
    assert found.report["excluded"] == {"irrelevant": 1}
    assert [record["id"] for record in found.records] == ["ir_ST_Perfect/2"]
    assert found.records[0]["cluster"] == "ir_ST_Perfect/2"


def test_a_turn_without_a_call_is_counted(tmp_path: Path, imported: Any) -> None:
    messages = [
        *TALK["messages"][:3],
        message("user", "No, a story please"),
        message("assistant", "Sorry, no tool is suitable for your request."),
    ]
    found = imported(
        "hammerbench",
        written(tmp_path / "HammerBench_IS.json", {"messages": messages, "single_tool": [TOOL]}),
    )
    assert (found.report["cases"], found.report["excluded"]) == (1, {"no-call": 1})


def test_chinese_and_lists_of_ids_beside_the_dialogues(tmp_path: Path, imported: Any) -> None:
    talk = {"messages": [message("user", "查一下波恩"), call(city="波恩")], "single_tool": [TOOL]}
    folder = tmp_path / "zh"
    written(folder / "multi-turn" / "HammerBench_mSv.json", talk)
    written(folder / "multi-turn" / "snapshot_id" / "snap_shot_id.json", 1, 2)
    found = imported("hammerbench", folder)
    assert [record["lang"] for record in found.records] == ["zh"]


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda d: d.pop("messages"), r'x\.json#1: the member "messages" is missing'),
        (lambda d: d["messages"][0].update(role="bot"), r'messages\[0\]: the role "bot"'),
        (lambda d: d["messages"][1].update(content="{}"), r"content: must be an object, is string"),
        (lambda d: d["messages"][0].update(content=None), r"content: must be a string, is null"),
        (lambda d: d["single_tool"][0].pop("parameters"), 'the member "parameters" is missing'),
    ],
)
def test_what_is_not_of_the_format_is_named_with_its_place(
    tmp_path: Path, spoil: Any, says: str
) -> None:
    talk = json.loads(json.dumps(TALK))
    spoil(talk)
    with pytest.raises(DatasetError, match=says):
        import_dataset("hammerbench", [written(tmp_path / "x.json", talk)], tmp_path / "out")


def test_public_file(shared: Any, imported: Any, perfect: Any) -> None:
    path = shared("hammerbench/en/examples.json")
    calls = [
        each["content"]["arguments"]
        for talk in json.loads(path.read_text("utf-8"))
        for each in talk["messages"]
        if each["role"] == "function call"
    ]
    found = imported("hammerbench", path)
    assert [record["expected"] for record in found.records] == calls
    perfect(found)


def test_a_last_turn_without_a_call_is_counted(tmp_path: Path, imported: Any) -> None:
    asked = {**TALK, "messages": [*TALK["messages"], message("user", "Thanks, and the weather?")]}
    found = imported("hammerbench", written(tmp_path / "a.json", asked))
    assert (found.report["cases"], found.report["excluded"]) == (3, {"no-call": 1})
