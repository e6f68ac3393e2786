"""In replay a block opens no socket, whatever client it is that tries."""

from __future__ import annotations

import asyncio
import multiprocessing
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from callbench.cassette import NetworkDenied
from callbench.cassette.vcr import use_cassette

from .clients import send
from .loopback import Server


def connect(address: tuple[str, int]) -> None:
    socket.create_connection(address, timeout=5).close()


def connect_ex(address: tuple[str, int]) -> None:
    with socket.socket() as plain:
        plain.connect_ex(address)


def sendto(address: tuple[str, int]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plain:
        plain.sendto(b"x", address)


def sendto_with_flags(address: tuple[str, int]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plain:
        plain.sendto(b"x", 0, address)


def sendmsg(address: tuple[str, int]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plain:
        plain.sendmsg([b"x"], [], 0, address)


def on_a_loop(address: tuple[str, int]) -> None:
    async def run() -> None:
        _, writer = await asyncio.open_connection(*address)
        writer.close()
        await writer.wait_closed()

    asyncio.run(run())


def on_a_thread(address: tuple[str, int]) -> None:
    raised: list[BaseException] = []

    def run() -> None:
        try:
            connect(address)
        except BaseException as error:  # noqa: BLE001 - handed to the caller
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]


WAYS = [connect, connect_ex, sendto, sendto_with_flags, sendmsg, on_a_loop, on_a_thread]


@pytest.mark.parametrize("way", WAYS)
def test_nothing_connects_in_replay(server: Server, path: Path, way: Any) -> None:
    with use_cassette(path, mode="record"):
        send("httpx", f"{server.url}/echo", b"a")
    host, port = server.url.removeprefix("http://").removesuffix("/v1").split(":")
    with use_cassette(path), pytest.raises(NetworkDenied, match=rf"connect to {host}:{port}"):
        way((host, int(port)))
    for mode in ("record", "live"):
        with use_cassette(path, mode=mode):  # type: ignore[arg-type]
            way((host, int(port)))
    way((host, int(port)))


def test_names_are_not_looked_up_in_replay(path: Path) -> None:
    with use_cassette(path):
        with pytest.raises(NetworkDenied, match=r"look up api\.example"):
            socket.getaddrinfo("api.example", 443)
        assert socket.getaddrinfo("127.0.0.1", 80)
        assert socket.getaddrinfo("localhost", 80)
        assert socket.getaddrinfo(None, 0, flags=socket.AI_PASSIVE)


def test_a_refusal_that_a_client_wraps_is_raised_where_it_leaves(path: Path) -> None:
    with pytest.raises(NetworkDenied, match="does not patch"), use_cassette(path):
        try:
            connect(("127.0.0.1", 9))
        except NetworkDenied as refused:
            raise RuntimeError("Connection error.") from refused


def test_an_open_connection_and_other_threads_go_on(server: Server, path: Path) -> None:
    host, port = server.url.removeprefix("http://").removesuffix("/v1").split(":")
    go, done = threading.Event(), threading.Event()

    def outside() -> None:
        go.wait(10)
        connect((host, int(port)))
        done.set()

    thread = threading.Thread(target=outside)
    thread.start()
    before = socket.create_connection((host, int(port)))
    with use_cassette(path):
        before.sendall(b"GET /v1/empty HTTP/1.1\r\nHost: x\r\n\r\n")
        assert before.recv(99).startswith(b"HTTP/1.1 204")
        go.set()
        thread.join(10)
    before.close()
    assert done.is_set()


def test_pairs_loops_servers_and_processes_work_in_replay(path: Path) -> None:
    async def serve() -> None:
        server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
        server.close()
        await server.wait_closed()

    with use_cassette(path):
        for end in socket.socketpair():
            end.close()
        asyncio.run(serve())
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            assert pool.apply(abs, (-1,)) == 1


def test_the_patches_are_taken_away(path: Path) -> None:
    names = ("connect", "connect_ex", "sendto", "sendmsg")
    function = socket.getaddrinfo
    with use_cassette(path):
        assert all(name in vars(socket.socket) for name in names)
    assert not any(name in vars(socket.socket) for name in names)
    assert socket.getaddrinfo is function
