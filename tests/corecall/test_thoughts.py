"""Thoughts told apart from the answer while they stream.

Ids like r211 are reports of real faults.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corecall.thoughts import ThoughtSplitter


def split(deltas: Iterable[str]) -> tuple[str, str]:
    splitter = ThoughtSplitter()
    pieces = [splitter.feed(delta) for delta in deltas]
    pieces.append(splitter.flush())
    return "".join(p.thought for p in pieces), "".join(p.content for p in pieces)


CASES = [
    ("<think>plan</think>answer", "plan", "answer"),
    ("<think>is this</think>this is", "is this", "this is"),
    ("one <think>a</think>two<think>b</think> three", "ab", "one two three"),
    ("no tags < here <b> <thin k> </ thin", "", "no tags < here <b> <thin k> </ thin"),
    ("<think>a < b </thin k> <think></think>c", "a < b </thin k> <think>", "c"),
    ("<think>never closed </think", "never closed </think", ""),
    ("ends in <think", "", "ends in <think"),
    ("<<think>a<</think>b", "a<", "<b"),
    ("<THINK>a</THINK>", "", "<THINK>a</THINK>"),
    ("plan</think>answer", "", "plan</think>answer"),
    ('{"a": "<think>x</think>"}', "", '{"a": "<think>x</think>"}'),
    ('<think>{"d": 1}</think>ok: {"a": "<think>"}', '{"d": 1}', 'ok: {"a": "<think>"}'),
    ("", "", ""),
]


@pytest.mark.trap("A25")
@pytest.mark.rule(
    "stream.thoughts.1", "stream.thoughts.3", "stream.thoughts.4", "stream.thoughts.5"
)
@pytest.mark.parametrize(("text", "thought", "content"), CASES)
def test_wherever_the_tags_split(text: str, thought: str, content: str) -> None:
    assert split([text]) == (thought, content)
    assert split(text) == (thought, content)
    for cut in range(len(text)):
        assert split([text[:cut], "", text[cut:]]) == (thought, content)


@pytest.mark.rule("stream.thoughts.1")
def test_r211_each_stream_has_its_own() -> None:
    a, b = ThoughtSplitter(), ThoughtSplitter()
    assert a.feed("<think>思考") == ("思考", "")
    assert b.feed("<think>想") == ("想", "")
    assert a.feed("</think>甲") == ("", "甲")
    assert b.feed("法</think>乙") == ("法", "乙")


@pytest.mark.rule("stream.thoughts.2")
def test_text_is_handed_out_at_once_unless_it_may_begin_a_tag() -> None:
    splitter = ThoughtSplitter()
    assert splitter.feed("你好 <") == ("", "你好 ")
    assert splitter.feed("b") == ("", "<b")
    assert splitter.feed("a <thin") == ("", "a ")
    assert splitter.feed("k>x</") == ("x", "")
    assert splitter.feed("y") == ("</y", "")
    assert splitter.feed("</think>{<") == ("", "{<")
    assert splitter.flush() == ("", "")


@pytest.mark.rule("stream.thoughts.3")
def test_after_the_first_brace_nothing_is_held_back() -> None:
    splitter = ThoughtSplitter()
    assert splitter.feed("<think>{</think>x{<thi") == ("{", "x{<thi")
    assert splitter.feed("nk>y</think>") == ("", "nk>y</think>")
    assert splitter.flush() == ("", "")


@pytest.mark.rule("stream.thoughts.5")
def test_an_open_thought_ends_with_the_reply() -> None:
    splitter = ThoughtSplitter()
    assert splitter.feed("a<think>b {</th") == ("b {", "a")
    assert splitter.flush() == ("</th", "")


@pytest.mark.rule("stream.thoughts.2")
def test_flush_gives_what_was_held_once() -> None:
    splitter = ThoughtSplitter()
    splitter.feed("<th")
    assert splitter.flush() == ("", "<th")
    assert splitter.flush() == ("", "")


PIECES = st.sampled_from(["<think>", "</think>", "<", "think>", "</", "<thi", "{", "a", "天", "\n"])


@pytest.mark.rule("stream.thoughts.1", "stream.thoughts.3")
@given(st.lists(PIECES, max_size=12).map("".join), st.data())
def test_any_split_gives_the_same_and_nothing_is_lost(text: str, draw: st.DataObject) -> None:
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    deltas = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]

    expected = {True: "", False: ""}
    rest, inside = text, False
    while rest:
        tag = "</think>" if inside else "<think>"
        brace = rest.find("{")
        before, found, after = rest.partition(tag)
        if not inside and 0 <= brace < len(before):
            expected[False] += rest
            break
        expected[inside] += before
        inside ^= bool(found)
        rest = after
    assert split(deltas) == split([text]) == (expected[True], expected[False])
