"""``callbench dataset import`` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

from .conftest import Invoke

TOOL = {"name": "f", "parameters": {"type": "dict", "properties": {"a": {"type": "integer"}}}}


def write(name: str, *entries: object) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))


def questions(count: int) -> None:
    """Write BFCL questions 0, 1, … whose gold is the number, a text for every odd one."""
    asked = [{"id": f"q{number}", "question": [[{"role": "user", "content": str(number)}]],
              "function": [TOOL]} for number in range(count)]  # fmt: skip
    write("BFCL_v4_simple_x.json", *asked, {**asked[0], "id": "lost"})
    write("possible_answer/BFCL_v4_simple_x.json", *(
        {"id": f"q{number}", "ground_truth": [{"f": {"a": [str(number) if number % 2 else number]}}]}
        for number in range(count)))  # fmt: skip


def test_it_tells_what_it_found_and_where_it_wrote(callbench: Invoke) -> None:
    questions(3)
    result = callbench("dataset", "import", "bfcl", "BFCL_v4_simple_x.json", "-o", "out")
    assert result.code == 0
    assert result.out.splitlines() == [
        "4 records, 4 items = 3 cases + 1 left out",
        "  left out, no-gold: 1",
        "defects of the gold: 1",
        "  breaks-schema: 1",
        "licence: Apache-2.0",
        "wrote out",
    ]
    checked = callbench("dataset", "check", "./out")
    assert checked.code == 0
    assert checked.out.startswith("out: 3 cases, all sound")


def test_limit(callbench: Invoke) -> None:
    questions(3)
    result = callbench(
        "dataset", "import", "bfcl", "BFCL_v4_simple_x.json", "-o", "out", "--limit", "2"
    )
    assert result.out.startswith("2 records, 2 items = 2 cases + 0 left out")


def test_list(callbench: Invoke) -> None:
    """Every importer that is named is there."""
    from callbench.dataset.importers import IMPORTERS

    result = callbench("dataset", "import", "--list")
    assert [line.split("\t")[0] for line in result.out.splitlines()] == list(IMPORTERS)
    assert all(line.split("\t")[1] for line in result.out.splitlines())


def test_wrong_usage(callbench: Invoke) -> None:
    questions(1)
    assert callbench("dataset", "import").code == 2
    assert callbench("dataset", "import", "bfcl", "none.json", "-o", "out").code == 2
    refused = callbench(
        "dataset", "import", "bfcl", "BFCL_v4_simple_x.json", "-o", "out", "--mapping", "m.toml"
    )
    assert refused.code == 2
    assert "The importer bfcl takes no --mapping." in refused.err
    Path("full").mkdir()
    Path("full/x").touch()
    assert callbench("dataset", "import", "bfcl", "BFCL_v4_simple_x.json", "-o", "full").code == 2


def test_another_format_is_a_bad_dataset(callbench: Invoke) -> None:
    write("BFCL_v4_simple_x.json", {"prompt": "x"})
    result = callbench("dataset", "import", "bfcl", "BFCL_v4_simple_x.json", "-o", "out")
    assert result.code == 3
    assert "BFCL_v4_simple_x.json:1: no BFCL question" in result.err
