"""A run as one JSON object, as JUnit XML, as a Markdown page."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from typing import Any

from callbench.conformance.diff import show
from callbench.conformance.runner import Finished
from callbench.conformance.verdict import OUTCOMES, Verdict
from callbench.peer import Misbehaved, Result
from callbench.peer.values import encode

# What XML 1.0 cannot hold, not even escaped.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_object(finished: Finished, impl: str, repeat: Callable[[Verdict], str]) -> dict[str, Any]:
    """Return the object of ``--json``; values in it are tagged as PROTOCOL.md says."""
    hello = finished.hello
    return {
        "impl": impl,
        "peer": {
            "name": hello.name,
            "language": hello.language,
            "release": hello.release,
            "operations": sorted(hello.operations),
        },
        "cases": len(finished.verdicts),
        **{outcome: finished.count(outcome) for outcome in OUTCOMES},
        "missing": finished.missing,
        "known_failing": [verdict.case.id for verdict in finished.known_failures],
        "mended": [verdict.case.id for verdict in finished.mended],
        "ok": not finished.exit_code,
        "seconds": round(finished.seconds, 3),
        "cases_per_second": round(finished.cases_per_second),
        "areas": finished.by(lambda case: case.area),
        "operations": finished.by(lambda case: case.op),
        "failures": [_failure(verdict, repeat(verdict)) for verdict in finished.failures],
    }


def _failure(verdict: Verdict, repeat: str) -> dict[str, Any]:
    case, answer = verdict.case, verdict.answer
    expected = {"error": case.error} if case.error else {"gives": encode(case.gives)}
    found = {
        "id": case.id,
        "rule": case.rule,
        "title": case.title,
        "op": case.op,
        "input": {name: encode(value) for name, value in case.given.items()},
        "outcome": verdict.outcome,
        "why": verdict.why,
        "expected": expected,
        "got": {"gives": encode(answer.value)} if isinstance(answer, Result) else verdict.got,
        "differences": verdict.differences(),
        "requests": [{"rule": fault.rule, "fault": fault.text} for fault in verdict.faults],
        "log": answer.log if isinstance(answer, Misbehaved) else "",
        "repeat": repeat,
    }
    return {name: _clean(value) for name, value in found.items()}


def _clean(value: Any) -> Any:
    """Return texts without halves of surrogate pairs, which UTF-8 cannot hold."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    return [_clean(item) for item in value] if isinstance(value, list) else value


def as_junit(finished: Finished, repeat: Callable[[Verdict], str]) -> bytes:
    """Return JUnit XML: one suite, a test case for each case, its class the rule's topic.

    Misbehavior is an error, what is unsupported or known to fail is skipped.
    """
    suite = ET.Element(
        "testsuite",
        name=_text(f"conformance of {finished.hello.name}"),
        tests=str(len(finished.verdicts)),
        failures=str(sum(v.outcome == "failed" for v in finished.failures) + len(finished.mended)),
        errors=str(sum(v.outcome == "misbehaved" for v in finished.failures)),
        skipped=str(finished.count("unsupported") + len(finished.known_failures)),
        time=f"{finished.seconds:.3f}",
    )
    mended = {verdict.case.id for verdict in finished.mended}
    for verdict in finished.verdicts:
        case = verdict.case
        topic = case.rule.rpartition(".")[0] or case.op
        one = ET.SubElement(
            suite, "testcase", classname=topic, name=case.id, time=f"{verdict.seconds:.4f}"
        )
        if verdict.bad and case.id in finished.known:
            ET.SubElement(one, "skipped", message=_text(finished.known[case.id].reason))
        elif verdict.bad:
            kind = "failure" if verdict.outcome == "failed" else "error"
            found = ET.SubElement(one, kind, message=_text(verdict.why), type=verdict.outcome)
            found.text = _text("\n".join(explain(verdict, repeat(verdict))))
        elif case.id in mended:
            ET.SubElement(one, "failure", message="known to fail, but it did not", type="mended")
        elif verdict.outcome == "unsupported":
            ET.SubElement(one, "skipped", message=verdict.why)
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    text: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _text(value: str) -> str:
    return _NO_XML.sub("�", value)


def as_markdown(finished: Finished) -> str:
    """Return a page: the numbers, a table by area, one by operation, and what failed."""
    hello = finished.hello
    lines = [f"# Conformance of {hello.name} {hello.release}".rstrip(), "", summary(finished)]
    for title, table in (
        ("area", finished.by(lambda case: case.area)),
        ("operation", finished.by(lambda case: case.op)),
    ):
        lines += ["", *_table(title, table)]
    if finished.failures:
        lines += ["", "## What failed", "", "| case | rule | why |", "| --- | --- | --- |"]
        lines += [
            f"| `{v.case.id}` | {_cell(v.case.title)} | {_cell(v.why)} |" for v in finished.failures
        ]
    return "\n".join(lines) + "\n"


def _table(title: str, counts: Mapping[str, Mapping[str, int]]) -> list[str]:
    head = [f"| {title} | {' | '.join(OUTCOMES)} |", "| --- |" + " --: |" * len(OUTCOMES)]
    total: dict[str, int] = {
        outcome: sum(row[outcome] for row in counts.values()) for outcome in OUTCOMES
    }
    rows: dict[str, Mapping[str, int]] = {
        **{f"`{name}`": row for name, row in counts.items()},
        "all": total,
    }
    return head + [
        f"| {name} | {' | '.join(str(row[outcome]) for outcome in OUTCOMES)} |"
        for name, row in rows.items()
    ]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def summary(finished: Finished) -> str:
    """Return the numbers of a run on one line."""
    hello = finished.hello
    counts = [f"{finished.count(outcome):,} {outcome}" for outcome in OUTCOMES]
    if finished.count("unsupported"):
        counts[-1] += f" ({finished.missing:,} of them no extension)"
    if finished.known_failures:
        counts.append(f"{len(finished.known_failures):,} of the failures known")
    return (
        f"{hello.name} {hello.release} ({hello.language}): ".replace("  ", " ")
        + f"{len(finished.verdicts):,} cases, {', '.join(counts)}; "
        f"{finished.seconds:.1f} s, {finished.cases_per_second:,.0f} cases/s"
    )


def explain(verdict: Verdict, repeat: str) -> list[str]:
    """Return the lines that tell a failure: rule, input, expected, got, differences, how to repeat."""
    case = verdict.case
    rule = f"{case.rule}: {case.title}" if case.rule else "no rule of the contract"
    lines = [
        f"{verdict.outcome.upper()} {case.id}  ({verdict.why})",
        f"  rule      {rule}",
        f"  input     {case.op} {show(case.given, 600)}",
        f"  expected  {verdict.expected}",
        f"  got       {verdict.got}",
    ]
    if case.note:
        lines.insert(2, f"  note      {case.note}")
    lines += [f"  differs   {difference}" for difference in verdict.differences()]
    lines += [f"  asked     {fault}" for fault in verdict.faults]
    if isinstance(verdict.answer, Misbehaved) and verdict.answer.log:
        lines += [f"  stderr    {line}" for line in verdict.answer.log.splitlines()[-8:]]
    return [*lines, f"  repeat    {repeat}"]
