"""The systems ``stage1``, ``stage2`` and ``fewshot``, from the command line to what the model is asked."""

from __future__ import annotations

import json
import random
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .conftest import SCHEMA, Invoke, write_cases
from .synthetic_model import SyntheticModel
from .test_run import records, without_times

RUN = ("run", "hotels.jsonl", "--model", "synthetic")
RECORD = ("record", "hotels.jsonl", "--model", "synthetic")
FEWSHOT = ("--system", "fewshot")

CITIES = {
    "en": ["Oslo", "Lyon", "Rome", "Bern", "Kyiv"],
    "zh": ["杭州", "苏州", "西安", "成都", "武汉"],
}


def pair(number: int) -> Iterator[dict[str, Any]]:
    """A case in both languages, one cluster."""
    for lang in ("en", "zh"):
        city = CITIES[lang][number]
        asked = f"{number + 1} nights in {city}" if lang == "en" else f"{city}住{number + 1}晚"
        yield {
            "id": f"stay-{number}-{lang}",
            "lang": lang,
            "tool": {"name": "book_hotel", "description": "Book a hotel"},
            "schema": SCHEMA,
            "question": asked,
            "expected": {"city": city, "nights": number + 1},
            "tags": ["odd" if number % 2 else "even"],
            "cluster": f"stay-{number}",
        }


PAIRS = [case for number in range(5) for case in pair(number)]


def asked_case(body: dict[str, Any]) -> dict[str, Any]:
    """The case of ``PAIRS`` that a request is about: its question is in the last message."""
    last = body["messages"][-1]["content"]
    (found,) = [case for case in PAIRS if case["question"] in last]
    return found


def right(body: dict[str, Any]) -> str:
    return json.dumps(asked_case(body)["expected"], ensure_ascii=False)


@pytest.fixture
def pairs(place: Path, model: SyntheticModel) -> Path:
    write_cases(place / "hotels.jsonl", PAIRS)
    model.decide = right
    return place


def change_profile(place: Path, line: str) -> None:
    path = place / "callbench.toml"
    path.write_text(f"{path.read_text(encoding='utf-8')}{line}\n", encoding="utf-8")


def one_each(body: dict[str, Any]) -> str:
    """The city when asked in stage 1, the number of nights when asked in stage 2."""
    talk = json.dumps(body["messages"], ensure_ascii=False)
    found = next(case["expected"] for case in PAIRS if case["question"] in talk)
    key = "city" if body["stream"] else "nights"
    return json.dumps({key: found[key]}, ensure_ascii=False)


@pytest.mark.usefixtures("pairs")
class TestStage1:
    def test_the_recordings_of_the_slot_answer_it_and_stage_2_adds_nothing(
        self, callbench: Invoke, model: SyntheticModel
    ) -> None:
        model.decide = one_each
        assert callbench(*RECORD, "--json").json["exact"]["value"] == 1.0
        asked = len(model.bodies)
        alone = callbench(*RUN, "--system", "stage1", "--json")
        assert alone.code == 0
        assert len(model.bodies) == asked
        (first, *_) = records(alone.json["dir"])
        assert first["slot_data"] == {"city": "Oslo"}
        assert first["calls"] == 1
        verdicts = {slot["pointer"]: slot["verdict"] for slot in first["slots"]}
        assert verdicts == {"/city": "correct", "/nights": "missing"}

    def test_an_unread_reply_is_unparsed(self, callbench: Invoke, model: SyntheticModel) -> None:
        model.decide = lambda body: "sorry"
        told = callbench(*RECORD, "--system", "stage1", "--json").json
        assert told["unparsed"] == told["cases"] == 10

    def test_a_model_for_reasoning_only_will_do(self, callbench: Invoke, place: Path) -> None:
        change_profile(place, 'roles = ["reasoning"]')
        assert callbench(*RECORD).code == 2
        assert callbench(*RECORD, "--system", "stage1").code == 0


