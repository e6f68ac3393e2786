"""CrossWOZ: one case for every first query of a system turn."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from callbench.dataset.importers.writing import import_dataset
from callbench.errors import DatasetError


def state(results: list[str] | None = None, taxi: str = "", **hotel: str) -> dict[str, Any]:
    slots = {"名称": "", "评分": "", "价格": "", **hotel}
    return {
        "酒店": {**slots, "selectedResults": results or []},
        "出租": {"出发地": taxi, "目的地": "", "selectedResults": []},
    }


def usr(text: str) -> dict[str, Any]:
    return {"role": "usr", "content": text, "dialog_act": [], "user_state": []}


def sys(text: str, init: dict[str, Any], final: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "role": "sys",
        "content": text,
        "dialog_act": [],
        "sys_state_init": init,
        "sys_state": final or init,
    }


TALK = {
    "sys-usr": [1, 2],
    "messages": [
        usr("找一家评分5分的酒店，100元以下。"),
        sys(
            "没有5分的，山居可以吗？",
            state(评分="5分", 价格="100元以下"),
            state(["山居"], 价格="100元以下"),
        ),
        usr("可以，有电话吗？"),
        # Nothing new was asked: what the system relaxed has carried on.
        sys("没有。", state(["山居"], 价格="100元以下")),
        usr("那要4分的，再叫一辆从故宫出发的车。"),
        sys("好的。", state(["水居"], taxi="故宫", 评分="4分", 价格="100元以下")),
    ],
}


def written(path: Path, value: Any) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), "utf-8")
    return path


def test_a_call_is_a_query_that_is_new(tmp_path: Path, imported: Any, perfect: Any) -> None:
    still = {"messages": [usr("你好"), sys("你好", state())]}
    found = imported("crosswoz", written(tmp_path / "test.json", {"77": TALK, "78": still}))
    perfect(found)
    assert found.report["records"] == 2
    assert found.report["excluded"] == {"no-call": 1, "relaxed-by-system": 1}
    assert [(record["id"], record["tool"]["name"]) for record in found.records] == [
        ("77/1/1", "酒店"),
        ("77/5/1", "酒店"),
        ("77/5/2", "出租"),
    ]
    assert [record["expected"] for record in found.records] == [
        {"评分": "5分", "价格": "100元以下"},
        {"评分": "4分", "价格": "100元以下"},
        {"出发地": "故宫"},
    ]
    assert {record["cluster"] for record in found.records} == {"77"}
    assert {record["lang"] for record in found.records} == {"zh"}


def test_what_the_case_knows(tmp_path: Path, imported: Any) -> None:
    first, second, third = imported("crosswoz", written(tmp_path / "a.json", {"77": TALK})).records
    assert "steps" not in first
    assert first["question"] == "找一家评分5分的酒店，100元以下。"
    assert first["schema"] == {
        "type": "object",
        "properties": {slot: {"type": "string"} for slot in ("名称", "评分", "价格")},
    }
    assert second["question"] == "那要4分的，再叫一辆从故宫出发的车。"
    assert [turn["role"] for turn in second["conversation"]] == ["user", "assistant"] * 2
    # The query of the user found nothing, the relaxed one did; then come those of this turn.
    outputs = [[], ["山居"], ["水居"]]
    assert [step["output_data"] for step in third["steps"]] == [
        {"selectedResults": found} for found in outputs
    ]
    assert second["steps"] == third["steps"][:2]


def test_a_zip_is_read_as_it_is_and_in_its_directory(tmp_path: Path, imported: Any) -> None:
    plain = imported("crosswoz", written(tmp_path / "test.json", {"77": TALK})).records
    folder = tmp_path / "set"
    written(folder / "taxi_db.json", [])
    with zipfile.ZipFile(folder / "test.json.zip", "w") as packed:
        packed.write(tmp_path / "test.json", "test.json")
    assert imported("crosswoz", folder / "test.json.zip").records == plain
    found = imported("crosswoz", folder)
    assert found.records == plain
    assert [source["file"] for source in found.report["sources"]] == ["test.json.zip!test.json"]


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda d: d.pop("messages"), r'test\.json#77: the member "messages" is missing'),
        (lambda d: d["messages"][1].pop("sys_state"), r'messages\[1\]: the member "sys_state"'),
        (lambda d: d["messages"][0].update(role="bot"), r"messages\[0\]: the role .bot."),
        (lambda d: d["messages"][1]["sys_state_init"]["酒店"].update(评分=5),
         r"酒店\.评分: must be a string, is integer"),
    ],
)  # fmt: skip
def test_what_is_not_of_the_format_is_named_with_its_place(
    tmp_path: Path, spoil: Any, says: str
) -> None:
    talk = json.loads(json.dumps(TALK))
    spoil(talk)
    path = written(tmp_path / "test.json", {"77": talk})
    with pytest.raises(DatasetError, match=says):
        import_dataset("crosswoz", [path], tmp_path / "out")


def test_public_file(shared: Any, imported: Any, perfect: Any) -> None:
    """An independent count of the queries and of what the system relaxed."""
    path = shared("crosswoz/test.json.zip")
    with zipfile.ZipFile(path) as packed:
        talks = json.loads(packed.read("test.json"))

    def constraints(query: dict[str, Any]) -> set[tuple[str, str]]:
        return {(slot, text) for slot, text in query.items() if slot != "selectedResults" and text}

    wanted, relaxed = [], 0
    for talk in talks.values():
        previous: dict[str, Any] = {}
        for message in talk["messages"]:
            if message["role"] == "usr":
                continue
            for domain, query in message["sys_state_init"].items():
                new = constraints(query)
                if new and new != constraints(previous.get(domain, {})):
                    wanted.append(dict(new))
                final = constraints(message["sys_state"][domain])
                relaxed += bool(final) and final != new
            previous = message["sys_state"]
    found = imported("crosswoz", path)
    assert [record["expected"] for record in found.records] == wanted
    assert found.report["excluded"] == {"relaxed-by-system": relaxed}
    assert found.report["records"] == len(talks)
    perfect(found)


@pytest.mark.parametrize("broken", [[], {"messages": 3}, {"messages": [{"role": "bot"}]}])
def test_a_broken_dialogue_among_sound_ones_is_counted(
    tmp_path: Path, imported: Any, broken: Any
) -> None:
    plain = imported("crosswoz", written(tmp_path / "a.json", {"77": TALK})).records
    found = imported("crosswoz", written(tmp_path / "b.json", {"76": broken, "77": TALK}))
    assert found.records == plain
    assert found.report["excluded"]["broken-record"] == 1
    (item,) = [one for one in found.report["excluded_items"] if one["kind"] == "broken-record"]
    assert item["origin"] == "b.json#76"
    assert "b.json#76" in item["why"]
