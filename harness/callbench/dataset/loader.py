"""Reading datasets: bundled ones by name, others by path; every case checked before any is run.

A dataset is one ``*.jsonl`` file or a directory of them, read in name order. Loading streams the
files once, checks every line (:mod:`callbench.dataset.checks`) and remembers only where each case
stands; the cases are read again, one at a time, when they are needed. So a dataset of any size takes
a few bytes of memory for each case.
"""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, overload

from callbench.bundled import bundled
from callbench.dataset.case import Accept, Case, Step, Tool
from callbench.dataset.checks import meaning, nearest, shape
from callbench.dataset.lines import content, parse
from callbench.dataset.problems import MOST_PROBLEMS, Fault, InvalidDataset, Problem
from callbench.errors import DatasetError, UsageError


@dataclass(frozen=True, slots=True)
class Place:
    """Where a case stands: the index of its file, the byte its line begins at, the line's number."""

    file: int
    offset: int
    line: int


class Cases(Sequence[Case]):
    """The cases of a dataset in file order, read from disk when asked for."""

    def __init__(self, files: Sequence[Path], places: Sequence[Place] = ()) -> None:
        self._files = tuple(files)
        self._file = array("I")
        self._offset = array("Q")
        self._line = array("Q")
        for place in places:
            self.append(place)

    def append(self, place: Place) -> None:
        """Add the case at a place; only for whoever is building the sequence."""
        self._file.append(place.file)
        self._offset.append(place.offset)
        self._line.append(place.line)

    def place(self, index: int) -> Place:
        """Return where a case stands."""
        return Place(self._file[index], self._offset[index], self._line[index])

    def __len__(self) -> int:
        return len(self._file)

    @overload
    def __getitem__(self, index: int) -> Case: ...
    @overload
    def __getitem__(self, index: slice) -> Cases: ...
    def __getitem__(self, index: int | slice) -> Case | Cases:
        if isinstance(index, slice):
            return Cases(self._files, [self.place(at) for at in range(len(self))[index]])
        return next(self._read([self.place(index)]))

    def __iter__(self) -> Iterator[Case]:
        return self._read(self.place(index) for index in range(len(self)))

    def _read(self, places: Iterator[Place] | Sequence[Place]) -> Iterator[Case]:
        return (self._case(raw, place) for place, raw in self._raw(places))

    def lines(self) -> Iterator[tuple[Path, int, bytes]]:
        """Yield the file of each case, the number of its line, and the line without its ending."""
        places = (self.place(index) for index in range(len(self)))
        return ((self._files[place.file], place.line, raw) for place, raw in self._raw(places))

    def _raw(self, places: Iterator[Place] | Sequence[Place]) -> Iterator[tuple[Place, bytes]]:
        current, stream = -1, None
        try:
            for place in places:
                if stream is None or place.file != current:
                    if stream is not None:
                        stream.close()
                    current, stream = place.file, self._files[place.file].open("rb")
                stream.seek(place.offset)
                yield place, content(stream.readline(), first=place.line == 1)
        finally:
            if stream is not None:
                stream.close()

    def _case(self, raw: bytes, place: Place) -> Case:
        try:
            return case_of(json.loads(raw), place.line)
        except (ValueError, KeyError, TypeError) as error:
            raise DatasetError(
                f"{self._files[place.file]}:{place.line}: the file changed while it was in use.",
                remedy="Run again.",
            ) from error


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset whose every case was checked. ``sha256`` is over the bytes of its files."""

    name: str
    path: Path
    sha256: str
    cases: Sequence[Case]

    def lines(self) -> Iterator[tuple[Path, int, bytes]]:
        """Yield the file of each case, the number of its line, and the line without its ending."""
        if not isinstance(self.cases, Cases):
            raise TypeError("the cases of this dataset come from no file")
        return self.cases.lines()


def load_dataset(name_or_path: str | Path) -> Dataset:
    """Load a bundled dataset by name, or a file or directory by path.

    A bare word is a bundled dataset first; write ``./word`` for a directory of that name.
    Raises :class:`UsageError` for an unknown name or path and :class:`InvalidDataset`, listing up to
    twenty faults, when a line breaks a rule.
    """
    path = _find(name_or_path)
    files = _files(path)
    digest = hashlib.sha256()
    cases = Cases(files)
    for place, _ in _checked(files, digest):
        cases.append(place)
    name = path.resolve().stem  # the name of the directory itself for "."
    return Dataset(name, path, digest.hexdigest(), cases)


def iter_cases(path: Path) -> Iterator[Case]:
    """Yield the cases of a file or directory as they are checked, in one pass.

    The first fault ends the cases; the rest is only searched for further faults, then
    :class:`InvalidDataset` is raised.
    """
    for place, record in _checked(_files(path), hashlib.sha256()):
        yield case_of(record, place.line)


def select(
    dataset: Dataset,
    *,
    lang: str | None = None,
    tags: Sequence[str] = (),
    skip_tags: Sequence[str] = (),
    limit: int | None = None,
) -> Dataset:
    """Return the dataset's cases of a language that bear at least one of ``tags``, at most ``limit``.

    Those that bear one of ``skip_tags`` are left out. The hash stays that of the whole files.
    Raises :class:`UsageError` when nothing is left.
    """
    if limit is not None and limit < 1:
        raise UsageError(f"--limit must be 1 or more, not {limit}.")
    if lang is None and not tags and not skip_tags:
        return replace(dataset, cases=dataset.cases[:limit])
    wanted, unwanted = set(tags), set(skip_tags)
    kept: list[int] = []
    langs: set[str] = set()
    known_tags: set[str] = set()
    for index, case in enumerate(dataset.cases):
        langs.add(case.lang)
        known_tags.update(case.tags)
        if (
            (lang is None or case.lang == lang)
            and (not wanted or not wanted.isdisjoint(case.tags))
            and unwanted.isdisjoint(case.tags)
        ):
            kept.append(index)
            if len(kept) == limit:
                break
    if not kept:
        hints = [nearest(tag, known_tags) for tag in tags if tag not in known_tags]
        raise UsageError(
            f"No case of {dataset.name} has "
            + " and ".join(
                [f"language {lang}"] * (lang is not None)
                + [f"tag {' or '.join(tags)}"] * bool(tags)
                + [f"no tag {' or '.join(skip_tags)}"] * bool(skip_tags)
            )
            + ".",
            remedy=" ".join(filter(None, hints))
            or f"Languages: {', '.join(sorted(langs))}. Tags: {', '.join(sorted(known_tags))}.",
        )
    if isinstance(dataset.cases, Cases):
        places = [dataset.cases.place(index) for index in kept]
        return replace(dataset, cases=Cases(_files(dataset.path), places))
    return replace(dataset, cases=tuple(dataset.cases[index] for index in kept))


def case_of(record: dict[str, Any], line: int) -> Case:
    """Build a case from a checked line."""
    now = record.get("now")
    return Case(
        id=record["id"],
        lang=record["lang"],
        tool=Tool(**record["tool"]),
        schema=record["schema"],
        question=record["question"],
        expected=record["expected"],
        conversation=tuple(record.get("conversation", ())),
        facts=tuple(record.get("facts", ())),
        summary=record.get("summary", ""),
        steps=tuple(Step(**step) for step in record.get("steps", ())),
        data=record.get("data", {}),
        now=None if now is None else datetime.fromisoformat(now),
        accept={
            place: Accept(
                values=tuple(entry.get("values", ())),
                match=entry.get("match"),
                may_omit=entry.get("may_omit", False),
                aliases={name: tuple(more) for name, more in entry.get("aliases", {}).items()},
                date_order=entry.get("date_order"),
            )
            for place, entry in record.get("accept", {}).items()
        },
        unfillable=tuple(record.get("unfillable", ())),
        defects=record.get("defects", {}),
        tags=tuple(record.get("tags", ())),
        cluster=record.get("cluster", ""),
        line=line,
    )


def _checked(files: Sequence[Path], digest: Any) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield every sound line until the first fault; raise what was found at the end."""
    problems: list[Problem] = []
    first_use: dict[str, tuple[int, int]] = {}
    for index, path in enumerate(files):
        offset = 0
        with path.open("rb") as stream:
            for number, raw in enumerate(stream, start=1):
                digest.update(raw)
                place = Place(index, offset, number)
                offset += len(raw)
                line = content(raw, first=number == 1)
                if not line:
                    continue
                record = parse(line)
                faults = [record] if isinstance(record, Fault) else _faults(record)
                if not isinstance(record, Fault) and isinstance(record.get("id"), str):
                    at_file, at_line = first_use.setdefault(record["id"], (index, number))
                    if (at_file, at_line) != (index, number):
                        faults.append(_duplicate(record["id"], files[at_file], at_line))
                problems += [Problem(path, number, fault) for fault in faults]
                if len(problems) >= MOST_PROBLEMS:
                    raise InvalidDataset(problems[:MOST_PROBLEMS])
                if not problems and not isinstance(record, Fault):
                    yield place, record
    if problems:
        raise InvalidDataset(problems)
    if not first_use:
        raise DatasetError(
            f"{files[0] if len(files) == 1 else files[0].parent} has no cases.",
            remedy="A dataset has one case a line, see callbench/dataset/case.schema.json.",
        )


