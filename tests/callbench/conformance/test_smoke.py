"""Checks of a peer's plumbing: all is well with the skeletons, and a broken pipe is named."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from callbench.conformance.cases import load_suite
from callbench.conformance.runner import run_cases
from callbench.conformance.skeletons import LANGUAGES, write_skeleton
from callbench.conformance.smoke import Check, smoke_test
from callbench.errors import ExitCode, UsageError
from callbench.peer import PeerError, opener

from .conftest import Invoke

Broken = Callable[[str], str]


def failed(impl: str, within: float = 10.0) -> dict[str, Check]:
    checks = list(smoke_test(impl, within=within))
    return {check.name: check for check in checks if check.passed is False}


class TestWell:
    def test_the_reference(self, callbench: Invoke) -> None:
        told = callbench("smoke")
        assert told.code == 0
        assert told.out.count("ok     ") == len(told.out.splitlines()) == 13

    def test_impl_may_stand_before_or_behind_the_word(self, callbench: Invoke) -> None:
        impl = f"{sys.executable} -m callbench.peer.serving json"
        assert callbench("--impl", impl, "smoke").code == ExitCode.DIFFERENCE
        assert callbench("smoke", "--impl", impl).code == ExitCode.DIFFERENCE


def peer(path: Path, body: str) -> str:
    """Write a peer whose every line comes from ``body``, and return its command line."""
    head = "import json, sys\n" + (
        "HELLO = {'cmd': 'hello', 'version': 1, 'name': 'n', 'language': 'l', 'release': '',"
        " 'operations': []}\n"
        "def say(message):\n    print(json.dumps(message), flush=True)\n"
    )
    path.write_text(head + body, encoding="utf-8")
    return shlex.join([sys.executable, "-S", str(path)])


GOOD = """
for line in sys.stdin.buffer:
    m = json.loads(line)
    if m["cmd"] == "bye": break
    if m["cmd"] == "hello":
        say(HELLO if 1 in m["versions"] else {"cmd": "hello", "version": 0})
        if 1 not in m["versions"]: break
    else: say({"cmd": "unsupported", "seq": m["seq"]})
