"""Looking for secrets and personal data in recordings and in any other text file.

JSON is looked into as a reader sees it: escapes taken off, JSON inside strings (the arguments of a tool
call) and base64 opened, the pieces of a stream joined. What is found is never shown whole.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import os
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path
from typing import Any

from callbench.cassette import jsontext
from callbench.cassette.detect import Hit, names_a_credential, personal_in, secrets_in
from callbench.cassette.events import is_event_stream, split_events
from callbench.cassette.format import FORMAT
from callbench.cassette.hygiene.findings import Finding
from callbench.cassette.hygiene.reading import Reader
from callbench.cassette.interaction import Interaction
from callbench.cassette.pieces import joined
from callbench.errors import CassetteError, UsageError

ALLOW_FILE = "scan-allow.toml"

_SKIPPED = {".git", ".hg", ".svn", ".venv", "venv", "node_modules", "__pycache__", ".hypothesis"}
_RANDOM_FIELDS = re.compile(
    r"(?i)(?:.*[_-])?(?:id|ids|fingerprint|signature|encrypted_content|obfuscation|integrity|sha\d+|hash"
    r"|digest|etag|nonce|uuid|data|embedding)"
)
"""Members whose values are random by nature: no entropy is looked for there, known shapes are."""
_BASE64 = re.compile(r"[A-Za-z0-9+/]{24,}={0,2}")
_DEEPEST = 3
_REMEMBERED = 20_000
"""Longer texts are looked through each time."""


def scan_paths(paths: Iterable[Path], allow: Allowed | None = None) -> Iterator[Finding]:
    """What is found in files, and in the files of directories (hidden tool caches left out).

    Raises ``UsageError`` for a path that does not exist.
    """
    for path in paths:
        if not path.exists():
            raise UsageError(f"{path} does not exist.")
        files = _files(path) if path.is_dir() else [path]
        for file in files:
            found = scan_hits(file)
            for finding, _ in found if allow is None else allow.rest(found):
                yield finding


def _files(directory: Path) -> Iterator[Path]:
    for root, directories, names in os.walk(directory):
        directories[:] = sorted(
            name for name in directories if name not in _SKIPPED and not name.endswith("_cache")
        )
        for name in sorted(names):
            path = Path(root, name)
            if path.is_file() and not path.is_symlink():
                yield path


def scan_file(path: Path) -> Iterator[Finding]:
    """What is found in one file; a file that is no text holds nothing to find."""
    for finding, _ in scan_hits(path):
        yield finding


def scan_hits(path: Path) -> Iterator[tuple[Finding, Hit]]:
    """The findings of a file with what was found. Raises ``UsageError`` for one that cannot be read."""
    try:
        with path.open("rb") as file:
            start = file.read(8192)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be looked through: {error.strerror}.",
            remedy="Make it readable, or leave it out.",
        ) from error
    if path.name.endswith(".jsonl") and _is_cassette(path):
        yield from _scan_cassette(path)
    elif start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        lines = path.read_text("utf-16", errors="replace").splitlines()
        for number, line in enumerate(lines, 1):
            yield from to_findings(path, number, (("", hit) for hit in _scan_line(line)))
    elif b"\0" not in start:
        yield from _scan_text(path)


def scan_interaction(interaction: Interaction) -> Iterator[tuple[str, Hit]]:
    """What is found in a recording, with the place it is in."""
    request, response = interaction.request, interaction.response
    for place, text in (("path", request.path), ("error", response.error or "")):
        yield from ((place, hit) for hit in _hits(text))
    yield from (("case", hit) for hit in _hits(interaction.case, entropy=False))
    for name, value in response.headers.items():
        yield from ((f"header {name}", hit) for hit in _hits(value))
    yield from (("request", hit) for hit in scan_bytes(request.body))
    if interaction.vcr is not None:
        yield from (("vcr", hit) for hit in _scan_value(dict(interaction.vcr), "", 0))
    stream = is_event_stream(response.headers)
    for at, text in joined(response.events, event_stream=stream):
        field = str(at[-1]) if at else ""
        yield from (("response", hit) for hit in _scan_string(text, field, 0))


def scan_bytes(data: bytes) -> Iterator[Hit]:
    """What is found in a body: JSON by its values, anything else as text."""
    try:
        value = jsontext.loads(data)
    except ValueError:
        yield from _scan_string(data.decode("utf-8", "replace"), "", 0)
        return
    yield from _scan_value(value, "", 0)


def _hits(text: str, *, entropy: bool = True) -> Iterator[Hit]:
    yield from secrets_in(text, entropy=entropy)
    yield from personal_in(text)


def _scan_value(value: Any, field: str, depth: int) -> Iterator[Hit]:
    pending = [(value, field)]
    while pending:
        value, field = pending.pop()
        if isinstance(value, str):
            yield from _scan_string(value, field, depth)
        elif isinstance(value, dict):
            for name, member in value.items():
                yield from _of_name(name)
                pending.append((member, name))
        elif isinstance(value, list):
            pending.extend((member, field) for member in value)


@lru_cache(maxsize=1024)
def _of_name(name: str) -> tuple[Hit, ...]:
    return tuple(_hits(name, entropy=False))


def _scan_string(text: str, field: str, depth: int) -> Iterator[Hit]:
    """What is found in a decoded text of the member ``field``, and in what is encoded in it."""
    if len(text) < 7:  # no number, address or key is shorter
        return
    if len(text) <= _REMEMBERED:
        yield from _remembered(text, field, depth)
    else:
        yield from _look(text, field, depth)


@lru_cache(maxsize=2048)
def _remembered(text: str, field: str, depth: int) -> tuple[Hit, ...]:
    """What is found in a text that many recordings have alike."""
    return tuple(_look(text, field, depth))


def _look(text: str, field: str, depth: int) -> Iterator[Hit]:
    opened = list(_opened(text)) if depth < _DEEPEST else []
    entropy = not opened and not _RANDOM_FIELDS.fullmatch(field)
    found = list(_hits(text, entropy=entropy))
    if names_a_credential(field):
        found += [
            hit for hit in secrets_in(f'{field}="{text}"', entropy=False) if hit.value in text
        ]
    for hit in {(hit.rule, hit.value): hit for hit in found}.values():
        if hit.rule != "entropy" or not list(_unpacked(hit.value)):
            yield hit
    for value in opened:
        yield from _scan_value(value, field, depth + 1)


def _opened(text: str) -> Iterator[Any]:
    """What a text is the encoded form of: JSON, a stream of events, base64 of a text."""
    start = text.lstrip()[:1]
    if start in ("{", "["):
        try:
            yield jsontext.loads(text.encode("utf-8", "surrogatepass"))
        except ValueError:
            return
    elif "data: {" in text:
        events = split_events([(0, text.encode("utf-8", "replace"))], event_stream=True)
        for _, whole in joined(events, event_stream=True):
            yield whole
    elif _BASE64.fullmatch(text):
        yield from _unpacked(text)


def _unpacked(text: str) -> Iterator[str]:
    """The text that base64 holds, if it holds one."""
    try:
        unpacked = base64.b64decode(text + "=" * (-len(text) % 4), validate=True).decode()
    except (binascii.Error, ValueError):
        return
    if unpacked.isprintable() or not any(c < " " and c not in "\r\n\t" for c in unpacked):
        yield unpacked


# --- files ----------------------------------------------------------------------------------------


def _is_cassette(path: Path) -> bool:
    with path.open("rb") as file:
        return f'"{FORMAT}"'.encode() in file.readline(4096)


def _scan_cassette(path: Path) -> Iterator[tuple[Finding, Hit]]:
    try:
        with Reader(path) as reader:
            for line in reader:
                if line.kind == "interaction":
                    found = scan_interaction(reader.interaction(line))
                elif line.kind == "text":  # once, where it stands
                    found = (("text", hit) for hit in scan_bytes(line.raw))
                else:
                    found = (("header", hit) for hit in scan_bytes(line.raw))
                yield from to_findings(path, line.number, found)
    except CassetteError:  # damaged: looked through as any text
        yield from _scan_text(path)


def _scan_text(path: Path) -> Iterator[tuple[Finding, Hit]]:
    if path.suffix == ".json":
        data = path.read_bytes()
        try:
            hits = list(_scan_value(jsontext.loads(data), "", 0))
        except ValueError:
            hits = None  # no JSON after all
        if hits is not None:
            plain = data.decode("utf-8", "replace")
            for hit in hits:
                place = max(0, plain.find(hit.value))  # escaped: not to be found, so at the start
                line = plain.count("\n", 0, place) + 1
                yield from to_findings(path, line, [("", hit)])
            return
    by_line = path.suffix in (".jsonl", ".ndjson")
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            hits = list(scan_bytes(raw) if by_line else _scan_line(raw.decode("utf-8", "replace")))
            yield from to_findings(path, number, (("", hit) for hit in hits))


def _scan_line(text: str) -> Iterator[Hit]:
    for hit in _hits(text):
        if hit.rule != "entropy" or not list(_unpacked(hit.value)):
            yield hit


def to_findings(
    path: Path, line: int, found: Iterable[tuple[str, Hit]]
) -> Iterator[tuple[Finding, Hit]]:
    """The findings of a line, each value once."""
    seen: set[tuple[str, str]] = set()
    for place, hit in found:
        if (hit.rule, hit.value) in seen:
            continue
        seen.add((hit.rule, hit.value))
        where = f" in the {place}" if place else ""
        yield (
            Finding(str(path), line, hit.rule, f"{_WHAT[hit.rule]} {hit.shown}{where}", _REMEDY),
            hit,
        )


_REMEDY = (
    "Take it out (callbench cassette scrub) and revoke it if it is real; "
    f"if it is not, say so in {ALLOW_FILE}."
)
_WHAT = {
    "key": "an API key",
    "jwt": "a JSON web token",
    "private-key": "a private key",
    "bearer": "a bearer token",
    "basic-auth": "user and password of basic authorization",
    "url-credentials": "user and password in an address",
    "assigned": "a value given to a key or password",
    "entropy": "a random-looking text",
    "email": "an e-mail address",
    "phone": "a phone number",
}


# --- what is allowed ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Rule:
    reason: str
    rules: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    values: tuple[str, ...] = ()

    def covers(self, finding: Finding, hit: Hit) -> bool:
        """Whether this says of a finding that it is no secret; the list of values itself is none."""
        file = Path(finding.file).as_posix()
        here = not self.files or any(
            fnmatch(file, f) or fnmatch(file, f"*/{f}") for f in self.files
        )
        listed = bool(self.values) and Path(file).name == ALLOW_FILE
        return (
            (here or listed)
            and (not self.rules or hit.rule in self.rules)
            and (not self.values or hit.value in self.values)
        )


@dataclass(frozen=True, slots=True)
class Allowed:
    """What was looked at and is no secret, each with its reason: a file of tables ``[[allow]]``.

    ``covered`` counts what each entry covered so far, so that nobody need wonder what is passed over.

    ::

        [[allow]]
        reason = "invented for the dataset"
        files = ["datasets/*", "cassettes/*"]   # globs; all files without
        rules = ["phone"]                       # all rules without
        values = ["+1 415 555 0123"]            # all values without
    """

    entries: tuple[_Rule, ...] = ()
    covered: Counter[int] = field(default_factory=Counter)

    @classmethod
    def read(cls, path: Path) -> Allowed:
        """Read the file. Raises ``UsageError`` naming the table and the key that breaks a rule."""
        try:
            document = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UsageError(f"{path}: cannot be read: {error}.") from error
        tables = document.pop("allow", [])
        if document or not isinstance(tables, list):
            raise UsageError(f"{path}: there must be nothing but tables [[allow]].")
        return cls(tuple(_entry(f"{path}: allow {n}", table) for n, table in enumerate(tables, 1)))

    def rest(self, found: Iterable[tuple[Finding, Hit]]) -> Iterator[tuple[Finding, Hit]]:
        """What no entry covers."""
        for finding, hit in found:
            by = next((n for n, one in enumerate(self.entries) if one.covers(finding, hit)), None)
            if by is None:
                yield finding, hit
            else:
                self.covered[by] += 1

    def stale(self) -> list[str]:
        """The entries that covered nothing, to be told after a whole project was scanned."""
        return [
            f"allow {number + 1} covers nothing: {entry.reason}"
            for number, entry in enumerate(self.entries)
            if not self.covered[number]
        ]


def _entry(where: str, table: Any) -> _Rule:
    reason = table.get("reason") if isinstance(table, dict) else None
    if not isinstance(reason, str) or not reason.strip():
        raise UsageError(f"{where}: reason is missing.", remedy="Say why it is no secret.")
    lists: dict[str, Sequence[str]] = {}
    for key, value in table.items():
        if key == "reason":
            continue
        if key not in ("rules", "files", "values"):
            raise UsageError(
                f"{where}: unknown key {key!r}.", remedy="Keys: reason, rules, files, values."
            )
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise UsageError(f"{where}: {key} must be a list of texts.")
        lists[key] = tuple(value)
    for rule in lists.get("rules", ()):
        if rule not in _WHAT:
            raise UsageError(
                f"{where}: there is no rule {rule!r}.", remedy=f"Rules: {', '.join(_WHAT)}."
            )
    if not lists.get("files") and not lists.get("values"):
        raise UsageError(f"{where}: files or values must say what is allowed.")
    return _Rule(table["reason"], **lists)  # type: ignore[arg-type]
