"""Answers each request with the seq of the one before."""

from plumbing import converse, right, send

converse("late", lambda run: send({**right(run), "seq": max(1, run["seq"] - 1)}))
