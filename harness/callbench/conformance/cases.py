"""The suite: one case a line, what an operation is given and what it must give.

| member | what |
| --- | --- |
| ``id`` | names the case for ever: lower case, ``schema.check.4-1`` |
| ``rule`` | the rule of the contract it holds; left out by a case that was found, not derived |
| ``op``, ``input`` | the operation and what it is given, with the tags of PROTOCOL.md |
| ``gives`` or ``error`` | the result, tagged likewise, or the word for the error |
| ``model`` | what the two models answer (``traffic/script.py``), of operations that ask one |
| ``asked`` | what is expected of each request (``traffic/judging.py``); goes with ``model`` |
| ``compare`` | ``json`` (the default), ``ordered`` or ``set`` |
| ``extension`` | true when a port may decline it; else the rule says so |
| ``note`` | why, for people |
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, cast, get_args

from callbench.bundled import bundled
from callbench.conformance.compare import COMPARATORS, Comparator
from callbench.conformance.suite import RULES
from callbench.conformance.traffic.judging import Expectation, expectation_problem
from callbench.conformance.traffic.script import Script, script_of
from callbench.dataset.checks import nearest
from callbench.dataset.lines import content, parse
from callbench.dataset.problems import MOST_PROBLEMS, Fault, Problem
from callbench.errors import DatasetError, UsageError
from callbench.peer.messages import ERROR_KINDS
from callbench.peer.values import decode

# Beyond the contract's own limit, which cases try.
_MOST_LEVELS = 490
_ID = re.compile(r"[a-z0-9_]+([.-][a-z0-9_]+)*")
_OPERATION = re.compile(r"[a-z]+\.[a-z0-9_]+")
_MEMBERS = (
    "id",
    "rule",
    "op",
    "input",
    "model",
    "asked",
    "gives",
    "error",
    "compare",
    "extension",
    "note",
)

ASKING = frozenset({"llm.exec", "slot.exec", "core.lifecycle"})
"""The operations that are given the address of a model."""


@dataclass(frozen=True, slots=True)
class Case:
    """A case. ``given`` and ``gives`` are plain values; ``error`` is empty unless one is expected.

    ``script`` is what the models answer, ``asked`` what is expected of each request; with None
    nothing is.
    """

    id: str
    op: str
    given: dict[str, Any]
    gives: Any = None
    error: str = ""
    rule: str = ""
    title: str = ""
    compare: Comparator = "json"
    extension: bool = False
    note: str = ""
    script: Script = field(default_factory=Script)
    asked: tuple[Expectation, ...] | None = None

    @property
    def area(self) -> str:
        """The chapter of the contract; of a case without a rule, the operation's."""
        return (self.rule or self.op).partition(".")[0]


