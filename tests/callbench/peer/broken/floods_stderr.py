"""Answers rightly, and writes a megabyte to standard error before each answer."""

import sys

from plumbing import converse, right, send


def answer(run):
    for _ in range(1024):
        sys.stderr.write("x" * 1023 + "\n")
    sys.stderr.write(f"seq {run['seq']}\n")
    sys.stderr.flush()
    send(right(run))


converse("flooder", answer)