@pytest.mark.usefixtures("pairs")
class TestStage2:
    def test_the_function_model_alone_gets_the_slots_prompt_as_the_users_turn(
        self, callbench: Invoke, model: SyntheticModel
    ) -> None:
        model.decide = lambda body: "{}"
        callbench(*RECORD, "--limit", "1")
        prompt = model.bodies[0]["messages"]
        model.bodies.clear()
        model.decide = right
        found = callbench(*RECORD, "--limit", "1", "--system", "stage2", "--json")
        (body,) = model.bodies
        assert body["messages"] == prompt
        assert body["stream"] is False
        assert body["response_format"]["json_schema"]["schema"]["required"] == ["city", "nights"]
        slots = records(found.json["dir"])[0]["slots"]
        assert [slot["stage"] for slot in slots] == ["stage2", "stage2"]
        assert found.json["exact"]["value"] == 1.0

    def test_only_what_is_not_known_is_asked_and_what_is_known_stays(
        self, callbench: Invoke, place: Path, model: SyntheticModel
    ) -> None:
        write_cases(place / "hotels.jsonl", [{**PAIRS[0], "data": {"city": "Oslo"}}])
        model.decide = lambda body: '{"city": "Rome", "nights": 1}'
        found = callbench(*RECORD, "--system", "stage2", "--json")
        schema = model.bodies[0]["response_format"]["json_schema"]["schema"]
        assert set(schema["properties"]) == {"nights"}
        assert records(found.json["dir"])[0]["slot_data"] == {"city": "Oslo", "nights": 1}

    def test_an_unread_reply_is_unparsed(self, callbench: Invoke, model: SyntheticModel) -> None:
        model.decide = lambda body: "sorry"
        told = callbench(*RECORD, "--system", "stage2", "--json").json
        assert told["unparsed"] == told["cases"] == 10

    def test_its_recordings_have_a_file_of_their_own(self, callbench: Invoke, place: Path) -> None:
        assert callbench(*RECORD, "--system", "stage2").code == 0
        names = [path.name for path in (place / "cassettes").iterdir()]
        assert names == ["hotels.synthetic.stage2.cassette.jsonl"]
        assert callbench(*RUN, "--system", "stage2").code == 0
        assert callbench(*RUN).code == 5

    def test_a_function_model_needs_no_other_beside_it(
        self, callbench: Invoke, place: Path
    ) -> None:
        change_profile(place, 'roles = ["function"]')
        whole = callbench(*RECORD)
        assert whole.code == 2
        assert "--system stage2 --model synthetic" in whole.err
        assert callbench(*RECORD, "--system", "stage2").code == 0

    def test_the_second_model_is_the_one_asked(
        self, callbench: Invoke, place: Path, model: SyntheticModel
    ) -> None:
        change_profile(place, f'[models.other]\nbase_url = "{model.url}"\nmodel = "o1"')
        found = callbench(
            *RECORD, "--system", "stage2", "--function-model", "other", "--limit", "1", "--json"
        )
        assert [body["model"] for body in model.bodies] == ["o1"]
        info = json.loads(Path(found.json["dir"], "run.json").read_bytes())
        assert list(info["profiles"]) == ["function"]
        assert info["profiles"]["function"]["name"] == "other"


