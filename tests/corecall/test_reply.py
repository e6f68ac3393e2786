"""Finding the answer in a reply (DESIGN §3.4 "Replies"; TRAPS A23, A25, A26, B5).

Ids like r001 are reports of real faults; the inputs are theirs.
"""

from __future__ import annotations

import json
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
    # The report keeps the first object, DESIGN §3.4 the last.
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
    "A23 string": ('"{\\"a\\": 1}"', "the reply is a JSON string, not an object"),
    "A23 number": ("5", "the reply is a JSON number, not an object"),
    "A23 float": ("-5.5", "the reply is a JSON number, not an object"),
    "A23 boolean": ("true", "the reply is a JSON boolean, not an object"),
    "A23 null": ("null", "the reply is JSON null, not an object"),
    "prose": ("I do not know, {sorry}.", "the reply holds no JSON object"),
    "array in prose": ('Here: [{"a": 1}, {"a": 2}].', "the reply holds a JSON array"),
    "only a thought": ('<think>{"a": 1}</think>', "a thought and no JSON object"),
    "cut off": ('{"a": {"b": 1}, "c": ', "cut off"),
    "B5 final brace": ('{"text": "sure", "n": {"m": 1}', "cut off"),
    "a thought in the middle": ('x {"a": 1, <think>hm', "cut off"),
    "cut in a string": ('ok: {"a": {"b": 1}, "c": "x', "cut off"),
}


@pytest.mark.parametrize(("reply", "answer"), REPORTED.values(), ids=REPORTED)
@pytest.mark.parametrize("repair", [False, True])
def test_reported_replies_hold_their_object(reply: str, answer: Any, repair: bool) -> None:
    parsed = parse_reply(reply, repair=repair)
    assert parsed.object == answer
    assert (parsed.repairs, parsed.problem, parsed.duplicates) == ((), "", ())
    assert json.loads(parsed.text) == answer
    assert parsed.text in reply
    assert process_response(reply) == parsed.text


@pytest.mark.parametrize(("reply", "problem"), UNPARSED.values(), ids=UNPARSED)
def test_replies_without_an_object_say_why(reply: str, problem: str) -> None:
    parsed = parse_reply(reply)
    assert parsed.object is None
    assert problem in parsed.problem
    assert (parsed.text, parsed.repairs) == ("", ())
    assert process_response(reply) == "{}"


def found(reply: str) -> Any:
    return parse_reply(reply).object


class TestThoughts:
    @pytest.mark.parametrize(
        ("reply", "answer"),
        [
            ("<think>this is</think>{}", {}),
            ('plan {"draft": 1}\n</think>\n{"a": 1}', {"a": 1}),
            ('plan {"draft": 1}</think>', None),
            ('{"a": 1}\n<think>or {"a": 2}', {"a": 1}),
            ('<think>maybe {"a": 2}', None),
            ('<think>a</think>{"a": 1}<think>b {"a": 2}</think>', {"a": 1}),
            ('<think>x <think> y </think> {"d": 1} </think>{"a": 1}', {"a": 1}),
            ('<think>an open " quote {</think>{"a": 1}', {"a": 1}),
            ('Let me see: {"a": "b c} hm\n</think>\n{"a": 1}', {"a": 1}),
            ('It is {"a": hm </think>{"a": 1}', {"a": 1}),
            ('It is ["a, b] hm</think> {"a": 1}', {"a": 1}),
            ('It is {a: hm </think>{"a": 1}', {"a": 1}),
            ('{"a": 1, <think>hm</think> "b": 2} {"c": 3}', {"c": 3}),
            ('<THINK>{"a": 1}</THINK>', {"a": 1}),
            ('<think >{"a": 1}', {"a": 1}),
        ],
    )
    def test_a25_they_go_first(self, reply: str, answer: Any) -> None:
        assert found(reply) == answer

    @pytest.mark.parametrize(
        "value", ["<think>", "</think>", "<think>x</think>", "a </think> b <think>"]
    )
    def test_a25_tags_in_the_strings_of_a_value_are_text(self, value: str) -> None:
        answer = {"a": value, value: [1]}
        text = json.dumps(answer)
        for reply in (text, f"Here:\n{text}\nok", f"<think>hm</think>{text}", f"hm</think>{text}"):
            assert found(reply) == answer


