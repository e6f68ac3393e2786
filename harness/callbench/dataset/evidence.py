"""Where in a case a value stands: is there anything that an answer could have been read from?

Texts are compared folded and on borders of words, numbers by value on borders of numbers, so that
neither ``1`` is in ``10`` nor ``art`` in ``party`` (TRAPS D8). Small numbers are also found as English
words and Chinese numerals. What is found nowhere may still be right: reckoned, translated, chosen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from itertools import pairwise
from typing import Any

from callbench.dataset.case import Case
from callbench.dataset.folding import fold

_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\d]|[.,]\d)")
_DIGITS = re.compile(r"(?<![\d.,])\d+(?:\.\d+)?(?!\d|[.,]\d)")
_WORDS: dict[str, int] = {
    "a": 1, "an": 1, "couple": 2, "dozen": 12, "once": 1, "twice": 2,
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14,
    "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20,
    "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_CHINESE_DIGITS = {character: value for value, character in enumerate("零一二三四五六七八九")}
_CHINESE_DIGITS |= {"〇": 0, "两": 2}
_CHINESE = re.compile("[零〇一二两三四五六七八九十百千万]+")
_TELLING = ("title", "description", "enum", "const", "default", "examples", "example")
_BORDER = "\n\ue000\n"
_UNITS = {"十": 10, "百": 100, "千": 1000}
_LONGEST_NUMBER = 400
"""Characters of a number in digits; every float is shorter. What is longer is compared as text."""


def texts(case: Case) -> tuple[tuple[str, str], ...]:
    """Return every text that a model is given of a case beside the tool, with its field's pointer."""
    return tuple(_texts(case))


def _texts(case: Case) -> Iterator[tuple[str, str]]:
    yield "/question", case.question
    for index, record in enumerate(case.conversation):
        yield f"/conversation/{index}", record["content"]
    for index, fact in enumerate(case.facts):
        yield f"/facts/{index}", fact
    if case.summary:
        yield "/summary", case.summary
    for index, step in enumerate(case.steps):
        for leaf in _leaves(step.output_data):
            yield f"/steps/{index}", leaf
    for leaf in _leaves(case.data):
        yield "/data", leaf
    if case.now is not None:
        yield "/now", case.now.isoformat()


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for member in value.values():
            yield from _leaves(member)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)


def places(case: Case, value: Any) -> tuple[str, ...]:
    """Return the pointers of the texts that hold a string or a number; none for anything else.

    A list or an object is held where each of its strings and numbers is held somewhere; the
    places are then all of theirs.
    """
    if isinstance(value, dict | list):
        parts = list(scalars(value))
        found = [places(case, part) for part in parts]
        if not parts or not all(found):
            return ()
        return tuple(dict.fromkeys(place for one in found for place in one))
    if isinstance(value, bool) or value is None:
        return ()
    return tuple(dict.fromkeys(place for place, text in texts(case) if holds(text, value)))


def scalars(value: Any) -> Iterator[str | int | float]:
    """Yield the strings and numbers in a value; empty ones are left out: nothing tells where they are from."""
    if isinstance(value, dict):
        for member in value.values():
            yield from scalars(member)
    elif isinstance(value, list):
        for item in value:
            yield from scalars(item)
    elif isinstance(value, str | int | float) and not isinstance(value, bool) and value != "":
        yield value


def worded(schema: Any) -> Iterator[str]:
    """Yield the texts and numbers of a tool's schema that say what to fill in."""
    if isinstance(schema, list):
        for item in schema:
            yield from worded(item)
    elif isinstance(schema, dict):
        for word, value in schema.items():
            if word in _TELLING:
                yield from map(str, scalars(value))
            if isinstance(value, dict | list):
                yield from worded(value)


@dataclass(frozen=True, slots=True)
class Sought:
    """A value made ready to be looked for: its folded text, empty for a number, and its number."""

    text: str
    number: Decimal | None

    @classmethod
    def of(cls, value: str | int | float) -> Sought:
        """Make a string or a number ready."""
        if not isinstance(value, str):
            return cls("", _decimal(str(value)))
        text = fold(value)
        return cls(text, _decimal(text))


class Written:
    """A text to look for values in; it is folded, and its numbers are read, when first asked for."""

    __slots__ = ("_folded", "_numbers", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._folded: str | None = None
        self._numbers: frozenset[Decimal] | None = None

    @classmethod
    def of(cls, parts: Iterable[str]) -> Written:
        """Join texts so that nothing stands across a border."""
        return cls(_BORDER.join(parts))

    def holds(self, sought: Sought) -> bool:
        """Say whether a string stands here, folded and on word borders, or a number by its value."""
        if self._folded is None:
            self._folded = fold(self._text)
        if sought.text and _stands_in(sought.text, self._folded):
            return True
        if sought.number is None:
            return False
        if self._numbers is None:
            self._numbers = _numbers(self._folded)
        return sought.number in self._numbers


def holds(text: str, value: str | int | float) -> bool:
    """Say whether a text holds a string, folded and on word borders, or a number by its value."""
    return _written(text).holds(Sought.of(value))


@lru_cache(maxsize=256)
def _written(text: str) -> Written:
    return Written(text)


def _stands_in(wanted: str, text: str) -> bool:
    at = text.find(wanted)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(wanted) : at + len(wanted) + 1]
        if not _joined(before, wanted[:1]) and not _joined(wanted[-1:], after):
            return True
        at = text.find(wanted, at + 1)
    return False


def _joined(one: str, other: str) -> bool:
    """Say whether two neighboring characters belong to one word; CJK text has no borders."""
    return bool(one and other) and all(
        character.isalnum() and not "\u3040" <= character <= "\u9fff" for character in (one, other)
    )


def _decimal(text: str) -> Decimal | None:
    if len(text) > _LONGEST_NUMBER:
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    # As it is: equal by value already, and rounding a very large one would raise.
    return number if number.is_finite() else None


def _numbers(folded: str) -> frozenset[Decimal]:
    found = {_decimal(match.group().replace(",", "")) for match in _NUMBER.finditer(folded)}
    # "7pm", "50k" and "B12" hold their digits too; a sign there is a dash.
    found |= {_decimal(match.group()) for match in _DIGITS.finditer(folded)}
    words = re.findall(r"[a-z]+", folded)
    found |= {Decimal(_WORDS[word]) for word in words if word in _WORDS}
    for tens, unit in pairwise(words):
        if _WORDS.get(tens, 0) in range(20, 100, 10) and 0 < _WORDS.get(unit, 0) < 10:
            found.add(Decimal(_WORDS[tens] + _WORDS[unit]))
    found |= {Decimal(_chinese(match.group())) for match in _CHINESE.finditer(folded)}
    return frozenset(number for number in found if number is not None)


def _chinese(numeral: str) -> int:
    """Return the value of a Chinese numeral up to the ten thousands; digits alone are positional."""
    if not any(character in "十百千万" for character in numeral):
        return int("".join(str(_CHINESE_DIGITS[character]) for character in numeral))
    total = section = digit = 0
    if numeral[-1] in _CHINESE_DIGITS and numeral[-2] in "百千万":
        numeral += {"百": "十", "千": "百", "万": "千"}[numeral[-2]]  # 一百二 is 120
    for character in numeral:
        if character == "万":
            total, section, digit = (total + section + digit or 1) * 10_000, 0, 0
        elif character in _UNITS:
            section += (digit or 1) * _UNITS[character]
            digit = 0
        else:
            digit = _CHINESE_DIGITS[character]
    return total + section + digit
