"""Credentials never reach the file, wherever they were in the traffic (C4)."""

# ruff: noqa: ASYNC240 - tests look at small local files

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from callbench.cassette import (
    Cassette,
    case_scope,
)
from callbench.errors import CassetteError

from .synthetic_client import BODY, JSON, Client, InProcess, only, record
from .synthetic_server import Reply, delta, serve, stream


@pytest.mark.trap("C4")
class TestSecrets:
    """C4: no credential reaches the file, wherever it was."""

    SECRET = "sk-synthetic/0123+abcdef"

    async def recorded(self, path: Path, reply: Reply, **options: Any) -> str:
        await record(path, reply, **options)
        text = path.read_text()
        for spelling in (self.SECRET, self.SECRET.replace("/", "%2F").replace("+", "%2B")):
            assert spelling not in text
        return text

    async def test_headers(self, path: Path) -> None:
        headers = {"Authorization": f"Bearer {self.SECRET}", "OpenAI-Organization": "org-synthetic"}
        text = await self.recorded(path, stream("a"), headers=headers)
        assert "uthorization" not in text
        assert "org-synthetic" not in text

    async def test_query(self, path: Path) -> None:
        await self.recorded(path, stream("a"), params={"key": self.SECRET, "v": "1"})
        assert only(path).request.path == "/chat/completions?key=***&v=1"

    async def test_body_and_a_replay_with_another_key(self, path: Path) -> None:
        def body(secret: str) -> Any:
            return {**BODY, "user": f"my key: {secret}"}

        headers = {"Authorization": f"Bearer {self.SECRET}"}
        await self.recorded(path, stream("a"), body=body(self.SECRET), headers=headers)
        assert only(path).request.json()["user"] == "my key: ***"
        async with Client(Cassette.open(path), "replay") as client:
            with case_scope("a"):
                other = {"Authorization": "Bearer another-synthetic-key"}
                assert await client.chunks(body("another-synthetic-key"), headers=other)

    @pytest.mark.parametrize(
        "texts",
        [
            [f"your key is {SECRET}"],
            ["your key is sk-syn", "thetic/01", "23+abcdef", " ok"],
        ],
    )
    async def test_echo_in_a_stream(self, path: Path, texts: list[str]) -> None:
        await self.recorded(
            path, stream(*texts), headers={"Authorization": f"Bearer {self.SECRET}"}
        )
        contents = [
            json.loads(event.data.removeprefix(b"data: "))["choices"][0]["delta"]["content"]
            for event in only(path).response.events[: len(texts)]
        ]
        assert "".join(contents).startswith("your key is ***")

    async def test_echo_in_an_error_body_and_header(self, path: Path) -> None:
        body = json.dumps({"error": f"Incorrect API key: {self.SECRET}"}).encode()
        reply = Reply([body], status=401, headers={**JSON, "retry-after": self.SECRET})
        await self.recorded(path, reply, headers={"x-api-key": self.SECRET})

    async def test_url_credentials(self, path: Path) -> None:
        async with serve(stream("a")) as server:
            with Cassette.open(path) as cassette:
                url = server.url.replace("http://", "http://user:synthetic-password@")
                async with Client(cassette, "record", url) as client:
                    await client.chunks({**BODY, "user": "synthetic-password"})
        assert "synthetic-password" not in path.read_text()

    async def test_further_secrets_can_be_named(self, path: Path) -> None:
        with Cassette.open(path) as cassette:
            async with Client(
                cassette, "record", inner=InProcess(), secrets=["answer 1"]
            ) as client:
                await client.post()
        assert only(path).response.body == b"***"

    async def test_what_cannot_be_masked_is_refused(self, path: Path) -> None:
        with Cassette.open(path) as cassette:
            async with Client(cassette, "record", inner=InProcess()) as client:
                with (
                    case_scope(f"case {self.SECRET}"),
                    pytest.raises(CassetteError, match="credential"),
                ):
                    await client.post(headers={"x-api-key": self.SECRET})
        assert not path.exists()

    async def test_the_caller_still_gets_the_true_answer(self, path: Path) -> None:
        async with (
            serve(stream(self.SECRET)) as server,
            Client(Cassette.open(path), "record", server.url) as client,
        ):
            chunks = await client.chunks(headers={"x-api-key": self.SECRET})
        assert chunks[0] == delta(self.SECRET)
        assert self.SECRET.encode() in server.requests[0]
