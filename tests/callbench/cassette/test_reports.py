"""Minimal inputs from public bug reports about recording and replay, where the shared data is at hand."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import httpx2
import pytest

from callbench.cassette import (
    Cassette,
    CassetteMiss,
    CassetteTransport,
    Interaction,
    Request,
    Response,
    canonical_request,
    case_scope,
    request_key,
)
from callbench.cassette.events import split_events, usage_of

SHARED = Path(
    os.environ.get("CALLBENCH_SHARED_DATA", Path(__file__).parents[4] / "shared" / "data")
)
REPORTS = SHARED / "reports.jsonl"

pytestmark = pytest.mark.skipif(not REPORTS.exists(), reason="the shared data is not here")


def report(identifier: str) -> dict[str, Any]:
    with REPORTS.open(encoding="utf-8") as file:
        for line in file:
            value: dict[str, Any] = json.loads(line)
            if value["id"] == identifier:
                return value
    raise LookupError(identifier)


def prompt(text: str) -> dict[str, Any]:
    return {"model": "synthetic", "messages": [{"role": "user", "content": text}]}


class Answers(httpx2.AsyncBaseTransport):
    """Answers each request with the next of its texts."""

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, text=self.texts.pop(0))


async def outcomes(cassette: Cassette, requests: list[dict[str, Any]], **inner: Any) -> list[str]:
    """The texts of the answers; a miss is the text of its error."""
    found: list[str] = []
    transport = CassetteTransport(cassette, "record" if inner else "replay", **inner)
    async with httpx2.AsyncClient(
        transport=transport, base_url="http://synthetic.invalid"
    ) as client:
        with case_scope("case"):
            for request in requests:
                method, path = (
                    request.pop("method", "POST"),
                    request.pop("path", "/v1/chat/completions"),
                )
                try:
                    found.append((await client.request(method, path, **request)).text)
                except CassetteMiss as miss:
                    found.append(str(miss))
    return found


@pytest.mark.trap("C1", "C9")
async def test_r190_answers_follow_content_not_order(path: Path) -> None:
    """C1, C9."""
    given = report("r190")
    recorded = given["input"]["recorded"]
    with Cassette.open(path) as cassette:
        await outcomes(
            cassette,
            [{"json": it["body"]} for it in recorded],
            inner=Answers(*(it["reply"] for it in recorded)),
        )
    asked = [
        {"json": {"messages": [{"role": "user", "content": text}]}}
        for text in given["input"]["requests"]
    ]
    second, first, miss = await outcomes(Cassette.open(path), asked)
    assert [second, first] == given["right"][:2]
    assert given["right"][2] == {"outcome": "miss", "names_nearest": True}
    assert "nearest recording is line 2" in miss
    assert "丙" in miss


async def test_r191_dates_in_a_prompt_count(path: Path) -> None:
    given = report("r191")["input"]
    with Cassette.open(path) as cassette:
        await outcomes(
            cassette, [{"json": prompt(given["recorded_prompt"])}], inner=Answers("booked")
        )
    (miss,) = await outcomes(Cassette.open(path), [{"json": prompt(given["request_prompt"])}])
    assert "no recording" in miss
    assert "[-09-]{+10+}" in miss or given["request_prompt"] in miss


async def test_r192_the_body_is_part_of_the_match(path: Path) -> None:
    given = report("r192")
    recorded = given["input"]["recorded"]
    with Cassette.open(path) as cassette:
        await outcomes(cassette, [dict(recorded)], inner=Answers("hit"))
    asked = [{"method": "POST", "path": "/v1", **request} for request in given["input"]["requests"]]
    hit, miss = await outcomes(Cassette.open(path), asked)
    assert hit == given["right"][0]
    assert "no recording" in miss


def body_request(body: Any) -> Request:
    return canonical_request(
        "POST", "/v1/chat/completions", json.dumps(body, ensure_ascii=False).encode()
    )


def test_r194_stored_and_asked_requests_are_normalized_alike(path: Path) -> None:
    given = report("r194")["input"]
    stored = body_request(given["stored"])
    cassette = Cassette.open(path)
    cassette.append(Interaction(request_key(stored), "case", 0, stored, Response(200)))

    def drop_user(request: Request) -> Request:
        return body_request(
            {name: value for name, value in request.json().items() if name != "user"}
        )

    normalized = Cassette.open(path, normalize=drop_user)
    assert normalized.find(normalized.key_of(body_request(given["live"])), "case", 0) is not None


async def test_r195_a_clock_in_the_prompt_needs_a_declared_normalizer(path: Path) -> None:
    given = report("r195")["input"]

    def without_clock(request: Request) -> Request:
        body = request.json()
        for turn in body["messages"]:
            turn["content"] = turn["content"].partition("内容")[2]
        return body_request(body)

    recorded, asked = prompt(given["recorded_prompt"]), prompt(given["request_prompt"])
    with Cassette.open(path) as cassette:
        await outcomes(cassette, [{"json": recorded}], inner=Answers("booked"))
    (miss,) = await outcomes(Cassette.open(path), [{"json": asked}])
    assert "no recording" in miss
    assert await outcomes(Cassette.open(path, normalize=without_clock), [{"json": asked}]) == [
        "booked"
    ]


async def test_r199_form_data_with_non_ascii_text(path: Path) -> None:
    given = report("r199")["input"]
    with Cassette.open(path) as cassette:
        await outcomes(
            cassette, [{"content": given["recorded_body"].encode()}], inner=Answers("hit")
        )
    assert await outcomes(Cassette.open(path), [{"content": given["request_body"].encode()}]) == [
        "hit"
    ]


def test_r201_no_part_of_the_usage_is_dropped() -> None:
    given = report("r201")
    chunk = json.dumps(
        {"choices": [], "usage": {"prompt_tokens": 1, **given["input"]["stored_usage"]}}
    )
    events = split_events([(0, f"data: {chunk}\n\n".encode())], event_stream=True)
    usage = usage_of(events, event_stream=True)
    assert usage == {"prompt_tokens": 1, **given["right"]["usage"]}
