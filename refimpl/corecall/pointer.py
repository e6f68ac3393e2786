"""JSON Pointers (RFC 6901): escape, join, split, look up.

A pointer is text: ``""`` is the whole document, ``"/"`` its key ``""``, ``"/a~1b"`` its key ``a/b``.
Split, it is a tuple of tokens, each a plain string. Whether ``"0"`` is an index or a key is for the
container to say, so tokens are never turned into numbers ahead of time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

_INDEX = re.compile(r"0|[1-9][0-9]*")
_BAD_ESCAPE = re.compile(r"~(?![01])")


class PointerError(ValueError):
    """The text is no JSON Pointer: it lacks the leading slash, or a ``~`` is not ``~0`` or ``~1``."""


def escape(token: str) -> str:
    """Return ``token`` as it is written inside a pointer.

    Contract: schema.pointer.2.
    """
    return token.replace("~", "~0").replace("/", "~1")


def unescape(token: str) -> str:
    """Return the token that ``token`` stands for. The inverse of :func:`escape`.

    Contract: schema.pointer.2.
    """
    return token.replace("~1", "/").replace("~0", "~")


def join(tokens: Iterable[str | int]) -> str:
    """Return the pointer made of ``tokens``; no token gives ``""``, the root.

    Contract: schema.pointer.1.
    """
    return "".join(f"/{escape(str(token))}" for token in tokens)


def split(pointer: str) -> tuple[str, ...]:
    """Return the tokens of ``pointer``, unescaped. Raises :class:`PointerError`.

    Contract: schema.pointer.1, schema.pointer.3.
    """
    if not pointer:
        return ()
    if not pointer.startswith("/"):
        raise PointerError(f"{pointer!r} does not start with '/'")
    if _BAD_ESCAPE.search(pointer):
        raise PointerError(f"{pointer!r} has a '~' that is neither '~0' nor '~1'")
    return tuple(unescape(token) for token in pointer[1:].split("/"))


def array_index(token: str) -> int | None:
    """Return the array index that ``token`` writes, or ``None``: no sign, no leading zero, no ``-``.

    An index of more than 18 digits is ``None`` too: no array is that long.

    Contract: schema.pointer.4.
    """
    return int(token) if len(token) <= 18 and _INDEX.fullmatch(token) else None


def get(document: Any, pointer: str) -> Any:
    """Return the value at ``pointer``, the same object. Raises ``LookupError`` when there is none."""
    value = document
    for token in split(pointer):
        if isinstance(value, dict) and token in value:
            value = value[token]
            continue
        index = array_index(token) if isinstance(value, list) else None
        if index is None or index >= len(value):
            raise LookupError(f"nothing at {pointer!r}")
        value = value[index]
    return value
