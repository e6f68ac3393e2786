"""The server on the wire: connections, framing, faults, leaving clients, closing."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from callbench.errors import UsageError
from callbench.serve.answering import Answering, UsedUp
from callbench.serve.server import ReplayServer

from .synthetic import body, connect, faults, made, raw, recording, reply, serving, streamed, whole


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "synthetic.cassette.jsonl"


class TestConnections:
    async def test_one_connection_serves_many_requests(self, path: Path) -> None:
        cassette = made(path, recording("a", whole("A")), recording("b", streamed("B", "é")))
        async with serving(Answering(cassette)) as url:
            reader, writer = await connect(url)
            writer.write(raw(body("a")))
            first = await reply(reader)
            writer.write(raw(body("b", stream=True), headers=["connection: close"]))
            second = await reply(reader)
            assert await reader.read() == b""
            writer.close()
        assert (first[0], first[2]) == (200, whole("A").body)
        assert (second[0], second[2]) == (200, streamed("B", "é").body)
        assert second[1]["content-type"] == "text/event-stream"

    async def test_the_same_answer_says_of_each_connection_what_it_does(self, path: Path) -> None:
        answering = Answering(made(path, recording("a", whole("A"))), used_up=UsedUp.LAST)
        async with serving(answering) as url:
            reader, writer = await connect(url)
            told = []
            for more in ([], ["connection: close"]):
                writer.write(raw(body("a"), headers=more))
                told.append((await reply(reader))[1].get("connection"))
            assert await reader.read() == b""
            writer.close()
        assert told == [None, "close"]

    async def test_a_body_in_chunks(self, path: Path) -> None:
        content = body("a")
        chunks = b"%x\r\n%b\r\n%x;x=y\r\n%b\r\n0\r\n\r\n" % (
            5,
            content[:5],
            len(content) - 5,
            content[5:],
        )
        async with serving(Answering(made(path, recording("a", whole("A"))))) as url:
            reader, writer = await connect(url)
            head = b"POST /v1/chat/completions HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n"
            writer.write(head + chunks)
            assert (await reply(reader))[0] == 200
            writer.close()

    @pytest.mark.parametrize(
        ("sent", "status"),
        [
            (b"what?\r\n\r\n", 400),
            (b"POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n", 400),
            (b"POST / HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n", 413),
            (b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", 400),
            (b"POST / HTTP/1.1\r\nx: " + b"y" * 1_100_000 + b"\r\n\r\n", 431),
        ],
        ids=["no request", "no length", "too large", "no chunk", "long head"],
    )
    async def test_what_is_no_request_is_told_and_the_rest_is_served(
        self, path: Path, sent: bytes, status: int
    ) -> None:
        async with serving(Answering(made(path, recording("a", whole("A"))))) as url:
            reader, writer = await connect(url)
            writer.write(sent)
            assert (await reply(reader))[0] == status
            writer.close()
            reader, writer = await connect(url)
            writer.write(raw(body("a")))
            assert (await reply(reader))[0] == 200
            writer.close()

    async def test_a_head_has_no_body_and_the_connection_stays(self, path: Path) -> None:
        async with serving(Answering(made(path))) as url:
            reader, writer = await connect(url)
            for method in ("HEAD", "GET"):
                writer.write(f"{method} /v1/models HTTP/1.1\r\nhost: localhost\r\n\r\n".encode())
            head = await reader.readuntil(b"\r\n\r\n")
            status, headers, content = await reply(reader)
            writer.close()
        assert head.startswith(b"HTTP/1.1 200 ")
        assert b"content-length: %d\r\n" % len(content) in head
        assert (status, headers["content-type"]) == (200, "application/json")

    @pytest.mark.parametrize("keep", [True, False])
    async def test_http_1_0_gets_no_chunks(self, path: Path, keep: bool) -> None:
        cassette = made(path, recording("a", whole("A")), recording("b", streamed("B")))
        more = ["connection: keep-alive"] if keep else []
        async with serving(Answering(cassette)) as url:
            reader, writer = await connect(url)
            writer.write(raw(body("a"), headers=more).replace(b"HTTP/1.1", b"HTTP/1.0"))
            assert (await reply(reader))[2] == whole("A").body
            if not keep:
                assert await reader.read() == b""
                writer.close()
                reader, writer = await connect(url)
            asked = raw(body("b", stream=True), headers=more)
            writer.write(asked.replace(b"HTTP/1.1", b"HTTP/1.0"))
            got = await reader.read()  # to the end of the connection, which is that of the body
            writer.close()
        assert b"transfer-encoding" not in got
        assert got.partition(b"\r\n\r\n")[2] == streamed("B").body

    async def test_clients_that_leave_are_ordinary(self, path: Path) -> None:
        answering = Answering(made(path, recording("a", whole("A"))))
        async with serving(answering) as url:
            for sent in (b"", b"POST /v1", raw(body("a"))[:-3]):
                _, writer = await connect(url)
                writer.write(sent)
                await writer.drain()
                writer.transport.abort()
            reader, writer = await connect(url)
            writer.write(raw(body("a")))
            assert (await reply(reader))[0] == 200
            writer.close()

    @pytest.mark.trap("C6")
    async def test_many_at_once_each_get_their_own(self, path: Path) -> None:
        """TRAPS C6."""
        names = [f"case-{number}" for number in range(60)]
        cassette = made(path, *(recording("q", whole(name), case=name) for name in names))

        async def one(url: str, name: str) -> bool:
            reader, writer = await connect(url)
            writer.write(raw(body("q"), headers=[f"x-callbench-case: {name}"]))
            _, _, content = await reply(reader)
            writer.close()
            return f'"{name}"'.encode() in content

        async with serving(Answering(cassette)) as url:
            assert all(await asyncio.gather(*(one(url, name) for name in names)))

    async def test_a_port_that_is_taken(self, path: Path) -> None:
        answering = Answering(made(path))
        async with serving(answering) as url:
            port = int(url.rsplit(":", 1)[1].partition("/")[0])
            with pytest.raises(UsageError, match=f"Port {port} of"):
                await ReplayServer(answering).start(port)


class TestFaults:
    async def test_a_reset_before_and_amid_a_response(self, path: Path) -> None:
        cassette = made(path, recording("a", streamed("one", "two")))
        for at in ("start", "middle"):
            answering = Answering(cassette, faults=faults({"name": "reset", "at": at}))
            async with serving(answering) as url:
                reader, writer = await connect(url)
                writer.write(raw(body("a", stream=True)))
                got = b""
                with pytest.raises(ConnectionResetError):
                    while chunk := await reader.read(100):
                        got += chunk
                writer.close()
            assert b"[DONE]" not in got

    @pytest.mark.parametrize("clean", [True, False])
    async def test_a_cut_ends_the_body_or_only_the_connection(
        self, path: Path, clean: bool
    ) -> None:
        cassette = made(path, recording("a", streamed("one", "two")))
        answering = Answering(cassette, faults=faults({"name": "cut-in-event", "clean": clean}))
        async with serving(answering) as url:
            reader, writer = await connect(url)
            writer.write(raw(body("a", stream=True), headers=["connection: close"]))
            got = await reader.read()
            writer.close()
        assert got.endswith(b"0\r\n\r\n") is clean
        assert b"[DONE]" not in got

    @pytest.mark.trap("E1")
    async def test_a_stall_is_silent_until_the_client_goes(self, path: Path) -> None:
        """TRAPS E1."""
        cassette = made(path, recording("a", streamed("one", "two")))
        answering = Answering(cassette, faults=faults({"name": "stall"}))
        async with serving(answering, grace=0) as url:
            reader, writer = await connect(url)
            writer.write(raw(body("a", stream=True)))
            assert b"200 OK" in await reader.readuntil(b"\r\n\r\n")
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.3):
                    await reader.readuntil(b"[DONE]")
            writer.close()


class TestClosing:
    async def test_answers_under_way_may_end_and_idle_connections_do(self, path: Path) -> None:
        cassette = made(path, recording("a", streamed("one", "two")))
        slow = faults({"name": "slow-first-byte", "seconds": 0.3})
        server = ReplayServer(Answering(cassette, faults=slow), grace=20)
        url = await server.start()
        idle, idle_writer = await connect(url)
        reader, writer = await connect(url)
        writer.write(raw(body("a", stream=True)))
        await asyncio.sleep(0.1)
        await asyncio.gather(server.close(), (answer := asyncio.ensure_future(reply(reader))))
        assert answer.result()[2] == streamed("one", "two").body
        assert await idle.read() == b""
        with pytest.raises(ConnectionError):
            await connect(url)
        for one in (writer, idle_writer):
            one.close()

    async def test_a_stall_does_not_outlive_the_grace(self, path: Path) -> None:
        cassette = made(path, recording("a", streamed("one")))
        server = ReplayServer(Answering(cassette, faults=faults({"name": "stall"})), grace=0.1)
        reader, writer = await connect(await server.start())
        writer.write(raw(body("a", stream=True)))
        await reader.readuntil(b"\r\n\r\n")
        async with asyncio.timeout(20):
            await server.close()
            await reader.read()
        writer.close()
