"""Findings and a whole run, for people and for programs."""

from __future__ import annotations

import shlex
from typing import Any

from callbench.conformance.diff import differences, show
from callbench.fuzz.corpus import case_id
from callbench.fuzz.hunt import Finding
from callbench.fuzz.run import Plan, Report, chapters
from callbench.peer import Answer, Failed, Hello, Misbehaved, Result
from callbench.peer.values import encode

_LONG = 600


def repeats(finding: Finding, impl: str, plan: Plan) -> tuple[str, str]:
    """Return the two commands that show a finding again: this input, and the whole hunt."""
    one = ["callbench", "conform", "--impl", impl]
    one += ["--suite", str(plan.corpus), "--id", case_id(finding)]
    whole = ["callbench", "fuzz", "--impl", impl, "--op", finding.op]
    whole += ["--seed", str(plan.seed), "--examples", str(plan.examples), "--fresh"]
    return shlex.join(one), shlex.join(whole)


def explain(finding: Finding, impl: str, plan: Plan) -> list[str]:
    """Return the lines that show a finding."""
    told = sorted(map(str, finding.places))
    lines = [f"FOUND  {finding.op}  {'; '.join(told)}"]
    if not finding.repeats:
        lines.append(
            "  asked once more, the peer answered otherwise: not the same input, same answer"
        )
    lines += [
        f"  rules      {chapters(finding.op) or 'none'}",
        f"  input      {show(finding.given, _LONG)}",
        f"  reference  {_line(finding.expected)}",
        f"  peer       {_line(finding.got)}",
    ]
    lines += [f"    {line}" for line in _differences(finding)]
    if isinstance(finding.got, Misbehaved) and finding.got.log:
        lines += ["  the end of its standard error:"]
        lines += [f"    {line}" for line in finding.got.log.splitlines()[-5:]]
    one, whole = repeats(finding, impl, plan)
    return [*lines, f"  again      {one}", f"             {whole}"]


def summary(report: Report, plan: Plan) -> list[str]:
    """Return the last lines of a run."""
    lines = []
    for op, tally in report.operations.items():
        if tally.skipped:
            lines.append(f"{op}: {tally.skipped}")
    declined = sum(tally.declined for tally in report.operations.values())
    tried = sum(1 for tally in report.operations.values() if tally.examples)
    total = f"{report.examples:,} examples of {_count(tried, 'operation')}"
    total += f", {report.examples_per_second:,.0f} a second"
    found = _count(len(report.findings), "difference") + " found"
    if report.appended:
        found += f", {report.appended} new in {plan.corpus}"
    if report.known:
        found += f"; known ones met {report.known:,} times"
    if declined:
        found += f"; {declined:,} inputs declined"
    lines.append(f"{total}: {found}")
    return [*lines, *(["interrupted: what was found so far is kept"] if report.interrupted else [])]


def as_object(report: Report, hello: Hello, impl: str, plan: Plan) -> dict[str, Any]:
    """Return the object of ``--json``; values in it are tagged as PROTOCOL.md says."""
    return {
        "impl": impl,
        "peer": {"name": hello.name, "language": hello.language, "release": hello.release},
        "seed": plan.seed,
        "examples": report.examples,
        "examples_per_second": round(report.examples_per_second),
        "seconds": round(report.seconds, 3),
        "known": report.known,
        "corpus": str(plan.corpus),
        "appended": report.appended,
        "interrupted": report.interrupted,
        "ok": not report.findings,
        "operations": {
            op: {
                "examples": tally.examples,
                "declined": tally.declined,
                "known": tally.known,
                "findings": tally.findings,
                "skipped": tally.skipped,
            }
            for op, tally in report.operations.items()
        },
        "findings": [_finding(finding, impl, plan) for finding in report.findings],
    }


def _finding(finding: Finding, impl: str, plan: Plan) -> dict[str, Any]:
    one, whole = repeats(finding, impl, plan)
    return {
        "id": case_id(finding),
        "op": finding.op,
        "rules": chapters(finding.op).split(", "),
        "difference": sorted(map(str, finding.places)),
        "input": {name: encode(value) for name, value in finding.given.items()},
        "expected": _answer(finding.expected),
        "got": _answer(finding.got),
        "differences": _differences(finding),
        "repeats": finding.repeats,
        "again": one,
        "found_by": whole,
    }


def _differences(finding: Finding) -> list[str]:
    match finding.expected, finding.got:
        case (Result(expected), Result(got)):
            return differences(expected, got)
    return []


def _answer(answer: Answer) -> dict[str, Any]:
    match answer:
        case Result(value):
            return {"gives": encode(value)}
        case Failed(kind, message):
            return {"error": kind, "message": message}
        case Misbehaved(kind, detail):
            return {"misbehaved": kind, "detail": detail}
    return {"unsupported": True}


def _line(answer: Answer) -> str:
    match answer:
        case Result(value):
            return show(value, _LONG)
        case Failed(kind, message):
            return f"error {kind}: {message[:200]}"
        case Misbehaved(kind, detail):
            return f"{kind}: {detail}"
    return "unsupported"


def _count(number: int, what: str) -> str:
    return f"1 {what}" if number == 1 else f"{number:,} {what}s"
