"""A module of this process as a peer, and what ``--impl`` names."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from callbench.peer import (
    REFERENCE,
    Failed,
    Misbehaved,
    PeerError,
    PythonPeer,
    Result,
    StdioPeer,
    Unsupported,
    opener,
)
from callbench.peer.opening import in_process


class Declined(Exception):
    pass


def fail(given: dict[str, Any]) -> Any:
    errors = {"value": ValueError("no"), "key": KeyError("k"), "own": Declined(), "bug": OSError()}
    if given["how"] == "exit":
        sys.exit(1)
    raise errors[given["how"]]


def change(given: dict[str, Any]) -> Any:
    given["list"].append(1)
    return given["list"]


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    made = ModuleType("peer_under_test")
    made.OPERATIONS = {  # type: ignore[attr-defined]
        "echo": lambda given: given,
        "fail": fail,
        "change": change,
        "odd": lambda given: {1, 2},
        "pair": lambda given: (1, 2),
        "sleep": lambda given: time.sleep(given["s"]),
    }
    monkeypatch.setitem(sys.modules, "peer_under_test", made)
    return made


@pytest.fixture
def peer(module: ModuleType) -> PythonPeer:
    return PythonPeer("peer_under_test")


def test_it_says_what_it_implements(peer: PythonPeer) -> None:
    assert peer.hello.name == "peer_under_test"
    assert {"echo", "fail"} < peer.hello.operations


def test_a_result(peer: PythonPeer) -> None:
    assert peer.run("echo", {"a": 1}, 5) == Result({"a": 1})


def test_a_tuple_is_an_array(peer: PythonPeer) -> None:
    assert peer.run("pair", {}, 5) == Result([1, 2])


def test_what_is_no_json_value_is_its_fault(peer: PythonPeer) -> None:
    answer = peer.run("odd", {}, 5)
    assert isinstance(answer, Misbehaved)
    assert (answer.kind, "set" in answer.detail) == ("protocol_error", True)


def test_the_input_stays_as_it_is(peer: PythonPeer) -> None:
    given: dict[str, Any] = {"list": []}
    assert peer.run("change", given, 5) == Result([1])
    assert given == {"list": []}


def test_the_address_of_a_model_stands_in_the_input(peer: PythonPeer) -> None:
    assert peer.run("echo", {}, 5, llm_base_url="u") == Result({"llm_base_url": "u"})


@pytest.mark.parametrize(("how", "kind"), [("value", "value_error"), ("key", "key_error"), ("bug", "internal")])  # fmt: skip
def test_errors_of_python_are_named_as_the_contract_does(
    peer: PythonPeer, how: str, kind: str
) -> None:
    answer = peer.run("fail", {"how": how}, 5)
    assert isinstance(answer, Failed)
    assert answer.kind == kind


def test_a_module_names_its_own_errors(module: ModuleType) -> None:
    module.error_kind = lambda error: "unsupported" if isinstance(error, Declined) else None  # type: ignore[attr-defined]
    peer = PythonPeer("peer_under_test")
    assert peer.run("fail", {"how": "own"}, 5) == Unsupported()
    assert peer.run("fail", {"how": "value"}, 5) == Failed("internal", "ValueError: no")


def test_sys_exit_does_not_end_us(peer: PythonPeer) -> None:
    assert peer.run("fail", {"how": "exit"}, 5) == Misbehaved("crash", "SystemExit: 1")


def test_an_operation_it_does_not_have(peer: PythonPeer) -> None:
    assert peer.run("other", {}, 5) == Unsupported()


def test_a_hang_is_ended(peer: PythonPeer) -> None:
    began = time.monotonic()
    assert peer.run("sleep", {"s": 30}, 0.1) == Misbehaved("deadline", "no answer within 0.1 s")
    assert time.monotonic() - began < 10


def test_in_another_thread_the_deadline_is_looked_at_afterwards(peer: PythonPeer) -> None:
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(peer.run("sleep", {"s": 0.1}, 0.01)))
    thread.start()
    thread.join()
    assert answers == [Misbehaved("deadline", "no answer within 0.01 s")]


class TestOpener:
    def test_the_reference(self) -> None:
        assert in_process(REFERENCE)
        peer = opener(REFERENCE)()
        given = {"path": "s/n", "history": [{"stepId": "s", "outputData": {"n": 0}}]}
        assert peer.run("history.extract", given, 5) == Result(0)

    def test_a_command_line(self) -> None:
        peer = opener("node 'my peer.mjs' --fast")()
        assert isinstance(peer, StdioPeer)
        assert peer.command == ("node", "my peer.mjs", "--fast")

    def test_the_reference_speaks_the_protocol_itself(self) -> None:
        peer = opener(f"{sys.executable} -m callbench.conformance.reference")()
        assert peer.hello.name == "corecall"
        assert "slot.check" in peer.hello.operations
        answer = peer.run("slot.check", {"schema": {"type": "nonsense"}, "data": {}}, 5)
        assert isinstance(answer, Failed)
        assert answer.kind == "invalid_schema"
        peer.close()

    @pytest.mark.parametrize(
        ("impl", "says"),
        [
            ("", "empty"),
            ("node 'x", "quotation"),
            ("python:no.such.module", "No module named"),
            ("python:json", "no OPERATIONS"),
        ],
    )
    def test_what_is_neither(self, impl: str, says: str) -> None:
        with pytest.raises(PeerError, match=says):
            opener(impl)()

    def test_a_module_that_cannot_be_imported(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "broken_peer_module.py").write_text("1 / 0")
        monkeypatch.syspath_prepend(tmp_path)
        with pytest.raises(PeerError, match="importing it failed: ZeroDivisionError"):
            opener("python:broken_peer_module")()
