"""``callbench conform``: what it selects, what it writes, how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from callbench.errors import ExitCode

from .conftest import BROKEN, CASES, Invoke, split

Broken = Callable[[str], str]


@pytest.fixture(autouse=True)
def peer(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module that splits pointers, but for the one of two levels."""
    made = ModuleType("half_a_peer")

    def tokens(given: dict[str, Any]) -> Any:
        if given["pointer"] == "":
            raise ValueError("empty")
        return ["a", "c"] if given["pointer"] == "/a/b" else given["pointer"].split("/")[1:]

    made.OPERATIONS = {"pointer.split": tokens}  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "half_a_peer", made)
    return made


IMPL = ("--impl", "python:half_a_peer")


def write(path: Path, *cases: dict[str, Any]) -> str:
    path.write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")
    return str(path)


class TestReference:
    def test_it_passes_the_whole_suite(self, callbench: Invoke) -> None:
        told = callbench("--json", "--deadline", "60")
        found = told.json
        assert (told.code, found["ok"], found["failures"]) == (0, True, [])
        assert found["cases"] == found["passed"] > 900
        assert found["cases_per_second"] > 0

    def test_a_rule_selects_its_cases(self, callbench: Invoke) -> None:
        found = callbench("--rule", "history.path", "--json").json
        assert list(found["areas"]) == ["history"]
        assert list(found["operations"]) == ["history.extract"]

    def test_an_id_selects_one(self, callbench: Invoke) -> None:
        assert callbench("--id", "history.path.3-1", "--json").json["passed"] == 1

    def test_an_operation_selects_its_cases(self, callbench: Invoke) -> None:
        assert list(callbench("--op", "pointer.join", "--json").json["operations"]) == [
            "pointer.join"
        ]

    def test_what_selects_nothing_is_a_usage_error(self, callbench: Invoke) -> None:
        told = callbench("--op", "slot.chek")
        assert told.code == ExitCode.USAGE
        assert "Did you mean slot.check" in told.err


class TestFailure:
    def test_it_is_told_in_full(self, callbench: Invoke, suite: str) -> None:
        told = callbench(*IMPL, "--suite", suite)
        assert told.code == ExitCode.DIFFERENCE
        assert told.out.startswith(
            "FAILED schema.pointer.1-2  (another result)\n"
            "  rule      schema.pointer.1: Text and tokens\n"
            '  input     pointer.split {"pointer": "/a/b"}\n'
            '  expected  ["a", "b"]\n'
            '  got       ["a", "c"]\n'
            '  differs   /1: expected "b", got "c"\n'
            f"  repeat    callbench conform --impl python:half_a_peer --suite {suite}"
            " --id schema.pointer.1-2\n"
        )

    def test_the_line_that_repeats_it_repeats_it(self, callbench: Invoke, suite: str) -> None:
        (failure,) = callbench(*IMPL, "--suite", suite, "--json").json["failures"]
        words = failure["repeat"].split()[2:]
        told = callbench(*words)
        assert (told.code, told.out.count("FAILED")) == (ExitCode.DIFFERENCE, 1)

    def test_an_error_instead_of_a_result(self, callbench: Invoke, tmp_path: Path) -> None:
        suite = write(tmp_path / "s.jsonl", split(4, "", []))
        told = callbench(*IMPL, "--suite", suite)
        assert "  expected  []\n  got       error value_error: ValueError: empty\n" in told.out

    def test_another_error_and_none(self, callbench: Invoke, tmp_path: Path) -> None:
        cases = [split(4, "", []), split(5, "/a", [])]
        errors = [{k: v for k, v in case.items() if k != "gives"} for case in cases]
        suite = write(tmp_path / "s.jsonl", *({**case, "error": "key_error"} for case in errors))
        found = callbench(*IMPL, "--suite", suite, "--json").json
        whys = [failure["why"] for failure in found["failures"]]
        assert whys == ["another error, value_error", "a result, no error"]

    def test_only_some_are_shown(self, callbench: Invoke, tmp_path: Path) -> None:
        suite = write(tmp_path / "s.jsonl", *(split(number, "/a/b", []) for number in range(5)))
        told = callbench(*IMPL, "--suite", suite, "--show", "2")
        assert told.out.count("FAILED") == 2
        assert "… and 3 more failures" in told.out

    def test_quiet_is_quiet(self, callbench: Invoke, suite: str) -> None:
        told = callbench(*IMPL, "--suite", suite, "--quiet")
        assert (told.code, told.out, told.err) == (ExitCode.DIFFERENCE, "", "")

    def test_a_bad_suite_names_its_line(self, callbench: Invoke, tmp_path: Path) -> None:
        suite = write(tmp_path / "s.jsonl", {**CASES[0], "op": "x"})
        told = callbench(*IMPL, "--suite", suite)
        assert told.code == ExitCode.DATASET
        assert "s.jsonl:1: /op [value]" in told.err


