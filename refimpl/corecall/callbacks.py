"""The tool callback contract: what handlers of a tool run are given, and how they are called.

From the seed ``callback_extra`` and DESIGN §3.6. Everything is keyword-only; unknown fields of a
dict are ignored, so that old code reads what newer code writes.
"""

from __future__ import annotations

import base64
import binascii
import inspect
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from corecall.reply import parse_arguments

logger = logging.getLogger(__name__)
T = TypeVar("T")


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


class _WithExtra(_Record):
    extra: dict[str, Any] = Field(default_factory=dict)

    def extra_as(self, key: str, kind: type[T]) -> T:
        """Return ``extra[key]`` if it is a ``kind``; a bool is no number.

        Raises:
            KeyError: there is no such key.
            TypeError: the value is something else; both messages name the key.
        """
        if key not in self.extra:
            raise KeyError(f"extra has no {key!r}; it has {sorted(self.extra)}")
        value = self.extra[key]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind in (int, float)):
            found, wanted = type(value).__name__, kind.__name__
            raise TypeError(f"extra[{key!r}] is of type {found}, not {wanted}")
        return value


class ToolArgument(_Record):
    """The bare arguments of a tool call, as JSON text."""

    text: str


class TextPart(_Record):
    """Plain text."""

    type: Literal["text"] = "text"
    text: str


class _MediaPart(_Record):
    """Content that lies at a URL or, with its MIME type, right here in base64."""

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
            except binascii.Error as error:
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
    """The structured output of a tool, its parts in order."""

    parts: list[ToolResultPart] = Field(default_factory=list)


class CallbackInput(_WithExtra):
    """What a tool is called with."""

    arguments_in_json: str

    def arguments(self) -> dict[str, Any]:
        """Return the arguments as an object; blank text and ``null`` mean none.

        Raises:
            ValueError: they are not a JSON object; the message names the position.
        """
        parsed = parse_arguments(self.arguments_in_json)
        if parsed.object is None:
            raise ValueError(f"arguments_in_json: {parsed.problem}")
        return parsed.object


class CallbackOutput(_WithExtra):
    """What a tool gave: plain text, structured parts, or both."""

    response: str = ""
    tool_output: ToolResult | None = None


def callback_input_from(value: object) -> CallbackInput | None:
    """Return ``value`` as an input: an input itself, arguments as text or ``ToolArgument``.

    Anything else, a dict too, gives ``None``.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackHandler:
    """The hooks of one observer, each optional, sync or async; results are ignored.

    Each is given the tool's name and what happened. The stream of ``on_end_with_stream`` is
    the handler's own: reading it, or not, touches no one else.
    """

    on_start: Callable[[str, CallbackInput], Awaitable[None] | None] | None = None
    on_end: Callable[[str, CallbackOutput], Awaitable[None] | None] | None = None
    on_end_with_stream: (
        Callable[[str, AsyncIterator[CallbackOutput]], Awaitable[None] | None] | None
    ) = None
    on_error: Callable[[str, Exception], Awaitable[None] | None] | None = None


class CallbackHandlers:
    """Handlers called in the order they were registered.

    A hook that raises is logged and changes nothing; cancellation passes.
    """

    __slots__ = ("_handlers",)

    def __init__(self, handlers: Iterable[CallbackHandler] = ()) -> None:
        self._handlers = list(handlers)

    def register(self, handler: CallbackHandler) -> None:
        """Add a handler after those that are there."""
        self._handlers.append(handler)

    async def start(self, tool: str, value: CallbackInput) -> None:
        """Say that ``tool`` is about to run."""
        for handler in tuple(self._handlers):
            await _fire(handler.on_start, tool, value)

    async def end(self, tool: str, value: CallbackOutput) -> None:
        """Say that ``tool`` gave its output in one piece."""
        for handler in tuple(self._handlers):
            await _fire(handler.on_end, tool, value)

    async def end_with_stream(self, tool: str, values: Sequence[CallbackOutput]) -> None:
        """Say that ``tool`` gave its output in pieces, all of which have arrived."""
        for handler in tuple(self._handlers):
            await _fire(handler.on_end_with_stream, tool, _stream(tuple(values)))

    async def error(self, tool: str, error: Exception) -> None:
        """Say that ``tool`` failed."""
        for handler in tuple(self._handlers):
            await _fire(handler.on_error, tool, error)


async def _fire(
    hook: Callable[[str, T], Awaitable[None] | None] | None, tool: str, value: T
) -> None:
    if hook is None:
        return
    try:
        result = hook(tool, value)
        if inspect.isawaitable(result):
            await result
    except Exception:
        logger.exception("callback %r of tool %r raised; the run goes on", hook, tool)


async def _stream(values: tuple[CallbackOutput, ...]) -> AsyncIterator[CallbackOutput]:
    for value in values:
        yield value