class TestScan:
    @pytest.mark.parametrize(
        ("reply", "answer"),
        [
            ('{"a": 1} or {"b": 2}', {"b": 2}),
            ('```json\n{"a": 1}\n```\n```json\n{"b": 2}\n```', {"b": 2}),
            ('{"a": 1} and [{"b": 2}]', {"a": 1}),
            ('{"a": 1} then {"b": ', {"a": 1}),
            ('{"a": 1} then {"b": NONE}', {"a": 1}),
            ('use { and } and {x} {"a": 1}', {"a": 1}),
            ('an open { brace. {"a": 1}', {"a": 1}),
            ('an open {brace: yes. {"a": 1}', {"a": 1}),
            ('{one: {two: {"a": 1}', {"a": 1}),
            ('\\boxed{{"a": 1}}', {"a": 1}),
            ('{{name}} is {"a": 1}', {"a": 1}),
            ('{"a"} is {"a": 1}', {"a": 1}),
            ('in [0, 5) and (1, 5] it is {"a": 1}', {"a": 1}),
            ('[x](url) [1] [ ] {"a": 1}', {"a": 1}),
            ('she said "take {"a": 1}"', {"a": 1}),
            ('an odd " quote {"a": 1}', {"a": 1}),
            ('{"a": 1}\u2028{"b": "\u2028\u0085"}', {"b": "\u2028\u0085"}),
        ],
    )
    def test_a26_the_last_object_wins_whatever_stands_around(self, reply: str, answer: Any) -> None:
        assert found(reply) == answer

    @pytest.mark.parametrize(
        "reply",
        [
            'x {"a": {"b": 1},}',
            'x {"a": oops, "b": {"c": 1}}',
            'x {"a": "5" tall", "b": {"c": 1}}',
            'x {a: {"b": 1}}',
            "x {'a': {\"b\": 1}}",
            'x {‘a’: {"b": 1}}',
            'x {“a”: {"b": 1}}',
            'x [{"a": oops}, {"b": 1}]',
            'x [[{"a": oops}], {"b": 1}]',
            'x [1, {"a": 1}]',
            'x [true, null, -1.5e3, "s", {"a": 1}]',
            'x [{"a": 1}, {"b": 1}',
            'x [1, {"a": 1}',
        ],
    )
    def test_an_inner_object_is_no_answer(self, reply: str) -> None:
        assert found(reply) is None

    def test_a_malformed_object_is_skipped_to_its_end(self) -> None:
        assert found('{"a": {"b": NONE}} {"c": 1}') == {"c": 1}
        assert found('{"a": "}" "b"} {"c": 1}') == {"c": 1}
        assert found("{'a': {'b': 1}} {\"c\": 1}") == {"c": 1}

    def test_the_text_is_the_answer_as_written(self) -> None:
        reply = 'Here: { "n": 1.50,  "big": 12345678901234567890123 } ok'
        assert process_response(reply) == '{ "n": 1.50,  "big": 12345678901234567890123 }'
        assert parse_reply(reply).object == {"n": 1.5, "big": 12345678901234567890123}

    def test_duplicate_keys_are_reported(self) -> None:
        for reply in ('{"a": 1, "a": 2}', 'x {"a": 1, "a": 2}'):
            parsed = parse_reply(reply)
            assert (parsed.object, parsed.duplicates) == ({"a": 2}, ("a",))

    def test_too_deep_is_no_answer(self) -> None:
        deep = '{"a":' * 101 + "1" + "}" * 101
        for reply in (deep, f"x {deep}"):
            assert found(reply) is None
            assert "nested deeper than 100" in parse_reply(reply).problem


@pytest.mark.parametrize(
    "hostile",
    [
        "{", "[", '{"a":', "[1,", "[1 x ", "{a: ", '{a: "{b: "', "{'", "{‘", "[[{x",
        '{"a":"</think>"', '{"a":</think>', '["</think>" x ', "<think></think>", "{x:1} ",
        '{"\\', '"', "['a', ", '{"a": "b" c" ', "<think>{", "\\", "{ ", '{"a": "</think>" x',
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


@given(st.text(alphabet="{}[]\":, \\a1<think>/'“”\n\ud800") | st.text())
def test_no_text_raises(text: str) -> None:
    for repair in (False, True):
        parsed = parse_reply(text, repair=repair)
        assert (parsed.object is None) == bool(parsed.problem) == (parsed.text == "")
    assert isinstance(json.loads(process_response(text)), dict)


class TestArguments:
    @pytest.mark.parametrize(
        ("text", "arguments"),
        [
            ('{"a": 1}', {"a": 1}),
            ("\ufeff {}\n", {}),
            ("null", {}),  # r076
            ("  ", {}),  # r076
            ("", {}),  # r046
            (
                '{"code": "s = \'你好，“世界”\'\\nprint(s)"}',
                {"code": "s = '你好，“世界”'\nprint(s)"},
            ),  # r040
        ],
    )
    def test_one_object_or_none_at_all(self, text: str, arguments: Any) -> None:
        parsed = parse_arguments(text)
        assert (parsed.object, parsed.problem) == (arguments, "")
        assert json.loads(parsed.text) == arguments

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("[]", "the arguments are a JSON array, not an object"),  # r076
            ("5", "the arguments are a JSON number, not an object"),  # r076
            ('{"a": 1', "the arguments are malformed: "),  # B5
            ('{"a": NaN}', "(char 6)"),
            ('see {"a": 1}', "the arguments are malformed: "),
        ],
    )
    def test_anything_else_is_malformed(self, text: str, problem: str) -> None:
        parsed = parse_arguments(text)
        assert (parsed.object, parsed.text) == (None, "")
        assert problem in parsed.problem

    def test_duplicates_are_reported(self) -> None:
        assert parse_arguments('{"a": 1, "a": 2}').duplicates == ("a",)

    def test_b5_repair_is_reported(self) -> None:
        parsed = parse_arguments('{"a": {"b": 1}', repair=True)
        assert (parsed.object, parsed.text) == ({"a": {"b": 1}}, '{"a": {"b": 1}}')
        assert parsed.repairs == ("missing closing bracket",)
        assert parse_arguments("[1,]", repair=True).object is None
