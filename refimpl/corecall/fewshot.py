"""One streamed model call with few-shot examples (seed ``call_llm``).

Four phases: the examples are checked, the messages put together, the reply is streamed, and
each chunk becomes text for the callback and the result. Nothing is touched but the model, no
state is kept. LangChain's models are recognized by their methods and never imported.

Contract: fewshot.call.2, fewshot.call.3, fewshot.call.4.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from typing import Any, Protocol, TypedDict

from .core import Message, Reasoning

Callback = Callable[[str], Awaitable[object] | object]
"""A function given each piece of text, sync or async; what it returns is ignored."""


class Example(TypedDict):
    """What the model would be given, and the reply wanted of it."""

    input: str
    output: str


class Streaming(Protocol):
    """What LangChain's chat and completion models offer; chunks are messages or text."""

    @property
    def astream(self) -> Callable[..., AsyncIterator[Any]]: ...


def fewshot_messages(system: str, examples: Iterable[Example], message: str) -> list[Message]:
    """Return the messages of a call: system, a user and an assistant turn per example, message.

    Every text goes in as it is: braces are no placeholders, and an empty text is a message too.
    Keys of an example other than ``input`` and ``output`` are ignored.

    Raises:
        TypeError: ``system`` or ``message`` is no text.
        ValueError: an example is no mapping, lacks a key or holds no text under it; the
            message names index and key.

    Contract: fewshot.message.1, fewshot.message.2, fewshot.message.3, fewshot.message.4,
    fewshot.message.5, fewshot.message.6, fewshot.message.7, fewshot.message.8,
    fewshot.example.1, fewshot.example.2, fewshot.example.3, fewshot.example.5.
    """
    for name, text in (("system", system), ("message", message)):
        if not isinstance(text, str):
            raise TypeError(f"{name} is of type {type(text).__name__}, not str")
    messages = [{"role": "system", "content": system}]
    for index, example in enumerate(examples):
        messages.append({"role": "user", "content": _text(example, index, "input")})
        messages.append({"role": "assistant", "content": _text(example, index, "output")})
    messages.append({"role": "user", "content": message})
    return messages


async def call_llm(
    system: str,
    model: Streaming | Reasoning,
    message: str,
    examples: Iterable[Example] = (),
    callback: Callback | None = None,
) -> str:
    """Ask ``model`` with few-shot examples and return its whole reply.

    Args:
        model: a LangChain chat or completion model, or whatever else has
            ``astream(messages)``; or a reasoning model, with ``call(messages, streaming=True)``.
        callback: given the text of each chunk, an empty one too, before it is added to the
            reply. What it raises ends the call.

    Raises:
        TypeError: ``model`` offers neither method, ``callback`` cannot be called, or as
            :func:`fewshot_messages` says; the model was not asked.
        ValueError: a malformed example; the model was not asked.

    What the model raises passes unchanged. However the call ends, cancellation included, the
    model's stream is closed.

    Contract: fewshot.call.1, fewshot.example.4, fewshot.model.1, fewshot.model.2,
    fewshot.model.3, fewshot.model.4, fewshot.model.5, fewshot.model.6, fewshot.reply.1,
    fewshot.reply.2, fewshot.reply.3, fewshot.callback.1, fewshot.callback.2,
    fewshot.callback.3, fewshot.callback.4, fewshot.callback.5, fewshot.callback.6,
    fewshot.stream.1, fewshot.stream.2, fewshot.stream.3.
    """
    if callback is not None and not callable(callback):
        raise TypeError(f"callback is of type {type(callback).__name__}, which cannot be called")
    ask = _ask(model)
    chunks = aiter(ask(fewshot_messages(system, examples, message)))
    reply: list[str] = []
    try:
        async for chunk in chunks:
            text = chunk_text(chunk)
            if callback is not None:
                result = callback(text)
                if inspect.isawaitable(result):
                    await result
            reply.append(text)
    finally:
        if (close := getattr(chunks, "aclose", None)) is not None:
            await close()
    return "".join(reply)


def chunk_text(chunk: object) -> str:
    """Return the text of one chunk of a reply.

    Text is itself; of an object with ``content`` that is meant, ``None`` being ``""`` and a
    list of content blocks the text of its text blocks; anything else is ``str(chunk)``.

    Contract: fewshot.chunk.1, fewshot.chunk.2, fewshot.chunk.3, fewshot.chunk.4,
    fewshot.chunk.5, fewshot.chunk.6.
    """
    if isinstance(chunk, str):
        return chunk
    if not hasattr(chunk, "content"):
        return str(chunk)
    content = chunk.content
    if content is None:
        return ""
    if isinstance(content, list):
        return "".join(map(_block_text, content))
    return str(content)


def _block_text(block: object) -> str:
    """Return a content block's text; pictures, tool calls and thoughts have none."""
    if isinstance(block, str):
        return block
    if isinstance(block, Mapping) and block.get("type", "text") == "text":
        text = block.get("text")
        return text if isinstance(text, str) else ""
    return ""


def _ask(model: Any) -> Callable[[list[Message]], Any]:
    if not isinstance(model, type):
        if callable(getattr(model, "astream", None)):
            return lambda messages: model.astream(messages)
        if callable(getattr(model, "call", None)):
            return lambda messages: model.call(messages, streaming=True)
    shown = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
    raise TypeError(f"model is {shown}; it needs astream(messages) or call(messages, streaming)")


def _text(example: object, index: int, key: str) -> str:
    if not isinstance(example, Mapping):
        raise ValueError(f"examples[{index}] is of type {type(example).__name__}, not a dict")
    if key not in example:
        raise ValueError(f"examples[{index}] has no {key!r}")
    text = example[key]
    if not isinstance(text, str):
        raise ValueError(f"examples[{index}][{key!r}] is of type {type(text).__name__}, not str")
    return text
