"""What the command says of peers that are broken, each in one way, and how it ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from callbench.errors import ExitCode

from .conftest import Invoke

Broken = Callable[[str], str]
FIRST, SECOND, THIRD = (f"schema.pointer.1-{number}" for number in (1, 2, 3))


def outcomes(told: dict[str, Any]) -> dict[str, int]:
    names = ("passed", "failed", "misbehaved", "unsupported")
    return {name: told[name] for name in names if told[name]}


@pytest.mark.parametrize(
    ("name", "counts", "cases", "says"),
    [
        ("always_wrong", {"failed": 3}, {FIRST, SECOND, THIRD}, "'wrong'"),
        ("lies_about_support", {"failed": 3}, {FIRST, SECOND, THIRD}, "unsupported"),
        ("crashes", {"passed": 2, "misbehaved": 1}, {SECOND}, "crash: the process ended: exit code 3"),
        ("killed", {"misbehaved": 3}, {FIRST, SECOND, THIRD}, "it was killed by SIGSEGV"),
        ("hangs", {"passed": 2, "misbehaved": 1}, {SECOND}, "deadline: no answer within 0.5 s"),
        ("garbage", {"misbehaved": 3}, {FIRST, SECOND, THIRD}, "protocol_error: a line that is not JSON"),
        ("breaks_schema", {"misbehaved": 3}, {FIRST, SECOND, THIRD}, "protocol_error: /kind: "),
        ("floods_stderr", {"passed": 3}, set(), ""),
        ("out_of_order", {"passed": 2, "misbehaved": 1}, {SECOND}, "wrong_seq: asked 2, it answered 1"),
        ("huge_line", {"misbehaved": 3}, {FIRST, SECOND, THIRD}, "protocol_error: a line of more than 16 MB"),
        ("partial_line", {"misbehaved": 3}, {FIRST, SECOND, THIRD}, "deadline: a line was begun, but has no end (LF)"),
        ("closes_stdout", {"misbehaved": 3}, {FIRST, SECOND, THIRD}, "crash: it closed its standard output"),
    ],
)  # fmt: skip
def test_every_fault_is_charged_to_its_case(
    callbench: Invoke,
    suite: str,
    broken: Broken,
    name: str,
    counts: dict[str, int],
    cases: set[str],
    says: str,
) -> None:
    told = callbench(
        "--impl", broken(name), "--suite", suite, "--deadline", "0.5" if says.startswith("deadline") else "20", "--json"
    )  # fmt: skip
    assert outcomes(told.json) == counts
    assert {failure["id"] for failure in told.json["failures"]} == cases
    assert all(says in str(failure["got"]) for failure in told.json["failures"])
    assert told.code == (ExitCode.DIFFERENCE if cases else ExitCode.OK)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("dies_at_start", ["no valid hello from the peer", "exit code 1", "no database"]),
        ("other_version", ["it speaks none of the protocol's versions"]),
    ],
)
def test_of_a_peer_that_does_not_introduce_itself_one_thing_is_said(
    callbench: Invoke, suite: str, broken: Broken, name: str, says: list[str]
) -> None:
    told = callbench("--impl", broken(name), "--suite", suite)
    assert (told.code, told.out) == (ExitCode.USAGE, "")
    for words in says:
        assert words in told.err


def test_a_crash_shows_the_log_the_rule_and_how_to_repeat_it(
    callbench: Invoke, suite: str, broken: Broken
) -> None:
    impl = broken("crashes")
    told = callbench("--impl", impl, "--suite", suite)
    assert "MISBEHAVED schema.pointer.1-2  (crash)" in told.out
    assert "  rule      schema.pointer.1: Text and tokens\n" in told.out
    assert '  input     pointer.split {"pointer": "/a/b"}\n' in told.out
    assert '  expected  ["a", "b"]\n' in told.out
    assert "  stderr    cannot go on\n" in told.out
    assert (
        f"  repeat    callbench conform --impl '{impl}' --suite {suite} --id {SECOND}" in told.out
    )


def test_a_declined_case_says_what_hello_promised(
    callbench: Invoke, suite: str, broken: Broken
) -> None:
    told = callbench("--impl", broken("lies_about_support"), "--suite", suite)
    assert "hello lists pointer.split, and this is no extension: declined" in told.out


def test_two_children_at_a_time_give_the_same(
    callbench: Invoke, suite: str, broken: Broken
) -> None:
    told = callbench("--impl", broken("crashes"), "--suite", suite, "--jobs", "2", "--json")
    assert outcomes(told.json) == {"passed": 2, "misbehaved": 1}


def test_a_peer_that_cannot_start_ends_all_jobs(
    callbench: Invoke, suite: str, broken: Broken
) -> None:
    told = callbench("--impl", broken("dies_at_start"), "--suite", suite, "--jobs", "3")
    assert told.code == ExitCode.USAGE
