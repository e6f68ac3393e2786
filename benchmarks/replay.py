"""Replay speed beside a floor: cases a second on one core and with ``--jobs 2``, all in one run.

    make bench

The floor is the least any replay harness must do: render a prompt, stream recorded events through an
httpx2 transport, parse them, check the object, log a line. Ours is the whole job on the same traffic:
the Slot, the cassette, scoring, the record. The traffic is synthetic and named so: what is measured is the
harness, not a model. The clock of ``--jobs 2`` starts with its first result: starting the two workers takes as long
for ten cases as for a million.
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
from callbench.dataset.loader import load_dataset
from callbench.models.catalogue import load_catalogue
from callbench.run.config import RunConfig
from callbench.run.engine import run_cases
from callbench.run.jobs import Task, scored_by_workers
from callbench.run.system import SlotSystem
from callbench.scoring.record import case_record, record_line
from callbench.scoring.verdict import score_case
from corecall.providers import ChatClient, Endpoint, FunctionModel, Models, ReasoningModel
from corecall.templating import render

CASES = 1000
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
    profile = load_catalogue(log.with_name("models.toml")).profile("synthetic")
    transport = CassetteTransport(cassette, mode, Canned, base_url="http://synthetic/v1")
    endpoint = Endpoint("http://synthetic/v1", "synthetic", params=profile.params)
    client = ChatClient(endpoint, transport=transport)
    reasoning = ReasoningModel(client, reply_mode=profile.reply_mode)
    system = SlotSystem(Models(reasoning, FunctionModel(client)))
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


async def two_jobs(cassette: Path, log: Path) -> float:
    """Run the whole job in two processes; return seconds a case from the first result on."""
    dataset = load_dataset(log.with_name("synthetic.jsonl"))
    config = RunConfig(
        str(dataset.path),
        "synthetic",
        cassette=cassette,
        config=log.with_name("models.toml"),
        jobs=2,
    )
    times = []
    with log.open("wb") as file:
        async for scored in scored_by_workers(Task(config, dataset, dataset)):
            assert scored.miss is None, scored.miss
            file.write(scored.line)
            times.append(time.perf_counter())
    return (times[-1] - times[0]) / len(times)


def write_inputs(directory: Path) -> None:
    """Write the profile of the synthetic model, and its cases as a dataset."""
    (directory / "models.toml").write_text(
        '[models.synthetic]\nbase_url = "http://synthetic/v1"\nmodel = "synthetic"\n'
    )
    with (directory / "synthetic.jsonl").open("wb") as file:
        for one in map(case, range(CASES)):
            told = {name: getattr(one, name) for name in ("id", "lang", "schema", "question")}
            tool = {"name": one.tool.name, "description": one.tool.description}
            file.write(orjson.dumps({**told, "tool": tool, "expected": one.expected}) + b"\n")


async def main() -> None:
    """Print the speeds and their ratios to the floor, medians of interleaved rounds."""
    with tempfile.TemporaryDirectory() as directory:
        write_inputs(Path(directory))
        log = Path(directory) / "log.jsonl"
        path = Path(directory) / "synthetic.cassette.jsonl"
        with Cassette.open(path) as cassette:
            await ours(cassette, Mode.RECORD, log)
        rounds = []
        with Cassette.open(path) as cassette:
            for _ in range(ROUNDS):
                bare = await floor(log) / CASES
                one = await ours(cassette, Mode.REPLAY, log) / CASES
                rounds.append((bare, one, await two_jobs(path, log)))
    for number, name in enumerate(("floor", "callbench, one core", "callbench --jobs 2")):
        speed = 1 / statistics.median(seconds[number] for seconds in rounds)
        ratio = statistics.median(seconds[0] / seconds[number] for seconds in rounds)
        print(f"{name:<20} {speed:6,.0f} cases/s   {ratio:.2f} of the floor")


if __name__ == "__main__":
    asyncio.run(main())
