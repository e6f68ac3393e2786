"""BFCL: accept-lists, the omit mark, nested alternatives, several calls, irrelevance."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from callbench.errors import DatasetError, UsageError
from callbench.scoring.outcome import Outcome
from callbench.scoring.verdict import score_case

Import = Callable[..., Any]
Lines = Callable[..., Path]

BOOK = {
    "name": "hotel.book",
    "description": "Books.",
    "parameters": {
        "type": "dict",
        "properties": {
            "city": {"type": "string"},
            "nights": {"type": "integer"},
            "price": {"type": "float"},
            "room": {"type": "string", "enum": ["single", "double"]},
            "guest": {
                "type": "dict",
                "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
            },
            "stops": {"type": "array", "items": {"type": "dict"}},
            "first name": {"type": "string"},
        },
        "required": ["city"],
    },
}
FIND = {"name": "find", "parameters": {"type": "dict", "properties": {"q": {"type": "string"}}}}


def question(name: str, text: str = "Book in Oslo", *tools: dict[str, Any]) -> dict[str, Any]:
    """A question with its tools."""
    return {
        "id": name,
        "question": [[{"role": "user", "content": text}]],
        "function": list(tools or (BOOK,)),
    }


@pytest.fixture
def simple(lines: Lines, imported: Import) -> Callable[..., Any]:
    """Import one question with this gold of ``hotel.book``."""

    def run(gold: dict[str, Any], **asked: Any) -> Any:
        file = lines("BFCL_v4_simple_python.json", {**question("simple_0"), **asked})
        lines(
            "possible_answer/BFCL_v4_simple_python.json",
            {"id": "simple_0", "ground_truth": [{"hotel.book": gold}]},
        )
        return imported("bfcl", file)

    return run


class TestAcceptLists:
    def test_the_first_is_expected_and_the_rest_accepted(self, simple: Import) -> None:
        (record,) = simple({"city": ["Oslo", "OSL", "Oslo, Norway"]}).records
        assert record["expected"] == {"city": "Oslo"}
        assert record["accept"] == {"/city": {"values": ["OSL", "Oslo, Norway"]}}

    def test_the_empty_text_is_no_value_that_the_enum_refuses(self, simple: Import) -> None:
        """As in live_multiple: the default is empty and the enum has no such member."""
        tool = {"name": "hotel.book", "parameters": {"type": "dict", "properties": {
            "city": {"type": "string"},
            "room": {"type": "string", "enum": ["single", "double"], "default": ""},
            "note": {"type": "string", "default": ""}}}}  # fmt: skip
        gold = {"city": ["Oslo"], "room": [""], "note": [""]}
        found = simple(gold, function=[tool])
        assert found.records[0]["expected"] == {"city": "Oslo", "note": ""}
        assert not found.report["defects"]

    def test_the_empty_text_means_may_be_left_out(self, simple: Import) -> None:
        (record,) = simple({"city": ["Oslo"], "nights": ["", 2, 3]}).records
        assert record["expected"] == {"city": "Oslo", "nights": 2}
        assert record["accept"] == {"/nights": {"values": [3], "may_omit": True}}

    @pytest.mark.trap("D5")
    def test_alone_it_expects_nothing(self, simple: Import) -> None:
        """TRAPS D5: the mark is no value, so a text that is empty would be wrong."""
        found = simple({"city": ["Oslo"], "room": [""]})
        assert found.records[0]["expected"] == {"city": "Oslo"}
        assert "accept" not in found.records[0]
        assert not found.report["defects"]

    def test_where_the_schema_knows_it_the_empty_text_is_a_value_too(self, simple: Import) -> None:
        tool = json.loads(json.dumps(BOOK))
        tool["parameters"]["properties"]["room"]["enum"].append("")
        (record,) = simple({"city": ["Oslo"], "room": ["single", ""]}, function=[tool]).records
        assert record["accept"]["/room"] == {"values": [""], "may_omit": True}

    def test_an_object_has_lists_at_its_leaves(self, simple: Import) -> None:
        gold = {"city": ["Oslo"], "guest": [{"name": ["Ann", "Anne"], "age": ["", 30]}]}
        (record,) = simple(gold).records
        assert record["expected"]["guest"] == {"name": "Ann", "age": 30}
        assert record["accept"] == {
            "/guest/name": {"values": ["Anne"]},
            "/guest/age": {"may_omit": True},
        }

    def test_alternatives_of_an_object_are_written_out(self, simple: Import) -> None:
        gold = {
            "city": ["Oslo"],
            "guest": [{"name": ["Ann"]}, {"name": ["A", "B"], "age": ["", 1]}],
        }
        (record,) = simple(gold).records
        assert record["expected"]["guest"] == {"name": "Ann"}
        assert record["accept"]["/guest"]["values"] == [
            {"name": "A"}, {"name": "A", "age": 1}, {"name": "B"}, {"name": "B", "age": 1}]  # fmt: skip

    def test_a_list_of_objects_has_them_too(self, simple: Import) -> None:
        gold = {"city": ["Oslo"], "stops": [[{"at": ["A", "a"]}, {"at": ["B"]}]]}
        (record,) = simple(gold).records
        assert record["expected"]["stops"] == [{"at": "A"}, {"at": "B"}]
        assert record["accept"] == {"/stops/0/at": {"values": ["a"]}}

    def test_two_objects_deep_the_schema_tells_a_list_from_accepted_values(
        self, simple: Import
    ) -> None:
        tool = json.loads(json.dumps(BOOK))
        tool["parameters"]["properties"]["guest"]["properties"]["home"] = {
            "type": "dict",
            "properties": {"tags": {"type": "array"}, "town": {"type": "string"}},
        }
        gold = {"city": ["Oslo"], "guest": [{"home": [{"tags": ["a", "b"], "town": ["X", "Y"]}]}]}
        (record,) = simple(gold, function=[tool]).records
        assert record["expected"]["guest"] == {"home": {"tags": ["a", "b"], "town": "X"}}
        assert record["accept"] == {"/guest/home/town": {"values": ["Y"]}}

    def test_names_are_kept_whatever_is_in_them(self, simple: Import) -> None:
        (record,) = simple({"city": ["Oslo"], "first name": ["A/b", "c"]}).records
        assert record["tool"]["name"] == "hotel.book"
        assert record["accept"] == {"/first name": {"values": ["c"]}}

    def test_every_accepted_way_scores_one(self, simple: Import) -> None:
        gold = {"city": ["Oslo", "OSL"], "nights": ["", 2], "guest": [{"name": ["Ann", "Anne"]}]}
        (case,) = simple(gold).cases
        for city in ("Oslo", "OSL"):
            for name in ("Ann", "Anne"):
                for nights in ({}, {"nights": 2}):
                    given = {"city": city, "guest": {"name": name}, **nights}
                    assert score_case(case, Outcome(slot_data=given)).exact
        wrong = {"city": "Bergen", "guest": {"name": "Ann"}}
        assert not score_case(case, Outcome(slot_data=wrong)).exact


class TestDefects:
    @pytest.mark.parametrize(
        ("gold", "place", "kind"),
        [
            ({"city": ["Oslo"], "nights": ["two"]}, "/expected/nights", "breaks-schema"),
            ({"city": ["Oslo"], "nights": [2, "2"]}, "/accept/~1nights/values/0", "breaks-schema"),
            ({"city": ["Oslo"], "room": ["triple"]}, "/expected/room", "outside-enum"),
            (
                {"city": ["Oslo"], "room": ["single", "x"]},
                "/accept/~1room/values/0",
                "outside-enum",
            ),
            ({"city": [None]}, "/expected/city", "null-for-non-null"),
            ({"city": ["Oslo", ""]}, "/accept/~1city/may_omit", "required-but-omittable"),
            ({"city": [""]}, "/expected/city", "required-but-omittable"),
            ({"city": []}, "/expected/city", "required-but-absent"),
            ({"nights": [2]}, "/expected/city", "required-but-absent"),
            ({"city": ["Oslo"], "nights": []}, "/expected/nights", "misaligned"),
            ({"city": ["Oslo"], "town": ["Oslo"]}, "/expected/town", "unknown-parameter"),
            ({"city": ["Oslo"], "guest": ['{"a": 1}']}, "/expected/guest", "double-escaped"),
            ({"city": ["Rome"]}, "/expected/city", "not-in-case"),
            ({"city": ["Oslo"], "nights": [7]}, "/expected/nights", "not-in-case"),
        ],
    )
    def test_each_is_declared_at_its_field_and_mends_nothing(
        self, simple: Import, gold: dict[str, Any], place: str, kind: str
    ) -> None:
        found = simple(gold)
        assert found.kinds()[f"simple_0 {place}"] == kind
        (record,) = found.records
        declared = kind != "not-in-case"
        assert (record.get("defects", {}).get(place) == kind) is declared
        assert ("gold-defect" in record["tags"]) is (declared or "defects" in record)
        given = {name: values[0] for name, values in gold.items() if values and values[0] != ""}
        assert record["expected"] == given

    def test_an_accepted_value_that_is_said_suffices(self, simple: Import) -> None:
        assert not simple({"city": ["Christiania", "Oslo"]}).report["defects"]


class TestCalls:
    def test_one_case_per_call_with_the_earlier_ones_as_steps(
        self, lines: Lines, imported: Import
    ) -> None:
        file = lines("BFCL_v4_parallel.json", question("p_0", "Book Oslo, find Rome", BOOK, FIND))
        lines(
            "possible_answer/BFCL_v4_parallel.json",
            {"id": "p_0", "ground_truth": [{"hotel.book": {"city": ["Oslo", "OSL"]}},
                                           {"find": {"q": ["Rome"]}}]},
        )  # fmt: skip
        first, second = imported("bfcl", file).records
        assert (first["id"], second["id"]) == ("p_0", "p_0/2")
        assert first["cluster"] == second["cluster"] == "p_0"
        assert "steps" not in first
        assert second["steps"] == [
            {"step_id": "call-1", "step_name": "hotel.book",
             "output_data": {"arguments": {"city": "Oslo"}}}]  # fmt: skip
        assert second["tool"]["name"] == "find"
        assert {"multiple-tools", "parallel-call", "parallel", "bfcl"} <= set(second["tags"])

    def test_what_is_no_case_is_counted_with_its_reason(
        self, lines: Lines, imported: Import
    ) -> None:
        file = lines(
            "BFCL_v4_multiple.json", question("a"), question("b"), question("c"), question("d")
        )
        lines(
            "possible_answer/BFCL_v4_multiple.json",
            {"id": "a", "ground_truth": [{"hotel.book": {"city": ["Oslo"]}}, {"none": {}}]},
            {"id": "b", "ground_truth": []},
            {"id": "d", "ground_truth": ["text"]},
            {"id": "e", "ground_truth": []},
        )
        report = imported("bfcl", file).report
        assert report["excluded"] == {
            "no-call": 1, "no-gold": 1, "no-question": 1, "other-gold": 1, "unknown-tool": 1}  # fmt: skip
        assert (report["records"], report["items"], report["cases"]) == (5, 6, 1)

    @pytest.mark.trap("D5")
    def test_gold_written_as_python(self, lines: Lines, imported: Import) -> None:
        """TRAPS D5: here an empty text is a value, and a list is no list of alternatives."""
        entry = {
            **question("exec_0"),
            "ground_truth": ["hotel.book(city='', stops=[{'at': [1, 2]}], price=-1.5)"],
        }
        (record,) = imported("bfcl", lines("BFCL_v3_exec_simple.json", entry)).records
        assert record["expected"] == {"city": "", "stops": [{"at": [1, 2]}], "price": -1.5}

    def test_multi_turn_categories_are_out_of_scope(self, lines: Lines, imported: Import) -> None:
        entry = {
            "id": "m",
            "question": [[{"role": "user", "content": "x"}]],
            "involved_classes": [],
        }
        file = lines("BFCL_v4_multi_turn_base.json", entry)
        found = imported("bfcl", file)
        assert found.report["excluded"] == {"multi-turn": 1}
        assert not found.records

    @pytest.mark.parametrize(
        ("category", "entry", "kind"),
        [
            ("memory", {"involved_classes": ["MemoryAPI"]}, "agentic"),
            ("web_search", {"involved_classes": ["WebSearchAPI"]}, "agentic"),
            ("live_relevance", {"function": [BOOK]}, "any-call"),
            ("multi_turn_miss_func", {"involved_classes": []}, "multi-turn"),
        ],
    )
    def test_categories_without_a_gold_call_say_what_they_are(
        self, lines: Lines, imported: Import, category: str, entry: dict[str, Any], kind: str
    ) -> None:
        """Given alone, with no gold beside them: each record is counted, and no gold is asked for."""
        asked = {"question": [[{"role": "user", "content": "x"}]], **entry}
        file = lines(f"BFCL_v4_{category}.json", {"id": "a", **asked}, {"id": "b", **asked})
        assert imported("bfcl", file).report["excluded"] == {kind: 2}

    def test_the_whole_directory_with_the_list_of_prompt_variants(
        self, lines: Lines, imported: Import, tmp_path: Path
    ) -> None:
        lines("d/BFCL_v4_live_irrelevance.json", question("i", "Hello", BOOK),
              {**question("j"), "function": []})  # fmt: skip
        (tmp_path / "d/BFCL_v4_format_sensitivity.json").write_text(
            '{\n "simple_python": ["simple_python_58",\n "simple_python_94"]\n}\n'
        )
        found = imported("bfcl", tmp_path / "d")
        assert found.report["excluded"] == {"no-tool": 1, "prompt-variants": 1}
        assert [record["id"] for record in found.records] == ["i"]

    def test_gold_one_directory_up(self, lines: Lines, imported: Import) -> None:
        file = lines("question/BFCL_v4_simple_python.json", question("s"))
        lines("possible_answer/BFCL_v4_simple_python.json",
              {"id": "s", "ground_truth": [{"hotel.book": {"city": ["Oslo"]}}]})  # fmt: skip
        assert imported("bfcl", file).records[0]["expected"] == {"city": "Oslo"}

    def test_written_calls_beside_the_questions(self, lines: Lines, imported: Import) -> None:
        file = lines("BFCL_v4_exec_parallel.json", question("s"))
        lines("possible_answer/BFCL_v4_exec_parallel.json",
              {"id": "s", "ground_truth": ["hotel.book(city='Oslo')", "hotel.book(city='Rome')"]})  # fmt: skip
        found = imported("bfcl", file)
        assert [record["expected"]["city"] for record in found.records] == ["Oslo", "Rome"]

    @pytest.mark.parametrize(
        ("written", "expected"),
        [
            ("('a', (1, 2.5))", ["a", [1, 2.5]]),
            ("{'k': (None, True)}", {"k": [None, True]}),
            ("{1: 2}", None),
            ("{'a', 'b'}", None),
            ("b'x'", None),
            ("1e999", None),
            ("1j", None),
            ("f()", None),
        ],
    )
    def test_a_python_value_is_written_as_json_or_left_out(
        self, lines: Lines, imported: Import, written: str, expected: Any
    ) -> None:
        tool = {"name": "f", "parameters": {"type": "dict", "properties": {"x": {"type": "any"}}}}
        entry = {**question("s"), "function": [tool], "ground_truth": [f"f(x={written})"]}
        file = lines(
            "BFCL_v3_exec_simple.json", entry, {**entry, "id": "t", "ground_truth": ["f()"]}
        )
        found = imported("bfcl", file)
        values = [record["expected"]["x"] for record in found.records if record["id"] == "s"]
        assert values == ([] if expected is None else [expected])
        assert found.report["excluded"] == ({"other-gold": 1} if expected is None else {})

    def test_positional_arguments_are_left_out(self, lines: Lines, imported: Import) -> None:
        entry = {**question("s"), "ground_truth": ["hotel.book('Oslo', city='Oslo')"]}
        file = lines("BFCL_v3_exec_simple.json", entry,
                     {**entry, "id": "t", "ground_truth": ["hotel.book(city='Oslo')"]})  # fmt: skip
        assert imported("bfcl", file).report["excluded"] == {"other-gold": 1}

    def test_more_alternatives_than_a_case_can_list(self, lines: Lines, imported: Import) -> None:
        """An object of seven accept-lists of two has 128 forms."""
        names = "abcdefg"
        inner = {"type": "dict", "properties": {name: {"type": "integer"} for name in names}}
        tool = {"name": "f", "parameters": {"type": "dict", "properties": {"x": inner}}}
        forms = {name: [1, 2] for name in names}
        asked = {"question": [[{"role": "user", "content": "q"}]], "function": [tool]}
        file = lines("BFCL_v4_simple_python.json", {"id": "s", **asked}, {"id": "t", **asked})
        lines("possible_answer/BFCL_v4_simple_python.json",
              {"id": "s", "ground_truth": [{"f": {"x": [{"a": [1]}, forms]}}]},
              {"id": "t", "ground_truth": [{"f": {"x": [forms]}}]})  # fmt: skip
        found = imported("bfcl", file)
        assert found.report["excluded"] == {"too-many-alternatives": 1}
        assert [record["id"] for record in found.records] == ["t"]

    def test_a_question_that_stands_twice_has_its_gold_twice(
        self, lines: Lines, imported: Import
    ) -> None:
        file = lines("BFCL_v4_simple_python.json", question("s"), question("s"))
        lines("possible_answer/BFCL_v4_simple_python.json",
              {"id": "s", "ground_truth": [{"hotel.book": {"city": ["Oslo"]}}]})  # fmt: skip
        found = imported("bfcl", file)
        assert [record["expected"] for record in found.records] == [{"city": "Oslo"}] * 2
        assert found.report["defects"] == {"misaligned": 1}

    def test_a_second_gold_of_an_id_is_not_lost(self, lines: Lines, imported: Import) -> None:
        file = lines("BFCL_v4_simple_python.json", question("s"))
        lines(
            "possible_answer/BFCL_v4_simple_python.json",
            {"id": "s", "ground_truth": [{"hotel.book": {"city": ["Oslo"]}}]},
            {"id": "s", "ground_truth": [{"hotel.book": {"city": ["Rome"]}}]},
        )
        found = imported("bfcl", file)
        assert [record["expected"] for record in found.records] == [{"city": "Oslo"}]
        assert found.report["excluded"] == {"repeated-gold": 1}

    @pytest.mark.parametrize(
        ("content", "text"),
        [
            ([{"type": "text", "text": "Book in"}, {"type": "text", "text": "Oslo"}],
             "Book in\nOslo"),
            ("Book in Oslo", "Book in Oslo"),
        ],
    )  # fmt: skip
    def test_a_message_in_parts_is_their_text(
        self, simple: Import, content: Any, text: str
    ) -> None:
        asked = {"question": [[{"role": "user", "content": content}]]}
        assert simple({"city": ["Oslo"]}, **asked).records[0]["question"] == text

    def test_an_empty_question_asks_nothing(self, lines: Lines, imported: Import) -> None:
        file = lines("BFCL_v4_live_irrelevance.json", question("i", " "), question("j"))
        assert imported("bfcl", file).report["excluded"] == {"no-question": 1}


def test_irrelevance_expects_nothing_and_supports_nothing(lines: Lines, imported: Import) -> None:
    file = lines("BFCL_v4_live_irrelevance.json", question("i", "Hello", BOOK, FIND))
    found = imported("bfcl", file)
    (record,) = found.records
    assert record["expected"] == {}
    assert record["unfillable"] == [
        "/city", "/nights", "/price", "/room", "/guest", "/stops", "/first name"]  # fmt: skip
    assert {"irrelevance", "live_irrelevance", "multiple-tools"} <= set(record["tags"])
    assert score_case(found.cases[0], Outcome(slot_data={})).exact
    assert not score_case(found.cases[0], Outcome(slot_data={"city": "Oslo"})).exact


def test_the_conversation_is_what_came_before_the_last_question(
    simple: Callable[..., Any],
) -> None:
    turns = [[{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi"}],
             [{"role": "assistant", "content": "Hello"}, {"role": "user", "content": "Oslo"}]]  # fmt: skip
    (record,) = simple({"city": ["Oslo"]}, question=turns).records
    assert record["question"] == "Oslo"
    assert [(each["role"], each["content"]) for each in record["conversation"]] == [
        ("system", "Be kind."), ("user", "Hi"), ("assistant", "Hello")]  # fmt: skip


class TestFiles:
    def test_a_directory_or_zip_is_all_its_categories(
        self, lines: Lines, imported: Import, tmp_path: Path
    ) -> None:
        lines("set/BFCL_v4_simple_python.json", question("s"))
        lines("set/possible_answer/BFCL_v4_simple_python.json",
              {"id": "s", "ground_truth": [{"hotel.book": {"city": ["Oslo"]}}]})  # fmt: skip
        lines("set/BFCL_v4_irrelevance.json", question("i"))
        with zipfile.ZipFile(tmp_path / "set.zip", "w") as archive:
            for file in sorted((tmp_path / "set").rglob("*.json")):
                archive.write(file, file.relative_to(tmp_path).as_posix())
        plain = imported("bfcl", tmp_path / "set")
        zipped = imported("bfcl", tmp_path / "set.zip")
        assert [record["id"] for record in plain.records] == ["i", "s"]
        assert plain.records == zipped.records

    def test_gold_by_name(self, lines: Lines, imported: Import) -> None:
        file = lines("questions.jsonl", question("s"))
        gold = lines(
            "gold.jsonl", {"id": "s", "ground_truth": [{"hotel.book": {"city": ["Oslo"]}}]}
        )
        with pytest.raises(UsageError, match="--gold"):
            imported("bfcl", file)
        assert imported("bfcl", file, extra={"gold": gold}).report["cases"] == 1

    def test_another_format_is_refused_with_its_line(self, lines: Lines, imported: Import) -> None:
        file = lines("BFCL_v4_simple_python.json", {"prompt": "x"})
        with pytest.raises(DatasetError, match=r"simple_python\.json:1: no BFCL question"):
            imported("bfcl", file)
