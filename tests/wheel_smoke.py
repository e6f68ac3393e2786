"""Build the wheel, install it into an empty environment outside the checkout, run the main job there.

Run by ``make wheel-test``; not collected by pytest, since it needs a package index.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Exit non-zero with what failed."""
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
        _run([*pip, "wheel", "--no-deps", "--wheel-dir", str(place), str(ROOT)], place)
        (wheel,) = place.glob("callbench-*.whl")
        venv.create(place / "env", with_pip=True)
        python = str(place / "env" / "bin" / "python")
        constraints = ["-c", str(ROOT / "constraints.txt")]
        _run([python, *pip[1:], "install", *constraints, str(wheel)], place)
        empty = place / "empty"
        empty.mkdir()
        told = json.loads(_run([python, "-m", "callbench", "run", "--json"], empty))
        assert told["cases"] == told["scored"] > 200, told
        assert sorted(path.name for path in empty.iterdir()) == ["reports"]
        found = json.loads(_run([python, "-c", _FRAMES, told["dir"]], empty))
        assert found == [told["cases"], told["exact"]["value"]], (found, told)
        judged = json.loads(_run([python, "-m", "callbench", "conform", "--json"], empty))
        assert judged["passed"] == judged["cases"] > 900, judged["failures"]
        print(f"wheel: {told['cases']} cases scored outside the checkout in {told['seconds']} s")


_FRAMES = """
import json, sys, callbench
run = callbench.load_run(sys.argv[1])
print(json.dumps([len(run.cases), float(run.cases["exact"].mean())]))
"""


def _run(command: list[str], cwd: Path) -> bytes:
    done = subprocess.run(command, cwd=cwd, capture_output=True)
    if done.returncode:
        sys.stderr.buffer.write(done.stdout + done.stderr)
        raise SystemExit(f"failed: {' '.join(command)}")
    return done.stdout


if __name__ == "__main__":
    main()
