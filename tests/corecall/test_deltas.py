"""Chat completions out of chunks and bodies.

Ids like r051 are reports of real faults; the chunks are theirs.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corecall.deltas import Completion, Delta, ToolCall


def tool_chunk(*fragments: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    delta = {"tool_calls": list(fragments)}
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def content_chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def fragment(
    index: int | None = 0, id: str | None = None, name: str | None = None, arguments: Any = None
) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    given = {
        "index": index,
        "id": id,
        "function": {k: v for k, v in function.items() if v is not None},
    }
    return {key: value for key, value in given.items() if value is not None}


def added(*chunks: Any) -> Completion:
    completion = Completion()
    for chunk in chunks:
        completion.add(chunk)
    return completion


TOOLS: dict[str, tuple[list[dict[str, Any]], list[tuple[str, str, str]]]] = {
    "r051": (
        [
            fragment(0, "c1", "weather", '{"城市":"北京"}'),
            fragment(1, "c2", "weather", '{"城市":"上海"}'),
            fragment(2, "c3", "weather", '{"城市":"广州"}'),
        ],
        [
            ("c1", "weather", '{"城市":"北京"}'),
            ("c2", "weather", '{"城市":"上海"}'),
            ("c3", "weather", '{"城市":"广州"}'),
        ],
    ),
    "r054": (
        [
            fragment(0, "p", "f", '{"x":'),
            fragment(1, "q", "g", '{"y":'),
            fragment(0, arguments="1}"),
            fragment(1, arguments="2}"),
        ],
        [("p", "f", '{"x":1}'), ("q", "g", '{"y":2}')],
    ),
    "r055": (
        [fragment(0, "c9", "find", '{"k":'), fragment(0, "null", arguments='"v"}')],
        [("c9", "find", '{"k":"v"}')],
    ),
    "r056": (
        [
            fragment(0, "g1", "weather", '{"city":"Lyon"}'),
            fragment(0, "g2", "time", '{"tz":'),
            fragment(0, arguments='"UTC"}'),
        ],
        [("g1", "weather", '{"city":"Lyon"}'), ("g2", "time", '{"tz":"UTC"}')],
    ),
    "r057": (
        [fragment(0, "a", "run", '{"lang":"py"}'), fragment(1, "b", "run", '{"lang":"sh"}')],
        [("a", "run", '{"lang":"py"}'), ("b", "run", '{"lang":"sh"}')],
    ),
    "r058": (
        [
            fragment(0, "w0", "weather", ""),
            fragment(0, arguments='{"c":"A"}'),
            fragment(1, "w1", "weather", ""),
            fragment(1, arguments='{"c":"B"}'),
        ],
        [("w0", "weather", '{"c":"A"}'), ("w1", "weather", '{"c":"B"}')],
    ),
    "r110": (
        [fragment(0, "t", "天气", '{"城市":'), fragment(0, arguments='"深圳"}')],
        [("t", "天气", '{"城市":"深圳"}')],
    ),
    "r111": ([fragment(0, "t", "write", '{"text": "lo')], [("t", "write", '{"text": "lo')]),
    "id and name in every fragment": (
        [fragment(0, "a", "f", '{"x"'), fragment(0, "a", "f", ':"}'), fragment(0, "a", "f", '"}')],
        [("a", "f", '{"x":"}"}')],
    ),
    "name in every fragment, no id": (
        [fragment(0, None, "f", '{"x"'), fragment(0, None, "f", ":1}")],
        [("", "f", '{"x":1}')],
    ),
    "name in pieces": (
        [fragment(0, "a", "get_"), fragment(0, None, "weather"), fragment(0, arguments="{}")],
        [("a", "get_weather", "{}")],
    ),
    "id late": (
        [fragment(0, None, "f", "{"), fragment(0, "a", arguments="}")],
        [("a", "f", "{}")],
    ),
    "no ids, index 0 for all": (
        [
            fragment(0, None, "f", '{"x":1}'),
            fragment(0, None, "f", '{"x":2}'),
            fragment(0, None, "g", '{"y":'),
            fragment(0, None, "h", "{}"),
        ],
        [("", "f", '{"x":1}'), ("", "f", '{"x":2}'), ("", "g", '{"y":'), ("", "h", "{}")],
    ),
    "no index, ids": (
        [
            fragment(None, "a", "f", "{"),
            fragment(None, "b", "g", "{"),
            fragment(None, "a", arguments='"x":1}'),
            fragment(None, arguments="}"),
        ],
        [("a", "f", '{"x":1}'), ("b", "g", "{}")],
    ),
    "no index, no id": (
        [
            fragment(None, None, "f", "{"),
            fragment(None, None, None, "}"),
            fragment(None, None, "f"),
        ],
        [("", "f", "{}"), ("", "f", "")],
    ),
    "an index out of order": (
        [fragment(1, "b", "g", "{}"), fragment(0, "a", "f", "{}")],
        [("b", "g", "{}"), ("a", "f", "{}")],
    ),
    "arguments as an object": (
        [fragment(0, "a", "f", {"城市": "x"})],
        [("a", "f", '{"城市": "x"}')],
    ),
    "arguments as another value": (
        [fragment(0, "a", "f", [1]), fragment(1, "b", "f", 5), fragment(2, "c", "f", False)],
        [("a", "f", "[1]"), ("b", "f", "5"), ("c", "f", "false")],
    ),
    "nothing but arguments": ([fragment(None, None, None, "{}")], [("", "", "{}")]),
    "nulls": ([{"index": 0, "id": None, "function": None}], [("", "", "")]),
}


class TestToolCalls:
    @pytest.mark.trap("A28")
    @pytest.mark.rule("stream.tool.1", "stream.tool.2", "stream.tool.3", "stream.tool.4")
    @pytest.mark.rule("stream.tool.5", "stream.tool.6", "stream.tool.7")
    @pytest.mark.parametrize(("fragments", "calls"), TOOLS.values(), ids=TOOLS)
    def test_fragments_find_their_call(
        self, fragments: list[dict[str, Any]], calls: list[tuple[str, str, str]]
    ) -> None:
        expected = [ToolCall(*call) for call in calls]
        assert added(*map(tool_chunk, fragments)).tool_calls == expected
        assert added(tool_chunk(*fragments)).tool_calls == expected

    @pytest.mark.trap("A28")
    @pytest.mark.rule("stream.delta.9")
    def test_r212_two_responses_share_nothing(self) -> None:
        a, b = Completion(), Completion()
        a.add(tool_chunk(fragment(0, "a", "f", '{"x":')))
        b.add(tool_chunk(fragment(0, "b", "g", '{"y":')))
        a.add(tool_chunk(fragment(0, arguments="1}")))
        b.add(tool_chunk(fragment(0, arguments="2}")))
        assert a.tool_calls == [ToolCall("a", "f", '{"x":1}')]
        assert b.tool_calls == [ToolCall("b", "g", '{"y":2}')]

    @pytest.mark.rule("stream.tool.1", "stream.delta.6")
    def test_r110_the_last_fragment_may_come_with_the_finish_reason(self) -> None:
        completion = added(
            tool_chunk(fragment(0, "t", "f", '{"a":')),
            tool_chunk(fragment(0, arguments="1}"), finish="tool_calls"),
        )
        assert completion.tool_calls[0].arguments == '{"a":1}'
        assert completion.finish_reason == "tool_calls"

    @pytest.mark.trap("A24")
    @pytest.mark.rule("stream.whole.1")
    def test_whole_messages_keep_equal_calls_apart(self) -> None:
        call = {"id": "x", "function": {"name": "f", "arguments": "{}"}}
        body = {"choices": [{"message": {"content": None, "tool_calls": [call, call]}}]}
        assert Completion.from_message(body).tool_calls == [ToolCall("x", "f", "{}")] * 2


class TestChunks:
    @pytest.mark.rule("stream.delta.1")
    def test_each_returns_what_it_adds(self) -> None:
        completion = Completion()
        assert completion.add(content_chunk(content="你")) == Delta("你", "")
        assert completion.add(content_chunk(reasoning_content="why")) == Delta("", "why")
        assert completion.add(content_chunk(reasoning="?", content="好")) == Delta("好", "?")
        both = content_chunk(reasoning="other", reasoning_content="one")
        assert completion.add(both) == Delta("", "one")
        assert (completion.content, completion.reasoning) == ("你好", "why?one")
        assert completion.finish_reason is None

    @pytest.mark.trap("B3")
    @pytest.mark.rule("stream.delta.2", "stream.delta.3")
    @pytest.mark.parametrize(
        "chunk",
        [
            {"id": "", "choices": [], "prompt_filter_results": []},  # r120
            {"choices": []},  # r121
            {"choices": None},
            {},
            {"choices": ["x"]},
            {"choices": [{"index": 0, "delta": None, "finish_reason": None}]},
            {"choices": [{"index": 0}]},
            {"choices": [{"index": 1, "delta": {"content": "x"}, "finish_reason": "stop"}]},
            content_chunk(role="assistant", content=None),
            content_chunk(role=None, content=""),
            content_chunk(tool_calls=None, refusal=None, reasoning={"x": 1}),
        ],
    )
    def test_chunks_that_add_nothing(self, chunk: dict[str, Any]) -> None:
        completion = Completion()
        assert completion.add(chunk) == Delta("", "")
        completion.add({"choices": [{"delta": {"role": None, "content": "x"}}]})  # r123
        assert (completion.content, completion.reasoning, completion.tool_calls) == ("x", "", [])
        assert (completion.finish_reason, completion.error, completion.refusal) == (None, None, "")

    @pytest.mark.rule("stream.delta.3")
    def test_only_the_first_choice_is_read(self) -> None:
        second = {"index": 1, "delta": {"content": "x"}, "finish_reason": "length"}
        first = {"index": 0, "delta": {"content": "a"}, "finish_reason": "stop"}
        completion = added({"choices": [second, first, {**first, "delta": {"content": "b"}}]})
        completion.add({"choices": [second]})
        assert (completion.content, completion.finish_reason) == ("a", "stop")

    @pytest.mark.rule("stream.delta.6")
    def test_the_last_finish_reason_stays(self) -> None:
        completion = added(content_chunk("stop"), content_chunk("length"), content_chunk())
        assert completion.finish_reason == "length"

    @pytest.mark.rule("stream.delta.6")
    @pytest.mark.parametrize("reason", [{"a": 0}, 5, True, ["stop"], ""])
    def test_a_finish_reason_that_is_no_text_is_none(self, reason: Any) -> None:
        assert added(content_chunk(reason)).finish_reason is None
        assert added(content_chunk("stop"), content_chunk(reason)).finish_reason == "stop"

    @pytest.mark.rule("stream.tool.2")
    def test_a_name_after_arguments_is_taken_only_where_there_is_none(self) -> None:
        completion = added(
            tool_chunk(fragment(id="a", arguments="{")),
            tool_chunk(fragment(id="a", name="f", arguments="")),
            tool_chunk(fragment(id="a", name="g", arguments="}")),
        )
        assert completion.tool_calls == [ToolCall("a", "f", "{}")]

    @pytest.mark.rule("stream.tool.2")
    def test_empty_arguments_do_not_end_a_name(self) -> None:
        completion = added(
            tool_chunk(fragment(id="a", name="get_", arguments="")),
            tool_chunk(fragment(id="a", name="weather", arguments="{}")),
        )
        assert completion.tool_calls == [ToolCall("a", "get_weather", "{}")]

    @pytest.mark.trap("B3")
    @pytest.mark.rule("stream.delta.5")
    def test_r122_r201_usage_is_kept_whole(self) -> None:
        usage = {"completion_tokens": 30, "completion_tokens_details": {"reasoning_tokens": 12}}
        completion = added(content_chunk("stop", content="ok"), {"choices": [], "usage": usage})
        completion.add({"choices": [], "usage": None})
        assert (completion.content, completion.usage) == ("ok", usage)
        assert completion.finish_reason == "stop"

    @pytest.mark.rule("stream.delta.7")
    def test_a_refusal_comes_apart(self) -> None:
        completion = added(content_chunk(refusal="I "), content_chunk(refusal="can't"))
        assert (completion.refusal, completion.content) == ("I can't", "")

    @pytest.mark.rule("stream.delta.8")
    @pytest.mark.parametrize(
        ("error", "message"),
        [
            ({"message": "overloaded", "code": 529}, "overloaded"),
            ("overloaded", "overloaded"),
            ({"code": 7}, '{"code": 7}'),
            ([1], "[1]"),
        ],
    )
    def test_r104_errors_in_the_stream_are_reported(self, error: Any, message: str) -> None:
        completion = added(content_chunk(content="part"), {"error": error})
        assert completion.error is not None
        assert completion.error["message"] == message
        assert completion.error.get("code") == (
            error.get("code") if isinstance(error, dict) else None
        )
        assert completion.content == "part"
        assert Completion.from_message({"error": error}).error == completion.error

    @pytest.mark.rule("stream.delta.8")
    @pytest.mark.parametrize("error", [None, "", {}, False])
    def test_an_empty_error_is_none(self, error: Any) -> None:
        assert added({**content_chunk(content="a"), "error": error}).error is None

    @pytest.mark.rule("stream.delta.8")
    def test_what_an_error_shows_of_json_is_bounded(self) -> None:
        error = added({"error": {"code": "x" * 5000}}).error
        assert error is not None
        assert len(error["message"]) == 200

    @pytest.mark.rule("stream.delta.8")
    def test_a_chunk_that_is_no_object_is_an_error(self) -> None:
        assert added(["天"]).error == {"message": 'a chunk is no object: ["天"]'}


class TestWhole:
    @pytest.mark.rule("stream.delta.4")
    def test_r124_content_in_parts(self) -> None:
        parts = [{"type": "text", "text": '{"品牌":'}, {"type": "text", "text": '"甲"}'}]
        body = {"choices": [{"message": {"role": "assistant", "content": parts}}]}
        assert Completion.from_message(body).content == '{"品牌":"甲"}'
        assert added(content_chunk(content=parts)).content == '{"品牌":"甲"}'

    @pytest.mark.rule("stream.delta.4")
    def test_thinking_parts_are_reasoning(self) -> None:
        parts = [
            {"type": "thinking", "thinking": [{"type": "text", "text": "a"}, 7]},
            {"type": "thinking", "thinking": "b"},
            {"type": "reasoning", "text": "c"},
            {"thinking": "d"},
            "x",
            {"text": "y"},
            {"type": "output_text", "text": "z"},
            {"type": "image_url", "text": "no"},
            {"type": "text", "text": None},
            None,
        ]
        completion = added(content_chunk(content=parts, reasoning="0"))
        assert (completion.content, completion.reasoning) == ("xyz", "0abcd")

    @pytest.mark.rule("stream.whole.1")
    def test_everything_in_one_body(self) -> None:
        message = {
            "content": "hi",
            "reasoning_content": "why",
            "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}],
        }
        body = {
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"total_tokens": 9},
        }
        completion = Completion.from_message(body)
        assert (completion.content, completion.reasoning) == ("hi", "why")
        assert completion.tool_calls == [ToolCall("a", "f", "{}")]
        assert (completion.finish_reason, completion.usage) == ("stop", {"total_tokens": 9})
        assert completion.error is None

    @pytest.mark.rule("stream.whole.2")
    @pytest.mark.parametrize("body", [{}, {"choices": []}, {"choices": [{"message": None}]}])
    def test_no_message_is_an_error(self, body: dict[str, Any]) -> None:
        assert Completion.from_message(body).error == {"message": "the response holds no message"}
        assert Completion.from_message([]).error == {"message": "a chunk is no object: []"}


def answer(
    *calls: tuple[str, str], content: Any = None, tool: str = "", repair: bool = False
) -> tuple[Any, tuple[str, ...]]:
    message = {
        "content": content,
        "tool_calls": [{"function": {"name": n, "arguments": a}} for n, a in calls],
    }
    parsed = Completion.from_message({"choices": [{"message": message}]}).parsed(
        tool, repair=repair
    )
    return parsed.object, parsed.repairs


class TestParsed:
    """A tool call's arguments if they are an object; else the text."""

    @pytest.mark.trap("A24")
    @pytest.mark.rule("reply.tool.1")
    def test_the_first_call_of_that_name(self) -> None:
        calls = ("f", '{"x": 1}'), ("g", '{"y": 2}'), ("g", '{"y": 3}')
        assert answer(*calls, content='{"z": 0}', tool="g") == ({"y": 2}, ())
        assert answer(*calls, content='{"z": 0}') == ({"x": 1}, ())

    @pytest.mark.trap("A24")
    @pytest.mark.rule("reply.tool.2")
    def test_no_call_falls_back_to_the_text(self) -> None:
        assert answer(content='ok: {"a": 1}', tool="g") == ({"a": 1}, ())
        assert answer(("f", "{}"), content='ok: {"a": 1}', tool="g") == ({"a": 1}, ())
        assert answer(content=None) == (None, ())

    @pytest.mark.rule("reply.tool.2", "reply.tool.6")
    def test_bad_arguments_fall_back_to_the_text(self) -> None:
        assert answer(("g", '{"x": 1'), content='{"a": 1}', tool="g", repair=True) == ({"a": 1}, ())
        assert answer(("g", "[1]"), content='{"a": 1}') == ({"a": 1}, ())

    @pytest.mark.trap("B5")
    @pytest.mark.rule("reply.tool.6")
    def test_repair_comes_last_and_is_reported(self) -> None:
        bad = ("g", '{"x": {"y": 1}')
        assert answer(bad, content="{'a': 1}") == (None, ())
        mended = ({"x": {"y": 1}}, ("missing closing bracket",))
        assert answer(bad, content="{'a': 1}", repair=True) == mended
        assert answer(("g", "[1]"), content="{'a': 1}", repair=True) == (
            {"a": 1},
            ("single quotes",),
        )

    @pytest.mark.rule("reply.tool.5")
    def test_the_problem_is_that_of_the_call(self) -> None:
        for repair in (False, True):
            call = {"function": {"name": "f", "arguments": "[]"}}
            body = {"choices": [{"message": {"content": "no", "tool_calls": [call]}}]}
            parsed = Completion.from_message(body).parsed(repair=repair)
            assert parsed.problem == "the arguments are a JSON array, not an object"

    @pytest.mark.rule("reply.tool.4")
    def test_r046_r076_a_call_without_arguments(self) -> None:
        assert answer(("ping", "")) == ({}, ())
        assert answer(("ping", "null")) == ({}, ())

    @pytest.mark.rule("reply.tool.6")
    def test_r062_reported_arguments(self) -> None:
        call = ("r062", "{\"paths\": ['app.py', 'lib.py']}")
        assert answer(call) == (None, ())
        assert answer(call, repair=True) == ({"paths": ["app.py", "lib.py"]}, ("single quotes",))


