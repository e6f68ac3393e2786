"""``hammerbench``: parameter hallucination and missing rates of HammerBench, by snapshot.

A snapshot is one case. It hallucinates when it gives a parameter that the gold does not have, and
misses when it lacks one that the gold has. Both rates are shares of snapshots; lower is better, and
gold scores 0 on both.

Where the official rule is surprising:

===================================== =========================================================
official                              ours (``callbench``)
===================================== =========================================================
only names count: a wrong value is    a wrong value is a false positive and a false negative
neither hallucinated nor missing
only names at the top count           every leaf
a snapshot with one made-up slot      each slot counts
counts like one with five
a reply that cannot be read misses    unparsed: wrong
everything and hallucinates nothing
a slot that may be left out is        correctly omitted
missing when it is
===================================== =========================================================

The official script leaves out conversations whose first call names the wrong function; here the
function is given, so every snapshot counts. Its accuracy of arguments (ROUGE-L of at least 0.7) is
no part of this scorer.
"""

from __future__ import annotations

from callbench.dataset.case import Case
from callbench.scoring.official.scorer import Arguments, Result, Scorer, share


def judge(case: Case, arguments: Arguments | None) -> Result:
    """Return ``{"phr": 0 or 1, "pmr": 0 or 1, "hallucinated": names, "missing": names}``."""
    given = arguments or {}
    made_up = [name for name in given if name not in case.expected]
    missing = [name for name in case.expected if name not in given]
    return {
        "phr": int(bool(made_up)),
        "pmr": int(bool(missing)),
        "hallucinated": made_up,
        "missing": missing,
    }


SCORER = Scorer(
    name="hammerbench",
    version=1,
    summary="HammerBench: shares of cases with a made-up (PHR) and a missing (PMR) parameter name",
    source="MadeAgents/HammerBench, evaluate.py (PN_FP, PN_FN) and evaluation/metrics.py",
    judge=judge,
    total=lambda judged: {
        "parameter_hallucination_rate": share("phr")(judged),
        "parameter_missing_rate": share("pmr")(judged),
    },
)
