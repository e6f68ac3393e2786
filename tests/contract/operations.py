"""How an executable example of CONTRACT.md is checked; what each ``op`` does stands in
:mod:`callbench.conformance.reference`."""

from __future__ import annotations

from typing import Any

import pytest

from callbench.conformance.compare import same
from callbench.conformance.reference import EXAMPLE_OPERATIONS as OPERATIONS
from callbench.conformance.reference import error_kind

__all__ = ["OPERATIONS", "check_example"]


def check_example(example: dict[str, Any]) -> None:
    """Fail unless the operation of ``example`` gives what it says."""
    inputs = {key: value for key, value in example.items() if key not in ("op", "gives", "error")}
    operation = OPERATIONS[example["op"]]
    if "error" in example:
        with pytest.raises(Exception) as caught:
            operation(inputs)
        assert error_kind(caught.value) == example["error"], repr(caught.value)
    else:
        got = operation(inputs)
        assert same(example["gives"], got), repr(got)
