"""What is sound in a dataset and still may be wrong: one finding for each place, by rule.

``dataset check`` says whether a file can be used at all; lint asks whether its gold can be trusted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from callbench.dataset.case import Case
from callbench.dataset.declared import Declared
from callbench.dataset.difference import case_sha256, records
from callbench.dataset.evidence import holds, places, texts
from callbench.dataset.folding import fold
from callbench.dataset.loader import Dataset, case_of
from callbench.dataset.slots import Path, find, flatten, same, to_pointer
from callbench.dataset.tooling import tooling

_RELATIVE = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|(?:next|this|last|coming) "
    r"(?:week|month|year|weekend|monday|tuesday|wednesday|thursday|friday|saturday|sunday))\b"
    r"|今天|今晚|明天|明早|明晚|后天|昨天|前天|(?:这|本|下|上)个?(?:周|星期|礼拜|月)|今年|明年|去年",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_FACTORS = (7, 10, 12, 24, 60, 100, 1000, 1440, 3600, 10_000, 1 / 100, 1 / 1000)
"""Units that a number may have been converted by: weeks, dozens, hours, percent, kilo, 万."""
_SEPARATOR = re.compile(r"[\W_]+")
_DATE_LIKE = re.compile(r"\d{4}-\d{2}|\d{1,2}:\d{2}|^P(?:\d|T)|\d{1,2}/\d{1,2}")
_CJK = re.compile("[\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding: the rule, where (the case and a pointer into its line), what, and what to do."""

    rule: str
    case: str
    line: int
    file: str
    pointer: str
    message: str
    remedy: str

    def __str__(self) -> str:
        place = f" {self.pointer}" if self.pointer else ""
        return f"{self.file}:{self.line}: {self.case}{place} [{self.rule}] {self.message} {self.remedy}"


Found = Iterator[tuple[str, str, str]]
"""Pointer, message and remedy of each finding of a rule in one case."""


def _answerable(case: Case, record: dict[str, Any], declared: Declared) -> Found:
    for path, value in flatten(case.expected).items():
        if _may_be_reckoned(value, path, case, declared) or places(case, value):
            continue
        place = to_pointer(path)
        accepted = case.accept.get(place)
        if accepted and (accepted.may_omit or any(places(case, one) for one in accepted.values)):
            continue
        yield (
            f"/expected{place}",
            f"{_shown(value)} occurs nowhere in the case.",
            "Unless it follows from the case: say it there, or list the slot in unfillable.",
        )


def _may_be_reckoned(value: Any, path: Path, case: Case, declared: Declared) -> bool:
    """Say whether a value need not be read as it is: chosen, converted, put together, a time."""
    if not isinstance(value, str | int | float) or isinstance(value, bool) or value == "":
        return True
    if declared.label(path).type in ("enum", "date") or same(declared.default(path), value):
        return True
    said = [text for _, text in texts(case)]
    if isinstance(value, str):
        parts = re.findall(r"[^\W_]+", fold(value))
        bare = "".join(parts)
        return bool(_DATE_LIKE.search(value)) or any(
            bare in _SEPARATOR.sub("", fold(text)) for text in said
        )
    return any(holds(text, value / factor) for factor in _FACTORS for text in said)


def _needs_now(case: Case, record: dict[str, Any], declared: Declared) -> Found:
    if case.now is not None:
        return
    slots = flatten(case.expected).items()
    if not any(declared.label(path).type == "date" or _is_date(value) for path, value in slots):
        return
    for place, text in texts(case):
        if found := _RELATIVE.search(text):
            yield (place, f'It says "{found.group()}", and the case has no now.', "Add now.")
            return


def _is_date(value: Any) -> bool:
    return isinstance(value, str) and bool(_DATE.match(value))


def _language(case: Case, record: dict[str, Any], declared: Declared) -> Found:
    chinese = bool(_CJK.search(case.question))
    if chinese != (case.lang == "zh") and any(letter.isalpha() for letter in case.question):
        yield (
            "/lang",
            f"The language is {case.lang}, the question does not look like it.",
            "Mend the one that is wrong.",
        )


