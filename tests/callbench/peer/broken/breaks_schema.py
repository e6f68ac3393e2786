"""Answers with the name of an exception instead of a word of the contract."""

from plumbing import converse, send

converse(
    "namer",
    lambda run: send({"cmd": "error", "seq": run["seq"], "kind": "IndexError", "message": "no"}),
)
