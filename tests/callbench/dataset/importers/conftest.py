"""Writing a source's files, and importing them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from callbench.dataset import Case, load_dataset
from callbench.dataset.importers.writing import import_dataset
from callbench.scoring import Outcome, score_case

PUBLIC = Path(
    os.environ.get("CALLBENCH_SHARED_DATA", Path(__file__).parents[5] / "shared" / "data")
)


@dataclass(frozen=True)
class Imported:
    """What an import wrote: the lines as they stand, the cases as they load, and the report."""

    out: Path
    records: list[dict[str, Any]]
    cases: list[Case]
    report: dict[str, Any]

    def kinds(self) -> dict[str, str]:
        """Return the kind of each defect by ``case pointer``."""
        return {f"{item['case']} {item['pointer']}": item["kind"]
                for item in self.report["defect_items"]}  # fmt: skip


@pytest.fixture
def lines(tmp_path: Path) -> Callable[..., Path]:
    """Write values as JSON Lines into a file below the test's directory."""

    def write(name: str, *values: Any) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)
        path.write_text(text, "utf-8")
        return path

    return write


@pytest.fixture
def imported(tmp_path: Path) -> Callable[..., Imported]:
    """Import paths; the arithmetic of the report is checked every time."""

    def run(importer: str, *paths: Path, **options: Any) -> Imported:
        out = tmp_path / f"out-{len(list(tmp_path.glob('out-*')))}"
        import_dataset(importer, paths, out, **options)
        report = json.loads((out / "import.json").read_text("utf-8"))
        records = [
            json.loads(line) for line in (out / "cases.jsonl").read_bytes().split(b"\n") if line
        ]
        assert report["items"] == report["cases"] + sum(report["excluded"].values())
        assert report["cases"] == len(records)
        assert len(report["excluded_items"]) == sum(report["excluded"].values())
        assert len(report["defect_items"]) == sum(report["defects"].values())
        cases = list(load_dataset(out).cases) if records else []
        return Imported(out, records, cases, report)

    return run


@pytest.fixture
def perfect() -> Callable[[Imported], None]:
    """Assert that the gold of every case scores as exact, and so does every variant of a slot."""

    def check(found: Imported) -> None:
        for case in found.cases:
            assert score_case(case, Outcome(slot_data=case.expected)).exact or case.defects, case.id
            for place, accept in case.accept.items():
                slot = place[1:].replace("~1", "/").replace("~0", "~")
                for value in accept.values:
                    given = {**case.expected, slot: value}
                    assert score_case(case, Outcome(slot_data=given)).exact, (case.id, value)

    return check


@pytest.fixture
def shared() -> Callable[[str], Path]:
    """Return a path of the public data, or skip where there is none."""

    def find(name: str) -> Path:
        path = PUBLIC / name
        if not path.exists():
            pytest.skip(f"no public data at {path}; CALLBENCH_SHARED_DATA names another place")
        return path

    return find
