"""The summary row of a run, by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pytest

from callbench.report import Prices, summarize
from callbench.report.summary import counts_of
from callbench.scoring import CaseScore, SlotScore

Make = Callable[..., dict[str, Any]]


@pytest.fixture
def row(make_record: Make) -> dict[str, Any]:
    s1, s2 = {"stage": "stage1"}, {"stage": "stage2", "type": "integer"}
    return summarize(
        "m",
        [
            make_record("a", ("/x", "correct", s1), ("/y", "correct", s2), tags=["t", "u"]),
            make_record(
                "b", ("/x", "wrong_value", s1), ("/y", "missing", {"type": "integer"}), tags=["t"]
            ),
            make_record("c", ("/x", "known", {}), ("/z", "hallucinated", s2), lang="zh"),
            make_record("d", ("/x", "missing", {}), lang="zh", status="unparsed"),
            make_record(
                "e",
                status="provider_error",
                lang="zh",
                prompt_tokens=None,
                completion_tokens=None,
                calls=0,
            ),
        ],
    )


def test_overall(row: dict[str, Any]) -> None:
    assert row["name"] == "m"
    assert (row["cases"], row["scored"], row["unparsed"], row["provider_errors"]) == (5, 4, 1, 1)
    assert row["exact"]["value"] == 1 / 4
    assert (row["slot_precision"]["value"], row["slot_precision"]["n"]) == (2 / 4, 4)
    assert (row["slot_recall"]["value"], row["slot_recall"]["n"]) == (2 / 5, 5)
    assert row["slot_f1"]["value"] == 4 / 9
    assert row["schema_valid"]["value"] == 3 / 4


def test_verdicts_and_rungs_are_counted(row: dict[str, Any]) -> None:
    assert row["verdicts"] == {
        "correct": 2,
        "hallucinated": 1,
        "known": 1,
        "missing": 2,
        "wrong_value": 1,
    }
    assert row["rungs"] == {"json": 2}


def test_slices_add_up_to_the_whole(row: dict[str, Any]) -> None:
    by = row["by"]
    assert {key: one["cases"] for key, one in by["lang"].items()} == {"en": 2, "zh": 3}
    assert by["lang"]["en"]["exact"]["value"] == 1 / 2
    assert (by["lang"]["zh"]["scored"], by["lang"]["zh"]["provider_errors"]) == (2, 1)
    assert {key: one["cases"] for key, one in by["tag"].items()} == {"t": 2, "u": 1}
    assert {key: (one["tp"], one["fp"], one["fn"]) for key, one in by["type"].items()} == {
        "integer": (1, 1, 1),
        "string": (1, 1, 2),
    }
    assert by["type"]["integer"]["slot_f1"]["value"] == 1 / 2


def test_stages_say_how_much_of_what_they_filled_was_right(row: dict[str, Any]) -> None:
    stages = row["by"]["stage"]
    assert (stages["stage1"]["tp"], stages["stage1"]["fp"]) == (1, 1)
    assert (stages["stage2"]["tp"], stages["stage2"]["fp"]) == (1, 1)
    assert stages["stage2"]["slot_precision"]["value"] == 1 / 2
    assert set(stages) == {"stage1", "stage2"}


def test_tokens_and_calls_are_summed(row: dict[str, Any]) -> None:
    assert (row["calls"], row["prompt_tokens"], row["completion_tokens"]) == (4, 400, 40)
    assert row["cases_without_usage"] == 0
    assert row["cost"] is None


def test_cost_follows_the_prices_per_million(make_record: Make) -> None:
    records = [make_record("a", prompt_tokens=1_000_000, completion_tokens=500_000)]
    row = summarize("m", records, Prices(2.0, 6.0, "EUR"))
    assert row["cost"] == {"value": 5.0, "currency": "EUR"}


def test_cost_is_unknown_where_a_call_told_no_usage(make_record: Make) -> None:
    records = [make_record("a"), make_record("b", prompt_tokens=None)]
    row = summarize("m", records, Prices(2.0, 6.0))
    assert (row["cost"], row["cases_without_usage"]) == (None, 1)


@pytest.mark.parametrize("count", [1, 2, 7, 100])
def test_latencies_are_interpolated_as_pandas_does(make_record: Make, count: int) -> None:
    times = [float((index * 37) % 101) for index in range(count)]
    records = [
        make_record(str(index), timing={"ms": ms, "first_event_ms": None})
        for index, ms in enumerate(times)
    ]
    row = summarize("m", records)
    series = pd.Series(times)
    assert row["latency_ms"]["p50"] == pytest.approx(series.quantile(0.5), abs=1e-3)
    assert row["latency_ms"]["p95"] == pytest.approx(series.quantile(0.95), abs=1e-3)
    assert row["latency_ms"]["n"] == count
    assert row["first_event_ms"] == {"p50": None, "p95": None, "n": 0}


def test_a_provider_error_has_no_latency(make_record: Make) -> None:
    row = summarize("m", [make_record("a", status="provider_error")])
    assert row["latency_ms"] == {"p50": None, "p95": None, "n": 0}


def test_a_row_over_nothing_has_the_same_shape(row: dict[str, Any]) -> None:
    nothing = summarize("empty", [])
    assert nothing.keys() == row.keys()
    assert nothing["exact"]["value"] is None


@pytest.mark.trap("E3")
def test_e3_records_are_taken_one_at_a_time(make_record: Make) -> None:
    alive = 0
    most = 0

    class Tracked(dict[str, Any]):
        def __init__(self, record: dict[str, Any]) -> None:
            nonlocal alive, most
            super().__init__(record)
            alive += 1
            most = max(most, alive)

        def __del__(self) -> None:
            nonlocal alive
            alive -= 1

    def stream() -> Iterator[dict[str, Any]]:
        for index in range(200):
            yield Tracked(make_record(str(index), ("/a", "correct", {})))

    assert summarize("m", stream())["cases"] == 200
    assert most <= 3


def test_recorded_and_judged_slots_count_alike() -> None:
    names = ["correct", "wrong_value", "wrong_type", "missing", "hallucinated", "undeclared",
             "correctly_omitted", "not_asked", "known"]  # fmt: skip
    slots = tuple(SlotScore(f"/{name}", name, "string", False) for name in names)
    score = CaseScore("ok", False, False, True, slots=slots)
    assert score.counts == counts_of({"verdict": name} for name in names) == (1, 4, 3)
