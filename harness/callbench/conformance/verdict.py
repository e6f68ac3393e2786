"""What came of one case, and the judging of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from callbench.conformance.cases import Case
from callbench.conformance.compare import same
from callbench.conformance.diff import differences, show
from callbench.conformance.traffic.endpoint import Asked
from callbench.conformance.traffic.judging import Fault, judge_requests
from callbench.peer import Answer, Failed, Hello, Misbehaved, Result, Unsupported

Outcome = Literal["passed", "failed", "misbehaved", "unsupported"]
OUTCOMES: tuple[Outcome, ...] = ("passed", "failed", "misbehaved", "unsupported")


@dataclass(frozen=True, slots=True)
class Verdict:
    """A case, what the peer answered, and what that means. ``why`` says it in a few words.

    ``faults`` is what was wrong with the requests it sent to a model.
    """

    case: Case
    outcome: Outcome
    answer: Answer
    why: str = ""
    seconds: float = 0.0
    faults: tuple[Fault, ...] = ()

    @property
    def bad(self) -> bool:
        """Whether the peer did not do what the contract says."""
        return self.outcome in ("failed", "misbehaved")

    @property
    def expected(self) -> str:
        """What the case expects, on one line."""
        return f"error {self.case.error}" if self.case.error else show(self.case.gives, 600)

    @property
    def got(self) -> str:
        """What came instead, on one line."""
        match self.answer:
            case Result(value):
                return show(value, 600)
            case Failed(kind, message):
                return f"error {kind}" + (f": {message}" if message else "")
            case Unsupported():
                return "unsupported"
            case Misbehaved(kind, detail):
                return f"{kind}: {detail}"

    def differences(self) -> list[str]:
        """Return what differs, place by place, when two results stand against each other."""
        if isinstance(self.answer, Result) and not self.case.error:
            got = _comparable(self.case, self.answer.value)
            return differences(_comparable(self.case, self.case.gives), got, self.case.compare)
        return []


def judge(
    case: Case,
    answer: Answer,
    hello: Hello,
    *,
    asked: Sequence[Asked] = (),
    require_all: bool = False,
) -> Verdict:
    """Judge an answer by what the case expects, and by what the peer said it implements.

    An operation that is not implemented is no failure, nor is an extension that is declined;
    with ``require_all`` an operation must be there, too. ``asked`` is what it asked a model: a
    right result of wrong requests is a failure.
    """
    outcome, why = _judged(case, answer)
    if outcome == "unsupported" and not case.extension:
        if case.op in hello.operations:
            outcome, why = "failed", f"hello lists {case.op}, and this is no extension: declined"
        elif require_all:
            outcome, why = "failed", f"{case.op} is not implemented"
    faults: tuple[Fault, ...] = ()
    if case.asked is not None and outcome != "unsupported":
        faults = tuple(judge_requests(case.op, case.rule or case.op, case.asked, asked))
    if faults and outcome == "passed":
        outcome, why = "failed", f"what it asked breaks {faults[0].rule}"
    return Verdict(case, outcome, answer, why, faults=faults)


def _judged(case: Case, answer: Answer) -> tuple[Outcome, str]:
    match answer:
        case Misbehaved(kind):
            return "misbehaved", kind
        case Unsupported():
            return "unsupported", "not implemented or declined"
        case Failed(kind):
            if kind == case.error:
                return "passed", ""
            return "failed", f"another error, {kind}" if case.error else f"an error, {kind}"
        case Result(value):
            if case.error:
                return "failed", "a result, no error"
            if same(_comparable(case, case.gives), _comparable(case, value), case.compare):
                return "passed", ""
            return "failed", "another result"


def _comparable(case: Case, value: Any) -> Any:
    """Return a result as it is compared: of ``llm.exec`` adjacent TEXT chunks are one."""
    if case.op != "llm.exec" or not isinstance(value, dict):
        return value
    chunks = value.get("chunks")
    if not isinstance(chunks, list):
        return value
    joined: list[Any] = []
    for chunk in chunks:
        if joined and _is_text(chunk) and _is_text(joined[-1]):
            joined[-1] = {**chunk, "content": joined[-1]["content"] + chunk["content"]}
        else:
            joined.append(chunk)
    return {**value, "chunks": joined}


def _is_text(chunk: Any) -> bool:
    match chunk:
        case {"type": "text", "content": str(), **rest}:
            return not rest
    return False
