"""``http.client`` past the plain request: kept connections, own sockets, uploads, what stands on it."""

from __future__ import annotations

import http.client
import json
import socket
import xmlrpc.client
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from callbench.cassette import Cassette, CassetteMiss
from callbench.cassette.vcr import use_cassette

from .clients import send
from .loopback import Server


def connection(server: Server, kind: Any = http.client.HTTPConnection) -> Any:
    host, port = server.url.removeprefix("http://").removesuffix("/v1").split(":")
    return kind(host, int(port), timeout=5)


def ask(conn: http.client.HTTPConnection, place: str, body: Any = None, **options: Any) -> bytes:
    conn.request("POST", f"/v1{place}", body, **options)
    return conn.getresponse().read()


class OwnSocket(http.client.HTTPConnection):
    """As httplib2 does: opens its socket itself, before the request."""

    opened = 0

    def connect(self) -> None:
        type(self).opened += 1
        self.sock = socket.create_connection((self.host, self.port), self.timeout)

    def request(self, *args: Any, **options: Any) -> None:
        if self.sock is None:
            self.connect()
        super().request(*args, **options)


@pytest.mark.parametrize("kind", [http.client.HTTPConnection, OwnSocket])
def test_one_connection_for_many_requests(server: Server, path: Path, kind: Any) -> None:
    with use_cassette(path, mode="record"):
        conn = connection(server, kind)
        live = [ask(conn, "/echo", text) for text in (b"a", b"b", b"a")]
        conn.close()
    OwnSocket.opened = 0
    server.stop()
    with use_cassette(path):
        conn = connection(server, kind)
        assert [ask(conn, "/echo", text) for text in (b"a", b"b", b"a")] == live
        with pytest.raises(CassetteMiss):
            ask(conn, "/echo", b"c")
        conn.close()
    assert (len(set(live)), OwnSocket.opened) == (3, 0)


def test_a_connection_crosses_the_borders_of_blocks(server: Server, path: Path) -> None:
    conn = connection(server)
    assert ask(conn, "/echo", b"a").startswith(b"1 ")
    with use_cassette(path, mode="record"):
        assert ask(conn, "/echo", b"a").startswith(b"2 ")
    assert ask(conn, "/echo", b"a").startswith(b"3 ")
    with use_cassette(path):
        assert ask(conn, "/echo", b"a").startswith(b"2 ")
    assert ask(conn, "/echo", b"a").startswith(b"4 ")
    conn.close()
    assert len(Cassette.open(path)) == 1


def test_uploads_are_the_same_however_they_are_sent(server: Server, path: Path) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"one "
        yield b"two"

    with use_cassette(path, mode="record"), closing(connection(server)) as conn:
        live = ask(conn, "/echo", b"one two")
    server.stop()
    with use_cassette(path):
        assert ask(connection(server), "/echo", pieces(), encode_chunked=True) == live


def test_heads_have_no_body(server: Server, path: Path) -> None:
    def head() -> tuple[int, bytes]:
        with closing(connection(server)) as conn:
            conn.request("HEAD", "/v1/binary")
            got = conn.getresponse()
            return got.status, got.read()

    with use_cassette(path, mode="record"):
        live = head()
    server.stop()
    with use_cassette(path):
        assert head() == live == (200, b"")


def test_what_stands_on_it(server: Server, path: Path) -> None:
    def ask_rpc() -> str:
        with xmlrpc.client.ServerProxy(f"{server.url}/rpc") as proxy:
            return str(proxy.add(1, 2))

    with use_cassette(path, mode="record"):
        live = ask_rpc()
    server.stop()
    with use_cassette(path):
        assert ask_rpc() == live == "3"


def test_what_has_a_patch_of_its_own_is_recorded_once(server: Server, path: Path) -> None:
    with use_cassette(path, mode="record"):
        for name in ("requests", "urllib3", "urllib"):
            send(name, f"{server.url}/echo", json.dumps({"by": name}).encode())
    assert len(Cassette.open(path)) == len(server.asked) == 3
