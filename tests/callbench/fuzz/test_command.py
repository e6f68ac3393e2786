"""``callbench fuzz``: what it finds, prints and keeps, how it ends."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from callbench.conformance import reference
from callbench.errors import ExitCode

from .conftest import BROKEN, Invoke
from .faults import falsy_lost, tilde_in_wrong_order

SPLIT = ("--op", "pointer.split", "--examples", "400")


@pytest.fixture(autouse=True)
def peer(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module that splits pointers in a wrong way, and is right in the rest."""
    made = ModuleType("faulty_peer")
    made.OPERATIONS = {  # type: ignore[attr-defined]
        **reference.OPERATIONS,
        "pointer.split": tilde_in_wrong_order,
    }
    made.error_kind = reference.error_kind  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "faulty_peer", made)
    return made


def fuzz(callbench: Invoke, *words: str, impl: str = "python:faulty_peer") -> Any:
    return callbench("fuzz", "--impl", impl, *words)


def broken(name: str) -> str:
    return shlex.join([sys.executable, "-S", str(BROKEN / f"{name}.py")])


def lines(path: str = "fuzz-corpus.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


class TestFinding:
    def test_it_is_printed_with_both_answers_rules_and_commands(self, callbench: Invoke) -> None:
        told = fuzz(callbench, *SPLIT)
        assert told.code == ExitCode.DIFFERENCE
        for expected in (
            "FOUND  pointer.split",
            'input      {"pointer": "/~01"}',
            'reference  ["~1"]',
            'peer       ["/"]',
            'expected "~1", got "/"',
            "rules      schema.pointer",
            "callbench conform --impl python:faulty_peer --suite fuzz-corpus.jsonl --id fuzz.pointer.split-",
            "callbench fuzz --impl python:faulty_peer --op pointer.split --seed 0 --examples 400 --fresh",
            "1 difference found, 1 new in fuzz-corpus.jsonl",
        ):
            assert expected in told.out

    def test_json_is_one_object(self, callbench: Invoke) -> None:
        told = fuzz(callbench, *SPLIT, "--json")
        assert told.err == ""
        (finding,) = told.json["findings"]
        assert finding["op"] == "pointer.split"
        assert finding["input"] == {"pointer": "/~01"}
        assert finding["expected"] == {"gives": ["~1"]}
        assert finding["got"] == {"gives": ["/"]}
        assert told.json["ok"] is False
        assert told.json["operations"]["pointer.split"]["findings"] == 1
        assert told.json["examples_per_second"] > 0

    def test_quiet_says_it_by_the_exit_code_alone(self, callbench: Invoke) -> None:
        told = fuzz(callbench, *SPLIT, "--quiet")
        assert (told.code, told.out, told.err) == (ExitCode.DIFFERENCE, "", "")

    def test_nothing_found_is_exit_code_0_and_no_corpus(self, callbench: Invoke) -> None:
        told = fuzz(callbench, "--op", "pointer.join", "--examples", "100")
        assert told.code == ExitCode.OK
        assert "0 differences found" in told.out
        assert not Path("fuzz-corpus.jsonl").exists()


class TestCorpus:
    def test_conform_replays_it(self, callbench: Invoke) -> None:
        fuzz(callbench, *SPLIT)
        suite = ("--suite", "fuzz-corpus.jsonl")
        assert callbench("conform", "--impl", "python:faulty_peer", *suite).code == 6
        assert callbench("conform", *suite).code == 0

    def test_what_it_holds_is_known(self, callbench: Invoke) -> None:
        fuzz(callbench, *SPLIT)
        kept = lines()
        told = fuzz(callbench, *SPLIT)
        assert told.code == ExitCode.OK
        assert "0 differences found; known ones met" in told.out
        assert lines() == kept

    def test_fresh_finds_it_again_and_keeps_it_once(self, callbench: Invoke) -> None:
        fuzz(callbench, *SPLIT)
        kept = lines()
        told = fuzz(callbench, *SPLIT, "--fresh")
        assert told.code == ExitCode.DIFFERENCE
        assert lines() == kept

    def test_known_files_are_only_read(self, callbench: Invoke) -> None:
        fuzz(callbench, *SPLIT)
        Path("fuzz-corpus.jsonl").rename("known.jsonl")
        told = fuzz(callbench, *SPLIT, "--known", "known.jsonl")
        assert told.code == ExitCode.OK
        assert not Path("fuzz-corpus.jsonl").exists()

    def test_it_is_appended_to_also_when_its_last_line_has_no_end(self, callbench: Invoke) -> None:
        fuzz(callbench, *SPLIT)
        corpus = Path("fuzz-corpus.jsonl")
        before = corpus.read_bytes().rstrip(b"\n")
        corpus.write_bytes(before)
        fuzz(callbench, "--op", "pointer.split", "--seed", "3", "--examples", "50", "--fresh")
        assert corpus.read_bytes().startswith(before)
        assert len(lines()) == len({line["id"] for line in lines()})

    def test_a_line_that_is_no_case_is_told(self, callbench: Invoke) -> None:
        Path("fuzz-corpus.jsonl").write_text('{"id": "x"}\n', encoding="utf-8")
        told = fuzz(callbench, *SPLIT)
        assert told.code == ExitCode.DATASET
        assert "fuzz-corpus.jsonl" in told.err


class TestPeers:
    def test_a_crash_is_a_finding(self, callbench: Invoke) -> None:
        told = fuzz(callbench, *SPLIT, "--json", impl=broken("crashes"))
        crashes = [f for f in told.json["findings"] if f["got"].get("misbehaved") == "crash"]
        assert len(crashes) == 1
        assert len(crashes[0]["input"]["pointer"]) <= 4
        assert crashes[0]["id"] in [line["id"] for line in lines()]

    def test_a_hang_is_a_finding(self, callbench: Invoke) -> None:
        told = fuzz(
            callbench,
            *SPLIT,
            "--json",
            "--deadline",
            "0.3",
            "--max-findings",
            "9",
            impl=broken("hangs"),
        )
        hangs = [f for f in told.json["findings"] if f["got"].get("misbehaved") == "deadline"]
        assert len(hangs) == 1

    def test_a_peer_that_misbehaves_all_the_time_is_given_up(self, callbench: Invoke) -> None:
        told = fuzz(callbench, *SPLIT, "--json", impl=broken("garbage"))
        assert "misbehaves" in told.json["operations"]["pointer.split"]["skipped"]

    def test_an_operation_that_is_declined_is_no_difference(self, callbench: Invoke) -> None:
        told = fuzz(callbench, *SPLIT, "--json", impl=broken("lies_about_support"))
        assert told.code == ExitCode.OK
        told_of = told.json["operations"]["pointer.split"]
        assert told_of["declined"] == told_of["examples"] > 0
        assert "declines" in told_of["skipped"]

    def test_an_operation_that_is_not_implemented_is_skipped(
        self, callbench: Invoke, peer: ModuleType
    ) -> None:
        peer.OPERATIONS = {"pointer.join": reference.OPERATIONS["pointer.join"]}  # type: ignore[attr-defined]
        told = fuzz(callbench, *SPLIT, "--op", "pointer.join", "--json")
        assert told.code == ExitCode.OK
        assert told.json["operations"]["pointer.split"]["skipped"] == "not implemented"

    def test_a_peer_with_none_of_the_operations_is_a_mistake(
        self, callbench: Invoke, peer: ModuleType
    ) -> None:
        peer.OPERATIONS = {}  # type: ignore[attr-defined]
        assert fuzz(callbench).code == ExitCode.USAGE

    def test_one_that_cannot_be_started_is_a_mistake(self, callbench: Invoke) -> None:
        assert fuzz(callbench, impl="no-such-program").code == ExitCode.USAGE


class TestEnds:
    def test_an_interruption_keeps_what_was_found(
        self, callbench: Invoke, peer: ModuleType
    ) -> None:
        asked: list[Any] = []

        def interrupted(inputs: dict[str, Any]) -> Any:
            asked.append(inputs)
            if len(asked) > 20:
                raise KeyboardInterrupt
            return reference.OPERATIONS["history.extract"](inputs)

        peer.OPERATIONS["history.extract"] = interrupted  # type: ignore[attr-defined]
        told = fuzz(callbench, *SPLIT, "--op", "history.extract", "--json")
        assert told.code == ExitCode.INTERRUPTED
        assert told.json["interrupted"] is True
        assert [finding["op"] for finding in told.json["findings"]] == ["pointer.split"]
        assert len(lines()) == 1

    def test_an_interruption_while_shrinking_keeps_the_best_so_far(
        self, callbench: Invoke, peer: ModuleType
    ) -> None:
        found: list[Any] = []

        def interrupted(inputs: dict[str, Any]) -> Any:
            right = reference.OPERATIONS["history.extract"](inputs)
            if falsy_lost(inputs) != right:
                found.append(inputs)
            if len(found) > 2:
                raise KeyboardInterrupt
            return right or None

        peer.OPERATIONS["history.extract"] = interrupted  # type: ignore[attr-defined]
        told = fuzz(callbench, "--op", "history.extract", "--json")
        assert told.code == ExitCode.INTERRUPTED
        assert len(told.json["findings"]) == len(lines()) == 1

    def test_an_unknown_operation_names_the_nearest(self, callbench: Invoke) -> None:
        told = fuzz(callbench, "--op", "pointer.splt")
        assert told.code == ExitCode.USAGE
        assert "pointer.split" in told.err

    def test_a_known_file_that_is_not_there_is_a_mistake(self, callbench: Invoke) -> None:
        assert fuzz(callbench, *SPLIT, "--known", "nowhere.jsonl").code == ExitCode.USAGE
