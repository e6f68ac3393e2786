"""Models behind any OpenAI-compatible endpoint: one client, two roles.

:class:`ChatClient` speaks HTTP, :class:`ReasoningModel` streams text,
:class:`FunctionModel` returns objects. A model that lives elsewhere (in process, in a
recording) is an ``httpx2`` transport given to the client; nothing else changes.
"""

from __future__ import annotations

import asyncio
import email.utils
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx2
import orjson

from .core import Function, Message, Reasoning
from .deltas import Completion, Delta
from .generator import FunctionMode, JsonGenerator, response_format, strict
from .jsontext import loads
from .sse import ServerEvent, SSEDecoder
from .thoughts import ThoughtSplitter
from .types import CallError

ReplyMode = Literal["text", "json_object", "json_schema"]

_RETRIED = frozenset({408, 409, 429})
_FIRST_WAIT = 0.5  # seconds; doubled with every attempt
_LONGEST_WAIT = 30.0  # seconds; a server that asks for more is not waited for
_SHOWN = 300  # characters of a body that an error shows
_DONE = "[DONE]"
_NOT_GIVEN: Mapping[str, Any] = {}


class TransportError(CallError):
    """The endpoint failed. ``data``: endpoint, model, status, and ``partial``, what arrived."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is and how it is asked.

    ``params`` are sent with every request (``max_tokens``, ``temperature``, ``seed``);
    ``timeout`` is in seconds, per read; ``system_first`` moves system messages to the
    front, since many chat templates refuse a late one. Blanks around ``api_key``, such as
    the line break of a file it was read from, are no part of it. Raises ``ValueError`` for
    a key that no header can carry, and for a negative number of retries.
    """

    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    params: Mapping[str, Any] = field(default_factory=dict)
    timeout: float = 60.0
    retries: int = 2
    system_first: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "api_key", self.api_key.strip())
        if not self.api_key.isprintable():  # errors of HTTP libraries would show it, escaped
            raise ValueError("api_key holds a character that no header can carry")
        if self.retries < 0:
            raise ValueError(f"retries is {self.retries}, less than 0")

    @property
    def url(self) -> str:
        return f"{self.base_url.rstrip('/')}/chat/completions"


@dataclass(frozen=True, slots=True)
class Models:
    """The two models of an executor; the function model may be absent."""

    reasoning: Reasoning
    function: Function | None = None


