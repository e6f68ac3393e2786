"""``callbench run --impl``: an implementation is scored on the recordings as the reference is."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from callbench import cli
from callbench.cassette.interaction import Event, Interaction, Request, Response
from callbench.cassette.key import request_key
from callbench.cassette.store import Cassette
from callbench.cassette.transport import Mode
from callbench.conformance import reference
from callbench.dataset.loader import load_dataset
from callbench.errors import ExitCode, UsageError
from callbench.peer.opening import REFERENCE
from callbench.report.runlog import read_info
from callbench.run.config import RunConfig
from callbench.run.execute import execute
from callbench.run.recorded import turns_of

BROKEN = Path(__file__).parents[1] / "peer" / "broken"
STDIO = shlex.join([sys.executable, "-m", "callbench.conformance.reference"])
DOZENS = 36

Records = list[dict[str, Any]]


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A directory without profiles, cassettes and reports of the developer's own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


async def records(out: str, **config: Any) -> Records:
    """Run and return ``cases.jsonl`` without the one member that a clock decides."""
    config = {"limit": DOZENS, **config}
    await execute(RunConfig(out=Path(out), **config))
    lines = (Path(out) / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    return [{k: v for k, v in json.loads(line).items() if k != "timing"} for line in lines]


@pytest.mark.parametrize(
    "config",
    [
        {"model": "smollm2"},
        {"model": "smollm2", "function_model": "needle3"},
        {"model": "gemma3-270m", "tags": ("nested",)},
    ],
    ids=["smollm2", "needle3", "gemma3"],
)
async def test_the_reference_as_a_peer_scores_what_the_reference_scores(
    config: dict[str, Any],
) -> None:
    """Records are equal in everything: scores, stages, values that were refused, calls, tokens."""
    own = await records("own", **config)
    assert len(own) > 10
    assert await records("peer", impl=REFERENCE, **config) == own


async def test_and_so_it_does_over_standard_input_and_output() -> None:
    own = await records("own")
    assert len(own) == DOZENS
    assert {record["status"] for record in own} == {"ok", "unparsed"}  # both are compared
    assert await records("peer", impl=STDIO, concurrency=2) == own


async def test_the_run_says_whose_it_is(here: Path) -> None:
    await records("peer", impl=REFERENCE, limit=1)
    info = read_info(here / "peer")
    assert info["impl"] == REFERENCE
    assert info["implementation"].startswith("callbench.conformance.reference 0")
    assert f"--impl {REFERENCE}" in info["command"]


Made = Callable[..., str]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Made:
    """Return the --impl of a module whose ``slot.exec`` is the given function."""

    def make(slot_exec: Callable[[dict[str, Any]], Any], op: str = "slot.exec") -> str:
        module = ModuleType("made_up")
        module.OPERATIONS = {op: slot_exec}  # type: ignore[attr-defined]
        module.error_kind = reference.error_kind  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "made_up", module)
        return "python:made_up"

    return make


RIGHT = reference.OPERATIONS["slot.exec"]


async def test_what_it_gives_is_what_is_scored(made: Made) -> None:
    def empty(inputs: dict[str, Any]) -> Any:
        RIGHT(inputs)
        return {"slot_data": {"made": "up"}, "remaining_schema": {}}

    found = await records("peer", impl=made(empty), limit=3)
    assert [record["slot_data"] for record in found] == [{"made": "up"}] * 3
    assert not any(record["exact"] for record in found)


async def test_what_it_is_given_is_the_case(made: Made) -> None:
    seen: list[dict[str, Any]] = []

    def note(inputs: dict[str, Any]) -> Any:
        seen.append(inputs)
        return RIGHT(inputs)

    await records("peer", impl=made(note), repair=True)
    cases = list(load_dataset("everyday").cases)[:DOZENS]
    assert [one["call"] for one in seen] == [
        {
            "name": case.tool.name,
            "description": case.tool.description,
            "data": case.data,
            "current_schema": case.schema,
            "step_num": len(case.steps),
            "repair": True,
        }
        for case in cases
    ]
    for case, given in zip(cases, (one["vars"] for one in seen), strict=True):
        assert (given["question"], given["language"]) == (case.question, case.lang)
        assert (given["facts"], given.get("thinking", "")) == (list(case.facts), case.summary)
        assert given.get("now") == (case.now and case.now.isoformat())
        assert [one["outputData"] for one in given["steps"]] == [s.output_data for s in case.steps]
        assert given["conversation"] == list(case.conversation)


async def test_misbehavior_is_a_provider_error_of_that_case_and_the_run_goes_on(
    made: Made,
) -> None:
    count = 0

    def second_fails(inputs: dict[str, Any]) -> Any:
        nonlocal count
        count += 1
        if count == 2:
            raise SystemExit(3)
        return RIGHT(inputs)

    found = await records("peer", impl=made(second_fails), limit=3)
    assert [record["status"] == "provider_error" for record in found] == [False, True, False]
    assert found[1]["error"] == "crash: SystemExit: 3"


async def test_a_child_that_crashes_or_hangs_is_started_anew(here: Path) -> None:
    questions = [case.question for case in load_dataset("everyday").cases][:4]
    script = (
        "import os, sys, time\n"
        f"sys.path.insert(0, {str(BROKEN)!r})\n"
        "import plumbing\n"
        "plumbing.OPERATIONS = ['slot.exec']\n"
        "def answer(run):\n"
        "    question = run['input']['vars']['question']\n"
        f"    if question == {questions[1]!r}: os._exit(9)\n"
        f"    if question == {questions[2]!r}: time.sleep(60)\n"
        "    value = {'slot_data': {}, 'remaining_schema': {}}\n"
        "    plumbing.send({'cmd': 'result', 'seq': run['seq'], 'value': value})\n"
        "plumbing.converse('fragile', answer)\n"
    )
    (here / "peer.py").write_text(script, encoding="utf-8")
    impl = shlex.join([sys.executable, "-S", str(here / "peer.py")])
    found = await records("peer", impl=impl, limit=4, deadline=2.0, concurrency=2)
    errors = [record["error"] for record in found]
    assert errors[0] == errors[3] == ""
    assert errors[1] == "crash: the process ended: exit code 9"
    assert errors[2] == "deadline: no answer within 2 s"


async def test_who_asks_too_often_is_told_so(made: Made) -> None:
    def twice(inputs: dict[str, Any]) -> Any:
        RIGHT(inputs)
        return RIGHT(inputs)

    with pytest.raises(Exception, match=r"failed at the implementation: call_error: .*once more"):
        await records("peer", impl=made(twice), limit=5)


@pytest.mark.parametrize("value", [None, [], {"slot_data": 1}, "text"])
async def test_a_result_of_another_form_is_a_provider_error(made: Made, value: Any) -> None:
    (record,) = await records("peer", impl=made(lambda inputs: value), limit=1)
    assert record["error"] == "its result is no {slot_data, remaining_schema}"


async def test_a_case_without_recordings_is_a_miss(made: Made, here: Path) -> None:
    found = await execute(
        RunConfig(impl=REFERENCE, cassette=here / "none.jsonl", limit=2, out=here / "out")
    )
    assert found.misses == 2
    assert found.miss is not None
    assert "has no recording of case" in found.miss.message
    assert found.miss.remedy is not None
    assert "--mode record" in found.miss.remedy
    assert "--impl" not in found.miss.remedy


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"system": "stage1"}, "--impl does not go with --system stage1"),
        ({"mode": Mode.LIVE}, "--impl does not go with --mode live"),
        ({"prompt": Path("x")}, "--impl does not go with --prompt"),
        ({"trace": True}, "--impl does not go with --trace"),
        ({"impl": "python:no.such.module"}, "no.such"),
    ],
)
async def test_what_does_not_go_together(config: dict[str, Any], told: str, here: Path) -> None:
    with pytest.raises(UsageError, match=told):
        await execute(RunConfig(**{"impl": REFERENCE, **config}))
    assert next(os.scandir(here), None) is None


async def test_it_must_fill_slots(made: Made) -> None:
    with pytest.raises(UsageError, match=r"does not implement slot\.exec"):
        await execute(RunConfig(impl=made(RIGHT, op="slot.check")))


def test_the_command(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["run", "--impl", REFERENCE, "--limit", "2", "--out", "out"]
    monkeypatch.setattr("sys.argv", ["callbench", *words])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code in (None, ExitCode.OK)
    assert "callbench.conformance.reference 0" in capfd.readouterr().out
    report = Path("out/report.md").read_text(encoding="utf-8")
    assert "| implementation | callbench.conformance.reference 0" in report


ASK = [{"role": "user", "content": "?"}]
MORE = [{"role": "assistant", "content": "{}"}, {"role": "user", "content": "more"}]


def recorded(messages: list[Any], *, stream: bool, says: str, ordinal: int = 0) -> Interaction:
    body = json.dumps({"messages": messages, "stream": stream}).encode()
    request = Request("POST", "/chat/completions", body)
    response = Response(200, {}, (Event(0, says.encode()),))
    return Interaction(request_key(request), "c", ordinal, request, response)


def bodies(path: Path, *interactions: Interaction) -> list[list[bytes]]:
    with Cassette.open(path) as cassette:
        for interaction in interactions:
            cassette.append(interaction)
        turns = turns_of(cassette, "c")
    return [[one.response.body for one in turns.of(model)] for model in ("reasoning", "function")]


class TestTurns:
    def test_stage_1_then_the_trials_of_stage_2(self, here: Path) -> None:
        assert bodies(
            here / "c.jsonl",
            recorded([*ASK, *MORE, *MORE], stream=False, says="second trial"),
            recorded([*ASK, *MORE], stream=False, says="first trial"),
            recorded(ASK, stream=True, says="stage 1"),
        ) == [[b"stage 1"], [b"first trial", b"second trial"]]

    def test_of_an_attempt_that_failed_and_its_repetition_the_latter(self, here: Path) -> None:
        assert bodies(
            here / "c.jsonl",
            recorded(ASK, stream=True, says="503"),
            recorded(ASK, stream=True, says="ok", ordinal=1),
        ) == [[b"ok"], []]

    def test_what_belongs_to_an_earlier_prompt_is_left_out(self, here: Path) -> None:
        old = [{"role": "user", "content": "old"}]
        assert bodies(
            here / "c.jsonl",
            recorded(old, stream=True, says="old"),
            recorded([*old, *MORE], stream=False, says="old stage 2"),
            recorded(ASK, stream=True, says="new"),
        ) == [[b"new"], []]

    def test_nothing_recorded(self, here: Path) -> None:
        assert bodies(here / "c.jsonl") == [[], []]
