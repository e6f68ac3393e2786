"""``callbench serve`` as a process: the line it prints, how it ends."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import httpx2
import pytest

from callbench.cassette import Cassette

from .conftest import Invoke
from .test_process import start

CASSETTE = "cassettes/hotels.synthetic.cassette.jsonl"


@pytest.fixture
def recorded(callbench: Invoke, place: Path) -> Path:
    assert callbench("record", "hotels.jsonl", "--model", "synthetic", "--out", "clean").code == 0
    return place / CASSETTE


def ask(url: str, body: bytes | dict[str, Any]) -> httpx2.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return httpx2.post(f"{url}/chat/completions", content=content)


def stopped(process: subprocess.Popen[str], number: int) -> tuple[int, str]:
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    return process.returncode, err


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_it_serves_until_a_signal(recorded: Path, number: int, code: int) -> None:
    asked = [one.request.body for one in Cassette.open(recorded)]
    process = start("serve", str(recorded))
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    assert url.startswith("http://127.0.0.1:")
    assert [ask(url, body).status_code for body in asked] == [200] * len(asked)
    assert ask(url, {"model": "s1"}).status_code == 404
    ended, err = stopped(process, number)
    assert ended == code
    assert f"{len(asked)} answers, 1 misses" in err
    assert "recorded and scored" not in err


@pytest.mark.parametrize(("missed", "code"), [(True, 5), (False, 143)])
def test_strict_ends_with_5_after_a_miss(recorded: Path, missed: bool, code: int) -> None:
    process = start("serve", str(recorded), "--strict", "--json")
    assert process.stdout is not None
    url = json.loads(process.stdout.readline())["url"]
    if missed:
        ask(url, {"model": "s1"})
    assert stopped(process, signal.SIGTERM)[0] == code


def test_faults_by_turn(recorded: Path) -> None:
    faults = recorded.with_name("faults.json")
    faults.write_text(json.dumps({"fault": [{"name": "status", "code": 418}]}), encoding="utf-8")
    process = start("serve", str(recorded), "--by", "turn", "--faults", str(faults))
    assert process.stdout is not None
    url = process.stdout.readline().strip().replace("/v1", "/case/hotel-1/v1")
    assert [ask(url, {"model": "x"}).status_code for _ in range(3)] == [418, 200, 404]
    assert stopped(process, signal.SIGTERM)[0] == 143


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("none.jsonl",), "no cassette none.jsonl"),
        ((CASSETTE, "--pace", "fast"), "--pace fast"),
        ((CASSETTE, "--faults", "none.toml"), "none.toml"),
    ],
)
def test_usage(callbench: Invoke, recorded: Path, words: tuple[str, ...], told: str) -> None:
    result = callbench("serve", *words)
    assert result.code == 2
    assert told in result.err
