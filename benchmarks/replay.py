"""Replay speed beside a floor: cases a second on one core, both measured in one run.

    make bench

The floor is the least any replay harness must do: render a prompt, stream recorded events through an
httpx2 transport, parse them, check the object, log a line. Ours is the whole job on the same traffic:
the Slot, the cassette, scoring, the record. The traffic is synthetic and named so: what is measured is the
harness, not a model.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import jsonschema_rs
import orjson

from callbench.cassette.store import Cassette
from callbench.cassette.transport import CassetteTransport, Mode
from callbench.dataset.case import Case, Tool
from callbench.run.engine import run_cases
from callbench.run.system import SlotSystem
from callbench.scoring.record import case_record, record_line
from callbench.scoring.verdict import score_case
from corecall.providers import ChatClient, Endpoint, FunctionModel, Models, ReasoningModel
from corecall.templating import render

CASES = 500
ROUNDS = 5
EVENTS = 17
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "nights": {"type": "integer"}},
    "required": ["city", "nights"],
}


def case(number: int) -> Case:
    """Return a synthetic case."""
    return Case(
        id=f"synthetic-{number}",
        lang="en",
        tool=Tool("book_hotel", "Book a hotel"),
        schema=SCHEMA,
        question=f"{number} nights in Hangzhou",
        expected={"city": "Hangzhou", "nights": number},
    )


def events(number: int) -> list[bytes]:
    """Return the synthetic reply to a case as ``EVENTS`` server-sent events."""
    text = json.dumps({"city": "Hangzhou", "nights": number})
    size = -(-len(text) // (EVENTS - 2))
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    pieces += [""] * (EVENTS - 1 - len(pieces))
    chunks = [
        {"id": "synthetic", "choices": [{"index": 0, "delta": {"content": piece}}]}
        for piece in pieces
    ]
    chunks[-1]["choices"][0]["finish_reason"] = "stop"  # type: ignore[index]
    return [*(b"data: " + orjson.dumps(chunk) + b"\n\n" for chunk in chunks), b"data: [DONE]\n\n"]


class Stream(httpx2.AsyncByteStream):
    """Gives ready events."""

    def __init__(self, chunks: list[bytes]) -> None:
        self._chunks = chunks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            yield chunk


class Canned(httpx2.AsyncBaseTransport):
    """Answers each case's request with its events."""

    def __init__(self) -> None:
        self._replies = [events(number) for number in range(CASES)]

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        question = json.loads(request.content)["messages"][-1]["content"].split("\n<question>\n")[1]
        stream = Stream(self._replies[int(question.split(" ", 1)[0])])
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=stream)


async def floor(log: Path) -> float:
    """Run the bare loop; return seconds."""
    template = "<question>\n{{ question }}\n</question>\n{{ schema }}"
    validator = jsonschema_rs.Draft7Validator(SCHEMA)
    replies = [events(number) for number in range(CASES)]
    position = 0

    class Bare(httpx2.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            return httpx2.Response(200, stream=Stream(replies[position]))

    async with httpx2.AsyncClient(transport=Bare()) as client:
        started = time.perf_counter()
        with log.open("wb") as file:
            for position in range(CASES):
                one = case(position)
                prompt = render("floor", template, {"question": one.question, "schema": SCHEMA})
                body = orjson.dumps({"messages": [{"role": "user", "content": prompt}]})
                pieces = []
                async with client.stream("POST", "http://floor/v1", content=body) as response:
                    async for chunk in response.aiter_raw():
                        if chunk != b"data: [DONE]\n\n":
                            delta = orjson.loads(chunk[6:])["choices"][0]["delta"]
                            pieces.append(delta["content"])
                answer = orjson.loads("".join(pieces))
                valid = validator.is_valid(answer)
                file.write(orjson.dumps({"id": one.id, "valid": valid, "data": answer}) + b"\n")
        return time.perf_counter() - started


async def ours(cassette: Cassette, mode: Mode, log: Path) -> float:
    """Run the whole job; return seconds."""
    transport = CassetteTransport(cassette, mode, Canned)
    client = ChatClient(Endpoint("http://synthetic/v1", "synthetic"), transport=transport)
    system = SlotSystem(Models(ReasoningModel(client), FunctionModel(client)))
    cases = [case(number) for number in range(CASES)]
    started = time.perf_counter()
    with log.open("wb") as file:
        async for done in run_cases(cases, system, concurrency=1, deadline=60):
            score = score_case(done.case, done.outcome)
            assert score.exact
            file.write(record_line(case_record(done.case, done.outcome, score, done.spent)))
    seconds = time.perf_counter() - started
    await client.aclose()
    return seconds


async def main() -> None:
    """Print both speeds and their ratio, medians of interleaved rounds."""
    with tempfile.TemporaryDirectory() as directory:
        log = Path(directory) / "log.jsonl"
        path = Path(directory) / "synthetic.cassette.jsonl"
        with Cassette.open(path) as cassette:
            await ours(cassette, Mode.RECORD, log)
        with Cassette.open(path) as cassette:
            pairs = [
                (await floor(log), await ours(cassette, Mode.REPLAY, log)) for _ in range(ROUNDS)
            ]
    bare = CASES / statistics.median(pair[0] for pair in pairs)
    full = CASES / statistics.median(pair[1] for pair in pairs)
    ratio = statistics.median(pair[0] / pair[1] for pair in pairs)
    print(f"floor: {bare:,.0f} cases/s   callbench: {full:,.0f} cases/s   ratio: {ratio:.2f}")


if __name__ == "__main__":
    asyncio.run(main())
