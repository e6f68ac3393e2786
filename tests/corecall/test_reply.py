"""Finding the answer in a reply.

Ids like r001 are reports of real faults; the inputs are theirs.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corecall.reply import parse_arguments, parse_reply, process_response

REPORTED = {
    "r001": (
        '<think>\n先判断意图，可以先写成 {"draft": true}\n</think>\n{"title":"周计划","scope":"全部"}',
        {"title": "周计划", "scope": "全部"},
    ),
    "r004": ('{"note":"写作 <think>草稿</think> 标签"}', {"note": "写作 <think>草稿</think> 标签"}),
    "r007": ('Use `cat` first. {"cmd": "use `tail` flag"}', {"cmd": "use `tail` flag"}),
    "r009": (
        'Reading now. {Note: keep case} Result: {"name":"Ida","age":41}',
        {"name": "Ida", "age": 41},
    ),
    "r013": (
        'Done: {"state": 1, "memo": "end } mark"} bye',
        {"state": 1, "memo": "end } mark"},
    ),
    "r014": (
        '```json\n{"规则":[{"text":"start with ```json and stop"}]}\n```',
        {"规则": [{"text": "start with ```json and stop"}]},
    ),
    "r015": (
        '```json\n{"answer":"see:\\n```sh\\nls\\n```\\nok"}\n```',
        {"answer": "see:\n```sh\nls\n```\nok"},
    ),
    # The report keeps the first object, the contract the last.
    "r016": ('{"tool":"search","q":"a"}\n{"tool":"stop"}', {"tool": "stop"}),
    "r018": ('{"note": "say \\"hi\\", then leave"}', {"note": 'say "hi", then leave'}),
    "r020": ('// result\n{"city": "Oslo"}', {"city": "Oslo"}),
    "r024": ('{\n"path": "a.txt",\n"line": 1\n}', {"path": "a.txt", "line": 1}),
    "r030": (
        '\n```json\n{\n  "output": {"prompt": "水墨风格，桌上一幅卷轴"},\n'
        '  "reasoning_content": "识别为古诗"\n}\n```',
        {"output": {"prompt": "水墨风格，桌上一幅卷轴"}, "reasoning_content": "识别为古诗"},
    ),
    "r031": (
        '```json\n{"sdk_list":[{"名称":"统计组件","用途":"数据分析"}]}\n```',
        {"sdk_list": [{"名称": "统计组件", "用途": "数据分析"}]},
    ),
    "r045": (
        '{"name":"查天气","parameters":{"城市":"北京"}}',
        {"name": "查天气", "parameters": {"城市": "北京"}},
    ),
    "r046": (
        '<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>',
        {"name": "ping", "arguments": {}},
    ),
    "r048": (
        '<tool_call>\n{"arguments": {"a": 2, "b": 3}, "name": "sum"}\n</tool_call>',
        {"name": "sum", "arguments": {"a": 2, "b": 3}},
    ),
    "r066": ('{"target": null}', {"target": None}),
}

UNPARSED = {
    "r008": ('[{"姓名":"甲"},{"姓名":"乙"}]', "the reply is a JSON array, not an object"),
    "r017": ('[red, green, "blue"]', "the reply holds no JSON object"),
    "r026": ('{"次数": NaN, "科室": "外科"}', "the JSON is malformed"),
    "r027": ('{"text": "sure", "action": NONE}', "the JSON is malformed"),
    "r028": ("", "the reply is empty"),
    "r032": ("{\n  发票:需要,\n  抬头:个人\n}", "the JSON is malformed"),
    "r036": (
        '{"日期":"2031-05-06",","星期":"星期二",","地点":"西安"}',
        "the JSON is malformed",
    ),
    "r064": ('{"remark": None, "ok": True}', "the JSON is malformed"),
    "r129": (" \n\t\n", "the reply is only whitespace"),
    "prose": ("I do not know, {sorry}.", "the reply holds no JSON object"),
    "array in prose": ('Here: [{"a": 1}, {"a": 2}].', "the reply holds a JSON array"),
    "only a thought": ('<think>{"a": 1}</think>', "a thought and no JSON object"),
    "cut off": ('{"a": {"b": 1}, "c": ', "cut off"),
    "B5 final brace": ('{"text": "sure", "n": {"m": 1}', "cut off"),
    "a thought in the middle": ('x {"a": 1, <think>hm', "cut off"),
    "cut in a string": ('ok: {"a": {"b": 1}, "c": "x', "cut off"),
}


@pytest.mark.rule("reply.scan.1", "reply.scan.2", "reply.scan.3", "reply.process.1")
@pytest.mark.parametrize(("reply", "answer"), REPORTED.values(), ids=REPORTED)
@pytest.mark.parametrize("repair", [False, True])
def test_reported_replies_hold_their_object(reply: str, answer: Any, repair: bool) -> None:
    parsed = parse_reply(reply, repair=repair)
    assert parsed.object == answer
    assert (parsed.repairs, parsed.problem, parsed.duplicates) == ((), "", ())
    assert json.loads(parsed.text) == answer
    assert parsed.text in reply
    assert process_response(reply) == parsed.text


@pytest.mark.rule("reply.process.2", "reply.process.4")
@pytest.mark.trap("B5")
@pytest.mark.parametrize(("reply", "problem"), UNPARSED.values(), ids=UNPARSED)
def test_replies_without_an_object_say_why(reply: str, problem: str) -> None:
    parsed = parse_reply(reply)
    assert parsed.object is None
    assert problem in parsed.problem
    assert (parsed.text, parsed.repairs) == ("", ())
    assert process_response(reply) == "{}"


def found(reply: str) -> Any:
    return parse_reply(reply).object


class TestWhole:
    @pytest.mark.trap("A23")
    @pytest.mark.rule("reply.process.3", "reply.process.4")
    @pytest.mark.parametrize(
        ("reply", "kind"),
        [
            ('"{\\"a\\": 1}"', "a JSON string"),
            ('["{\\"a\\": 1}", {"a": 1}]', "a JSON array"),
            ("5", "a JSON number"),
            ("-5.5", "a JSON number"),
            ("true", "a JSON boolean"),
            ("null", "JSON null"),
        ],
    )
    def test_json_that_is_no_object_is_no_answer(self, reply: str, kind: str) -> None:
        assert found(f" {reply}\n") is None
        assert process_response(reply) == "{}"
        assert parse_reply(reply).problem == f"the reply is {kind}, not an object"

    @pytest.mark.rule("reply.process.3")
    def test_its_strings_are_not_searched(self) -> None:
        answer = {"a": '</think>{"b": 1}', "c": '```json\n{"d": 2}\n```'}
        assert found(json.dumps(answer)) == answer

    @pytest.mark.rule("reply.process.1")
    def test_blanks_around_are_no_part_of_the_text(self) -> None:
        assert process_response('\ufeff {"a":  1}\r\n') == '{"a":  1}'

    @pytest.mark.rule("reply.process.4")
    @pytest.mark.parametrize(
        ("reply", "problem"),
        [
            ("", "the reply is empty"),
            ("\ufeff \n", "the reply is only whitespace"),
            ("it is [1]", "the reply holds a JSON array, not an object"),
            ("it is [1] {a: x}", "the JSON is malformed: "),
            ('it is {"a": NaN} or {"a": ', "the JSON is cut off: its brackets never close"),
            ('{"a": } or {b: x', "the JSON object is malformed and never closes"),
            ("<think>x</think>no", "the reply holds a thought and no JSON object after it"),
            ("plan</think>[1]", "the reply holds a JSON array, not an object"),
            ("no", "the reply holds no JSON object"),
        ],
    )
    def test_the_reason_is_the_first_that_applies(self, reply: str, problem: str) -> None:
        assert parse_reply(reply).problem.startswith(problem)


class TestThoughts:
    @pytest.mark.trap("A26")
    @pytest.mark.rule("reply.thought.1")
    @pytest.mark.parametrize(
        ("reply", "answer"),
        [
            ("<think>this is</think>{}", {}),
            ('<think>{"a": 2}</think> {"a": 1}', {"a": 1}),
            ('<think>{"a": 2}</think>', None),
            ('<think>a</think>{"a": 1}<think>b {"a": 2}</think>', {"a": 1}),
            ('<think>an open " quote {</think>{"a": 1}', {"a": 1}),
        ],
    )
    def test_they_go_first(self, reply: str, answer: Any) -> None:
        assert found(reply) == answer

    @pytest.mark.trap("A25")
    @pytest.mark.rule("reply.thought.2")
    def test_a_closing_tag_alone_ends_one(self) -> None:
        assert found('plan {"draft": 1}\n</think>\n{"a": 1}') == {"a": 1}
        assert found('plan {"draft": 1}</think>') is None

    @pytest.mark.trap("A25")
    @pytest.mark.rule("reply.thought.3")
    def test_an_opening_tag_alone_begins_one_that_reaches_to_the_end(self) -> None:
        assert found('{"a": 1}\n<think>or {"a": 2}') == {"a": 1}
        assert found('<think>maybe {"a": 2}') is None

    @pytest.mark.rule("reply.thought.4")
    def test_they_do_not_nest(self) -> None:
        assert found('<think>x <think> y </think> {"a": 1}') == {"a": 1}
        assert found('<think>x <think> y </think> {"d": 1} </think>{"a": 1}') == {"a": 1}
        assert found('<think>x</think> {"a": "</think>"}') == {"a": "</think>"}

    @pytest.mark.trap("A25")
    @pytest.mark.rule("reply.thought.5")
    @pytest.mark.parametrize("tag", ["<THINK>", "<think >", "<thinking>", "< think>", "<think/>"])
    def test_only_the_exact_tags_count(self, tag: str) -> None:
        assert found(f'{tag}{{"a": 1}}') == {"a": 1}
        assert found(f'{{"a": 1}}{tag.replace("<", "</")}') == {"a": 1}

    @pytest.mark.rule("reply.thought.7")
    def test_a_tag_between_tokens_cuts_the_value_off(self) -> None:
        assert found('{"a": 1, <think>hm</think> "b": 2} {"c": 3}') == {"c": 3}
        assert found('x {"a": {"b": 1}, </think> "c": 2}') is None

    @pytest.mark.rule("reply.thought.8")
    @pytest.mark.parametrize(
        "stray", ['{"a": "b c} hm\n', '{"a": hm ', '["a, b] hm', "{a: hm ", '{"a": "</think> x']
    )
    def test_a_stray_bracket_in_one_does_not_hide_its_end(self, stray: str) -> None:
        assert found(f'It is {stray}</think> {{"a": 1}}') == {"a": 1}

    @pytest.mark.rule("reply.thought.8")
    def test_nor_does_one_that_an_answer_happens_to_close(self) -> None:
        answer = {"b": [{'c "d"': 1}]}
        assert found(f'It is {{"a": [1 hm " </think>{json.dumps(answer)}') == answer

    @pytest.mark.trap("A25")
    @pytest.mark.rule("reply.thought.6")
    @pytest.mark.parametrize(
        "value", ["<think>", "</think>", "<think>x</think>", "a </think> b <think>"]
    )
    def test_tags_in_the_strings_of_a_value_are_text(self, value: str) -> None:
        answer = {"a": value, value: [1]}
        text = json.dumps(answer)
        for reply in (text, f"Here:\n{text}\nok", f"<think>hm</think>{text}", f"hm</think>{text}"):
            assert found(reply) == answer


class TestScan:
    @pytest.mark.trap("A26")
    @pytest.mark.rule("reply.scan.1")
    @pytest.mark.parametrize(
        ("reply", "answer"),
        [
            ('{"a": 1} or {"b": 2}', {"b": 2}),
            ('{"a": 1}{"b": 2}{"c": {"d": 3}} ok', {"c": {"d": 3}}),
            ('{"a": 1}\u2028{"b": "\u2028\u0085"}', {"b": "\u2028\u0085"}),
        ],
    )
    def test_the_last_object_wins(self, reply: str, answer: Any) -> None:
        assert found(reply) == answer

    @pytest.mark.trap("A26")
    @pytest.mark.rule("reply.scan.2")
    @pytest.mark.parametrize("text", ["}", "{", '"', '\\"}', "\\", "\\\\", '{"b": 2}', "]["])
    def test_strings_are_respected(self, text: str) -> None:
        answer = {"a": text, text: [text, {"b": text}]}
        assert found(f"x {json.dumps(answer)} y") == answer

    @pytest.mark.trap("A26")
    @pytest.mark.rule("reply.scan.3")
    @pytest.mark.parametrize(
        ("reply", "answer"),
        [
            ('```json\n{"a": 1}\n```\n```json\n{"b": 2}\n```', {"b": 2}),
            ('``` {"a": 1}', {"a": 1}),
            ('she said "take {"a": 1}"', {"a": 1}),
            ('an odd " quote {"a": 1}', {"a": 1}),
            ('`{"a": 1}` // {"a"} done', {"a": 1}),
        ],
    )
    def test_fences_and_prose_are_text(self, reply: str, answer: Any) -> None:
        assert found(reply) == answer

    @pytest.mark.trap("A26")
    @pytest.mark.rule("reply.scan.4")
    @pytest.mark.parametrize(
        "prose",
        [
            "use { and } and {x}",
            "an open { brace.",
            "\\boxed{",
            "{{name}} is",
            '{"a"} is',
            '{"a", "b": 1} is',
            "{1: 2} is",
        ],
    )
    def test_other_braces_are_text(self, prose: str) -> None:
        assert found(f'{prose} {{"a": 1}}') == {"a": 1}

    @pytest.mark.rule("reply.scan.4")
    def test_blanks_may_follow_the_brace(self) -> None:
        assert found("none: { \r\n\t}") == {}
        assert found('so: {\n "a" : 1}') == {"a": 1}

    @pytest.mark.rule("reply.scan.5")
    @pytest.mark.parametrize(
        "name", ["a", "b-c_1", "城市", "_", "'a'", "'a}'", r"'a\'b'", "''", "‘a’", "“a”", "“”"]
    )
    def test_a_loose_object_lends_no_inner_object(self, name: str) -> None:
        assert found(f'x {{{name}: {{"b": 1}}}}') is None
        assert found(f'x {{ {name} : {{"b": 1}}}} {{"c": 1}}') == {"c": 1}

    @pytest.mark.rule("reply.scan.5")
    def test_one_that_never_closes_is_text(self) -> None:
        assert found('an open {brace: yes. {"a": 1}') == {"a": 1}
        assert found('{one: {two: {"a": 1}') == {"a": 1}
        assert found('{one: <think>hm</think> {"a": 1}}') == {"a": 1}
        assert found('[{one: {"a": 1}') == {"a": 1}

    @pytest.mark.rule("reply.scan.5")
    @pytest.mark.parametrize("tag", ["</think>", "<think>hm</think>"])
    def test_it_is_text_up_to_the_next_tag(self, tag: str) -> None:
        assert found(f'a {{note: {{b: {tag} {{c: {{"d": 1}}}}') is None
        assert parse_reply(f"a {{note: hm {tag} {{'c': 1}}", repair=True).object == {"c": 1}

    @pytest.mark.rule("reply.scan.5")
    @pytest.mark.parametrize("name", ["-a", "1a", "a b", "'a\nb'", '‘a"', "a.b"])
    def test_another_name_makes_the_brace_text(self, name: str) -> None:
        assert found(f'x {{{name}: {{"b": 1}}}}') == {"b": 1}

    @pytest.mark.rule("reply.scan.6")
    @pytest.mark.parametrize(
        "reply",
        [
            'x {"a": {"b": 1},}',
            'x {"a": oops, "b": {"c": 1}}',
            'x {"a": "5" tall", "b": {"c": 1}}',
        ],
    )
    def test_a_malformed_object_lends_no_inner_object(self, reply: str) -> None:
        assert found(reply) is None

    @pytest.mark.rule("reply.scan.7")
    @pytest.mark.parametrize(
        "cut", ['{"b": ', '{"b": {"c": 1}', '{"b": {"c": 1}, "d": "x', '{"b": [{"c": 1}]']
    )
    def test_a_cut_off_object_is_no_answer_and_lends_none(self, cut: str) -> None:
        assert found(f"x {cut}") is None
        assert found(f'{{"a": 1}} then {cut}') == {"a": 1}

    @pytest.mark.rule("reply.scan.8")
    @pytest.mark.parametrize(
        "array",
        [
            '[{"a": 1}]',
            '[{"a": oops}, {"b": 1}]',
            '[[{"a": oops}], {"b": 1}]',
            '[1, {"a": 1}]',
            '[true, null, -1.5e3, "s", {"a": 1}]',
            '[{"a": 1}, {"b": 1}',
            '[1, {"a": 1}',
            "[{'a': {\"b\": 1}}]",
            '[ [{a: {"b": 1}}, {"c": 2}]]',
        ],
    )
    def test_an_array_is_no_answer_and_lends_none(self, array: str) -> None:
        assert found(f"x {array}") is None
        assert found(f'{{"c": 1}} and {array}') == {"c": 1}

    @pytest.mark.rule("reply.scan.9")
    @pytest.mark.parametrize(
        "prose", ["in [0, 5) and (1, 5] it is", "[x](url) [1] [ ]", "[0, five, [six", "[see"]
    )
    def test_other_brackets_are_text(self, prose: str) -> None:
        assert found(f'{prose} {{"a": 1}}') == {"a": 1}

    @pytest.mark.rule("reply.scan.6")
    def test_a_malformed_object_is_skipped_to_its_end(self) -> None:
        assert found('{"a": {"b": NONE}} {"c": 1}') == {"c": 1}
        assert found('{"a": "}" "b"} {"c": 1}') == {"c": 1}
        assert found("{'a': {'b': 1}} {\"c\": 1}") == {"c": 1}

    @pytest.mark.rule("reply.process.1")
    def test_the_text_is_the_answer_as_written(self) -> None:
        reply = 'Here: { "n": 1.50,  "big": 12345678901234567890123 } ok'
        assert process_response(reply) == '{ "n": 1.50,  "big": 12345678901234567890123 }'
        assert parse_reply(reply).object == {"n": 1.5, "big": 12345678901234567890123}

    @pytest.mark.rule("reply.json.7")
    def test_duplicate_keys_are_reported(self) -> None:
        for reply in ('{"a": 1, "a": 2}', 'x {"a": 1, "a": 2}'):
            parsed = parse_reply(reply)
            assert (parsed.object, parsed.duplicates) == ({"a": 2}, ("a",))

    @pytest.mark.rule("reply.json.5")
    def test_too_deep_is_no_answer(self) -> None:
        deep = '{"a":' * 101 + "1" + "}" * 101
        for reply in (deep, f"x {deep}"):
            assert found(reply) is None
            assert "nested deeper than 100" in parse_reply(reply).problem


@pytest.mark.rule("reply.process.5")
@pytest.mark.parametrize(
    "hostile",
    [
        "{", "[", '{"a":', "[1,", "[1 x ", "{a: ", '{a: "{b: "', "{'", "{‘", "[[{x",
        '{"a":"</think>"', '{"a":</think>', '["</think>" x ', "<think></think>", "{x:1} ",
        '{"\\', '"', "['a', ", '{"a": "b" c" ', "<think>{", "\\", "{ ", '{"a": "</think>" x',
        '{a: "</think>"', "{'a': '</think>'", "{a: </think>", "{a: <think></think>", "[{a: ",
    ],
)  # fmt: skip
@pytest.mark.parametrize("repair", [False, True])
def test_hostile_text_is_read_in_linear_time(hostile: str, repair: bool) -> None:
    """A scan that went back for every bracket would take minutes here."""
    parsed = parse_reply("x" + hostile * 15_000, repair=repair)
    assert parsed.object is None or hostile == "{x:1} "
    assert parse_reply("x" + hostile * 15_000 + "</think>" + '{"a": 1}').object == {"a": 1}


def test_long_strings_are_read() -> None:
    answer = {"a": '\\"{' * 300_000, "b": "文" * 300_000}
    assert found("x " + json.dumps(answer, ensure_ascii=False)) == answer


PROSE = st.lists(
    st.sampled_from(
        [
            "Sure!", "好的：", "{Note: keep case}", "{", "}", "{x}", "[x]", "[1]", "in [0, 5)",
            '"quoted"', "it's", "“引号”", "`code`", "{{name}}", "\\boxed{", "// note", "a < b",
            "{'a'}", "{\"a\"}", "：{说明}", "\u2028", "<think", "think>",
        ]
    ),
    max_size=4,
).map(" ".join)  # fmt: skip
WORDS = st.text(max_size=12) | st.sampled_from(
    [
        "“全角”引号",
        "a } b",
        "{",
        '"',
        "\\",
        "```",
        "<think>x</think>",
        "</think>",
        "\r\n",
        "天\u2028",
    ]
)
LEAVES = st.none() | st.booleans() | st.integers() | WORDS
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(WORDS, VALUES, max_size=4)


@pytest.mark.rule("reply.scan.1", "reply.scan.3", "reply.thought.1", "reply.thought.2")
@given(
    answer=OBJECTS,
    thought=st.none() | PROSE | OBJECTS.map(json.dumps).filter(lambda text: "think>" not in text),
    opened=st.booleans(),
    before=PROSE,
    earlier=st.none() | OBJECTS,
    fenced=st.booleans(),
    after=PROSE.filter(lambda text: "{" not in text),
    ascii_only=st.booleans(),
    indent=st.sampled_from([None, 2]),
    crlf=st.booleans(),
    bom=st.booleans(),
)
def test_an_object_comes_back_however_a_model_presents_it(
    answer: dict[str, Any],
    thought: str | None,
    opened: bool,
    before: str,
    earlier: dict[str, Any] | None,
    fenced: bool,
    after: str,
    ascii_only: bool,
    indent: int | None,
    crlf: bool,
    bom: bool,
) -> None:
    reply = json.dumps(answer, ensure_ascii=ascii_only, indent=indent)
    if fenced:
        reply = f"```json\n{reply}\n```"
    if earlier is not None:
        reply = f"{json.dumps(earlier)}\n{reply}"
    reply = f"{before}\n{reply}\n{after}"
    if thought is not None:
        reply = f"{'<think>' * opened}{thought}</think>{reply}"
    if crlf:
        reply = reply.replace("\n", "\r\n")
    reply = "\ufeff" * bom + reply
    for repair in (False, True):
        parsed = parse_reply(reply, repair=repair)
        assert parsed.object == answer
        assert parsed.repairs == ()


@pytest.mark.rule("reply.process.2", "reply.process.4")
@given(st.text(alphabet="{}[]\":, \\a1<think>/'“”\n\ud800") | st.text())
def test_no_text_raises(text: str) -> None:
    for repair in (False, True):
        parsed = parse_reply(text, repair=repair)
        assert (parsed.object is None) == bool(parsed.problem) == (parsed.text == "")
    assert isinstance(json.loads(process_response(text)), dict)


class TestArguments:
    @pytest.mark.rule("reply.tool.3")
    @pytest.mark.parametrize(
        ("text", "arguments"),
        [
            ('{"a": 1}', {"a": 1}),
            ("\ufeff {}\n", {}),
            (
                '{"code": "s = \'你好，“世界”\'\\nprint(s)"}',
                {"code": "s = '你好，“世界”'\nprint(s)"},
            ),  # r040
        ],
    )
    def test_one_object(self, text: str, arguments: Any) -> None:
        parsed = parse_arguments(text)
        assert (parsed.object, parsed.problem) == (arguments, "")
        assert json.loads(parsed.text) == arguments

    @pytest.mark.rule("reply.tool.4")
    @pytest.mark.parametrize("text", ["", "  ", "\ufeff\n", "null", " null\n"])  # r046, r076
    def test_blank_or_null_is_a_call_without_arguments(self, text: str) -> None:
        parsed = parse_arguments(text)
        assert (parsed.object, parsed.text, parsed.problem) == ({}, "{}", "")

    @pytest.mark.rule("reply.tool.5")
    @pytest.mark.parametrize(
        ("text", "kind"),
        [
            ("[]", "a JSON array"),  # r076
            ("5", "a JSON number"),  # r076
            ("false", "a JSON boolean"),
            ('"{}"', "a JSON string"),
        ],
    )
    def test_another_value_is_named(self, text: str, kind: str) -> None:
        parsed = parse_arguments(text)
        assert (parsed.object, parsed.text) == (None, "")
        assert parsed.problem == f"the arguments are {kind}, not an object"

    @pytest.mark.trap("B5")
    @pytest.mark.rule("reply.tool.3", "reply.tool.5")
    @pytest.mark.parametrize(
        "text",
        ['{"a": 1', '{"a": NaN}', 'see {"a": 1}', '{"a": 1} {}', '<think></think>{"a": 1}'],
    )
    def test_anything_else_is_malformed(self, text: str) -> None:
        parsed = parse_arguments(text)
        assert (parsed.object, parsed.text) == (None, "")
        assert re.fullmatch(
            r"the arguments are malformed: .+: line 1 column \d+ \(char \d+\)", parsed.problem
        )

    @pytest.mark.rule("reply.json.7")
    def test_duplicates_are_reported(self) -> None:
        assert parse_arguments('{"a": 1, "a": 2}').duplicates == ("a",)
        assert parse_arguments("{'a': 1, 'a': 2}", repair=True).duplicates == ("a",)

    @pytest.mark.trap("B5")
    @pytest.mark.rule("reply.repair.1", "reply.repair.10")
    def test_repair_is_reported(self) -> None:
        parsed = parse_arguments('{"a": {"b": 1}', repair=True)
        assert (parsed.object, parsed.text) == ({"a": {"b": 1}}, '{"a": {"b": 1}}')
        assert parsed.repairs == ("missing closing bracket",)
        assert parse_arguments("[1,]", repair=True).object is None

    @pytest.mark.rule("reply.tool.6")
    @pytest.mark.parametrize("after", [" {'b': 2}", " ok", "]", "``` ```"])
    def test_mended_arguments_stand_alone(self, after: str) -> None:
        assert parse_arguments("{'a': 1}\n```\n", repair=True).object == {"a": 1}
        assert parse_arguments("{'a': 1}" + after, repair=True).object is None
