"""What a text says of time: a table by hand, in both languages, with its near misses (TRAPS D15).

Each row says what a text denotes in plain values, worked out on a calendar; rows with ``None`` are not
to be read. Now is Friday 1 March 2019, 10:00, or where a row says so Wednesday 27 February.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callbench.scoring.temporal import KINDS, reading

FRIDAY = datetime(2019, 3, 1, 10, 0)
WEDNESDAY = datetime(2019, 2, 27, 10, 0)

DATES = [
    ("today", "2019-03-01"), ("tonight", "2019-03-01"), ("tomorrow", "2019-03-02"),
    ("Tomorrow", "2019-03-02"), ("the day after tomorrow", "2019-03-03"),
    ("yesterday", "2019-02-28"), ("the day before yesterday", "2019-02-27"),
    ("in 3 days", "2019-03-04"), ("in three days", "2019-03-04"), ("in a week", "2019-03-08"),
    ("in two weeks", "2019-03-15"), ("2 days ago", "2019-02-27"), ("a week from today", "2019-03-08"),
    ("a week from tomorrow", "2019-03-09"), ("next Friday", "2019-03-08"),
    ("this Saturday", "2019-03-02"), ("Saturday", "2019-03-02"), ("on Monday", "2019-03-04"),
    ("coming Monday", "2019-03-04"), ("Monday next week", "2019-03-04"), ("last Thursday", None),
    ("March 4", "2019-03-04"), ("March 4th", "2019-03-04"), ("Mar. 4, 2019", "2019-03-04"),
    ("4 March 2019", "2019-03-04"), ("4th of March", "2019-03-04"), ("the fourth of March", "2019-03-04"),
    ("March 4th, 2019", "2019-03-04"), ("march 4 2019", "2019-03-04"), ("2019 March 4", "2019-03-04"),
    ("Monday, March 4", "2019-03-04"), ("Tuesday, March 4", None), ("the 4th", "2019-03-04"),
    ("February 28", "2020-02-28"), ("March 1", "2019-03-01"), ("29 February", "2020-02-29"),
    ("2019-03-04", "2019-03-04"), ("2019-3-4", "2019-03-04"), ("2019/03/04", "2019-03-04"),
    ("20190304", "2019-03-04"), ("2019.3.4", "2019-03-04"), ("25/12/2019", "2019-12-25"),
    ("12/25/2019", "2019-12-25"), ("3/3/2019", "2019-03-03"), ("3/4/2019", None), ("3/4", None),
    ("3/4/19", None), ("March 32", None), ("February 30", None), ("2019-13-04", None),
    ("March 4rd", None), ("the 2th", None), ("soon", None), ("", None), ("3.4", None),
    ("tomorrow or Monday", None), ("not tomorrow", None), ("2019-03-04 15:00", None),
    ("今天", "2019-03-01"), ("明天", "2019-03-02"), ("后天", "2019-03-03"), ("大后天", "2019-03-04"),
    ("昨天", "2019-02-28"), ("前天", "2019-02-27"), ("後天", "2019-03-03"), ("明晚", "2019-03-02"),
    ("三天后", "2019-03-04"), ("3天之后", "2019-03-04"), ("两周后", "2019-03-15"), ("过两天", "2019-03-03"),
    ("三天前", "2019-02-26"), ("三天", None), ("本周五", "2019-03-01"), ("这周日", "2019-03-03"),
    ("本周一", "2019-02-25"), ("下周三", "2019-03-06"), ("下星期天", "2019-03-10"),
    ("下下周一", "2019-03-11"), ("上周五", "2019-02-22"), ("下个星期三", "2019-03-06"),
    ("下礼拜3", "2019-03-06"), ("周六", "2019-03-02"), ("3月4日", "2019-03-04"),
    ("三月四号", "2019-03-04"), ("3月4號", "2019-03-04"), ("３月４日", "2019-03-04"),
    ("2019年3月1日", "2019-03-01"), ("二〇一九年三月一日", "2019-03-01"), ("十二月二十五日", "2019-12-25"),
    ("今年3月4日", "2019-03-04"), ("明年三月四日", "2020-03-04"), ("去年3月4日", "2018-03-04"),
    ("3月4日星期一", "2019-03-04"), ("3月4日星期二", None), ("4号", "2019-03-04"),
    ("下个月4号", "2019-04-04"), ("本月十五号", "2019-03-15"), ("3月32日", None), ("三月", None),
]  # fmt: skip

TIMES = [
    ("3pm", 15, 0), ("3 PM", 15, 0), ("3 p.m.", 15, 0), ("3am", 3, 0), ("15:00", 15, 0),
    ("15:00:00", 15, 0), ("3:00 pm", 15, 0), ("3.30 pm", 15, 30), ("at 6:30 pm", 18, 30),
    ("half past 6 in the evening", 18, 30), ("quarter to seven pm", 18, 45),
    ("ten past three pm", 15, 10), ("six thirty pm", 18, 30), ("noon", 12, 0), ("midday", 12, 0),
    ("12 pm", 12, 0), ("12 am", 0, 0), ("midnight", 0, 0), ("8 in the morning", 8, 0),
    ("9 at night", 21, 0), ("9:05", 9, 5), ("09:05", 9, 5), ("１５：００", 15, 0),
    ("下午三点", 15, 0), ("下午3点", 15, 0), ("下午三点半", 15, 30), ("下午三点一刻", 15, 15),
    ("下午三點四十五分", 15, 45), ("下午3:05", 15, 5), ("上午十点", 10, 0), ("早上八点", 8, 0),
    ("晚上八点", 20, 0), ("晚上8点半", 20, 30), ("中午", 12, 0), ("中午十二点", 12, 0),
    ("中午一点", 13, 0), ("凌晨两点", 2, 0), ("凌晨12点", 0, 0), ("十五点", 15, 0),
    ("15点30分", 15, 30), ("下午差五分三点", 14, 55), ("早8点", 8, 0), ("24:00", 0, 0), ("二十四点", 0, 0),
]  # fmt: skip

NO_TIMES = [
    "25:00",
    "24:01",
    "二十四点半",
    "13 pm",
    "15:60",
    "15",
    "3",
    "three",
    "三点五",
    "evening",
    "晚上三点",
    "下午",
    "0 pm",
]

DURATIONS = [
    ("45 min", 45), ("45 minutes", 45), ("45mins", 45), ("PT45M", 45), ("45分钟", 45),
    ("四十五分钟", 45), ("三刻钟", 45), ("three quarters of an hour", 45), ("1.5 hours", 90),
    ("one and a half hours", 90), ("an hour and a half", 90), ("90 minutes", 90), ("1h30m", 90),
    ("1 hour 30 minutes", 90), ("1 hour and 30 minutes", 90), ("PT1H30M", 90), ("PT1.5H", 90),
    ("1½ hours", 90), ("一个半小时", 90), ("1.5小时", 90), ("一小时三十分", 90), ("一點五小時", 90),
    ("half an hour", 30), ("半小时", 30), ("半个小时", 30), ("2 days", 2880), ("48 hours", 2880),
    ("P2D", 2880), ("两天", 2880), ("一周", 10080), ("a week", 10080), ("P1W", 10080),
    ("7 days", 10080), ("two hours", 120), ("两个小时", 120), ("30 seconds", 0.5), ("三十秒", 0.5),
    ("10-minute", 10), ("一百二十分钟", 120), ("一百零二分钟", 102), ("一百二分钟", 120),
]  # fmt: skip

NO_DURATIONS = [
    "45", "1:30", "some time", "5 minutes 5 minutes", "30 minutes 1 hour", "P", "PT", "about 2 hours",
    "2 hours or 3", "-2 hours", "小时", "half",
]  # fmt: skip


@pytest.mark.trap("D15")
@pytest.mark.parametrize(("text", "day"), DATES)
def test_a_date(text: str, day: str | None) -> None:
    wanted = None if day is None else ("date", frozenset({date.fromisoformat(day)}))
    got: Any = reading(text, "date", FRIDAY)
    if text == "last Thursday":  # yesterday, or in the week before
        assert got[1] == {date(2019, 2, 28), date(2019, 2, 21)}
        return
    assert got == wanted


@pytest.mark.trap("D15")
@pytest.mark.parametrize(("text", "hour", "minute"), TIMES)
def test_a_time(text: str, hour: int, minute: int) -> None:
    assert reading(text, "time") == ("time", frozenset({hour * 3600 + minute * 60}), None)


@pytest.mark.parametrize("text", NO_TIMES)
def test_no_time(text: str) -> None:
    assert reading(text, "time", FRIDAY) is None


@pytest.mark.trap("D15")
@pytest.mark.parametrize(("text", "minutes"), DURATIONS)
def test_a_duration(text: str, minutes: float) -> None:
    assert reading(text, "duration") == ("duration", (0, minutes * 60))


@pytest.mark.parametrize("text", NO_DURATIONS)
def test_no_duration(text: str) -> None:
    assert reading(text, "duration", FRIDAY) is None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("6 months", "半年", True), ("a year", "12 months", True), ("一年半", "18 months", True),
        ("1 month", "30 days", False), ("1 year", "365 days", False), ("1 month", "1 minute", False),
        ("P1M", "PT1M", False), ("P1M", "一个月", True), ("45 min", "46 min", False),
        ("1.5 hours", "1 hour 50 minutes", False), ("90 s", "90 min", False),
    ],
)  # fmt: skip
def test_durations_side_by_side(one: str, other: str, same: bool) -> None:
    left, right = reading(one, "duration"), reading(other, "duration")
    assert left is not None
    assert right is not None
    assert (left == right) is same


MOMENTS = [
    ("下周三下午三点", "2019-03-06T15:00"), ("明天15:00", "2019-03-02T15:00"),
    ("今晚八点", "2019-03-01T20:00"), ("明早8点", "2019-03-02T08:00"), ("3月4号上午十点半", "2019-03-04T10:30"),
    ("2019年3月4日 15:00", "2019-03-04T15:00"), ("两小时后", "2019-03-01T12:00"),
    ("半小时后", "2019-03-01T10:30"), ("tomorrow at 3pm", "2019-03-02T15:00"),
    ("3pm tomorrow", "2019-03-02T15:00"), ("tonight at 8", "2019-03-01T20:00"),
    ("tomorrow morning at 8", "2019-03-02T08:00"), ("next Friday, 6:30 pm", "2019-03-08T18:30"),
    ("March 4, 2019, 3:30 pm", "2019-03-04T15:30"), ("March 4 at noon", "2019-03-04T12:00"),
    ("in 2 hours", "2019-03-01T12:00"), ("in an hour and a half", "2019-03-01T11:30"),
    ("90 minutes ago", "2019-03-01T08:30"), ("2019-03-04T15:00:00", "2019-03-04T15:00"),
    ("2019-03-04 15:00", "2019-03-04T15:00"), ("now", "2019-03-01T10:00"),
    ("tonight at 7pm", "2019-03-01T19:00"), ("7:30 pm tonight", "2019-03-01T19:30"),
    ("tomorrow afternoon at 3 pm", "2019-03-02T15:00"), ("this morning at 11:00", "2019-03-01T11:00"),
    ("tomorrow night at 9pm", "2019-03-02T21:00"), ("last night at 11", "2019-02-28T23:00"),
    ("8 o'clock tonight", "2019-03-01T20:00"), ("2019-03-04T24:00", "2019-03-05T00:00"),
    ("2月28日24点", "2020-02-29T00:00"), ("明天24:00", "2019-03-03T00:00"),
]  # fmt: skip


@pytest.mark.trap("D15")
@pytest.mark.parametrize(("text", "moment"), MOMENTS)
def test_a_date_with_a_time(text: str, moment: str) -> None:
    assert reading(text, "datetime", FRIDAY) == reading(moment, "datetime")
    then = datetime.fromisoformat(moment)
    for near in (timedelta(days=1), timedelta(hours=12), timedelta(minutes=1)):
        for other in (then - near, then + near):
            assert reading(text, "datetime", FRIDAY) != reading(other.isoformat(), "datetime")


@pytest.mark.parametrize(
    "text",
    [
        "midnight tomorrow", "明天晚上12点", "tomorrow", "March 4 5", "明晚12点半", "3月2日晚上12点半",
        "tomorrow night at 1 am", "1:30 am tonight", "last night at 12:30 am", "tonight at 9 am",
        "tomorrow morning at 3 pm", "tomorrow at 24:30",
    ],
)  # fmt: skip
def test_no_moment(text: str) -> None:
    """The midnight of a day is its beginning or its end, and so is what follows it; a day is no moment."""
    for half_hour in range(-48, 48 * 4):
        moment = datetime(2019, 3, 1) + timedelta(minutes=30 * half_hour)
        assert reading(text, "datetime", FRIDAY) != reading(moment.isoformat(), "datetime")


@pytest.mark.parametrize(
    ("text", "day"), [("in 2 days", 3), ("两天后", 3), ("a week from today", 8)]
)
def test_a_distance_in_days_is_a_date_and_no_moment(text: str, day: int) -> None:
    assert reading(text, "datetime", FRIDAY) == reading(f"2019-03-{day:02}", "datetime")


def test_an_offset_is_part_of_a_time() -> None:
    beijing = reading("2019-03-04T15:00:00+08:00", "datetime")
    assert beijing == reading("2019-03-04T07:00:00Z", "datetime")
    assert beijing != reading("2019-03-04T15:00:00", "datetime")
    assert beijing != reading("2019-03-04T15:00:00Z", "datetime")


class TestTwoReadings:
    @pytest.mark.parametrize(
        ("text", "kind", "candidates"),
        [
            ("next Friday", "date", ["2019-03-01", "2019-03-08"]),
            ("Wednesday", "date", ["2019-02-27", "2019-03-06"]),
            ("周三", "date", ["2019-02-27", "2019-03-06"]),
            ("this Monday", "date", ["2019-02-25", "2019-03-04"]),
            ("Sunday next week", "date", ["2019-03-03", "2019-03-10"]),
            ("half past 6", "time", ["06:30", "18:30"]),
            ("六点半", "time", ["06:30", "18:30"]),
            ("6 o'clock", "time", ["06:00", "18:00"]),
            ("12 o'clock", "time", ["00:00", "12:00"]),
            ("十二点", "time", ["00:00", "12:00"]),
        ],
    )
    def test_what_is_open_equals_neither(self, text: str, kind: Any, candidates: list[str]) -> None:
        read = reading(text, kind, WEDNESDAY)
        assert read is not None
        assert all(reading(candidate, kind) != read for candidate in candidates)

    def test_but_what_is_open_alike(self) -> None:
        assert reading("half past 6", "time") == reading("六点半", "time")

    def test_where_both_readings_meet_there_is_one(self) -> None:
        assert reading("next Monday", "date", FRIDAY) == reading("2019-03-04", "date")


class TestDeclaredOrder:
    @pytest.mark.parametrize(
        ("order", "text", "day"),
        [
            ("mdy", "3/4", "2019-03-04"), ("dmy", "3/4", "2019-04-03"), ("ymd", "3/4", "2019-03-04"),
            ("mdy", "3/4/2019", "2019-03-04"), ("dmy", "3/4/2019", "2019-04-03"),
            ("dmy", "4.3.2019", "2019-03-04"), ("mdy", "2019-03-04", "2019-03-04"),
            ("dmy", "2019-03-04", "2019-03-04"),
        ],
    )  # fmt: skip
    def test_digits_are_read_as_declared(self, order: Any, text: str, day: str) -> None:
        assert reading(text, "date", FRIDAY, order) == reading(day, "date")

    def test_an_impossible_day_is_not_read_the_other_way_round(self) -> None:
        assert reading("25/12/2019", "date", FRIDAY, "mdy") is None


class TestWithoutNow:
    @pytest.mark.parametrize(
        "text", ["tomorrow", "明天", "next Friday", "in 3 days", "4号", "明年3月4日"]
    )
    def test_nothing_relative_is_read(self, text: str) -> None:
        assert reading(text, "date") is None
        assert reading(f"{text} 15:00", "datetime") is None

    def test_a_date_without_a_year_equals_only_its_like(self) -> None:
        assert reading("March 4th", "date") == reading("三月四号", "date")
        assert reading("March 4th", "date") != reading("March 5th", "date")
        assert reading("March 4th", "date") != reading("2019-03-04", "date")

    def test_with_now_it_is_the_next_such_day(self) -> None:
        assert reading("March 4th", "date", FRIDAY) == reading("2019-03-04", "date")
        assert reading("Feb 4th", "date", FRIDAY) == reading("2020-02-04", "date")


@pytest.mark.trap("D15")
@given(st.dates(date(1900, 1, 1), date(2199, 12, 31)), st.integers(-40, 40))
def test_any_day_in_any_spelling_and_no_other_day(day: date, shift: int) -> None:
    """TRAPS D15."""
    other = day + timedelta(days=shift)
    digits = "〇一二三四五六七八九"
    spelled = [
        f"{day.day} {day:%B} {day.year}", f"{day:%b} {day.day}, {day.year}",
        f"{day.year}年{day.month}月{day.day}日", f"{day.year}/{day.month}/{day.day}",
        "".join(digits[int(digit)] for digit in str(day.year)) + f"年{day.month}月{day.day}号",
    ]  # fmt: skip
    for text in spelled:
        assert (reading(text, "date") == reading(other.isoformat(), "date")) is (shift == 0), text


@given(st.dates(date(1900, 1, 1), date(2199, 12, 31)), st.sampled_from(["mdy", "dmy", "ymd"]))
def test_a_declared_order_reads_what_it_writes(day: date, order: Any) -> None:
    parts = {"m": day.month, "d": day.day, "y": day.year}
    written = "/".join(str(parts[letter]) for letter in order)
    assert reading(written, "date", None, order) == reading(day.isoformat(), "date")


@given(st.times(), st.times())
def test_a_time_equals_its_other_spellings_and_no_other_time(one: Any, other: Any) -> None:
    hour = one.hour % 12 or 12
    spelled = f"{hour}:{one.minute:02} {'pm' if one.hour >= 12 else 'am'}"
    same = (one.hour, one.minute) == (other.hour, other.minute)
    assert (reading(spelled, "time") == reading(f"{other:%H:%M}", "time")) is same


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_duration_equals_its_other_spellings_and_no_other(one: int, other: int) -> None:
    hours, minutes = divmod(one, 60)
    for text in (f"PT{hours}H{minutes}M", f"{hours}小时{minutes}分钟", f"{hours} h {minutes} min"):
        assert (reading(text, "duration") == reading(f"{other} min", "duration")) is (one == other)


@given(st.text(max_size=100), st.sampled_from(KINDS))
def test_any_text_is_read_or_not_without_a_crash(text: str, kind: Any) -> None:
    assert reading(text, kind, FRIDAY) == reading(text, kind, FRIDAY)


PIECES = [
    "next",
    "this",
    "last",
    "week",
    "Friday",
    "friday",
    "tomorrow",
    "in",
    "3",
    "days",
    "March",
    "4",
    "4th",
    "3/4",
    "2019",
    "月",
    "日",
    "号",
    "年",
    "三",
    "十",
    "下",
    "周",
    "点",
    "半",
    "差",
    "分",
    "下午",
    ":",
    "-",
    "/",
    "T",
    "15",
    "00",
    "pm",
    "half",
    "past",
    "noon",
    "an",
    "hour",
    "小时",
    "个",
    "P",
    "1",
    ".",
    "+",
    "Z",
]


@given(st.lists(st.sampled_from(PIECES), max_size=7), st.booleans(), st.sampled_from(KINDS))
def test_any_heap_of_pieces_is_read_or_not_without_a_crash(
    pieces: list[str], spaced: bool, kind: Any
) -> None:
    reading((" " if spaced else "").join(pieces), kind, FRIDAY, "mdy")
