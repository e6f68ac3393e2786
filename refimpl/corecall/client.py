"""The HTTP client of one OpenAI-compatible endpoint: requests, streams, retries, errors.

A model that lives elsewhere (in process, in a recording) is an ``httpx2`` transport given to
the client; nothing else changes.
"""

from __future__ import annotations

import asyncio
import email.utils
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

import httpx2
import orjson

from .core import Message
from .deltas import Completion, Delta
from .endpoint import Endpoint
from .jsontext import loads
from .sse import ServerEvent, SSEDecoder
from .types import CallError

_RETRIED = frozenset({408, 409, 429})
_FIRST_WAIT = 0.5  # seconds; doubled with every attempt
_LONGEST_WAIT = 30.0  # seconds; no wait is longer, a server that asks for more is not waited for
_SHOWN = 300  # characters of a body that an error shows
_DONE = "[DONE]"
_NOT_GIVEN: Mapping[str, Any] = {}


class TransportError(CallError):
    """The endpoint failed. ``data``: endpoint, model, status, and ``partial``, what arrived.

    Contract: provider.error.1, provider.error.2, provider.error.4.
    """


class ChatClient:
    """Chat completions of one endpoint, streaming or not, with bounded retries.

    Contract: provider.request.6, provider.request.7, provider.request.8, provider.request.9,
    provider.retry.1, provider.retry.2, provider.retry.3, provider.error.3.
    """

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
        if endpoint.authorization:
            self._headers["authorization"] = endpoint.authorization
        self._extensions = {"timeout": httpx2.Timeout(endpoint.timeout).as_dict()}

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def complete(
        self, messages: list[Message], params: Mapping[str, Any] = _NOT_GIVEN
    ) -> Completion:
        """Return the whole reply of a request that does not stream.

        Contract: provider.error.5.
        """
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
        ``[DONE]``, is a ``TransportError`` with what arrived. Once the response has begun
        nothing is retried.

        Contract: stream.end.2, stream.end.3, stream.end.4, stream.end.5, stream.end.6,
        stream.end.7, stream.end.8, stream.end.9, provider.request.12.
        """
        response = await self._send(self._body(messages, params, streaming=True))
        try:
            kind = response.headers.get("content-type", "").lower()
            if not kind.startswith("text/event-stream"):
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
                await self._sleep(_back_off(attempt))
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
            body = loads(text)
        except ValueError as error:
            raise self._error(
                f"HTTP {status}, not JSON ({error}): {text}", status=status
            ) from error
        completion = Completion.from_message(body)
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
        hide = self.endpoint.hide
        arguments = [hide(call.arguments) for call in completion.tool_calls]
        partial = {"content": hide(completion.content), "arguments": arguments}
        return self._error(reason, partial=partial)

    def _error(self, reason: str, **data: Any) -> TransportError:
        reason = self.endpoint.hide(reason)
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


def _back_off(attempt: int) -> float:
    """Return the usual wait after the attempt of this number, from 0, in seconds.

    Contract: provider.retry.4.
    """
    return min(_FIRST_WAIT * 2.0 ** min(attempt, 10), _LONGEST_WAIT)


def _wait(response: httpx2.Response, attempt: int) -> float | None:
    """Return how long to wait before asking again, in seconds; ``None``: do not ask again.

    Contract: provider.retry.5, provider.retry.6, provider.retry.7, provider.retry.8.
    """
    status = response.status_code
    if status not in _RETRIED and status < 500:
        return None
    asked = response.headers.get("retry-after", "").strip()
    wait = _back_off(attempt)
    if asked.isascii() and asked.isdigit():
        wait = float(asked)
    elif asked:
        with suppress(ValueError, OverflowError):
            wait = email.utils.parsedate_to_datetime(asked).timestamp() - time.time()
    return max(wait, 0.0) if wait <= _LONGEST_WAIT else None
