"""The operations of the examples about replies, streams and providers; no socket is opened."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import httpx2

from corecall.deltas import Completion
from corecall.generator import GenerationError, JsonGenerator, strict
from corecall.jsontext import loads
from corecall.providers import ChatClient, Endpoint, ReasoningModel
from corecall.reply import ParsedReply, parse_arguments, parse_reply
from corecall.slot.processor import SlotProcessor
from corecall.sse import ServerEvent, SSEDecoder
from corecall.thoughts import ThoughtSplitter
from corecall.types import CallError

Inputs = dict[str, Any]
ASK = [{"role": "user", "content": "?"}]
HERE = {"base_url": "http://model.test/v1", "model": "m"}


def reply_json(inputs: Inputs) -> Any:
    return loads(inputs["text"])


def reply_json_error(inputs: Inputs) -> Any:
    try:
        loads(inputs["text"])
    except ValueError as error:
        return str(error).rpartition(": ")[2]
    return None


def reply_problem(inputs: Inputs) -> Any:
    return parse_reply(inputs["text"]).problem


def reply_duplicates(inputs: Inputs) -> Any:
    return list(parse_reply(inputs["text"], repair=inputs.get("repair", False)).duplicates)


def reply_repaired_text(inputs: Inputs) -> Any:
    return parse_reply(inputs["text"], repair=True).text


def reply_arguments(inputs: Inputs) -> Any:
    return _answer(parse_arguments(inputs["text"], repair=inputs.get("repair", False)), inputs)


def reply_answer(inputs: Inputs) -> Any:
    completion = Completion.from_message({"choices": [{"message": inputs["message"]}]})
    parsed = completion.parsed(inputs.get("tool", ""), repair=inputs.get("repair", False))
    return _answer(parsed, inputs)


def _answer(parsed: ParsedReply, inputs: Inputs) -> Any:
    if "repair" in inputs:
        return {"object": parsed.object, "repairs": list(parsed.repairs)}
    return parsed.object


def stream_decode(inputs: Inputs) -> Any:
    decoder = SSEDecoder()
    return [_event(e) for chunk in inputs["chunks"] for e in decoder.feed(_bytes(chunk))]


def stream_rest(inputs: Inputs) -> Any:
    decoder = SSEDecoder()
    for chunk in inputs["chunks"]:
        decoder.feed(_bytes(chunk))
    rest = decoder.close()
    return None if rest is None else _event(rest)


def _event(event: ServerEvent) -> Any:
    return {"event": event.event, "data": event.data, "id": event.id}


def stream_deltas(inputs: Inputs) -> Any:
    completion = Completion()
    return [completion.add(chunk)._asdict() for chunk in inputs["chunks"]]


def stream_complete(inputs: Inputs) -> Any:
    completion = Completion()
    for chunk in inputs["chunks"]:
        completion.add(chunk)
    return _completion(completion)


def stream_whole(inputs: Inputs) -> Any:
    return _completion(Completion.from_message(inputs["body"]))


def _completion(completion: Completion) -> Any:
    """Usage, refusal and error are there only when there is one."""
    calls = [
        {"id": call.id, "name": call.name, "arguments": call.arguments}
        for call in completion.tool_calls
    ]
    rare = {
        "usage": completion.usage,
        "refusal": completion.refusal or None,
        "error": completion.error,
    }
    return {
        "content": completion.content,
        "reasoning": completion.reasoning,
        "tool_calls": calls,
        "finish_reason": completion.finish_reason,
        **{key: value for key, value in rare.items() if value is not None},
    }


def stream_thoughts(inputs: Inputs) -> Any:
    splitter = ThoughtSplitter()
    pieces = [splitter.feed(chunk) for chunk in inputs["chunks"]]
    return [piece._asdict() for piece in [*pieces, splitter.flush()]]


class Server(httpx2.AsyncBaseTransport):
    """Gives the responses of an example one after another, the last one for ever."""

    def __init__(self, responses: list[Inputs]) -> None:
        self._responses = list(responses)
        self.requests: list[httpx2.Request] = []
        self.waits: list[float] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        given = self._responses.pop(0) if len(self._responses) > 1 else self._responses[0]
        if "refused" in given:
            raise httpx2.ConnectError(given["refused"])
        if "chunks" in given:
            kind = {"content-type": given.get("type", "text/event-stream")}
            chunks = [_bytes(chunk) for chunk in given["chunks"]]
            return httpx2.Response(200, headers=kind, stream=_Chunks(chunks, given.get("reset")))
        body = given.get("body", "")
        text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
        return httpx2.Response(
            given.get("status", 200), headers=given.get("headers", {}), content=text.encode()
        )

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    def client(self, endpoint: Inputs) -> ChatClient:
        return ChatClient(Endpoint(**{**HERE, **endpoint}), transport=self, sleep=self.sleep)


class _Chunks(httpx2.AsyncByteStream):
    def __init__(self, chunks: list[bytes], reset: str | None) -> None:
        self._chunks, self._reset = chunks, reset

    async def __aiter__(self) -> Any:
        for chunk in self._chunks:
            yield chunk
        if self._reset is not None:
            raise httpx2.ReadError(self._reset)


def provider_request(inputs: Inputs) -> Any:
    """Give what is sent: the members of ``url``, ``headers``, ``body`` that ``show`` names."""
    body = {"choices": [{"message": {"content": "{}"}}]}
    server = Server([{"body": body}])

    async def ask() -> None:
        model = ReasoningModel(
            server.client(inputs.get("endpoint", {})), reply_mode=inputs.get("reply_mode", "text")
        )
        options = {k: inputs[k] for k in ("temperature", "response_schema") if k in inputs}
        streaming = inputs.get("streaming", False)
        async with aclosing(
            model.call(inputs.get("messages", ASK), streaming=streaming, **options)
        ) as deltas:
            async for _ in deltas:
                pass

    asyncio.run(ask())
    (request,) = server.requests
    sent = {
        "method": request.method,
        "url": str(request.url),
        "headers": {
            name: request.headers[name]
            for name in ("content-type", "authorization")
            if name in request.headers
        },
        "body": json.loads(request.content),
        "text": request.content.decode(),
    }
    return {name: sent[name] for name in inputs["show"]}


def provider_read(inputs: Inputs) -> Any:
    """Ask once, streaming or not, and give what a caller sees: deltas, or the error."""
    server = Server(inputs["responses"])
    seen: dict[str, Any] = {"content": "", "reasoning": "", "deltas": 0, "message": None}

    async def ask() -> None:
        model = ReasoningModel(server.client(inputs.get("endpoint", {})))
        async with aclosing(model.call(ASK, streaming=inputs.get("streaming", True))) as deltas:
            async for delta in deltas:
                seen["content"] += delta.content
                seen["reasoning"] += delta.reasoning
                seen["deltas"] += 1

    try:
        asyncio.run(ask())
    except CallError as error:
        seen["message"], seen["data"] = str(error), error.data
    seen |= {"requests": len(server.requests), "waits": server.waits}
    return {name: seen[name] for name in inputs["show"]}


def provider_params(inputs: Inputs) -> Any:
    async def ask(*_: Any) -> Any:
        raise AssertionError("nothing is asked")

    SlotProcessor(inputs["schema"])  # an invalid one is refused in every mode
    return JsonGenerator(ask, mode=inputs["mode"])._params(inputs["schema"])


def provider_strict(inputs: Inputs) -> Any:
    return strict(inputs["schema"])


def provider_generate(inputs: Inputs) -> Any:
    """Let a function model answer with ``replies``, each a text or a message object."""
    replies = list(inputs["replies"])
    asked: list[Any] = []
    seen: dict[str, Any] = {"object": None}

    async def ask(messages: list[Any], params: Any) -> Completion:
        asked.append(list(messages))
        given = replies.pop(0)
        message = {"content": given} if isinstance(given, str) else given
        return Completion.from_message({"choices": [{"message": message}]})

    options = {k: inputs[k] for k in ("mode", "trials") if k in inputs}
    generator = JsonGenerator(ask, **options)
    try:
        seen["object"] = asyncio.run(
            generator.generate(inputs.get("messages", ASK), inputs["schema"])
        )
    except GenerationError as error:
        seen |= {"message": str(error), "data": error.data}
    seen |= {"requests": len(asked), "turns": asked[-1]}
    return {name: seen[name] for name in inputs["show"]}


def provider_endpoint(inputs: Inputs) -> Any:
    return repr(Endpoint(**{**HERE, **inputs["endpoint"]}))


def _bytes(chunk: str | dict[str, str]) -> bytes:
    return chunk.encode() if isinstance(chunk, str) else base64.b64decode(chunk["base64"])


OPERATIONS: dict[str, Callable[[Inputs], Any]] = {
    "reply.json": reply_json,
    "reply.json_error": reply_json_error,
    "reply.problem": reply_problem,
    "reply.duplicates": reply_duplicates,
    "reply.repaired_text": reply_repaired_text,
    "reply.arguments": reply_arguments,
    "reply.answer": reply_answer,
    "stream.decode": stream_decode,
    "stream.rest": stream_rest,
    "stream.deltas": stream_deltas,
    "stream.complete": stream_complete,
    "stream.whole": stream_whole,
    "stream.thoughts": stream_thoughts,
    "provider.params": provider_params,
    "provider.request": provider_request,
    "provider.read": provider_read,
    "provider.strict": provider_strict,
    "provider.generate": provider_generate,
    "provider.endpoint": provider_endpoint,
}
