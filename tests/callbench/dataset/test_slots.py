"""Slots of an argument object: what they are and how they are addressed."""

import pytest

from callbench.dataset.slots import (
    ABSENT,
    Blocked,
    ancestors,
    beneath,
    find,
    flatten,
    list_index,
    lookup,
    related,
    resolve,
    same,
    to_pointer,
)


def test_every_scalar_leaf_is_a_slot_and_null_is_a_value() -> None:
    assert flatten({"a": 1, "b": {"c": "x", "d": None}}) == {
        ("a",): 1,
        ("b", "c"): "x",
        ("b", "d"): None,
    }


def test_a_list_of_scalars_is_one_slot() -> None:
    assert flatten({"tags": ["a", 1, None]}) == {("tags",): ["a", 1, None]}


def test_a_list_with_an_object_in_it_goes_by_index() -> None:
    assert flatten({"l": [{"x": 1}, 5, [1, 2]]}) == {
        ("l", 0, "x"): 1,
        ("l", 1): 5,
        ("l", 2): [1, 2],
    }


def test_an_empty_object_or_list_is_a_slot_and_the_root_is_none() -> None:
    assert flatten({"a": {}, "b": [], "c": [{}]}) == {("a",): {}, ("b",): [], ("c", 0): {}}
    assert flatten({}) == {}


def test_pointers_escape_as_rfc_6901_says() -> None:
    assert to_pointer(("a/b", "m~n", 0, "")) == "/a~1b/m~0n/0/"


def test_lookup_tells_value_absence_and_barrier_apart() -> None:
    root = {"a": {"b": None}, "l": [1], "s": "text"}
    assert lookup(root, ("a", "b")) is None
    assert lookup(root, ("a", "c")) is ABSENT
    assert lookup(root, ("l", 0)) == 1
    assert lookup(root, ("l", 1)) is ABSENT
    assert lookup(root, ("s", "x")) == Blocked(("s",), "text")
    assert lookup(root, ("a", "b", "c")) == Blocked(("a", "b"), None)


def test_a_list_is_not_an_object_with_digits_for_keys() -> None:
    assert lookup({"m": ["x"]}, ("m", "0")) == Blocked(("m",), ["x"])
    assert lookup({"m": {"0": "x"}}, ("m", 0)) == Blocked(("m",), {"0": "x"})


def test_a_gap_left_by_alignment_is_absent_and_no_slot() -> None:
    assert lookup({"l": [ABSENT, 1]}, ("l", 0, "x")) is ABSENT
    assert flatten({"l": [ABSENT, {"x": 1}]}) == {("l", 1, "x"): 1}


@pytest.mark.parametrize("text", ["/l/00", "/l/+1", "/l/-", "/l/2", "/l/１", "/x", "/l/0/y"])
def test_a_pointer_to_nothing_resolves_to_nothing(text: str) -> None:
    """Reports r162, r163, r165: 00, a sign and the dash name no element."""
    assert resolve({"l": [1, 2]}, text) is None
    assert find({"l": [1, 2]}, text) is ABSENT


def test_the_container_decides_whether_a_digit_is_an_index() -> None:
    """Report r166."""
    assert resolve({"a": ["x"]}, "/a/0") == ("a", 0)
    assert resolve({"a": {"0": "y"}}, "/a/0") == ("a", "0")
    assert find({"a": {"00": "y"}}, "/a/00") == "y"


@pytest.mark.parametrize("token", ["01", "-1", "²", "١", "9" * 5000, "", "1.0"])
def test_what_is_no_list_index_names_no_item(token: str) -> None:
    """Python's int() would read some of these, and refuse others with an error of its own."""
    assert list_index(token) is None
    assert find({"a": ["x", "y"]}, f"/a/{token}") is ABSENT
    assert find({"a": {token: "z"}}, f"/a/{token}") == "z"


def test_ancestors_are_nearest_first_without_the_root() -> None:
    assert list(ancestors("/a/b/c")) == ["/a/b", "/a"]
    assert list(ancestors("/a")) == []


def test_a_name_that_merely_begins_alike_is_not_beneath() -> None:
    assert beneath("/a/b", "/a")
    assert beneath("/a", "/a")
    assert not beneath("/ab", "/a")
    assert related("/a", "/a/b")
    assert not related("/a/b", "/a/c")


def test_same_knows_numbers_by_value_and_booleans_apart() -> None:
    assert same(1, 1.0)
    assert same([1, 2], [1.0, 2.0])
    assert not same(1, True)
    assert not same([1], [True])
    assert not same([1], [1, 2])
    assert not same(None, "")
