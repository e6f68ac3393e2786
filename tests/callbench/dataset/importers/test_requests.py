"""Chat requests with tools, and MCP tools with questions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from callbench.errors import DatasetError, UsageError

Import = Callable[..., Any]
Lines = Callable[..., Path]

WEATHER = {
    "name": "weather",
    "description": "Tells the weather.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    },
}


def ask(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A chat request."""
    found = list(messages) or [{"role": "user", "content": "Weather in Oslo?"}]
    return {"messages": found, "tools": [{"type": "function", "function": WEATHER}], **fields}


def calling(arguments: Any, name: str = "weather", key: str = "c") -> dict[str, Any]:
    """An assistant's message with a call."""
    call = {"id": key, "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


USER = {"role": "user", "content": "Weather in Oslo?"}


class TestOpenAiTools:
    @pytest.mark.parametrize(
        "entry",
        [
            ask(expected=[{"name": "weather", "arguments": {"city": "Oslo"}}]),
            ask(expected=[{"name": "weather", "arguments": '{"city": "Oslo"}'}]),
            ask(expected=[calling({"city": "Oslo"})["tool_calls"][0]]),
            ask(USER, calling('{"city": "Oslo"}')),
            ask(USER, {"role": "assistant",
                       "function_call": {"name": "weather", "arguments": '{"city": "Oslo"}'}}),
            {"messages": [USER], "functions": [WEATHER],
             "expected": [{"name": "weather", "arguments": {"city": "Oslo"}}]},
        ],
        ids=["object", "text", "call", "last-message", "function-call", "functions"],
    )  # fmt: skip
    def test_every_way_to_say_the_wanted_call(
        self, lines: Lines, imported: Import, entry: dict[str, Any]
    ) -> None:
        found = imported("openai-tools", lines("r.jsonl", entry))
        (record,) = found.records
        assert record["expected"] == {"city": "Oslo"}
        assert record["question"] == "Weather in Oslo?"
        assert record["tool"] == {"name": "weather", "description": "Tells the weather."}
        assert "conversation" not in record
        assert not found.report["defects"]

    def test_earlier_calls_are_steps(self, lines: Lines, imported: Import) -> None:
        entry = ask(
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "Hello"},
            {"role": "user", "content": [{"type": "text", "text": "Weather in Oslo?"}]},
            calling("{}", "where", "c1"),
            {"role": "tool", "tool_call_id": "c1", "content": '{"at": "Oslo"}'},
            calling('{"x": 1}', "other", "c2"),
            {"role": "assistant", "content": "I will look."},
            calling({"city": "Oslo"}),
        )
        (record,) = imported("openai-tools", lines("r.jsonl", entry)).records
        assert [each["content"] for each in record["conversation"]] == ["Be brief.", "Hi", "Hello"]
        assert record["summary"] == "I will look."
        assert record["steps"] == [
            {"step_id": "c1", "step_name": "where", "output_data": {"at": "Oslo"}},
            {"step_id": "c2", "step_name": "other", "output_data": {"arguments": {"x": 1}}},
        ]

    def test_arguments_escaped_twice_are_a_defect(self, lines: Lines, imported: Import) -> None:
        twice = json.dumps(json.dumps({"city": "Oslo"}))
        found = imported("openai-tools", lines("r.jsonl", ask(USER, calling(twice))))
        assert found.records[0]["expected"] == {"city": "Oslo"}
        assert found.kinds() == {"1 /expected": "double-escaped"}

    def test_no_call_wanted_is_an_irrelevance_case(self, lines: Lines, imported: Import) -> None:
        (record,) = imported("openai-tools", lines("r.jsonl", ask(expected=[]))).records
        assert (record["expected"], record["unfillable"]) == ({}, ["/city"])
        assert "irrelevance" in record["tags"]

    def test_what_is_no_case(self, lines: Lines, imported: Import) -> None:
        wanted = {"expected": [{"name": "weather", "arguments": {"city": "Oslo"}}]}
        file = lines(
            "r.jsonl",
            ask(**wanted),
            ask(),
            ask({"role": "system", "content": "x"}, **wanted),
            ask({"role": "user", "content": [{"type": "image_url"}]}, **wanted),
            ask(expected=[{"name": "none", "arguments": {}}]),
            ask(expected=[{"name": "weather", "arguments": '{"city": '}]),
        )
        assert imported("openai-tools", file).report["excluded"] == {
            "broken-arguments": 1, "no-expected": 1, "no-question": 1, "not-text": 1,
            "unknown-tool": 1}  # fmt: skip

    @pytest.mark.parametrize("expected", ["none", ["weather"], 3])
    def test_a_broken_expectation_is_not_one_of_no_call(
        self, lines: Lines, imported: Import, expected: Any
    ) -> None:
        file = lines("r.jsonl", ask(expected=expected), ask(expected=[]))
        found = imported("openai-tools", file)
        assert found.report["excluded"] == {"broken-expected": 1}
        assert [record["id"] for record in found.records] == ["2"]

    @pytest.mark.parametrize("tools", [[{"type": "function", "function": "weather"}], ["x"], "x"])
    def test_strange_tools_offer_nothing(self, lines: Lines, imported: Import, tools: Any) -> None:
        file = lines("r.jsonl", {**ask(expected=[]), "tools": tools}, ask(expected=[]))
        assert imported("openai-tools", file).report["excluded"] == {"no-tool": 1}

    def test_another_format(self, lines: Lines, imported: Import) -> None:
        with pytest.raises(DatasetError, match=r"r\.jsonl:1: no chat request"):
            imported("openai-tools", lines("r.jsonl", {"prompt": "x"}))


