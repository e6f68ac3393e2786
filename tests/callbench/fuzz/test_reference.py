"""The reference does not differ from itself, in process and over the protocol."""

from __future__ import annotations

import shlex
import sys

import pytest

from callbench.errors import ExitCode
from callbench.fuzz.inputs import OPERATIONS
from callbench.peer import REFERENCE

from .conftest import Invoke


@pytest.mark.parametrize("op", OPERATIONS)
def test_in_process_it_is_itself(op: str, callbench: Invoke) -> None:
    told = callbench("fuzz", "--impl", REFERENCE, "--op", op, "--examples", "100", "--json")
    assert told.code == ExitCode.OK, told.json["findings"]
    assert told.json["operations"][op]["examples"] == 100


def test_over_the_protocol_it_is_itself(callbench: Invoke) -> None:
    impl = shlex.join([sys.executable, "-m", "callbench.conformance.reference"])
    told = callbench("fuzz", "--impl", impl, "--examples", "50", "--json")
    assert told.code == ExitCode.OK, told.json["findings"]
    assert told.json["examples"] == 50 * len(OPERATIONS)
