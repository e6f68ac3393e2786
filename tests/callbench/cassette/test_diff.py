"""What a miss shows: which turn and which words, which setting, which place in a schema, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from callbench.cassette import Request, canonical_request
from callbench.cassette.diff import MOST_DIFFERENCES, differences, text_difference

PROMPT = (
    "You fill the parameters of a tool. Use only the values the user gave, and the facts below, "
    "and invent nothing at all.\nAnswer with a JSON object."
)


def request(body: Any, path: str = "/v1/chat/completions", method: str = "POST") -> Request:
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    return canonical_request(method, path, text)


def chat(*turns: tuple[str, str], **members: Any) -> Request:
    messages = [{"role": role, "content": content} for role, content in turns]
    return request({"model": "smollm2", "messages": messages, **members})


class TestRequests:
    def test_equal_requests_do_not_differ(self) -> None:
        assert differences(chat(("user", "a")), chat(("user", "a"))) == []

    def test_one_word_of_a_prompt(self) -> None:
        old = chat(("system", "s"), ("user", PROMPT))
        new = chat(("system", "s"), ("user", PROMPT.replace("values", "value")))
        assert differences(old, new) == [
            'messages[1] (user): "…of a tool. Use only the [-values-]{+value+} the user gave, and the facts…"'
        ]

    def test_one_character_of_chinese(self) -> None:
        before = "请根据用户的话填写工具的参数，不要编造任何内容。用户说：订一张去"
        after = "州的票，明天早上出发，要靠窗的座位，价格不超过三百元，谢谢你，再见。"
        (line,) = differences(
            chat(("user", f"{before}杭{after}")), chat(("user", f"{before}苏{after}"))
        )
        assert line == f'messages[0] (user): "…{before[-30:]}[-杭-]{{+苏+}}{after[:30]}…"'

    def test_model_and_settings(self) -> None:
        old = chat(("user", "a"), temperature=0, seed=1, stop=["x", "y"])
        new = chat(("user", "a"), temperature=0.5, top_p=1, stop=["x"])
        assert differences(old, new) == [
            "seed: 1 -> not given",
            'stop[1]: "y" -> not given',
            "temperature: 0 -> 0.5",
            "top_p: not given -> 1",
        ]
        other = request({**json.loads(old.body), "model": "gemma3"})
        assert differences(old, other) == ['model: "smollm2" -> "gemma3"']

    def test_a_place_in_a_schema(self) -> None:
        def shaped(kind: str, **more: Any) -> Request:
            schema = {"properties": {"city": {"type": kind}, **more}}
            return chat(("user", "a"), response_format={"json_schema": {"schema": schema}})

        assert differences(shaped("string"), shaped("integer", day={})) == [
            'response_format.json_schema.schema/properties/city/type: "string" -> "integer"',
            "response_format.json_schema.schema/properties/day: not given -> {}",
        ]

    def test_a_parameter_of_a_tool(self) -> None:
        def tool(kind: str) -> Request:
            parameters = {"properties": {"n": {"enum": [1, kind]}}}
            return chat(
                ("user", "a"), tools=[{"function": {"name": "f", "parameters": parameters}}]
            )

        assert differences(tool("x"), tool("y")) == [
            'tools[0].function.parameters/properties/n/enum/1: "x" -> "y"'
        ]

    def test_the_order_of_properties(self) -> None:
        old = request({"tools": [{"parameters": {"a": 1, "b": 2}}]})
        new = request({"tools": [{"parameters": {"b": 2, "a": 1}}]})
        assert differences(old, new) == ["tools[0].parameters: order of members: a, b -> b, a"]

    def test_a_turn_put_in_is_one_difference(self) -> None:
        old = chat(("system", "s"), ("user", "a"), ("assistant", "b"), ("user", "c"))
        new = chat(
            ("system", "s"), ("user", "new"), ("user", "a"), ("assistant", "b"), ("user", "c")
        )
        assert differences(old, new) == ['messages[1] (user): not given -> "new"']
        assert differences(new, old) == ['messages[1] (user): "new" -> not given']

    def test_a_role_and_other_members_of_a_turn(self) -> None:
        old = request({"messages": [{"role": "user", "content": "a", "name": "x"}]})
        new = request({"messages": [{"role": "system", "content": "a", "tool_calls": [1]}]})
        assert differences(old, new) == [
            'messages[0] (system).role: "user" -> "system"',
            'messages[0] (system).name: "x" -> not given',
            "messages[0] (system).tool_calls: not given -> [1]",
        ]

    @pytest.mark.parametrize(
        ("old", "new", "line"),
        [
            ([], "x", 'messages: [] -> "x"'),
            (["a"], ["b"], 'messages[0]: "a" -> "b"'),
            ([{"content": [1]}], [{"content": [2]}], "messages[0][0]: 1 -> 2"),
        ],
    )
    def test_messages_of_another_form(self, old: Any, new: Any, line: str) -> None:
        assert differences(request({"messages": old}), request({"messages": new})) == [line]

    def test_kinds_of_numbers(self) -> None:
        assert differences(request({"a": 1, "b": True}), request({"a": 1.0, "b": 1})) == [
            "a: 1 -> 1.0",
            "b: true -> 1",
        ]

    def test_method_path_and_other_bodies(self) -> None:
        assert differences(request(b"a b", "/x"), request(b"a c", "/y", "PUT")) == [
            "method: POST -> PUT",
            "path: /x -> /y",
            "body: a [-b-]{+c+}",
        ]
        assert differences(request(b"\xff"), request(b"\xff\xfe")) == ["body: 1 bytes -> 2 bytes"]
        assert differences(request(b"[1]"), request(b"{}")) == ["body: [-[1]-]{+{}+}"]

    def test_many_differences_are_counted(self) -> None:
        old = request({f"m{n:02}": 0 for n in range(12)})
        new = request({f"m{n:02}": 1 for n in range(12)})
        lines = differences(old, new)
        assert len(lines) == MOST_DIFFERENCES + 1
        assert lines[0] == "m00: 0 -> 1"
        assert lines[-1] == "… and 4 more differences"
        nine = request({f"m{n:02}": n // 9 for n in range(12)})
        assert len(differences(nine, old)) == 3


class TestTexts:
    @pytest.mark.parametrize(
        ("old", "new", "expected"),
        [
            ("a b c", "a x c", "a [-b-]{+x+} c"),
            ("a b", "a b c", "a b{+ c+}"),
            ("a b c", "b c", "[-a -]b c"),
            ("one two three", "uno dos three", "[-one two-]{+uno dos+} three"),
            ("a\nb", "a\nc", "a⏎[-b-]{+c+}"),
            ("杭州", "苏州", "[-杭-]{+苏+}州"),
            ("iPhone手机", "iPad手机", "[-iPhone-]{+iPad+}手机"),
            ("12:30", "12:45", "12:[-30-]{+45+}"),
            ("", "x", "{+x+}"),
            ("x", "x", "x"),
        ],
    )
    def test_words(self, old: str, new: str, expected: str) -> None:
        assert text_difference(old, new) == expected

    def test_two_changes_far_apart_leave_out_what_lies_between(self) -> None:
        middle = " ".join(f"word{n}" for n in range(40))
        text = text_difference(f"a {middle} b", f"x {middle} y")
        assert text == "[-a-]{+x+} word0 word1 word2 word3…word36 word37 word38 word39 [-b-]{+y+}"

    def test_long_changes_are_shortened(self) -> None:
        text = text_difference("start " + "x" * 500, "start " + "y" * 500)
        assert text == f"start [-{'x' * 80}…{'x' * 80}-]{{+{'y' * 80}…{'y' * 80}+}}"

    def test_work_is_bounded_for_texts_that_have_little_in_common(self) -> None:
        old = " ".join(f"a{n}" for n in range(40_000))
        new = " ".join(f"b{n}" for n in range(40_000))
        assert len(text_difference(old, new)) < 400


class TestLongTexts:
    """A changed word is shown, not the prompt around it, however long that is."""

    EN = " ".join(
        f"Sentence number {n} tells of the weather in city {n * 7 % 13}." for n in range(300)
    )
    ZH = "".join(f"第{n}句说的是杭州在{n * 7 % 13}月的天气情况和出行建议。" for n in range(300))

    @pytest.mark.parametrize(
        ("text", "old", "new"),
        [(EN, "number 151 tells", "number 151 speaks"), (ZH, "第151句说", "第151句讲")],
    )
    def test_one_word(self, text: str, old: str, new: str) -> None:
        told = text_difference(text, text.replace(old, new))
        assert f"[-{old[-1]}-]{{+{new[-1]}+}}" in told or "[-tells-]{+speaks+}" in told
        assert len(told) < 150

    @pytest.mark.parametrize(
        ("text", "first", "last"), [(EN, "Well, ", " Thanks."), (ZH, "好，", "谢谢。")]
    )
    def test_both_ends_of_what_is_too_long_for_words(
        self, text: str, first: str, last: str
    ) -> None:
        told = text_difference(text, f"{first}{text}{last}")
        assert told.startswith(f"{{+{first.rstrip()}")
        assert last.strip(" .。") in told[-15:]
        assert len(told) < 300

    def test_many_changes_are_counted(self) -> None:
        told = text_difference(self.EN, self.EN.replace("weather", "climate"))
        assert told.count("[-weather-]{+climate+}") == 12
        assert told.endswith("and 288 more changes")