ARGUMENTS = st.dictionaries(st.text(max_size=4), st.integers() | st.text(max_size=6), max_size=3)


@pytest.mark.rule("stream.tool.1", "stream.tool.7", "stream.delta.9")
@given(
    calls=st.lists(st.tuples(st.sampled_from(["f", "g"]), ARGUMENTS), max_size=4),
    content=st.text(max_size=12),
    draw=st.data(),
)
def test_calls_in_any_number_of_fragments_come_back(
    calls: list[tuple[str, dict[str, Any]]], content: str, draw: st.DataObject
) -> None:
    """The calls begin in order; then pieces of all of them and of the content take turns."""
    expected = [
        ToolCall(str(i), name, json.dumps(arguments)) for i, (name, arguments) in enumerate(calls)
    ]
    completion = added(
        *[tool_chunk(fragment(i, call.id, call.name, "")) for i, call in enumerate(expected)]
    )
    left = {i: call.arguments for i, call in enumerate(expected)}
    text = content
    while text or any(left.values()):
        if text and draw.draw(st.booleans()):
            completion.add(content_chunk(content=text[:3]))
            text = text[3:]
        elif open_calls := [i for i, rest in left.items() if rest]:
            i = draw.draw(st.sampled_from(open_calls))
            size = draw.draw(st.integers(1, len(left[i])))
            completion.add(tool_chunk(fragment(i, arguments=left[i][:size])))
            left[i] = left[i][size:]
    assert completion.tool_calls == expected
    assert completion.content == content


def test_a_long_answer_is_put_together_in_linear_time() -> None:
    completion = added(*[content_chunk(content="天气")] * 20_000)
    assert completion.content == "天气" * 20_000
