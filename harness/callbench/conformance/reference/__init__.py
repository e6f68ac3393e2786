"""The operations of the protocol, done by the reference implementation.

``OPERATIONS`` maps each name of the table "Operations of the examples" in CONTRACT.md, and each
operation of PROTOCOL.md that asks a model, to a function of its inputs; ``error_kind`` gives the contract's word for what such a function raises. Any module
with these two names is a peer in Python: ``callbench conform --impl python:package.module``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import callbench
from callbench.conformance.reference import asking, operations, scripted, slots, traffic, watched
from corecall.slot.processor import DataError, SchemaError
from corecall.types import CallError

RELEASE = callbench.__version__

EXAMPLE_OPERATIONS: dict[str, Callable[[dict[str, Any]], Any]] = {
    **operations.OPERATIONS,
    **slots.OPERATIONS,
    **traffic.OPERATIONS,
    **scripted.OPERATIONS,
    **watched.OPERATIONS,
}
"""The operations of the contract's examples."""

OPERATIONS = {**EXAMPLE_OPERATIONS, **asking.OPERATIONS}

# The first that fits: some of these are kinds of ValueError.
_KINDS: tuple[tuple[type[Exception], str], ...] = (
    (SchemaError, "invalid_schema"),
    (DataError, "invalid_data"),
    (CallError, "call_error"),
    (ValueError, "value_error"),
    (TypeError, "type_error"),
    (KeyError, "key_error"),
    (NotImplementedError, "not_implemented"),
)


def error_kind(error: Exception) -> str | None:
    """Return the contract's word for an error, None for a fault that no rule speaks of."""
    return next((kind for cls, kind in _KINDS if isinstance(error, cls)), None)
