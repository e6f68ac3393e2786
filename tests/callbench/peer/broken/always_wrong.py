"""Answers every case with the same wrong value."""

from plumbing import converse, send

converse("wrong", lambda run: send({"cmd": "result", "seq": run["seq"], "value": "wrong"}))
