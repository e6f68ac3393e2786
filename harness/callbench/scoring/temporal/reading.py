"""One key for what a text says of time: equal exactly when two texts denote the same."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Literal

from callbench.dataset.case import DateOrder
from callbench.dataset.folding import fold
from callbench.scoring.temporal.calendar import Calendar, Days
from callbench.scoring.temporal.clock import Clock, clock, within
from callbench.scoring.temporal.durations import span
from callbench.scoring.temporal.numerals import simplified

TimeKind = Literal["date", "time", "datetime", "duration"]
KINDS: tuple[TimeKind, ...] = ("date", "time", "datetime", "duration")

_LONGEST = 80
_HAN = r"[\u3007\u4e00-\u9fff]"
_PARTS_OF_DAY = {
    "今早": "今天早上",
    "今晚": "今天晚上",
    "明早": "明天早上",
    "明晚": "明天晚上",
    "昨晚": "昨天晚上",
}
_NIGHTS = frozenset({"tonight", "tomorrow night", "last night"})
_PART_AHEAD = re.compile(r"(?:in the )?(morning|afternoon|evening|night),? (?:at )?(.+)")
_HENCE = re.compile(r"in (.+)|(.+) (?:from now|later)|(.+?)(?:之后|以后|后)")
_AGO = re.compile(r"(.+) ago|(.+?)(?:之前|以前|前)")


def reading(
    text: str, kind: TimeKind, now: datetime | None = None, order: DateOrder | None = None
) -> Hashable | None:
    """Return the key of what ``text`` denotes, ``None`` when it is not wholly of this kind.

    A ``datetime`` may also be a date alone or a time alone, which equal only their like.
    """
    if len(text) > _LONGEST:
        return None
    return _reading(text, kind, now, order)


@lru_cache(maxsize=4096)
def _reading(
    text: str, kind: TimeKind, now: datetime | None, order: DateOrder | None
) -> Hashable | None:
    spoken = simplified(fold(text))
    if kind == "duration":
        length = span(spoken)
        return None if length is None else ("duration", length)
    calendar = Calendar(None if now is None else now.date(), order)
    if kind == "time":
        return _time_key(clock(spoken))
    if kind == "date":
        return _date_key(calendar, calendar.read(spoken))
    moment = _moment(spoken, calendar, now)
    if moment is not None:
        return moment
    return _date_key(calendar, calendar.read(spoken)) or _time_key(clock(spoken))


def _time_key(time: Clock | None) -> Hashable | None:
    return None if time is None else ("time", time.seconds, time.offset)


def _date_key(calendar: Calendar, days: Days | None) -> Hashable | None:
    return None if days is None else ("date", calendar.settle(days))


def _moment(text: str, calendar: Calendar, now: datetime | None) -> Hashable | None:
    """Read a date and a time in either order, or a distance from now."""
    if now is not None:
        if text in ("now", "right now", "现在"):
            return _moment_key({(now.date(), _seconds(now))}, None)
        distance = _distance(text)
        if distance is not None:
            try:
                then = now + distance
            except OverflowError:
                return None
            return _moment_key({(then.date(), _seconds(then))}, None)
    found: set[tuple[date | tuple[int, int], int]] = set()
    offsets: set[int | None] = set()
    for day_text, time_text in _halves(text):
        time = _clock(time_text)
        if time is not None and day_text in _NIGHTS:
            time = within(time, "night")  # 1 am of tomorrow night is on the day after
        days = None if time is None or time.turn else calendar.read(day_text)
        if time is None or days is None:
            continue
        settled = calendar.settle(days)
        if time.after:
            settled = _next_days(settled)
        offsets.add(time.offset)
        found |= {(day, second) for day in settled for second in time.seconds}
    if len(offsets) != 1 or not found:
        return None
    return _moment_key(found, offsets.pop())


def _next_days(days: Days) -> Days:
    """Return the days after; one whose year is not told has none."""
    try:
        return frozenset(day + timedelta(days=1) for day in days if isinstance(day, date))
    except OverflowError:
        return frozenset()


def _moment_key(
    found: set[tuple[date | tuple[int, int], int]], offset: int | None
) -> Hashable | None:
    if offset is None:
        return ("datetime", frozenset(found), None)
    instants = set()
    for day, second in found:
        if not isinstance(day, date):
            return ("datetime", frozenset(found), offset)
        start = datetime(day.year, day.month, day.day)
        try:
            instants.add(start + timedelta(seconds=second, minutes=-offset))
        except OverflowError:
            return None
    return ("datetime", frozenset(instants), 0)


def _seconds(moment: datetime) -> int:
    return moment.hour * 3600 + moment.minute * 60 + moment.second


def _distance(text: str) -> timedelta | None:
    """Read "in 2 hours" and 两小时后; only hours, minutes and seconds move the clock."""
    for pattern, sign in ((_HENCE, 1), (_AGO, -1)):
        found = pattern.fullmatch(text)
        length = None if found is None else span(next(filter(None, found.groups())))
        if length is not None and not length[0] and length[1] % 86400:
            return sign * timedelta(seconds=float(length[1]))
    return None


def _clock(text: str) -> Clock | None:
    found = _PART_AHEAD.fullmatch(text)
    if found is None:
        return clock(text)
    part = "at night" if found[1] == "night" else f"in the {found[1]}"
    told = clock(f"{found[2]} {part}")
    if told is None and (alone := clock(found[2])) is not None:
        return within(alone, found[1])  # tomorrow afternoon at 3 pm
    return told


def _halves(text: str) -> Iterator[tuple[str, str]]:
    """Yield every way to part a text into what may be a date and a time."""
    for short, long in _PARTS_OF_DAY.items():
        if text.startswith(short):
            text = long + text[len(short) :]
    for short, long in (("tonight ", "today night "), ("last night ", "yesterday night ")):
        if text.startswith(short):
            text = long + text[len(short) :]
    if text.startswith(("this morning", "this afternoon", "this evening")):
        text = "today" + text[len("this") :]
    for at in range(1, len(text)):
        left, right = text[:at], text[at:]
        if left[-1] in " ,":
            pair = left.rstrip(" ,"), right.strip()
        elif left[-1] == "t" and right[0].isdigit() and left[-2:-1].isdigit():
            pair = left[:-1], right  # 2019-03-04T15:00
        elif re.match(_HAN, left[-1]) or re.match(_HAN, right[0]):
            pair = left, right
        else:
            continue
        yield pair
        yield pair[1], pair[0]
