"""Reading values out of earlier steps: seed CoreCall §3.4.4 and §7."""

from __future__ import annotations

import logging
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corecall.core import CoreCall
from corecall.types import ExecutorHistory

extract = CoreCall._extract_history_variables
UPPER = "123E4567-E89B-12D3-A456-426614174000"


def steps(**outputs: dict[str, Any]) -> dict[Any, ExecutorHistory]:
    return {key: ExecutorHistory(stepId=key, outputData=output) for key, output in outputs.items()}


def test_the_paths_of_the_seed() -> None:
    past = steps(step1={"result": 7}, weather={"data": {"temperature": 25}})
    assert extract("step1/result", past) == 7
    assert extract("weather/data/temperature", past) == 25


def test_a2_every_key_counts_and_the_step_alone_gives_its_whole_output() -> None:
    past = steps(step={"k": {"k": 1}})
    assert extract("step", past) is past["step"].outputData
    assert extract("step/k", past) == {"k": 1}
    assert extract("step/k/k", past) == 1


@pytest.mark.parametrize("value", [0, "", False, [], {}, 0.0])
def test_falsy_values_come_back_as_the_same_object(value: Any) -> None:
    past = steps(s={"v": value})
    assert extract("s/v", past) is past["s"].outputData["v"]


@pytest.mark.parametrize(
    "path",
    [
        "s/none/x",  # A1: through None
        "s/number/x",  # A1: through a number
        "s/text/ell",  # A1: a segment that is a substring
        "s/text/0",  # A1: a string is no list
        "s/flag/x",
        "s/missing",  # A4
        "s/list/x",
        "s/list/2",
        "s/list/-1",
        "s/list/01",
        "s/list/+1",
        "s/list/１",  # a full-width digit is no index
        "s/list/" + "9" * 5000,  # more digits than Python converts
        "s/object/",
        "unknown/x",
        "unknown",
        "/s",
        "",
    ],
)
def test_a1_a4_what_is_not_there_is_none_and_logged(
    path: str, caplog: pytest.LogCaptureFixture
) -> None:
    past = steps(
        s={"none": None, "number": 5, "text": "hello", "flag": True, "list": [1, 2], "object": {}}
    )
    with caplog.at_level(logging.ERROR):
        assert extract(path, past) is None
    assert [record.levelno for record in caplog.records] == [logging.ERROR]


@pytest.mark.parametrize("path", [None, 5, b"s/k", ["s"], UUID(UPPER)])
def test_a_path_that_is_no_string_is_none(path: Any, caplog: pytest.LogCaptureFixture) -> None:
    assert extract(path, steps(s={"k": 1})) is None
    assert caplog.records


@pytest.mark.parametrize("past", [None, 5, {"s": None}, {"s": {"k": 1}}])
def test_a_history_that_is_none_is_none(past: Any) -> None:
    assert extract("s/k", past) is None


def test_a_null_that_is_there_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    assert extract("s/v", steps(s={"v": None})) is None
    assert not caplog.records


def test_a3_either_spelling_of_a_uuid_finds_the_step() -> None:
    record = ExecutorHistory(stepId=UPPER, outputData={"k": 1})
    for filed in (UUID(UPPER), UPPER, UPPER.lower()):
        for asked in (UPPER, UPPER.lower()):
            assert extract(f"{asked}/k", {filed: record}) == 1
    assert extract(f"{UPPER.replace('-', '')}/k", {UUID(UPPER): record}) is None


def test_segments_are_not_unescaped_and_an_empty_one_is_the_empty_key() -> None:
    past = steps(s={"a~1b": 1, "a/b": 2, "": {"": 3}, "%41": 4})
    assert extract("s/a~1b", past) == 1
    assert extract("s/%41", past) == 4
    assert extract("s//", past) == 3
    assert extract("s/a/b", past) is None


def test_lists_are_entered_by_index() -> None:  # r182
    past = steps(生成={"items": [{"data": {"内容": "abc"}}]})
    assert extract("生成/items/0/data/内容", past) == "abc"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
)


@given(
    st.dictionaries(st.text(max_size=3), st.dictionaries(st.text(max_size=3), json_values)),
    st.text(alphabet="ab/01", max_size=12) | st.text(max_size=12),
)
def test_it_never_raises_and_agrees_with_plain_navigation(
    outputs: dict[str, dict[str, Any]], path: str
) -> None:
    past = steps(**outputs)

    def navigate() -> Any:
        first, *rest = path.split("/")
        value: Any = past[first].outputData
        for segment in rest:
            if isinstance(value, list):
                if segment not in [str(index) for index in range(len(value))]:
                    raise KeyError(segment)
                value = value[int(segment)]
            elif isinstance(value, dict):
                value = value[segment]
            else:
                raise KeyError(segment)
        return value

    try:
        expected = navigate() if path else None
    except KeyError:
        expected = None
    assert extract(path, past) is expected
