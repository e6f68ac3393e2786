"""Lines: what both sides write fits the schema, what they read is checked, unknown members are not."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import callbench.peer as peers
from callbench.peer import Failed, Hello, Misbehaved, Result, Unsupported, messages
from callbench.peer.messages import ProtocolError, read, read_answer, read_hello
from callbench.peer.serving import serve

PROTOCOL = Path(peers.__file__).parents[1] / "conformance" / "PROTOCOL.md"
HELLO = Hello("n", "l", "r", frozenset({"slot.check"}))


def strict(message: dict[str, Any], side: str) -> bool:
    """Tell whether a message fits the schema of its side and holds nothing beside it."""
    schema = messages.protocol_schema()
    name = f"{message['cmd']}_{side}"
    properties = schema["$defs"][name]["properties"]
    fits = Draft202012Validator({**schema, "oneOf": [{"$ref": f"#/$defs/{side}"}]})
    return fits.is_valid(message) and set(message) <= set(properties)


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(messages.protocol_schema())


@pytest.mark.parametrize(
    "message",
    [
        messages.hello_request(),
        messages.run_request(1, "slot.check", {"schema": {}, "data": 1.0}, 5.0, None),
        messages.run_request(2, "llm.exec", {}, 0.0001, "http://127.0.0.1:1/v1"),
        messages.BYE,
    ],
)
def test_what_the_harness_writes_fits_the_schema(message: dict[str, Any]) -> None:
    assert strict(message, "request")


@pytest.mark.parametrize(
    "message",
    [
        messages.hello_answer(HELLO),
        messages.run_answer(1, Result(None)),
        messages.run_answer(1, Failed("call_error", "no")),
        messages.run_answer(1, Unsupported()),
        messages.run_answer(1, Misbehaved("crash", "SystemExit")),
    ],
)
def test_what_our_peer_writes_fits_the_schema(message: dict[str, Any]) -> None:
    assert strict(message, "answer")


def test_the_conversation_of_the_page_fits_the_schema() -> None:
    lines = re.findall(r"^([→←]) (\{.*\})$", PROTOCOL.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(lines) == 9
    for arrow, line in lines:
        assert strict(json.loads(line), "request" if arrow == "→" else "answer"), line


@pytest.mark.parametrize("answer", [Result({"a": b"x"}), Failed("key_error", "k"), Unsupported()])
def test_an_answer_is_read_as_it_was_meant(answer: Any) -> None:
    assert read_answer(messages.write(messages.run_answer(7, answer)).rstrip()) == (7, answer)


def test_a_hello_is_read_as_it_was_meant() -> None:
    assert read_hello(messages.write(messages.hello_answer(HELLO))) == HELLO


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"Segmentation fault", "not JSON"),
        (b"", "not JSON"),
        (b"[1]", "no JSON object"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
        (b'{"a": "\xff"}', "byte 8 is not UTF-8"),
        (b'{"a": NaN}', "NaN is no JSON number"),
        (b'{"a": 1e999}', "too large"),
        (b"[" * 100_000, "not JSON"),
    ],
)
def test_a_line_that_is_no_object_says_why(line: bytes, says: str) -> None:
    with pytest.raises(ProtocolError, match=says):
        read(line)


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ({"cmd": "result", "seq": 1}, '"value" is a required'),
        ({"cmd": "result", "value": 1}, '"seq" is a required'),
        ({"cmd": "result", "seq": "1", "value": 1}, "/seq: "),
        ({"cmd": "result", "seq": 1, "value": {"$int": "x"}}, "value: .* tag"),
        ({"cmd": "error", "seq": 1, "kind": "ValueError", "message": ""}, "/kind: "),
        ({"cmd": "error", "seq": 1, "kind": "call_error"}, '"message" is a required'),
        ({"cmd": "hello", "version": 1}, "cmd is none of"),
        ({"seq": 1, "value": 1}, "cmd is none of"),
        ({"cmd": "error", "seq": 1, "kind": "\ud800", "message": ""}, "not Unicode"),
    ],
)
def test_an_answer_that_breaks_the_schema_says_where(message: dict[str, Any], says: str) -> None:
    with pytest.raises(ProtocolError, match=says):
        read_answer(json.dumps(message).encode())


def test_a_hello_of_a_version_has_all_its_members() -> None:
    with pytest.raises(ProtocolError, match="required"):
        read_hello(b'{"cmd": "hello", "version": 1, "name": "n"}')
    assert read_hello(b'{"cmd": "hello", "version": 0}').version == 0


def test_surplus_members_are_named() -> None:
    line = b'{"cmd": "result", "seq": 1, "value": 0, "took_ms": 3}'
    assert messages.surplus(read(line)) == ["took_ms"]
    assert read_answer(line) == (1, Result(0))


def test_a_message_with_half_a_pair_is_escaped() -> None:
    line = messages.write(messages.run_answer(1, Failed("call_error", "\ud800")))
    assert line.endswith(b'"message":"\\ud800"}\n')


class TestServing:
    MODULE = SimpleNamespace(OPERATIONS={"double": lambda given: 2 * given["n"]})

    def answers(self, *lines: dict[str, Any] | bytes) -> tuple[int, list[dict[str, Any]]]:
        raw = [x if isinstance(x, bytes) else json.dumps(x).encode() + b"\n" for x in lines]
        sink = io.BytesIO()
        code = serve(
            self.MODULE,  # type: ignore[arg-type]
            name="doubler",
            release="1",
            source=io.BytesIO(b"".join(raw)),
            sink=sink,
        )
        return code, [json.loads(line) for line in sink.getvalue().splitlines()]

    def test_it_introduces_itself(self) -> None:
        code, (hello,) = self.answers(
            {"cmd": "hello", "versions": [1, 2], "harness": "x", "new": 1}
        )
        assert (code, hello["version"], hello["operations"]) == (0, 1, ["double"])

    def test_it_says_so_when_it_knows_no_version(self) -> None:
        request = {"cmd": "hello", "versions": [2], "harness": "x"}
        assert self.answers(request, request) == (0, [{"cmd": "hello", "version": 0}])

    def test_values_are_untagged_and_tagged(self) -> None:
        run = {"cmd": "run", "seq": 1, "op": "double", "deadline_ms": 1, "new": None}
        big = {"$int": "9007199254740993"}
        _, (answer,) = self.answers({**run, "input": {"n": big}})
        assert answer == {"cmd": "result", "seq": 1, "value": {"$int": "18014398509481986"}}

    def test_bye_ends_it_and_nothing_is_answered(self) -> None:
        assert self.answers({"cmd": "bye"}, {"cmd": "hello", "versions": [1]}) == (0, [])

    @pytest.mark.parametrize("line", [b"{\n", b"{}\n", b'{"cmd": "run", "seq": 1}\n'])
    def test_what_is_no_message_ends_it_with_an_error(self, line: bytes) -> None:
        assert self.answers(line)[0] == 1
