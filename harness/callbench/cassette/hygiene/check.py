"""Whether a cassette is what it says: keys, order, schema, nothing twice, nothing secret, size and age."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

from callbench.cassette import jsontext
from callbench.cassette.events import is_event_stream, usage_of
from callbench.cassette.format import scrubbers_of
from callbench.cassette.hygiene.findings import Finding
from callbench.cassette.hygiene.reading import Line, Reader, references
from callbench.cassette.interaction import Interaction
from callbench.cassette.key import request_key
from callbench.cassette.scan import Allowed, scan_interaction, to_findings
from callbench.cassette.scrub import mask_request, mask_response
from callbench.cassette.scrubbers import Scrubbing
from callbench.errors import CassetteError, UsageError

RULES = (
    "damaged", "cut", "schema", "form", "key", "order", "duplicate", "superseded", "unused-text", "usage",
    "scrub", "secret",
)  # fmt: skip
"""What every file is checked for; ``size`` and ``age`` are added where limits are given."""

_REWRITE = "Put it in order: callbench cassette rekey {path}"


@dataclass(frozen=True, slots=True)
class Limits:
    """What a project asks for: ``size`` in bytes, ``age`` in days counted back from ``now``."""

    size: int | None = None
    age: float | None = None
    now: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that are checked with these limits."""
        extra = [name for name in ("size", "age") if getattr(self, name) is not None]
        return (*RULES, *extra)


def check_file(
    path: Path,
    limits: Limits | None = None,
    allow: Allowed | None = None,
    scrubbing: Scrubbing | None = None,
) -> Iterator[Finding]:
    """Everything that is wrong with a file. One that cannot be read on ends with the rule ``damaged``.

    ``scrubbing``: what the file should have been scrubbed with; by default what its header names.
    """
    check = _Check(path, limits or Limits(), allow or Allowed(), scrubbing)
    try:
        with Reader(path) as reader:
            try:
                yield from check.lines(reader)
            finally:
                check.number = reader.number
    except CassetteError as error:
        yield Finding(str(path), check.number, "damaged", error.message, error.remedy)
        return
    yield from check.size()


def _schema_errors() -> Callable[[Any], Iterator[str]]:
    """A function that gives the faults of a line against its form of the schema."""
    import jsonschema_rs

    schema = json.loads(
        files("callbench.cassette").joinpath("cassette.schema.json").read_text("utf-8")
    )
    engines = {
        kind: jsonschema_rs.Draft7Validator(
            {"$ref": f"#/definitions/{kind}", "definitions": schema["definitions"]}
        )
        for kind in ("header", "text", "interaction")
    }

    def errors(line: Line) -> Iterator[str]:
        engine = engines[line.kind]
        if engine.is_valid(line.value):
            return
        for error in engine.iter_errors(line.value):
            place = "/".join(map(str, error.instance_path))
            message = error.message
            told = f"{message[:160]}…" if len(message) > 160 else message
            yield f"{place or 'the line'}: {told}"

    return errors