def _redundant(case: Case, record: dict[str, Any], declared: Declared) -> Found:
    for place, accept in case.accept.items():
        wanted = find(case.expected, place)
        for index, value in enumerate(accept.values):
            if any(same(value, other) for other in (wanted, *accept.values[:index])):
                field = to_pointer(("accept", place, "values", index))
                yield field, f"{_shown(value)} is right already.", "Take it out."


def _blank(case: Case, record: dict[str, Any], declared: Declared) -> Found:
    if not case.question.strip():
        yield "/question", "The question is blank.", "Ask something."
    for name, described in case.schema.get("properties", {}).items():
        bare = isinstance(described, dict) and not described.get("description")
        short = len(name) < 3 and name.isascii()  # two Chinese characters are a word
        if bare and "enum" not in described and "$ref" not in described and short:
            field = to_pointer(("schema", "properties", name))
            yield (
                field,
                "A name this short, without a description, tells a model nothing.",
                ("Describe the parameter."),
            )


def _defects(case: Case, record: dict[str, Any], declared: Declared) -> Found:
    for field, kind in record.get("defects", {}).items():
        yield field, f"The gold is declared to be defective: {kind}.", "Mend it with an overlay."


RULES: dict[str, tuple[str, Callable[[Case, dict[str, Any], Declared], Found]]] = {
    "answerable": ("a gold value that occurs nowhere in the case", _answerable),
    "needs-now": ("a relative date in a case without now", _needs_now),
    "language": ("a question in another language than lang", _language),
    "redundant-accept": ("an accepted value that is right already", _redundant),
    "blank": ("a blank question, a parameter that nothing explains", _blank),
    "gold-defect": ("gold that is declared defective", _defects),
}
"""The rules for one case: what each finds, and the function that finds it."""

ACROSS = {
    "duplicate": "two cases that ask the same and differ in id alone",
    "contradiction": "two cases that ask the same and expect something else",
}
"""The rules for cases beside each other."""


def lint(dataset: Dataset, rules: Sequence[str] = ()) -> Iterator[tuple[Finding, dict[str, Any]]]:
    """Yield the findings of ``rules`` (all, when none is named) in file order, with their records."""
    wanted = rules or (*RULES, *ACROSS)
    asked: dict[str, tuple[str, str]] = {}
    for record, (file, line, _) in zip(records(dataset), dataset.lines(), strict=True):
        case = case_of(record, line)
        declared = tooling(case.schema).declared
        found = [
            (rule, *one)
            for rule, (_, look) in RULES.items()
            if rule in wanted
            for one in look(case, record, declared)
        ]
        found += [one for one in _across(record, asked) if one[0] in wanted]
        for rule, place, message, remedy in found:
            yield Finding(rule, case.id, line, file.name, place, message, remedy), record


def _across(
    record: dict[str, Any], asked: dict[str, tuple[str, str]]
) -> Iterator[tuple[str, str, str, str]]:
    """Compare with the cases before; only hashes of those are kept."""
    question = case_sha256(
        {key: one for key, one in record.items() if key not in _NOT_THE_QUESTION}
    )
    gold = case_sha256({key: record.get(key) for key in ("expected", "accept", "unfillable")})
    first, other = asked.setdefault(question, (record["id"], gold))
    if first == record["id"]:
        return
    if other == gold:
        yield "duplicate", "/id", f"It asks what {first} asks.", "Keep one of the two."
    else:
        yield (
            "contradiction",
            "/expected",
            f"It asks what {first} asks, and expects something else.",
            "One of the two is wrong.",
        )


_NOT_THE_QUESTION = {"id", "expected", "accept", "unfillable", "tags", "cluster", "defects"}


def _shown(value: Any) -> str:
    text = str(value)
    return f'"{text[:60]}…"' if len(text) > 60 else f'"{text}"'
