"""Starts a process of its own, whose number it tells, and hangs."""

import subprocess
import sys
import time

from plumbing import converse


def answer(run):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    print(child.pid, file=sys.stderr, flush=True)
    time.sleep(60)


converse("parent", answer)
