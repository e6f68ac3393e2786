"""Texts in which a model renders its answer, an object."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from callbench.fuzz.strategies.values import json_objects

_PROSE = (
    "",
    "Here is the JSON you asked for:",
    "Sure! I set {city} and {date} as you said.",
    "The set {x | x > 0} is not empty, f(x) = {1 if x else 0}.",
    "It's done, isn't it? 5\" or 6'",
    "好的，参数如下：",
    "调用{工具}时，“城市”填《杭州》。",
    "See [1], [the docs](x) and item [a].",
    "a < b, b > c, <b>bold</b>, </b>, <thinking>",
    "` `` ``` ~~~",
    'Use {{ name }} or ${name}; a lone } or ] or " is nothing.',
)
_THOUGHTS = (
    "",
    "I need the city.",
    'Maybe {"city": "Shanghai"}? No.',
    'An unclosed {"city": [1, 2',
    'A quote " that never ends',
    '```json\n{"draft": true}\n```',
    "用户要去杭州，{城市}=杭州。",
    "<think>a thought in a thought",
    "{}",
    '}}}]]]"',
)
_DECOYS: tuple[Any, ...] = ({}, {"draft": 1}, {"a": {"b": "}"}}, {"城市": "上海"}, [1, 2], [])
_FENCES = (
    ("```json\n", "\n```"),
    ("```\n", "\n```"),
    ("```JSON\n", "\n```"),
    ("~~~json\n", "\n~~~"),
)


@cache
def thoughts() -> SearchStrategy[str]:
    """Draw what a model thinks before it answers, without the closing tag.

    Among it drafts of the answer, brackets that never close and stray quotes::

        @given(thoughts(), json_objects())
        def test_a_thought_is_no_answer(thought, answer):
            assert my_parse(f"<think>{thought}</think>{json.dumps(answer)}") == answer
    """
    return st.one_of(
        st.sampled_from(_THOUGHTS),
        st.lists(st.sampled_from(_THOUGHTS), max_size=3).map("\n".join),
        st.text(max_size=20).filter(lambda text: "</think>" not in text),
    )


def rendered_replies(
    objects: SearchStrategy[dict[str, Any]] | None = None,
) -> SearchStrategy[tuple[str, dict[str, Any]]]:
    """Draw ``(text, object)``: a whole reply, and the object that is its answer.

    The object is one of ``objects``, any JSON object unless given. Before it may stand a thought
    (in tags, or with the closing tag only), prose with braces, another object; around it a fence;
    after it prose; its own strings may hold all of these. Line ends may be CRLF, the text may begin
    with a BOM, JSON may be indented or ASCII only. All of it is strict JSON: nothing needs repair::

        @given(rendered_replies())
        def test_it_comes_back(drawn):
            text, answer = drawn
            assert my_parse(text) == answer
    """
    return st.composite(_rendered)(json_objects() if objects is None else objects)


def _rendered(draw: DrawFn, objects: SearchStrategy[dict[str, Any]]) -> tuple[str, dict[str, Any]]:
    answer = draw(objects)
    text = _json(draw, answer)
    if draw(st.integers(0, 2)):
        text = _around(draw, text)
    text = _thought(draw) + text
    if draw(st.integers(0, 3)) == 3:
        text = text.replace("\n", "\r\n")
    start = draw(st.sampled_from(["", "", "\ufeff", "\n", " "]))
    end = draw(st.sampled_from(["", "", "\n", "\r\n\r\n", " \t"]))
    return start + text + end, answer


def _json(draw: DrawFn, value: Any) -> str:
    ascii_only = draw(st.booleans())
    indent: str | int | None = draw(st.sampled_from([None, 1, 2, "\t"]))
    separators = draw(st.sampled_from([None, (",", ":")]))
    return json.dumps(value, ensure_ascii=ascii_only, indent=indent, separators=separators)


def _around(draw: DrawFn, text: str) -> str:
    """Put prose, maybe another object, and maybe a fence around the answer."""
    before = draw(st.sampled_from(_PROSE))
    if draw(st.integers(0, 2)) == 2:
        decoy = _fenced(draw, _json(draw, draw(st.sampled_from(_DECOYS))))
        before = f"{before}\n{decoy}\n{draw(st.sampled_from(_PROSE))}"
    after = draw(st.sampled_from(_PROSE))
    gap = draw(st.sampled_from(["\n", " ", "\n\n"]))
    return f"{before}{gap}{_fenced(draw, text)}{gap}{after}"


def _fenced(draw: DrawFn, text: str) -> str:
    if draw(st.booleans()):
        opening, closing = draw(st.sampled_from(_FENCES))
        return f"{opening}{text}{closing}"
    return text


def _thought(draw: DrawFn) -> str:
    """Return a thought to stand before the answer, or nothing."""
    kind = draw(st.integers(0, 4))
    if kind < 2:
        return ""
    thought = draw(thoughts())
    gap = draw(st.sampled_from(["", "\n", "\n\n"]))
    opening = ["<think>", "", "Let me think. <think>"][kind - 2]
    return f"{opening}{thought}</think>{gap}"
