"""Models behind any OpenAI-compatible endpoint: one client, two roles.

:class:`ChatClient` speaks HTTP, :class:`ReasoningModel` streams text,
:class:`FunctionModel` returns objects.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Literal

from .client import ChatClient, TransportError
from .core import Function, Message, Reasoning
from .deltas import Delta
from .endpoint import Endpoint
from .generator import FunctionMode, JsonGenerator, response_format, strict
from .thoughts import ThoughtSplitter

__all__ = [
    "ChatClient",
    "Endpoint",
    "FunctionModel",
    "Models",
    "ReasoningModel",
    "ReplyMode",
    "TransportError",
]

ReplyMode = Literal["text", "json_object", "json_schema"]


@dataclass(frozen=True, slots=True)
class Models:
    """The two models of an executor; the function model may be absent."""

    reasoning: Reasoning
    function: Function | None = None


class ReasoningModel:
    """The reasoning role: text, streamed or whole.

    ``reply_mode`` says how :class:`corecall.Slot` asks for an object: as free ``text`` (the
    seed) or bound by ``json_object`` or ``json_schema``. Thoughts the model puts before its
    answer come apart from the content, as ``reasoning``.

    Contract: provider.reasoning.1, provider.reasoning.2, provider.reasoning.3,
    provider.reasoning.4.
    """

    def __init__(self, client: ChatClient, *, reply_mode: ReplyMode = "text") -> None:
        self._client = client
        self.reply_mode = reply_mode

    async def call(
        self,
        messages: list[Message],
        streaming: bool = False,
        *,
        temperature: float | None = None,
        response_schema: dict[str, Any] | None = None,
    ) -> AsyncGenerator[Delta, None]:
        """Yield the reply: one delta after another, or a single one when not streaming.

        ``temperature`` goes before the endpoint's own. ``response_schema`` is sent as the
        ``reply_mode`` says; ``text`` ignores it.
        """
        params: dict[str, Any] = {}
        if temperature is not None:
            params["temperature"] = temperature
        if response_schema is not None and self.reply_mode == "json_schema":
            params["response_format"] = response_format(strict(response_schema), response_schema)
        elif response_schema is not None and self.reply_mode == "json_object":
            params["response_format"] = {"type": "json_object"}
        splitter = ThoughtSplitter()
        if streaming:
            async with aclosing(self._client.stream(messages, params)) as deltas:
                async for delta in deltas:
                    if not splitter.answering:
                        thought, content = splitter.feed(delta.content)
                        delta = Delta(content=content, reasoning=delta.reasoning + thought)
                    if delta.content or delta.reasoning:
                        yield delta
            thought, content = splitter.flush()
            if thought or content:
                yield Delta(content=content, reasoning=thought)
        else:
            completion = await self._client.complete(messages, params)
            thought, content = splitter.feed(completion.content)
            held = splitter.flush()
            yield Delta(content + held.content, completion.reasoning + thought + held.thought)


class FunctionModel:
    """The function role: an object that satisfies a schema.

    Contract: provider.function.1, provider.function.4.
    """

    def __init__(
        self, client: ChatClient, *, mode: FunctionMode = "json_schema", trials: int = 3
    ) -> None:
        self._generator = JsonGenerator(client.complete, mode=mode, trials=trials)

    async def call(self, messages: list[Message], schema: dict[str, Any]) -> dict[str, Any]:
        """Return an object valid under ``schema``.

        Raises ``GenerationError`` when no trial gave one, ``TransportError`` when the
        endpoint failed.
        """
        return await self._generator.generate(messages, schema)
