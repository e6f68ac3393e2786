"""Scrubbers: what a user wants taken out of recordings beside credentials, so that replay still works.

    Cassette.open(path, scrubbers=["emails", "phones", field("/user"), pattern("order", r"ORD-\\d{6}")])

The same value becomes the same placeholder (``<email:3f9ac0>``) wherever it stands, in requests and
answers, and scrubbing again changes nothing. Scrubbing comes before the key of a request is computed, on
recording and in replay alike, so that the scrubbed request finds its recording.

A placeholder is a short hash of the value: whoever guesses a value can confirm the guess. With a ``key``
it is an HMAC, which only who has the key can confirm; replay then needs the same key.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from callbench.cassette import jsontext
from callbench.cassette.events import is_event_stream
from callbench.cassette.interaction import Request, Response
from callbench.cassette.pieces import Place, Span, replace_spread, replaced
from callbench.cassette.shapes import emails_in, phones_in
from callbench.errors import UsageError

PLACEHOLDER = re.compile(r"<[a-z][a-z0-9_-]*:[0-9a-f]{6}(?:[0-9a-f]{6})?>")
_NAME = re.compile(r"[a-z][a-z0-9_-]*")
_ROUNDS = 4


class Scrubber(Protocol):
    """Finds what must not be stored. Pure: the same text gives the same matches, anywhere and always."""

    @property
    def name(self) -> str:
        """What the header of a cassette calls it, with all that shapes its result."""
        ...

    @property
    def label(self) -> str:
        """The word in its placeholders: lower-case letters, digits, ``-`` and ``_``."""
        ...

    def matches(self, text: str, place: Place) -> Iterable[tuple[int, int]]:
        """The parts ``(start, end)`` of a text to replace.

        ``place``: the names and positions that lead to the text in its JSON document, ``()`` for a text
        that is none.
        """
        ...


@dataclass(frozen=True, slots=True)
class Pattern:
    """Replaces what a regular expression matches; where it has a group, what the first group matches."""

    label: str
    regex: str

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.label):
            raise UsageError(
                f"The scrubber's name {self.label!r} must be lower-case letters, digits, - and _."
            )
        try:
            compiled = re.compile(self.regex)
        except re.error as error:
            raise UsageError(f"The pattern of scrubber {self.label!r} is none: {error}.") from error
        if compiled.match(""):
            raise UsageError(f"The pattern of scrubber {self.label!r} matches the empty text.")

    @property
    def name(self) -> str:
        """``pattern:<label>=<regex>``."""
        return f"pattern:{self.label}={self.regex}"

    def matches(self, text: str, place: Place) -> Iterable[tuple[int, int]]:
        """All matches that do not overlap."""
        for found in re.finditer(self.regex, text):
            yield found.span(1 if found.re.groups and found.start(1) >= 0 else 0)


@dataclass(frozen=True, slots=True)
class _Shape:
    """E-mail addresses or phone numbers, as ``shapes`` tells them."""

    name: str
    label: str

    def matches(self, text: str, place: Place) -> Iterable[tuple[int, int]]:
        """All of them."""
        return emails_in(text) if self.label == "email" else phones_in(text)


@dataclass(frozen=True, slots=True)
class Field:
    """Replaces the text at a JSON pointer, in which ``*`` stands for any one name or position."""

    pointer: str

    def __post_init__(self) -> None:
        if not self.pointer.startswith("/"):
            raise UsageError(
                f"The scrubbed field {self.pointer!r} must be a pointer such as /user."
            )

    @property
    def name(self) -> str:
        """``field:<pointer>``."""
        return f"field:{self.pointer}"

    @property
    def label(self) -> str:
        """``field``."""
        return "field"

    def matches(self, text: str, place: Place) -> Iterable[tuple[int, int]]:
        """The whole text, if it stands there."""
        steps = [s.replace("~1", "/").replace("~0", "~") for s in self.pointer.split("/")[1:]]
        if text and len(steps) == len(place) and all(map(_fits, steps, place)):
            yield 0, len(text)


def _fits(step: str, found: str | int) -> bool:
    return step in ("*", str(found))


def emails() -> Scrubber:
    """Replaces e-mail addresses (``<email:…>``)."""
    return _Shape("emails", "email")


def phones() -> Scrubber:
    """Replaces phone numbers (``<phone:…>``)."""
    return _Shape("phones", "phone")


def pattern(label: str, regex: str) -> Scrubber:
    """Replaces what ``regex`` (its first group, if it has one) matches: ``<label:…>``."""
    return Pattern(label, regex)


def field(pointer: str) -> Scrubber:
    """Replaces the text at a JSON pointer of request bodies and answers: ``<field:…>``."""
    return Field(pointer)


BUILT_IN = {"emails": emails, "phones": phones}


def by_name(name: str) -> Scrubber:
    """The scrubber that a header or a configuration names. Raises ``UsageError`` for an unknown name."""
    if name in BUILT_IN:
        return BUILT_IN[name]()
    kind, _, rest = name.partition(":")
    if kind == "field":
        return Field(rest)
    label, equals, regex = rest.partition("=")
    if kind == "pattern" and equals:
        return Pattern(label, regex)
    raise UsageError(
        f"There is no scrubber {name!r}.",
        remedy=f"Scrubbers: {', '.join(BUILT_IN)}, field:/pointer, pattern:label=regex.",
    )


@dataclass(frozen=True, slots=True)
class Scrubbing:
    """Several scrubbers as one, in their order. ``key`` makes placeholders that cannot be guessed."""

    scrubbers: tuple[Scrubber, ...] = ()
    key: bytes = b""

    @classmethod
    def of(cls, scrubbers: Sequence[Scrubber | str], key: str = "") -> Scrubbing:
        """Scrubbers given as such or by name."""
        return cls(tuple(by_name(s) if isinstance(s, str) else s for s in scrubbers), key.encode())

    def __bool__(self) -> bool:
        return bool(self.scrubbers)

    @property
    def names(self) -> tuple[str, ...]:
        """What the header of a cassette says."""
        return tuple(
            f"{scrubber.name}{' (keyed)' if self.key else ''}" for scrubber in self.scrubbers
        )

    def request(self, request: Request) -> Request:
        """The request with everything replaced, in path and body."""
        if not self.scrubbers:
            return request
        try:
            body = self._body(request.body)
        except UnicodeDecodeError:
            body = request.body
        return replace(request, path=self.text(request.path), body=body)

    def response(self, response: Response) -> Response:
        """The response with everything replaced, also what is spread over several events."""
        if not self.scrubbers:
            return response
        events = response.events
        stream = is_event_stream(response.headers)
        for scrubber in self.scrubbers:
            events = replace_spread(
                events,
                lambda text, place, by=scrubber: self._spans(by, text, place),  # type: ignore[misc]
                event_stream=stream,
                repeated=False,
            )
        error = None if response.error is None else self.text(response.error)
        return replace(response, events=events, error=error)

    def beside(self, vcr: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        """The member ``vcr`` of an interaction with everything replaced.

        Bodies kept as they traveled, compressed, cannot be searched: they go, the readable ones stay.
        """
        if vcr is None or not self.scrubbers:
            return vcr
        kept = dict(vcr)
        for name in ("request_body", "response_body"):
            if "base64" in kept.get(name, ()):
                del kept[name]
        if "response_body" in vcr and "response_body" not in kept and "response_headers" in kept:
            coded = ("content-encoding", "content-length")
            headers = kept["response_headers"].items()
            kept["response_headers"] = {k: v for k, v in headers if k.lower() not in coded}
        scrubbed: dict[str, Any] = self._texts(kept)
        return scrubbed

    def _texts(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {name: self._texts(member) for name, member in value.items()}
        if isinstance(value, list):
            return [self._texts(member) for member in value]
        return value

    def text(self, text: str, place: Place = ()) -> str:
        """The text with everything replaced. Raises ``UsageError`` for a pattern that never ends."""
        for _ in range(_ROUNDS):
            before = text
            for scrubber in self.scrubbers:
                text = replaced(text, self._spans(scrubber, text, place))
            if text == before:
                return text
        raise UsageError(
            f"Scrubbing with {', '.join(self.names)} finds more in its own result, again and again.",
            remedy="Make the patterns match less: what they leave must not match anew.",
        )

    def _body(self, body: bytes) -> bytes:
        try:
            value = jsontext.loads(body)
        except ValueError:
            return self.text(body.decode()).encode()
        new = self._value(value, ())
        return body if new == value else jsontext.canonical(jsontext.dumps(new)) or body

    def _value(self, value: Any, place: Place) -> Any:
        if isinstance(value, str):
            return self.text(value, place)
        if isinstance(value, dict):
            return {
                self.text(name): self._value(member, (*place, name))
                for name, member in value.items()
            }
        if isinstance(value, list):
            return [self._value(member, (*place, index)) for index, member in enumerate(value)]
        return value

    def _spans(self, scrubber: Scrubber, text: str, place: Place) -> list[Span]:
        """What a scrubber finds, but for placeholders and parts of them."""
        taken = [found.span() for found in PLACEHOLDER.finditer(text)]

        def free(start: int, end: int) -> bool:
            return all(
                stop <= start or end <= begin or (start <= begin and stop <= end)
                for begin, stop in taken
            )

        return [
            Span(start, end, self._placeholder(scrubber.label, text[start:end]))
            for start, end in scrubber.matches(text, place)
            if start < end and (start, end) not in taken and free(start, end)
        ]

    def _placeholder(self, label: str, value: str) -> str:
        data = value.encode("utf-8", "surrogatepass")
        if self.key:
            return f"<{label}:{hmac.digest(self.key, data, 'sha256').hex()[:12]}>"
        return f"<{label}:{hashlib.sha256(data).hexdigest()[:6]}>"
