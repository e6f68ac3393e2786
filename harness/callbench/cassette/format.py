"""The cassette file, line by line: values to JSON text and back, losing nothing.

A cassette (``*.cassette.jsonl``, described by ``cassette.schema.json``) is UTF-8 JSON Lines. The first
line is the header; then come interactions, and texts that interactions share:

    {"format":"callbench-cassette","version":1,"recorder":{…},"models":[…],"scrubbing":{…}}
    {"text":"3f9ac01d77be","value":"You fill the parameters of a tool …"}
    {"key":"…","case":"everyday-001","ordinal":0,"request":{…},"response":{…},"usage":{…}}

* A paragraph of 200 characters or more in a request is a text line at first sight and ``⟦3f9ac01d77be⟧``
  in the request from then on; a ``⟦`` of the request's own is written ``⟦⟧``.
* An event is ``[at_ms, "text"]``, or relative to the text event before it
  ``[at_ms, head, tail, "middle"]``: its first ``head`` and last ``tail`` characters are that one's;
  bytes that are not UTF-8 are ``[at_ms, {"base64": "…"}]``.

This module knows lines; files, offsets and look-up belong to ``store``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from callbench.cassette import jsontext
from callbench.cassette.coding import (
    FormatError,
    decode_body,
    decode_events,
    encode_body,
    encode_events,
)
from callbench.cassette.interaction import Interaction, Request, Response
from callbench.cassette.scrub import POLICY

FORMAT = "callbench-cassette"
VERSION = 1

TEXT_ID_LENGTH = 12

_KEY = re.compile(r"[0-9a-f]{64}")
HEADER_FIELDS = frozenset({"format", "version", "recorder", "models", "scrubbing"})
TEXT_FIELDS = frozenset({"text", "value"})
INTERACTION_FIELDS = frozenset(
    {"key", "case", "ordinal", "request", "response", "usage", "recorded_at", "vcr"}
)
_NEEDED_FIELDS = frozenset({"key", "case", "ordinal", "request", "response"})
_RESPONSE_FIELDS = frozenset({"status", "headers", "elapsed_ms", "events", "error"})


# --- header ---------------------------------------------------------------------------------------


def encode_header(recorder: str, models: Iterable[str], scrubbers: Sequence[str] = ()) -> bytes:
    """The header line. ``recorder`` is ``"<name> <version>"``, ``scrubbers`` are their names."""
    name, _, version = recorder.partition(" ")
    return _line(
        {
            "format": FORMAT,
            "version": VERSION,
            "recorder": {"name": name, "version": version},
            "models": sorted(set(models)),
            "scrubbing": {**POLICY, "scrubbers": list(scrubbers)} if scrubbers else POLICY,
        }
    )


def check_header(value: dict[str, Any]) -> None:
    """Raise ``FormatError`` unless this version can read a file with this header."""
    if value.get("format") != FORMAT:
        raise FormatError(f'the first line must be a header with "format": "{FORMAT}"')
    version = value.get("version")
    if version != VERSION:
        raise FormatError(f"format version {version!r}; this callbench reads version {VERSION}")


def scrubbers_of(header: dict[str, Any] | None) -> tuple[str, ...]:
    """The names of the scrubbers that a header says a file was recorded with."""
    scrubbing = (header or {}).get("scrubbing")
    names = scrubbing.get("scrubbers", ()) if isinstance(scrubbing, dict) else ()
    return tuple(str(name) for name in names) if isinstance(names, list) else ()


# --- interactions ---------------------------------------------------------------------------------


def encode_interaction(
    interaction: Interaction, share: Callable[[str], str] | None = None
) -> bytes:
    """One line. ``share`` stores a text and gives the id to refer to it by; without it nothing is shared."""
    request = interaction.request
    response = interaction.response
    line: dict[str, Any] = {
        "key": interaction.key,
        "case": interaction.case,
        "ordinal": interaction.ordinal,
        "request": {
            "method": request.method,
            "path": request.path,
            **encode_body(request.body, share),
        },
        "response": {
            "status": response.status,
            "headers": dict(response.headers),
            "elapsed_ms": response.elapsed_ms,
            "events": encode_events(response.events),
        },
    }
    if response.error is not None:
        line["response"]["error"] = response.error
    if interaction.usage is not None:
        line["usage"] = interaction.usage
    if interaction.recorded_at is not None:
        line["recorded_at"] = interaction.recorded_at
    if interaction.vcr is not None:
        line["vcr"] = interaction.vcr
    return _line(line)


def check_interaction(value: dict[str, Any]) -> tuple[str, str, int]:
    """Check what the index needs; return key, case and ordinal. Raises ``FormatError``."""
    if not INTERACTION_FIELDS.issuperset(value):
        raise FormatError(f"unknown field {min(value.keys() - INTERACTION_FIELDS)!r}")
    if not value.keys() >= _NEEDED_FIELDS:
        raise FormatError(f"field {min(_NEEDED_FIELDS - value.keys())!r} is missing")
    key, case, ordinal = value["key"], value["case"], value["ordinal"]
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise FormatError("field 'key' must be 64 lower-case hex digits")
    if not isinstance(case, str):
        raise FormatError("field 'case' must be a string")
    if type(ordinal) is not int or ordinal < 0:
        raise FormatError("field 'ordinal' must be an integer from 0")
    for name in ("request", "response"):
        if not isinstance(value[name], dict):
            raise FormatError(f"field {name!r} must be an object")
    return key, case, ordinal


def decode_interaction(value: dict[str, Any], text: Callable[[str], str]) -> Interaction:
    """The interaction of a line; ``text`` gives the shared text with an id. Raises ``FormatError``."""
    check_interaction(value)
    return decode_answer(value, decode_request(value["request"], text))


def decode_answer(value: dict[str, Any], request: Request) -> Interaction:
    """The interaction of a checked line whose request is known already. Raises ``FormatError``."""
    return Interaction(
        key=value["key"],
        case=value["case"],
        ordinal=value["ordinal"],
        request=request,
        response=decode_response(value["response"]),
        usage=value.get("usage"),
        recorded_at=value.get("recorded_at"),
        vcr=_vcr(value),
    )


def _vcr(value: dict[str, Any]) -> dict[str, Any] | None:
    vcr = value.get("vcr")
    if vcr is not None and not isinstance(vcr, dict):
        raise FormatError("field 'vcr' must be an object")
    return vcr


def decode_request(value: dict[str, Any], text: Callable[[str], str]) -> Request:
    """The request of an interaction line. Raises ``FormatError``."""
    method, path = value.get("method"), value.get("path")
    if not isinstance(method, str) or not isinstance(path, str):
        raise FormatError("fields 'request/method' and 'request/path' must be strings")
    return Request(method, path, decode_body(value, text))


def decode_response(value: dict[str, Any]) -> Response:
    """The response of an interaction line. Raises ``FormatError``."""
    unknown = value.keys() - _RESPONSE_FIELDS
    if unknown:
        raise FormatError(f"unknown field 'response/{min(unknown)}'")
    status, headers = value.get("status"), value.get("headers")
    if type(status) is not int:
        raise FormatError("field 'response/status' must be an integer")
    if not isinstance(headers, dict) or not all(isinstance(v, str) for v in headers.values()):
        raise FormatError("field 'response/headers' must be an object of strings")
    error = value.get("error")
    if error is not None and not isinstance(error, str):
        raise FormatError("field 'response/error' must be a string")
    elapsed = value.get("elapsed_ms", 0)
    if type(elapsed) is not int:
        raise FormatError("field 'response/elapsed_ms' must be an integer")
    return Response(status, headers, decode_events(value.get("events")), error, elapsed)


# --- shared texts ---------------------------------------------------------------------------------


def text_id(digest: str, taken: Callable[[str], bool]) -> str:
    """The id of a text: the start of its SHA-256, longer where another text has ``taken`` it."""
    length = TEXT_ID_LENGTH
    while length < len(digest) and taken(digest[:length]):
        length += 1
    return digest[:length]


def text_digest(text: str) -> str:
    """The full SHA-256 of a text, of which every id of it is the beginning."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def encode_text(identifier: str, text: str) -> bytes:
    """The line of a shared text."""
    return _line({"text": identifier, "value": text})


def check_text(value: dict[str, Any]) -> tuple[str, str, str]:
    """Id, text and digest of a text line. Raises ``FormatError``, also when the id is not the text's."""
    if value.keys() != TEXT_FIELDS:
        raise FormatError("a text line has the fields 'text' and 'value'")
    identifier, text = value["text"], value["value"]
    if not isinstance(identifier, str) or not isinstance(text, str):
        raise FormatError("fields 'text' and 'value' must be strings")
    digest = text_digest(text)
    if len(identifier) < TEXT_ID_LENGTH or not digest.startswith(identifier):
        raise FormatError(
            f"field 'value' is not the text with the id {identifier!r}: was it edited?"
        )
    return identifier, text, digest


def _line(value: dict[str, Any]) -> bytes:
    return jsontext.dumps(value) + b"\n"
