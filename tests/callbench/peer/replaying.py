"""A peer that gives the answers of a recorded transcript, in order: ``replaying.py TRANSCRIPT``."""

import sys
from pathlib import Path

answers = Path(sys.argv[1]).read_bytes().splitlines(keepends=True)
for _, answer in zip(sys.stdin.buffer, answers, strict=False):
    sys.stdout.buffer.write(answer)
    sys.stdout.buffer.flush()
