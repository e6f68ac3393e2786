"""The contract's examples as cases: the committed files are what extraction makes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from callbench.bundled import bundled
from callbench.conformance.contract import read_rules
from callbench.conformance.suite import CONTRACT, contract_cases, suite_files

DIRECTORY = bundled("datasets") / "conformance"
RULES = """
## core: a chapter

#### `core.data.1` The first
Source: seed CoreCall §1.

Text that is no rule, "#### `core.data.9`".

```jsonl
{"op": "slot.check", "schema": {"a": 1.0}, "data": {}, "gives": {"b": 12345678901234567890}}
{"op": "slot.check", "schema": {"a": 2}, "data": {}, "error": "invalid_schema"}
```

```text
{"op": "not.executed"}
```

#### `core.data.2` The second
Source: decision. Extension.

```jsonl
{"op": "stream.rest", "chunks": ["\u2028"], "gives": null}
```
"""


@pytest.mark.skipif(not CONTRACT.exists(), reason="not a checkout")
@pytest.mark.parametrize("name", ["contract.jsonl", "rules.json"])
def test_the_committed_file_is_what_extraction_makes(name: str) -> None:
    made = suite_files(read_rules(CONTRACT))[name]
    committed = (DIRECTORY / name).read_text(encoding="utf-8")
    assert committed == made, "CONTRACT.md changed: run `make suite`"


@pytest.fixture
def contract(tmp_path: Path) -> Path:
    path = tmp_path / "CONTRACT.md"
    path.write_text(RULES, encoding="utf-8")
    return path


def test_each_executed_example_is_a_case(contract: Path) -> None:
    assert contract_cases(read_rules(contract)) == [
        {
            "id": "core.data.1-1",
            "rule": "core.data.1",
            "op": "slot.check",
            "input": {"schema": {"a": {"$float": "1.0"}}, "data": {}},
            "gives": {"b": {"$int": "12345678901234567890"}},
        },
        {
            "id": "core.data.1-2",
            "rule": "core.data.1",
            "op": "slot.check",
            "input": {"schema": {"a": 2}, "data": {}},
            "error": "invalid_schema",
        },
        {
            "id": "core.data.2-1",
            "rule": "core.data.2",
            "op": "stream.rest",
            "input": {"chunks": ["\u2028"]},
            "gives": None,
            "extension": True,
        },
    ]


def test_the_titles_of_all_rules_are_kept(contract: Path) -> None:
    assert json.loads(suite_files(read_rules(contract))["rules.json"]) == {
        "core.data.1": {"title": "The first"},
        "core.data.2": {"title": "The second", "extension": True},
    }
