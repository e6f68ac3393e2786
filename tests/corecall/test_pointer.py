"""JSON Pointers (RFC 6901). Ids like r162 are reports of real faults."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corecall import pointer

RFC_DOCUMENT = {
    "foo": ["bar", "baz"],
    "": 0,
    "a/b": 1,
    "c%d": 2,
    "e^f": 3,
    "g|h": 4,
    "i\\j": 5,
    'k"l': 6,
    " ": 7,
    "m~n": 8,
}


@pytest.mark.rule("schema.pointer.1", "schema.pointer.2")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", RFC_DOCUMENT),
        ("/foo", ["bar", "baz"]),
        ("/foo/0", "bar"),
        ("/foo/1", "baz"),
        ("/", 0),
        ("/a~1b", 1),
        ("/c%d", 2),
        ("/e^f", 3),
        ("/g|h", 4),
        ("/i\\j", 5),
        ('/k"l', 6),
        ("/ ", 7),
        ("/m~0n", 8),
    ],
)
def test_examples_of_the_rfc(text: str, value: Any) -> None:
    """RFC 6901 section 5."""
    assert pointer.get(RFC_DOCUMENT, text) == value


@pytest.mark.rule("schema.pointer.1")
@pytest.mark.trap("A19")
def test_root_and_empty_key_differ() -> None:
    """The key "" collided with the root."""
    assert pointer.split("") == ()
    assert pointer.split("/") == ("",)
    assert pointer.join(()) == ""
    assert pointer.join(("",)) == "/"


@pytest.mark.rule("schema.pointer.2")
def test_tilde_one_after_escaped_tilde_stays() -> None:
    """``~01`` is ``~1``, not ``/`` (RFC 6901 section 4)."""
    assert pointer.split("/~01") == ("~1",)
    assert pointer.join(("~1",)) == "/~01"


@pytest.mark.rule("schema.pointer.1")
def test_join_takes_indexes() -> None:
    assert pointer.join(("l", 1, "x")) == "/l/1/x"


@pytest.mark.rule("schema.pointer.1", "schema.pointer.2")
@given(st.lists(st.text()))
def test_split_undoes_join(tokens: list[str]) -> None:
    assert pointer.split(pointer.join(tokens)) == tuple(tokens)


@pytest.mark.rule("schema.pointer.3")
@pytest.mark.parametrize("text", ["a", "a/b", "/a~", "/a~2b", "#/a", " /a"])
def test_what_is_no_pointer_is_refused(text: str) -> None:
    with pytest.raises(
        pointer.PointerError, match=r"does not start with '/'|neither '~0' nor '~1'"
    ):
        pointer.split(text)


@pytest.mark.rule("schema.pointer.4")
@pytest.mark.parametrize("token", ["0", "1", "10", "999999999999999999"])
def test_indexes(token: str) -> None:
    assert pointer.array_index(token) == int(token)


@pytest.mark.rule("schema.pointer.4")
@pytest.mark.parametrize(
    "token", ["", "-", "+1", "-1", "00", "01", "1 ", " 1", "1.0", "1e1", "１", "1\n", "9" * 19]
)
def test_what_is_no_index(token: str) -> None:
    """r162 (leading zero), r163 (sign), r165 (the dash)."""
    assert pointer.array_index(token) is None


@pytest.mark.rule("schema.pointer.4")
@pytest.mark.parametrize(
    ("document", "text"),
    [
        ({"a": ["x"]}, "/a/00"),  # r162
        ({"l": [1, 2]}, "/l/+1"),  # r163
        ({"f": [1]}, "/f/-"),  # r165
        ({"f": [1]}, "/f/1"),
        ({}, "/I'm/here"),  # r172
        ({"a": None}, "/a/b"),
        ({"a": "text"}, "/a/0"),
        ({"a": 1}, "/b"),
    ],
)
def test_nothing_there(document: Any, text: str) -> None:
    with pytest.raises(LookupError, match="nothing at"):
        pointer.get(document, text)


@pytest.mark.rule("schema.pointer.4")
@pytest.mark.parametrize(
    ("document", "text", "value"),
    [
        ({"a": {"00": "y"}}, "/a/00", "y"),  # r162
        ({"a": ["x"]}, "/a/0", "x"),  # r166: the container decides what "0" is
        ({"a": {"0": "y"}}, "/a/0", "y"),  # r166
        ({"a": None}, "/a", None),
    ],
)
def test_something_there(document: Any, text: str, value: Any) -> None:
    assert pointer.get(document, text) == value


def test_the_value_itself_is_returned() -> None:
    document: dict[str, Any] = {"a": [{}]}
    assert pointer.get(document, "/a/0") is document["a"][0]
