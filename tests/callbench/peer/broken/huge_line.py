"""Answers with a line of 20 MB."""

from plumbing import converse, raw

converse("huge", lambda run: raw(b'"' + b"x" * (20 * 2**20) + b'"\n'))
