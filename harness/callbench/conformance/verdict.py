"""What came of one case, and the judging of an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from callbench.conformance.cases import Case
from callbench.conformance.compare import same
from callbench.conformance.diff import differences, show
from callbench.peer import Answer, Failed, Hello, Misbehaved, Result, Unsupported

Outcome = Literal["passed", "failed", "misbehaved", "unsupported"]
OUTCOMES: tuple[Outcome, ...] = ("passed", "failed", "misbehaved", "unsupported")


@dataclass(frozen=True, slots=True)
class Verdict:
    """A case, what the peer answered, and what that means. ``why`` says it in a few words."""

    case: Case
    outcome: Outcome
    answer: Answer
    why: str = ""
    seconds: float = 0.0

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
            return differences(self.case.gives, self.answer.value, self.case.compare)
        return []


def judge(case: Case, answer: Answer, hello: Hello, *, require_all: bool = False) -> Verdict:
    """Judge an answer by what the case expects, and by what the peer said it implements.

    An operation that is not implemented is no failure, nor is an extension that is declined;
    with ``require_all`` an operation must be there, too.
    """
    outcome, why = _judged(case, answer)
    if outcome == "unsupported" and not case.extension:
        if case.op in hello.operations:
            outcome, why = "failed", f"hello lists {case.op}, and this is no extension: declined"
        elif require_all:
            outcome, why = "failed", f"{case.op} is not implemented"
    return Verdict(case, outcome, answer, why)


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
            if same(case.gives, value, case.compare):
                return "passed", ""
            return "failed", "another result"
