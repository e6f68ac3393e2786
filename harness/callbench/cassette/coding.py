"""How a cassette line codes its two large parts: request bodies and response events.

Request bodies keep long paragraphs elsewhere (``⟦id⟧``), events say only what changed since the one
before. Both lose nothing; ``format`` describes the notation.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Sequence
from typing import Any

from callbench.cassette import jsontext
from callbench.cassette.interaction import Event

SHARED_LENGTH = 200
"""A paragraph of at least this many characters is stored once."""

_BLANK_LINES = re.compile(r"(\r?\n(?:[ \t]*\r?\n)+)")
_REFERENCE = re.compile("⟦([0-9a-f]*)⟧")
_LEAST_SAVED = 24
"""A delta that saves fewer characters is not worth being harder to read."""


class FormatError(ValueError):
    """A line that is not of the format; the text says which field breaks which rule."""


def encode_body(body: bytes, share: Callable[[str], str] | None) -> dict[str, Any]:
    """A request body as a member ``json``, ``text`` or ``base64``, or none when it is empty."""
    if not body:
        return {}
    if jsontext.canonical(body) == body:
        return {"json": _map_texts(jsontext.loads(body), lambda text: _fold(text, share))}
    try:
        return {"text": _fold(body.decode(), share)}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(body).decode()}


def decode_body(request: dict[str, Any], text: Callable[[str], str]) -> bytes:
    """The body of an encoded request; ``text`` gives the shared text with an id. Raises ``FormatError``."""

    def unfold(folded: str) -> str:
        return _REFERENCE.sub(lambda found: text(found[1]) if found[1] else "⟦", folded)

    forms = request.keys() - {"method", "path"}
    if not forms:
        return b""
    if len(forms) > 1 or not forms <= {"json", "text", "base64"}:
        raise FormatError("field 'request' must have one of 'json', 'text' and 'base64'")
    if "json" in forms:
        return jsontext.dumps(_map_texts(request["json"], unfold))
    if "text" in forms and isinstance(request["text"], str):
        return unfold(request["text"]).encode()
    return _from_base64(request)


def _fold(text: str, share: Callable[[str], str] | None) -> str:
    """Escape a text of a request, its long paragraphs replaced by references."""
    if share is None or len(text) < SHARED_LENGTH:
        return text.replace("⟦", "⟦⟧")
    parts = _BLANK_LINES.split(text)
    return "".join(
        f"⟦{share(part)}⟧" if len(part) >= SHARED_LENGTH else part.replace("⟦", "⟦⟧")
        for part in parts
    )


def _map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Replace every string value in a JSON value (in place; member names stay)."""
    root = [value]
    pending: list[list[Any] | dict[str, Any]] = [root]
    while pending:
        container = pending.pop()
        members = container.items() if isinstance(container, dict) else enumerate(container)
        for place, member in members:
            if isinstance(member, str):
                container[place] = change(member)  # type: ignore[index]
            elif isinstance(member, (dict, list)):
                pending.append(member)
    return root[0]


# --- events ---------------------------------------------------------------------------------------


def encode_events(events: Sequence[Event]) -> list[list[Any]]:
    """Events as JSON, each relative to the text event before it where that is shorter."""
    encoded: list[list[Any]] = []
    previous = ""
    for event in events:
        try:
            text = event.data.decode()
        except UnicodeDecodeError:
            encoded.append([event.at_ms, {"base64": base64.b64encode(event.data).decode()}])
            continue
        head, tail = _shared_ends(previous, text)
        if head + tail >= _LEAST_SAVED:
            encoded.append([event.at_ms, head, tail, text[head : len(text) - tail]])
        else:
            encoded.append([event.at_ms, text])
        previous = text
    return encoded


def decode_events(value: Any) -> tuple[Event, ...]:
    """Events from their JSON. Raises ``FormatError`` naming the event."""
    if not isinstance(value, list):
        raise FormatError("field 'response/events' must be an array")
    events: list[Event] = []
    text = ""
    try:
        for item in value:  # the hot loop of replay: plain steps, types checked by what they do
            if len(item) == 4:
                at_ms, head, tail, middle = item
                length = len(text)
                if not (0 <= head <= length and 0 <= tail <= length):
                    raise FormatError("it keeps more than the event before it has")
                text = text[:head] + middle + text[length - tail :]
                data = text.encode()
            else:
                at_ms, full = item
                if isinstance(full, dict):
                    data = _from_base64(full)
                else:
                    data = full.encode()
                    text = full
            events.append(Event(at_ms + 0, data))
    except FormatError as error:
        raise FormatError(f"field 'response/events/{len(events)}': {error}") from None
    except (TypeError, ValueError, AttributeError):
        raise FormatError(
            f"field 'response/events/{len(events)}': it has none of the three forms"
        ) from None
    return tuple(events)


def _shared_ends(old: str, new: str) -> tuple[int, int]:
    """How many characters at the start and at the end (not overlapping) two texts share."""
    limit = min(len(old), len(new))
    head = 0
    while head < limit and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < limit - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return head, tail


def _from_base64(coded: dict[str, Any]) -> bytes:
    try:
        return base64.b64decode(coded["base64"], validate=True)
    except (KeyError, TypeError, binascii.Error):
        raise FormatError("'base64' must be base64 text") from None