class TestMcp:
    TOOL = {"name": "weather", "description": "W.", "inputSchema": WEATHER["parameters"]}
    ASKED = {"tool": "weather", "question": "Weather in Oslo?", "expected": {"city": "Oslo"}}

    @pytest.mark.parametrize(
        "answer",
        [
            {"jsonrpc": "2.0", "id": 1, "result": {"tools": [TOOL]}},
            {"tools": [TOOL], "nextCursor": "x"},
            [{"result": {"tools": []}}, {"result": {"tools": [TOOL]}}],
            [TOOL],
        ],
        ids=["answer", "result", "pages", "tools"],
    )
    def test_every_way_to_save_the_answer(
        self, lines: Lines, imported: Import, answer: Any
    ) -> None:
        asked = {**self.ASKED, "id": "w", "now": "2026-01-01T00:00", "tags": ["mine"],
                 "accept": {"/city": {"values": ["OSL"]}}}  # fmt: skip
        questions = lines("q.jsonl", asked)
        found = imported("mcp", lines("t.json", answer), extra={"questions": questions})
        (record,) = found.records
        assert record["schema"] == WEATHER["parameters"]
        assert record["tool"] == {"name": "weather", "description": "W."}
        assert (record["id"], record["tags"]) == ("w", ["mcp", "mine"])
        assert record["accept"] == {"/city": {"values": ["OSL"]}}
        assert [source["file"] for source in found.report["sources"]] == ["t.json", "q.jsonl"]

    def test_without_questions_it_says_what_they_look_like(
        self, lines: Lines, imported: Import
    ) -> None:
        with pytest.raises(UsageError, match=r'(?s)--questions.*\{"tool": "get_weather"'):
            imported("mcp", lines("t.json", {"tools": [self.TOOL]}))

    def test_what_is_wrong_with_a_question(self, lines: Lines, imported: Import) -> None:
        questions = lines(
            "q.jsonl", self.ASKED, {**self.ASKED, "tool": "x"}, {**self.ASKED, "x": 1}
        )
        tools = lines("t.json", {"tools": [self.TOOL]})
        report = imported("mcp", tools, extra={"questions": questions}).report
        assert report["excluded"] == {"unknown-tool": 1, "unsound-unknown-field": 1}
        with pytest.raises(DatasetError, match=r"q2\.jsonl:1: a question needs tool"):
            imported("mcp", tools, extra={"questions": lines("q2.jsonl", {"tool": "weather"})})

    @pytest.mark.parametrize(
        ("answer", "says"),
        [
            ({"error": {}}, "no answer to tools/list"),
            ({"tools": [TOOL, TOOL]}, "stands twice"),
            ({"error": {"code": -32601, "message": "Method not found"}}, "error: Method not found"),
            ({"tools": [{"name": ["weather"]}]}, "no answer to tools/list"),
        ],
    )
    def test_what_is_no_answer(
        self, lines: Lines, imported: Import, answer: Any, says: str
    ) -> None:
        questions = lines("q.jsonl", self.ASKED)
        with pytest.raises(DatasetError, match=says):
            imported("mcp", lines("t.json", answer), extra={"questions": questions})


def test_a_developer_speaks_as_the_system(lines: Lines, imported: Import) -> None:
    file = lines("r.jsonl", ask({"role": "developer", "content": "Be brief."}, USER, expected=[]))
    (record,) = imported("openai-tools", file).records
    assert record["conversation"] == [{"role": "system", "content": "Be brief."}]


def test_the_other_spelling_of_a_tools_schema(lines: Lines, imported: Import) -> None:
    tool = {"name": "weather", "input_schema": WEATHER["parameters"]}
    asked = {"tool": "weather", "question": "Weather in Oslo?", "expected": {"city": "Oslo"}}
    found = imported("mcp", lines("t.json", {"tools": [tool]}),
                     extra={"questions": lines("q.jsonl", asked)})  # fmt: skip
    assert found.records[0]["schema"] == WEATHER["parameters"]


def test_an_id_made_for_a_repeated_one_is_not_taken_from_another(
    lines: Lines, imported: Import
) -> None:
    file = lines("r.jsonl", *(ask(expected=[], id=name) for name in ("a#2", "a", "a")))
    found = imported("openai-tools", file)
    assert len({record["id"] for record in found.records}) == 3
