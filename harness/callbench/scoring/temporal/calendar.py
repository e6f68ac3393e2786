"""Dates: "tomorrow", "next Friday", "March 4th", 下周三, 3月4日, 2019-03-04."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta

from callbench.dataset.case import DateOrder
from callbench.scoring.temporal.numerals import HAN, NUMBER, ORDINAL, ordinal, whole

Days = frozenset[date | tuple[int, int]]
"""The dates that a text may mean: full ones, or month and day of one whose year is not told."""

_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_MONTH = {name: number for number, name in enumerate(_MONTHS, start=1)}
_MONTH |= {name[:3]: number for name, number in _MONTH.items()} | {"sept": 9}
_MONTH |= {f"{name}.": number for name, number in _MONTH.items() if len(name) <= 4}
_WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_WEEKDAY = {name: number for number, name in enumerate(_WEEKDAYS)}
_WEEKDAY |= {name[:3]: number for name, number in _WEEKDAY.items()}
_WEEKDAY |= {"tues": 1, "weds": 2, "thur": 3, "thurs": 3}
_HAN_DAYS = {day: number for number, day in enumerate("一二三四五六日")} | {"天": 6}
_HAN_DAYS |= {str(number + 1): number for number in range(6)}

_FIXED = {
    **dict.fromkeys(("today", "tonight", "今天", "今日", "今晚", "今早"), 0),
    **dict.fromkeys(("tomorrow", "明天", "明日", "明早", "明晚", "tomorrow night"), 1),
    **dict.fromkeys(("the day after tomorrow", "day after tomorrow", "后天", "后日"), 2),
    "大后天": 3,
    **dict.fromkeys(("yesterday", "last night", "昨天", "昨日", "昨晚"), -1),
    **dict.fromkeys(("the day before yesterday", "day before yesterday", "前天"), -2),
    "大前天": -3,
}
_ANCHORS = {"today": 0, "now": 0, "tomorrow": 1, "yesterday": -1}

_month = "|".join(re.escape(name) for name in sorted(_MONTH, key=len, reverse=True))
_weekday = "|".join(sorted(_WEEKDAY, key=len, reverse=True))
_num = rf"(?:[0-9]{{1,2}}|{HAN})"

_NUMERIC = re.compile(r"(\d{1,4})([-/.])(\d{1,2})(?:\2(\d{1,4}))?")
_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})")
_MONTH_FIRST = re.compile(
    rf"({_month}) (?:the )?({ORDINAL}|[0-9]{{1,2}})(?:(?:, ?| )(?:of )?([0-9]{{4}}))?"
)
_DAY_FIRST = re.compile(
    rf"(?:the )?({ORDINAL}|[0-9]{{1,2}})(?: of)?[ -]({_month})(?:(?:, ?| |-)(?:of )?([0-9]{{4}}))?"
)
_YEAR_FIRST = re.compile(rf"([0-9]{{4}}),? ({_month}) ({ORDINAL}|[0-9]{{1,2}})")
_HAN_DATE = re.compile(
    rf"(?:([0-9]{{4}}|[零〇一二三四五六七八九]{{4}}|今|明|后|去|前)年 ?)?({_num}) ?月 ?({_num}) ?[日号]"
)
_DAY_ONLY = re.compile(rf"(?:the )?({ORDINAL})(?: of (this|next) month)?|({_num})[日号]")
_MONTH_DAY = re.compile(rf"(本|这个|这|下个|下|上个|上)月 ?({_num}) ?[日号]")
_NAMED = re.compile(
    rf"(?:(this|next|last|coming|this coming|the coming|upcoming) )?({_weekday})"
    r"(?: (this|next|last) week)?|(this|next|last) week(?:'s)?,? (?:on )?"
    rf"({_weekday})|({_weekday}) (?:of |after )(this|next|last) week"
)
_HAN_NAMED = re.compile(
    r"(本|这个?|这一|下+个?|下一|上+个?|上一)?(?:周|星期|礼拜)([一二三四五六日天1-6])"
)
_HENCE = re.compile(rf"in (?:an?|({NUMBER})) (day|week)s?(?:' time)?")
_FROM = re.compile(
    rf"(?:an?|({NUMBER})) (day|week)s? (?:(from|after|before) (now|today|tomorrow|yesterday)|(ago))"
)
_HAN_HENCE = re.compile(rf"(?:再?过 ?)?({NUMBER}) ?个?(天|日|周|星期|礼拜)(之?后|以后|之?前|以前)?")
_TRAILING = re.compile(
    rf"(?P<date>.+?) ?[,(]? ?(?P<day>(?:周|星期|礼拜)[一二三四五六日天]|{_weekday})\)?"
)
_LEADING = re.compile(rf"(?P<day>{_weekday}),? (?P<date>.+)")


@dataclass(frozen=True, slots=True)
class Calendar:
    """Reads dates against a day, ``None`` where none is known, with a declared order of digits."""

    today: date | None
    order: DateOrder | None = None

    def read(self, text: str) -> Days | None:
        """Read a folded text as a date, ``None`` when it is none as a whole."""
        text = text.removeprefix("on ")
        found = self._absolute(text)
        if found is None and self.today is not None:
            found = self._relative(text, self.today)
        return found or self._with_weekday(text)

    # -- dates that stand for themselves -------------------------------------------------------

    def _absolute(self, text: str) -> Days | None:
        if found := _NUMERIC.fullmatch(text):
            return self._numeric(found[1], found[3], found[4], found[2])
        if found := _COMPACT.fullmatch(text):
            return _one(int(found[1]), int(found[2]), int(found[3]))
        if found := _MONTH_FIRST.fullmatch(text):
            return _one(_year(found[3]), _MONTH[found[1]], _day(found[2]))
        if found := _DAY_FIRST.fullmatch(text):
            return _one(_year(found[3]), _MONTH[found[2]], _day(found[1]))
        if found := _YEAR_FIRST.fullmatch(text):
            return _one(_year(found[1]), _MONTH[found[2]], _day(found[3]))
        if found := _HAN_DATE.fullmatch(text):
            return self._han_date(found[1], whole(found[2]), whole(found[3]))
        return None

    def _numeric(self, first: str, second: str, third: str | None, mark: str) -> Days | None:
        if len(first) == 4:
            return None if third is None else _one(int(first), int(second), _short(third))
        if len(first) > 2:
            return None
        if third is None:
            if mark == ".":
                return None  # 3.4 is a number
            orders = {
                "mdy": _one(None, int(first), int(second)),
                "ymd": _one(None, int(first), int(second)),
                "dmy": _one(None, int(second), int(first)),
            }
        elif len(third) == 4:
            orders = {
                "mdy": _one(int(third), int(first), int(second)),
                "dmy": _one(int(third), int(second), int(first)),
            }
        else:
            return None
        if self.order is not None:
            return orders.get(self.order)
        sound = {days for days in orders.values() if days is not None}
        return sound.pop() if len(sound) == 1 else None

    def _han_date(self, year: str | None, month: int | None, day: int | None) -> Days | None:
        if month is None or day is None:
            return None
        if year is None:
            return _one(None, month, day)
        if year in ("今", "明", "后", "去", "前"):
            if self.today is None:
                return None
            shift = {"今": 0, "明": 1, "后": 2, "去": -1, "前": -2}[year]
            return _one(self.today.year + shift, month, day)
        return _one(whole(year), month, day)

    # -- dates that today decides ------------------------------------------------------------

    def _relative(self, text: str, today: date) -> Days | None:
        if text in _FIXED:
            return _shifted(today, [_FIXED[text]])
        if found := _NAMED.fullmatch(text):
            return _named(today, found)
        if found := _HAN_NAMED.fullmatch(text):
            return _han_named(today, found[1] or "", _HAN_DAYS[found[2]])
        if found := _HENCE.fullmatch(text):
            return _shifted(today, [_count(found[1]) * _length(found[2])])
        if found := _FROM.fullmatch(text):
            back = found[3] == "before" or found[5] is not None
            days = _count(found[1]) * _length(found[2]) * (-1 if back else 1)
            return _shifted(today, [days + _ANCHORS[found[4] or "now"]])
        if found := _HAN_HENCE.fullmatch(text):
            passing, way = "过" in text, found[3] or ""
            if passing == bool(way):
                return None  # three days are a duration, and 过三天前 is nothing
            days = _count(found[1]) * _length(found[2])
            return _shifted(today, [-days if "前" in way else days])
        if found := _MONTH_DAY.fullmatch(text):
            shift = {"下": 1, "上": -1}.get(found[1][0], 0)
            return _of_month(today, shift, whole(found[2]))
        if found := _DAY_ONLY.fullmatch(text):
            day = ordinal(found[1]) if found[1] else whole(found[3])
            if found[2]:
                return _of_month(today, int(found[2] == "next"), day)
            return _next_day(today, day)
        return None

    def _with_weekday(self, text: str) -> Days | None:
        """Read "Monday, March 4", which is no date when that is no Monday."""
        found = _LEADING.fullmatch(text) or _TRAILING.fullmatch(text)
        if found is None:
            return None
        days = self._absolute(found["date"])
        if days is None and self.today is not None and _DAY_ONLY.fullmatch(found["date"]):
            days = self._relative(found["date"], self.today)
        if days is None:
            return None
        wanted = found["day"]
        number = _WEEKDAY[wanted] if wanted in _WEEKDAY else _HAN_DAYS[wanted[-1]]
        full = self.settle(days)
        fits = all(isinstance(day, date) and day.weekday() == number for day in full)
        return full if fits else None

    def settle(self, days: Days) -> Days:
        """Give each date without a year the next one, today included; without a today it stays."""
        if self.today is None:
            return days
        return frozenset(
            day if isinstance(day, date) else _next_time(self.today, *day) for day in days
        )


def _one(year: int | None, month: int, day: int | None) -> Days | None:
    """Return the one date, ``None`` when there is no such day."""
    if day is None:
        return None
    try:
        full = date(2000 if year is None else year, month, day)
    except ValueError:
        return None
    return frozenset({(month, day)}) if year is None else frozenset({full})


def _year(text: str | None) -> int | None:
    return None if text is None else int(text)


def _day(text: str) -> int | None:
    return int(text) if text.isdigit() else ordinal(text)


def _short(text: str) -> int | None:
    return int(text) if len(text) <= 2 else None


def _count(text: str | None) -> int:
    return 1 if text is None else whole(text) or 0


def _length(unit: str) -> int:
    return 7 if unit in ("week", "周", "星期", "礼拜") else 1


def _shifted(today: date, shifts: Iterable[int]) -> Days | None:
    try:
        return frozenset(today + timedelta(days=days) for days in shifts)
    except OverflowError:
        return None


def _next_time(today: date, month: int, day: int) -> date:
    for year in range(today.year, today.year + 9):
        try:
            found = date(year, month, day)
        except ValueError:
            continue  # 29 February
        if found >= today:
            return found
    raise AssertionError("a leap year comes within eight")


def _of_month(today: date, shift: int, day: int | None) -> Days | None:
    months = today.year * 12 + today.month - 1 + shift
    return _one(months // 12, months % 12 + 1, day)


def _next_day(today: date, day: int | None) -> Days | None:
    """Return the next date with this day of the month, today included."""
    if day is None:
        return None
    for shift in range(13):
        found = _of_month(today, shift, day)
        if found is not None and all(isinstance(one, date) and one >= today for one in found):
            return found
    return None


def _named(today: date, found: re.Match[str]) -> Days | None:
    which, name, week = found[1], found[2], found[3] or found[4] or found[7]
    number = _WEEKDAY[name or found[5] or found[6]]
    ahead = (number - today.weekday()) % 7  # 0 when it is today
    monday = -today.weekday()
    if week is not None:
        if which is not None:
            return None
        shift = {"this": 0, "next": 7, "last": -7}[week]
        weeks = {monday + number + shift}
        # A week that begins on Sunday has it six days before its Saturday.
        sunday = -((today.weekday() + 1) % 7)
        weeks.add(sunday + (number + 1) % 7 + shift)
        return _shifted(today, weeks)
    match which:
        case None:
            return _shifted(today, [ahead] if ahead else [0, 7])
        case "this":
            return _shifted(today, {monday + number, ahead})
        case "next":
            return _shifted(today, {ahead or 7, monday + number + 7})
        case "last":
            return _shifted(today, {ahead - 7, monday + number - 7})
        case _:
            return _shifted(today, [ahead or 7])


def _han_named(today: date, which: str, number: int) -> Days | None:
    ahead = (number - today.weekday()) % 7
    if not which:
        return _shifted(today, [ahead] if ahead else [0, 7])
    shift = 7 * which.count("下") - 7 * which.count("上")
    return _shifted(today, [number - today.weekday() + shift])
