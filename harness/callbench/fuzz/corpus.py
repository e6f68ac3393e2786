"""The corpus: what was found, as cases of the suite's format, one line each. It only ever grows."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from callbench.cassette.lock import exclusive
from callbench.conformance.cases import Case, load_suite
from callbench.fuzz.hunt import Finding
from callbench.peer import Failed, Result
from callbench.peer.values import encode


def case_id(finding: Finding) -> str:
    """Return the id of a finding's case: the same input of the same operation has the same one."""
    text = json.dumps([finding.op, _tagged(finding.given)], sort_keys=True)
    return f"fuzz.{finding.op}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def as_case(finding: Finding, note: str) -> dict[str, Any] | None:
    """Return the case that holds a finding; None when the reference gave no answer to hold."""
    case = {"id": case_id(finding), "op": finding.op, "input": _tagged(finding.given)}
    match finding.expected:
        case Result(value):
            return {**case, "gives": encode(value), "note": note}
        case Failed(kind) if not any(place.kind == "reference" for place in finding.places):
            return {**case, "error": kind, "note": note}
    return None


def load_corpus(path: Path) -> tuple[Case, ...]:
    """Load the cases of a corpus; none when the file is not there or empty.

    Raises ``InvalidSuite`` for a line that is no case.
    """
    if not path.exists() or not path.read_bytes().strip():
        return ()
    return load_suite(path)


def append(path: Path, case: dict[str, Any]) -> bool:
    """Append a case in one write, unless the file has its id; tell whether it was appended."""
    line = json.dumps(case, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
    with exclusive(path) as descriptor:
        content = path.read_bytes()
        if case["id"] in _ids(content.splitlines()):
            return False
        os.write(descriptor, line if not content or content.endswith(b"\n") else b"\n" + line)
    return True


def _ids(lines: Sequence[bytes]) -> set[str]:
    return {json.loads(line)["id"] for line in lines if line.strip()}


def _tagged(given: dict[str, Any]) -> dict[str, Any]:
    return {name: encode(value) for name, value in given.items()}
