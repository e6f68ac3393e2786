"""Snips: sentences in parts, some of which are spans."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from callbench.dataset.importers.writing import import_dataset
from callbench.errors import DatasetError


def sentence(*parts: str | tuple[str, str]) -> dict[str, Any]:
    data = [
        {"text": part} if isinstance(part, str) else {"text": part[0], "entity": part[1]}
        for part in parts
    ]
    return {"data": data}


MUSIC = {
    "PlayMusic": [
        sentence("play ", ("Où es-tu", "track"), " by ", ("Zaz", "artist"), " or ",
                 ("Air", "artist")),
        sentence("play ", ("Zaz", "artist")),
        sentence("play something"),
    ]
}  # fmt: skip


def written(path: Path, value: Any, encoding: str = "utf-8") -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(json.dumps(value, ensure_ascii=False).encode(encoding))
    return path


def test_a_case_is_a_sentence(tmp_path: Path, imported: Any, perfect: Any) -> None:
    found = imported("snips", written(tmp_path / "validate_PlayMusic.json", MUSIC))
    perfect(found)
    assert found.report["defects"] == {}
    assert [record["id"] for record in found.records] == [
        f"validate_PlayMusic/{n}" for n in (1, 2, 3)
    ]
    assert [record["question"] for record in found.records] == [
        "play Où es-tu by Zaz or Air",
        "play Zaz",
        "play something",
    ]
    assert [record["expected"] for record in found.records] == [
        {"track": "Où es-tu", "artist": ["Zaz", "Air"]},
        {"artist": ["Zaz"]},
        {},
    ]
    schema = {
        "type": "object",
        "properties": {
            "track": {"type": "string"},
            "artist": {"type": "array", "items": {"type": "string"}},
        },
    }
    assert [record["schema"] for record in found.records] == [schema] * 3
    assert {record["tool"]["name"] for record in found.records} == {"PlayMusic"}


def test_a_directory_takes_its_data_files_only(tmp_path: Path, imported: Any) -> None:
    written(tmp_path / "set" / "train_PlayMusic.json", MUSIC)
    written(tmp_path / "set" / "metrics.json", {"precision": 1})
    assert imported("snips", tmp_path / "set").report["records"] == 3


def test_a_training_file_in_windows_1252_is_read_and_tagged(tmp_path: Path, imported: Any) -> None:
    found = imported("snips", written(tmp_path / "train_PlayMusic_full.json", MUSIC, "cp1252"))
    assert found.records[0]["expected"]["track"] == "Où es-tu"
    assert all("cp1252" in record["tags"] for record in found.records)
    plain = imported("snips", written(tmp_path / "train_PlayMusic.json", MUSIC))
    assert not any("cp1252" in record["tags"] for record in plain.records)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ([], r"x\.json: must be an object, is array"),
        ({"A": {}}, r"x\.json#A: must be an array, is object"),
        ({"A": [{}]}, r'A\[0\]: the member "data" is missing'),
        ({"A": [{"data": [{"entity": "e"}]}]}, r'data\[0\]: the member "text" is missing'),
        ({"A": [{"data": [{"text": 1}]}]}, r"data\[0\]\.text: must be a string, is integer"),
    ],
)
def test_what_is_not_of_the_format_is_named_with_its_place(
    tmp_path: Path, value: Any, says: str
) -> None:
    with pytest.raises(DatasetError, match=says):
        import_dataset("snips", [written(tmp_path / "x.json", value)], tmp_path / "out")


def test_public_files(shared: Any, imported: Any, perfect: Any) -> None:
    folder = shared("snips")
    found = imported("snips", folder)
    perfect(found)
    sentences = [
        example["data"]
        for path in sorted(folder.glob("*.json"))
        for examples in json.loads(path.read_text("utf-8")).values()
        for example in examples
    ]
    assert found.report["cases"] == len(sentences)
    values = [
        [
            value
            for slot in record["expected"].values()
            for value in (slot if isinstance(slot, list) else [slot])
        ]
        for record in found.records
    ]
    assert [sorted(each) for each in values] == [
        sorted(part["text"] for part in parts if "entity" in part) for parts in sentences
    ]
