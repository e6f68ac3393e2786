"""``sgd-jga`` and ``sgd-jga-exact``: goal accuracy of Schema-Guided Dialogue (DSTC8), per call.

Joint goal accuracy is the product of the scores of all declared slots, average goal accuracy the
mean score of those that the gold fills, both averaged over cases. A categorical slot (one with an
``enum``) scores 0 or 1; any other scores the best similarity with a reference, from 0 to 1, in the
fuzzy mode, and 0 or 1 in the exact mode.

Where the official rule is surprising:

======================================= ======================================================
official                                ours (``callbench``)
======================================= ======================================================
a near value is partly right: a date    parsed or compared; right or wrong
off by one may score 0.90
a value nobody declared is ignored      undeclared, a false positive
a categorical slot accepts only the     every accepted value
first reference
a slot that may be left out scores 0    correctly omitted
when it is
Latin-1 letters beyond ASCII (é, ü) are kept
dropped before comparing
punctuation only, or nothing, against   different
the same is 1.00
======================================= ======================================================

The similarity is fuzzywuzzy's ``token_sort_ratio`` as it is without python-Levenshtein, whose own
ratio differs by a few hundredths. Values are text there; a number or boolean is compared as its
text. Case counts in exact mode and for categorical slots.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from difflib import SequenceMatcher
from typing import Any

from callbench.dataset.case import Case
from callbench.scoring.official.scorer import (
    Arguments,
    Judged,
    Result,
    Scorer,
    accepted,
    share,
    text_of,
)
from callbench.scoring.statistics.intervals import Rate

_NO_WORD = re.compile(r"\W", re.UNICODE)
_BEYOND_ASCII = dict.fromkeys(range(128, 256))

Similar = Callable[[str, str], float]


def token_sort_ratio(one: str, other: str) -> float:
    """Return the similarity of two texts as bags of words, from 0 to 1 in hundredths."""
    first, second = _sorted_words(one), _sorted_words(other)
    if first == second:
        return 1.0
    if not first or not second:
        return 0.0
    return round(100 * SequenceMatcher(None, first, second).ratio()) / 100


def _sorted_words(text: str) -> str:
    plain = _NO_WORD.sub(" ", text.translate(_BEYOND_ASCII)).lower().strip()
    return " ".join(sorted(plain.split()))


def exact(one: str, other: str) -> float:
    """Return 1 for the same text, else 0."""
    return float(one == other)


def goal_accuracy(case: Case, arguments: Arguments | None, similar: Similar) -> Result:
    """Return ``{"joint", "average", "slots": {name: score}}`` of a case.

    ``average`` is ``None`` where the gold fills no slot, ``joint`` where none is declared. An unread
    reply fills nothing.
    """
    given = arguments or {}
    scores = {
        name: _slot(case, name, schema, given, similar)
        for name, schema in case.schema.get("properties", {}).items()
    }
    active = [score for name, score in scores.items() if name in case.expected]
    joint = 0.0 if arguments is None else float(math.prod(scores.values()))
    return {
        "joint": joint if scores else None,
        "average": math.fsum(active) / len(active) if active else None,
        "slots": scores,
    }


def _slot(case: Case, name: str, schema: Any, given: Arguments, similar: Similar) -> float:
    if name not in case.expected or name not in given:
        return float(name not in case.expected and name not in given)
    value = text_of(given[name])
    references = [text_of(reference) for reference in accepted(case, name)]
    if isinstance(schema, dict) and "enum" in schema:
        return exact(references[0], value)
    return max(similar(reference, value) for reference in references)


def _total(judged: Judged) -> dict[str, Rate]:
    return {
        "joint_goal_accuracy": share("joint")(judged),
        "average_goal_accuracy": share("average")(judged),
    }


_SOURCE = "google-research/schema_guided_dst/metrics.py, compare_slot_values"

FUZZY = Scorer(
    name="sgd-jga",
    version=1,
    summary="Schema-Guided Dialogue: joint and average goal accuracy, free text by similarity",
    source=_SOURCE,
    judge=lambda case, arguments: goal_accuracy(case, arguments, token_sort_ratio),
    total=_total,
)
EXACT = Scorer(
    name="sgd-jga-exact",
    version=1,
    summary="Schema-Guided Dialogue: joint and average goal accuracy, every slot exact",
    source=f"{_SOURCE} with use_fuzzy_match off",
    judge=lambda case, arguments: goal_accuracy(case, arguments, exact),
    total=_total,
)
