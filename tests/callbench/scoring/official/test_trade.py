"""``jga-trade``: the table as published, read off the paper's code by hand."""

from __future__ import annotations

import pytest

from callbench.dataset import Accept, Case, Tool
from callbench.scoring.official import SCORERS
from callbench.scoring.official.trade import GENERAL, mended, slot_name

JUDGE = SCORERS["jga-trade"].judge


def case(tool: str = "hotel", **expected: object) -> Case:
    return Case("c", "en", Tool(tool), {"type": "object"}, "q", expected)


@pytest.mark.parametrize(
    ("slot", "value", "wanted"),
    [
        ("attraction-type", "guesthouse", "guest house"),
        ("attraction-type", "mus", "museum"),
        ("attraction-type", "art", "none"),
        ("attraction-type", "science", "none"),
        ("attraction-type", "college", "college"),
        ("hotel-type", "bed and breakfast", "none"),
        ("hotel-type", "3 star hotel", "hotel"),
        ("hotel-type", "4 stars", "hotel"),  # "4" first, and that is a hotel
        ("hotel-stars", "4 stars", "4"),
        ("hotel-internet", "4", "none"),
        ("hotel-internet", "free", "yes"),
        ("hotel-internet", "free internet", "yes"),
        ("hotel-parking", "free", "free"),
        ("hotel-pricerange", "2", "none"),
        ("restaurant-pricerange", "2", "2"),
        ("restaurant-pricerange", "ch", "cheap"),
        ("restaurant-area", "mo", "none"),  # moderate is no area
        ("restaurant-area", "cent", "centre"),
        ("restaurant-area", "no", "north"),
        ("restaurant-area", "n", "north"),  # "no" first
        ("restaurant-area", "we", "west"),
        ("restaurant-area", "cambridge", "none"),
        ("hotel-area", "cambridge", "cambridge"),
        ("attraction-area", "mus", "none"),  # "museum" first, outside the areas
        ("hotel-book day", "we", "wednesday"),
        ("train-day", "no", "none"),
        ("train-day", "t", "none"),
        ("train-day", "monda", "monday"),
        ("train-leaveat", "", "none"),
        ("taxi-departure", "we", "we"),
    ],
)
def test_values_are_mended_as_published(slot: str, value: str, wanted: str) -> None:
    assert mended(slot, value) == wanted


def test_the_general_table_is_whole() -> None:
    # 18 of types, 19 of areas, 5 of prices and days, 5 of parking, internet, stars, 13 others.
    assert len(GENERAL) == 60


def test_slots_are_named_by_domain() -> None:
    assert slot_name(case("find_hotel"), "area") == "hotel-area"
    assert slot_name(case("find_hotel"), "hotel-area") == "hotel-area"
    assert slot_name(case("find_hotel"), "price_range") == "hotel-pricerange"
    assert slot_name(case("weather"), "area") == "area"


def test_gold_scores_one_and_any_mutated_slot_zero() -> None:
    gold = case(area="center", type="guesthouse", stars=4)
    assert JUDGE(gold, gold.expected)["joint"] == 1
    assert JUDGE(gold, {"area": "Centre ", "type": "guest house", "stars": "4"})["joint"] == 1
    for name in gold.expected:
        assert JUDGE(gold, {**gold.expected, name: "other"}) == {
            "joint": 0,
            "wrong": [f"hotel-{name}"],
        }
        dropped = {key: value for key, value in gold.expected.items() if key != name}
        assert JUDGE(gold, dropped)["joint"] == 0
    assert JUDGE(gold, {**gold.expected, "parking": "yes"})["joint"] == 0
    assert JUDGE(gold, None)["joint"] == 0
    assert JUDGE(case(), None)["joint"] == 0


def test_none_is_a_slot_left_open_and_variants_do_not_count() -> None:
    gold = Case(
        "c", "en", Tool("hotel"), {"type": "object"}, "q", {"name": "A and B"},
        accept={"/name": Accept(("A & B",))},
    )  # fmt: skip
    for empty in ("none", "not mentioned", "", None):
        assert JUDGE(gold, {**gold.expected, "area": empty})["joint"] == 1
    assert JUDGE(gold, {"name": "A & B"})["joint"] == 0
