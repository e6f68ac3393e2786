"""An object in whatever a model writes around it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callbench.fuzz.strategies import json_objects, rendered_replies, thoughts
from corecall.generator import JsonGenerator
from corecall.reply import parse_arguments, parse_reply, process_response

from .support import canonical, tries

_PIECES = (
    *"{}[]:,\"'\\",
    "<think>",
    "</think>",
    '"a"',
    '{"a": 1}',
    '{"b": "}"}',
    "{a: 1}",
    "{'a': 1,}",
    "[1, 2]",
    "```",
    "true",
    "None",
    "杭州",
    "“",
    "\n",
    " ",
)
soups = st.lists(st.one_of(st.sampled_from(_PIECES), st.text(max_size=2)), max_size=16).map("".join)


@pytest.mark.rule(
    "reply.process.1", "reply.scan.2", "reply.scan.3", "reply.thought.2", "reply.thought.6"
)
@tries(250)
@given(rendered_replies())
def test_a_rendered_object_comes_back(drawn: tuple[str, dict[str, Any]]) -> None:
    text, answer = drawn
    reply = parse_reply(text)
    assert reply.object is not None, reply.problem
    assert canonical(reply.object) == canonical(answer)
    assert reply.problem == ""
    assert canonical(json.loads(process_response(text))) == canonical(answer)
    assert JsonGenerator.process_response(text) == process_response(text)


@pytest.mark.rule("reply.repair.1")
@tries(100)
@given(rendered_replies())
def test_what_is_right_is_never_repaired(drawn: tuple[str, dict[str, Any]]) -> None:
    text, answer = drawn
    reply = parse_reply(text, repair=True)
    assert canonical(reply.object) == canonical(answer)
    assert reply.repairs == ()


@pytest.mark.rule("reply.thought.1", "reply.thought.8")
@tries(100)
@given(rendered_replies(), thoughts())
def test_a_thought_before_a_whole_reply_changes_nothing(
    drawn: tuple[str, dict[str, Any]], thought: str
) -> None:
    text, answer = drawn
    assert canonical(parse_reply(f"<think>{thought}</think>{text}").object) == canonical(answer)


@pytest.mark.rule("reply.scan.1")
@tries(100)
@given(first=rendered_replies(), second=json_objects(), gap=st.sampled_from(["\n", " and ", ", "]))
def test_the_last_object_wins(
    first: tuple[str, dict[str, Any]], second: dict[str, Any], gap: str
) -> None:
    text = f"{first[0]}{gap}{json.dumps(second, ensure_ascii=False)}"
    assert canonical(parse_reply(text).object) == canonical(second)


@pytest.mark.rule("reply.process.1", "reply.process.2", "reply.process.4", "reply.repair.14")
@tries(300)
@given(soups)
def test_no_text_raises_and_what_is_found_stands_there(text: str) -> None:
    """Strictly read, an answer is a piece of the text that JSON itself reads as that object."""
    reply = parse_reply(text)
    assert (reply.object is None) is bool(reply.problem)
    if reply.object is None:
        assert process_response(text) == "{}"
    else:
        assert reply.text in text
        assert canonical(json.loads(reply.text)) == canonical(reply.object)
    mended = parse_reply(text, repair=True)
    if reply.object is not None:
        assert mended == reply
    elif mended.object is not None:
        assert mended.repairs
        assert canonical(json.loads(mended.text)) == canonical(mended.object)


@pytest.mark.rule("reply.tool.3", "reply.tool.4")
@tries(150)
@given(st.one_of(soups, json_objects().map(json.dumps)))
def test_arguments_are_one_object_and_nothing_else(text: str) -> None:
    body = text.strip(" \t\r\n\ufeff")
    try:
        expected = json.loads(body) if body else {}
    except ValueError:
        expected = None
    found = parse_arguments(text).object
    if isinstance(expected, dict):
        assert canonical(found) == canonical(expected)
    else:
        assert found == ({} if body == "null" else None)