class TestUnsupported:
    OTHER = {
        **CASES[0],
        "id": "schema.pointer.4-1",
        "rule": "schema.pointer.4",
        "op": "pointer.join",
    }

    def test_what_is_not_implemented_is_counted_apart(
        self, callbench: Invoke, tmp_path: Path
    ) -> None:
        suite = write(tmp_path / "s.jsonl", CASES[0], self.OTHER)
        told = callbench(*IMPL, "--suite", suite, "--json")
        assert (told.code, told.json["passed"], told.json["unsupported"]) == (0, 1, 1)
        assert told.json["missing"] == 1

    def test_unless_all_is_required(self, callbench: Invoke, tmp_path: Path) -> None:
        suite = write(tmp_path / "s.jsonl", CASES[0], self.OTHER)
        told = callbench(*IMPL, "--suite", suite, "--require-all", "--json")
        (failure,) = told.json["failures"]
        assert told.code == ExitCode.DIFFERENCE
        assert failure["why"] == "pointer.join is not implemented"
        assert "--require-all" in failure["repeat"]

    def test_an_extension_may_be_declined_all_the_same(
        self, callbench: Invoke, tmp_path: Path, peer: ModuleType
    ) -> None:
        peer.error_kind = lambda error: "unsupported"  # type: ignore[attr-defined]
        declined = {**split(4, "", []), "extension": True}
        suite = write(tmp_path / "s.jsonl", declined, {**self.OTHER, "extension": True})
        told = callbench(*IMPL, "--suite", suite, "--require-all", "--json")
        assert (told.code, told.json["unsupported"], told.json["missing"]) == (0, 2, 0)


