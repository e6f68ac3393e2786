"""Durations: "45 min", "an hour and a half", 一个半小时, PT45M."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction

from callbench.scoring.temporal.numerals import DECIMAL, decimal

Span = tuple[Fraction, Fraction]
"""Months and seconds; a month is no number of days."""

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_UNITS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds", "秒", "秒钟"), (0, 1)),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes", "分", "分钟"), (0, _MINUTE)),
    **dict.fromkeys(("刻钟", "刻"), (0, 15 * _MINUTE)),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours", "小时", "钟头"), (0, _HOUR)),
    **dict.fromkeys(("d", "day", "days", "天", "日"), (0, _DAY)),
    **dict.fromkeys(("w", "wk", "wks", "week", "weeks", "周", "星期", "礼拜"), (0, 7 * _DAY)),
    **dict.fromkeys(("month", "months", "月"), (1, 0)),
    **dict.fromkeys(("yr", "yrs", "year", "years", "年"), (12, 0)),
}
_unit = "|".join(sorted(_UNITS, key=len, reverse=True))
_latin = "|".join(sorted((name for name in _UNITS if name.isascii()), key=len, reverse=True))
_han = "|".join(sorted((name for name in _UNITS if not name.isascii()), key=len, reverse=True))

_ISO = re.compile(
    r"p(?=[\dt])(?:(\d+(?:\.\d+)?)y)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)w)?"
    r"(?:(\d+(?:\.\d+)?)d)?(?:t(?=\d)(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?"
    r"(?:(\d+(?:\.\d+)?)s)?)?"
)
_ISO_UNITS = ((12, 0), (1, 0), (0, 7 * _DAY), (0, _DAY), (0, _HOUR), (0, _MINUTE), (0, 1))

_PARTS = (
    # an hour and a half, two days and a half
    (rf"(?P<n>an?|{DECIMAL}) ?(?P<unit>{_latin}) and a half", Fraction(1, 2)),
    # one and a half hours
    (rf"(?P<n>an?|{DECIMAL}) and a half (?P<unit>{_latin})", Fraction(1, 2)),
    # 1 1/2 hours
    (rf"(?P<n>[0-9]+) 1/2 ?(?P<unit>{_latin}|{_han})", Fraction(1, 2)),
    # 一个半小时, 两天半, 一年半
    (rf"(?P<n>{DECIMAL}) ?个半 ?(?P<unit>{_han})", Fraction(1, 2)),
    (rf"(?P<n>{DECIMAL}) ?个?(?P<unit>小时|钟头|天|年|周|星期|礼拜|分钟)半", Fraction(1, 2)),
    (rf"(?P<n>an?|{DECIMAL})(?: |-)?(?P<unit>{_latin})", Fraction(0)),
    (rf"(?P<n>{DECIMAL}) ?个? ?(?P<unit>{_han})", Fraction(0)),
)
_PATTERNS = tuple((re.compile(pattern), more) for pattern, more in _PARTS)
_FIXED = {
    "half an hour": "30 min",
    "half hour": "30 min",
    "a half hour": "30 min",
    "1/2 hour": "30 min",
    "a quarter of an hour": "15 min",
    "quarter of an hour": "15 min",
    "three quarters of an hour": "45 min",
    "half a day": "12 h",
    "half a year": "6 months",
    "half a minute": "30 s",
    "半小时": "30 min",
    "半个小时": "30 min",
    "半个钟头": "30 min",
    "半天": "12 h",
    "半年": "6 months",
    "半分钟": "30 s",
}
_JOINT = re.compile(r"(?:,? and |, ?| |零|又|)")


def span(text: str) -> Span | None:
    """Read a folded text as a duration, ``None`` when it is none as a whole."""
    found = _ISO.fullmatch(text)
    if found is not None:
        return _sum(
            (Fraction(number), unit)
            for number, unit in zip(found.groups(), _ISO_UNITS, strict=True)
            if number is not None
        )
    return _spoken(_FIXED.get(text, text))


def _sum(parts: Iterable[tuple[Fraction, tuple[int, int]]]) -> Span | None:
    months, seconds, some = Fraction(0), Fraction(0), False
    for number, (of_month, of_second) in parts:
        months += number * of_month
        seconds += number * of_second
        some = True
    return (months, seconds) if some else None


def _spoken(text: str) -> Span | None:
    """Read part after part, each of a smaller unit than the one before."""
    parts: list[tuple[Fraction, tuple[int, int]]] = []
    at, last = 0, (10**9, 0)
    while at < len(text):
        if parts:
            joint = _JOINT.match(text, at)
            at = joint.end() if joint else at
        part = _part(text, at)
        if part is None:
            return None
        number, unit, at = part
        if unit >= last:
            return None
        parts.append((number, unit))
        last = unit
    return _sum(parts)


def _part(text: str, at: int) -> tuple[Fraction, tuple[int, int], int] | None:
    for pattern, more in _PATTERNS:
        found = pattern.match(text, at)
        if found is None:
            continue
        end = found.end()
        # "5 min" is no "5 m" and a rest: a Latin unit ends where its word does.
        if (
            text[end - 1].isascii()
            and text[end : end + 1].isascii()
            and text[end : end + 1].isalpha()
        ):
            continue
        number = Fraction(1) if found["n"] in ("a", "an") else decimal(found["n"])
        if number is not None:
            return number + more, _UNITS[found["unit"]], end
    return None
