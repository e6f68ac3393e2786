"""Scoring: a verdict for every slot and every case, and the rates over them."""

from callbench.scoring.aggregate import Rate, Tally, proportion
from callbench.scoring.outcome import Outcome, Status
from callbench.scoring.record import Spent, case_record, record_line, scored_again, stored_outcome
from callbench.scoring.result import SCORER_VERSION, CaseScore, SlotScore
from callbench.scoring.verdict import score_case

__all__ = [
    "SCORER_VERSION",
    "CaseScore",
    "Outcome",
    "Rate",
    "SlotScore",
    "Spent",
    "Status",
    "Tally",
    "case_record",
    "proportion",
    "record_line",
    "score_case",
    "scored_again",
    "stored_outcome",
]