class TestKnownFailing:
    """Each entry must fail: the list stays true."""

    def known(self, path: Path, *ids: str) -> tuple[str, str]:
        entries = [{"id": name, "reason": "not yet", "link": "https://x.test/1"} for name in ids]
        return "--known-failing", write(path, *entries)

    def test_a_known_failure_is_none(self, callbench: Invoke, suite: str, tmp_path: Path) -> None:
        known = self.known(tmp_path / "k.jsonl", "schema.pointer.1-2")
        told = callbench(*IMPL, "--suite", suite, *known, "--json")
        assert (told.code, told.json["failures"]) == (0, [])
        assert told.json["known_failing"] == ["schema.pointer.1-2"]

    def test_one_that_passes_is_a_finding(
        self, callbench: Invoke, suite: str, tmp_path: Path
    ) -> None:
        known = self.known(tmp_path / "k.jsonl", "schema.pointer.1-1", "schema.pointer.1-2")
        told = callbench(*IMPL, "--suite", suite, *known)
        assert told.code == ExitCode.DIFFERENCE
        assert "MENDED schema.pointer.1-1  known to fail, but passed: not yet" in told.out

    def test_toml(self, callbench: Invoke, suite: str, tmp_path: Path) -> None:
        path = tmp_path / "k.toml"
        path.write_text('[[case]]\nid = "schema.pointer.1-2"\nreason = "r"\n', encoding="utf-8")
        assert callbench(*IMPL, "--suite", suite, "--known-failing", str(path)).code == 0

    @pytest.mark.parametrize("name", ["k.toml", "k.jsonl"])
    def test_update_writes_what_fails_now(
        self, callbench: Invoke, suite: str, tmp_path: Path, name: str
    ) -> None:
        path = tmp_path / name
        told = callbench(*IMPL, "--suite", suite, "--known-failing", str(path), "--update")
        assert told.code == 0
        text = path.read_text(encoding="utf-8")
        (entry,) = tomllib.loads(text)["case"] if name == "k.toml" else [json.loads(text)]
        assert entry == {
            "id": "schema.pointer.1-2",
            "reason": 'another result: ["a", "c"]',
            "link": "",
        }
        assert callbench(*IMPL, "--suite", suite, "--known-failing", str(path)).code == 0

    def test_update_keeps_reasons_and_what_was_not_run_and_drops_the_rest(
        self, callbench: Invoke, suite: str, tmp_path: Path, peer: ModuleType
    ) -> None:
        ids = [f"schema.pointer.1-{number}" for number in (1, 2, 3)]
        option, path = self.known(tmp_path / "k.jsonl", *ids, "schema.pointer.99-1")
        callbench(*IMPL, "--suite", suite, "--id", ids[0], "--id", ids[1], option, path, "--update")
        kept = [json.loads(line) for line in Path(path).read_text().splitlines()]
        assert [entry["id"] for entry in kept] == [ids[1], ids[2]]
        assert [entry["reason"] for entry in kept] == ["not yet", "not yet"]

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ('{"id": "schema.pointer.1-2"}', "k.jsonl:1: reason is empty"),
            ('{"reason": "r"}', "k.jsonl:1: id is empty"),
            ('{"id": "a", "reason": "r", "why": "x"}', "k.jsonl:1: why is no member"),
            ('{"id": "a", "reason": 1}', "k.jsonl:1: reason is no member, or no text"),
            ("[]", "k.jsonl:1: it is no object"),
            ("{", "k.jsonl:1: not JSON"),
            ('{"id": "gone.1", "reason": "r"}', 'the suite has no case "gone.1"'),
            ('{"id": "schema.pointer.1-1", "reason": "r"}\n' * 2, "k.jsonl:2: .* stands twice"),
        ],
    )
    def test_a_bad_entry_is_named(
        self, callbench: Invoke, suite: str, tmp_path: Path, text: str, says: str
    ) -> None:
        import re

        path = tmp_path / "k.jsonl"
        path.write_text(text, encoding="utf-8")
        told = callbench(*IMPL, "--suite", suite, "--known-failing", str(path))
        assert told.code == ExitCode.DATASET
        assert re.search(says, told.err)

    @pytest.mark.parametrize("text", ["[[case]", 'other = 1\n[[case]]\nid = "a"\nreason = "r"\n'])
    def test_bad_toml_is_named(
        self, callbench: Invoke, suite: str, tmp_path: Path, text: str
    ) -> None:
        path = tmp_path / "k.toml"
        path.write_text(text, encoding="utf-8")
        told = callbench(*IMPL, "--suite", suite, "--known-failing", str(path))
        assert (told.code, "k.toml: " in told.err) == (ExitCode.DATASET, True)

    def test_a_file_that_is_not_there(self, callbench: Invoke, suite: str) -> None:
        told = callbench(*IMPL, "--suite", suite, "--known-failing", "nowhere.toml")
        assert (told.code, "nowhere.toml: " in told.err) == (ExitCode.USAGE, True)

    def test_update_needs_the_file(self, callbench: Invoke) -> None:
        assert callbench("--update").code == ExitCode.USAGE


