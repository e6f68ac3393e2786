"""Numbers as people write them: digits, English words to ninety-nine, Chinese numerals."""

from __future__ import annotations

import re
from fractions import Fraction

_UNITS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_ORDINALS = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
]

WORDS: dict[str, int] = {word: value for value, word in enumerate(_UNITS)}
WORDS |= {word: 10 * value for value, word in enumerate(_TENS, start=2)}
for _tens, _base in [(word, WORDS[word]) for word in _TENS]:
    WORDS |= {f"{_tens}{mark}{_UNITS[n]}": _base + n for n in range(1, 10) for mark in "- "}

ORDINALS: dict[str, int] = {word: value for value, word in enumerate(_ORDINALS, start=1)}
ORDINALS |= {f"twenty{m}{_ORDINALS[n - 1]}": 20 + n for n in range(1, 10) for m in "- "}
ORDINALS |= {"thirtieth": 30, "thirty-first": 31, "thirty first": 31}

_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_POWERS = {"十": 10, "百": 100, "千": 1000}

_words = "|".join(sorted(WORDS, key=len, reverse=True))
_ordinals = "|".join(sorted(ORDINALS, key=len, reverse=True))
HAN = "[零〇一二两三四五六七八九十百千]+"
NUMBER = rf"(?:[0-9]+|(?:{_words})\b|{HAN})"
"""A whole number, for use in a larger pattern; :func:`whole` reads it."""
ORDINAL = rf"(?:[0-9]{{1,2}}(?:st|nd|rd|th)|{_ordinals})"
DECIMAL = rf"(?:[0-9]+\.[0-9]+|{HAN}点[零〇一二三四五六七八九]+|{NUMBER})"

_SIMPLIFIED = str.maketrans("點時鐘後號週個兩禮間裡過晝內農", "点时钟后号周个两礼间里过昼内农")


def simplified(text: str) -> str:
    """Return a text with the traditional characters that speak of time written the simplified way."""
    return text.translate(_SIMPLIFIED)


def whole(text: str) -> int | None:
    """Read a whole number, ``None`` where it is none."""
    if text.isascii() and text.isdigit():
        return int(text) if len(text) <= 9 else None
    if text in WORDS:
        return WORDS[text]
    return _han(text)


def ordinal(text: str) -> int | None:
    """Read "4th" or "fourth"; the ending must fit the number."""
    if text in ORDINALS:
        return ORDINALS[text]
    found = re.fullmatch(r"([0-9]{1,2})(st|nd|rd|th)", text)
    if found is None:
        return None
    number = int(found[1])
    teens = 11 <= number <= 13
    wanted = "th" if teens else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return number if found[2] == wanted else None


def decimal(text: str) -> Fraction | None:
    """Read a number that may have a fraction, exactly."""
    if re.fullmatch(r"[0-9]{1,9}\.[0-9]{1,9}", text):
        return Fraction(text)
    before, point, after = text.partition("点")
    if point:
        number, digits = whole(before), [_DIGITS.get(digit) for digit in after]
        if number is None or not digits or None in digits:
            return None
        return Fraction(f"{number}.{''.join(map(str, digits))}")
    value = whole(text)
    return None if value is None else Fraction(value)


def _han(text: str) -> int | None:
    if not text or any(sign not in _DIGITS and sign not in _POWERS for sign in text):
        return None
    if not any(sign in _POWERS for sign in text):
        return int("".join(str(_DIGITS[sign]) for sign in text)) if len(text) <= 9 else None
    total, digit, last = 0, None, 10_000
    for index, sign in enumerate(text):
        if sign in _POWERS:
            power = _POWERS[sign]
            if power >= last or digit == 0 or (digit is None and (power != 10 or index)):
                return None
            total += (1 if digit is None else digit) * power
            digit, last = None, power
        elif _DIGITS[sign] == 0 and index:
            if digit is not None:
                return None
        elif digit is not None:
            return None
        else:
            digit = _DIGITS[sign]
    if digit and last > 10 and text[-2] in _POWERS:
        digit *= last // 10  # 一百二 is 120, 一百零二 is 102
    return total + (digit or 0)
