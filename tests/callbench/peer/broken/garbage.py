"""Prints a line of its debugging before the answer."""

from plumbing import converse, raw, right, send


def answer(run):
    raw(b"DEBUG: about to answer\n")
    send(right(run))


converse("debugger", answer)
