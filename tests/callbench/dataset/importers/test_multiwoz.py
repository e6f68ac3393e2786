"""MultiWOZ: one case for every new state of a domain."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from callbench.dataset.importers.writing import import_dataset
from callbench.errors import DatasetError


def user(text: str) -> dict[str, Any]:
    return {"text": text, "metadata": {}, "dialog_act": {}}


def system(text: str, area: Any = "", stars: str = "not mentioned", people: str = "",
           booked: Any = (), taxi: str = "") -> dict[str, Any]:  # fmt: skip
    metadata = {
        "hotel": {
            "book": {"booked": list(booked), "people": people},
            "semi": {"area": area, "stars": stars},
        },
        "taxi": {"book": {"booked": []}, "semi": {"leaveAt": taxi}},
        "police": {"book": {"booked": []}, "semi": {}},
    }
    return {"text": text, "metadata": metadata, "dialog_act": {}}


STAY = {
    "goal": {},
    "log": [
        user("a hotel in the north, any stars"),
        system("there is one", area="north", stars="dontcare"),
        user("nice. what is it called?"),
        system("the Inn", area="north", stars="dontcare"),
        user("book it for 2, and a taxi at 9:00"),
        system("done", area="north", stars="none", people="2", taxi="09:00",
               booked=[{"name": "the Inn", "reference": "X1"}]),
    ],
}  # fmt: skip

ZH_STATE = {
    "旅馆": {"book": {"人数": "2"}, "semi": {"区域": "北方", "星级": "未提及", "名称": "不在意"}}
}
ZH_STAY = {"log": [user("北边的酒店，两个人，哪家都行"), {"text": "好", "metadata": ZH_STATE}]}


def written(path: Path, value: Any) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), "utf-8")
    return path


def test_a_call_is_a_new_state(tmp_path: Path, imported: Any, perfect: Any) -> None:
    quiet = {"log": [user("hi"), system("hello")]}
    found = imported("multiwoz", written(tmp_path / "data.json", {"M1": STAY, "M2": quiet}))
    perfect(found)
    assert (found.report["records"], found.report["excluded"]) == (2, {"no-call": 1})
    assert [(record["id"], record["tool"]["name"]) for record in found.records] == [
        ("M1/1/1", "hotel"),
        ("M1/5/1", "hotel"),
        ("M1/5/2", "taxi"),
    ]
    assert [record["expected"] for record in found.records] == [
        {"area": "north", "stars": "dontcare"},
        {"area": "north", "book people": "2"},
        {"leaveAt": "09:00"},
    ]
    assert {record["cluster"] for record in found.records} == {"M1"}
    assert found.records[1]["question"] == "book it for 2, and a taxi at 9:00"
    assert len(found.records[1]["conversation"]) == 4


def test_slots_are_those_of_the_state(tmp_path: Path, imported: Any) -> None:
    found = imported("multiwoz", written(tmp_path / "data.json", {"M1": STAY}))
    schema = found.records[0]["schema"]
    assert list(schema["properties"]) == ["area", "stars", "book people"]
    assert "required" not in schema
    assert "dontcare" in schema["properties"]["stars"]["description"]
    assert "description" not in schema["properties"]["book people"]


def test_steps_show_what_was_booked_or_asked_for(tmp_path: Path, imported: Any) -> None:
    found = imported("multiwoz", written(tmp_path / "data.json", {"M1": STAY}))
    assert [step["output_data"] for step in found.records[2]["steps"]] == [
        {"arguments": {"area": "north", "stars": "dontcare"}},
        {"booked": [{"name": "the Inn", "reference": "X1"}]},
    ]


def test_chinese(tmp_path: Path, imported: Any) -> None:
    found = imported("multiwoz", written(tmp_path / "human_val.json", {"M1": ZH_STAY}))
    (record,) = found.records
    assert record["lang"] == "zh"
    assert record["expected"] == {"区域": "北方", "名称": "不在意", "预订人数": "2"}
    assert list(record["schema"]["properties"]) == ["区域", "星级", "名称", "预订人数"]
    # "不在意" is in the schema's description; 北方 for 北边 is found nowhere.
    assert found.kinds()["M1/1/1 /expected/区域"] == "not-in-case"
    assert "M1/1/1 /expected/名称" not in found.kinds()


def test_a_list_holds_variants_of_one_value(tmp_path: Path, imported: Any, perfect: Any) -> None:
    log = [user("hotel in the middle"), system("ok", area=["centre", "middle"])]
    found = imported("multiwoz", written(tmp_path / "data.json", {"M1": {"log": log}}))
    perfect(found)
    assert found.records[0]["expected"] == {"area": "centre"}
    assert found.records[0]["accept"] == {"/area": {"values": ["middle"]}}


def test_a_directory_with_its_zip(tmp_path: Path, imported: Any) -> None:
    plain = imported("multiwoz", written(tmp_path / "human_val.json", {"M1": ZH_STAY})).records
    folder = tmp_path / "zh"
    written(folder / "ontology.json", {})
    with zipfile.ZipFile(folder / "human_val.json.zip", "w") as packed:
        packed.write(tmp_path / "human_val.json", "human_val.json")
    assert imported("multiwoz", folder).records == plain


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda d: d.pop("log"), r'data\.json#M1: the member "log" is missing'),
        (lambda d: d["log"][1].pop("metadata"), r'log\[1\]: the member "metadata" is missing'),
        (lambda d: d["log"][1]["metadata"]["hotel"]["semi"].update(area=3),
         r"semi\.area: must be a string, is integer"),
    ],
)  # fmt: skip
def test_what_is_not_of_the_format_is_named_with_its_place(
    tmp_path: Path, spoil: Any, says: str
) -> None:
    stay = json.loads(json.dumps(STAY))
    spoil(stay)
    with pytest.raises(DatasetError, match=says):
        import_dataset("multiwoz", [written(tmp_path / "data.json", {"M1": stay})], tmp_path / "o")


def test_public_file(shared: Any, imported: Any, perfect: Any) -> None:
    """An independent count of the new states."""
    path = shared("multiwoz/zh/human_val.json.zip")
    with zipfile.ZipFile(path) as packed:
        dialogues = json.loads(packed.read("human_val.json"))
    wanted = []
    for dialogue in dialogues.values():
        seen: dict[str, list[tuple[str, str]]] = {}
        for turn in dialogue["log"][1::2]:
            for domain, state in turn["metadata"].items():
                both = [
                    *state["semi"].items(),
                    *((f"预订{s}", v) for s, v in state["book"].items()),
                ]
                now = [(slot, text) for slot, text in both if text not in ("", "none", "未提及")]
                if now and now != seen.get(domain):
                    wanted.append(dict(now))
                seen[domain] = now
    found = imported("multiwoz", path)
    assert [record["expected"] for record in found.records] == wanted
    assert found.report["records"] == len(dialogues)
    assert set(found.report["excluded"]) <= {"no-call"}
    perfect(found)


def test_a_change_of_mind_is_one_call_and_the_way_back_another(
    tmp_path: Path, imported: Any
) -> None:
    """Each state is held against the one before it, not against the first."""
    areas = ("north", "south", "south", "north")
    log = [turn for area in areas for turn in (user(f"{area}?"), system("ok", area=area))]
    found = imported("multiwoz", written(tmp_path / "data.json", {"M1": {"log": log}}))
    assert [(record["id"], record["expected"]["area"]) for record in found.records] == [
        ("M1/1/1", "north"),
        ("M1/3/1", "south"),
        ("M1/7/1", "north"),
    ]


def test_whether_a_booking_failed_is_no_slot(tmp_path: Path, imported: Any) -> None:
    turn = system("sorry", area="north")
    turn["metadata"]["hotel"]["book"]["invalid"] = True
    log = [user("north"), turn]
    found = imported("multiwoz", written(tmp_path / "data.json", {"M1": {"log": log}}))
    (record,) = found.records
    assert list(record["schema"]["properties"]) == ["area", "stars", "book people"]
    assert found.report["excluded"] == {}
