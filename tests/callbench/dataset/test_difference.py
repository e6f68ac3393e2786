"""Two versions of a dataset, case by case and field by field."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from callbench.dataset.difference import Change, Difference, case_sha256, difference
from callbench.dataset.loader import load_dataset
from callbench.dataset.slots import ABSENT

Record = dict[str, Any]


@pytest.fixture
def differ(write: Callable[..., Path]) -> Callable[[list[Any], list[Any]], Difference]:
    def differ(before: list[Any], after: list[Any]) -> Difference:
        one, other = write(*before, name="before.jsonl"), write(*after, name="after.jsonl")
        return difference(load_dataset(one), load_dataset(other))

    return differ


Differ = Callable[[list[Any], list[Any]], Difference]


def changed(record: Record, **fields: Any) -> Record:
    return {**copy.deepcopy(record), **fields}


def test_the_same_cases_written_otherwise_do_not_differ(record: Record, differ: Differ) -> None:
    turned = dict(reversed(record.items()))
    found = differ([record], [json.dumps(turned, indent=None, separators=(" , ", " : ")).encode()])
    assert not found.differs
    assert found.same == 1


def test_what_is_only_in_one(record: Record, differ: Differ) -> None:
    found = differ(
        [changed(record, id="a"), changed(record, id="b")],
        [changed(record, id="b"), changed(record, id="c")],
    )
    assert (found.only_before, found.only_after, found.same) == (("a",), ("c",), 1)
    assert found.differs
    assert not found.moved


def test_each_changed_field_has_its_pointer_and_both_values(record: Record, differ: Differ) -> None:
    other = copy.deepcopy(record)
    other["expected"]["city"] = "Ningbo"
    other["conversation"][1]["content"] = "Where to?"
    del other["summary"]
    other["facts"] = ["The user likes quiet rooms.", "And cats."]
    found = differ([record], [other])
    changes = sorted(found.changed["hotel-1"], key=lambda change: change.pointer)
    assert changes == [
        Change("/conversation/1/content", "Where?", "Where to?"),
        Change("/expected/city", "Hangzhou", "Ningbo"),
        Change("/facts", record["facts"], other["facts"]),
        Change("/summary", "Planning a trip.", ABSENT),
    ]
    assert found.gold_only == ()


def test_gold_alone_leaves_the_recordings_valid(record: Record, differ: Differ) -> None:
    other = changed(record, accept={}, tags=["new"], unfillable=[])
    other["expected"] = {"city": "Hangzhou", "nights": 2, "phone": "1"}
    assert differ([record], [other]).gold_only == ("hotel-1",)


def test_the_order_of_properties_is_a_change(record: Record, differ: Differ) -> None:
    other = copy.deepcopy(record)
    other["schema"]["properties"] = dict(reversed(record["schema"]["properties"].items()))
    (change,) = differ([record], [other]).changed["hotel-1"]
    assert change.pointer == "/schema/properties"


@pytest.mark.parametrize(("one", "other"), [(1, True), (1, "1"), (0, False), (None, "")])
def test_values_of_another_type_differ(
    record: Record, differ: Differ, one: Any, other: Any
) -> None:
    before, after = copy.deepcopy(record), copy.deepcopy(record)
    before["steps"][0]["output_data"] = {"x": one}
    after["steps"][0]["output_data"] = {"x": other}
    assert differ([before], [after]).changed["hotel-1"] == (
        Change("/steps/0/output_data/x", one, other),
    )


def test_another_order_of_the_cases(record: Record, differ: Differ) -> None:
    a, b = changed(record, id="a"), changed(record, id="b")
    found = differ([a, b], [b, a])
    assert found.moved
    assert found.differs


def test_integers_beyond_64_bits_are_told_apart(record: Record, differ: Differ) -> None:
    before, after = copy.deepcopy(record), copy.deepcopy(record)
    before["steps"][0]["output_data"] = {"x": 2**70}
    after["steps"][0]["output_data"] = {"x": 2**70 + 1}
    assert differ([before], [after]).changed["hotel-1"][0].after == 2**70 + 1


def test_the_hash_of_a_case_is_that_of_its_sorted_json() -> None:
    import hashlib

    text = '{"id":"é","lang":"en","schema":{"b":1,"a":2}}'
    record = {"schema": {"b": 1, "a": 2}, "lang": "en", "id": "é"}
    assert case_sha256(record) == hashlib.sha256(text.encode()).hexdigest()