def _faults(record: dict[str, Any]) -> list[Fault]:
    return shape(record) or meaning(record)


def _duplicate(name: str, file: Path, line: int) -> Fault:
    return Fault(
        "/id",
        "duplicate-id",
        f'The id "{name}" is taken: it first stands at {file}:{line}.',
        "Give each case an id of its own.",
    )


def _find(name_or_path: str | Path) -> Path:
    if not str(name_or_path):
        raise UsageError("The dataset's name is empty.", remedy="Give a name or a path.")
    path = Path(name_or_path)
    bare = isinstance(name_or_path, str) and path.name == name_or_path and not path.suffix
    names: list[str] = []
    if bare:
        root = bundled("datasets")
        names = bundled_names(root)
        if name_or_path in names:
            return root / path
    if path.exists():
        return path
    if bare:
        raise UsageError(
            f'There is no dataset "{name_or_path}".',
            remedy=nearest(path.name, names)
            or f"Bundled datasets: {', '.join(names)}. Or give the path of a .jsonl file.",
        )
    raise UsageError(f"There is no dataset file or directory {path}.", remedy="Check the path.")


def bundled_names(root: Path) -> list[str]:
    """Return the names of the datasets in a directory of bundled data."""
    # The cases of the conformance suite are no slots to fill.
    return sorted(
        entry.name for entry in root.iterdir() if entry.is_dir() and entry.name != "conformance"
    )


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(entry for entry in path.glob("*.jsonl") if entry.is_file())
    if not found:
        raise DatasetError(
            f"{path} holds no *.jsonl file.", remedy="A dataset is one or more of them."
        )
    return found
