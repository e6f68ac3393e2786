"""Print the README's table: the bundled recordings replayed, one row each, baselines below.

make table
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = (
    ("smollm2",),
    ("smollm2", "--function-model", "needle3"),
    ("gemma3-270m",),
    ("smollm2", "--system", "fewshot", "--shots", "3"),
    ("needle3", "--system", "stage2"),
)


def main() -> None:
    """Run each bundled recording through the command and print Markdown."""
    print("| model | exact | slot precision | slot recall | slot F1 | schema-valid |")
    print("| :-- | --: | --: | --: | --: | --: |")
    results = [_run(*words) for words in RUNS]
    for result in results:
        print(_row(f"`{result['model']}`{_system(result)}", result))
    for name, scores in results[0]["baselines"].items():
        print(_row(f"*{name}* (no model)", scores))


def _run(model: str, *options: str) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as directory:
        command = [sys.executable, "-m", "callbench", "run", "--json", "--model", model, *options]
        command += ["--out", str(Path(directory) / "run")]
        done = subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - our own command
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def _system(result: dict[str, object]) -> str:
    return "" if result["system"] == "slot" else f" `--system {result['system']}`"


def _row(name: str, scores: dict[str, object]) -> str:
    keys = ("exact", "slot_precision", "slot_recall", "slot_f1", "schema_valid")
    return f"| {name} | " + " | ".join(_percent(scores[key]) for key in keys) + " |"


def _percent(rate: object) -> str:
    assert isinstance(rate, dict)
    if rate["value"] is None:
        return "–"
    return f"{rate['value']:.1%} ({rate['low']:.1%}–{rate['high']:.1%})"


if __name__ == "__main__":
    main()
