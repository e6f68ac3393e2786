"""No outbound socket in replay, on any thread (C6): what tries is told where it wanted to go."""

from __future__ import annotations

import asyncio
import socket
import threading
import urllib.request
from collections.abc import Iterator

import httpx2
import pytest

from callbench.cassette import NetworkDenied, no_network
from callbench.errors import ExitCode


@pytest.fixture
def listening() -> Iterator[int]:
    """The port of a socket on loopback that takes connections."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def dial(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=5):
        pass


def test_a_connection_is_refused_by_name(listening: int) -> None:
    with no_network(), pytest.raises(NetworkDenied, match=f"127.0.0.1:{listening}") as caught:
        dial(listening)
    assert caught.value.exit_code is ExitCode.CASSETTE
    assert not isinstance(caught.value, OSError)
    dial(listening)  # and afterwards it is free again


def test_on_every_thread_that_runs_or_starts_meanwhile(listening: int) -> None:
    refused: list[str] = []
    go, started = threading.Event(), threading.Event()

    def work() -> None:
        started.set()
        go.wait(5)
        try:
            dial(listening)
        except NetworkDenied as error:
            refused.append(error.message)

    before = threading.Thread(target=work)
    before.start()
    started.wait(5)
    with no_network():
        later = threading.Thread(target=work)
        later.start()
        go.set()
        before.join()
        later.join()
    assert len(refused) == 2


def test_names_are_not_looked_up_and_no_datagram_leaves() -> None:
    with no_network():
        with pytest.raises(NetworkDenied, match=r"llm\.example:443"):
            socket.getaddrinfo("llm.example", 443)
        with pytest.raises(NetworkDenied, match=r"llm\.example"):
            socket.gethostbyname("llm.example")
        with (
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagram,
            pytest.raises(NetworkDenied, match=r"192\.0\.2\.1:53"),
        ):
            datagram.sendto(b"x", ("192.0.2.1", 53))


async def test_clients_do_not_take_it_for_an_outage() -> None:
    with no_network():
        with pytest.raises(NetworkDenied):
            urllib.request.urlopen("http://192.0.2.1/v1", timeout=5)  # noqa: ASYNC210 - refused
        async with httpx2.AsyncClient() as client:
            with pytest.raises(ExceptionGroup) as caught:  # the task group in which it connects
                await client.get("http://192.0.2.1/v1")
            assert caught.group_contains(NetworkDenied)
        with pytest.raises(NetworkDenied):
            await asyncio.open_connection("192.0.2.1", 80)


def test_loopback_may_be_let_through(listening: int) -> None:
    with no_network(loopback=True):
        dial(listening)
        socket.getaddrinfo("localhost", listening)
        socket.getaddrinfo("::1", listening)
        with pytest.raises(NetworkDenied, match=r"192\.0\.2\.1:80"):
            socket.create_connection(("192.0.2.1", 80), timeout=5)
        with pytest.raises(NetworkDenied, match=r"localhost\.example"):
            socket.getaddrinfo("localhost.example", 80)


def test_the_strictest_of_overlapping_blocks_holds(listening: int) -> None:
    loose, strict = no_network(loopback=True), no_network()
    loose.__enter__()
    strict.__enter__()
    loose.__exit__(None, None, None)
    with pytest.raises(NetworkDenied):
        dial(listening)
    strict.__exit__(None, None, None)
    dial(listening)


def test_a_loop_of_asyncio_runs(listening: int) -> None:
    """Its own plumbing is no connection."""
    with no_network():
        assert asyncio.run(asyncio.sleep(0, "done")) == "done"