class ChatClient:
    """Chat completions of one endpoint, streaming or not, with bounded retries."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        transport: httpx2.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.endpoint = endpoint
        self._sleep = sleep
        self._http = httpx2.AsyncClient(transport=transport, trust_env=transport is None)
        # Made once: parsing the address anew for every request takes longer than replaying one.
        self._url = httpx2.URL(endpoint.url)
        self._headers = httpx2.Headers({**self._http.headers, "content-type": "application/json"})
        if endpoint.api_key:
            self._headers["authorization"] = f"Bearer {endpoint.api_key}"
        self._extensions = {"timeout": httpx2.Timeout(endpoint.timeout).as_dict()}

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def complete(
        self, messages: list[Message], params: Mapping[str, Any] = _NOT_GIVEN
    ) -> Completion:
        """Return the whole reply of a request that does not stream."""
        response = await self._send(self._body(messages, params, streaming=False))
        try:
            return await self._whole(response)
        finally:
            await response.aclose()

    async def stream(
        self, messages: list[Message], params: Mapping[str, Any] = _NOT_GIVEN
    ) -> AsyncGenerator[Delta, None]:
        """Yield each delta of a streamed reply as it comes.

        A stream that ends in the middle of an event, or before a finish reason or
        ``[DONE]``, is a ``TransportError`` with what arrived. Once something was yielded
        nothing is retried.
        """
        response = await self._send(self._body(messages, params, streaming=True))
        try:
            if not response.headers.get("content-type", "").startswith("text/event-stream"):
                completion = await self._whole(response)  # a server that does not stream
                yield Delta(content=completion.content, reasoning=completion.reasoning)
                return
            completion = Completion()
            decoder = SSEDecoder()
            chunks = _chunks(response)
            try:
                async for chunk in chunks:
                    for event in decoder.feed(chunk):
                        if event.data == _DONE:
                            return
                        yield self._delta(event, completion)
            except httpx2.RequestError as error:
                raise self._cut(_describe(error), completion) from error
            finally:
                if isinstance(chunks, AsyncGenerator):
                    await chunks.aclose()
            rest = decoder.close()
            if rest is not None and rest.data != _DONE:
                raise self._cut("the stream ended in the middle of an event", completion)
            if rest is None and completion.finish_reason is None:
                raise self._cut("the stream ended before the reply was finished", completion)
        finally:
            await response.aclose()

    def _body(
        self, messages: list[Message], params: Mapping[str, Any], *, streaming: bool
    ) -> dict[str, Any]:
        if self.endpoint.system_first:
            messages = sorted(messages, key=lambda message: message["role"] != "system")
        body = {"model": self.endpoint.model, "messages": messages, "stream": streaming}
        if streaming:
            body["stream_options"] = {"include_usage": True}
        return {**body, **self.endpoint.params, **params}

    async def _send(self, body: dict[str, Any]) -> httpx2.Response:
        content = self._encoded(body)
        for attempt in range(self.endpoint.retries + 1):
            last = attempt == self.endpoint.retries
            request = httpx2.Request(
                "POST",
                self._url,
                headers=self._headers,
                content=content,
                extensions=self._extensions,
            )
            try:
                response = await self._http.send(request, stream=True)
            except httpx2.TransportError as error:
                if last:
                    raise self._error(_describe(error)) from error
                await self._sleep(_FIRST_WAIT * 2**attempt)
                continue
            if response.is_success:
                return response
            wait = _wait(response, attempt)
            if last or wait is None:
                raise await self._refused(response)
            await response.aclose()
            await self._sleep(wait)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _encoded(self, body: dict[str, Any]) -> bytes:
        try:
            return orjson.dumps(body)
        except TypeError:
            pass  # perhaps only an integer of more than 64 bits, which a schema may well hold
        try:
            text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
            return text.encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise self._error(f"the request cannot be written as JSON: {error}") from error

    async def _refused(self, response: httpx2.Response) -> TransportError:
        try:
            text = (await response.aread()).decode("utf-8", "replace")
        except httpx2.RequestError as error:
            text = _describe(error)
        finally:
            await response.aclose()
        return self._error(f"HTTP {response.status_code}: {text}", status=response.status_code)

    async def _whole(self, response: httpx2.Response) -> Completion:
        try:
            content = await response.aread()
        except httpx2.RequestError as error:
            raise self._error(_describe(error), status=response.status_code) from error
        status = response.status_code
        text = content.decode("utf-8", "replace")
        try:
            completion = Completion.from_message(loads(text))
        except ValueError as error:
            raise self._error(
                f"HTTP {status}, not JSON ({error}): {text}", status=status
            ) from error
        if completion.error is not None:
            raise self._error(f"HTTP {status}: {completion.error['message']}", status=status)
        return completion

    def _delta(self, event: ServerEvent, completion: Completion) -> Delta:
        try:
            chunk = loads(event.data)
        except ValueError as error:
            raise self._cut(
                f"an event that is not JSON ({error}): {event.data}", completion
            ) from error
        delta = completion.add(chunk)
        if event.event == "error" or completion.error is not None:
            raise self._cut(f"the server reported an error: {event.data}", completion)
        return delta

    def _cut(self, reason: str, completion: Completion) -> TransportError:
        arguments = [call.arguments for call in completion.tool_calls]
        return self._error(reason, partial={"content": completion.content, "arguments": arguments})

    def _error(self, reason: str, **data: Any) -> TransportError:
        if self.endpoint.api_key:
            reason = reason.replace(self.endpoint.api_key, "***")
        if len(reason) > _SHOWN:
            reason = reason[:_SHOWN] + "…"
        url, model = self.endpoint.url, self.endpoint.model
        return TransportError(
            f"model {model} at {url}: {reason}", {"endpoint": url, "model": model, **data}
        )


def _chunks(response: httpx2.Response) -> AsyncIterator[bytes]:
    """Return the body's chunks, straight from the stream unless they must be decompressed."""
    stream = response.stream
    if "content-encoding" in response.headers or not isinstance(stream, httpx2.AsyncByteStream):
        return response.aiter_bytes()
    return aiter(stream)


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _wait(response: httpx2.Response, attempt: int) -> float | None:
    """Return how long to wait before asking again, in seconds; ``None``: do not ask again."""
    status = response.status_code
    if status not in _RETRIED and status < 500:
        return None
    asked = response.headers.get("retry-after", "").strip()
    wait = _FIRST_WAIT * 2**attempt
    if asked.isascii() and asked.isdigit():
        wait = float(asked)
    elif asked:
        with suppress(ValueError, OverflowError):
            wait = email.utils.parsedate_to_datetime(asked).timestamp() - time.time()
    return max(wait, 0.0) if wait <= _LONGEST_WAIT else None


class ReasoningModel:
    """The reasoning role: text, streamed or whole (seed CoreCall §3.4.11).

    ``reply_mode`` says how :class:`corecall.Slot` asks for an object: as free ``text`` (the
    seed) or bound by ``json_object`` or ``json_schema``. Thoughts the model puts before its
    answer come apart from the content, as ``reasoning``.
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
        else:
            completion = await self._client.complete(messages, params)
            thought, content = splitter.feed(completion.content)
            held = splitter.flush()
            yield Delta(content + held.content, completion.reasoning + thought + held.thought)
        thought, content = splitter.flush()
        if thought or content:
            yield Delta(content=content, reasoning=thought)


class FunctionModel:
    """The function role: an object that satisfies a schema (seed CoreCall §3.4.12)."""

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
