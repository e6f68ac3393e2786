"""Mending of JSON objects that models write almost right. Only on request, always reported.

What is mended is what has one reading: a trailing comma, Python's quotes and literals, typographic
quotes, bare identifiers, raw line breaks in strings, closing brackets missing at the very end.
A string, a bare word or a half-written number that was cut off is not completed: nobody knows
what was meant. A number that is whole is read as it stands, also at the very end.

Contract: reply.repair.11, reply.repair.12.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, NamedTuple

from .jsontext import MAX_DEPTH, STRING, loads

TRAILING_COMMA: Final = "trailing comma"
SINGLE_QUOTES: Final = "single quotes"
CURLY_QUOTES: Final = "curly quotes"
PYTHON_LITERAL: Final = "Python literal"
BARE_KEY: Final = "unquoted key"
BARE_VALUE: Final = "unquoted value"
ESCAPED_APOSTROPHE: Final = "escaped apostrophe"
CONTROL_CHARACTER: Final = "control character in string"
MISSING_BRACKET: Final = "missing closing bracket"

_BLANKS = re.compile(r"[ \t\r\n]*+")
_END = re.compile(r"[ \t\r\n]*+(?:```[ \t\r\n]*+)?\Z")
_QUOTED = {
    '"': re.compile(STRING, re.DOTALL),
    "'": re.compile(r"'[^'\\]*+(?:\\.[^'\\]*+)*+'", re.DOTALL),
    "‘": re.compile(r"‘[^’\\]*+(?:\\.[^’\\]*+)*+’", re.DOTALL),
    "“": re.compile(r"“[^”\\]*+(?:\\.[^”\\]*+)*+”", re.DOTALL),
}
_NUMBER = re.compile(r"-?[0-9][0-9.eE+-]*+")
_NAME = re.compile(r"[^\W\d][\w-]*+")
_ESCAPE_OR_QUOTE = re.compile(r"\\.|\"|[\x00-\x1f]", re.DOTALL)
_LITERALS: Final = {"true": True, "false": False, "null": None}
_PYTHON_LITERALS: Final = {"True": True, "False": False, "None": None}
# Words that stand for "no value" in some language: text in quotes would be an invention.
_NO_WORDS: Final = frozenset({"NaN", "Infinity", "undefined", "inf", "nan"})


def repair_object(text: str, *, alone: bool = False) -> Repaired | None:
    """Return the object that ``text`` starts with and the repairs made, in order of need.

    ``None`` when there is more than one reading, or none, or nothing to mend. What follows
    the object is ignored, unless it must stand ``alone``. Time is linear in ``text``.
    """
    repairer = _Repairer(text)
    try:
        value = repairer.object(1)
    except ValueError:
        return None
    if not repairer.made or (alone and not _END.match(text, repairer.position)):
        return None
    return Repaired(value, tuple(repairer.made), tuple(repairer.duplicates))


class Repaired(NamedTuple):
    """A mended object, the repairs it took, and the keys that stood in it more than once."""

    object: dict[str, Any]
    repairs: tuple[str, ...]
    duplicates: tuple[str, ...]


class _Repairer:
    """A JSON reader that steps over known slips and notes each kind once.

    Contract: reply.repair.2, reply.repair.3, reply.repair.4, reply.repair.5, reply.repair.6,
    reply.repair.7, reply.repair.8, reply.repair.9, reply.repair.10.
    """

    __slots__ = ("duplicates", "made", "position", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.made: dict[str, None] = {}
        self.duplicates: dict[str, None] = {}

    def peek(self) -> str:
        """Skip blanks and return the next character, ``""`` at the end."""
        blanks = _BLANKS.match(self.text, self.position)
        assert blanks is not None
        self.position = blanks.end()
        return self.text[self.position : self.position + 1]

    def object(self, depth: int) -> dict[str, Any]:
        """Read an object of which every member is complete."""
        members: dict[str, Any] = {}
        twice: dict[str, None] = {}
        self.expect("{")
        while self.more("}", first=not members):
            key = self.key()
            self.expect(":")
            if key in members:
                twice[key] = None
            members[key] = self.value(depth + 1)
        self.duplicates |= twice  # after those of the objects inside
        return members

    def array(self, depth: int) -> list[Any]:
        """Read an array of which every item is complete."""
        items: list[Any] = []
        self.expect("[")
        while self.more("]", first=not items):
            items.append(self.value(depth + 1))
        return items

    def more(self, closer: str, *, first: bool) -> bool:
        """Step over a comma or a closing bracket; say whether another member follows."""
        if not first and _END.match(self.text, self.position):
            self.made[MISSING_BRACKET] = None
            return False
        comma = not first and self.peek() == ","
        if comma:
            self.position += 1
        if self.peek() == closer:
            self.position += 1
            if comma:
                self.made[TRAILING_COMMA] = None
            return False
        if not (first or comma):
            raise ValueError
        return True

    def expect(self, character: str) -> None:
        if self.peek() != character:
            raise ValueError
        self.position += 1

    def key(self) -> str:
        if self.peek() in _QUOTED:
            return self.string()
        self.made[BARE_KEY] = None
        return self.take(_NAME)

    def value(self, depth: int) -> Any:
        first = self.peek()
        if first in ("{", "["):
            if depth > MAX_DEPTH:
                raise ValueError
            return self.object(depth) if first == "{" else self.array(depth)
        if first in _QUOTED:
            return self.string()
        if first and first in "-0123456789":
            return loads(self.take(_NUMBER))
        word = self.take(_NAME)
        if word in _LITERALS:
            return _LITERALS[word]
        if word in _PYTHON_LITERALS:
            self.made[PYTHON_LITERAL] = None
            return _PYTHON_LITERALS[word]
        if word in _NO_WORDS or _END.match(self.text, self.position):
            raise ValueError  # at the end it may be half a word
        self.made[BARE_VALUE] = None
        return word

    def string(self) -> str:
        quote = self.text[self.position]
        body = self.take(_QUOTED[quote])[1:-1]
        if quote == "'":
            self.made[SINGLE_QUOTES] = None
        elif quote != '"':
            self.made[CURLY_QUOTES] = None
        value = loads('"' + _ESCAPE_OR_QUOTE.sub(self.escaped, body) + '"')
        assert isinstance(value, str)
        return value

    def escaped(self, found: re.Match[str]) -> str:
        """Write one character of a string body the way JSON has it."""
        mark = found[0]
        if mark == "\\'":
            self.made[ESCAPED_APOSTROPHE] = None
            return "'"
        if mark[0] == "\\":
            return mark
        if mark != '"':
            self.made[CONTROL_CHARACTER] = None
        return json.dumps(mark)[1:-1]

    def take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.position)
        if found is None:
            raise ValueError
        self.position = found.end()
        return found[0]
