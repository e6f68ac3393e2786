"""Datasets: the cases that calls are scored on, their format, and how they are read."""

from callbench.dataset.case import Accept, Case, DateOrder, MatchKind, Step, Tool
from callbench.dataset.loader import Cases, Dataset, iter_cases, load_dataset, select
from callbench.dataset.problems import Fault, InvalidDataset, Problem

__all__ = [
    "Accept",
    "Case",
    "Cases",
    "Dataset",
    "DateOrder",
    "Fault",
    "InvalidDataset",
    "MatchKind",
    "Problem",
    "Step",
    "Tool",
    "iter_cases",
    "load_dataset",
    "select",
]
