"""Ends with exit code 3 when it is asked about the pointer of the second level."""

import sys

from plumbing import converse, right, send


def answer(run):
    if run["input"].get("pointer", "").count("/") == 2:
        print("cannot go on", file=sys.stderr, flush=True)
        sys.exit(3)
    send(right(run))


converse("crasher", answer)
