"""Mending of almost-JSON: only on request, always reported, never guessing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corecall.repair import repair_object
from corecall.reply import parse_reply

MENDED: dict[str, tuple[str, Any, tuple[str, ...]]] = {
    "trailing comma": ('{"a": [1, 2,], "b": {},}', {"a": [1, 2], "b": {}}, ("trailing comma",)),
    "r062": (
        "{\"paths\": ['app.py', 'lib.py']}",
        {"paths": ["app.py", "lib.py"]},
        ("single quotes",),
    ),
    "r064": ('{"remark": None, "ok": True}', {"remark": None, "ok": True}, ("Python literal",)),
    "False": ('{"a": False, "b": true}', {"a": False, "b": True}, ("Python literal",)),
    "r027": (
        '{"text": "sure", "action": NONE}',
        {"text": "sure", "action": "NONE"},
        ("unquoted value",),
    ),
    "r032": (
        "{\n  发票:需要,\n  抬头:个人\n}",
        {"发票": "需要", "抬头": "个人"},
        ("unquoted key", "unquoted value"),
    ),
    "B5": ('{"a": {"b": [1, {"c": 2}', {"a": {"b": [1, {"c": 2}]}}, ("missing closing bracket",)),
    "B5 in a fence": (
        '```json\n{"a": {"b": 1}\n```\n',
        {"a": {"b": 1}},
        ("missing closing bracket",),
    ),
    "quotes in quotes": (
        "{'a': 'say \"}\" and don\\'t', 'b': '\\u4e2d\\n'}",
        {"a": 'say "}" and don\'t', "b": "中\n"},
        ("single quotes", "escaped apostrophe"),
    ),
    "curly quotes": (
        '{“城市”: “杭州 "市"”, ‘a’: ‘b’}',
        {"城市": '杭州 "市"', "a": "b"},
        ("curly quotes",),
    ),
    "line break": (
        '{"a": "one\ntwo\t3 \\"4\\""}',
        {"a": 'one\ntwo\t3 "4"'},
        ("control character in string",),
    ),
    "apostrophe": ('{"a": "don\\\'t"}', {"a": "don't"}, ("escaped apostrophe",)),
    "several": (
        'Sure: {\'a\': None, b-c: [1, -2.5e3,], "d": null, "e": false, }. Bye {x}',
        {"a": None, "b-c": [1, -2500.0], "d": None, "e": False},
        ("single quotes", "Python literal", "unquoted key", "trailing comma"),
    ),
    "the last": ("{'a': 1} or {'b': 2}", {"b": 2}, ("single quotes",)),
    "the last that can be": ("{'a': 1} or {'b': NaN}", {"a": 1}, ("single quotes",)),
    "unclosed and loose": (
        "it is {'a': {'b': 1}",
        {"a": {"b": 1}},
        ("single quotes", "missing closing bracket"),
    ),
    "not the thought": ("{'t': 1}</think>{'a': 1} <think>{'x': 2}", {"a": 1}, ("single quotes",)),
    "long number": (
        "{'a': 12345678901234567890123}",
        {"a": 12345678901234567890123},
        ("single quotes",),
    ),
}
HOPELESS = {
    "cut in a word": '{"a": tru',
    "cut in a name": '{"a": [Non\n```',
    "comment": '{"a": 1 // no\n}',
    "tuple": "{'a': (1, 2)}",
    "mixed quotes": '{“a”: “x"}',
    "two words": "{'a': b c}",
    "nan": "{'a': nan}",
    "inf": "{'a': inf}",
    "not a number": "{'a': NaN}",
    "r026": '{"次数": NaN, "科室": "外科"}',
    "r036": '{"日期":"2031-05-06",","星期":"星期二",","地点":"西安"}',
    "r111": '{"text": "lo',
    "r112": "{",
    "cut after a comma": '{"a": 1, ',
    "cut after a colon": '{"a": ',
    "cut in a key": '{"a": 1, "b',
    "cut in a number": '{"a": -',
    "prose": "{Note: keep case}",
    "infinity": "{'a': Infinity}",
    "undefined": "{'a': undefined}",
    "no comma": "{'a': 1 'b': 2}",
    "two commas": "{'a': 1,, 'b': 2}",
    "comma alone": '{"a": [,]}',
    "number key": "{1: 'a'}",
    "bad escape": "{'a': '\\x41'}",
    "bad number": "{'a': 01}",
    "other bracket": "{'a': [1}",
    "semicolon": "{'a'; 1}",
    "apostrophe": "{'a': 'it's'}",
    "array": "['a',]",
}


@pytest.mark.rule("reply.repair.1", "reply.repair.13", "reply.repair.14")
@pytest.mark.parametrize(("reply", "answer", "repairs"), MENDED.values(), ids=MENDED)
def test_mended_and_reported(reply: str, answer: Any, repairs: tuple[str, ...]) -> None:
    parsed = parse_reply(reply, repair=True)
    assert parsed.object == answer
    assert parsed.repairs == repairs
    assert json.loads(parsed.text) == answer
    assert parsed.problem == ""
    assert parse_reply(reply).object is None


@pytest.mark.rule("reply.repair.7", "reply.repair.11", "reply.repair.12")
@pytest.mark.parametrize("reply", HOPELESS.values(), ids=HOPELESS)
def test_what_has_no_one_reading_stays_a_miss(reply: str) -> None:
    parsed = parse_reply(reply, repair=True)
    assert (parsed.object, parsed.repairs) == (None, ())
    assert parsed.problem == parse_reply(reply).problem != ""


def mended(reply: str) -> tuple[Any, tuple[str, ...]]:
    parsed = parse_reply(reply, repair=True)
    return parsed.object, parsed.repairs


class TestKinds:
    @pytest.mark.rule("reply.repair.2")
    @pytest.mark.parametrize("text", ['{"a": [1,]}', '{"a": [1],}', '{"a": [1 , ] , }'])
    def test_trailing_comma(self, text: str) -> None:
        assert mended(text) == ({"a": [1]}, ("trailing comma",))

    @pytest.mark.rule("reply.repair.2")
    @pytest.mark.parametrize("text", ['{"a": [1,,]}', '{"a": [,]}', "{,}", '{,"a": 1}'])
    def test_only_one_comma_after_a_member(self, text: str) -> None:
        assert mended(text) == (None, ())

    @pytest.mark.rule("reply.repair.3")
    def test_single_quotes(self) -> None:
        assert mended("{'a': 'say \"hi\"', \"b\": ''}") == (
            {"a": 'say "hi"', "b": ""},
            ("single quotes",),
        )

    @pytest.mark.rule("reply.repair.4")
    @pytest.mark.parametrize(("opening", "closing"), ["‘’", "“”"])
    def test_curly_quotes(self, opening: str, closing: str) -> None:
        text = f'{{{opening}城市{closing}: {opening}it\'s "杭州"{closing}}}'
        assert mended(text) == ({"城市": 'it\'s "杭州"'}, ("curly quotes",))

    @pytest.mark.rule("reply.repair.5")
    @pytest.mark.parametrize(("word", "value"), [("True", True), ("False", False), ("None", None)])
    def test_python_literal(self, word: str, value: Any) -> None:
        found, repairs = mended(f'{{"a": {word}}}')
        assert found["a"] is value
        assert repairs == ("Python literal",)

    @pytest.mark.rule("reply.repair.6")
    @pytest.mark.parametrize("name", ["a", "b-c", "_1", "城市"])
    def test_unquoted_key(self, name: str) -> None:
        assert mended(f"{{{name}: 1}}") == ({name: 1}, ("unquoted key",))

    @pytest.mark.rule("reply.repair.7")
    @pytest.mark.parametrize("word", ["NONE", "red", "杭州", "b-c"])
    def test_unquoted_value(self, word: str) -> None:
        assert mended(f'{{"a": [{word}]}}') == ({"a": [word]}, ("unquoted value",))

    @pytest.mark.rule("reply.repair.8")
    def test_escaped_apostrophe(self) -> None:
        assert mended('{"a": "don\\\'t"}') == ({"a": "don't"}, ("escaped apostrophe",))

    @pytest.mark.rule("reply.repair.8")
    @pytest.mark.parametrize("escape", ["\\x41", "\\0", "\\`", "\\’"])
    def test_no_other_escape_is_mended(self, escape: str) -> None:
        assert mended(f"{{'a': 'it{escape}'}}") == (None, ())

    @pytest.mark.rule("reply.repair.9")
    @pytest.mark.parametrize("character", ["\n", "\r\n", "\t", "\0", "\x1f"])
    def test_control_character(self, character: str) -> None:
        text = f'{{"a": "x{character}y"}}'
        assert mended(text) == ({"a": f"x{character}y"}, ("control character in string",))

    @pytest.mark.rule("reply.repair.10")
    @pytest.mark.parametrize("end", ["", " \n", "```", "\n```\n"])
    def test_missing_closing_bracket(self, end: str) -> None:
        for text, answer in (
            ('{"a": {"b": [1, "2"', {"a": {"b": [1, "2"]}}),
            ('{"a": true', {"a": True}),
            ('{"n": -1.5e3', {"n": -1500.0}),
        ):
            assert mended(text + end) == (answer, ("missing closing bracket",))

    @pytest.mark.rule("reply.repair.10")
    def test_python_literals_are_whole_at_the_end(self) -> None:
        assert mended('{"a": True') == ({"a": True}, ("Python literal", "missing closing bracket"))

    @pytest.mark.rule("reply.repair.10")
    @pytest.mark.parametrize("open_bracket", ["{", '{"a": [', '{"a": 1, "b": {', '{"a": [1, ['])
    def test_a_bracket_that_nothing_follows_is_not_closed(self, open_bracket: str) -> None:
        assert mended(open_bracket) == (None, ())

    @pytest.mark.rule("reply.repair.7")
    @pytest.mark.parametrize("value", ["-x", "-Infinity", "nan", "two words", "a.b"])
    def test_what_is_no_word_is_not_mended(self, value: str) -> None:
        assert mended(f"{{'a': {value}}}") == (None, ())

    @pytest.mark.rule("reply.repair.10")
    @pytest.mark.parametrize("after", [" ok", "``` ```", ")", "]", " {x"])
    def test_it_is_missing_only_at_the_very_end(self, after: str) -> None:
        assert mended(f'{{"a": [{{"b": 1{after}') == (None, ())

    @pytest.mark.rule("reply.repair.13")
    def test_the_last_that_can_be_outside_of_thoughts(self) -> None:
        assert mended("{'a': 1} {'b': 2} {'c': NaN}") == ({"b": 2}, ("single quotes",))
        assert mended("<think>{'a': 1}</think> no") == (None, ())
        assert mended("[{'a': 1},]") == (None, ())

    @pytest.mark.rule("reply.repair.14")
    def test_keys_that_stand_twice_are_reported(self) -> None:
        parsed = parse_reply("{'a': 1, b: {c: 1, c: 2}, 'a': 3}", repair=True)
        assert parsed.object == {"a": 3, "b": {"c": 2}}
        assert parsed.duplicates == ("c", "a")

    @pytest.mark.rule("reply.repair.14", "reply.json.7")
    def test_those_of_an_inner_object_come_first(self) -> None:
        parsed = parse_reply("{'a': 1, 'a': {'b': 1, 'b': 2}}", repair=True)
        assert parsed.duplicates == ("b", "a")


@pytest.mark.rule("reply.repair.1")
def test_a_valid_object_goes_before_any_repair() -> None:
    parsed = parse_reply('{"a": 1} then {"b": 2,}', repair=True)
    assert (parsed.object, parsed.repairs) == ({"a": 1}, ())


@pytest.mark.rule("reply.repair.14")
def test_the_text_of_a_repair_is_readable() -> None:
    assert parse_reply("{'城市': '杭州',}", repair=True).text == '{"城市": "杭州"}'


@pytest.mark.rule("reply.repair.1")
def test_nothing_to_mend_is_no_repair() -> None:
    assert repair_object('{"a": [1, "x"]}') is None


@pytest.mark.rule("reply.repair.12")
@pytest.mark.parametrize(("depth", "found"), [(100, True), (101, False), (100_000, False)])
def test_the_depth_is_bounded(depth: int, found: bool) -> None:
    text = "{'a':" * depth + "1" + "}" * depth
    assert (repair_object(text) is not None) is found
    text = "{'a':" + "[" * (depth - 1) + "]" * (depth - 1) + "}"
    assert (repair_object(text) is not None) is found


TEXTS = st.text(max_size=8)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=4)


@pytest.mark.rule("reply.repair.1")
@given(OBJECTS, st.booleans())
def test_valid_json_is_never_changed(answer: dict[str, Any], ascii_only: bool) -> None:
    """r018"""
    text = json.dumps(answer, ensure_ascii=ascii_only)
    parsed = parse_reply(text, repair=True)
    assert (parsed.object, parsed.text, parsed.repairs) == (answer, text, ())


def nested(texts: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, Any]]:
    def deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3)

    leaves = st.none() | st.booleans() | st.integers() | texts
    return st.dictionaries(texts, st.recursive(leaves, deeper, max_leaves=8), min_size=1)


QUOTING = nested(st.text("ab '“”‘’:,\n\t\\天🙂_-1", max_size=8))
BRACKETS = nested(st.text('ab{}[] "“”‘’:,\n\t\\天', max_size=8))


@pytest.mark.rule("reply.repair.3", "reply.repair.5")
@given(QUOTING | BRACKETS)
def test_a_python_dict_is_read(answer: dict[str, Any]) -> None:
    assert parse_reply(repr(answer), repair=True).object == answer


@pytest.mark.rule("reply.repair.10")
@given(OBJECTS.filter(bool))
def test_closing_brackets_missing_at_the_end_come_back(answer: dict[str, Any]) -> None:
    whole = json.dumps(answer)
    bare = whole.rstrip("}]")
    if bare.endswith(("{", "[")):
        return
    parsed = parse_reply(bare, repair=True)
    assert parsed.object == answer
    assert parsed.repairs == ("missing closing bracket",)
