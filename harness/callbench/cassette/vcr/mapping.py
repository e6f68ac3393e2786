"""One interaction of vcrpy as one of ours, and back.

Ours holds the meaning of a request and the events of an answer. What vcrpy holds beside that goes into the
member ``vcr`` (``cassette.schema.json`` lists it), so that the way back gives the same interaction: the
address with its host, all headers, the spelling of the body, the reason phrase, the place in the file.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from http.client import responses
from typing import Any
from urllib.parse import urlsplit

from callbench.cassette import events as sse
from callbench.cassette import jsontext
from callbench.cassette.interaction import Interaction, Request, Response
from callbench.cassette.key import canonical_request, request_key
from callbench.cassette.scrub import mask_request, mask_response
from callbench.cassette.vcr import secrecy
from callbench.cassette.vcr.answers import one_boundary, stored_headers
from callbench.cassette.vcr.compression import decompressed
from callbench.errors import CassetteError

Counts = Counter[str]

_REQUEST = frozenset({"method", "uri", "body", "headers"})
_RESPONSE = frozenset({"status", "headers", "body"})


def body_bytes(body: Any) -> bytes:
    """A request body of vcrpy as the bytes it stands for; a mapping is what a client sends as JSON."""
    if body is None:
        return b""
    if isinstance(body, bytes):
        return body
    if isinstance(body, str):
        return body.encode()
    return jsontext.dumps(body)


def answer_bytes(response: Mapping[str, Any]) -> bytes:
    """The body of a response of vcrpy, as it traveled."""
    body = response.get("body")
    string = body.get("string") if isinstance(body, dict) else body
    if string is None and isinstance(body, dict) and isinstance(body.get("base64_string"), str):
        return base64.b64decode(body["base64_string"])
    return body_bytes(string)


def readable(response: Mapping[str, Any]) -> bytes:
    """The body of a response of vcrpy without compression."""
    raw = answer_bytes(response)
    plain = decompressed(raw, _first(headers_of(response), "content-encoding"))
    return raw if plain is None else plain


def headers_of(message: Mapping[str, Any]) -> dict[str, list[str]]:
    """All headers of a request or response of vcrpy, names and order as written."""
    headers = message.get("headers") or {}
    return {
        str(name): [str(v) for v in (value if isinstance(value, list | tuple) else [value])]
        for name, value in headers.items()
    }


def target_of(uri: str) -> str:
    """Path and query of an address."""
    parts = urlsplit(uri)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def modern(entry: dict[str, Any], counts: Counts) -> dict[str, Any]:
    """The entry in vcrpy's shape of today; that of its old httpx recordings is counted."""
    response = entry["response"]
    if "status" in response or "status_code" not in response:
        return entry
    counts[
        "kept in the shape that vcrpy writes today, not in that of its old httpx recordings"
    ] += 1
    rest = {k: v for k, v in response.items() if k not in ("status_code", "content", "headers")}
    return {
        **entry,
        "response": {
            "status": {"code": response["status_code"], "message": None},
            "headers": headers_of(response),
            "body": {"string": response.get("content")},
            **rest,
        },
    }


# --- from vcrpy -----------------------------------------------------------------------------------


def from_vcr(
    entry: dict[str, Any], place: int, secrets: Sequence[str], masked: Counts
) -> Interaction:
    """Our interaction for an ``entry``; its ordinal is left at 0. What was masked is counted.

    Raises ``CassetteError`` for a status that is no number or a member that is no data.
    """
    request, response = entry["request"], entry["response"]
    sent = body_bytes(request["body"])
    raw = [(n.encode(), v.encode()) for n, vs in headers_of(request).items() for v in vs]
    canonical = mask_request(
        canonical_request(request["method"], target_of(request["uri"]), one_boundary(sent, raw)),
        secrets,
    )
    vcr: dict[str, Any] = {"place": place}
    if request["method"] != canonical.method:
        vcr["method"] = request["method"]
    vcr["uri"] = secrecy.masked_uri(request["uri"], secrets, masked)
    vcr["request_headers"] = _as_written(
        request, secrecy.masked_headers(headers_of(request), secrets, masked)
    )
    written = mask_request(Request("POST", "/", sent), secrets).body
    masked["request bodies"] += written != sent
    spelled = _spelled(request["body"], written)
    if spelled != _spelled(None if not canonical.body else "", canonical.body):
        vcr["request_body"] = spelled
    answer, extra = _answer(response, secrets, masked)
    vcr.update(extra)
    more = _more(entry, place, secrets)
    if more:
        vcr["more"] = more
    return Interaction(
        key=request_key(canonical),
        case="",
        ordinal=0,
        request=canonical,
        response=answer,
        usage=sse.usage_of(answer.events, event_stream=sse.is_event_stream(answer.headers)),
        vcr=vcr,
    )


