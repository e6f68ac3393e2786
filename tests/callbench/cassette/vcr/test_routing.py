"""Patches belong to the process, cassettes to contexts: threads and tasks do not meet (TRAPS C6)."""

from __future__ import annotations

import asyncio
import contextvars
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
import urllib3
import urllib3.connectionpool

from callbench.cassette import Cassette, CassetteMiss, case_scope
from callbench.cassette.vcr import Session, use_cassette
from callbench.errors import UsageError

from .clients import ASYNC, NAMES, SYNC, send
from .loopback import Server

EVERY = pytest.mark.parametrize("name", NAMES)
OWNERS = [
    (httpx.HTTPTransport, "handle_request"),
    (httpx2.AsyncHTTPTransport, "handle_async_request"),
    (urllib3.connectionpool.HTTPConnectionPool, "_make_request"),
    (threading.Thread, "start"),
    (ThreadPoolExecutor, "submit"),
]


def body(text: str) -> bytes:
    """A chat request of one turn."""
    return json.dumps({"messages": [{"role": "user", "content": text}]}).encode()


def record(server: Server, path: Path, name: str, *texts: str) -> list[bytes]:
    """Record one answer for each text; each answer of the server is another one."""
    with use_cassette(path, mode="record"):
        return [send(name, f"{server.url}/chat/completions", body(t)).body for t in texts]


@EVERY
def test_outside_the_real_client_works_untouched(server: Server, path: Path, name: str) -> None:
    url = f"{server.url}/chat/completions"
    record(server, path, name, "a")
    entered, done = threading.Event(), threading.Event()

    def inside() -> None:
        with use_cassette(path):
            entered.set()
            done.wait(10)

    thread = threading.Thread(target=inside)
    thread.start()
    entered.wait(10)
    send(name, url, body("a"))
    send(name, url, body("b"))
    done.set()
    thread.join()
    send(name, url, body("a"))
    assert len(server.asked) == 4


def test_patches_come_and_go_with_their_users(path: Path) -> None:
    before = [vars(owner)[name] for owner, name in OWNERS]
    with use_cassette(path, mode="record"):
        inner = [vars(owner)[name] for owner, name in OWNERS]
        assert all(a is not b for a, b in zip(before, inner, strict=True))
        with use_cassette(path):
            assert [vars(owner)[name] for owner, name in OWNERS] == inner
        assert [vars(owner)[name] for owner, name in OWNERS] == inner
    assert [vars(owner)[name] for owner, name in OWNERS] == before
    with pytest.raises(ZeroDivisionError), use_cassette(path):
        raise ZeroDivisionError
    assert [vars(owner)[name] for owner, name in OWNERS] == before


@pytest.mark.trap("C6")
@pytest.mark.parametrize("name", SYNC)
def test_threads_with_different_cassettes(server: Server, path: Path, name: str) -> None:
    url = f"{server.url}/chat/completions"
    paths = [path.with_name(f"{number}.cassette.jsonl") for number in range(6)]
    barrier = threading.Barrier(len(paths))

    def work(number: int, mode: Any) -> list[bytes]:
        with use_cassette(paths[number], mode=mode):
            barrier.wait(10)
            return [send(name, url, body("same")).body for _ in range(4)]

    with ThreadPoolExecutor(len(paths)) as pool:
        recorded = list(pool.map(work, range(len(paths)), ["record"] * len(paths)))
        server.stop()
        replayed = list(pool.map(work, range(len(paths)), ["replay"] * len(paths)))
    assert len({answer for answers in recorded for answer in answers}) == 4 * len(paths)
    assert replayed == recorded


@pytest.mark.trap("C6")
@pytest.mark.parametrize("name", ASYNC)
async def test_tasks_with_different_cassettes(server: Server, path: Path, name: str) -> None:
    url = f"{server.url}/chat/completions"
    paths = [path.with_name(f"{number}.cassette.jsonl") for number in range(6)]

    async def work(number: int, mode: Any) -> list[bytes]:
        async with use_cassette(paths[number], mode=mode):
            answers = []
            for _ in range(4):
                answers.append((await ASYNC[name]("POST", url, body("same"), None)).body)
                await asyncio.sleep(0)
            return answers

    recorded = await asyncio.gather(*(work(number, "record") for number in range(6)))
    server.stop()
    replayed = await asyncio.gather(*(work(number, "replay") for number in range(6)))
    assert len({answer for answers in recorded for answer in answers}) == 24
    assert replayed == recorded


