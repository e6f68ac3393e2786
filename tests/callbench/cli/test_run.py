"""``callbench run`` and ``record``, from the words on the command line to the files."""

from __future__ import annotations

import json
import shlex
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from callbench.dataset.loader import load_dataset

from .conftest import CASES, KEY, Invoke, right_answer, write_cases
from .synthetic_model import SyntheticModel

RUN = ("run", "hotels.jsonl", "--model", "synthetic")
RECORD = ("record", "hotels.jsonl", "--model", "synthetic")


def records(directory: str | Path) -> list[dict[str, Any]]:
    text = Path(directory, "cases.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def without_times(directory: str) -> list[dict[str, Any]]:
    found = records(directory)
    for record in found:
        del record["timing"]
    return found


class TestRecordAndReplay:
    def test_replay_gives_what_recording_gave_and_opens_no_socket(
        self, callbench: Invoke, model: SyntheticModel, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        recorded = callbench(*RECORD, "--json")
        assert recorded.code == 0
        assert recorded.json["exact"]["value"] == 1.0
        asked = len(model.bodies)

        def no_network(*args: Any) -> None:
            raise AssertionError("replay opened a connection")

        monkeypatch.setattr(socket.socket, "connect", no_network)
        monkeypatch.delenv("SYNTHETIC_KEY")
        replayed = callbench(*RUN, "--json")
        assert replayed.code == 0
        assert len(model.bodies) == asked == len(CASES)
        assert without_times(replayed.json["dir"]) == without_times(recorded.json["dir"])

    def test_record_asks_only_what_is_missing_and_again_asks_all(
        self, callbench: Invoke, model: SyntheticModel
    ) -> None:
        callbench(*RECORD, "--limit", "2")
        assert len(model.bodies) == 2
        callbench(*RECORD)
        assert len(model.bodies) == 4
        callbench(*RECORD, "--again")
        assert len(model.bodies) == 8

    def test_live_leaves_no_recording(self, callbench: Invoke, place: Path) -> None:
        assert callbench(*RUN, "--mode", "live").code == 0
        assert not (place / "cassettes").exists()

    def test_any_number_of_cases_in_flight_gives_the_same_lines(self, callbench: Invoke) -> None:
        one = callbench(*RECORD, "--json", "--concurrency", "1").json
        many = callbench(*RUN, "--json", "--concurrency", "3").json
        assert without_times(one["dir"]) == without_times(many["dir"])
        assert [record["id"] for record in records(one["dir"])] == [c["id"] for c in CASES]

    def test_no_file_holds_the_key(self, callbench: Invoke, place: Path) -> None:
        callbench(*RECORD)
        files = [path for path in place.rglob("*") if path.is_file()]
        assert len(files) > 6
        assert not [path for path in files if KEY.encode() in path.read_bytes()]

    @pytest.mark.parametrize("mode", ["record", "live"])
    def test_a_reply_or_an_error_that_echoes_the_key_is_masked_in_the_run_too(
        self, callbench: Invoke, place: Path, model: SyntheticModel, mode: str
    ) -> None:
        model.decide = lambda body: json.dumps({"city": KEY, "nights": 3})
        write_cases(place / "hotels.jsonl", [{**CASES[0], "question": f"{KEY} in Oslo"}])
        found = callbench(*RUN, "--mode", mode, "--json")
        assert found.code == 0
        assert records(found.json["dir"])[0]["slot_data"]["city"] == "***"
        files = [path for path in place.rglob("*") if path.is_file()]
        holding = [path.name for path in files if KEY.encode() in path.read_bytes()]
        assert holding == ["hotels.jsonl"]


class TestMiss:
    def test_a_changed_word_in_the_prompt_is_exit_5_and_says_which(
        self, callbench: Invoke, place: Path, model: SyntheticModel
    ) -> None:
        prompt = place / "mine.jinja"
        prompt.write_text("Fill the arguments of {{ tool.name }}: {{ question }} {{ schema }}")
        callbench(*RECORD, "--prompt", "mine.jinja")
        prompt.write_text("Fill the parameters of {{ tool.name }}: {{ question }} {{ schema }}")
        asked = len(model.bodies)
        missed = callbench(*RUN, "--prompt", "mine.jinja")
        assert missed.code == 5
        assert "4 of 4 cases lack a recording" in missed.err
        assert "arguments" in missed.err
        assert "parameters" in missed.err
        assert (
            "callbench run hotels.jsonl --model synthetic --mode record --prompt mine.jinja"
            in missed.err
        )
        assert missed.out == ""
        assert len(model.bodies) == asked

    def test_the_command_it_names_records_what_is_missing(self, callbench: Invoke) -> None:
        missed = callbench(*RUN)
        assert missed.code == 5
        command = missed.err.partition("callbench run ")[2].split()
        assert callbench("run", *command).code == 0
        assert callbench(*RUN).code == 0

    def test_the_command_it_names_can_be_pasted_whatever_the_names(
        self, callbench: Invoke, place: Path
    ) -> None:
        (place / "hotels.jsonl").rename(place / "my hotels' list.jsonl")
        (place / "my prompt.jinja").write_text("{{ question }} {{ schema }}")
        given = ("run", "my hotels' list.jsonl", "--model", "synthetic")
        given += ("--prompt", "my prompt.jinja", "--cassette", "$HOME 1.cassette.jsonl")
        missed = callbench(*given)
        assert missed.code == 5
        command = missed.err.partition("To record what is missing: callbench ")[2]
        assert callbench(*shlex.split(command)).code == 0
        assert callbench(*given).code == 0

    def test_a_cassette_line_that_is_broken_is_named(self, callbench: Invoke, place: Path) -> None:
        callbench(*RECORD)
        (path,) = (place / "cassettes").iterdir()
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join([*lines[:2], b"{broken\n", *lines[2:]]))
        broken = callbench(*RUN)
        assert broken.code == 5
        assert f"{path.name}, line 3" in broken.err

    def test_a_cut_last_line_is_only_a_warning(self, callbench: Invoke, place: Path) -> None:
        callbench(*RECORD)
        (path,) = (place / "cassettes").iterdir()
        path.write_bytes(path.read_bytes() + b'{"key": "abc')
        assert callbench(*RUN).code == 0


class TestProviderErrors:
    def test_an_endpoint_that_is_not_there_is_exit_4_and_named(
        self, callbench: Invoke, place: Path
    ) -> None:
        (place / "callbench.toml").write_text(
            '[models.gone]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\n'
        )
        write_cases(place / "hotels.jsonl", CASES[:1])
        found = callbench("run", "hotels.jsonl", "--model", "gone", "--mode", "live")
        assert found.code == 4
        assert "http://127.0.0.1:9/v1" in found.err
        assert KEY not in found.err

    def test_one_failing_case_is_counted_apart_and_the_rest_scored(
        self, callbench: Invoke, model: SyntheticModel
    ) -> None:
        model.decide = lambda body: 400 if "Lyon" in str(body) else right_answer(body)
        found = callbench(*RECORD, "--json")
        assert found.code == 4
        told = found.json
        assert (told["cases"], told["scored"], told["provider_errors"]) == (4, 3, 1)
        assert told["exact"] == {**told["exact"], "value": 1.0, "n": 3}
        assert "hotel-3" in found.err
        assert "HTTP 400" in found.err

    def test_an_endpoint_that_never_answers_ends_the_run_early(
        self, callbench: Invoke, place: Path, model: SyntheticModel
    ) -> None:
        model.decide = lambda body: 401
        many = [{**CASES[0], "id": f"c{n}", "question": f"{n}?"} for n in range(20)]
        write_cases(place / "hotels.jsonl", many)
        found = callbench(*RUN, "--mode", "live", "--concurrency", "1")
        assert found.code == 4
        assert len(model.bodies) == 5

    def test_a_case_has_a_deadline(self, callbench: Invoke, model: SyntheticModel) -> None:
        def slow(body: dict[str, Any]) -> str:
            import time

            time.sleep(0.6 if "Oslo" in str(body) else 0)
            return str(right_answer(body))

        model.decide = slow
        found = callbench(*RUN, "--mode", "live", "--deadline", "0.3", "--json")
        assert found.code == 4
        assert found.json["provider_errors"] == 1
        assert "within 0.3 seconds" in found.err


class TestScores:
    def test_json_is_one_object_with_the_keys_of_the_design(self, callbench: Invoke) -> None:
        found = callbench(*RECORD, "--json")
        assert found.out.count("\n") == 1
        assert set(found.json) == {
            "run_id", "dir", "dataset", "model", "system", "cases", "scored", "unparsed",
            "provider_errors", "exact", "exact_strict", "slot_precision", "slot_recall",
            "slot_f1", "schema_valid", "seconds", "baselines",
        }  # fmt: skip
        assert set(found.json["exact"]) == {"value", "low", "high", "n", "method"}
        assert set(found.json["baselines"]) == {"empty", "copy"}

    def test_the_baselines_stand_beside_the_model(self, callbench: Invoke) -> None:
        baselines = callbench(*RECORD, "--json").json["baselines"]
        assert baselines["empty"]["slot_recall"]["value"] == 0.0
        assert baselines["empty"]["slot_precision"]["n"] == 0
        # "N nights in City, please": the number and the name are spans of the question.
        assert baselines["copy"]["slot_recall"]["value"] > 0.5

    def test_unparsed_is_wrong_and_counted(self, callbench: Invoke, model: SyntheticModel) -> None:
        model.decide = lambda body: "sorry" if "Rome" in str(body) else right_answer(body)
        told = callbench(*RECORD, "--json").json
        assert told["unparsed"] == 1
        assert told["exact"]["value"] == 0.75
        assert told["exact"]["n"] == 4

    def test_stage_2_is_told_apart(self, callbench: Invoke, model: SyntheticModel) -> None:
        def in_two(body: dict[str, Any]) -> str:
            right = json.loads(str(right_answer(body)))
            key = "city" if body["stream"] else "nights"
            return json.dumps({key: right[key]}, ensure_ascii=False)

        model.decide = in_two
        told = callbench(*RECORD, "--json").json
        assert told["exact"]["value"] == 1.0
        stages = {slot["pointer"]: slot["stage"] for slot in records(told["dir"])[0]["slots"]}
        assert stages == {"/city": "stage1", "/nights": "stage2"}

    def test_repair_is_off_unless_asked_and_counted_apart(
        self, callbench: Invoke, model: SyntheticModel
    ) -> None:
        model.decide = lambda body: str(right_answer(body)).replace("}", ",}")
        callbench(*RECORD)
        strict = callbench(*RUN, "--json").json
        assert (strict["unparsed"], strict["exact"]["value"]) == (4, 0.0)
        mended = callbench(*RUN, "--json", "--repair").json
        assert mended["unparsed"] == 0
        assert mended["exact"]["value"] == 1.0
        assert mended["exact_strict"]["value"] == 0.0

    def test_tables_for_people(self, callbench: Invoke) -> None:
        found = callbench(*RECORD)
        assert found.code == 0
        for word in ("synthetic", "copy", "F1", "By language", "p50 ms", "report.md"):
            assert word in found.out

    def test_quiet_prints_nothing(self, callbench: Invoke) -> None:
        found = callbench(*RECORD, "--quiet")
        assert (found.code, found.out, found.err) == (0, "", "")


class TestSelection:
    @pytest.mark.parametrize(
        ("words", "ids"),
        [
            (("--lang", "zh"), ["hotel-2"]),
            (("--tag", "odd"), ["hotel-1", "hotel-3"]),
            (("--tag", "even", "--limit", "1"), ["hotel-2"]),
        ],
    )
    def test_language_tag_and_limit(
        self, callbench: Invoke, words: tuple[str, ...], ids: list[str]
    ) -> None:
        told = callbench(*RECORD, "--json", *words).json
        assert [record["id"] for record in records(told["dir"])] == ids
        assert told["cases"] == len(ids)


class TestSystems:
    def test_a_slot_of_the_users_own(
        self, callbench: Invoke, place: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (place / "own_slot.py").write_text(
            "from corecall import CallOutputChunk, CallOutputType, Slot, SlotInput, SlotOutput\n"
            "class Mine(Slot, input_model=SlotInput, output_model=SlotOutput):\n"
            "    async def _exec(self, input_data):\n"
            "        data = {'city': 'Oslo', 'nights': 1}\n"
            "        content = {'slot_data': data, 'remaining_schema': {}}\n"
            "        yield CallOutputChunk(type=CallOutputType.DATA, content=content)\n"
        )
        monkeypatch.syspath_prepend(str(place))
        told = callbench(*RUN, "--json", "--system", "own_slot:Mine").json
        assert told["exact"]["value"] == 0.25
        assert told["system"] == "own_slot:Mine"

    @pytest.mark.parametrize(
        ("name", "told"),
        [
            ("own:Raises", ("hotel-1", "Raises failed: KeyError: 'x'", "own.py, line 4")),
            ("own:Text", ("hotel-1", "Text gave no slot output")),
            ("own:NotJson", ("hotel-1", "NotJson gave no slot output", "object")),
            ("own:Texd", ("own has no Texd", "Did you mean Text?")),
            ("syntax:X", ("importing it failed: SyntaxError", "syntax.py")),
            ("leaves:X", ("importing it failed: SystemExit",)),
            ("Emptie", ('no system "Emptie"', "Did you mean empty?")),
            (":X", ("Systems: slot, stage1, stage2, fewshot, empty, copy",)),
        ],
    )
    def test_a_fault_of_the_users_own_slot_is_exit_2_and_said_in_a_line(
        self,
        callbench: Invoke,
        place: Path,
        monkeypatch: pytest.MonkeyPatch,
        name: str,
        told: tuple[str, ...],
    ) -> None:
        head = "class {}(Slot, input_model=SlotInput, output_model=SlotOutput):\n"
        head += "    async def _exec(self, input_data):\n"
        chunk = "        yield CallOutputChunk(type=CallOutputType.DATA, content={})\n"
        not_json = "{'slot_data': {'city': object()}, 'remaining_schema': {}}"
        (place / "own.py").write_text(
            "from corecall import CallOutputChunk, CallOutputType, Slot, SlotInput, SlotOutput\n"
            + (head.format("Raises") + "        raise KeyError('x')\n        yield\n")
            + (head.format("Text") + chunk.format("'hi'"))
            + (head.format("NotJson") + chunk.format(not_json))
        )
        (place / "syntax.py").write_text("def (")
        (place / "leaves.py").write_text("raise SystemExit(0)")
        monkeypatch.syspath_prepend(str(place))
        monkeypatch.delitem(sys.modules, "own", raising=False)
        found = callbench(*RUN, "--system", name, "--json")
        assert (found.code, found.out) == (2, "")
        assert "Traceback" not in found.err
        for text in told:
            assert text in found.err

    def test_a_baseline_alone_needs_no_model(self, callbench: Invoke) -> None:
        told = callbench("run", "hotels.jsonl", "--system", "empty", "--json").json
        assert told["slot_recall"]["value"] == 0.0


class TestUsage:
    @pytest.mark.trap("E5")
    @pytest.mark.parametrize(
        ("words", "told"),
        [
            (("run", "hotels.jsonl", "--model", "synthetik"), "synthetic"),
            (("run", "everydy"), "everyday"),
            (("run", "nowhere.jsonl"), "nowhere.jsonl"),
            ((*RUN, "--system", "nope:Nope"), "nope"),
            ((*RUN, "--system", "json:loads"), "CoreCall"),
            ((*RUN, "--prompt", "none.jinja"), "none.jinja"),
            ((*RUN, "--prompt", "."), "--prompt .: Is a directory."),
            ((*RUN, "--config", "."), ". is a directory, not a TOML file"),
            (("run", ""), "name is empty"),
            ((*RUN, "--system", "copy", "--out", "hotels.jsonl"), "--out hotels.jsonl is a file"),
            ((*RUN, "--lang", "fr"), "fr"),
            ((*RUN, "--limit", "0"), "--limit"),
            ((*RUN, "--mode", "repaly"), "replay"),
            (("run", "hotels.jsonl", "--model", "needle3"), "--function-model needle3"),
            (("nope",), "nope"),
        ],
    )
    def test_e5_what_does_not_exist_is_exit_2_and_named(
        self, callbench: Invoke, words: tuple[str, ...], told: str
    ) -> None:
        found = callbench(*words)
        assert found.code == 2
        assert told in found.err
        assert found.out == ""

    def test_a_prompt_that_does_not_render_is_named_before_anything_is_asked(
        self, callbench: Invoke, place: Path, model: SyntheticModel
    ) -> None:
        (place / "bad.jinja").write_text("{{ qestion }}")
        found = callbench(*RUN, "--mode", "live", "--prompt", "bad.jinja")
        assert found.code == 2
        assert "qestion" in found.err
        assert model.bodies == []

    def test_a_run_is_never_overwritten(self, callbench: Invoke) -> None:
        assert callbench(*RECORD).code == 0
        assert callbench(*RUN, "--out", "here").code == 0
        again = callbench(*RUN, "--out", "here")
        assert again.code == 2
        assert "here" in again.err

    def test_a_bad_line_is_exit_3_with_file_line_field_and_rule(
        self, callbench: Invoke, place: Path
    ) -> None:
        bad = {**CASES[1], "expected": {"city": 5, "nights": 2}}
        write_cases(place / "hotels.jsonl", [CASES[0], bad])
        for words in (RUN, ("dataset", "check", "hotels.jsonl")):
            found = callbench(*words)
            assert found.code == 3
            assert "hotels.jsonl:2" in found.err
            assert "/expected" in found.err

    def test_interrupting_is_exit_130(
        self, callbench: Invoke, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def interrupt(*args: Any) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("callbench.run.execute.load_dataset", interrupt)
        assert callbench(*RUN).code == 130


class TestReport:
    def test_it_gives_the_same_bytes_again(self, callbench: Invoke) -> None:
        directory = Path(callbench(*RECORD, "--json").json["dir"])
        names = ("summary.json", "report.md", "cases.csv", "slots.csv")
        before = {name: (directory / name).read_bytes() for name in names}
        for name in names:
            if name != "summary.json":
                (directory / name).unlink()
        assert callbench("report", str(directory)).code == 0
        assert {name: (directory / name).read_bytes() for name in names} == before

    @pytest.mark.parametrize(
        ("name", "content", "told"),
        [
            ("run.json", b"[]", "run.json does not hold an object"),
            ("summary.json", b'{"rows": [1, 2]}', "summary.json is not the summary of a run"),
            ("cases.jsonl", b'"tags":5', "cases.jsonl:2: not the record of a case"),
            ("cases.jsonl", b'"tags":[],"id":5', "cases.jsonl:2: not the record of a case"),
            ("cases.jsonl", b'"tags":[],"slots":[{}]', "cases.jsonl:2: not the record of a case"),
        ],
    )
    def test_a_damaged_run_is_exit_3_with_file_and_line(
        self, callbench: Invoke, name: str, content: bytes, told: str
    ) -> None:
        directory = Path(callbench(*RECORD, "--json").json["dir"])
        if name == "cases.jsonl":
            lines = (directory / name).read_bytes().splitlines(keepends=True)
            lines[1] = lines[1].replace(b"}\n", b"," + content + b"}\n")
            content = b"".join(lines)
        (directory / name).write_bytes(content)
        found = callbench("report", str(directory), "--json")
        assert (found.code, found.out) == (3, "")
        assert told in found.err

    @pytest.mark.parametrize("content", [b"7", b'{"rows": 7}', b"{"])
    def test_a_run_without_facts_or_summary_is_reported_all_the_same(
        self, callbench: Invoke, content: bytes
    ) -> None:
        directory = Path(callbench(*RECORD, "--json").json["dir"])
        (directory / "summary.json").write_bytes(content)
        (directory / "run.json").write_bytes(b"{}")
        assert callbench("report", str(directory)).code == 0

    def test_a_run_that_ended_early_says_so(self, callbench: Invoke) -> None:
        directory = Path(callbench(*RECORD, "--json").json["dir"])
        assert "ended early" not in callbench("report", str(directory)).out
        log = directory / "cases.jsonl"
        log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:3]))
        assert "3 of its 4 cases" in callbench("report", str(directory)).out

    def test_a_directory_that_is_no_run(self, callbench: Invoke) -> None:
        assert callbench("report", ".").code == 2


def test_a_dataset_in_this_directory_has_its_name(callbench: Invoke, place: Path) -> None:
    assert callbench("dataset", "check", ".").out.startswith(f"{place.name}: 4 cases")


def test_a_config_with_a_byte_order_mark_is_read(callbench: Invoke, place: Path) -> None:
    path = place / "callbench.toml"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert "synthetic" in callbench("models", "list").out


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is full")
def test_a_full_disk_is_named(callbench: Invoke, place: Path) -> None:
    (place / "full").mkdir()
    (place / "full" / "cases.jsonl").symlink_to("/dev/full")
    found = callbench("run", "hotels.jsonl", "--system", "copy", "--out", "full")
    assert found.code == 2
    assert "full/cases.jsonl: No space left on device." in found.err


def test_the_bundled_dataset_is_found_from_anywhere(callbench: Invoke) -> None:
    found = callbench("dataset", "check", "everyday")
    assert found.code == 0
    assert f"{len(load_dataset('everyday').cases)} cases" in found.out
