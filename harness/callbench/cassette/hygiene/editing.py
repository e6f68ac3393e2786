"""Edits of cassettes: prune, merge, split, rekey, scrub. A file is replaced at once or not at all.

Each reads recordings on demand and writes them in the order of the format (case, then ordinal), so that
files of any size can be edited. An input is written only where its own path is given as the output; it
is then locked against recorders.
"""

from __future__ import annotations

import dataclasses
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from callbench.cassette.format import scrubbers_of
from callbench.cassette.hygiene.places import Place, Places
from callbench.cassette.interaction import Interaction, Request, Response
from callbench.cassette.jsontext import canonical
from callbench.cassette.key import request_key
from callbench.cassette.lock import exclusive
from callbench.cassette.scrub import mask_request, mask_response
from callbench.cassette.scrubbers import Scrubbing
from callbench.cassette.writer import recorder_name, replace_file
from callbench.errors import CassetteError, UsageError

Prefer = Literal["first", "last", "newest"]


@contextmanager
def _opened(path: Path, out: Path, *, lock: bool = True) -> Iterator[Places]:
    """The recordings of ``path``, which is locked if it is to be replaced.

    Not to ``lock`` is for one that is open already: nobody waits for a lock that he holds himself.
    """
    if out.is_dir():
        raise UsageError(f"{out} is a directory.", remedy="Name the file to write.")
    with ExitStack() as stack:
        if lock and out.exists() and path.exists() and out.samefile(path):
            stack.enter_context(exclusive(path))
        places = stack.enter_context(Places(path))
        if places.cut:
            raise CassetteError(
                f"{path}: the last line was cut while it was written; it would be lost.",
                remedy="Record again, or delete that line.",
            )
        yield places


def _write(
    out: Path,
    found: Iterable[Interaction],
    *,
    header: dict[str, Any],
    models: Iterable[str],
    scrubbers: Sequence[str] | None = None,
) -> None:
    recorder = header.get("recorder")
    name = (
        f"{recorder.get('name')} {recorder.get('version')}"
        if isinstance(recorder, dict)
        else recorder_name()
    )
    out.parent.mkdir(parents=True, exist_ok=True)
    known = {model for model in models if model} or set(header.get("models", ()))
    replace_file(
        out,
        found,
        models=known,
        recorder=name,
        scrubbers=scrubbers_of(header) if scrubbers is None else scrubbers,
    )


def _ordered(places: Iterable[Place]) -> list[Place]:
    return sorted(places, key=lambda place: (place.case, place.ordinal))


def prune(path: Path, out: Path, remove: Collection[tuple[str, str, int]]) -> int:
    """Write the recordings of ``path`` but those with an identity of ``remove``; return how many went."""
    with _opened(path, out) as places:
        kept = [place for place in places if place.identity not in remove]
        _write(
            out,
            map(places.read, _ordered(kept)),
            header=places.header,
            models={place.model for place in kept},
        )
        return len(places) - len(kept)


# --- merge ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Conflict:
    """One identity with different answers: where it stands, the first file first."""

    case: str
    ordinal: int
    key: str
    places: tuple[tuple[Path, int], ...]

    def __str__(self) -> str:
        where = ", ".join(f"{path}:{line}" for path, line in self.places)
        return f"case {self.case!r}, ordinal {self.ordinal}: different answers in {where}"


def merge(paths: Sequence[Path], out: Path, prefer: Prefer | None = None) -> list[Conflict]:
    """Write the recordings of all files into one; equal ones once.

    Returns the conflicts; without ``prefer`` nothing is written when there are any. ``newest`` goes by
    ``recorded_at``, an undated one is the oldest. Raises ``UsageError`` for files that were scrubbed in
    different ways.
    """
    with ExitStack() as stack:
        files: list[Places] = []
        for path in paths:
            again = any(path.exists() and path.samefile(one.path) for one in files)
            files.append(stack.enter_context(_opened(path, out, lock=not again)))
        scrubbers = {frozenset(scrubbers_of(places.header)) for places in files}
        if len(scrubbers) > 1:
            raise UsageError(
                "The files were scrubbed in different ways: their requests do not mix.",
                remedy="Scrub them alike first: callbench cassette scrub FILE",
            )
        found: dict[tuple[str, str, int], list[tuple[Places, Place]]] = defaultdict(list)
        for places in files:
            for place in places:
                found[place.identity].append((places, place))
        conflicts = [
            Conflict(
                same[0][1].case,
                same[0][1].ordinal,
                same[0][1].key,
                tuple((places.path, place.line) for places, place in same),
            )
            for same in found.values()
            if len(same) > 1 and len({_answer(places.read(place)) for places, place in same}) > 1
        ]
        if conflicts and prefer is None:
            return conflicts
        chosen = sorted(
            (_preferred(same, prefer or "first") for same in found.values()),
            key=lambda one: (one[1].case, one[1].ordinal),
        )
        _write(
            out,
            (places.read(place) for places, place in chosen),
            header=files[0].header,
            models={place.model for _, place in chosen},
        )
        return conflicts


