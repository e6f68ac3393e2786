"""Reading values out of earlier steps by path."""

from __future__ import annotations

import logging
from types import MappingProxyType
from typing import Any
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corecall.core import CoreCall, DataBase
from corecall.types import ExecutorHistory

extract = CoreCall._extract_history_variables
UPPER = "123E4567-E89B-12D3-A456-426614174000"


def steps(**outputs: dict[str, Any]) -> dict[Any, ExecutorHistory]:
    return {key: ExecutorHistory(stepId=key, outputData=output) for key, output in outputs.items()}


def errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    assert {record.levelno for record in caplog.records} <= {logging.ERROR}
    return [record.getMessage() for record in caplog.records]


class TestPath:
    @pytest.mark.rule("history.path.1")
    def test_the_paths_of_the_seed(self) -> None:
        past = steps(step1={"result": 7}, weather={"data": {"temperature": 25}})
        assert extract("step1/result", past) == 7
        assert extract("weather/data/temperature", past) == 25

    @pytest.mark.rule("history.path.1", "history.path.2")
    @pytest.mark.trap("A2")
    def test_every_key_counts_and_the_step_alone_gives_its_whole_output(self) -> None:
        past = steps(step={"k": {"k": 1}})
        assert extract("step", past) is past["step"].outputData
        assert extract("step/k", past) == {"k": 1}
        assert extract("step/k/k", past) == 1

    @pytest.mark.rule("history.path.3", "history.path.5")
    @pytest.mark.parametrize("value", [0, "", False, [], {}, 0.0])
    def test_falsy_values_come_back_as_the_same_object(
        self, value: Any, caplog: pytest.LogCaptureFixture
    ) -> None:
        past = steps(s={"v": value, "in": {"v": value}})
        assert extract("s/v", past) is past["s"].outputData["v"]
        assert extract("s/in/v", past) is past["s"].outputData["in"]["v"]
        assert errors(caplog) == []

    @pytest.mark.rule("history.path.4")
    def test_a_null_that_is_there_is_not_logged(self, caplog: pytest.LogCaptureFixture) -> None:
        assert extract("s/v", steps(s={"v": None})) is None
        assert errors(caplog) == []

    @pytest.mark.rule("history.path.5")
    def test_what_is_found_is_no_copy(self) -> None:
        past = steps(s={"k": {"list": [1]}})
        extract("s/k", past)["list"].append(2)
        assert extract("s/k/list/1", past) == 2

    @pytest.mark.rule("history.path.12")
    @pytest.mark.parametrize(
        "path",
        [
            pytest.param("s/none/x", marks=pytest.mark.rule("history.path.7")),
            pytest.param("s/number/x", marks=pytest.mark.rule("history.path.7")),
            pytest.param("s/number/0", marks=pytest.mark.rule("history.path.7")),
            pytest.param("s/flag/x", marks=pytest.mark.rule("history.path.7")),
            pytest.param("s/text/ell", marks=pytest.mark.rule("history.path.8")),
            pytest.param("s/text/0", marks=pytest.mark.rule("history.path.8")),
            pytest.param("s/text/", marks=pytest.mark.rule("history.path.8")),
            pytest.param("s/missing", marks=pytest.mark.rule("history.path.6")),
            pytest.param("s/missing/x", marks=pytest.mark.rule("history.path.6")),
            pytest.param("s/NUMBER", marks=pytest.mark.rule("history.path.6")),
            pytest.param("s/number ", marks=pytest.mark.rule("history.path.6")),
            pytest.param("s/ object/", marks=pytest.mark.rule("history.path.6")),
            pytest.param("s/object/", marks=pytest.mark.rule("history.path.10")),
            pytest.param("/s", marks=pytest.mark.rule("history.path.10")),
            pytest.param("s/list/x", marks=pytest.mark.rule("history.path.15")),
            pytest.param("s/list/", marks=pytest.mark.rule("history.path.15")),
            pytest.param("s/list/2", marks=pytest.mark.rule("history.path.15")),
            pytest.param("s/list/-1", marks=pytest.mark.rule("history.path.15")),
            pytest.param("s/list/-", marks=pytest.mark.rule("history.path.15")),
            pytest.param("s/list/01", marks=pytest.mark.rule("history.path.15")),
            pytest.param("s/list/+1", marks=pytest.mark.rule("history.path.15")),
            pytest.param("s/list/1\n", marks=pytest.mark.rule("history.path.15")),
            pytest.param("s/list/1_0", marks=pytest.mark.rule("history.path.15")),
            pytest.param("s/list/１", marks=pytest.mark.rule("history.path.15")),
            pytest.param("s/list/append", marks=pytest.mark.rule("history.path.15")),
            # More digits than Python converts.
            pytest.param("s/list/" + "9" * 5000, marks=pytest.mark.rule("history.path.13")),
            pytest.param("s" + "/x" * 100_000, marks=pytest.mark.rule("history.path.13")),
            pytest.param("\ud800/\udfff", marks=pytest.mark.rule("history.path.13")),
            pytest.param("unknown/x", marks=pytest.mark.rule("history.step.1")),
            pytest.param("unknown", marks=pytest.mark.rule("history.step.1")),
            pytest.param("S/number", marks=pytest.mark.rule("history.step.1")),
            pytest.param("", marks=pytest.mark.rule("history.path.9")),
        ],
    )
    @pytest.mark.trap("A1", "A4")
    def test_what_is_not_there_is_null_and_logged_once(
        self, path: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        past = steps(
            s={
                "none": None,
                "number": 5,
                "text": "hello",
                "flag": True,
                "list": [1, 2],
                "object": {},
            }
        )
        assert extract(path, past) is None
        (message,) = errors(caplog)
        assert repr(path) in message

    @pytest.mark.rule("history.path.12")
    def test_the_log_says_what_was_not_found(self, caplog: pytest.LogCaptureFixture) -> None:
        past = steps(s={"k": {"l": 1}})
        extract("s/k/wrong", past)
        extract("t/k", past)
        first, second = errors(caplog)
        assert "'wrong'" in first
        assert "no step 't'" in second

    @pytest.mark.rule("history.path.9", "history.path.13")
    @pytest.mark.parametrize("path", [None, 5, b"s/k", ["s"], {"s": 1}, UUID(UPPER), True])
    def test_a_path_that_is_no_text_is_null(
        self, path: Any, caplog: pytest.LogCaptureFixture
    ) -> None:
        assert extract(path, {**steps(s={"k": 1}), UUID(UPPER): steps(s={})["s"]}) is None
        assert len(errors(caplog)) == 1

    @pytest.mark.rule("history.path.9")
    def test_the_empty_path_is_not_the_step_with_the_empty_id(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        past = {"": ExecutorHistory(stepId="", outputData={"k": 1})}
        assert extract("", past) is None
        assert len(errors(caplog)) == 1
        assert extract("/k", past) == 1

    @pytest.mark.rule("history.path.13")
    @pytest.mark.parametrize("past", [None, 5, "s", ["s"], {"s": None}, {"s": {"k": 1}}, {"s": []}])
    def test_a_history_that_is_none_is_null(
        self, past: Any, caplog: pytest.LogCaptureFixture
    ) -> None:
        assert extract("s/k", past) is None
        assert len(errors(caplog)) == 1

    @pytest.mark.rule("history.path.10", "history.path.11")
    def test_segments_are_not_unescaped_and_an_empty_one_is_the_empty_key(self) -> None:
        past = steps(s={"a~1b": 1, "a/b": 2, "": {"": 3}, "%41": 4, "A": 5, "a.b": 6, "a\\": 7})
        assert extract("s/a~1b", past) == 1
        assert extract("s/%41", past) == 4
        assert extract("s/a.b", past) == 6
        assert extract("s/a\\", past) == 7
        assert extract("s/", past) == {"": 3}
        assert extract("s//", past) == 3
        assert extract("s/a/b", past) is None

    @pytest.mark.rule("history.path.14")
    def test_lists_are_entered_by_index(self) -> None:
        past = steps(生成={"items": [{"data": {"内容": "abc"}}], "many": list(range(100, 200))})
        assert extract("生成/items/0/data/内容", past) == "abc"
        assert extract("生成/many/99", past) == 199
        assert extract("生成/many/10", past) == 110

    @pytest.mark.rule("history.path.16")
    def test_digits_are_keys_of_an_object(self) -> None:
        past = steps(s={"0": "zero", "01": "one", "-1": "minus", "１": "wide"})
        found = [extract(f"s/{key}", past) for key in ("0", "01", "-1", "１")]
        assert found == ["zero", "one", "minus", "wide"]

    @pytest.mark.rule("history.path.16")
    @pytest.mark.parametrize("key", ["01", "１", "+1", "1.0"])
    def test_a_key_is_compared_as_text(self, key: str) -> None:
        assert extract(f"s/{key}", steps(s={"1": "one"})) is None

    @pytest.mark.rule("history.path.17")
    def test_an_instance_does_it_too(self) -> None:
        class Bare(CoreCall, input_model=DataBase, output_model=DataBase):
            pass

        call = Bare(name="n", description="d")
        assert call._extract_history_variables("s/k", steps(s={"k": 1})) == 1


class TestStep:
    @pytest.mark.rule("history.step.2", "history.step.4")
    @pytest.mark.trap("A3")
    def test_either_spelling_of_a_uuid_finds_the_step(self) -> None:
        record = ExecutorHistory(stepId=UPPER, outputData={"k": 1})
        mixed = UPPER[:8].lower() + UPPER[8:]
        for filed in (UUID(UPPER), UPPER, UPPER.lower(), mixed):
            for asked in (UPPER, UPPER.lower(), mixed):
                assert extract(f"{asked}/k", {"other": record, filed: record}) == 1

    @pytest.mark.rule("history.step.2")
    def test_another_uuid_does_not(self) -> None:
        record = ExecutorHistory(stepId=UPPER, outputData={"k": 1})
        assert extract(f"{UPPER[:-1]}1/k", {UUID(UPPER): record, UPPER: record}) is None

    @pytest.mark.rule("history.step.3")
    @pytest.mark.parametrize(
        "spelled",
        [UPPER.replace("-", ""), f"{{{UPPER}}}", f"urn:uuid:{UPPER}", f" {UPPER}", f"{UPPER}\n"],
    )
    def test_other_writings_are_other_ids(self, spelled: str) -> None:
        record = ExecutorHistory(stepId=spelled, outputData={"k": 1})
        assert extract(f"{spelled}/k", {UUID(UPPER): record}) is None
        assert extract(f"{spelled}/k", {record.stepId: record}) == 1

    @pytest.mark.rule("history.step.4")
    def test_any_map_will_do(self) -> None:
        assert extract("s/k", MappingProxyType(steps(s={"k": 1}))) == 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
)
paths = st.lists(
    st.sampled_from(["a", "b", "", "0", "1", "01", "-1"]) | st.text(max_size=3), min_size=1
).map("/".join)


class TestProperties:
    @pytest.mark.rule(
        "history.path.1", "history.path.2", "history.path.5", "history.path.13", "history.path.16"
    )
    @given(
        st.dictionaries(
            st.sampled_from("ab") | st.text(max_size=3),
            st.dictionaries(st.sampled_from(["a", "b", "", "0"]), json_values),
        ),
        paths,
    )
    def test_it_never_raises_and_agrees_with_plain_navigation(
        self, outputs: dict[str, dict[str, Any]], path: str
    ) -> None:
        past = steps(**outputs)

        def navigate() -> Any:
            first, *rest = path.split("/")
            value: Any = past[first].outputData
            for segment in rest:
                if isinstance(value, list):
                    if segment not in [str(index) for index in range(len(value))]:
                        raise KeyError(segment)
                    value = value[int(segment)]
                elif isinstance(value, dict):
                    value = value[segment]
                else:
                    raise KeyError(segment)
            return value

        try:
            expected = navigate() if path else None
        except KeyError:
            expected = None
        assert extract(path, past) is expected

    @pytest.mark.rule("history.path.3", "history.path.11", "history.path.14")
    @given(
        st.lists(
            st.text(max_size=4).filter(lambda key: "/" not in key) | st.integers(0, 2), max_size=5
        ),
        json_values,
    )
    @example([], {})
    def test_a_value_put_somewhere_is_found_there(self, way: list[str | int], value: Any) -> None:
        kept = value
        for step in reversed(way):
            value = {step: value} if isinstance(step, str) else [*range(step), value]
        path = "/".join(["s", "top", *map(str, way)])
        assert extract(path, steps(s={"top": value})) is kept

    @pytest.mark.rule("history.path.13")
    @given(
        st.one_of(json_values, st.text(), st.binary()), st.one_of(json_values, st.builds(object))
    )
    def test_whatever_it_is_given_it_does_not_raise(self, path: Any, past: Any) -> None:
        assert extract(path, past) is None
