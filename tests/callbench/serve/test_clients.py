"""Clients that nobody here wrote: the openai packages for Python and for Node, streaming and not.

The one for Node is installed by ``make node-client``; without it its test is skipped.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import openai
import pytest

from callbench.serve.answering import Answering, By

from .synthetic import faults, made, recording, serving, streamed, whole

NODE = Path(__file__).parent / "node"

CALL = {"name": "book", "arguments": '{"city": "杭州"}'}
PIECES = ("杭", "州", "", " ok")


@pytest.fixture
def answering(tmp_path: Path) -> Answering:
    call = {"id": "c", "type": "function", "function": CALL}
    cassette = made(
        tmp_path / "synthetic.cassette.jsonl",
        recording("whole", whole("杭州 ok")),
        recording("stream", streamed(*PIECES)),
        recording("call", whole(None, tool_calls=[call])),
        recording("same", whole("of a"), case="a"),
        recording("same", whole("of b"), case="b"),
    )
    return Answering(cassette)


def asked(content: str, **more: Any) -> dict[str, Any]:
    return {"model": "synthetic", "messages": [{"role": "user", "content": content}], **more}


def expected() -> dict[str, Any]:
    return {
        "whole": "杭州 ok",
        "pieces": ["杭", "州", " ok"],
        "call": CALL,
        "models": ["synthetic"],
        "by_case": ["of a", "of b"],
    }


def with_sync(url: str) -> dict[str, Any]:
    with openai.OpenAI(base_url=url, api_key="sk-synthetic-sync", max_retries=1) as client:
        create = client.chat.completions.create
        got: dict[str, Any] = {
            "whole": create(**asked("whole", stream=False)).choices[0].message.content,
            "pieces": [
                chunk.choices[0].delta.content
                for chunk in create(**asked("stream", stream=True))
                if chunk.choices[0].delta.content
            ],
        }
        (call,) = create(**asked("call", stream=False)).choices[0].message.tool_calls
        got["call"] = {"name": call.function.name, "arguments": call.function.arguments}
        got["models"] = [model.id for model in client.models.list()]
        got["by_case"] = [
            create(**asked("same", stream=False), extra_headers={"x-callbench-case": name})
            .choices[0]
            .message.content
            for name in "ab"
        ]
        with pytest.raises(openai.NotFoundError, match="nearest recording") as miss:
            create(**asked("never recorded", stream=False))
        assert miss.value.code == "cassette_miss"
    return got


class TestPython:
    async def test_sync(self, answering: Answering) -> None:
        async with serving(answering) as url:
            assert await asyncio.to_thread(with_sync, url) == expected()
        assert answering.misses == 1  # and no retry of it

    async def test_async_many_at_once(self, answering: Answering) -> None:
        async with (
            serving(answering) as url,
            openai.AsyncOpenAI(base_url=url, api_key="sk-synthetic-async") as client,
        ):

            async def one(name: str) -> Any:
                answer = await client.chat.completions.create(
                    **asked("same", stream=False), extra_headers={"x-callbench-case": name}
                )
                return answer.choices[0].message.content

            stream = await client.chat.completions.create(**asked("stream", stream=True))
            pieces = [chunk.choices[0].delta.content async for chunk in stream]
            assert await asyncio.gather(one("a"), one("b")) == ["of a", "of b"]
        assert "".join(piece or "" for piece in pieces) == "杭州 ok"

    async def test_a_status_is_retried(self, tmp_path: Path) -> None:
        cassette = made(tmp_path / "c.jsonl", recording("q", whole("yes"), case="a"))
        laid = faults({"name": "status", "code": 429, "retry_after": 0})
        answering = Answering(cassette, by=By.TURN, faults=laid)
        async with serving(answering) as url:
            base = url.replace("/v1", "/case/a/v1")
            async with openai.AsyncOpenAI(base_url=base, api_key="sk-synthetic-case") as client:
                answer = await client.chat.completions.create(**asked("anything"))
        assert answer.choices[0].message.content == "yes"
        assert answering.answers == 2


@pytest.mark.skipif(
    not (shutil.which("node") and (NODE / "node_modules" / "openai").is_dir()),
    reason="needs node and the openai package beside client.js: make node-client",
)
class TestNode:
    async def test_the_openai_package(self, answering: Answering) -> None:
        async with serving(answering) as url:
            process = await asyncio.create_subprocess_exec(
                "node",
                str(NODE / "client.js"),
                url,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            out, err = await asyncio.wait_for(process.communicate(), 60)
        assert process.returncode == 0, err.decode()
        got = json.loads(out)
        miss = got.pop("miss")
        assert got == expected()
        assert miss["known"]
        assert miss["code"] == "cassette_miss"
        assert "nearest recording" in miss["message"]
