"""Operations that watch what is called, and when: hooks of callbacks, and a model that streams."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

from corecall import fewshot
from corecall.callbacks import CallbackHandlers, CallbackInput, CallbackOutput
from corecall.types import CallError

Inputs = dict[str, Any]


def callback_fire(inputs: Inputs) -> Any:
    handlers = CallbackHandlers()
    told: list[list[Any]] = []
    for given in inputs["hooks"]:
        _Hook(handlers, given, told)

    async def run() -> bool:
        for event in inputs["fired"]:
            try:
                await getattr(handlers, event["event"])(_record(event["event"], event["value"]))
            except asyncio.CancelledError:
                return True
        return False

    return {"canceled": asyncio.run(run()), "told": told}


def _record(event: str, value: Any) -> Any:
    match event:
        case "start":
            return CallbackInput(arguments_in_json=value)
        case "end":
            return CallbackOutput(response=value)
        case "end_with_stream":
            return [CallbackOutput(response=text) for text in value]
        case _:
            return CallError(value)


class _Hook:
    """A hook that notes what it is told and then does what ``does`` says."""

    def __init__(self, handlers: CallbackHandlers, given: Inputs, told: list[list[Any]]) -> None:
        self.handlers, self.told = handlers, told
        self.event, self.name, self.does = given["event"], given["name"], given.get("does", "")
        hook: Any = self.waiting if self.does == "waits" else self.at_once
        if self.event == "end_with_stream":
            hook = self.reading
        for _ in range(given.get("times", 1)):
            getattr(handlers, f"on_{self.event}")(hook)

    def at_once(self, value: Any) -> Any:
        self._note(_text(value))
        return _record(self.event, "another")

    async def waiting(self, value: Any) -> None:
        self.told.append([self.name, "begins"])
        await asyncio.sleep(0)
        self._note(_text(value))

    async def reading(self, pieces: AsyncIterator[CallbackOutput]) -> None:
        read: list[str] = []
        async for piece in pieces:
            read.append(piece.response)
            if self.does == "stops":
                break
        self._note(read)

    def _note(self, what: Any) -> None:
        self.told.append([self.name, what])
        match self.does:
            case "raises":
                raise CallError("a hook's")
            case "cancels":
                raise asyncio.CancelledError
            case "registers":
                _Hook(self.handlers, {"event": self.event, "name": f"{self.name}2"}, self.told)


def _text(value: Any) -> str:
    match value:
        case CallbackInput():
            return value.arguments_in_json
        case CallbackOutput():
            return value.response
        case _:
            return str(value)


def fewshot_watch(inputs: Inputs) -> Any:
    order: list[Any] = []

    async def stream() -> AsyncIterator[str]:
        try:
            for chunk in inputs.get("chunks", []):
                order.append(["gives", chunk])
                yield chunk
            if "fails" in inputs:
                raise CallError(inputs["fails"])
        finally:
            order.append("closed")

    def astream(_: Any, **options: Any) -> AsyncIterator[str]:
        order.append(["astream", options])
        return stream()

    def call(_: Any, **options: Any) -> AsyncIterator[str]:
        order.append(["call", options])
        return stream()

    methods = {"astream": astream, "call": call}
    model = type("Model", (), {name: staticmethod(methods[name]) for name in inputs["model"]})()
    told: dict[str, Any] = {"reply": None, "error": None}
    callback, examples = _callback(inputs.get("callback"), order), inputs.get("examples", [])

    async def run() -> None:
        try:
            told["reply"] = await fewshot.call_llm("", model, "", examples, callback)
        except tuple(_ERRORS) as error:
            told["error"] = next(word for kind, word in _ERRORS.items() if isinstance(error, kind))
        told["order"] = list(order)  # the end of the loop closes what the call left open

    asyncio.run(run())
    return told


_ERRORS: dict[type[Exception], str] = {
    CallError: "call_error",
    ValueError: "value_error",
    TypeError: "type_error",
}


def _callback(kind: str | None, order: list[Any]) -> Any:
    def told(piece: str) -> str:
        order.append(["told", piece])
        if kind == "raises":
            raise ValueError(piece)
        return "another"

    async def waits(piece: str) -> None:
        order.append(["begins", piece])
        await asyncio.sleep(0)
        told(piece)

    class Empty(list[str]):
        def __call__(self, piece: str) -> str:
            return told(piece)

    kinds = {None: None, "waits": waits, "counts as false": Empty(), "a text": "print"}
    return kinds.get(kind, told)


OPERATIONS: dict[str, Callable[[Inputs], Any]] = {
    "callback.fire": callback_fire,
    "fewshot.watch": fewshot_watch,
}
