"""The tags for what JSON cannot say: examples of PROTOCOL.md, and the way there and back."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callbench.peer.values import decode, encode

NAMES = st.one_of(
    st.text(max_size=4),
    st.sampled_from(["$int", "$float", "$bytes", "$string", "$object", "$members", "$ref"]),
)
HALVES = st.text(st.characters(min_codepoint=0xD7FE, max_codepoint=0xE001), max_size=4)


def whole(text: str) -> str:
    """Two halves that meet are one character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


TEXTS = st.one_of(st.text(max_size=6), HALVES.map(whole))
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.sampled_from([0.0, -0.0, 1.0, 1e300, 2.0**53, 2**53, -(2**53), 2**53 - 1]),
        TEXTS,
        st.binary(max_size=4),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(NAMES, HALVES.map(whole)), inner, max_size=2),
    ),
    max_leaves=8,
)


def exact(value: Any) -> Any:
    """Tell apart what ``==`` does not: 1, 1.0 and true; 0.0 and -0.0; the order of members."""
    if isinstance(value, dict):
        return [(name, exact(member)) for name, member in value.items()]
    if isinstance(value, list):
        return [exact(item) for item in value]
    sign = math.copysign(1, value) if isinstance(value, float) else 0
    return (type(value).__name__, value, sign)


@given(VALUES)
def test_there_and_back_through_bytes(value: Any) -> None:
    line = json.dumps(encode(value), ensure_ascii=False, allow_nan=False).encode()
    assert exact(decode(json.loads(line))) == exact(value)


@given(VALUES)
def test_what_is_written_needs_no_more_than_doubles_and_whole_characters(value: Any) -> None:
    line = json.dumps(encode(value))
    numbers: list[int] = []
    json.loads(line, parse_int=lambda digits: numbers.append(int(digits)))
    assert all(abs(number) <= 2**53 - 1 for number in numbers)
    floats: list[float] = []
    json.loads(line, parse_float=lambda digits: floats.append(float(digits)))
    assert not any(number.is_integer() for number in floats)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (12345678901234567890, {"$int": "12345678901234567890"}),
        (-(2**53), {"$int": "-9007199254740992"}),
        (2**53 - 1, 2**53 - 1),
        (1.0, {"$float": "1.0"}),
        (-0.0, {"$float": "-0.0"}),
        (1.5, 1.5),
        (b"hi", {"$bytes": "aGk="}),
        ("a\ud801", {"$string": ["a", 55297]}),
        ({"$int": "x"}, {"$object": {"$int": "x"}}),
        ({"$int": "x", "a": 1}, {"$int": "x", "a": 1}),
        ({"$ref": "#/definitions/a"}, {"$ref": "#/definitions/a"}),
        ({"$object": {"$int": 1.0}}, {"$object": {"$object": {"$object": {"$int": {"$float": "1.0"}}}}}),
        ({"\ud800": 1, "b": 2}, {"$members": [[{"$string": [55296]}, 1], ["b", 2]]}),
        ((1, 2), [1, 2]),
    ],
)  # fmt: skip
def test_how_a_value_is_written(value: Any, written: Any) -> None:
    assert exact(encode(value)) == exact(written)


@pytest.mark.parametrize(
    "value",
    [
        {"$int": "1.0"},
        {"$int": 5},
        {"$int": "٣"},
        {"$float": "NaN"},
        {"$float": "1e999"},
        {"$float": "0x1"},
        {"$bytes": "a"},
        {"$bytes": "aGk=\n"},
        {"$string": [65]},
        {"$string": [True]},
        {"$string": [None]},
        {"$object": [1]},
        {"$members": [["a"]]},
        {"$members": [[1, 2]]},
    ],
)
def test_a_tag_with_something_else_in_it_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="tag"):
        decode(value)


def test_two_halves_in_pieces_are_one_character() -> None:
    assert decode({"$string": ["a", 55357, 56832]}) == "a😀"


@pytest.mark.parametrize("value", [math.nan, math.inf, {1: 2}, {1, 2}, object()])
def test_what_is_no_json_value_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="no "):
        encode(value)


def test_values_may_be_nested_deeply() -> None:
    """Limits of depth are among what is tested; 500 levels is what the protocol promises."""
    value: Any = 1.0
    for _ in range(250):
        value = {"a": [value]}
    assert decode(json.loads(json.dumps(encode(value)))) == value
