"""Strict JSON text, read and written: one reader for replies, arguments and events.

orjson decides what is JSON (no NaN, no Infinity, no number too large for a double, no raw
control character, no lone surrogate: half a character cannot be written to any UTF-8 file).
The standard library reads the few texts whose integers do not fit 64 bits, which orjson
would round.
"""

from __future__ import annotations

import json
import re
from typing import Any

import orjson
from pydantic_core import to_jsonable_python

MAX_DEPTH = 100
"""Deepest nesting read; ``{}`` is 1 deep, a scalar 0."""

BLANK = " \t\r\n\ufeff"
"""Whitespace of JSON, and the byte order mark some endpoints send first."""

STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
"""A closed JSON string, escapes unchecked; compile with ``re.DOTALL``."""

OPEN_STRING = STRING[:-1] + r'(?:"|\\?\Z)'
"""A JSON string that may run into the end of the text, so every quote matches in linear time."""

_LONG_INTEGER = re.compile(r"[0-9]{19}")
_STRUCTURE = re.compile(OPEN_STRING + r"|[{}\[\]]", re.DOTALL)


def loads(text: str) -> Any:
    """Return the value of a strict JSON text (RFC 8259), surrounding blanks and BOM ignored.

    Integers keep every digit. Of equal keys in one object the last wins; use
    :func:`duplicate_keys` to learn of them.

    Raises:
        json.JSONDecodeError: (a ``ValueError``) with the position in ``text``, when it is not
            JSON or nests deeper than :data:`MAX_DEPTH`. Never ``RecursionError``.

    Contract: reply.json.1, reply.json.2, reply.json.3, reply.json.4, reply.json.5, reply.json.6,
    reply.json.8, reply.json.9.
    """
    if text.count("{") + text.count("[") > MAX_DEPTH:
        _check_depth(text)
    body = text.strip(BLANK)
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        position = len(text) - len(text.lstrip(BLANK)) + error.pos
        raise json.JSONDecodeError(error.msg, text, position) from None
    return json.loads(body) if _LONG_INTEGER.search(body) else value


def duplicate_keys(text: str, value: Any) -> tuple[str, ...]:
    """Return the keys that an object in ``text`` holds more than once, each named once.

    ``value`` is what :func:`loads` made of ``text``. Counting comes first, since nearly
    every text has none: colons outside strings are as many as keys.

    Contract: reply.json.7.
    """
    text = text.strip(BLANK)
    if "\\u" not in text and text.count(":") == _count_colons(value):
        return ()
    seen_twice: dict[str, None] = {}

    def note(pairs: list[tuple[str, Any]]) -> None:
        seen = set()
        for key, _ in pairs:
            if key in seen:
                seen_twice[key] = None
            seen.add(key)

    json.loads(text, object_pairs_hook=note)
    return tuple(seen_twice)


def _count_colons(value: Any) -> int:
    total = 0
    pending = [value]
    while pending:
        item = pending.pop()
        if type(item) is str:
            total += item.count(":")
        elif type(item) is dict:
            total += len(item)
            pending += item
            pending += item.values()
        elif type(item) is list:
            pending += item
    return total


def _check_depth(text: str) -> None:
    depth = 0
    for token in _STRUCTURE.finditer(text):
        match text[token.start()]:
            case "{" | "[":
                depth += 1
                if depth > MAX_DEPTH:
                    message = f"nested deeper than {MAX_DEPTH}"
                    raise json.JSONDecodeError(message, text, token.start())
            case "}" | "]":
                depth -= 1


def dumps(value: Any) -> str:
    """Return ``value`` as JSON text, not ASCII-escaped.

    What Python has and JSON has not is written as pydantic writes it: a date in ISO 8601, an
    enum member as its value. NaN and Infinity become ``null``, any other object its ``str``.

    Raises:
        ValueError: ``value`` contains itself, nests deeper than 254, or has bytes that are
            no UTF-8.
    """
    plain = to_jsonable_python(value, fallback=str, inf_nan_mode="null")
    return json.dumps(plain, ensure_ascii=False)
