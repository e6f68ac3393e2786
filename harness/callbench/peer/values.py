"""Values on the wire: the tags for what JSON cannot say, both ways. See PROTOCOL.md, "Values"."""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable, Iterable
from typing import Any

_MOST_EXACT = 2**53 - 1
_HALF = re.compile("[\ud800-\udfff]")
_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def encode(value: Any) -> Any:
    """Return ``value`` as JSON that every language reads alike.

    Takes JSON's values, tuples (as arrays) and bytes. Raises ``ValueError`` for anything else, also
    for a number that is not finite and a member whose name is no string.
    """
    # One frame for each level: what is tested is nested deeply, too.
    match value:
        case None | bool():
            return value
        case str():
            return _text(value) if _HALF.search(value) else value
        case int():
            return {"$int": str(value)} if abs(value) > _MOST_EXACT else value
        case float():
            if not math.isfinite(value):
                raise ValueError(f"{value} is no JSON number")
            return {"$float": repr(value)} if value.is_integer() else value
        case bytes():
            return {"$bytes": base64.b64encode(value).decode()}
        case list() | tuple():
            items = []
            for item in value:
                items.append(encode(item))
            return items
        case dict():
            members = {}
            for name, member in value.items():
                members[name] = encode(member)
            return _object(members)
    raise ValueError(f"{type(value).__name__} is no JSON value")


def decode(value: Any) -> Any:
    """Return what JSON with tags stands for; ``ValueError`` for a tag that holds what it cannot."""
    if isinstance(value, list):
        items = []
        for item in value:
            items.append(decode(item))
        return items
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((name, content),) = value.items()
        if name in _TAGS:
            try:
                return _TAGS[name](content)
            except (TypeError, ValueError, KeyError, AttributeError) as error:
                shown = json.dumps(value)[:80]
                raise ValueError(f"{shown} is no value of the tag {name}") from error
    members = {}
    for name, member in value.items():
        members[name] = decode(member)
    return members


def _object(members: dict[Any, Any]) -> Any:
    """Return an object whose members are encoded already."""
    if not all(isinstance(name, str) for name in members):
        raise ValueError("the name of a member is no string")
    if any(_HALF.search(name) for name in members):
        return {"$members": [[encode(name), member] for name, member in members.items()]}
    tagged = len(members) == 1 and next(iter(members)) in _TAGS
    return {"$object": members} if tagged else members


def _text(value: str) -> Any:
    pieces: list[str | int] = []
    for piece in re.split("([\ud800-\udfff])", value):
        if piece:
            pieces.append(ord(piece) if _HALF.match(piece) else piece)
    return {"$string": pieces}


def _integer(content: str) -> int:
    if not _INTEGER.fullmatch(content):
        raise ValueError(content)
    return int(content)


def _float(content: str) -> float:
    if not _NUMBER.fullmatch(content) or not math.isfinite(number := float(content)):
        raise ValueError(content)
    return number


def _bytes(content: str) -> bytes:
    return base64.b64decode(content, validate=True)


def _string(content: list[str | int]) -> str:
    pieces = [_half(piece) if isinstance(piece, int) else _string_piece(piece) for piece in content]
    # Two halves that meet are one character, as in every language whose strings are UTF-16.
    joined = "".join(pieces).encode("utf-16-le", "surrogatepass")
    return joined.decode("utf-16-le", "surrogatepass")


def _half(number: int) -> str:
    if not 0xD800 <= number <= 0xDFFF:
        raise ValueError(number)
    return chr(number)


def _string_piece(piece: Any) -> str:
    if not isinstance(piece, str):
        raise TypeError(piece)
    return piece


def _literal(content: dict[str, Any]) -> dict[str, Any]:
    return {name: decode(member) for name, member in content.items()}


def _members(content: Iterable[list[Any]]) -> dict[str, Any]:
    return {_string_piece(decode(name)): decode(member) for name, member in content}


_TAGS: dict[str, Callable[[Any], Any]] = {
    "$int": _integer,
    "$float": _float,
    "$bytes": _bytes,
    "$string": _string,
    "$object": _literal,
    "$members": _members,
}
