"""Overlays: gold mended by id and hash, with a reason, or refused whole."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import callbench.dataset
from callbench.dataset.difference import case_sha256
from callbench.dataset.loader import load_dataset
from callbench.dataset.overlay import blank, load_overlay, mended
from callbench.errors import DatasetError

Record = dict[str, Any]
Write = Callable[..., Path]


def mend(record: Record, **fields: Any) -> Record:
    return {
        "id": record["id"],
        "sha256": case_sha256(record),
        "reason": "The gold is wrong.",
        **fields,
    }


@pytest.fixture
def apply(write: Write) -> Callable[..., list[Record]]:
    """Mend a dataset of these records; return the records that come out, checked by the loader."""

    def apply(records: list[Record], *mends: Record) -> list[Record]:
        dataset = load_dataset(write(*records))
        overlay = load_overlay(write(*mends, name="overlay/mends.jsonl"))
        lines = mended(dataset, overlay.mends)
        load_dataset(write(*(line + b"\n" for line in lines), name="mended.jsonl"))
        return [json.loads(line) for line in lines]

    return apply


def test_values_are_set_and_taken_out(record: Record, apply: Callable[..., list[Record]]) -> None:
    one = mend(
        record,
        set={"/expected/city": "Hangzhou City", "/accept/~1nights": {"values": [3]}},
        remove=["/accept/~1city"],
    )
    (out,) = apply([record], one)
    assert out["expected"] == {"city": "Hangzhou City", "nights": 2}
    assert out["accept"] == {"/nights": {"values": [3]}}
    rest = ("expected", "accept")
    assert {k: v for k, v in out.items() if k not in rest} == {
        k: v for k, v in record.items() if k not in rest
    }


def test_other_cases_are_taken_over_byte_for_byte(record: Record, write: Write) -> None:
    odd = json.dumps({**record, "id": "odd"}, indent=None, separators=(" , ", ": ")).encode()
    dataset = load_dataset(write(record, odd))
    overlay = write(mend(record, set={"/expected/city": "Ningbo"}), name="o/m.jsonl")
    assert mended(dataset, load_overlay(overlay).mends)[1] == odd


def test_a_list_can_be_appended_to_and_cut(
    record: Record, apply: Callable[..., list[Record]]
) -> None:
    (out,) = apply([record], mend(record, set={"/unfillable/-": "/note"}))
    assert out["unfillable"] == ["/phone", "/note"]
    filled = mend(record, remove=["/unfillable/0"], set={"/expected/phone": "1"})
    (out,) = apply([record], filled)
    assert "unfillable" not in out
    assert out["expected"]["phone"] == "1"


def test_a_declared_defect_that_is_gone_is_no_longer_declared(
    record: Record, apply: Callable[..., list[Record]]
) -> None:
    broken = copy.deepcopy(record)
    broken["expected"]["rooms"] = [{"beds": "two"}]
    broken["defects"] = {"/expected/rooms/0/beds": "breaks-schema"}
    broken["tags"] = ["flat", "gold-defect"]
    (out,) = apply([broken], mend(broken, set={"/expected/rooms/0/beds": 2}))
    assert "defects" not in out
    assert out["tags"] == ["flat"]


def test_a_defect_that_stays_stays_declared(
    record: Record, apply: Callable[..., list[Record]]
) -> None:
    broken = copy.deepcopy(record)
    broken["expected"]["rooms"] = [{"beds": "two"}]
    broken["defects"] = {"/expected/rooms/0/beds": "breaks-schema"}
    broken["tags"] = ["gold-defect"]
    (out,) = apply([broken], mend(broken, set={"/expected/city": "Ningbo"}))
    assert out["defects"] == broken["defects"]
    assert out["tags"] == ["gold-defect"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"sha256": "0" * 64}, "the case has changed since this was written"),
        ({"id": "hotel-2"}, "has no case hotel-2. Did you mean hotel-1?"),
        ({"set": {"/expected/city": "Hangzhou"}}, "stands there already"),
        ({"set": {"/expected/nights": "two"}}, "would break the rule expected-schema"),
        ({"set": {"/expected/town": "x"}}, "would break the rule expected-declared"),
        ({"remove": ["/expected/note"]}, 'no "/expected/note" to take out'),
        ({"remove": ["/unfillable/3"]}, "the list has 1 items"),
        ({"set": {"/expected/city/x": "y"}}, 'nothing to hold "/expected/city/x"'),
    ],
)
def test_a_mend_that_does_not_fit_is_refused(
    record: Record, write: Write, change: Record, told: str
) -> None:
    dataset = load_dataset(write(record))
    one = {**mend(record, set={"/expected/city": "Ningbo"}), **change}
    if "remove" in change:
        del one["set"]
    overlay = load_overlay(write(one, name="o/m.jsonl"))
    with pytest.raises(DatasetError) as caught:
        mended(dataset, overlay.mends)
    assert told in str(caught.value)
    assert "m.jsonl:1" in str(caught.value)


def test_every_mend_that_does_not_fit_is_named(record: Record, write: Write) -> None:
    records = [{**record, "id": name} for name in ("a", "b", "c")]
    mends = [{**mend(one, set={"/expected/city": "X"}), "sha256": "0" * 64} for one in records]
    overlay = load_overlay(write(*mends, name="o/m.jsonl"))
    with pytest.raises(DatasetError) as caught:
        mended(load_dataset(write(*records)), overlay.mends)
    assert [f"m.jsonl:{line}" in str(caught.value) for line in (1, 2, 3)] == [True, True, True]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"{", "Not JSON"),
        (b"[]", "a list"),
        ({"reason": ""}, '"reason" must be a text that is not empty'),
        ({"reason": "  "}, '"reason" must be a text that is not empty'),
        ({"sha256": None}, '"sha256" must be a text'),
        ({"set": {}}, "it changes nothing"),
        ({"set": []}, '"set" must be an object'),
        ({"why": "x"}, 'unknown field "why"'),
        ({"set": {"/question": "x"}}, "only what is right can be mended"),
        ({"set": {"/expectedly": "x"}}, "only what is right can be mended"),
        ({"set": {"": {}}}, "only what is right can be mended"),
        ({"set": {"/expected/~2": 1}}, "no RFC 6901 pointer"),
        ({"remove": ["/accept/a~"]}, "no RFC 6901 pointer"),
    ],
)
def test_a_bad_line_is_told_by_its_number(
    record: Record, write: Write, line: Any, told: str
) -> None:
    good = mend(record, set={"/expected/city": "Ningbo"})
    bad = line if isinstance(line, bytes) else {**good, "id": "other", **line}
    path = write(good, bad if isinstance(bad, dict) else bad + b"\n", name="m.jsonl")
    with pytest.raises(DatasetError) as caught:
        load_overlay(path)
    assert f"m.jsonl:2: {told}" in str(caught.value) or (
        "m.jsonl:2: " in str(caught.value) and told in str(caught.value)
    )


def test_two_mends_of_one_case_are_refused(record: Record, write: Write) -> None:
    one = mend(record, set={"/expected/city": "Ningbo"})
    with pytest.raises(DatasetError, match=r"m\.jsonl:2: the case hotel-1 is mended twice"):
        load_overlay(write(one, one, name="m.jsonl"))


def test_lines_nobody_filled_in_are_counted(record: Record, write: Write) -> None:
    good = mend(record, set={"/expected/city": "Ningbo"})
    path = write(blank({**record, "id": "x"}, "looks wrong"), good, name="m.jsonl")
    overlay = load_overlay(path)
    assert (len(overlay.mends), overlay.untouched) == (1, 1)
    with pytest.raises(DatasetError, match="it mends no case, 1 lines are blank"):
        load_overlay(write(blank(record, "looks wrong"), name="n.jsonl"))


def test_the_documented_schema_takes_what_the_reader_takes(record: Record) -> None:
    path = Path(callbench.dataset.__file__).with_name("overlay.schema.json")
    validator = jsonschema.Draft7Validator(json.loads(path.read_text("utf-8")))
    validator.validate(
        mend(record, set={"/expected/city": "x"}, remove=["/accept/~1city"], found="y")
    )
    for bad in ({"set": {"/question": 1}}, {"reason": ""}, {"sha256": "x"}, {"why": 1}):
        assert not validator.is_valid({**mend(record), **bad})