class InvalidSuite(DatasetError):
    """A file of the suite breaks the rules of its format; ``problems`` holds each place."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        title = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        super().__init__(
            "\n".join([f"The suite has {title}:", *map(str, problems)]),
            remedy="The format of a case is described in callbench/conformance/cases.py.",
        )


def load_suite(path: Path | None = None) -> tuple[Case, ...]:
    """Load the bundled suite, or a file or a directory of files of one's own, in name order.

    Raises :class:`UsageError` for a path that is not there, :class:`InvalidSuite` for lines that
    break a rule, with file, line, field, rule and remedy of each.
    """
    path = bundled("datasets") / "conformance" if path is None else path
    if not path.exists():
        raise UsageError(f"There is no suite {path}.", remedy="Check --suite.")
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    cases: list[Case] = []
    problems: list[Problem] = []
    first: dict[str, str] = {}
    for file in files:
        for number, record in _lines(file):
            faults = [record] if isinstance(record, Fault) else list(_faults(record))
            if not faults and isinstance(record, dict):
                place = first.setdefault(record["id"], f"{file}:{number}")
                if place == f"{file}:{number}":
                    cases.append(_case(record))
                else:
                    faults = [_taken(record["id"], place)]
            problems += [Problem(file, number, fault) for fault in faults]
            if len(problems) >= MOST_PROBLEMS:
                raise InvalidSuite(problems[:MOST_PROBLEMS])
    if problems:
        raise InvalidSuite(problems)
    if not cases:
        raise DatasetError(
            f"{path} has no cases.", remedy="A suite has one case a line, in *.jsonl."
        )
    return tuple(cases)


def select(
    cases: Sequence[Case],
    *,
    ops: Sequence[str] = (),
    rules: Sequence[str] = (),
    ids: Sequence[str] = (),
) -> tuple[Case, ...]:
    """Return the cases of these operations, rules (or prefixes of rules) and ids.

    Raises :class:`UsageError` for a word that selects nothing, and when together they do.
    """
    _each(ops, {case.op for case in cases}, "operation")
    _each(ids, {case.id for case in cases}, "case")
    for prefix in rules:
        if not any(_beneath(case.rule, prefix) for case in cases):
            _each([prefix], {case.rule for case in cases}, "rule")
    found = tuple(
        case
        for case in cases
        if (not ops or case.op in ops)
        and (not ids or case.id in ids)
        and (not rules or any(_beneath(case.rule, prefix) for prefix in rules))
    )
    if not found:
        raise UsageError("No case is selected by all of --op, --rule and --id together.")
    return found


@cache
def known_rules() -> dict[str, dict[str, Any]]:
    """Return the title of every rule of the contract, by its id, and whether it is an extension."""
    path = bundled("datasets") / "conformance" / RULES
    found: dict[str, dict[str, Any]] = json.loads(path.read_bytes())
    return found


def _each(words: Sequence[str], known: set[str], what: str) -> None:
    for word in words:
        if word not in known:
            raise UsageError(
                f'The suite has no {what} "{word}".',
                remedy=nearest(word, known) or "Look at datasets/conformance.",
            )


def _beneath(rule: str, prefix: str) -> bool:
    return rule == prefix or rule.startswith(f"{prefix.rstrip('.')}.")


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any] | Fault]]:
    with path.open("rb") as stream:
        for number, raw in enumerate(stream, 1):
            if line := content(raw, first=number == 1):
                yield number, parse(line, levels=_MOST_LEVELS)


def _case(record: dict[str, Any]) -> Case:
    rule = record.get("rule", "")
    known = known_rules().get(rule, {})
    return Case(
        id=record["id"],
        op=record["op"],
        given={name: decode(value) for name, value in record["input"].items()},
        gives=decode(record.get("gives")),
        error=record.get("error", ""),
        rule=rule,
        title=known.get("title", ""),
        compare=cast(Comparator, record.get("compare", "json")),
        extension=record.get("extension", known.get("extension", False)),
        note=record.get("note", ""),
        script=script_of(record.get("model", {})),
        asked=tuple(record["asked"]) if "asked" in record else None,
    )


def _faults(record: dict[str, Any]) -> Iterator[Fault]:
    for name in record:
        if name not in _MEMBERS:
            hint = nearest(name, _MEMBERS) or f"Members: {', '.join(_MEMBERS)}."
            yield Fault(f"/{name}", "member", f'A case has no member "{name}".', hint)
    for name in ("id", "op", "input"):
        if name not in record:
            yield Fault(f"/{name}", "required", "It is missing.", f"Every case has {name}.")
    if ("gives" in record) == ("error" in record):
        yield Fault("", "expected", "It needs gives or error, one of them.", "Add or remove one.")
    for name, (holds, wrong, remedy) in _CHECKS.items():
        if name in record and not holds(record[name]):
            yield Fault(f"/{name}", "value", f"{json.dumps(record[name])[:80]} {wrong}.", remedy)
    for name in ("input", "gives"):
        if fault := _untaggable(record, name):
            yield fault
    if "model" in record or "asked" in record:
        yield from _traffic_faults(record)


def _traffic_faults(record: dict[str, Any]) -> Iterator[Fault]:
    if record.get("op") not in ASKING or not ("model" in record and "asked" in record):
        operations = ", ".join(sorted(ASKING))
        message = f"model and asked go together, with one of {operations}."
        yield Fault("/model", "traffic", message, "Add what is missing, or remove both.")
    try:
        if not isinstance(record.get("model", {}), dict):
            raise ValueError("it is no object")
        script_of(record.get("model", {}))
    except ValueError as error:
        remedy = "How answers are written stands in conformance/traffic/script.py."
        yield Fault("/model", "traffic", f"{error}.", remedy)
    remedy = "How expectations are written stands in conformance/traffic/judging.py."
    if not isinstance(record.get("asked", []), list):
        yield Fault("/asked", "traffic", "It is no array.", remedy)
        return
    for number, one in enumerate(record.get("asked", [])):
        if problem := expectation_problem(one, set(known_rules())):
            yield Fault(f"/asked/{number}", "traffic", f"{problem}.", remedy)


def _untaggable(record: dict[str, Any], name: str) -> Fault | None:
    try:
        for value in (record.get(name) or {}).values() if name == "input" else [record.get(name)]:
            decode(value)
    except ValueError as error:
        remedy = 'Tags stand in PROTOCOL.md; an object that looks like one is {"$object": …}.'
        return Fault(f"/{name}", "tag", f"{error}.", remedy)
    except AttributeError:  # no object: told already
        return None
    return None


def _taken(name: str, place: str) -> Fault:
    message = f'The id "{name}" is taken: it first stands at {place}.'
    return Fault("/id", "duplicate-id", message, "Give each case an id of its own.")


def _is(kind: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kind)


def _matches(pattern: re.Pattern[str]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None


def _one_of(words: Sequence[str]) -> Callable[[Any], bool]:
    return lambda value: value in words


_CHECKS: dict[str, tuple[Callable[[Any], bool], str, str]] = {
    "id": (
        _matches(_ID),
        "is no id",
        "Lower case words and numbers between dots and hyphens, as schema.check.4-1.",
    ),
    "rule": (
        lambda value: isinstance(value, str) and value in known_rules(),
        "is no rule of the contract",
        "See CONTRACT.md; after a new rule, make suite.",
    ),
    "op": (_matches(_OPERATION), "is no operation", 'It is a name such as "slot.check".'),
    "input": (_is(dict), "is no object", "It holds the operation's inputs."),
    "error": (_one_of(ERROR_KINDS), "is no kind of error", f"Kinds: {', '.join(ERROR_KINDS)}."),
    "compare": (
        _one_of(COMPARATORS),
        "is no comparator",
        f"Comparators: {', '.join(get_args(Comparator))}.",
    ),
    "extension": (_is(bool), "is neither true nor false", "Leave it out, or write true."),
    "note": (_is(str), "is no text", "Write why, for people."),
}
