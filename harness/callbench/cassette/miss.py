"""``CassetteMiss``: a request that has no recording, said so that a person knows what to do."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from callbench.cassette.format import scrubbers_of
from callbench.cassette.interaction import Request
from callbench.cassette.nearest import Nearest
from callbench.cassette.store import Cassette
from callbench.errors import CassetteError


class CassetteMiss(CassetteError):
    """No recording answers a request. Carries ``request``, ``case``, ``ordinal`` and ``nearest``."""

    def __init__(
        self,
        message: str,
        *,
        remedy: str,
        request: Request,
        case: str,
        ordinal: int,
        nearest: Nearest | None,
    ) -> None:
        super().__init__(message, remedy=remedy)
        self.request = request
        self.case = case
        self.ordinal = ordinal
        self.nearest = nearest

    def __reduce__(self) -> tuple[Any, ...]:
        """Let it pass between processes, which errors with keywords of their own else cannot."""
        keywords = ("remedy", "request", "case", "ordinal", "nearest")
        make = partial(type(self), **{name: getattr(self, name) for name in keywords})
        return make, (self.message,)


def cassette_miss(
    cassette: Cassette, request: Request, case: str, ordinal: int, command: str = ""
) -> CassetteMiss:
    """The error for a request that ``cassette`` cannot answer, with the nearest recording.

    ``command`` is what the user can run to record it.
    """
    asked = _describe(request, case)
    times = cassette.recorded(cassette.key_of(request), case)
    nearest = None
    if times:
        told = (
            f"It is recorded {_times(times)} and was asked {_times(ordinal + 1)}: "
            "the system under test asks more often than when it was recorded."
        )
    elif not cassette.path.exists():
        told = "The file does not exist."
    else:
        nearest = cassette.nearest(request, case)
        told = _describe_nearest(nearest)
    if cassette.header:
        told += _describe_scrubbers(scrubbers_of(cassette.header), cassette.scrubbing.names)
    return CassetteMiss(
        f"{cassette.path} has no recording of {asked}.\n{told}",
        remedy=_remedy(command),
        request=request,
        case=case,
        ordinal=ordinal,
        nearest=nearest,
    )


def _describe(request: Request, case: str) -> str:
    body = request.json()
    details = []
    if isinstance(body, dict):
        if request.model:
            details.append(f"model {request.model}")
        messages = body.get("messages")
        if isinstance(messages, list):
            details.append(f"{len(messages)} message{'' if len(messages) == 1 else 's'}")
    text = f"{request.method} {request.path}"
    if details:
        text += f" ({', '.join(details)})"
    return f"{text} of case {case!r}" if case else text


def _describe_nearest(nearest: Nearest | None) -> str:
    if nearest is None:
        return "It holds no recording at all."
    interaction = nearest.interaction
    of_case = f" of case {interaction.case!r}" if interaction.case else ""
    if not nearest.differences:
        return f"The same request is recorded in line {nearest.line}{of_case}, for another repeat."
    lines = [
        f"The nearest recording is line {nearest.line}{of_case}. What differs, recorded -> asked:"
    ]
    lines.extend(f"  {difference}" for difference in nearest.differences)
    return "\n".join(lines)


def _describe_scrubbers(recorded: Sequence[str], used: Sequence[str]) -> str:
    if set(recorded) == set(used):
        return ""
    return (
        f"\nIt was recorded with the scrubbers {', '.join(recorded) or '(none)'}; "
        f"this run uses {', '.join(used) or '(none)'}, so that requests differ."
    )


def _remedy(command: str) -> str:
    if command:
        return f"To record what is missing: {command}"
    return "To record what is missing, run again with --mode record (--mode rerecord replaces all)."


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
