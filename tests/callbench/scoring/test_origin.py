"""Where a wrong value came from (TRAPS D8: on borders of words and numbers)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from callbench.dataset import Case, Step, Tool
from callbench.scoring import Outcome, SlotScore, score_case

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "For example Springfield."},
        "unit": {"enum": ["Celsius", "Kelvin"]},
        "n": {"type": "integer", "default": 77},
        "l": {"type": "array"},
        "f": {"type": "boolean"},
    },
}


def slot_at(place: str, filled: dict[str, Any], **outcome: Any) -> SlotScore:
    case = Case(
        "c",
        "en",
        Tool("weather", "Tells it for Atlantis."),
        SCHEMA,
        "Weather in party town for 10 days, two people, ＮＥＷ York?",
        {"city": "Oslo", "unit": "Kelvin", "n": 4},
        conversation=({"role": "user", "content": "I was in Rome"},),
        facts=("Home is Bern.",),
        summary="Talked of Kyiv.",
        steps=(Step("s", {"place": {"name": "Lima", "id": 31}}),),
        data={},
    )
    (found,) = [
        slot
        for slot in score_case(case, Outcome(slot_data=filled, **outcome)).slots
        if slot.pointer == place
    ]
    return found


@pytest.mark.parametrize(
    ("city", "origin"),
    [
        ("Rome", "elsewhere"), ("bern", "elsewhere"), ("Kyiv", "elsewhere"), ("Lima", "elsewhere"),
        ("New York", "elsewhere"), ("party", "elsewhere"), ("Springfield", "elsewhere"),
        ("Atlantis", "elsewhere"), ("Kelvin", "elsewhere"), ("art", "nowhere"),
        ("Rom", "nowhere"), ("Paris", "nowhere"), ("Rome Bern", "nowhere"), ("", ""),
    ],
)  # fmt: skip
def test_of_a_wrong_text(city: str, origin: str) -> None:
    found = slot_at("/city", {"city": city})
    assert (found.verdict, found.origin) == ("wrong_value", origin)


@pytest.mark.trap("D8")
@pytest.mark.parametrize(
    ("number", "origin"),
    [(10, "elsewhere"), (31, "elsewhere"), (2, "elsewhere"), (77, "elsewhere"), (1, "nowhere"),
     (0, "nowhere"), (3, "nowhere"), (100, "nowhere"), (-10, "nowhere")],
)  # fmt: skip
def test_of_a_wrong_number(number: int, origin: str) -> None:
    found = slot_at("/n", {"n": number})
    assert (found.verdict, found.origin) == ("wrong_value", origin)


def test_of_another_slots_value() -> None:
    assert slot_at("/n", {"n": 5}).origin == "nowhere"
    assert slot_at("/l", {"l": ["Oslo", 4]}).origin == "elsewhere"
    assert slot_at("/l", {"l": ["Oslo", 5]}).origin == "nowhere"


def test_of_what_is_made_up_or_breaks_its_schema() -> None:
    hallucinated = slot_at("/l", {"l": ["Rome"]})
    assert (hallucinated.verdict, hallucinated.origin) == ("hallucinated", "elsewhere")
    assert slot_at("/f", {"f": True}).origin == ""
    invalid = slot_at("/unit", {"unit": "Rome"})
    assert (invalid.verdict, invalid.origin) == ("schema_invalid", "elsewhere")
    refused = slot_at("/unit", {}, rejected=(("/unit", "Rankine", ""),))
    assert (refused.verdict, refused.origin) == ("schema_invalid", "nowhere")
    made_up = slot_at("/l", {}, rejected=(("/l", "Rome", ""),))
    assert (made_up.verdict, made_up.origin) == ("hallucinated", "elsewhere")


@pytest.mark.parametrize("filled", [{"city": "Oslo"}, {}, {"city": 5}])
def test_other_verdicts_have_none(filled: dict[str, Any]) -> None:
    assert slot_at("/city", filled).origin == ""


def test_the_expected_value_of_the_slot_itself_is_no_other_place(
    make_case: Callable[..., Case],
) -> None:
    case = make_case({"a": {"type": "string"}}, {"a": "Oslo Harbor"})
    (found,) = score_case(case, Outcome(slot_data={"a": "Harbor"})).slots
    assert found.origin == "nowhere"
