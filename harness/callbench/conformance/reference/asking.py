"""The operations that ask a model, over real HTTP, and the probe of the lifecycle."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

import httpx2

from callbench.conformance.reference.slots import executor_of
from corecall.core import CoreCall, DataBase
from corecall.llm.llm import LLM
from corecall.providers import ChatClient, Endpoint, FunctionModel, Models, ReasoningModel
from corecall.slot.slot import Slot
from corecall.types import CallError, CallOutputChunk, CallOutputType, CallVars

Inputs = dict[str, Any]

# The endpoint is on loopback, without TLS; to load certificates takes longer than a case.
_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def llm_exec(inputs: Inputs) -> Any:
    return {"chunks": asyncio.run(_executed(LLM, inputs))}


def slot_exec(inputs: Inputs) -> Any:
    (chunk,) = asyncio.run(_executed(Slot, inputs))
    return chunk["content"]


async def _executed(kind: type[CoreCall], inputs: Inputs) -> list[Any]:
    async with _models(inputs["llm_base_url"]) as models:
        executor, options = executor_of(inputs, models)
        call = await kind.instance(executor, None, **options)
        async with aclosing(call.exec(executor, call.input)) as chunks:
            return [chunk.model_dump(mode="json") async for chunk in chunks]


@asynccontextmanager
async def _models(base_url: str) -> AsyncGenerator[Models, None]:
    reasoning, function = (
        ChatClient(
            Endpoint(base_url=base_url, model=name, api_key="conformance", retries=0),
            transport=httpx2.AsyncHTTPTransport(verify=_NO_TLS),
        )
        for name in ("reasoning", "function")
    )
    try:
        yield Models(ReasoningModel(reasoning), FunctionModel(function, mode="tools"))
    finally:
        await reasoning.aclose()
        await function.aclose()


def core_lifecycle(inputs: Inputs) -> Any:
    order: list[str] = []
    asyncio.run(_lifecycle(inputs["hooks"], order))
    return {"order": order}


async def _lifecycle(hooks: Inputs, order: list[str]) -> None:
    stop_after = hooks.get("stop_after")
    executor, _ = executor_of({})
    try:
        call = await _probe(hooks, order).instance(executor)
        taken = 0
        async with aclosing(call.exec(executor, call.input)) as chunks:
            async for _ in chunks:
                order.append("chunk")
                taken += 1
                if taken == stop_after:
                    break
    except CallError:
        order.append("error")


def _probe(hooks: Inputs, order: list[str]) -> type[CoreCall]:
    """Return a call that does nothing but note which of its hooks run."""

    def ran(name: str) -> None:
        order.append(name)
        if hooks.get("fails") == name:
            raise CallError(f"{name} fails")

    class Probe(CoreCall, input_model=DataBase, output_model=DataBase):
        def __init__(self, **attributes: Any) -> None:
            super().__init__(**attributes)
            ran("construct")

        async def _set_input(self, executor: Any) -> None:
            ran("set_input")
            await super()._set_input(executor)

        async def _init(self, call_vars: CallVars) -> DataBase:
            ran("init")
            return DataBase()

        async def _exec(self, input_data: Inputs) -> AsyncGenerator[CallOutputChunk, None]:
            order.append("exec")
            try:
                for number in range(hooks.get("chunks", 0)):
                    yield CallOutputChunk(type=CallOutputType.TEXT, content=str(number))
            except GeneratorExit:
                order.append("closed")
                raise
            if hooks.get("fails") == "exec":
                raise CallError("exec fails")

        async def _after_exec(self, input_data: Inputs) -> None:
            ran("after_exec")

    return Probe


OPERATIONS: dict[str, Callable[[Inputs], Any]] = {
    "llm.exec": llm_exec,
    "slot.exec": slot_exec,
    "core.lifecycle": core_lifecycle,
}