class _Check:
    """The checks of one file and what they remember from line to line."""

    def __init__(
        self, path: Path, limits: Limits, allow: Allowed, scrubbing: Scrubbing | None
    ) -> None:
        self.path = path
        self.number = 0
        """The line that is looked at."""
        self._limits = limits
        self._allow = allow
        self._scrubbing = scrubbing
        self._known: dict[tuple[str, str, int], tuple[int, bytes]] = {}
        self._texts: dict[str, int] = {}
        self._used: set[str] = set()
        self._before: tuple[str, int] | None = None

    def lines(self, reader: Reader) -> Iterator[Finding]:
        errors = _schema_errors()
        for line in reader:
            for told in errors(line):
                yield self._finding(line.number, "schema", told)
            if jsontext.dumps(line.value) + b"\n" != line.raw:
                yield self._finding(
                    line.number,
                    "form",
                    "the line is not written as callbench writes it (line end, spaces, escapes, "
                    "a member twice): was it edited, or converted?",
                )
            if line.kind == "header":
                yield from self._header(reader.header, line.number)
            elif line.kind == "text":
                yield from self._text(line)
            else:
                self._used.update(references(line.value["request"]))
                yield from self._interaction(line, reader.interaction(line), reader)
        if reader.cut is not None:
            yield self._finding(
                reader.cut, "cut", "the last line was cut while it was written", "Record again."
            )
        elif not reader.header:
            yield self._finding(0, "schema", "there is no header line", "Record again.")
        yield from self._leftovers()

    def size(self) -> Iterator[Finding]:
        """Whether the file is larger than allowed."""
        limit = self._limits.size
        size = self.path.stat().st_size
        if limit is not None and size > limit:
            yield self._finding(
                0,
                "size",
                f"{size:,} bytes, more than {limit:,}",
                f"Split it: callbench cassette split {self.path} --by lang -o DIR; or prune it.",
            )

    def _header(self, header: dict[str, Any], number: int) -> Iterator[Finding]:
        names = scrubbers_of(header)
        if self._scrubbing is not None and set(self._scrubbing.names) != set(names):
            yield self._finding(
                number,
                "scrub",
                f"scrubbed with {', '.join(names) or 'nothing'}, "
                f"configured is {', '.join(self._scrubbing.names) or 'nothing'}",
                f"Apply what is configured: callbench cassette scrub {self.path}",
            )
        elif self._scrubbing is None:
            keyless = [name for name in names if not name.endswith(" (keyed)")]
            try:
                self._scrubbing = Scrubbing.of(keyless)
            except UsageError as error:
                self._scrubbing = Scrubbing()
                yield self._finding(number, "scrub", error.message, error.remedy)

    def _text(self, line: Line) -> Iterator[Finding]:
        identifier = line.value["text"]
        if identifier in self._texts:
            first = self._texts[identifier]
            yield self._finding(
                line.number, "duplicate", f"the text {identifier} stands in line {first} already"
            )
        self._texts.setdefault(identifier, line.number)

    def _interaction(self, line: Line, one: Interaction, reader: Reader) -> Iterator[Finding]:
        number = line.number
        yield from self._key(number, one)
        if reader.late:
            names = ", ".join(sorted(reader.late))
            reader.late.clear()
            yield self._finding(number, "order", f"the shared text {names} stands only after it")
        place = (one.case, one.ordinal)
        if self._before is not None and place < self._before:
            case, ordinal = self._before
            yield self._finding(
                number,
                "order",
                f"case {one.case!r}, ordinal {one.ordinal} stands after {case!r}, {ordinal}",
            )
        self._before = place
        identity = (one.key, one.case, one.ordinal)
        digest = hashlib.sha256(line.raw.strip()).digest()[:16]
        if identity in self._known:
            earlier, same = self._known[identity]
            if same == digest:
                yield self._finding(number, "duplicate", f"the same recording as in line {earlier}")
            else:
                yield self._finding(earlier, "superseded", f"line {number} takes its place")
        self._known[identity] = (number, digest)
        yield from self._scrub(number, one)
        hits = self._allow.rest(to_findings(self.path, number, scan_interaction(one)))
        for found, _ in hits:
            yield self._finding(number, "secret", f"{found.rule}: {found.message}", found.remedy)
        yield from self._answer(number, one)
        yield from self._age(number, one)

    def _key(self, number: int, one: Interaction) -> Iterator[Finding]:
        if request_key(one.request) != one.key:
            yield self._finding(
                number,
                "key",
                "the stored key is not the key of the stored request: was it edited?",
                "Restore it from version control, or record again; after a change of the key: "
                f"callbench cassette rekey {self.path}",
            )
        canonical = jsontext.canonical(one.request.body)
        if canonical is not None and canonical != one.request.body:
            yield self._finding(
                number, "key", "the request is not in canonical form: no request can find it"
            )

    def _answer(self, number: int, one: Interaction) -> Iterator[Finding]:
        events = one.response.events
        times = [0, *(event.at_ms for event in events)]
        if any(later < earlier for earlier, later in pairwise(times)):
            yield self._finding(number, "order", "the times of the events fall", "Record again.")
        told = usage_of(events, event_stream=is_event_stream(one.response.headers))
        if told is not None and one.usage != told:
            yield self._finding(
                number,
                "usage",
                f"the stored usage {dict(one.usage or {})} is not the one of the answer, {told}",
                "Restore it from version control, or record again.",
            )

    def _scrub(self, number: int, one: Interaction) -> Iterator[Finding]:
        scrubbing = self._scrubbing or Scrubbing()
        again = scrubbing.request(mask_request(one.request, ()))
        if again != one.request:
            yield self._scrubbed(number, "request")
        if scrubbing.response(mask_response(one.response, ())) != one.response:
            yield self._scrubbed(number, "response")
        if scrubbing.beside(one.vcr) != one.vcr:
            yield self._scrubbed(number, "member 'vcr'")

    def _scrubbed(self, number: int, what: str) -> Finding:
        return self._finding(
            number,
            "scrub",
            f"scrubbing the {what} again changes it: it was not scrubbed whole",
            f"callbench cassette scrub {self.path}",
        )

    def _age(self, number: int, one: Interaction) -> Iterator[Finding]:
        limit = self._limits.age
        if limit is None:
            return
        try:
            recorded = datetime.fromisoformat(one.recorded_at or "")
        except ValueError:
            yield self._finding(number, "age", "there is no date of recording", "Record again.")
            return
        if recorded.tzinfo is None:
            recorded = recorded.replace(tzinfo=UTC)
        days = (self._limits.now - recorded).total_seconds() / 86400
        if days > limit:
            yield self._finding(
                number, "age", f"recorded {days:.0f} days ago, more than {limit:g}", "Record again."
            )

    def _leftovers(self) -> Iterator[Finding]:
        for identifier, number in self._texts.items():
            if identifier not in self._used:
                yield self._finding(number, "unused-text", f"nothing refers to {identifier}")
        ordinals: dict[tuple[str, str], list[int]] = {}
        for key, case, ordinal in self._known:
            ordinals.setdefault((key, case), []).append(ordinal)
        for (key, case), found in ordinals.items():
            gap = next((n for n, ordinal in enumerate(sorted(found)) if n != ordinal), None)
            if gap is not None:
                number = self._known[key, case, max(found)][0]
                yield self._finding(
                    number,
                    "order",
                    f"ordinal {max(found)} of case {case!r} cannot be reached: {gap} is not recorded",
                    "Record again.",
                )

    def _finding(self, line: int, rule: str, message: str, remedy: str = "") -> Finding:
        return Finding(
            str(self.path), line, rule, message, remedy or _REWRITE.format(path=self.path)
        )
