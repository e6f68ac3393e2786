"""``python -m callbench.conformance.suite``: make the contract's examples the suite's cases.

Writes two files into ``datasets/conformance``: ``contract.jsonl``, one case for each executable
example of CONTRACT.md, its id the rule's with a number; and ``rules.json``, the title of every rule.
The same contract gives the same bytes. Other files beside them are written by hand.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from callbench.bundled import bundled
from callbench.conformance.contract import Rule, read_rules
from callbench.peer.values import encode

CONTRACT_CASES = "contract.jsonl"
RULES = "rules.json"

CONTRACT = Path(__file__).resolve().parents[3] / "refimpl" / "CONTRACT.md"
"""In a checkout; an installed callbench has the cases made of it."""


def contract_cases(rules: Sequence[Rule]) -> list[dict[str, Any]]:
    """Return the lines of the suite that the examples of ``rules`` make, in order."""
    return [
        _line(rule, number, example)
        for rule in rules
        for number, example in enumerate(rule.examples(), 1)
    ]


def suite_files(rules: Sequence[Rule]) -> dict[str, str]:
    """Return the two files' names and texts."""
    lines = [json.dumps(case, ensure_ascii=False) for case in contract_cases(rules)]
    titles = [f"{json.dumps(rule.id)}: {_title(rule)}" for rule in rules]
    return {
        CONTRACT_CASES: "".join(f"{line}\n" for line in lines),
        RULES: "{\n" + ",\n".join(titles) + "\n}\n",
    }


def _line(rule: Rule, number: int, example: dict[str, Any]) -> dict[str, Any]:
    given = {name: encode(example[name]) for name in example if name not in _NO_INPUT}
    line = {"id": f"{rule.id}-{number}", "rule": rule.id, "op": example["op"], "input": given}
    if "error" in example:
        line["error"] = example["error"]
    else:
        line["gives"] = encode(example["gives"])
    if rule.extension:
        line["extension"] = True
    return line


_NO_INPUT = frozenset({"op", "gives", "error"})


def _title(rule: Rule) -> str:
    extension = {"extension": True} if rule.extension else {}
    return json.dumps({"title": rule.title, **extension}, ensure_ascii=False)


def main() -> None:
    """Write the files and say what is in them."""
    directory = bundled("datasets") / "conformance"
    directory.mkdir(exist_ok=True)
    rules = read_rules(CONTRACT)
    for name, text in suite_files(rules).items():
        (directory / name).write_text(text, encoding="utf-8", newline="\n")
    cases = contract_cases(rules)
    print(f"{directory / CONTRACT_CASES}: {len(cases)} cases of {len({c['rule'] for c in cases})}")
    print(f"{directory / RULES}: {len(rules)} rules")


if __name__ == "__main__":
    main()
