"""Chat requests with tools and the calls that are wanted: JSON Lines, or one JSON array.

    {"id": "…", "messages": [{"role": "user", "content": "…"}, …],
     "tools": [{"type": "function", "function": {"name", "description", "parameters"}}, …],
     "expected": [{"name": "…", "arguments": {…}}, …]}

``id`` may be left out (then it is the record's number), as may ``expected`` when the last message is the
assistant's with ``tool_calls`` (or the old ``function_call``). ``arguments`` is an object or its JSON
text; text that was escaped twice is a defect. An empty ``expected`` wants no call: every parameter of
the first tool is unfillable. ``lang`` may be given, else the question tells.

The last message of the user before the wanted calls is the question, the texts before it are the
conversation. Calls that were made before and their results (``role: tool``) are steps; what the
assistant said after the question is the summary.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from callbench.dataset.importers.base import Defect, Draft, Excluded, Item, Member, Source
from callbench.dataset.importers.records import case_record, declared_places, language
from callbench.dataset.importers.source import loads
from callbench.dataset.importers.types import draft7
from callbench.errors import DatasetError


class OpenAiTools:
    """Reads files of chat requests with tools."""

    name = "openai-tools"
    summary = "chat requests with tools and the wanted calls, JSON Lines"
    licence = ""

    def read(self, source: Source) -> Iterator[Item]:
        """Yield one item for every wanted call."""
        files = [source.given] if source.given else source.files("*.jsonl", "*.json")
        if not files:
            raise DatasetError(f"{source.path}: no *.jsonl file in it.", remedy="Give the file.")
        for member in files:
            yield from _read(member)


def _read(member: Member) -> Iterator[Item]:
    for number, entry in member.records():
        origin = f"{member.name}#{number}"
        if not isinstance(entry, dict) or not isinstance(entry.get("messages"), list):
            raise DatasetError(
                f"{member.full}:{number}: no chat request: it needs messages and tools.",
                remedy='As in {"messages": […], "tools": […], "expected": [{"name", "arguments"}]}.',
            )
        try:
            yield from _Request(entry, origin, number).items()
        except _Unusable as error:
            yield Excluded(origin, error.kind, error.why)


class _Unusable(Exception):
    def __init__(self, kind: str, why: str) -> None:
        super().__init__(why)
        self.kind = kind
        self.why = why


class _Request:
    """One chat request."""

    def __init__(self, entry: dict[str, Any], origin: str, number: int) -> None:
        self.entry = entry
        self.origin = origin
        self.name = str(entry.get("id", number))
        tools = [tool.get("function", tool) for tool in _objects(entry.get("tools"))]
        self.tools = _objects(tools)
        self.tools += _objects(entry.get("functions"))
        self.messages = _objects(entry["messages"])
        self.steps: list[dict[str, Any]] = []

    def items(self) -> Iterator[Item]:
        """Yield one item for each wanted call."""
        wanted = self._wanted()
        if not self.tools:
            raise _Unusable("no-tool", "No tool is offered.")
        base = self._base()
        tags = ["openai-tools", *["multiple-tools"] * (len(self.tools) > 1)]
        if not wanted:
            first = self.tools[0]
            schema = draft7(first.get("parameters"))
            yield Draft(
                self.origin,
                case_record(base, first, schema, {}, unfillable=declared_places(schema),
                            steps=self.steps, tags=[*tags, "irrelevance"]),
            )  # fmt: skip
            return
        tags += ["parallel-call"] * (len(wanted) > 1)
        steps = list(self.steps)
        for number, (called, written) in enumerate(wanted, start=1):
            tool = next((each for each in self.tools if each.get("name") == called), None)
            if tool is None:
                yield Excluded(
                    self.origin, "unknown-tool", f'It wants "{called}", which is not offered.'
                )
                continue
            given, defects = _arguments(written)
            if given is None:
                yield Excluded(
                    self.origin,
                    "broken-arguments",
                    f"The arguments of {called} are no JSON object.",
                )
                continue
            name = self.name if number == 1 else f"{self.name}/{number}"
            record = case_record({**base, "id": name}, tool, draft7(tool.get("parameters")), given,
                                 steps=list(steps), tags=tags)  # fmt: skip
            yield Draft(self.origin, record, defects)
            steps.append(_step(f"call-{number}", called, {"arguments": given}))

    def _wanted(self) -> list[tuple[str, Any]]:
        """Return the wanted calls; takes the last message out when it holds them."""
        calls = self.entry.get("expected")
        if calls is None:
            last = self.messages[-1] if self.messages else {}
            calls = _tool_calls(last) if last.get("role") == "assistant" else []
            if not calls:
                raise _Unusable("no-expected", "Neither expected nor the last message has a call.")
            self.messages = self.messages[:-1]
        calls = [calls] if isinstance(calls, dict) else calls
        if not isinstance(calls, list) or len(_objects(calls)) < len(calls):
            raise _Unusable("broken-expected", "What is expected is no list of calls.")
        found = []
        for call in _objects(calls):
            inner = call.get("function", call)
            inner = inner if isinstance(inner, dict) else call
            found.append((str(inner.get("name", "")), inner.get("arguments", {})))
        return found

    def _base(self) -> dict[str, Any]:
        last = max(
            (at for at, each in enumerate(self.messages) if each.get("role") == "user"),
            default=None,
        )
        if last is None:
            raise _Unusable("no-question", "There is no message of the user.")
        conversation, after = [], []
        pending: dict[str, tuple[str, Any]] = {}
        for at, message in enumerate(self.messages):
            role, text = message.get("role"), _text(message.get("content"))
            for call in _tool_calls(message):
                inner = call.get("function", call)
                inner = inner if isinstance(inner, dict) else call
                pending[str(call.get("id", ""))] = (
                    str(inner.get("name", "")), inner.get("arguments", {}))  # fmt: skip
            if role in ("tool", "function"):
                self._result(message, text, pending)
            elif at > last and text:
                after.append(text)
            elif at < last and text:
                role = {"developer": "system"}.get(str(role), role)
                conversation.append(
                    {"role": role if role in ("user", "system") else "assistant", "content": text}
                )
        for key, (called, written) in pending.items():
            given, _ = _arguments(written)
            self.steps.append(
                _step(key, called, {"arguments": written if given is None else given})
            )
        question = _text(self.messages[last].get("content"))
        record: dict[str, Any] = {
            "id": self.name,
            "lang": self.entry.get("lang") or language(question),
            "question": question,
            "conversation": conversation,
            "cluster": str(self.entry.get("cluster", self.name)),
            "summary": "\n".join(after),
        }
        return record

    def _result(self, message: dict[str, Any], text: str, pending: dict[str, Any]) -> None:
        key = str(message.get("tool_call_id", ""))
        called, _ = pending.pop(key, (str(message.get("name", "")), None))
        try:
            output = loads(text)
        except ValueError:
            output = text
        self.steps.append(
            _step(key, called, output if isinstance(output, dict) else {"result": output})
        )


def _step(key: str, called: str, output: dict[str, Any]) -> dict[str, Any]:
    return {"step_id": key or "call", "step_name": called, "output_data": output}


def _objects(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _tool_calls(message: dict[str, Any]) -> list[dict[str, Any]]:
    old = message.get("function_call")
    return _objects(message.get("tool_calls")) or ([old] if isinstance(old, dict) else [])


def _text(content: Any) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    parts = []
    for part in content if isinstance(content, list) else [content]:
        if not isinstance(part, dict) or not isinstance(part.get("text"), str):
            raise _Unusable("not-text", "A message holds something else than text.")
        parts.append(part["text"])
    return "\n".join(parts)


def _arguments(written: Any) -> tuple[dict[str, Any] | None, tuple[Defect, ...]]:
    """Return the argument object of a call, ``None`` when it is none, and how it was written."""
    times = 0
    while isinstance(written, str) and times < 3:
        try:
            written = loads(written)
        except ValueError:
            return None, ()
        times += 1
    if not isinstance(written, dict):
        return None, ()
    if times < 2:
        return written, ()
    message = f"The arguments are JSON text of JSON text, {times} times."
    return written, (Defect("/expected", "double-escaped", message),)