def _answer(
    response: dict[str, Any], secrets: Sequence[str], masked: Counts
) -> tuple[Response, dict[str, Any]]:
    status = response.get("status")
    code = status.get("code") if isinstance(status, dict) else None
    if type(code) is not int:
        raise CassetteError("'response' must have a number 'status/code'")
    headers = headers_of(response)
    fields = stored_headers((name, values[0]) for name, values in headers.items() if values)
    raw, plain = answer_bytes(response), readable(response)
    stream = sse.is_event_stream(fields)
    chunks = [(0, plain)] if plain else []
    answer = mask_response(
        Response(code, fields, sse.split_events(chunks, event_stream=stream)), secrets
    )
    clean = answer.body == plain
    masked["response bodies"] += not clean
    extra: dict[str, Any] = {"message": status.get("message") if isinstance(status, dict) else None}
    kept = secrecy.masked_headers(headers, secrets, masked)
    if not clean and raw != plain:  # the compressed original holds the secret: it is given up
        kept = _without_encoding(kept)
    extra["response_headers"] = _as_written(response, kept)
    body = response.get("body") or {}
    held = body.get("string") if isinstance(body, dict) else body
    if clean and raw != plain:
        extra["response_body"] = _base64(raw)
    elif not raw and not isinstance(held, str | bytes):
        extra["response_body"] = {"json": None} if "string" in body else {"absent": True}
    return answer, extra


def _without_encoding(headers: Mapping[str, list[str]]) -> dict[str, list[str]]:
    gone = ("content-encoding", "content-length")
    return {name: values for name, values in headers.items() if name.lower() not in gone}


def _as_written(
    message: Mapping[str, Any], kept: Mapping[str, list[str]]
) -> dict[str, list[str] | str]:
    """The headers with single values where the file has no lists."""
    given = {str(name): value for name, value in (message.get("headers") or {}).items()}
    return {n: v if isinstance(given[n], list | tuple) else v[0] for n, v in kept.items()}


def _spelled(body: Any, written: bytes) -> dict[str, Any]:
    """How a body is written: text, other bytes, or a value that is no text."""
    if body is None:
        return {"json": None}
    if not isinstance(body, str | bytes):
        return {"json": jsontext.loads(written)}
    try:
        return {"text": written.decode()}
    except UnicodeDecodeError:
        return _base64(written)


def _base64(data: bytes) -> dict[str, str]:
    return {"base64": base64.b64encode(data).decode()}


def _more(entry: dict[str, Any], place: int, secrets: Sequence[str]) -> dict[str, Any]:
    """Members that vcrpy carries along without using them."""
    request, response = entry["request"], entry["response"]
    status, body = response.get("status"), response.get("body")
    parts: dict[str, Any] = {
        "interaction": _other(entry, {"request", "response"}),
        "request": _other(request, _REQUEST),
        "response": _other(response, _RESPONSE),
        "status": _other(status, {"code", "message"}),
        "body": _other(body, {"string", "base64_string"}),
    }
    more = {name: value for name, value in parts.items() if value}
    return plain_data(more, secrets, f"interaction {place + 1}")


def plain_data(value: dict[str, Any], secrets: Sequence[str], where: str) -> dict[str, Any]:
    """Further members of a cassette, masked. Raises ``CassetteError`` for what JSON cannot hold."""
    try:
        masked: dict[str, Any] = secrecy.masked_value(
            jsontext.loads(jsontext.dumps(value)), secrets
        )
    except (TypeError, ValueError) as error:
        raise CassetteError(f"{where} holds a member that is no JSON: {error}") from error
    return masked


def _other(value: Any, known: Iterable[str]) -> dict[str, Any]:
    return {k: v for k, v in value.items() if k not in known} if isinstance(value, dict) else {}


# --- to vcrpy -------------------------------------------------------------------------------------


def to_vcr(interaction: Interaction, base_url: str, lost: Counts) -> dict[str, Any]:
    """An interaction as vcrpy holds it. What has no place there is counted in ``lost``."""
    vcr = interaction.vcr or {}
    request, answer = interaction.request, interaction.response
    more = vcr.get("more", {})
    if "uri" not in vcr:
        lost["hosts, which callbench does not record: written as the base URL"] += 1
    lost["recordings of a case: its label"] += bool(interaction.case)
    lost["answers in several events: their times, and the events as such"] += any(
        event.at_ms for event in answer.events
    )
    lost["streams that ended in an error: the error, so that they look whole"] += (
        answer.error is not None
    )
    headers = vcr.get("response_headers") or {k: [v] for k, v in answer.headers.items()}
    body = _unspelled(vcr.get("request_body"), _written(request.body) or None)
    phrase = vcr.get("message", responses.get(answer.status, ""))
    return {
        "request": {
            "method": vcr.get("method", request.method),
            "uri": vcr.get("uri", base_url.rstrip("/") + request.path),
            "body": body,
            "headers": dict(vcr.get("request_headers", {})),
            **more.get("request", {}),
        },
        "response": {
            "status": {"code": answer.status, "message": phrase, **more.get("status", {})},
            "headers": dict(headers),
            "body": {**_string(vcr.get("response_body"), answer.body), **more.get("body", {})},
            **more.get("response", {}),
        },
        **more.get("interaction", {}),
    }


def _string(spelled: Mapping[str, Any] | None, body: bytes) -> dict[str, Any]:
    if spelled is not None and "absent" in spelled:
        return {}
    return {"string": _unspelled(spelled, _written(body))}


def _unspelled(spelled: Mapping[str, Any] | None, otherwise: Any) -> Any:
    if spelled is None:
        return otherwise
    if "base64" in spelled:
        return base64.b64decode(spelled["base64"])
    return spelled["text"] if "text" in spelled else spelled.get("json")


def _written(body: bytes) -> str | bytes:
    """As vcrpy writes bytes: as text wherever they are."""
    try:
        return body.decode()
    except UnicodeDecodeError:
        return body


def _first(headers: Mapping[str, list[str]], name: str) -> str:
    return next((", ".join(v) for k, v in headers.items() if k.lower() == name), "")
