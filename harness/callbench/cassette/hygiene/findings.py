"""Findings: what is wrong where, and what to do; as text, JSON, JUnit XML and GitHub annotations."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

# What XML 1.0 cannot hold, not even escaped.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong: ``line`` counts from 1, 0 stands for the file as a whole."""

    file: str
    line: int
    rule: str
    message: str
    remedy: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        text = f"{place}: {self.rule}: {self.message}"
        return f"{text}\n    {self.remedy}" if self.remedy else text

    def as_object(self) -> dict[str, Any]:
        """The finding as ``--json`` shows it."""
        return asdict(self)


def github(findings: Iterable[Finding]) -> str:
    """One workflow command a finding, which GitHub shows at its line."""
    lines = []
    for finding in findings:
        place = f"file={_property(finding.file)}"
        if finding.line:
            place += f",line={finding.line}"
        text = f"{finding.message}\n{finding.remedy}" if finding.remedy else finding.message
        title = _property(f"cassette: {finding.rule}")
        lines.append(f"::error {place},title={title}::{_data(text)}\n")
    return "".join(lines)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def junit(name: str, rules: Mapping[str, Sequence[str]], findings: Iterable[Finding]) -> bytes:
    """JUnit XML: a suite a file, in it a case for each rule that was checked, failed where it found.

    ``rules``: what was checked, by file.
    """
    by_place: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        by_place.setdefault((finding.file, finding.rule), []).append(finding)
    checked = {file: list(names) for file, names in rules.items()}
    for file, rule in by_place:
        names = checked.setdefault(file, [])
        if rule not in names:
            names.append(rule)
    root = ET.Element("testsuites", name=name)
    for file, names in checked.items():
        failed = sum((file, rule) in by_place for rule in names)
        suite = ET.SubElement(
            root, "testsuite", name=_xml(file), tests=str(len(names)), failures=str(failed)
        )
        for rule in names:
            case = ET.SubElement(
                suite, "testcase", name=rule, classname=_xml(f"{name}.{Path(file).name}")
            )
            found = by_place.get((file, rule))
            if found:
                message = found[0].message + (f" (and {len(found) - 1} more)" if found[1:] else "")
                failure = ET.SubElement(case, "failure", message=_xml(message), type=rule)
                failure.text = _xml("\n".join(map(str, found)))
    ET.indent(root)
    text: str = ET.tostring(root, encoding="unicode")
    return f"<?xml version='1.0' encoding='utf-8'?>\n{text}\n".encode()


def _xml(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)
