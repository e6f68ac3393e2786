"""The READMEs show what the commands print."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = ["README.md", "README.zh-CN.md"]


def shown(page: str, name: str) -> str:
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.search(rf"<!-- {name} -->\n(.*?)<!-- /{name} -->", text, re.DOTALL)
    assert found, f"{page} has no {name} block"
    return found[1].strip()


def printed(*command: str, cwd: Path) -> str:
    environment = {**os.environ, "COLUMNS": "80", "PYTHONUTF8": "1", "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, *command], cwd=cwd, env=environment, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.skipif(not (ROOT / "benchmarks").exists(), reason="not a checkout")
class TestNumbers:
    def test_the_table_is_the_one_the_command_prints(self, tmp_path: Path) -> None:
        table = printed(str(ROOT / "benchmarks" / "table.py"), cwd=tmp_path)
        for page in PAGES:
            assert shown(page, "table") == table

    def test_the_demo_is_what_the_command_prints(self, tmp_path: Path) -> None:
        lines = printed("-m", "callbench", "run", cwd=tmp_path).splitlines()
        told = "\n".join(line.rstrip() for line in lines if not line.startswith("report: "))
        block = shown("README.md", "demo").removeprefix("```text\n").removesuffix("```")
        assert block.rstrip() == told.rstrip()

    def test_the_table_of_public_sets_is_that_of_the_report(self) -> None:
        report = (ROOT / "reports" / "public-sets" / "table.md").read_text(encoding="utf-8")
        for page in PAGES:
            assert shown(page, "public") in report
            assert shown(page, "public").startswith("| exact % |")
