"""The port to Node, written from the contract alone, passes the whole suite."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PORT = ROOT / "examples" / "implementations" / "node"

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node 20 or newer")


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", timeout=300)


def test_it_passes_every_case() -> None:
    peer = f"node {PORT / 'main.mjs'}"
    done = run(sys.executable, "-m", "callbench", "conform", "--impl", peer, "--require-all")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]


def test_its_own_check_passes_every_example_of_the_contract() -> None:
    done = run("node", str(PORT / "check.mjs"), str(ROOT / "refimpl" / "CONTRACT.md"))
    assert done.returncode == 0, done.stdout[-3000:]
    assert "failed 0" in done.stdout.splitlines()[-1]
