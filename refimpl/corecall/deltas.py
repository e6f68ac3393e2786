"""Assembling a chat completion from the chunks, or the one body, an endpoint sends.

Endpoints called OpenAI-compatible differ in small ways; each tolerance here is one that real
ones need. A ``Completion`` serves one response, nothing is shared.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from .reply import ParsedReply, parse_arguments, parse_reply


class Delta(NamedTuple):
    """What one chunk adds to the answer and to the reasoning shown beside it."""

    content: str
    reasoning: str


_MARK = re.compile(r'\\.?|["{}\[\]]', re.DOTALL)

_NOTHING = Delta("", "")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call as far as it has arrived; ``arguments`` is JSON text, maybe malformed."""

    id: str
    name: str
    arguments: str


class _Call:
    """A tool call being put together."""

    __slots__ = (
        "_counted",
        "_depth",
        "_escaped",
        "_malformed",
        "_quoted",
        "arguments",
        "id",
        "name",
    )

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.arguments: list[str] = []
        self._counted = 0
        self._depth = 0
        self._quoted = False
        self._escaped = False
        self._malformed = False

    def is_complete(self) -> bool:
        """Say whether the arguments are whole.

        They are parsed only where their brackets balance, and each fragment's are counted once: a
        call of thousands of fragments would else be read from its beginning with every one.
        """
        for fragment in self.arguments[self._counted :]:
            self._count(fragment)
        self._counted = len(self.arguments)
        if self._malformed or self._depth or not self.arguments[-1].endswith("}"):
            return False
        self._malformed = parse_arguments("".join(self.arguments)).object is None
        return not self._malformed

    def _count(self, fragment: str) -> None:
        start = int(self._escaped)  # then the first character belongs to a backslash
        self._escaped = self._escaped and not fragment
        for mark in _MARK.findall(fragment, start):
            if mark[0] == "\\":
                self._escaped = len(mark) == 1
            elif mark == '"':
                self._quoted = not self._quoted
            elif not self._quoted:
                self._depth += 1 if mark in "{[" else -1


