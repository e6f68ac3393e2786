"""The tool callback contract: what handlers of a tool run are given, and how they are called.

From the seed ``callback_extra``. Everything is keyword-only; unknown fields of a dict are ignored,
so that old code reads what newer code writes.

Contract: callback.record.1, callback.record.2, callback.record.3, callback.record.4.
"""

from __future__ import annotations

import base64
import inspect
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from .reply import parse_arguments

logger = logging.getLogger(__name__)
T = TypeVar("T")


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


class _WithExtra(_Record):
    """A record with room for what else a caller wants to pass on.

    Contract: callback.extra.1, callback.extra.2.
    """

    extra: dict[str, Any] = Field(default_factory=dict)

    def extra_as(self, key: str, kind: type[T]) -> T:
        """Return ``extra[key]`` if it is a ``kind``; a bool is no number.

        Raises:
            KeyError: there is no such key.
            TypeError: the value is something else; both messages name the key.

        Contract: callback.extra.3, callback.extra.4, callback.extra.5, callback.extra.6.
        """
        if key not in self.extra:
            raise KeyError(f"extra has no {key!r}; it has {sorted(self.extra)}")
        value = self.extra[key]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
            found, wanted = type(value).__name__, kind.__name__
            raise TypeError(f"extra[{key!r}] is of type {found}, not {wanted}")
        return value


class ToolArgument(_Record):
    """The bare arguments of a tool call, as JSON text.

    Contract: callback.convert.3.
    """

    text: str


class TextPart(_Record):
    """Plain text."""

    type: Literal["text"] = "text"
    text: str


class _MediaPart(_Record):
    """Content that lies at a URL or, with its MIME type, right here in base64.

    Contract: callback.part.2, callback.part.3, callback.part.4, callback.part.5.
    """

    url: str | None = None
    base64_data: str | None = None
    mime_type: str | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if bool(self.url) == bool(self.base64_data):
            raise ValueError("give either url or base64_data")
        if self.base64_data:
            if not self.mime_type:
                raise ValueError("base64_data needs its mime_type")
            try:
                base64.b64decode(self.base64_data, validate=True)
            except ValueError as error:
                raise ValueError(f"base64_data is not base64: {error}") from error
        return self


class ImagePart(_MediaPart):
    """A picture."""

    type: Literal["image"] = "image"


class AudioPart(_MediaPart):
    """Sound."""

    type: Literal["audio"] = "audio"


class VideoPart(_MediaPart):
    """Moving pictures."""

    type: Literal["video"] = "video"


class FilePart(_MediaPart):
    """Any other file."""

    type: Literal["file"] = "file"


ToolResultPart = Annotated[
    TextPart | ImagePart | AudioPart | VideoPart | FilePart, Field(discriminator="type")
]


class ToolResult(_Record):
    """The structured output of a tool, its parts in order.

    Contract: callback.part.1, callback.part.6, callback.part.7.
    """

    parts: list[ToolResultPart] = Field(default_factory=list)


class CallbackInput(_WithExtra):
    """What a tool is called with.

    Contract: callback.input.1, callback.input.2.
    """

    arguments_in_json: str

    def arguments(self) -> dict[str, Any]:
        """Return the arguments as an object; blank text and ``null`` mean none.

        Raises:
            ValueError: they are not a JSON object; the message names the position.

        Contract: callback.arguments.1, callback.arguments.2, callback.arguments.3,
        callback.arguments.4, callback.arguments.5, callback.arguments.6.
        """
        parsed = parse_arguments(self.arguments_in_json)
        if parsed.object is None:
            raise ValueError(f"arguments_in_json: {parsed.problem}")
        return parsed.object


class CallbackOutput(_WithExtra):
    """What a tool gave: plain text, structured parts, or both.

    Contract: callback.output.1, callback.output.2, callback.output.3.
    """

    response: str = ""
    tool_output: ToolResult | None = None


