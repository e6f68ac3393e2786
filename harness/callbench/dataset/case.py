"""One case of a dataset as frozen values: what is asked, what is known, what is right.

The file format is documented in ``case.schema.json`` beside this module; ``loader.py`` reads
and checks it. Values inside ``schema``, ``data``, ``expected`` and ``output_data`` are plain JSON
and are never mutated by the harness.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

MatchKind = Literal["exact", "text", "date", "time", "datetime", "duration", "list", "set"]
"""How two values are compared: as JSON values, with text folding, as what they say of time, or as a
list in its order or without."""

DateOrder = Literal["mdy", "dmy", "ymd"]
"""How a date in digits is read: 3/4 is the fourth of March, or the third of April."""


@dataclass(frozen=True, slots=True)
class Tool:
    """The tool whose arguments are to be filled."""

    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """An earlier step of the task and what it put out."""

    step_id: str
    output_data: dict[str, Any]
    step_name: str = ""
    step_description: str = ""


@dataclass(frozen=True, slots=True)
class Accept:
    """What counts as right at one pointer beside the expected value.

    ``match`` is ``None`` when the case leaves it to the slot's schema: ``text`` for a free
    string, the kind of time that a ``format`` names, ``exact`` for everything else. ``aliases``
    maps a text to its other spellings; all of them are one thing.
    """

    values: tuple[Any, ...] = ()
    match: MatchKind | None = None
    may_omit: bool = False
    aliases: dict[str, tuple[str, ...]] = field(default_factory=dict)
    date_order: DateOrder | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One case.

    ``conversation`` holds ``{"role", "content"}`` records, oldest first. ``data`` is what is
    already known. ``now`` is local time without a zone. ``expected`` is the preferred answer,
    ``accept`` adds to it per RFC 6901 pointer, ``unfillable`` lists the pointers that nothing in
    the case supports. ``defects`` names known faults of the gold: pointer into the line -> kind. Such gold
    is scored as it stands; a value that the tool's schema does not admit or declare can never be
    filled, so its slot is wrong or missing whatever is answered. ``cluster`` is the dialogue the case was cut from. ``line`` is its line in
    the file it came from, 1 being the first.
    """

    id: str
    lang: Literal["en", "zh"]
    tool: Tool
    schema: dict[str, Any]
    question: str
    expected: dict[str, Any]
    conversation: tuple[dict[str, str], ...] = ()
    facts: tuple[str, ...] = ()
    summary: str = ""
    steps: tuple[Step, ...] = ()
    data: dict[str, Any] = field(default_factory=dict)
    now: datetime | None = None
    accept: dict[str, Accept] = field(default_factory=dict)
    unfillable: tuple[str, ...] = ()
    defects: dict[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    cluster: str = ""
    line: int = 0