@pytest.mark.usefixtures("pairs")
class TestFewShotRequests:
    @pytest.mark.parametrize(
        ("words", "shots"), [((), 3), (("--shots", "1"), 1), (("--shots", "0"), 0)]
    )
    def test_system_then_examples_then_the_case(
        self, callbench: Invoke, model: SyntheticModel, words: tuple[str, ...], shots: int
    ) -> None:
        assert callbench(*RECORD, *FEWSHOT, *words).code == 0
        assert len(model.bodies) == 10
        for body in model.bodies:
            roles = [message["role"] for message in body["messages"]]
            assert roles == ["system", *["user", "assistant"] * shots, "user"]
            assert body["stream"] is True

    def test_no_example_is_the_case_its_cluster_or_in_another_language(
        self, callbench: Invoke, model: SyntheticModel
    ) -> None:
        callbench(*RECORD, *FEWSHOT, "--shots", "4")
        for body in model.bodies:
            case = asked_case(body)
            answers = [m["content"] for m in body["messages"] if m["role"] == "assistant"]
            others = [
                other["expected"]
                for other in PAIRS
                if other["lang"] == case["lang"] and other["cluster"] != case["cluster"]
            ]
            assert sorted(map(json.loads, answers), key=str) == sorted(others, key=str)

    def test_the_system_text_is_in_the_language_of_the_case(
        self, callbench: Invoke, model: SyntheticModel
    ) -> None:
        callbench(*RECORD, *FEWSHOT, "--shots", "0")
        for body in model.bodies:
            chinese = "工具" in body["messages"][0]["content"]
            assert chinese == (asked_case(body)["lang"] == "zh")

    def test_the_profile_decides_how_the_model_is_asked(
        self, callbench: Invoke, place: Path, model: SyntheticModel
    ) -> None:
        change_profile(place, "temperature = 0.25\nmax_tokens = 77\nseed = 5")
        callbench(*RECORD, *FEWSHOT, "--limit", "1")
        (body,) = model.bodies
        assert (body["temperature"], body["max_tokens"], body["seed"]) == (0.25, 77, 5)

    def test_the_reply_is_bound_to_the_schema_where_the_profile_says_so(
        self, callbench: Invoke, place: Path, model: SyntheticModel
    ) -> None:
        callbench(*RECORD, *FEWSHOT, "--limit", "1")
        change_profile(place, "reply_mode = 'json_schema'")
        callbench(*RECORD, *FEWSHOT, "--limit", "1")
        callbench(*RECORD, "--limit", "1")
        free, bound, slot = model.bodies[:3]
        assert "response_format" not in free
        assert bound["response_format"] == slot["response_format"]
        assert bound["messages"] == free["messages"]

    def test_which_cases_are_run_and_their_order_change_no_request(
        self, callbench: Invoke, place: Path, model: SyntheticModel
    ) -> None:
        callbench(*RECORD, *FEWSHOT)
        shuffled = random.Random(1).sample(PAIRS, len(PAIRS))
        write_cases(place / "hotels.jsonl", shuffled)
        for words in ((), ("--lang", "zh"), ("--tag", "odd"), ("--limit", "1")):
            assert callbench(*RUN, *FEWSHOT, *words).code == 0

    def test_other_shots_are_other_requests_in_the_same_file(
        self, callbench: Invoke, place: Path, model: SyntheticModel
    ) -> None:
        callbench(*RECORD, *FEWSHOT, "--shots", "1")
        assert callbench(*RUN, *FEWSHOT, "--shots", "2").code == 5
        callbench(*RECORD, *FEWSHOT, "--shots", "2")
        names = [path.name for path in (place / "cassettes").iterdir()]
        assert names == ["hotels.synthetic.fewshot.cassette.jsonl"]
        asked = len(model.bodies)
        for shots in ("1", "2"):
            assert callbench(*RUN, *FEWSHOT, "--shots", shots).code == 0
        assert len(model.bodies) == asked == 20

    def test_nothing_is_asked_when_nothing_is_missing(
        self, callbench: Invoke, place: Path, model: SyntheticModel
    ) -> None:
        known = {**PAIRS[0], "data": PAIRS[0]["expected"]}
        write_cases(place / "hotels.jsonl", [known, *PAIRS[1:]])
        callbench(*RECORD, *FEWSHOT, "--limit", "1")
        assert model.bodies == []


@pytest.mark.usefixtures("pairs")
class TestFewShotScores:
    def test_a_right_answer_scores_and_replays(self, callbench: Invoke) -> None:
        recorded = callbench(*RECORD, *FEWSHOT, "--json").json
        assert (recorded["system"], recorded["exact"]["value"]) == ("fewshot", 1.0)
        replayed = callbench(*RUN, *FEWSHOT, "--json").json
        assert without_times(replayed["dir"]) == without_times(recorded["dir"])

    def test_an_answer_is_read_checked_and_merged_as_the_slot_does_it(
        self, callbench: Invoke, place: Path, model: SyntheticModel
    ) -> None:
        case = {**PAIRS[0], "data": {"city": "Oslo"}}
        write_cases(place / "hotels.jsonl", [case, *PAIRS[1:]])
        model.decide = lambda body: (
            'So:\n```json\n{"city": "Rome", "nights": "many", "stars": 5}\n```'
        )
        found = callbench(*RECORD, *FEWSHOT, "--limit", "1", "--json")
        (record,) = records(found.json["dir"])
        assert record["status"] == "ok"
        assert record["slot_data"] == {"city": "Oslo"}
        verdicts = {slot["pointer"]: slot["verdict"] for slot in record["slots"]}
        assert verdicts == {"/city": "known", "/nights": "wrong_type", "/stars": "undeclared"}

    def test_what_cannot_be_read_is_unparsed(
        self, callbench: Invoke, model: SyntheticModel
    ) -> None:
        model.decide = lambda body: "sorry"
        told = callbench(*RECORD, *FEWSHOT, "--json").json
        assert (told["unparsed"], told["scored"]) == (10, 10)

    def test_repair_reads_what_is_almost_json(
        self, callbench: Invoke, model: SyntheticModel
    ) -> None:
        model.decide = lambda body: right(body).replace("}", ",}")
        assert callbench(*RECORD, *FEWSHOT, "--json").json["unparsed"] == 10
        mended = callbench(*RUN, *FEWSHOT, "--json", "--repair").json
        assert (mended["unparsed"], mended["exact"]["value"]) == (0, 1.0)

    def test_a_failing_endpoint_is_a_provider_error(
        self, callbench: Invoke, model: SyntheticModel
    ) -> None:
        model.decide = lambda body: 400 if asked_case(body) is PAIRS[2] else right(body)
        found = callbench(*RECORD, *FEWSHOT, "--json")
        assert (found.code, found.json["provider_errors"]) == (4, 1)