class Completion:
    """One response, growing by :meth:`add`.

    Attributes:
        finish_reason: as the endpoint says, ``None`` until it does.
        usage: the last usage object seen, untouched.
        refusal: text of a refusal, ``""`` when the model did not refuse.
        error: the error object sent inside the response, always with a ``message``.

    Contract: stream.delta.5, stream.delta.6, stream.delta.7, stream.delta.8, stream.delta.9.
    """

    __slots__ = (
        "_by_index",
        "_calls",
        "_content",
        "_reasoning",
        "error",
        "finish_reason",
        "refusal",
        "usage",
    )

    def __init__(self) -> None:
        self.finish_reason: str | None = None
        self.usage: dict[str, Any] | None = None
        self.refusal = ""
        self.error: dict[str, Any] | None = None
        self._content: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}

    @classmethod
    def from_message(cls, body: object) -> Self:
        """Read a response that was not streamed.

        Contract: stream.whole.1, stream.whole.2.
        """
        completion = cls()
        choice = completion._choice(body)
        message = choice.get("message") if choice else None
        if isinstance(message, dict):
            completion._take(message, whole=True)
        elif completion.error is None:
            completion.error = {"message": "the response holds no message"}
        return completion

    @property
    def content(self) -> str:
        """The answer text so far; thoughts written into it are still there."""
        return "".join(self._content)

    @property
    def reasoning(self) -> str:
        """What came as reasoning, apart from the content."""
        return "".join(self._reasoning)

    @property
    def tool_calls(self) -> list[ToolCall]:
        """The calls in the order they began."""
        return [ToolCall(call.id, call.name, "".join(call.arguments)) for call in self._calls]

    def add(self, chunk: object) -> Delta:
        """Take one streamed chunk and return what it adds.

        Contract: stream.delta.1, stream.delta.2, stream.delta.3.
        """
        choice = self._choice(chunk)
        delta = choice.get("delta") if choice else None
        return self._take(delta) if isinstance(delta, dict) else _NOTHING

    def parsed(self, tool: str = "", *, repair: bool = False) -> ParsedReply:
        """Return the answer object.

        That is the arguments of the first call named ``tool`` (of the first call at all
        when ``""``) if they are an object, else what the content holds. Repair is tried
        only after both were read strictly, in the same order.

        Contract: reply.tool.1, reply.tool.2, reply.tool.6.
        """
        call = next((call for call in self.tool_calls if tool in ("", call.name)), None)
        content = self.content
        first: ParsedReply | None = None
        for mend in (False, True) if repair else (False,):
            if call is not None:
                reply = parse_arguments(call.arguments, repair=mend)
                if reply.object is not None:
                    return reply
                first = first or reply
            reply = parse_reply(content, repair=mend)
            if reply.object is not None:
                return reply
            first = first or reply
        assert first is not None
        return first

    def _choice(self, chunk: object) -> dict[str, Any] | None:
        """Take what stands beside the choices; return the first choice, if there is one.

        Usage and content-filter chunks have no choices.
        """
        if not isinstance(chunk, dict):
            self.error = {"message": f"a chunk is no object: {_shown(chunk)}"}
            return None
        if chunk.get("error"):
            self.error = _error(chunk["error"])
        if isinstance(usage := chunk.get("usage"), dict):
            self.usage = usage
        for choice in _dicts(chunk.get("choices")):
            if not choice.get("index"):
                if reason := _text(choice.get("finish_reason")):
                    self.finish_reason = reason
                return choice
        return None

    def _take(self, delta: dict[str, Any], *, whole: bool = False) -> Delta:
        content = delta.get("content")
        reasoning = delta.get("reasoning_content") or delta.get("reasoning")
        if not isinstance(reasoning, str):
            reasoning = ""
        if isinstance(content, list):
            content, thought = _parts(content)
            reasoning += thought
        elif not isinstance(content, str):
            content = ""
        if content:
            self._content.append(content)
        if reasoning:
            self._reasoning.append(reasoning)
        if isinstance(refusal := delta.get("refusal"), str):
            self.refusal += refusal
        if calls := delta.get("tool_calls"):
            for fragment in _dicts(calls):
                self._take_call(fragment, whole=whole)
        return Delta(content, reasoning)

    def _take_call(self, fragment: dict[str, Any], *, whole: bool) -> None:
        """Take one entry of a ``tool_calls`` list.

        Contract: stream.tool.1, stream.tool.2, stream.tool.6, stream.tool.7.
        """
        function = fragment.get("function")
        if not isinstance(function, dict):
            function = {}
        identity = _text(fragment.get("id"))
        if identity == "null":  # how some proxies write "no id"
            identity = ""
        name = _text(function.get("name"))
        arguments = function.get("arguments")
        if arguments is not None and not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)
        index = fragment.get("index")
        if not isinstance(index, int):
            index = None
        call = None if whole else self._find(index, identity, name)
        if call is None:
            call = _Call()
            self._calls.append(call)
        if index is not None:
            self._by_index[index] = call
        call.id = call.id or identity
        if name != call.name and not (call.name and any(call.arguments)):
            call.name += name
        if arguments is not None:
            call.arguments.append(arguments)

    def _find(self, index: int | None, identity: str, name: str) -> _Call | None:
        """Return the call a fragment goes on with, ``None`` when it begins one.

        The index decides; but some adapters give every call index 0, so another id begins
        another call, and so does a name after arguments that are already whole.

        Contract: stream.tool.3, stream.tool.4, stream.tool.5.
        """
        if index is not None:
            call = self._by_index.get(index)
        elif identity:
            call = next((call for call in self._calls if call.id == identity), None)
        elif name:
            return None
        else:
            call = self._calls[-1] if self._calls else None
        if call is None:
            return None
        if identity:
            # An id given late belongs to the call at its index.
            return call if call.id in ("", identity) else None
        if name and call.arguments and (name != call.name or call.is_complete()):
            return None
        return call


def _dicts(value: object) -> Iterable[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _parts(parts: list[Any]) -> tuple[str, str]:
    """Join the text of content parts, and apart from it the text of thinking parts.

    Contract: stream.delta.4.
    """
    content: list[str] = []
    thought: list[str] = []
    for part in parts:
        if isinstance(part, str):
            content.append(part)
        elif isinstance(part, dict):
            if isinstance(thinking := part.get("thinking"), list):
                thought += [_text(item.get("text")) for item in _dicts(thinking)]
            elif thinking and isinstance(thinking, str):
                thought.append(thinking)
            elif part.get("type") in ("thinking", "reasoning"):
                thought.append(_text(part.get("text")))
            elif part.get("type") in ("text", "output_text", None):
                content.append(_text(part.get("text")))
    return "".join(content), "".join(thought)


def _error(value: object) -> dict[str, Any]:
    """Return an error as an object with a message, whatever shape the endpoint chose."""
    if isinstance(value, dict):
        return {**value, "message": _text(value.get("message")) or _shown(value)}
    return {"message": value if isinstance(value, str) else _shown(value)}


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)[:200]