def _answer(one: Interaction) -> tuple[Any, ...]:
    """What must be equal for two recordings to be the same: all but times and dates."""
    response = one.response
    return response.status, response.error, tuple(event.data for event in response.events)


def _preferred(same: list[tuple[Places, Place]], prefer: Prefer) -> tuple[Places, Place]:
    if prefer == "newest":
        return max(same, key=lambda one: one[1].recorded_at)
    return same[0] if prefer == "first" else same[-1]


# --- split ----------------------------------------------------------------------------------------


def split(path: Path, directory: Path, group_of: Callable[[Place], str]) -> dict[Path, int]:
    """Write a file a group into ``directory``; return how many recordings each got.

    ``group_of`` names the group of a recording. Raises ``UsageError`` where a file would be overwritten:
    nothing is written then.
    """
    with _opened(path, path.with_name(f"{path.name}.none")) as places:
        groups: dict[str, list[Place]] = defaultdict(list)
        for place in places:
            groups[group_of(place)].append(place)
        stem = path.name.removesuffix(".jsonl").removesuffix(".cassette")
        files: dict[Path, list[Place]] = {}
        for group, members in sorted(groups.items()):
            name = re.sub(r"[^\w.+@=-]+", "_", group) or "none"
            file = directory / f"{stem}.{name}.cassette.jsonl"
            number = 2
            while str(file).casefold() in {str(known).casefold() for known in files}:
                file = directory / f"{stem}.{name}-{number}.cassette.jsonl"
                number += 1
            files[file] = members
        taken = [str(file) for file in files if file.exists()]
        if taken:
            raise UsageError(f"{taken[0]} exists already.", remedy="Split into an empty directory.")
        for file, members in files.items():
            models = {place.model for place in members}
            _write(file, map(places.read, _ordered(members)), header=places.header, models=models)
        return {file: len(members) for file, members in files.items()}


# --- rekey and scrub ------------------------------------------------------------------------------


def rekey(path: Path, out: Path) -> int:
    """Write the file with every key computed anew from its request; return how many changed.

    All recordings stay: where two get the same key, the later counts as the next equal request.
    """

    def request(one: Request) -> Request:
        body = canonical(one.body)
        return one if body is None else dataclasses.replace(one, body=body)

    return _mapped(path, out, request, lambda response: response, None)


def scrub(path: Path, out: Path, scrubbing: Scrubbing) -> int:
    """Write the file scrubbed and keyed anew; return how many recordings changed.

    What the file was scrubbed with before stays in its header, placeholders stay as they are.
    """
    with Places(path) as places:
        names = tuple(dict.fromkeys((*scrubbers_of(places.header), *scrubbing.names)))

    def request(one: Request) -> Request:
        return scrubbing.request(mask_request(one, ()))

    def response(one: Response) -> Response:
        return scrubbing.response(mask_response(one, ()))

    return _mapped(path, out, request, response, names, scrubbing.beside)


def _mapped(
    path: Path,
    out: Path,
    request: Callable[[Request], Request],
    response: Callable[[Response], Response],
    scrubbers: Sequence[str] | None,
    beside: Callable[[Mapping[str, Any] | None], Mapping[str, Any] | None] = lambda vcr: vcr,
) -> int:
    with _opened(path, out) as places:
        changed = 0
        ordinals: dict[tuple[str, str], int] = defaultdict(int)
        planned: list[tuple[Place, str, int]] = []
        # Ordinals count up again, in the old order: equal requests were asked one after another.
        for place in sorted(places, key=lambda place: (place.case, place.ordinal, place.line)):
            key = request_key(request(places.read(place).request))
            planned.append((place, key, ordinals[key, place.case]))
            ordinals[key, place.case] += 1

        def rewritten() -> Iterator[Interaction]:
            nonlocal changed
            for place, key, ordinal in sorted(planned, key=lambda one: (one[0].case, one[2])):
                one = places.read(place)
                new = dataclasses.replace(
                    one,
                    key=key,
                    ordinal=ordinal,
                    request=request(one.request),
                    response=response(one.response),
                    vcr=beside(one.vcr),
                )
                changed += new != one
                yield new

        _write(
            out,
            rewritten(),
            header=places.header,
            models={place.model for place in places},
            scrubbers=scrubbers,
        )
        return changed
