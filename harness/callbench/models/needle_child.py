"""The process that holds the needle engine: reads a JSON line, writes a JSON line.

Run as a script with the library's and the weights' paths; it imports nothing but the standard
library. The engine is native code fed with other people's schemas: should it crash or hang, only
this process is lost. Its five C functions are called directly, so the Python package around them,
which would count usage, is never imported.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from pathlib import Path
from typing import Any

_BUFFER = 1 << 18  # bytes an answer may take


def _load(library: str, weights: str) -> Any:
    lib = ctypes.CDLL(library)
    lib.needle_load.argtypes = [ctypes.c_char_p, ctypes.c_uint64]
    lib.needle_init.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p]
    lib.needle_complete.argtypes = [
        ctypes.c_char_p,
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_int,
    ]
    lib.needle_last_error.argtypes = []
    lib.needle_last_error.restype = ctypes.c_char_p
    data = Path(weights).read_bytes()
    if lib.needle_load(data, len(data)) < 0:
        raise OSError(f"cannot load {weights}")
    return lib


def _answer(lib: Any, request: dict[str, Any], buffer: Any) -> dict[str, Any]:
    tools = json.dumps(request["tools"], ensure_ascii=False)
    # Starting anew for each request forgets every earlier one.
    if lib.needle_init(request["system"].encode(), tools.encode(), None) < 0:
        return {"error": f"the engine refused the tools: {_last_error(lib)}"}
    code = lib.needle_complete(
        request["query"].encode(), int(request["max_tokens"]), buffer, len(buffer)
    )
    if code < 0:
        return {"error": f"the engine gave no answer: {_last_error(lib)}"}
    # The token limit may cut a character in two: what is left of it reads as U+FFFD.
    text = buffer.value.decode("utf-8", "replace")
    try:
        return {"response": json.loads(text)}
    except ValueError as error:
        return {"error": f"the engine's answer is not JSON: {error}"}


def _last_error(lib: Any) -> str:
    return (lib.needle_last_error() or b"").decode("utf-8", "replace") or "no reason given"


def main() -> int:
    """Serve requests until standard input closes."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what the library prints is no answer

    def say(message: dict[str, Any]) -> None:
        out.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")

    try:
        lib = _load(sys.argv[1], sys.argv[2])
    except OSError as error:
        say({"error": str(error)})
        return 1
    say({"ready": True})
    buffer = ctypes.create_string_buffer(_BUFFER)
    for line in sys.stdin.buffer:
        say(_answer(lib, json.loads(line), buffer))
    return 0


if __name__ == "__main__":
    sys.exit(main())
