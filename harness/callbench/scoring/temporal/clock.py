"""Times of day: "3pm", "15:00", "half past 6", 下午三点半, noon."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from callbench.scoring.temporal.numerals import HAN, NUMBER, whole

_DAY = 24 * 3600


@dataclass(frozen=True, slots=True)
class Clock:
    """Times of day in seconds since midnight: one, or the two that the words leave open.

    ``offset`` is the distance to UTC in minutes where it is told. ``turn``: at or past a midnight of
    which the words do not say whether the day begins or ends with it. ``after``: on the next day, as
    24:00 is.
    """

    seconds: frozenset[int]
    offset: int | None = None
    turn: bool = False
    after: bool = False


_FIXED = {
    "noon": 12,
    "midday": 12,
    "12 noon": 12,
    "at noon": 12,
    "中午": 12,
    "正午": 12,
    "midnight": 24,
    "12 midnight": 24,
    "at midnight": 24,
    "午夜": 24,
    "半夜12点": 24,
}
_HALF_DAYS = {
    "am": "am",
    "a.m.": "am",
    "a.m": "am",
    "pm": "pm",
    "p.m.": "pm",
    "p.m": "pm",
    "in the morning": "morning",
    "in the afternoon": "afternoon",
    "in the evening": "evening",
    "at night": "night",
    "凌晨": "dawn",
    "清晨": "morning",
    "早上": "morning",
    "早晨": "morning",
    "早": "morning",
    "上午": "forenoon",
    "中午": "midday",
    "下午": "afternoon",
    "午后": "afternoon",
    "傍晚": "evening",
    "晚上": "night",
    "晚间": "night",
    "夜里": "night",
    "夜晚": "night",
    "晚": "night",
}
_english = "|".join(re.escape(word) for word in _HALF_DAYS if word.isascii())
_chinese = "|".join(word for word in _HALF_DAYS if not word.isascii())

_ZONE = r"(?P<zone>z|[+-][0-9]{2}:?[0-9]{2})?"
_DIGITAL = re.compile(
    r"(?:at )?(?P<h>[0-9]{1,2}):(?P<m>[0-9]{2})(?::(?P<s>[0-9]{2})(?:\.0+)?)?"
    rf"(?: ?(?P<half>{_english})| ?{_ZONE})?"
)
_HOUR = re.compile(
    rf"(?:at )?(?P<h>{NUMBER})(?:\.(?P<m>[0-9]{{2}}))?(?P<clock> ?o'?clock)? ?(?P<half>{_english})"
)
_SPOKEN = re.compile(rf"(?:at )?(?P<h>{NUMBER}) (?P<m>[a-z]+(?:[- ][a-z]+)?) ?(?P<half>{_english})")
_OCLOCK = re.compile(rf"(?:at )?(?P<h>{NUMBER}) o'?clock")
_PAST = re.compile(
    rf"(?:at )?(?P<m>half|a quarter|quarter|{NUMBER})(?: minutes?)? (?P<way>past|after|to|before) "
    rf"(?P<h>{NUMBER})(?: o'?clock)?(?: ?(?P<half>{_english}))?"
)
_HAN_CLOCK = re.compile(
    rf"(?P<half>{_chinese})? ?(?P<h>[0-9]{{1,2}}|{HAN})(?:点钟?|时)"
    rf"(?:整|(?P<part>半|一刻|三刻)|(?P<m>[0-9]{{1,2}}|{HAN})(?P<fen>分)?"
    rf"(?:(?P<s>[0-9]{{1,2}}|{HAN})秒)?)?"
)
_HAN_SHORT = re.compile(
    rf"(?P<half>{_chinese})? ?(?:差(?P<m>[0-9]{{1,2}}|{HAN}|一刻)分?(?P<h>[0-9]{{1,2}}|{HAN})点"
    rf"|(?P<h2>[0-9]{{1,2}}|{HAN})点差(?P<m2>[0-9]{{1,2}}|{HAN}|一刻)分?)"
)
_HAN_DIGITAL = re.compile(
    rf"(?P<half>{_chinese}) ?(?P<h>[0-9]{{1,2}}):(?P<m>[0-9]{{2}})(?::(?P<s>[0-9]{{2}}))?"
)
_PARTS = {"半": 30, "一刻": 15, "三刻": 45, "half": 30, "quarter": 15, "a quarter": 15}


_SPANS = {
    "morning": (0, 12 * 3600),
    "afternoon": (12 * 3600, 19 * 3600),
    "evening": (16 * 3600, _DAY),
    "night": (17 * 3600, _DAY),
}
"""Within which seconds a time of the day lies that is told with its part of the day."""


def within(time: Clock, part: str) -> Clock | None:
    """Return what a time means in a part of the day, ``None`` where it is outside of it."""
    low, high = _SPANS[part]
    seconds = frozenset(second for second in time.seconds if low <= second < high)
    return replace(time, seconds=seconds) if seconds and not (time.turn or time.after) else None


def clock(text: str) -> Clock | None:
    """Read a folded text as a time of day, ``None`` when it is none as a whole."""
    if text in _FIXED:
        return _at(_FIXED[text] * 3600)
    if found := _DIGITAL.fullmatch(text):
        if found["half"]:
            return _halved(int(found["h"]), int(found["m"]), _two(found["s"]), found["half"])
        return _full(int(found["h"]), int(found["m"]), _two(found["s"]), found["zone"])
    if found := _HAN_DIGITAL.fullmatch(text):
        return _halved(int(found["h"]), int(found["m"]), _two(found["s"]), found["half"])
    if found := _PAST.fullmatch(text):
        before = found["way"] in ("to", "before")
        return _counted(whole(found["h"]), _minutes(found["m"]), found["half"], before=before)
    if (found := _HOUR.fullmatch(text)) or (found := _SPOKEN.fullmatch(text)):
        return _halved(whole(found["h"]), whole(found["m"]) if found["m"] else 0, 0, found["half"])
    if found := _OCLOCK.fullmatch(text):
        return _face(whole(found["h"]), 0, 0)
    if found := _HAN_CLOCK.fullmatch(text):
        return _han_clock(found)
    if found := _HAN_SHORT.fullmatch(text):
        hour, minutes = found["h"] or found["h2"], found["m"] or found["m2"]
        return _counted(whole(hour), _minutes(minutes), found["half"], before=True)
    return None


def _minutes(text: str) -> int | None:
    return _PARTS[text] if text in _PARTS else whole(text)


def _two(text: str | None) -> int:
    return int(text) if text else 0


def _at(seconds: int, offset: int | None = None) -> Clock:
    return Clock(frozenset({seconds % _DAY}), offset, seconds >= _DAY)


def _sound(minutes: int | None, seconds: int | None) -> bool:
    return minutes is not None and seconds is not None and minutes < 60 and seconds < 60


def _full(hour: int, minutes: int, seconds: int, zone: str | None) -> Clock | None:
    if not _of_a_day(hour, minutes, seconds):
        return None
    offset = None
    if zone:
        digits = zone[1:].replace(":", "")
        offset = 0 if zone == "z" else int(digits[:2]) * 60 + int(digits[2:])
        offset = -offset if zone[0] == "-" else offset
    return Clock(
        frozenset({(hour * 3600 + minutes * 60 + seconds) % _DAY}), offset, after=hour == 24
    )


def _of_a_day(hour: int, minutes: int, seconds: int) -> bool:
    return (hour < 24 and _sound(minutes, seconds)) or (hour, minutes, seconds) == (24, 0, 0)


def _face(hour: int | None, minutes: int | None, seconds: int | None) -> Clock | None:
    """What a dial shows: up to twelve it may be either half of the day."""
    if hour is None or minutes is None or seconds is None or not _of_a_day(hour, minutes, seconds):
        return None
    rest = minutes * 60 + seconds
    if 1 <= hour <= 12:
        return Clock(frozenset({hour % 12 * 3600 + rest, (hour % 12 + 12) * 3600 + rest}))
    return _full(hour, minutes, seconds, None)


def _halved(hour: int | None, minutes: int | None, seconds: int | None, half: str) -> Clock | None:
    if hour is None or minutes is None or seconds is None or not _sound(minutes, seconds):
        return None
    at = _hour_of(hour, _HALF_DAYS[half])
    return None if at is None else _at(at * 3600 + minutes * 60 + seconds)


def _hour_of(hour: int, half: str) -> int | None:
    """Return the hour of the day, ``None`` where nobody would say it so."""
    if half in ("am", "pm"):
        return hour % 12 + 12 * (half == "pm") if 1 <= hour <= 12 else None
    low, high, shift = {
        "dawn": (0, 6, 0),
        "morning": (1, 11, 0),
        "forenoon": (1, 12, 0),
        "midday": (11, 12, 0),
        "afternoon": (1, 11, 12),
        "evening": (4, 11, 12),
        "night": (5, 12, 12),
    }[half]
    if low <= hour <= high:
        return hour + shift
    if half == "midday" and hour in (1, 2):
        return hour + 12
    if half == "dawn" and hour == 12:
        return 0
    if half == "afternoon" and hour == 12:
        return 12
    late = half in ("afternoon", "evening", "night") and 12 < hour < 24
    return hour if late else None


def _counted(
    hour: int | None, minutes: int | None, half: str | None, *, before: bool
) -> Clock | None:
    """Read "ten to seven": the half of the day is that of the hour named."""
    if hour is None or minutes is None or not 0 < minutes < 60 or not 1 <= hour <= 12:
        return None
    base = _face(hour, 0, 0) if half is None else _halved(hour, 0, 0, half)
    if base is None or (half is not None and base.turn):
        return None
    shift = (-minutes if before else minutes) * 60
    return Clock(frozenset((second + shift) % _DAY for second in base.seconds))


def _han_clock(found: re.Match[str]) -> Clock | None:
    if found["m"] and not found["fen"] and len(found["m"]) == 1 and found["m"] not in "十":
        return None  # 三点五 is a number
    hour = whole(found["h"])
    minutes = whole(found["m"]) if found["m"] else _PARTS.get(found["part"] or "", 0)
    seconds = whole(found["s"]) if found["s"] else 0
    if found["half"]:
        return _halved(hour, minutes, seconds, found["half"])
    return _face(hour, minutes, seconds)
