"""``jga-trade``: joint goal accuracy as for MultiWOZ, with TRADE's normalization of labels.

A case is right when the set of its slots and values is that of the gold, after both were put
through the table of TRADE (Wu et al. 2019), which every later work on MultiWOZ took over. A slot
is named ``domain-slot`` there: a property that is not so named gets the MultiWOZ domain that the
tool's name holds, if any. The value ``none`` is a slot left open.

Where the official rule is surprising:

===================================== =========================================================
official                              ours (``callbench``)
===================================== =========================================================
``fun``, ``art``, ``not``, ``""`` and values like any other
``hotel-type`` ``bed and breakfast``
are no value at all
an area ``no`` is ``north``, ``we``   no such repair
is ``west``; a day ``we`` is
``wednesday``, ``no`` is none
``guest`` is ``guest house``,         only declared values are accepted
``4 stars`` is ``4``
accepted variants do not count        every accepted value
===================================== =========================================================

TRADE mends labels only: its predictions come from a vocabulary of mended labels. Here predictions
are mended too, or a label repeated word for word would be wrong. Values are compared as lower-case
text without outer spaces; a number or boolean as its text.
"""

from __future__ import annotations

from typing import Any

from callbench.dataset.case import Case
from callbench.scoring.official.scorer import Arguments, Result, Scorer, share, text_of

DOMAINS = ("hotel", "restaurant", "attraction", "train", "taxi", "hospital", "police", "bus")

_CENTRE = (
    "center", "center of town", "near city center", "cen", "ce", "town center",
    "centre of cambridge", "city center", "scentre", "town centre", "in town", "centre of town",
)  # fmt: skip
_NONE = (
    "cb30aq", "0 star rarting", "not men", "not", "not mentioned", "", "not mendtioned", "fun", "art",
)  # fmt: skip
GENERAL: dict[str, str] = {
    **dict.fromkeys(("guesthouse", "guesthouses", "guest"), "guest house"),
    **dict.fromkeys(("mutiple sports", "sports", "mutliple sports"), "multiple sports"),
    **dict.fromkeys(("swimmingpool", "pool"), "swimming pool"),
    **dict.fromkeys(("concerthall", "concert"), "concert hall"),
    "night club": "nightclub",
    **dict.fromkeys(("mus", "musuem"), "museum"),
    **dict.fromkeys(("ol", "architectural"), "architecture"),
    **dict.fromkeys(("colleges", "coll"), "college"),
    "churches": "church",
    **dict.fromkeys(_CENTRE, "centre"),
    **dict.fromkeys(("in the north", "north part of town"), "north"),
    **dict.fromkeys(("east side", "east area"), "east"),
    "west part of town": "west",
    "the south": "south",
    **dict.fromkeys(("mode", "moderate -ly", "mo"), "moderate"),
    "next friday": "friday",
    "monda": "monday",
    "free parking": "free",
    "free internet": "yes",
    **dict.fromkeys(("4 star", "4 stars"), "4"),
    "3 .": "3",
    "y": "yes",
    **dict.fromkeys(("n", "does not"), "no"),
    **dict.fromkeys(("any", "does not care"), "dontcare"),
    **dict.fromkeys(_NONE, "none"),
}
"""What is mended whatever the slot."""

_MISPLACED: dict[str, frozenset[str]] = {
    "hotel-type": frozenset(
        {"nigh", "moderate -ly priced", "bed and breakfast", "centre", "venetian", "intern"}
        | {"a cheap -er hotel"}
    ),
    "hotel-internet": frozenset({"4"}),
    "hotel-pricerange": frozenset({"2"}),
    "attraction-type": frozenset({"gastropub", "la raza", "galleria", "gallery", "science", "m"}),
}
_OUTSIDE: dict[str, frozenset[str]] = {
    "restaurant-area": frozenset({"stansted airport", "cambridge", "silver street"}),
    "attraction-area": frozenset({"norwich", "ely", "museum", "same area as hotel"}),
}
_AREAS = {"no": "north", "we": "west", "cent": "centre"}
_DAYS = {"we": "wednesday", "no": "none"}
_HOTELS = frozenset({"hotel with free parking and free wifi", "4", "3 star hotel"})


def mended(slot: str, value: str) -> str:
    """Return a value as TRADE's ``fix_general_label_error`` leaves it; ``none`` is no value."""
    value = _mended_for_slot(slot, GENERAL.get(value, value))
    return "none" if value in _OUTSIDE.get(slot, ()) else value


def _mended_for_slot(slot: str, value: str) -> str:
    if (
        value in _MISPLACED.get(slot, ())
        or ("area" in slot and value == "moderate")
        or ("day" in slot and value == "t")
    ):
        return "none"
    # The first that is about the slot decides, whether or not it has the value.
    if slot == "hotel-type" and value in _HOTELS:
        return "hotel"
    if slot == "hotel-star" and value == "3 star hotel":
        return "3"
    if "area" in slot:
        return _AREAS.get(value, value)
    if "day" in slot:
        return _DAYS.get(value, value)
    if "price" in slot and value == "ch":
        return "cheap"
    return "yes" if "internet" in slot and value == "free" else value


def slot_name(case: Case, name: str) -> str:
    """Return a property's name as ``domain-slot``."""
    name = name.lower().replace("_", "-").replace("price-range", "pricerange")
    if name.partition("-")[0] in DOMAINS:
        return name
    tool = case.tool.name.lower()
    domain = next((domain for domain in DOMAINS if domain in tool), "")
    return f"{domain}-{name}" if domain else name


def belief(case: Case, arguments: Arguments) -> dict[str, str]:
    """Return the mended values by slot, without those left open."""
    state = {}
    for name, value in arguments.items():
        slot = slot_name(case, name)
        text = mended(slot, _plain(value))
        if text != "none":
            state[slot] = text
    return state


def _plain(value: Any) -> str:
    return "none" if value is None else text_of(value).lower().strip()


def judge(case: Case, arguments: Arguments | None) -> Result:
    """Return ``{"joint": 0 or 1, "wrong": slots}``."""
    gold, given = belief(case, case.expected), belief(case, arguments or {})
    wrong = [slot for slot in {**gold, **given} if gold.get(slot) != given.get(slot)]
    return {"joint": int(arguments is not None and not wrong), "wrong": wrong}


SCORER = Scorer(
    name="jga-trade",
    version=1,
    summary="MultiWOZ: joint goal accuracy after TRADE's normalization of labels",
    source="jasonwu0731/trade-dst, utils/fix_label.py and models/TRADE.py (evaluate_metrics)",
    judge=judge,
    total=lambda judged: {"joint_goal_accuracy": share("joint")(judged)},
)