def callback_input_from(value: object) -> CallbackInput | None:
    """Return ``value`` as an input: an input itself, arguments as text or ``ToolArgument``.

    Anything else, a dict too, gives ``None``.

    Contract: callback.convert.1, callback.convert.2, callback.convert.3, callback.convert.4,
    callback.convert.5.
    """
    match value:
        case CallbackInput():
            return value
        case str():
            return CallbackInput(arguments_in_json=value)
        case ToolArgument():
            return CallbackInput(arguments_in_json=value.text)
        case _:
            return None


def callback_output_from(value: object) -> CallbackOutput | None:
    """Return ``value`` as an output: an output itself, a response as text, a ``ToolResult``.

    Anything else, a dict too, gives ``None``.

    Contract: callback.convert.1, callback.convert.2, callback.convert.3, callback.convert.4,
    callback.convert.5.
    """
    match value:
        case CallbackOutput():
            return value
        case str():
            return CallbackOutput(response=value)
        case ToolResult():
            return CallbackOutput(tool_output=value)
        case _:
            return None


Hook = Callable[[T], Awaitable[object] | object]
"""A function called with what happened, sync or async; what it returns is ignored."""

OutputStream = AsyncIterator[CallbackOutput]


class CallbackHandlers:
    """Hooks into tool runs, called in the order they were registered.

    A hook that raises is logged and changes nothing; cancellation passes. The ``on_…``
    methods register a hook and give it back, so they work as decorators.

    Contract: callback.handler.1, callback.handler.2, callback.handler.3, callback.handler.4,
    callback.handler.5, callback.handler.6, callback.handler.7, callback.handler.8,
    callback.handler.9.
    """

    __slots__ = ("_end", "_end_with_stream", "_error", "_start")

    def __init__(self) -> None:
        self._start: list[Hook[CallbackInput]] = []
        self._end: list[Hook[CallbackOutput]] = []
        self._end_with_stream: list[Hook[OutputStream]] = []
        self._error: list[Hook[Exception]] = []

    def on_start(self, hook: Hook[CallbackInput]) -> Hook[CallbackInput]:
        """Call ``hook`` before a tool runs."""
        self._start.append(hook)
        return hook

    def on_end(self, hook: Hook[CallbackOutput]) -> Hook[CallbackOutput]:
        """Call ``hook`` with the output a tool gave in one piece."""
        self._end.append(hook)
        return hook

    def on_end_with_stream(self, hook: Hook[OutputStream]) -> Hook[OutputStream]:
        """Call ``hook`` with the pieces a tool gave, a stream of its own to read or leave."""
        self._end_with_stream.append(hook)
        return hook

    def on_error(self, hook: Hook[Exception]) -> Hook[Exception]:
        """Call ``hook`` with the error a tool ended with."""
        self._error.append(hook)
        return hook

    async def start(self, value: CallbackInput) -> None:
        """Say that a tool is about to run."""
        for hook in tuple(self._start):
            await _fire(hook, value)

    async def end(self, value: CallbackOutput) -> None:
        """Say that a tool gave its output in one piece."""
        for hook in tuple(self._end):
            await _fire(hook, value)

    async def end_with_stream(self, pieces: Sequence[CallbackOutput]) -> None:
        """Say that a tool gave its output in pieces, all of which have arrived.

        Contract: callback.handler.10, callback.handler.11.
        """
        kept = tuple(pieces)
        for hook in tuple(self._end_with_stream):
            await _fire(hook, _stream(kept))

    async def error(self, error: Exception) -> None:
        """Say that a tool failed."""
        for hook in tuple(self._error):
            await _fire(hook, error)


async def _fire(hook: Hook[T], value: T) -> None:
    try:
        result = hook(value)
        if inspect.isawaitable(result):
            await result
    except Exception:
        logger.exception("callback %r raised; the run goes on", hook)


async def _stream(pieces: tuple[CallbackOutput, ...]) -> OutputStream:
    for piece in pieces:
        yield piece