"""


# Splits at whatever Unicode calls the end of a line.
SPLITTING = (
    "in (x for c in iter(lambda: sys.stdin.buffer.read1(), b'') for x in c.decode().splitlines())"
)


class TestWrong:
    """One change to a good peer, and the one check that it fails."""

    @pytest.mark.parametrize(
        ("old", "new", "name", "found"),
        [
            ("", "", "", ""),
            ("say(HELLO if", "say({**HELLO, 'extra': 1} if", "hello has the members", "extra"),
            ("say(HELLO if", "say({**HELLO, 'operations': ['slot.chek']} if", "hello has the members", "slot.chek"),
            ("1 in m[", "[1] == m[", "it chooses its version", ""),
            ('{"cmd": "hello", "version": 0}', "HELLO", 'it says "version": 0', "it chose 1"),
            ('"unsupported", "seq": m["seq"]', '"result", "seq": m["seq"], "value": None', "an operation it does not know", "Result"),
            ('m["seq"]}', 'm["seq"], "took": 1}', "an operation it does not know", "took"),
            ('m = json.loads(line)', 'm = json.loads(line); assert "new" not in m or m["cmd"] == "hello"', "unknown members", "exit code 1"),
            ("in sys.stdin.buffer", SPLITTING, "only LF ends a line", "exit code 1"),
            ('if m["cmd"] == "bye": break', 'if m["cmd"] == "bye": sys.exit(4)', "it ends with exit code 0 on bye", "exit code 4"),
            ("\n", "\nimport atexit, os; atexit.register(lambda: os._exit(5))\n", "it ends with exit code 0 when", "exit code 5"),
        ],
    )  # fmt: skip
    def test_it_is_named(self, tmp_path: Path, old: str, new: str, name: str, found: str) -> None:
        problems = failed(peer(tmp_path / "peer.py", GOOD.replace(old, new, 1)))
        if not name:
            assert problems == {}
            return
        named = [check for check in problems.values() if check.name.startswith(name)]
        assert len(named) == 1
        assert found in named[0].found
        assert named[0].remedy


class TestBroken:
    def test_one_that_says_nothing_is_told_at_once(self, broken: Broken) -> None:
        (check,) = smoke_test(broken("silent"), within=0.2)
        assert (check.passed, check.found) == (False, "no answer within 0.2 s")

    def test_a_program_that_is_not_there(self, callbench: Invoke) -> None:
        told = callbench("smoke", "--impl", "no-such-program")
        assert (told.code, "cannot be started" in told.err) == (ExitCode.USAGE, True)

    @pytest.mark.parametrize("impl", ["", "a 'b"])
    def test_no_command_line(self, impl: str) -> None:
        with pytest.raises(PeerError):
            list(smoke_test(impl))

    def test_the_command_says_what_is_wrong_and_how_to_mend_it(
        self, callbench: Invoke, broken: Broken
    ) -> None:
        told = callbench("smoke", "--impl", broken("garbage"))
        assert told.code == ExitCode.DIFFERENCE
        assert (
            "FAILED an operation it does not know is unsupported: a line that is not JSON"
            in told.out
        )
        assert '       Answer {"cmd": "unsupported", "seq": …}' in told.out


def installed(language: str) -> bool:
    return shutil.which({"node": "node", "python": "python3", "java": "java"}[language]) is not None


@pytest.mark.parametrize("language", LANGUAGES)
class TestSkeletons:
    def test_it_speaks_the_protocol_at_once(self, tmp_path: Path, language: str) -> None:
        if not installed(language):
            pytest.skip(f"{language} is not installed")
        _, command = write_skeleton(language, tmp_path / "port")
        # Patient: a JVM on a busy machine may take long to compile and start.
        assert failed(command, within=60.0) == {}

    def test_it_implements_nothing(
        self, callbench: Invoke, tmp_path: Path, language: str, suite: str
    ) -> None:
        if not installed(language) or language == "java":
            pytest.skip("not installed, or as slow as it is sure: hello lists no operation")
        _, command = write_skeleton(language, tmp_path / "port")
        told = callbench("--impl", command, "--suite", suite, "--json")
        assert (told.code, told.json["unsupported"]) == (0, 3)

    def test_a_file_is_not_written_over(self, tmp_path: Path, language: str) -> None:
        write_skeleton(language, tmp_path)
        with pytest.raises(UsageError, match="there already"):
            write_skeleton(language, tmp_path)


ECHO = {
    "node": ("  // 'pointer.split': ({ pointer }) => ...,", "  'pointer.split': (given) => given.pointer,"),
    "python": ('    # "pointer.split": lambda given: ...,', '    "pointer.split": lambda given: given["pointer"],'),
    "java": ('        // OPERATIONS.put("pointer.split", input -> ...);', '        OPERATIONS.put("pointer.split", input -> input.get("pointer"));'),
}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_skeleton_reads_and_writes_every_kind_of_value(tmp_path: Path, language: str) -> None:
    if not installed(language):
        pytest.skip(f"{language} is not installed")
    file, command = write_skeleton(language, tmp_path)
    text = file.read_text(encoding="utf-8")
    assert text.count(ECHO[language][0]) == 1
    file.write_text(text.replace(*ECHO[language]), encoding="utf-8")
    values = [
        None, True, "a\u2028é😀\"\\\n\u0000", 12345678901234567890, 2**53 - 1, -0.0, 1.0, 1.5, 1e300,
        b"\x00hi", "a\ud801", {"$int": "x"}, {"$ref": "#"}, [], {}, [{"b": [1]}], {"\u2028": 1},
    ]  # fmt: skip
    peer = opener(command)()
    peer._hello_within = 60.0  # type: ignore[attr-defined]  # a JVM may take long to start
    try:
        for value in values:
            answer = peer.run("pointer.split", {"pointer": value}, 30.0)
            assert getattr(answer, "value", answer) == value
    finally:
        peer.close()


def test_init_says_what_to_do_next(callbench: Invoke, tmp_path: Path) -> None:
    told = callbench("init", "python", str(tmp_path / "my port"))
    assert told.code == 0
    command = f"python3 '{tmp_path}/my port/main.py'"
    assert f"callbench conform smoke --impl {shlex.quote(command)}" in told.out
    assert (tmp_path / "my port" / "main.py").is_file()


def test_init_of_another_language(callbench: Invoke, tmp_path: Path) -> None:
    told = callbench("init", "cobol", str(tmp_path))
    assert (told.code, "node, python, java" in told.err) == (ExitCode.USAGE, True)


def test_the_reference_as_a_program_passes_a_rule() -> None:
    cases = [case for case in load_suite() if case.rule.startswith("history.")]
    impl = f"{shlex.quote(sys.executable)} -m callbench.conformance.reference"
    finished = run_cases(cases, opener(impl), deadline=30.0)
    assert [verdict.case.id for verdict in finished.failures] == []
    assert finished.count("passed") == len(cases)
    assert json.loads(json.dumps(finished.by(lambda case: case.area)))["history"]["passed"]
