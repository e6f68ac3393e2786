"""``span-f1``: strict span F1 as seqeval computes it for labeled text (xSID, SNIPS).

A span is a slot and where its value stands in the question; it is right when slot, start and end
are those of a gold span. Precision, recall and F1 are micro: over the spans of all cases.

Cases hold values, not positions, so both sides are put into the text by one rule. A slot's value is
looked for as it is written; the first place counts where it does not begin or end within a word (CJK
text has no words to be within), a second equal value of the same slot takes the second place. The items
of a list are spans of their own; the slot's name is its pointer without list positions. Booleans,
null and empty text are no spans.

Where the official rule is surprising:

===================================== =========================================================
official                              ours (``callbench``)
===================================== =========================================================
a value that is not in the text as    judged; made-up values are false positives
written is no span: gold there is not
counted, and a made-up value costs
its recall only (see ``unplaced``)
case and width of letters count       text is folded
accepted variants do not count        every accepted value
no span against no span is 0          no value at all
===================================== =========================================================

A wrong value that stands in the text is a false positive and a false negative.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from callbench.dataset.case import Case
from callbench.scoring.aggregate import SlotCounts
from callbench.scoring.official.scorer import Arguments, Judged, Result, Scorer, text_of
from callbench.scoring.statistics.intervals import Rate
from corecall import pointer

Span = tuple[str, int, int]
"""Slot, start, end (exclusive), in characters."""

_CJK = 0x2E80  # here the scripts without spaces begin, from the radicals on


def locate(text: str, arguments: Arguments) -> tuple[set[Span], int]:
    """Return the spans of the values in a text, and how many values have none."""
    spans: set[Span] = set()
    unplaced = 0
    seen: Counter[tuple[str, str]] = Counter()
    for slot, value in _values("", arguments):
        start = _find(text, value, seen[slot, value])
        seen[slot, value] += 1
        if start is None:
            unplaced += 1
        else:
            spans.add((slot, start, start + len(value)))
    return spans, unplaced


def _values(slot: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, member in value.items():
            yield from _values(f"{slot}/{pointer.escape(key)}", member)
    elif isinstance(value, list):
        for item in value:
            yield from _values(slot, item)
    elif value not in (None, "") and not isinstance(value, bool):
        yield slot, text_of(value)


def _find(text: str, value: str, earlier: int) -> int | None:
    """Return where a value stands for the time after the ``earlier`` ones."""
    start = text.find(value)
    while start >= 0:
        end = start + len(value)
        if not _joined(text, start) and not _joined(text, end):
            if earlier == 0:
                return start
            earlier -= 1
        start = text.find(value, start + 1)
    return None


def _joined(text: str, at: int) -> bool:
    """Say whether a place stands between two letters or digits of one word."""
    if at in (0, len(text)):
        return False
    return all(
        (char.isalnum() or char == "_") and ord(char) < _CJK for char in text[at - 1 : at + 1]
    )


def judge(case: Case, arguments: Arguments | None) -> Result:
    """Return ``{"tp", "fp", "fn", "unplaced"}``; ``unplaced`` counts given values of no span."""
    gold, _ = locate(case.question, case.expected)
    given, unplaced = locate(case.question, arguments or {})
    return {
        "tp": len(gold & given),
        "fp": len(given - gold),
        "fn": len(gold - given),
        "unplaced": unplaced,
    }


def _total(judged: Judged) -> dict[str, Rate]:
    counts = SlotCounts()
    for cluster, result in judged:
        counts.add((result["tp"], result["fp"], result["fn"]), cluster)
    rates = counts.rates()
    return {
        "span_f1": rates["slot_f1"],
        "span_precision": rates["slot_precision"],
        "span_recall": rates["slot_recall"],
    }


SCORER = Scorer(
    name="span-f1",
    version=1,
    summary="strict F1 over labeled spans of the question, as seqeval counts them (xSID, SNIPS)",
    source="seqeval 1.2.2, classification by entity, micro average",
    judge=judge,
    total=_total,
)
