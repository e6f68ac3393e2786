"""Needle 3, a tool-calling model, behind the chat-completions shape with ``tools``.

``NeedleTransport`` is an httpx2 transport: it turns a request's messages and tools into what the
engine wants, a bare query, facts and flat-named tools, and the engine's calls into ``tool_calls``.
The engine runs in a child process of its own, one request at a time, off the event loop.

Needle was made for one short request, not for a page of instructions. From a prompt in sections
(``<question>``, ``<context>``, ``<tool_info>``) it gets the question, the time as its date fact,
and the tool's own name and description; from any other prompt the last user message.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx2

from callbench.errors import ProviderError
from callbench.models.references import inlined

CHILD = Path(__file__).with_name("needle_child.py")

_MAX_TOKENS = 256
_QUESTION = re.compile(r"<question>\s*(.*?)\s*</question>", re.DOTALL)
_CONTEXT = re.compile(r"<context>\s*(.*?)\s*</context>", re.DOTALL)
_TOOL = re.compile(r"<tool_info>\s*(.*?)\s*</tool_info>", re.DOTALL)
_TOOL_LINES = {
    "name": re.compile(r"(?:Tool name: |工具名称：)(.*)"),
    "description": re.compile(r"(?:Tool description: |工具描述：)(.*)"),
}
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)")


@dataclass(frozen=True, slots=True)
class Query:
    """What the engine is asked: facts, tools in its own form, the request in bare words."""

    system: str
    tools: tuple[dict[str, Any], ...]
    query: str
    max_tokens: int = _MAX_TOKENS


class EngineError(Exception):
    """The engine refused a request, crashed on it, or took too long."""


class NeedleEngine:
    """The child process that holds the engine; started at the first query, and again after a crash.

    ``weights`` gives the paths of the library and of the ``.cact`` file by name; ``timeout`` is in
    seconds per query; ``child`` is the script the process runs.
    """

    def __init__(
        self,
        weights: Callable[[], Mapping[str, Path]],
        *,
        timeout: float = 300,
        child: Path = CHILD,
    ) -> None:
        self._weights = weights
        self._timeout = timeout
        self._script = child
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None

    def ask(self, query: Query) -> dict[str, Any]:
        """Return the engine's answer; blocks, one caller at a time.

        ``EngineError`` when this query failed, ``ProviderError`` when the engine cannot run.
        """
        with self._lock:
            child = self._child or self._start()
            request = {
                "system": query.system,
                "tools": list(query.tools),
                "query": query.query,
                "max_tokens": query.max_tokens,
            }
            answer = self._exchange(child, request)
        if answer is None:
            raise EngineError("the engine crashed or ran out of time on this request")
        if "response" not in answer:
            raise EngineError(str(answer.get("error", "no answer")))
        response: dict[str, Any] = answer["response"]
        return response

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._end()

    def _start(self) -> subprocess.Popen[bytes]:
        paths = self._weights()
        library = next(path for name, path in paths.items() if not name.endswith(".cact"))
        weights = next(path for name, path in paths.items() if name.endswith(".cact"))
        # Isolated (-I): neither the working directory nor the user's site can shadow a module.
        command = [sys.executable, "-I", str(self._script), str(library), str(weights)]
        quiet = {**os.environ, "NEEDLE_TELEMETRY": "0", "DO_NOT_TRACK": "1"}
        self._child = child = subprocess.Popen(  # noqa: S603
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=quiet,
        )
        ready = self._exchange(child, None)
        if not ready or "ready" not in ready:
            self._end()
            reason = ready.get("error") if ready else "its process ended at once"
            raise ProviderError(
                f"needle3: the engine does not start: {reason}.",
                remedy="Check its files: callbench models check needle3",
            )
        return child

    def _exchange(
        self, child: subprocess.Popen[bytes], request: dict[str, Any] | None
    ) -> dict[str, Any] | None:
        """Send a line and read a line; ``None`` when the process is gone, which it is then."""
        assert child.stdin is not None
        assert child.stdout is not None
        deadline = threading.Timer(self._timeout, child.kill)
        deadline.start()
        try:
            if request is not None:
                child.stdin.write(json.dumps(request, ensure_ascii=False).encode() + b"\n")
                child.stdin.flush()
            line = child.stdout.readline()
        except OSError:  # a broken pipe, under whatever name
            line = b""
        finally:
            deadline.cancel()
        if not line.endswith(b"\n"):
            self._end()
            return None
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    continue  # what was still to be written has no reader any more
        child.wait()


class NeedleTransport(httpx2.AsyncBaseTransport):
    """Answers ``POST …/chat/completions`` with ``tools``, streaming or not, from an engine."""

    def __init__(self, engine: NeedleEngine, model: str = "needle3") -> None:
        self._engine = engine
        self._model = model

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer a request. What the engine cannot do is an HTTP 4xx with the reason."""
        content = await request.aread()
        if request.method != "POST" or not request.url.path.endswith("/chat/completions"):
            return _refusal(404, "only POST …/chat/completions is answered")
        try:
            body = json.loads(content)
            functions = _functions(body)
            query = query_of(body["messages"], functions, int(body.get("max_tokens", _MAX_TOKENS)))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return _refusal(400, f"not a chat completion request with tools: {error!r}")
        if not functions:
            return _refusal(400, "needle3 answers only requests with tools (function mode tools)")
        try:
            answer = await asyncio.to_thread(self._engine.ask, query)
        except EngineError as error:
            return _refusal(422, str(error))  # 4xx: asking again would end the same way
        names = {tool["name"]: f["name"] for tool, f in zip(query.tools, functions, strict=True)}
        forced = isinstance(body.get("tool_choice"), dict) or body.get("tool_choice") == "required"
        return self._response(answer, names, forced=forced, streaming=body.get("stream") is True)

    def _response(
        self, answer: dict[str, Any], names: dict[str, str], *, forced: bool, streaming: bool
    ) -> httpx2.Response:
        calls = answer.get("function_calls") or []
        if forced and not calls:  # the engine holds back calls it doubts; a forced call is wanted
            calls = answer.get("suppressed_calls") or []
        message: dict[str, Any] = {"role": "assistant", "content": None}
        if calls:
            message["tool_calls"] = [
                {
                    "index": index,
                    "id": f"call_{index}",
                    "type": "function",
                    "function": {
                        "name": names.get(call["name"], call["name"]),
                        "arguments": json.dumps(call.get("arguments") or {}, ensure_ascii=False),
                    },
                }
                for index, call in enumerate(calls)
            ]
        else:
            message["content"] = str(answer.get("reasoning") or "")
        reason = "tool_calls" if calls else "stop"
        head = {"id": "chatcmpl-needle", "created": 0, "model": self._model}
        if not streaming:
            choice = {"index": 0, "message": message, "finish_reason": reason}
            return httpx2.Response(
                200, json={**head, "object": "chat.completion", "choices": [choice]}
            )
        head["object"] = "chat.completion.chunk"
        chunks = [
            {**head, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
            {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
        ]
        return httpx2.Response(
            200, headers={"content-type": "text/event-stream"}, stream=_Events(chunks)
        )


class _Events(httpx2.AsyncByteStream):
    def __init__(self, chunks: list[dict[str, Any]]) -> None:
        self._chunks = chunks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            yield b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\n\n"
        yield b"data: [DONE]\n\n"


def query_of(messages: list[Any], functions: list[Any], max_tokens: int = _MAX_TOKENS) -> Query:
    """Derive the engine's query from chat messages and the functions that may be called."""
    texts = [_text(message) for message in messages if message["role"] == "user"]
    sections = next((text for text in reversed(texts) if _QUESTION.search(text)), None)
    if sections is None:
        return Query("", _tools(functions, {}), texts[-1] if texts else "", max_tokens)
    told = _last(_TOOL, sections)
    info = {
        key: found[1].strip() for key, line in _TOOL_LINES.items() if (found := line.search(told))
    }
    time = _TIME.search(_last(_CONTEXT, sections))
    system = ""
    if time is not None:
        now = datetime.fromisoformat(f"{time[1]} {time[2]}")
        system = f"date: {now:%Y-%m-%d %a %H:%M}"
    question = _last(_QUESTION, sections)
    return Query(
        system, _tools(functions, info if len(functions) == 1 else {}), question, max_tokens
    )


def _functions(body: dict[str, Any]) -> list[Any]:
    functions = [tool["function"] for tool in body.get("tools") or []]
    choice = body.get("tool_choice")
    if choice == "none":
        return []
    if isinstance(choice, dict):
        name = choice["function"]["name"]
        return [function for function in functions if function["name"] == name]
    return functions


def _tools(functions: list[Any], info: dict[str, str]) -> tuple[dict[str, Any], ...]:
    return tuple(
        {
            "name": info.get("name") or function["name"],
            "description": info.get("description") or function.get("description", ""),
            "parameters": inlined(function.get("parameters") or {"type": "object"}),
        }
        for function in functions
    )


def _text(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content)
    return str(content)


def _last(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.findall(text)
    return found[-1] if found else ""


def _refusal(status: int, reason: str) -> httpx2.Response:
    error = {"message": reason, "type": "invalid_request_error", "code": status}
    return httpx2.Response(status, json={"error": error})
