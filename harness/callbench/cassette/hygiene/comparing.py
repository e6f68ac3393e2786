"""``diff A B``: what differs between two cassettes, told by message, tool and parameter.

Recordings are paired by what they are about: the same request of the same case and ordinal, then what is
left of a case in its order. Of each recording only its place is kept in memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from callbench.cassette import jsontext
from callbench.cassette.diff import differences, text_difference
from callbench.cassette.events import is_event_stream
from callbench.cassette.hygiene.places import Place, Places
from callbench.cassette.interaction import Interaction, Response
from callbench.cassette.pieces import joined

Kind = Literal["only in the first", "only in the second", "changed"]

_SAID_ELSEWHERE = {"id", "created", "usage", "system_fingerprint", "object", "timings"}
"""Members of an answer that differ with each answer and say nothing (``timings``: llama.cpp's own)."""


@dataclass(frozen=True, slots=True)
class Change:
    """One difference: ``request``, ``answer`` and ``timing`` hold lines of text, the first file on the left."""

    kind: Kind
    case: str
    ordinal: int
    first: int | None
    second: int | None
    request: tuple[str, ...] = ()
    answer: tuple[str, ...] = ()
    timing: tuple[str, ...] = ()

    def as_object(self) -> dict[str, Any]:
        """The object of ``--json``; ``first`` and ``second`` are line numbers."""
        return asdict(self)

    def __str__(self) -> str:
        where = " -> ".join(
            f"line {line}" for line in (self.first, self.second) if line is not None
        )
        head = f"case {self.case!r}, ordinal {self.ordinal} ({where}): {self.kind}"
        parts = [
            f"  {name}: {line}"
            for name, found in (
                ("asked", self.request), ("answer", self.answer), ("timing", self.timing),
            )
            for line in found
        ]  # fmt: skip
        return "\n".join([head, *parts])


def compare(first: Path, second: Path, *, timing: bool = False) -> Iterator[Change]:
    """What differs, by case in the order of the first file, then what only the second has.

    ``timing``: times count as answers do. Raises ``CassetteError`` for a file that cannot be read.
    """
    with Places(first) as a, Places(second) as b:
        ours, theirs = _by_case(a), _by_case(b)
        for case in dict.fromkeys((*ours, *theirs)):
            pairs = list(_paired(ours.get(case, []), theirs.get(case, [])))
            for old, new in pairs:
                change = _change(a, b, old, new, timing=timing)
                if change is not None:
                    yield change


def _by_case(places: Places) -> dict[str, list[Place]]:
    found: dict[str, list[Place]] = defaultdict(list)
    for place in places:
        found[place.case].append(place)
    return found


def _paired(old: list[Place], new: list[Place]) -> Iterator[tuple[Place | None, Place | None]]:
    """Equal requests first; what is left by ordinal and turn, in the order of the files."""
    waiting = {(place.key, place.ordinal): place for place in new}
    pairs: dict[int, Place] = {}
    for index, place in enumerate(old):
        match = waiting.pop((place.key, place.ordinal), None)
        if match is not None:
            pairs[index] = match
    rest = sorted(waiting.values(), key=lambda place: (place.turns, place.line))
    for index, place in enumerate(old):
        if index not in pairs:
            match = next((one for one in rest if one.turns == place.turns), None)
            if match is not None:
                rest.remove(match)
                pairs[index] = match
    yield from ((place, pairs.get(index)) for index, place in enumerate(old))
    yield from ((None, place) for place in rest)


def _change(
    a: Places, b: Places, old: Place | None, new: Place | None, *, timing: bool
) -> Change | None:
    if old is None or new is None:
        one = old or new
        assert one is not None
        return Change(
            "only in the first" if new is None else "only in the second",
            one.case,
            one.ordinal,
            None if old is None else old.line,
            None if new is None else new.line,
        )
    before, after = a.read(old), b.read(new)
    request = tuple(differences(before.request, after.request))
    answer = tuple(answers(before.response, after.response))
    times = tuple(_timing(before, after)) if timing else ()
    if not (request or answer or times):
        return None
    return Change("changed", old.case, old.ordinal, old.line, new.line, request, answer, times)


# --- answers --------------------------------------------------------------------------------------


def answers(old: Response, new: Response) -> Iterator[str]:
    """One line for each difference between two answers as a client assembles them."""
    if old.status != new.status:
        yield f"status: {old.status} -> {new.status}"
    if old.error != new.error:
        yield f"error: {old.error or 'none'} -> {new.error or 'none'}"
    before, after = assembled(old), assembled(new)
    for place in dict.fromkeys((*before, *after)):
        if before.get(place) == after.get(place):
            continue
        if place not in before:
            yield f"{place}: not given -> {_shown(after[place])}"
        elif place not in after:
            yield f"{place}: {_shown(before[place])} -> not given"
        else:
            yield from _values(place, before[place], after[place])


def assembled(response: Response) -> dict[str, Any]:
    """The texts of an answer by place, pieces of a stream joined; tool arguments as parameters.

    ``content``, ``reasoning_content``, ``tool get_weather/city``: the same whether it was streamed.
    """
    stream = is_event_stream(response.headers)
    found: dict[str, Any] = {}
    names: dict[tuple[str | int, ...], str] = {}
    arguments: dict[tuple[str | int, ...], str] = {}
    for at, text in joined(response.events, event_stream=stream):
        place = tuple("message" if step == "delta" else step for step in at)
        if (set(place) & _SAID_ELSEWHERE and place[-1] != "arguments") or text == "[DONE]":
            continue
        if place[-2:] == ("function", "name"):
            names[place[:-1]] = text
        elif place[-2:] == ("function", "arguments"):
            arguments[place[:-1]] = text
        elif place[-1:] not in (("role",), ("type",)):
            found[_name(place)] = text
    if not stream:
        found.update(_numbers(response))
    for place in dict.fromkeys((*names, *arguments)):
        name = names.get(place, "(no name)")
        call = f"tool {name}" if len(names) < 2 else f"tool call {_number(place)} {name}"
        text = arguments.get(place, "")
        try:
            value = jsontext.loads(text.encode("utf-8", "surrogatepass"))
        except ValueError:
            value = text
        if isinstance(value, dict) and value:
            found.update({f"{call}/{key}": member for key, member in value.items()})
        else:
            found[call] = value
    return found


def _numbers(response: Response) -> dict[str, Any]:
    """The numbers and truth values of an answer that is one JSON document, by place."""
    found: dict[str, Any] = {}
    pending: list[tuple[tuple[str | int, ...], Any]] = [((), _parsed_bytes(response.body))]
    while pending:
        place, value = pending.pop()
        if isinstance(value, dict):
            pending += [
                ((*place, name), member)
                for name, member in value.items()
                if name not in _SAID_ELSEWHERE and name != "index"
            ]
        elif isinstance(value, list):
            pending += [((*place, index), member) for index, member in enumerate(value)]
        elif place and value is not None and not isinstance(value, str):
            found[_name(place)] = value
    return found


def _name(place: tuple[str | int, ...]) -> str:
    """``content`` for ``choices/0/message/content``; further choices keep their number."""
    steps = [str(step) for step in place]
    if steps[:3] == ["choices", "0", "message"]:
        steps = steps[3:]
    elif steps[:2] == ["choices", "0"]:
        steps = steps[2:]
    return "/".join(steps) or "body"


def _number(place: tuple[str | int, ...]) -> str:
    return str(next((step for step in reversed(place) if isinstance(step, int)), 0))


def _values(place: str, old: Any, new: Any) -> Iterator[str]:
    if isinstance(old, str) and isinstance(new, str):
        parsed = _parsed(old), _parsed(new)
        if isinstance(parsed[0], dict) and isinstance(parsed[1], dict) and parsed[0] != parsed[1]:
            for key in dict.fromkeys((*parsed[0], *parsed[1])):
                before = _shown(parsed[0][key]) if key in parsed[0] else "not given"
                after = _shown(parsed[1][key]) if key in parsed[1] else "not given"
                if before != after:
                    yield f"{place}/{key}: {before} -> {after}"
            return
        if len(old) + len(new) > 60:
            yield f'{place}: "{text_difference(old, new)}"'
            return
    if type(old) is not type(new) or old != new:
        yield f"{place}: {_shown(old)} -> {_shown(new)}"


def _parsed(text: str) -> Any:
    return _parsed_bytes(text.encode("utf-8", "surrogatepass"))


def _parsed_bytes(text: bytes) -> Any:
    try:
        return jsontext.loads(text)
    except ValueError:
        return None


def _shown(value: Any) -> str:
    text = jsontext.dumps(value).decode()
    return text if len(text) <= 160 else f"{text[:80]}…{text[-80:]}"


def _timing(before: Interaction, after: Interaction) -> Iterator[str]:
    old, new = before.response, after.response
    if old.elapsed_ms != new.elapsed_ms:
        yield f"elapsed: {old.elapsed_ms} ms -> {new.elapsed_ms} ms"
    if old.events and new.events and old.events[0].at_ms != new.events[0].at_ms:
        yield f"first event: {old.events[0].at_ms} ms -> {new.events[0].at_ms} ms"
