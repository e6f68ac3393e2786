"""SGD: one case for every service call."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from callbench.dataset.importers.writing import import_dataset
from callbench.errors import DatasetError

SCHEMA = [
    {
        "service_name": "Trips_1",
        "description": "Buses",
        "slots": [
            {"name": "to", "description": "City", "is_categorical": False, "possible_values": ["A"]},
            {"name": "on", "description": "Date", "is_categorical": False, "possible_values": []},
            {"name": "seats", "description": "Seats", "is_categorical": True,
             "possible_values": ["1", "2"]},
            {"name": "class", "description": "Class", "is_categorical": False,
             "possible_values": []},
        ],
        "intents": [
            {"name": "FindBus", "description": "Find a bus", "is_transactional": False,
             "required_slots": ["to", "on"], "optional_slots": {"seats": "1", "class": ""}},
            {"name": "BuyTicket", "description": "Buy a ticket", "is_transactional": True,
             "required_slots": ["to"], "optional_slots": {"class": "dontcare"}},
        ],
    }
]  # fmt: skip


def user(text: str, slots: dict[str, list[str]], *actions: Any) -> dict[str, Any]:
    state = {"active_intent": "FindBus", "requested_slots": [], "slot_values": slots}
    frame = {"service": "Trips_1", "actions": list(actions), "slots": [], "state": state}
    return {"speaker": "USER", "utterance": text, "frames": [frame]}


def system(text: str, call: Any = None, results: Any = None) -> dict[str, Any]:
    frame: dict[str, Any] = {"service": "Trips_1", "actions": [], "slots": []}
    if call is not None:
        frame["service_call"] = {"method": call[0], "parameters": call[1]}
    if results is not None:
        frame["service_results"] = results
    return {"speaker": "SYSTEM", "utterance": text, "frames": [frame]}


def said(slot: str, value: str, canonical: str) -> dict[str, Any]:
    return {"act": "INFORM", "slot": slot, "values": [value], "canonical_values": [canonical]}


RIDE = {
    "dialogue_id": "1_00001",
    "services": ["Trips_1"],
    "turns": [
        user("A bus to the Big Apple.", {"to": ["Big Apple"]}, said("to", "Big Apple", "New York")),
        system("When?"),
        user(
            "The 3rd, one seat.",
            {"to": ["Big Apple"], "on": ["the 3rd", "March 3rd"], "seats": ["1"]},
            said("on", "the 3rd", "2019-03-03"),
        ),
        system(
            "Here is one.",
            ("FindBus", {"to": "New York", "on": "2019-03-03", "seats": "1"}),
            [{"to": "New York", "class": "first"}],
        ),
        user("Book it.", {"to": ["New York"], "class": ["dontcare"]}),
        system("Done.", ("BuyTicket", {"to": "New York"}), [{"to": "New York"}]),
    ],
}
CHAT = {"dialogue_id": "1_00002", "services": [], "turns": [user("Hi.", {}), system("Hello.")]}


@pytest.fixture
def split(tmp_path: Path) -> Callable[..., Path]:
    def write(*dialogues: Any, schema: Any = SCHEMA, name: str = "dev") -> Path:
        folder = tmp_path / name
        folder.mkdir(parents=True)
        (folder / "schema.json").write_text(json.dumps(schema), "utf-8")
        (folder / "dialogues_001.json").write_text(json.dumps(dialogues), "utf-8")
        return folder

    return write


def test_one_case_per_call(split: Any, imported: Any, perfect: Any) -> None:
    found = imported("sgd", split(RIDE, CHAT))
    assert [record["id"] for record in found.records] == ["1_00001/3/1", "1_00001/5/1"]
    assert (found.report["records"], found.report["excluded"]) == (2, {"no-call": 1})
    assert found.report["defects"] == {}
    perfect(found)
    first, second = found.records
    assert first["tool"] == {"name": "Trips_1.FindBus", "description": "Find a bus"}
    assert first["question"] == "The 3rd, one seat."
    assert first["conversation"] == [
        {"role": "user", "content": "A bus to the Big Apple."},
        {"role": "assistant", "content": "When?"},
    ]
    assert first["expected"] == {"to": "New York", "on": "2019-03-03", "seats": "1"}
    assert first["accept"] == {
        "/to": {"values": ["Big Apple"]},
        "/on": {"values": ["the 3rd", "March 3rd"]},
    }
    assert first["now"] == "2019-03-01T00:00:00"
    assert (first["lang"], first["cluster"]) == ("en", "1_00001")
    assert "steps" not in first
    assert second["steps"] == [
        {
            "step_id": "call-1",
            "step_name": "Trips_1.FindBus",
            "output_data": {"results": [{"to": "New York", "class": "first"}]},
        }
    ]


def test_a_slot_that_the_state_dropped_has_no_variants(split: Any, imported: Any) -> None:
    """The state of a turn is the whole state: what an earlier one held is gone."""
    dropped = {
        "dialogue_id": "1_00003",
        "services": ["Trips_1"],
        "turns": [
            user("To the Big Apple.", {"to": ["Big Apple"]}),
            system("When?"),
            user("The 3rd.", {"on": ["the 3rd"]}),
            system("Here.", ("FindBus", {"to": "New York", "on": "2019-03-03", "seats": "1"}), []),
        ],
    }
    (record,) = imported("sgd", split(dropped)).records
    assert record["accept"] == {"/on": {"values": ["the 3rd"]}}


def test_the_schema_is_that_of_the_intent(split: Any, imported: Any) -> None:
    """An enum only where the slot is categorical; a default of "" means any and is none."""
    schema = imported("sgd", split(RIDE)).records[0]["schema"]
    assert schema == {
        "type": "object",
        "properties": {
            "to": {"type": "string", "description": "City"},
            "on": {"type": "string", "description": "Date"},
            "seats": {"type": "string", "description": "Seats", "enum": ["1", "2"], "default": "1"},
            "class": {"type": "string", "description": "Class"},
        },
        "required": ["to", "on"],
    }
    assert list(schema["properties"]) == ["to", "on", "seats", "class"]


def test_a_default_that_is_given_is_told_by_a_tag(split: Any, imported: Any) -> None:
    first, second = imported("sgd", split(RIDE)).records
    assert "default-given" in first["tags"]
    assert "default-given" not in second["tags"]
    assert "transactional" in second["tags"]
    assert "transactional" not in first["tags"]


def test_gold_that_breaks_the_schema_is_declared_and_kept(split: Any, imported: Any) -> None:
    turns = [
        user("Seats for nine.", {"seats": ["9"]}),
        system("No.", ("FindBus", {"to": "Rome", "seats": "9", "wifi": "True"})),
    ]
    found = imported("sgd", split({"dialogue_id": "2_1", "services": [], "turns": turns}))
    assert found.records[0]["expected"] == {"to": "Rome", "seats": "9", "wifi": "True"}
    assert found.kinds() == {
        "2_1/1/1 /expected/on": "required-but-absent",
        "2_1/1/1 /expected/seats": "outside-enum",
        "2_1/1/1 /expected/wifi": "unknown-parameter",
        "2_1/1/1 /expected/to": "not-in-case",
    }


def test_a_variant_that_is_annotated_as_another_value_is_misaligned(
    split: Any, imported: Any
) -> None:
    turns = [
        user("On the 3rd.", {"on": ["the 3rd"]}, said("on", "the 3rd", "2019-03-03")),
        system("Yes.", ("FindBus", {"to": "Rome", "on": "2019-03-04"})),
    ]
    found = imported("sgd", split({"dialogue_id": "2_1", "services": [], "turns": turns}))
    assert found.kinds()["2_1/1/1 /accept/~1on/values/0"] == "misaligned"
    assert found.records[0]["accept"] == {"/on": {"values": ["the 3rd"]}}


def test_two_calls_in_a_turn_and_one_without_a_question(split: Any, imported: Any) -> None:
    both = system("There.", ("BuyTicket", {"to": "Rome"}))
    both["frames"] += system("", ("BuyTicket", {"to": "Bonn"}))["frames"]
    turns = [
        system("Hello.", ("BuyTicket", {"to": "Rome"})),
        user("To Rome and to Bonn.", {}),
        both,
    ]
    found = imported("sgd", split({"dialogue_id": "3", "services": [], "turns": turns}))
    assert found.report["excluded"] == {"no-question": 1}
    assert [record["id"] for record in found.records] == ["3/2/1", "3/2/2"]
    # What a call gave is not known here, so its step shows what was asked for.
    assert [step["output_data"] for step in found.records[1]["steps"]] == [
        {"arguments": {"to": "Rome"}},
        {"arguments": {"to": "Rome"}},
    ]


def test_splits_that_share_ids_keep_theirs_apart(split: Any, imported: Any, tmp_path: Path) -> None:
    split(RIDE, name="sgd/dev")
    split(RIDE, name="sgd/train")
    found = imported("sgd", tmp_path / "sgd")
    ids = [record["id"] for record in found.records]
    assert ids == [f"{part}/1_00001/{turn}/1" for part in ("dev", "train") for turn in (3, 5)]
    assert {record["cluster"] for record in found.records} == {"dev/1_00001", "train/1_00001"}
    assert found.report["defects"] == {}


def test_a_zip_and_a_single_file_give_the_same_cases(
    split: Any, imported: Any, tmp_path: Path
) -> None:
    folder = split(RIDE, CHAT)
    with zipfile.ZipFile(tmp_path / "dev.zip", "w") as packed:
        for path in folder.iterdir():
            packed.write(path, f"dev/{path.name}")
    plain = imported("sgd", folder).records
    assert imported("sgd", tmp_path / "dev.zip").records == plain
    assert imported("sgd", folder / "dialogues_001.json").records == plain


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda d: d.pop("turns"), r'dialogues_001\.json#1: the member "turns" is missing'),
        (lambda d: d.update(turns={}), r"#1\.turns: must be an array, is object"),
        (lambda d: d["turns"][3].pop("speaker"), r'turns\[3\]: the member "speaker" is missing'),
        (lambda d: d["turns"][3]["frames"][0]["service_call"].update(method="Fly"),
         r'frames\[0\]\.service_call\.method: .*no intent "Fly"'),
        (lambda d: d["turns"][3]["frames"][0]["service_call"]["parameters"].update(seats=1),
         r"parameters\.seats: must be a string, is integer"),
        (lambda d: d["turns"][3]["frames"][0].update(service="Trips_9"), 'no service "Trips_9"'),
    ],
)  # fmt: skip
def test_what_is_not_of_the_format_is_named_with_its_place(
    split: Any, tmp_path: Path, spoil: Callable[[Any], Any], says: str
) -> None:
    dialogue = json.loads(json.dumps(RIDE))
    spoil(dialogue)
    folder = split(dialogue)
    with pytest.raises(DatasetError, match=says):
        import_dataset("sgd", [folder], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_without_its_schema_nothing_is_imported(split: Any, tmp_path: Path) -> None:
    folder = split(RIDE)
    (folder / "schema.json").unlink()
    with pytest.raises(DatasetError, match=r"no schema\.json beside it"):
        import_dataset("sgd", [folder], tmp_path / "out")


def test_public_split(shared: Any, imported: Any, perfect: Any) -> None:
    """Every service call of the public file is a case with its very parameters."""
    folder = shared("sgd/dev")
    found = imported("sgd", folder)
    calls = [
        frame["service_call"]["parameters"]
        for path in sorted(folder.glob("dialogues_*.json"))
        for dialogue in json.loads(path.read_text("utf-8"))
        for turn in dialogue["turns"]
        for frame in turn["frames"]
        if "service_call" in frame
    ]
    assert calls
    assert [record["expected"] for record in found.records] == calls
    assert sum(found.report["excluded"].values()) == found.report["excluded"].get("no-call", 0)
    perfect(found)
