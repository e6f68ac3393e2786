"""JSON values, and the names and texts in them that implementations trip over."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

_PLAIN_NAMES = ("a", "b", "c")
_ODD_NAMES = (
    "",
    "0",
    "1",
    "01",
    "-",
    "/",
    "a/b",
    "m~n",
    "~1",
    "a%b",
    "child's_name",
    'say "hi"',
    "城市",
    "收货 地址",
    "😀",
    "１",
    "$ref",
    "__proto__",
    "required",
)
_ODD_TEXTS = (
    "",
    " ",
    "0",
    "a",
    "b",
    "ab",
    "aaaa",
    "null",
    "你好",
    "全角“引号”，以及{括号}",
    'a "quoted" word',
    "{",
    "}",
    '{"a": 1}',
    "{{ name }}",
    "[1, 2",
    "```json\n{}\n```",
    "<think>",
    "</think>",
    "back\\slash",
    "line\nbreak",
    "line\r\nbreak",
    "tab\there",
    "\u2028",
    "\u0085",
    "\ufeff",
    "\x00",
    "é",
    "e\u0301",
    "👩‍👩‍👧",
)
_ODD_INTEGERS = (2**31, 2**53, 2**53 + 1, -(2**63), 2**64, 10**21)
_ODD_FLOATS = (0.0, -0.0, 1.0, 0.1, 0.3, 1.5, 2.5, -1.0, 1e21, 1e-7, 5e-324, 1.7976931348623157e308)


@cache  # made once: building and checking a strategy costs more than a draw
def names() -> SearchStrategy[str]:
    """Draw names of members: often ``a``, ``b`` or ``c`` so that draws meet, else odd ones.

    The odd ones are empty, indexes, or hold what JSON Pointers, URIs, JavaScript or English
    messages treat specially::

        @given(names())
        def test_a_missing_name_is_reported(name): ...
    """
    return st.one_of(st.sampled_from(_PLAIN_NAMES), st.sampled_from(_ODD_NAMES))


@cache
def texts() -> SearchStrategy[str]:
    """Draw texts without lone surrogates: odd ones, short ones, any.

    Among the odd ones are braces, fences, thought tags, quotes of all kinds, line ends of other
    standards and characters of several code points::

        @given(texts())
        def test_any_text_survives(text):
            assert my_decode(my_encode(text)) == text
    """
    return st.one_of(
        st.sampled_from(_ODD_TEXTS), st.text("ab1 城", max_size=4), st.text(max_size=8)
    )


@cache
def scalars() -> SearchStrategy[Any]:
    """Draw ``None``, booleans, numbers and texts; every falsy one is common.

    Numbers are finite, some beyond 53 bits::

        @given(scalars())
        def test_falsy_values_are_given(value): ...
    """
    return st.one_of(
        st.sampled_from([None, False, True, 0, 1, "", 0.0]),
        st.integers(-3, 5),
        st.sampled_from(_ODD_INTEGERS),
        st.sampled_from(_ODD_FLOATS),
        texts(),
    )


@cache
def json_values(max_leaves: int = 8) -> SearchStrategy[Any]:
    """Draw any JSON value, of about ``max_leaves`` scalars at most.

    Every draw is a new value, free to be changed::

        @given(schemas(), json_values())
        def test_it_never_raises(schema, data):
            my_check(schema, data)
    """
    return st.recursive(
        scalars(),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(names(), inner, max_size=4)
        ),
        max_leaves=max_leaves,
    )


@cache
def json_objects(max_leaves: int = 8) -> SearchStrategy[dict[str, Any]]:
    """Draw JSON objects, the empty one too, of up to four members.

    Use it where a call's arguments or a step's output stand::

        @given(known=json_objects(), reply=json_objects())
        def test_nothing_known_is_lost(known, reply): ...
    """
    return st.dictionaries(names(), json_values(max_leaves), max_size=4)
