"""Moved: see callbench.conformance.reference.scripted."""

from callbench.conformance.reference.scripted import OPERATIONS

__all__ = ["OPERATIONS"]
