"""Says in its hello that it implements what it then declines."""

from plumbing import converse, send

converse("liar", lambda run: send({"cmd": "unsupported", "seq": run["seq"]}))
