"""Faults: what real endpoints do wrong, declared, seeded and named, laid over recorded answers.

    plan = load_plan("faults.toml")
    faults = Faults(plan)
    transport = CassetteTransport(cassette, "replay", faults=faults)

``declared`` reads the file, ``catalogue`` names the kinds, ``applying`` decides which answer gets which.
Nothing that a fault makes reaches a cassette.
"""

from callbench.cassette.faults.applying import Applied, Faults
from callbench.cassette.faults.catalogue import CATALOGUE
from callbench.cassette.faults.declared import Fault, Plan, load_plan
from callbench.cassette.faults.kind import Kind
from callbench.cassette.faults.matrix import matrix

__all__ = ["CATALOGUE", "Applied", "Fault", "Faults", "Kind", "Plan", "load_plan", "matrix"]
