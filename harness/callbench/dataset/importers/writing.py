"""Running an importer: what it yields is audited and written, and every item is accounted for.

The directory holds ``cases.jsonl``, the dataset, and ``import.json``, the report. It is written whole
or not at all, and the same source gives the same bytes.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import callbench
from callbench.dataset.importers import IMPORTERS
from callbench.dataset.importers.audit import audit
from callbench.dataset.importers.base import (
    OUT_OF_SCOPE,
    Defect,
    Draft,
    Excluded,
    Importer,
    Item,
)
from callbench.dataset.importers.source import Source
from callbench.dataset.lines import parse
from callbench.dataset.problems import Fault
from callbench.errors import DatasetError, UsageError


@dataclass(slots=True)
class Report:
    """What an import found. ``items`` is ``cases`` plus the number of ``excluded``."""

    importer: str
    licence: str
    options: dict[str, Any]
    records: set[str] = field(default_factory=set)
    cases: int = 0
    excluded: list[Excluded] = field(default_factory=list)
    defects: list[tuple[str, Defect]] = field(default_factory=list)
    sources: list[dict[str, Any]] = field(default_factory=list)

    @property
    def items(self) -> int:
        """How many calls and records without a call were read."""
        return self.cases + len(self.excluded)

    def excluded_by_kind(self) -> dict[str, int]:
        """Count what was left out by its kind."""
        return dict(sorted(Counter(item.kind for item in self.excluded).items()))

    def defects_by_kind(self) -> dict[str, int]:
        """Count the defects by their kind."""
        return dict(sorted(Counter(defect.kind for _, defect in self.defects).items()))

    def document(self) -> dict[str, Any]:
        """Return the report as it is written to ``import.json``."""
        return {
            "importer": self.importer,
            "version": callbench.__version__,
            "options": self.options,
            "sources": self.sources,
            "records": len(self.records),
            "items": self.items,
            "cases": self.cases,
            "excluded": self.excluded_by_kind(),
            "excluded_items": [
                {"origin": item.origin, "kind": item.kind, "why": item.why}
                for item in self.excluded
            ],
            "defects": self.defects_by_kind(),
            "defect_items": [
                {"case": case, "pointer": defect.pointer, "kind": defect.kind,
                 "message": defect.message}
                for case, defect in self.defects
            ],
        }  # fmt: skip


def import_dataset(
    name: str,
    paths: Sequence[Path],
    out: Path,
    *,
    extra: Mapping[str, Path] | None = None,
    limit: int | None = None,
) -> Report:
    """Import ``paths`` with the importer ``name`` into the directory ``out``; return the report.

    ``extra`` are further files by option name, ``limit`` the most cases to write. Raises
    :class:`UsageError` for a wrong option or an ``out`` that is not empty, :class:`DatasetError`
    for a source that is not of the format, or of which no record made a case; but where all of them
    are merely out of scope, the report is written with every one of them and no case.
    """
    if name not in IMPORTERS:
        raise UsageError(
            f'There is no importer "{name}".', remedy=f"Importers: {', '.join(IMPORTERS)}."
        )
    if limit is not None and limit < 1:
        raise UsageError(f"--limit must be 1 or more, not {limit}.")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} is there and not empty.", remedy="Name a new directory.")
    importer = IMPORTERS[name]()
    extras = {option: Source(path) for option, path in (extra or {}).items()}
    sources = [Source(path, extras) for path in paths]
    report = Report(
        name,
        importer.licence,
        {**{option: path.name for option, path in (extra or {}).items()}, "limit": limit},
    )
    out.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        _write(importer, sources, scratch, report, limit)
        report.sources = [
            entry for source in (*sources, *extras.values()) for entry in _read_from(source, report)
        ]
        text = json.dumps(report.document(), ensure_ascii=False, indent=1)
        (scratch / "import.json").write_text(f"{text}\n", "utf-8", newline="\n")
        scratch.chmod(0o777 & ~_umask())
        scratch.replace(out)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return report


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _write(
    importer: Importer,
    sources: Sequence[Source],
    scratch: Path,
    report: Report,
    limit: int | None,
) -> None:
    taken: dict[str, list[str]] = {}
    with (scratch / "cases.jsonl").open("w", encoding="utf-8", newline="\n") as stream:
        for item in _items(importer, sources):
            report.records.add(item.origin)
            found = audit(_named(item, taken)) if isinstance(item, Draft) else item
            if isinstance(found, Excluded):
                report.excluded.append(found)
                continue
            record, defects = found
            line = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
            why = _unwritable(line)
            if why:
                report.excluded.append(Excluded(item.origin, "unsound-text", why))
                continue
            stream.write(f"{line}\n")
            report.cases += 1
            report.defects += [(record["id"], defect) for defect in defects]
            if report.cases == limit:
                break
    if not report.cases and not (report.excluded and _out_of_scope(report)):
        counts = ", ".join(f"{kind} {n}" for kind, n in report.excluded_by_kind().items())
        why = f"; left out: {counts}: {report.excluded[0].why}" if report.excluded else ""
        raise DatasetError(
            f"{', '.join(str(source.path) for source in sources)}: no case of {importer.name} in it"
            f"{why}",
            remedy="Is it a file of this format?",
        )


def _out_of_scope(report: Report) -> bool:
    return OUT_OF_SCOPE.issuperset(report.excluded_by_kind())


def _unwritable(line: str) -> str:
    """Say why no line can hold this: NaN, half a surrogate pair, nested too deeply."""
    try:
        fault = parse(line.encode())
    except UnicodeEncodeError:
        return "A text holds half of a surrogate pair, which no UTF-8 can carry."
    return fault.message if isinstance(fault, Fault) else ""


def _items(importer: Importer, sources: Sequence[Source]) -> Iterator[Item]:
    for source in sources:
        try:
            yield from importer.read(source)
        except RecursionError:
            raise DatasetError(
                f"{source.path}: a record is nested too deeply.", remedy="Take it out."
            ) from None


def _named(draft: Draft, taken: dict[str, list[str]]) -> Draft:
    """Give a case whose id is taken an id of its own.

    In another file it is another set's and so is its cluster; in the same file it is a defect.
    """
    name, file = str(draft.record["id"]), draft.origin.rpartition("#")[0]
    files = taken.setdefault(name, [])
    files.append(file)
    if len(files) == 1:
        return draft
    number = len(files)
    while f"{name}#{number}" in taken:
        number += 1
    taken[f"{name}#{number}"] = [file]
    record = {**draft.record, "id": f"{name}#{number}"}
    if file in files[:-1]:
        message = f'The id "{name}" stands more than once in {file}.'
        return Draft(draft.origin, record, (*draft.defects, Defect("/id", "misaligned", message)))
    if "cluster" in record:
        record["cluster"] = f"{record['cluster']}#{number}"
    return Draft(draft.origin, record, draft.defects)


def _read_from(source: Source, report: Report) -> Iterator[dict[str, Any]]:
    licence = source.licence()
    for member in list(source.opened.values()):
        yield {
            "file": member.name,
            "sha256": member.sha256,
            "bytes": member.bytes,
            "licence": report.licence or (licence.name if licence else ""),
            "licence_sha256": licence.sha256 if licence else None,
        }
