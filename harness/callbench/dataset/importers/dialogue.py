"""What the importers of dialogue sets share: a case is the talk up to a call, and the calls before it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from callbench.dataset.importers.source import Member, Source


def documents(source: Source, *left_out: str) -> list[Member]:
    """Return the JSON files of a source but those whose stems end in one of ``left_out``.

    These sets are distributed as zips in a directory: a directory without such a file is looked
    through for zips that have one.
    """

    def inside(where: Source) -> list[Member]:
        return [member for member in where.files("*.json") if not member.stem.endswith(left_out)]

    found = inside(source)
    if not found and source.path.is_dir():
        for packed in source.files("*.zip"):
            for member in inside(Source(source.locate("/".join(packed.parts)))):
                source.note(member)
                found.append(member)
    return found


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance. ``role`` is ``user`` or ``assistant``."""

    role: str
    content: str


def asked(turns: list[Turn]) -> tuple[list[dict[str, str]], str] | None:
    """Split the turns before a call into the conversation and the question.

    The question is the last turn and must be the user's: ``None`` when it is not, for then nobody
    asked for the call.
    """
    if not turns or turns[-1].role != "user":
        return None
    before = [{"role": turn.role, "content": turn.content} for turn in turns[:-1]]
    return before, turns[-1].content


@dataclass(slots=True)
class Steps:
    """The calls made so far, as the steps of later cases: ``call-1``, ``call-2``, …"""

    made: list[dict[str, Any]] = field(default_factory=list)

    def add(self, tool: str, output: dict[str, Any], description: str = "") -> None:
        """Add a call with what is known of its result."""
        step: dict[str, Any] = {"step_id": f"call-{len(self.made) + 1}", "step_name": tool}
        if description:
            step["step_description"] = description
        self.made.append({**step, "output_data": output})

    def now(self) -> list[dict[str, Any]]:
        """Return the steps so far, free of what is added later."""
        return list(self.made)


def without_empty(record: dict[str, Any]) -> dict[str, Any]:
    """Leave out the optional fields of a case that are empty."""
    optional = ("conversation", "facts", "steps", "accept", "unfillable", "data")
    return {key: value for key, value in record.items() if value or key not in optional}


NO_QUESTION = "no-question"
NO_QUESTION_WHY = "No turn of the user stands right before the call."
