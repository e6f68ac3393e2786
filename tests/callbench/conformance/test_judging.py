"""Requests judged by their structure: each thing expected turns red when it is not so, with its rule."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from callbench.conformance.cases import InvalidSuite, load_suite
from callbench.conformance.traffic.endpoint import Asked
from callbench.conformance.traffic.judging import Fault, judge_requests

SCHEMA = {"type": "object", "required": ["a", "b"]}
TOOL = {"name": "book", "parameters": SCHEMA}
BODY: dict[str, Any] = {
    "model": "function",
    "stream": False,
    "messages": [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "{}"},
        {"role": "user", "content": 'Missing /a. {"required":["b","a"], "type":"object"}'},
    ],
    "tools": [{"type": "function", "function": TOOL}],
    "tool_choice": {"type": "function", "function": {"name": "book"}},
}
RIGHT = Asked("POST", "/chat/completions", "Bearer conformance", BODY, "function", "", 0)
EXPECTED = {
    "model": "function",
    "stream": False,
    "temperature": None,
    "roles": ["user", "assistant", "user"],
    "turns": {"1": "{}"},
    "says": {"-1": ["Missing", "/a"]},
    "hides": {"-1": ["/b"]},
    "shows": [SCHEMA],
    "names": "book",
    "parameters": SCHEMA,
}


def judged(
    asked: list[Asked], expected: list[dict[str, Any]], op: str = "slot.exec"
) -> list[Fault]:
    return judge_requests(op, "slot.stage2.1", expected, asked)


def test_what_is_as_expected_has_no_fault() -> None:
    assert judged([RIGHT], [EXPECTED]) == []


def last(content: Any) -> list[Any]:
    return [*BODY["messages"][:2], {"role": "user", "content": content}]


@pytest.mark.parametrize(
    ("change", "rule", "told"),
    [
        ({"model": "reasoning"}, "core.model.5", 'model "reasoning", not function'),
        ({"stream": True}, "provider.function.1", "has stream true, expected false"),
        ({"temperature": 0.7}, "provider.reasoning.3", "temperature 0.7, expected no temperature"),
        ({"messages": BODY["messages"][2:]}, "slot.stage2.2", 'has the roles ["user"]'),
        ({"messages": BODY["messages"][:2]}, "slot.stage2.2", "not end on a turn of the user"),
        ({"messages": last('/a Missing {"type": "object", "required": ["a", "b"]}')},
         "slot.stage2.6", 'does not say "/a"'),
        ({"messages": last('Missing /a, /b {"type": "object", "required": ["a", "b"]}')},
         "slot.stage2.1", 'says "/b"'),
        ({"messages": last("Missing /a")}, "slot.stage2.6", "does not show"),
        ({"tools": []}, "provider.mode.2", "has the tool null"),
        ({"tool_choice": "auto"}, "provider.mode.2", 'the choice "auto"'),
        ({"tools": [{"type": "function", "function": {"name": "book", "parameters": {}}}]},
         "slot.stage2.6", "has the parameters {}"),
    ],
)  # fmt: skip
def test_what_is_not_names_its_rule(change: dict[str, Any], rule: str, told: str) -> None:
    body = {**BODY, **change}
    faults = judged([replace(RIGHT, body=body, model=body["model"])], [EXPECTED])
    assert any(fault.rule == rule and told in fault.text for fault in faults), faults


def test_the_turn_before_must_be_repeated_to_the_letter() -> None:
    messages = [BODY["messages"][0], {"role": "assistant", "content": "{ }"}, BODY["messages"][2]]
    (fault,) = judged([replace(RIGHT, body={**BODY, "messages": messages})], [EXPECTED])
    assert str(fault) == (
        'slot.stage2.2: request 1 (function) says "{ }" in message 1, expected "{}"'
    )


def test_a_case_may_name_another_rule() -> None:
    expected = {**EXPECTED, "rules": {"stream": "provider.trial.1"}}
    (fault,) = judged([replace(RIGHT, body={**BODY, "stream": True})], [expected])
    assert fault.rule == "provider.trial.1"


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"authorization": "Bearer sk-1"}, "provider.request.3"),
        ({"path": "/completions"}, "provider.request.1"),
        ({"method": "PUT"}, "provider.request.1"),
    ],
)
def test_every_request_is_one_of_the_protocol(change: dict[str, str], rule: str) -> None:
    (fault,) = judged([replace(RIGHT, **change)], [{"model": "function"}])  # type: ignore[arg-type]
    assert fault.rule == rule


def test_a_request_too_many_and_one_too_few_break_the_rule_of_the_case() -> None:
    refused = replace(RIGHT, problem="asked once more", turn=None)
    assert list(map(str, judged([RIGHT, refused], [EXPECTED]))) == [
        "slot.stage2.1: 2 requests came, expected 1 request",
        "slot.stage2.1: request 2 was refused: asked once more",
    ]
    assert list(map(str, judged([], [EXPECTED]))) == [
        "slot.stage2.1: no requests came, expected 1 request"
    ]
    assert judged([RIGHT], [])[0].text == "1 request came, expected no request"


def test_the_temperature_of_the_llm_call() -> None:
    body = {**BODY, "model": "reasoning", "temperature": 1}
    asked = replace(RIGHT, body=body, model="reasoning")
    assert judged([asked], [{"model": "reasoning", "temperature": 1.0}], "llm.exec") == []
    (fault,) = judged([asked], [{"model": "reasoning", "temperature": 0}], "llm.exec")
    assert fault.rule == "llm.exec.2"


CASE: dict[str, Any] = {
    "id": "a-1",
    "op": "slot.exec",
    "input": {},
    "model": {"reasoning": [{"content": "x"}]},
    "asked": [{"model": "reasoning"}],
    "gives": 1,
}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"model": []}, "it is no object"),
        ({"model": {"reasoning": [{}]}}, "reasoning/0: an answer has one of"),
        ({"asked": {}}, "It is no array"),
        ({"asked": [{}]}, "whose model is reasoning or function"),
        ({"asked": [{"model": "function", "role": []}]}, "has no member role"),
        ({"asked": [{"model": "function", "turns": {"x": ""}}]}, "turns is of another type"),
        ({"asked": [{"model": "function", "rules": {"ends": "no.rule.1"}}]}, "is no rule of"),
        ({"asked": [{"model": "function", "rules": {"stream": "llm.exec.1"}}]}, "names stream"),
        ({"op": "slot.check"}, "go together"),
    ],
)
def test_how_a_case_is_not_written(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    path = tmp_path / "suite.jsonl"
    path.write_text(json.dumps({**CASE, **change}))
    with pytest.raises(InvalidSuite, match=told):
        load_suite(path)


def test_model_and_asked_go_together(tmp_path: Path) -> None:
    path = tmp_path / "suite.jsonl"
    path.write_text(json.dumps({name: CASE[name] for name in CASE if name != "asked"}))
    with pytest.raises(InvalidSuite, match="go together"):
        load_suite(path)