@pytest.mark.usefixtures("pairs")
class TestFewShotIsNamed:
    def test_run_json_the_report_and_the_terminal_say_system_and_shots(
        self, callbench: Invoke
    ) -> None:
        found = callbench(*RECORD, *FEWSHOT, "--shots", "2", "--out", "run")
        assert "hotels · fewshot · record · 2 shots" in found.out
        info = json.loads(Path("run/run.json").read_bytes())
        assert (info["system"], info["shots"]) == ("fewshot", 2)
        assert "--system fewshot --shots 2" in info["command"]
        page = Path("run/report.md").read_text(encoding="utf-8")
        assert "| system | fewshot |" in page
        assert "| shots | 2 |" in page

    def test_a_run_without_examples_has_no_shots(self, callbench: Invoke) -> None:
        found = callbench(*RECORD, "--out", "run")
        assert "shots" not in found.out
        info = json.loads(Path("run/run.json").read_bytes())
        assert info["shots"] is None
        assert "--shots" not in info["command"]

    def test_the_command_that_a_miss_names_records_it(self, callbench: Invoke) -> None:
        missed = callbench(*RUN, *FEWSHOT)
        assert missed.code == 5
        command = missed.err.partition("To record what is missing: callbench ")[2]
        assert "--system fewshot --shots 3" in command
        assert callbench(*shlex.split(command)).code == 0
        assert callbench(*RUN, *FEWSHOT).code == 0

    @pytest.mark.parametrize("system", ["stage1", "stage2", "fewshot"])
    def test_the_run_is_named_after_it(self, callbench: Invoke, system: str) -> None:
        told = callbench(*RECORD, "--system", system, "--json").json
        assert told["run_id"].endswith(f"-hotels-synthetic-{system}")


@pytest.mark.usefixtures("pairs")
class TestUsage:
    @pytest.mark.parametrize(
        ("words", "told"),
        [
            (("--system", "slot", "--shots", "2"), "--shots is for --system fewshot"),
            (("--system", "copy", "--shots", "2"), "copy shows no examples"),
            (
                (*FEWSHOT, "--shots", "5"),
                "--shots 5 is more than hotels offers: case stay-0-en has 4",
            ),
            ((*FEWSHOT, "--shots", "-1"), "greater than or equal to 0"),
            ((*FEWSHOT, "--prompt", "mine.jinja"), "--prompt"),
            (("--system", "few-shot"), "Did you mean fewshot?"),
        ],
    )
    def test_options_that_do_not_fit_are_exit_2_and_nothing_is_asked(
        self,
        callbench: Invoke,
        place: Path,
        model: SyntheticModel,
        words: tuple[str, ...],
        told: str,
    ) -> None:
        (place / "mine.jinja").write_text("{{ question }}")
        found = callbench(*RECORD, *words)
        assert found.code == 2
        assert told in found.err
        assert model.bodies == []
        assert not (place / "reports").exists()

    def test_too_few_examples_in_one_language_stop_only_runs_over_it(
        self, callbench: Invoke, place: Path
    ) -> None:
        english = [case for case in PAIRS if case["lang"] == "en"]
        write_cases(place / "hotels.jsonl", [*english, PAIRS[1]])
        assert callbench(*RECORD, *FEWSHOT).code == 2
        assert callbench(*RECORD, *FEWSHOT, "--lang", "en").code == 0

    @pytest.mark.parametrize("verb", ["run", "record"])
    def test_help_lists_the_systems(self, callbench: Invoke, verb: str) -> None:
        text = " ".join(callbench(verb, "--help").out.split())
        for word in (
            "slot",
            "stage1",
            "stage2",
            "fewshot",
            "empty",
            "copy",
            "package.module:Class",
        ):
            assert word in text
        assert "--shots" in text

    def test_record_takes_what_run_takes_but_the_mode_and_what_only_replays(
        self, callbench: Invoke
    ) -> None:
        def options(verb: str) -> set[str]:
            shown = callbench(verb, "--help").out.partition("Options:")[2].split()
            return {word for word in shown if word.startswith("--")}

        assert options("run") - options("record") == {
            "--mode", "--impl", "--faults", "--pace", "--jobs",
        }  # fmt: skip
        assert options("record") - options("run") == {"--again"}
        assert callbench(*RECORD, "--mode", "live").code == 2
