"""Fuzzing of implementations: what to feed them (:mod:`callbench.fuzz.strategies`).

Nothing here is imported by the command until a verb needs it, so that ``callbench --help`` stays
fast; Hypothesis is imported by the strategies alone.
"""