@pytest.mark.trap("C6")
@EVERY
def test_threads_that_a_block_starts_belong_to_it(server: Server, path: Path, name: str) -> None:
    url = f"{server.url}/chat/completions"
    answers: list[bytes] = []

    def work() -> None:
        answers.append(send(name, url, body("a")).body)

    def run() -> None:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        with ThreadPoolExecutor(1) as pool:
            pool.submit(work).result()

    with use_cassette(path, mode="record"):
        run()
    server.stop()
    with use_cassette(path):
        run()
    assert answers[:2] == answers[2:]
    assert len(set(answers)) == 2


def test_a_pool_that_outlives_the_block(server: Server, path: Path) -> None:
    url = f"{server.url}/chat/completions"
    other = path.with_name("other.cassette.jsonl")

    def work() -> bytes:
        return send("httpx", url, body("a")).body

    with ThreadPoolExecutor(1) as pool:
        with use_cassette(path, mode="record"):
            first = pool.submit(work).result()  # the worker starts in this block
            with use_cassette(other, mode="record"):
                second = pool.submit(work).result()
            with use_cassette(path.with_name("third.cassette.jsonl"), mode="live"):
                pool.submit(work).result()
        pool.submit(work).result()
    assert len(server.asked) == 4
    assert [i.response.body for i in Cassette.open(path)] == [first]
    assert [i.response.body for i in Cassette.open(other)] == [second]


async def test_to_thread_and_executors_of_the_loop(server: Server, path: Path) -> None:
    url = f"{server.url}/chat/completions"
    loop = asyncio.get_running_loop()
    with use_cassette(path, mode="record"):
        await asyncio.to_thread(send, "requests", url, body("a"))
        await loop.run_in_executor(None, send, "requests", url, body("b"))
    assert len(Cassette.open(path)) == 2


@EVERY
def test_nested_blocks(server: Server, path: Path, name: str) -> None:
    url = f"{server.url}/chat/completions"
    inner = path.with_name("inner.cassette.jsonl")
    with use_cassette(path, mode="record"):
        a = send(name, url, body("a"))
        with use_cassette(inner, mode="record"):
            b = send(name, url, body("a"))
        c = send(name, url, body("c"))
    assert {i.response.body for i in Cassette.open(path)} == {a.body, c.body}
    assert {i.response.body for i in Cassette.open(inner)} == {b.body}


@EVERY
def test_cases_have_ordinals_of_their_own(server: Server, path: Path, name: str) -> None:
    url = f"{server.url}/chat/completions"

    def run(case: str) -> list[bytes]:
        with case_scope(case) as scope:
            answers = [send(name, url, body("a")).body for _ in range(2)]
        assert [exchange.ordinal for exchange in scope.exchanges] == [0, 1]
        assert {exchange.case for exchange in scope.exchanges} == {case}
        return answers

    with use_cassette(path, mode="record"):
        recorded = {case: run(case) for case in ("one", "two")}
    server.stop()
    with use_cassette(path):
        assert {case: run(case) for case in ("two", "one")} == recorded


def test_a_case_counts_in_each_cassette_on_its_own(server: Server, path: Path) -> None:
    url = f"{server.url}/chat/completions"
    paths = path, path.with_name("other.cassette.jsonl")
    with case_scope("one"):
        for each in paths:
            with use_cassette(each, mode="record"):
                send("httpx", url, body("a"))
    assert [[i.ordinal for i in Cassette.open(each)] for each in paths] == [[0], [0]]


class TestDecorator:
    def test_function(self, server: Server, path: Path) -> None:
        url = f"{server.url}/chat/completions"

        @use_cassette(path, mode="record")
        def ask(text: str, *, again: bool = False) -> list[bytes]:
            """Ask."""
            return [send("httpx", url, body(text)).body] + (ask(text) if again else [])

        assert ask.__doc__ == "Ask."
        assert ask("a") == ask("a")  # each call begins anew
        assert len(set(ask("a", again=True))) == 1
        assert len(server.asked) == 1

    async def test_coroutine_function(self, server: Server, path: Path) -> None:
        url = f"{server.url}/chat/completions"

        @use_cassette(path, mode="record")
        async def ask(text: str) -> bytes:
            return (await ASYNC["aiohttp"]("POST", url, body(text), None)).body

        first, second = await asyncio.gather(ask("a"), ask("b"))
        assert asyncio.iscoroutinefunction(ask)
        server.stop()
        assert [await ask("a"), await ask("b")] == [first, second]

    def test_a_method(self, server: Server, path: Path) -> None:
        class Suite:
            @use_cassette(path, mode="record")
            def test(self) -> int:
                return send("requests", f"{server.url}/chat/completions", body("a")).status

        assert Suite().test() == 200

    def test_a_generator_is_refused(self, path: Path) -> None:
        with pytest.raises(TypeError, match="between two yields"):

            @use_cassette(path)
            def fixture() -> Any:
                yield 1


