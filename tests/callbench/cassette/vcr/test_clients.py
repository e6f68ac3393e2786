"""Each client records against a real server, and gets the same bytes with the server gone."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from callbench.cassette import Cassette, CassetteMiss
from callbench.cassette.vcr import use_cassette

from .clients import NAMES, Answer, send
from .loopback import BINARY, COMPLETION, LARGE, PIECES, Server

EVERY = pytest.mark.parametrize("name", NAMES)


def chat(content: str = "Hangzhou?", **members: object) -> bytes:
    """A chat request."""
    messages = [{"role": "user", "content": content}]
    return json.dumps({"model": "synthetic", "messages": messages, **members}).encode()


def both(server: Server, path: Path, name: str, place: str, body: bytes) -> tuple[Answer, Answer]:
    """Record, take the server down, replay."""
    url = server.url + place
    with use_cassette(path, mode="record"):
        live = send(name, url, body)
    server.stop()
    with use_cassette(path):
        return live, send(name, url, body)


@EVERY
def test_json_answer(server: Server, path: Path, name: str) -> None:
    live, replayed = both(server, path, name, "/chat/completions", chat())
    assert replayed == live
    assert json.loads(live.body)["choices"] == COMPLETION["choices"]


@EVERY
@pytest.mark.trap("C3")
def test_event_stream_keeps_its_events(server: Server, path: Path, name: str) -> None:
    live, replayed = both(server, path, name, "/chat/completions", chat(stream=True))
    assert replayed == live
    [interaction] = Cassette.open(path)
    assert len(interaction.response.events) == len(PIECES) + 1
    assert interaction.response.body == live.body


@EVERY
def test_binary_answer_byte_for_byte(server: Server, path: Path, name: str) -> None:
    live, replayed = both(server, path, name, "/binary", b"\xff\x00\xfe")
    assert replayed == live == Answer(200, "application/octet-stream", BINARY)


@EVERY
def test_large_answer_byte_for_byte(server: Server, path: Path, name: str) -> None:
    live, replayed = both(server, path, name, "/large", b"")
    for answer in (live, replayed):  # no comparison that pytest would try to explain
        assert (answer.status, len(answer.body)) == (200, len(LARGE))
        assert hashlib.sha256(answer.body).digest() == hashlib.sha256(LARGE).digest()


@EVERY
def test_compressed_answer_is_recorded_readable(server: Server, path: Path, name: str) -> None:
    live, replayed = both(server, path, name, "/gzip", b"")
    assert replayed == live == Answer(200, "application/json", json.dumps(COMPLETION).encode())


@EVERY
def test_empty_answer(server: Server, path: Path, name: str) -> None:
    live, replayed = both(server, path, name, "/empty", b"")
    assert replayed == live == Answer(204, None, b"")


@EVERY
def test_error_status(server: Server, path: Path, name: str) -> None:
    live, replayed = both(server, path, name, "/busy", chat())
    assert replayed == live
    assert live.status == 429


@EVERY
@pytest.mark.trap("C1")
def test_another_body_is_another_request(server: Server, path: Path, name: str) -> None:
    url = f"{server.url}/chat/completions"
    with use_cassette(path, mode="record"):
        send(name, url, chat("Hangzhou?"))
    with use_cassette(path), pytest.raises(CassetteMiss):
        send(name, url, chat("Suzhou?"))
    with use_cassette(path), pytest.raises(CassetteMiss):
        send(name, url, chat("Hangzhou?", temperature=1))


@EVERY
@pytest.mark.trap("C7")
def test_equal_requests_come_in_order_then_miss(server: Server, path: Path, name: str) -> None:
    url = f"{server.url}/chat/completions"
    with use_cassette(path, mode="record"):
        live = [send(name, url, chat()) for _ in range(3)]
    assert len({answer.body for answer in live}) == 3
    server.stop()
    with use_cassette(path):
        assert [send(name, url, chat()) for _ in range(3)] == live
        with pytest.raises(CassetteMiss, match="recorded 3 times and was asked 4 times"):
            send(name, url, chat())


@EVERY
@pytest.mark.trap("C9")
def test_miss_says_what_was_asked_and_the_nearest(server: Server, path: Path, name: str) -> None:
    url = f"{server.url}/chat/completions"
    with use_cassette(path), pytest.raises(CassetteMiss, match="The file does not exist") as first:
        send(name, url, chat())
    assert 'mode="record"' in str(first.value)
    with use_cassette(path, mode="record"):
        send(name, url, chat("Hangzhou?"))
    with use_cassette(path) as session, pytest.raises(CassetteMiss) as miss:
        send(name, url, chat("Suzhou?"))
    assert "POST /chat/completions (model synthetic, 1 message)" in str(miss.value)
    assert "messages[0] (user)" in str(miss.value)
    assert "Suzhou" in str(miss.value)
    assert session.misses == [miss.value]
    assert len(server.asked) == 1


@EVERY
@pytest.mark.trap("C4")
def test_secrets_never_reach_the_disk(server: Server, path: Path, name: str) -> None:
    secret = "sk-synthetic-0123456789abcdef"
    url = f"{server.url}/echo?api_key=synthetic-key-in-url&city=1"
    headers = {"Authorization": f"Bearer {secret}", "Cookie": "sid=synthetic-cookie-0"}
    with use_cassette(path, mode="record"):
        live = send(name, url, f'{{"say":"{secret}"}}'.encode(), headers=headers)
    assert secret.encode() in live.body  # the server echoes it
    written = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert b"echo" in written
    for hidden in (secret, "synthetic-key-in-url", "synthetic-cookie"):
        assert hidden.encode() not in written
    server.stop()
    with use_cassette(path):  # another key, the same recording
        other = "sk-synthetic-another-key-9999"
        headers = {"Authorization": f"Bearer {other}"}
        url = url.replace("synthetic-key-in-url", "another-key")
        answer = send(name, url, f'{{"say":"{other}"}}'.encode(), headers=headers)
    assert answer.body == live.body.replace(secret.encode(), b"***")


@EVERY
def test_unrelated_requests_are_recorded_once_and_reused(
    server: Server, path: Path, name: str
) -> None:
    url = f"{server.url}/chat/completions"
    for _ in range(2):
        with use_cassette(path, mode="record"):
            send(name, url, chat())
    assert len(server.asked) == 1
    with use_cassette(path, mode="rerecord"):
        send(name, url, chat())
    assert len(server.asked) == 2
    with use_cassette(path, mode="live"):
        send(name, url, chat())
    assert len(server.asked) == 3
    assert len(Cassette.open(path)) == 1
