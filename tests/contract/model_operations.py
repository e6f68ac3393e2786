"""Moved: see callbench.conformance.reference.traffic."""

from callbench.conformance.reference.traffic import OPERATIONS

__all__ = ["OPERATIONS"]
