"""What a text says of time: a date, a time of day, both, or a duration, in English and Chinese.

Two texts are the same only when they denote the same thing exactly (TRAPS D15): there is no nearness.
:func:`reading` gives a key that two texts share exactly then, ``None`` for a text that is not read
whole. Nothing is guessed:

* What is relative (tomorrow, 下周三, in 3 days) is read against the case's ``now``, and not at all
  without one.
* A date without a year is the next such date, today included; without ``now`` it is equal only to
  another without a year.
* ``3/4`` is read in a declared order only, unless one order alone makes a date of it. Years of two
  digits are not read.
* What has two readings equals only what has the same two: "next Friday" on a Wednesday (in two days
  or in nine), "Friday" on a Friday, "half past 6" or 六点 (morning or evening). ``6:30`` and
  ``06:30`` are the 24-hour clock. Weeks begin on Monday; of an English Sunday both ways are kept.
* A day is 24 hours, a week seven days, a year twelve months; a month is no number of days.
* With an offset (``Z``, ``+08:00``) a time is another than without one.
"""

from callbench.scoring.temporal.reading import KINDS, TimeKind, reading

__all__ = ["KINDS", "TimeKind", "reading"]
