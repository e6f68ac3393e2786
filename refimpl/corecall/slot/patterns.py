"""Regular expressions of a schema: ECMA-262 in, bounded time out.

The engine is the one of ``jsonschema-rs``: linear time where the pattern allows it, else (lookaround,
backreference) backtracking with a limit. Every pattern is rewritten for it, so that nothing hangs on
how it reads ``\\w``, ``\\d``, ``\\s``, ``\\b`` and ``.`` (measured: ``x(?=\\w)`` takes é for a word
character), and so that the older, web form of ECMA-262 works too: ``\\-``, a bare ``{``, ``[\\d-x]``.
Two corners are not ECMA-262's: a quantifier on a lookahead is refused, and a backreference to a group
that took no part in the match fails instead of matching nothing.

Contract: schema.valid.10, schema.valid.11, schema.valid.12, schema.engine.2, schema.engine.3.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import jsonschema_rs

MAX_LENGTH = 20_000
"""Longest pattern, in characters."""

BACKTRACK_LIMIT = 100_000
"""Steps back that a lookaround or backreference pattern may take on a text of normal length."""

NORMAL_LENGTH = 4_096
"""Longest text that gets the whole :data:`BACKTRACK_LIMIT`; a longer one gets less in proportion."""

_LOWEST_LIMIT = 100
_SURROGATE = re.compile("[\ud800-\udfff]")
_QUANTIFIER = re.compile(r"\{[0-9]+(?:,[0-9]*)?\}")
_GROUP_NAME = re.compile(r"\(\?<(?![=!])([^(>]*+)>")
_WORD = "0-9A-Z_a-z"
_SPACE = r"\t-\r \u{A0}\u{1680}\u{2000}-\u{200A}\u{2028}\u{2029}\u{202F}\u{205F}\u{3000}\u{FEFF}"
_SETS = {
    "d": "0-9",
    "D": r"\u{0}-/:-\u{10FFFF}",
    "w": _WORD,
    "W": r"\u{0}-/:-@\u{5B}-\u{5E}`\u{7B}-\u{10FFFF}",
    "s": _SPACE,
    "S": r"\u{0}-\u{8}\u{E}-\u{1F}!-\u{9F}\u{A1}-\u{167F}\u{1681}-\u{1FFF}\u{200B}-\u{2027}"
    r"\u{202A}-\u{202E}\u{2030}-\u{205E}\u{2060}-\u{2FFF}\u{3001}-\u{FEFE}\u{FF00}-\u{10FFFF}",
}
"""The sets of ECMA-262 as the inside of a bracketed class; the negated ones are spelled out."""

_DOT = r"[^\n\r\u{2028}\u{2029}]"
_EDGE = rf"(?:(?<=[{_WORD}])(?![{_WORD}])|(?<![{_WORD}])(?=[{_WORD}]))"
_NO_EDGE = rf"(?:(?<=[{_WORD}])(?=[{_WORD}])|(?<![{_WORD}])(?![{_WORD}]))"


class PatternError(ValueError):
    """The text is no regular expression of ECMA-262, or one too large to compile.

    Contract: schema.valid.13, schema.engine.4.
    """


def map_surrogates(text: str) -> str:
    """Return ``text`` with each lone surrogate replaced by a private-use character.

    The engine takes Unicode text only. Length and equality stay what they were, as long as the
    text does not use the last 2,048 characters of plane 16 itself.

    Contract: schema.valid.23, schema.engine.7.
    """
    return _SURROGATE.sub(lambda found: chr(ord(found[0]) - 0xD800 + 0x10F700), text)


def mapped(value: Any) -> Any:
    """Return a copy of a JSON value without lone surrogates, which the engine cannot take."""
    if isinstance(value, dict):
        return {map_surrogates(key): mapped(child) for key, child in value.items()}
    if isinstance(value, list):
        return [mapped(child) for child in value]
    return map_surrogates(value) if isinstance(value, str) else value


class Matcher:
    """One compiled pattern. ``source`` is what the engine was given, ``linear`` how it runs."""

    def __init__(self, pattern: str) -> None:
        """Compile ``pattern``. Raises :class:`PatternError`."""
        self.source, self.linear = _accepted(pattern, ascii_text=False)
        self._ascii = (self.source, self.linear)
        if not self.linear and re.search(r"\\[bB]", pattern):
            self._ascii = _accepted(pattern, ascii_text=True)  # may spare the lookarounds

    def matches(self, text: str) -> bool:
        """Say whether the pattern is found in ``text``.

        A backtracking pattern that reaches its limit counts as not found: time is bounded, and an
        undecided text is not accepted.

        Contract: schema.limit.5, schema.engine.18.
        """
        source, linear = self._ascii if text.isascii() else (self.source, self.linear)
        limit = BACKTRACK_LIMIT if linear else _limit(len(text))
        return _validator(source, limit).is_valid(map_surrogates(text))


def _limit(length: int) -> int:
    if length <= NORMAL_LENGTH:
        return BACKTRACK_LIMIT
    budget = BACKTRACK_LIMIT * NORMAL_LENGTH // length
    return max(_LOWEST_LIMIT, 1 << budget.bit_length() - 1)  # few distinct limits, so few compiles


@lru_cache(maxsize=1024)
def _validator(source: str, limit: int) -> jsonschema_rs.Draft7Validator:
    return jsonschema_rs.Draft7Validator(
        {"pattern": source},
        pattern_options=jsonschema_rs.FancyRegexOptions(backtrack_limit=limit),
    )


@lru_cache(maxsize=1024)
def _accepted(pattern: str, *, ascii_text: bool) -> tuple[str, bool]:
    """Return the pattern as the engine takes it, and whether it runs in linear time.

    Contract: schema.limit.9.
    """
    if len(pattern) > MAX_LENGTH:
        raise PatternError(f"a regular expression of more than {MAX_LENGTH:,} characters")
    source = _Translator(map_surrogates(pattern), ascii_text=ascii_text).run()
    if not _compiles(source, jsonschema_rs.FancyRegexOptions(backtrack_limit=BACKTRACK_LIMIT)):
        raise PatternError("not a regular expression of ECMA-262, or too large a one")
    return source, _compiles(source, jsonschema_rs.RegexOptions())


def _compiles(
    source: str, options: jsonschema_rs.RegexOptions | jsonschema_rs.FancyRegexOptions
) -> bool:
    try:
        jsonschema_rs.Draft7Validator({"pattern": source}, pattern_options=options)
    except ValueError:
        return False
    return True


class _Translator:
    """Rewrites one pattern, left to right; what it does not know it copies for the engine to judge."""

    def __init__(self, pattern: str, *, ascii_text: bool) -> None:
        self._text = pattern
        self._at = 0
        self._ascii_text = ascii_text
        self._names = _group_names(pattern)
        self._open: list[int] = []  # groups around the current place, 0 for those without a number
        self._opened = 0
        self._groups = len(self._names) - 1

    def run(self) -> str:
        out: list[str] = []
        text = self._text
        while self._at < len(text):
            char = text[self._at]
            if char == "\\":
                out.append(self._escape(in_class=False))
            elif char == "[":
                out.append(self._class())
            elif char == "{":
                quantifier = _QUANTIFIER.match(text, self._at)
                out.append(quantifier[0] if quantifier else r"\{")
                self._at += len(quantifier[0]) if quantifier else 1
            elif char == ".":
                out.append(_DOT)
                self._at += 1
            elif char in "]}":
                out.append("\\" + char)
                self._at += 1
            elif char == "(":
                out.append(self._group())
            elif char == ")":
                self._open[-1:] = []
                out.append(char)
                self._at += 1
            else:
                out.append(char)
                self._at += 1
        return "".join(out)

    def _group(self) -> str:
        """Read what opens a group; the engine needs no names."""
        named = _GROUP_NAME.match(self._text, self._at)
        numbered = named is not None or not self._text.startswith("(?", self._at)
        self._opened += numbered
        self._open.append(self._opened if numbered else 0)
        self._at = named.end() if named else self._at + 1
        return "("

    def _reference(self, number: int) -> str:
        """Write a backreference. To a group that is not closed yet it matches nothing, always."""
        if number > self._opened or number in self._open:
            return "(?:a{0})"  # the engine will not repeat "(?:)"
        return f"(?:\\{number})"

    def _escape(self, *, in_class: bool) -> str:
        """Read one escape at the current place; return how the engine writes it."""
        text, start = self._text, self._at
        char = text[start + 1 : start + 2]
        self._at = start + 2
        if not char:
            return "\\"  # a lone backslash at the end: the engine will refuse it
        if char in "bB" and not in_class:
            if self._ascii_text:
                return "\\" + char
            return _EDGE if char == "b" else _NO_EDGE
        if char == "b":
            return r"\u{8}"
        if char in _SETS:
            return _SETS[char] if in_class else f"[{_SETS[char]}]"
        if char in "fnrtv":
            return "\\" + char
        if char in "pP":
            found = re.compile(r"\{[^{}]*\}").match(text, self._at)
            if found:
                self._at = found.end()
                return f"\\{char}{found[0]}"
        if char == "c" and (letter := text[self._at : self._at + 1]).isalpha() and letter.isascii():
            self._at += 1
            return _code(ord(letter) % 32)
        if char in "xu":
            return self._code_point(char)
        if char == "k" and not in_class and any(self._names):
            found = re.compile(r"<([^<>]*+)>").match(text, self._at)
            if found and found[1] in self._names:
                self._at = found.end()
                return self._reference(self._names.index(found[1]))
        if char.isdecimal() and char.isascii():
            return self._digits(in_class=in_class)
        return _literal(char)

    def _code_point(self, kind: str) -> str:
        text = self._text
        form = r"[0-9a-fA-F]{2}" if kind == "x" else r"\{([0-9a-fA-F]+)\}|[0-9a-fA-F]{4}"
        found = re.compile(form).match(text, self._at)
        if not found:
            return _literal(kind)
        self._at = found.end()
        code = int(found[0].strip("{}"), 16)
        if 0xD800 <= code <= 0xDBFF:
            low = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})").match(text, self._at)
            if low:
                self._at = low.end()
                code = 0x10000 + ((code - 0xD800) << 10) + int(low[1], 16) - 0xDC00
        if 0xD800 <= code <= 0xDFFF:
            code = ord(map_surrogates(chr(code)))
        return _code(code)

    def _digits(self, *, in_class: bool) -> str:
        """A backreference if there are so many groups, else an old octal escape, else the digit."""
        text, start = self._text, self._at - 1
        number = re.compile(r"[1-9][0-9]{0,4}(?![0-9])").match(text, start)
        if number and not in_class and int(number[0]) <= self._groups:
            self._at = number.end()
            return self._reference(int(number[0]))
        octal = re.compile(r"[0-3][0-7]{0,2}|[4-7][0-7]?").match(text, start)
        if octal:
            self._at = octal.end()
            return _code(int(octal[0], 8))
        return _literal(text[start])

    def _class(self) -> str:
        """Read a bracketed class; return it with every literal escaped."""
        text = self._text
        self._at += 1
        negated = text.startswith("^", self._at)
        self._at += negated
        out: list[str] = []
        start: str | None = None  # what a following "-" would make the start of a range
        while self._at < len(text) and text[self._at] != "]":
            if (
                start is not None
                and text[self._at] == "-"
                and text[self._at + 1 : self._at + 2] != "]"
            ):
                self._at += 1
                end = self._member()
                out += ["-" if _single(start) and _single(end) else _literal("-"), end]
                start = None
                continue
            start = self._member()
            out.append(start)
        if self._at >= len(text):
            return "["  # never closed: the engine will refuse it
        self._at += 1
        if not out:
            return r"[\u{0}-\u{10FFFF}]" if negated else r"[^\u{0}-\u{10FFFF}]"
        return f"[{'^' if negated else ''}{''.join(out)}]"

    def _member(self) -> str:
        if self._text[self._at : self._at + 1] == "\\":
            return self._escape(in_class=True)
        self._at += 1
        return _literal(self._text[self._at - 1 : self._at])


def _single(member: str) -> bool:
    """Say whether a class member is one character rather than a set."""
    return len(member) <= 2 or re.fullmatch(r"\\u\{[0-9A-F]+\}", member) is not None


def _literal(char: str) -> str:
    return char if char.isalnum() or char == "_" or char > "\x7f" else _code(ord(char))


def _code(code: int) -> str:
    return f"\\u{{{code:X}}}"


def _group_names(pattern: str) -> list[str]:
    """Return the names of the numbered groups by number, ``""`` for those without; 0 is the whole."""
    bare = re.sub(r"\\.|\[(?:\\.|[^\]\\])*+(?:\]|\\?\Z)", "", pattern, flags=re.DOTALL)
    return ["", *re.findall(r"\((?!\?)|\(\?<(?![=!])([^(>]*+)>", bare)]