class TestErrors:
    def test_the_error_of_the_block_passes(self, server: Server, path: Path) -> None:
        with pytest.raises(KeyError, match="mine"), use_cassette(path, mode="record"):
            send("httpx", f"{server.url}/chat/completions", body("a"))
            raise KeyError("mine")
        assert len(Cassette.open(path)) == 1

    @EVERY
    def test_no_answer_is_not_recorded(self, server: Server, path: Path, name: str) -> None:
        url = f"{server.url}/chat/completions"
        server.stop()
        with use_cassette(path, mode="record"), pytest.raises(Exception, match=r"(?i)connect"):
            send(name, url, body("a"))
        assert not path.exists()

    @pytest.mark.parametrize("name", NAMES)
    def test_a_cut_stream_is_recorded_as_cut(self, server: Server, path: Path, name: str) -> None:
        url = f"{server.url}/cut"
        with use_cassette(path, mode="record"), pytest.raises(Exception) as live:
            send(name, url, body("a"))
        [interaction] = Cassette.open(path)
        assert interaction.response.error is not None
        assert len(interaction.response.events) == 2
        server.stop()
        with use_cassette(path), pytest.raises(type(live.value)):
            send(name, url, body("a"))

    def test_a_miss_that_a_client_wraps_is_raised_where_it_leaves(self, path: Path) -> None:
        with pytest.raises(CassetteMiss, match="does not exist"), use_cassette(path):
            try:
                send("httpx", "http://127.0.0.1:1/v1/x", b"")
            except CassetteMiss as miss:
                raise RuntimeError("Connection error.") from miss

    def test_a_broken_file(self, path: Path) -> None:
        path.write_text("{}\n")
        with pytest.raises(Exception, match="line 1"), use_cassette(path):
            pass
        assert vars(httpx.HTTPTransport)["handle_request"].__module__ == "httpx._transports.default"

    def test_another_package_that_calls_itself_urllib3(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class Response:
            def __init__(self, body: object) -> None: ...

        monkeypatch.setattr(urllib3, "HTTPResponse", Response)
        with pytest.raises(UsageError, match=r"urllib3 2\.3 or newer"), use_cassette(path):
            pass
        assert vars(httpx.HTTPTransport)["handle_request"].__module__ == "httpx._transports.default"

    def test_modes_and_names(self, path: Path) -> None:
        with pytest.raises(UsageError, match="no mode 'once'"):
            use_cassette(path, mode="once")  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="cassette convert"):
            use_cassette(path.with_suffix(".yaml"))

    def test_left_in_another_context(self, server: Server, path: Path) -> None:
        block = use_cassette(path, mode="record")
        contextvars.copy_context().run(block.__enter__)
        block.__exit__(None, None, None)
        send("httpx", f"{server.url}/chat/completions", body("a"))
        assert not path.exists()


def test_what_the_block_gives(server: Server, path: Path) -> None:
    with use_cassette(path, mode="record") as session:
        assert isinstance(session, Session)
        assert session.cassette.path == path
        assert session.misses == []


@EVERY
def test_redirections_are_followed_in_replay(server: Server, path: Path, name: str) -> None:
    with use_cassette(path, mode="record"):
        live = send(name, f"{server.url}/moved?token=synthetic-1", body("a"), method="GET")
    assert "synthetic-1" not in path.read_text()
    asked = list(server.asked)
    server.stop()
    with use_cassette(path):
        assert send(name, f"{server.url}/moved?token=synthetic-1", body("a"), method="GET") == live
    follows = (
        name.startswith(("requests", "aiohttp", "urllib")) and "urllib3" not in name
    )  # the others were told not to, or by default
    assert (live.status, len(asked)) == ((200, 2) if follows else (302, 1))


@EVERY
def test_scrubbers_reach_what_is_beside(server: Server, path: Path, name: str) -> None:
    with use_cassette(path, mode="record", scrubbers=["emails"]):
        send(name, f"{server.url}/moved?a=jo@firm.cn", b"", method="GET")
    assert "jo@firm.cn" not in path.read_text()