class TestReports:
    def test_junit(self, callbench: Invoke, tmp_path: Path) -> None:
        odd = {**split(4, "", []), "input": {"pointer": "/\u0000\ud800"}, "gives": ["\uffff"]}
        odd["input"] = {"pointer": {"$string": ["/\u0001", 0xD800]}}
        suite = write(tmp_path / "s.jsonl", *CASES, odd, TestUnsupported.OTHER)
        path = tmp_path / "junit.xml"
        callbench(*IMPL, "--suite", suite, "--junit", str(path))
        (root,) = ET.parse(path).getroot()
        assert {k: root.get(k) for k in ("tests", "failures", "errors", "skipped")} == {
            "tests": "5",
            "failures": "2",
            "errors": "0",
            "skipped": "1",
        }
        one = root.find("testcase[@name='schema.pointer.1-2']")
        assert one is not None
        assert one.get("classname") == "schema.pointer"
        assert '/1: expected "b", got "c"' in str(one.findtext("failure"))

    def test_junit_calls_misbehavior_an_error(
        self, callbench: Invoke, suite: str, broken: Broken, tmp_path: Path
    ) -> None:
        path = tmp_path / "junit.xml"
        callbench("--impl", broken("crashes"), "--suite", suite, "--junit", str(path))
        (root,) = ET.parse(path).getroot()
        assert (root.get("errors"), root.get("failures")) == ("1", "0")
        assert root.find("testcase[@name='schema.pointer.1-2']/error") is not None

    def test_junit_skips_what_is_known_and_fails_what_is_mended(
        self, callbench: Invoke, suite: str, tmp_path: Path
    ) -> None:
        ids = ("schema.pointer.1-1", "schema.pointer.1-2")
        known = write(tmp_path / "k.jsonl", *({"id": name, "reason": "r"} for name in ids))
        path = tmp_path / "junit.xml"
        callbench(*IMPL, "--suite", suite, "--junit", str(path), "--known-failing", known)
        (root,) = ET.parse(path).getroot()
        assert (root.get("failures"), root.get("skipped")) == ("1", "1")
        assert root.find("testcase[@name='schema.pointer.1-1']/failure[@type='mended']") is not None

    def test_markdown(self, callbench: Invoke, tmp_path: Path) -> None:
        suite = write(tmp_path / "s.jsonl", *CASES, TestUnsupported.OTHER)
        path = tmp_path / "matrix.md"
        callbench(*IMPL, "--suite", suite, "--markdown", str(path))
        lines = path.read_text(encoding="utf-8").splitlines()
        assert "| area | passed | failed | misbehaved | unsupported |" in lines
        assert "| `schema` | 2 | 1 | 0 | 1 |" in lines
        assert "| `pointer.join` | 0 | 0 | 0 | 1 |" in lines
        assert "| all | 2 | 1 | 0 | 1 |" in lines
        assert "| `schema.pointer.1-2` | Text and tokens | another result |" in lines

    def test_json_tags_values(self, callbench: Invoke, tmp_path: Path) -> None:
        suite = write(tmp_path / "s.jsonl", {**CASES[0], "gives": {"$int": "12345678901234567890"}})
        (failure,) = callbench(*IMPL, "--suite", suite, "--json").json["failures"]
        assert failure["expected"] == {"gives": {"$int": "12345678901234567890"}}
        assert failure["got"] == {"gives": ["a"]}

    def test_the_summary_says_how_many_and_how_fast(self, callbench: Invoke, suite: str) -> None:
        last = callbench(*IMPL, "--suite", suite).out.splitlines()[-1]
        assert "3 cases, 2 passed, 1 failed, 0 misbehaved, 0 unsupported" in last
        assert last.endswith(" cases/s")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_ends_the_peers_too(suite: str, tmp_path: Path, jobs: str) -> None:
    script = tmp_path / "sleeper.py"
    told = tmp_path / "pid"
    script.write_text(
        "import os, sys, time\n"
        f"sys.path.insert(0, {str(BROKEN)!r})\n"
        "from plumbing import converse\n"
        "def answer(run):\n"
        f"    open({str(told)!r} + '.new', 'w').write(str(os.getpid()))\n"
        f"    os.replace({str(told)!r} + '.new', {str(told)!r})\n"
        "    time.sleep(60)\n"
        "converse('sleeper', answer)\n"
    )
    impl = f"{sys.executable} -S {script}"
    words = ["conform", "--impl", impl, "--suite", suite, "--deadline", "60", "--jobs", jobs]
    command = [sys.executable, "-m", "callbench", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not told.exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == ExitCode.INTERRUPTED
    with pytest.raises(ProcessLookupError):
        os.kill(int(told.read_text()), 0)
