"""The lines of the protocol: written strictly, read leniently. Their schema is ``protocol.schema.json``."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import jsonschema_rs

import callbench
from callbench.peer.answers import Answer, Failed, Hello, Misbehaved, Result, Unsupported
from callbench.peer.values import decode, encode

VERSIONS = (1,)
MAX_LINE = 16 * 1024 * 1024
"""Bytes that one line may have."""

ERROR_KINDS = (
    "call_error",
    "invalid_schema",
    "invalid_data",
    "value_error",
    "type_error",
    "key_error",
    "not_implemented",
)
"""The contract's words for errors. Beside them there is only ``internal``, a fault of the peer."""

BYE = {"cmd": "bye"}


class ProtocolError(ValueError):
    """A line that the protocol does not know; the text says why."""


@cache
def protocol_schema() -> dict[str, Any]:
    """Return the JSON Schema of all messages."""
    path = Path(__file__).with_name("protocol.schema.json")
    found: dict[str, Any] = json.loads(path.read_bytes())
    return found


def hello_request() -> dict[str, Any]:
    """Return the message that opens a conversation."""
    harness = f"callbench {callbench.__version__}"
    return {"cmd": "hello", "versions": list(VERSIONS), "harness": harness}


def run_request(
    seq: int, op: str, given: dict[str, Any], deadline: float, llm_base_url: str | None
) -> dict[str, Any]:
    """Return the message that asks for an operation; ``given`` is plain, ``deadline`` in seconds."""
    # Only members are tagged: an input is an object, whatever its members are called.
    tagged = {name: encode(value) for name, value in given.items()}
    message = {"cmd": "run", "seq": seq, "op": op, "input": tagged}
    message["deadline_ms"] = max(1, math.ceil(deadline * 1000))
    if llm_base_url is not None:
        message["llm_base_url"] = llm_base_url
    return message


def hello_answer(hello: Hello) -> dict[str, Any]:
    """Return how a peer introduces itself."""
    return {
        "cmd": "hello",
        "version": hello.version,
        "name": hello.name,
        "language": hello.language,
        "release": hello.release,
        "operations": sorted(hello.operations),
    }


def run_answer(seq: int, answer: Answer) -> dict[str, Any]:
    """Return the message of an answer; trouble of the peer's own is an internal error."""
    match answer:
        case Result(value):
            return {"cmd": "result", "seq": seq, "value": encode(value)}
        case Failed(kind, message):
            return {"cmd": "error", "seq": seq, "kind": kind, "message": message}
        case Unsupported():
            return {"cmd": "unsupported", "seq": seq}
        case Misbehaved(kind, detail):
            return {"cmd": "error", "seq": seq, "kind": "internal", "message": f"{kind}: {detail}"}


def write(message: dict[str, Any]) -> bytes:
    """Return the line of a message."""
    try:
        text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode() + b"\n"
    except UnicodeEncodeError:  # half of a surrogate pair outside a value: in a name, a message
        return json.dumps(message, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def read(line: bytes) -> dict[str, Any]:
    """Return the object of a line; :class:`ProtocolError` if it is none."""
    try:
        message = json.loads(line.decode(), parse_constant=_no_number, parse_float=_finite)
    except UnicodeDecodeError as error:
        raise ProtocolError(f"byte {error.start + 1} is not UTF-8: {shown(line)}") from error
    except ProtocolError:
        raise
    except (ValueError, RecursionError) as error:
        mark = " (it begins with a byte order mark)" if line.startswith(b"\xef\xbb\xbf") else ""
        raise ProtocolError(f"a line that is not JSON{mark}: {shown(line)}") from error
    if not isinstance(message, dict):
        raise ProtocolError(f"a line that is no JSON object: {shown(line)}")
    return message


def read_hello(line: bytes) -> Hello:
    """Return who a peer is; ``version`` is 0 if it speaks none of ours. Or :class:`ProtocolError`."""
    message = read(line)
    if message.get("cmd") != "hello":
        raise ProtocolError(f'not a message "cmd": "hello": {shown(line)}')
    _check(message, "hello_answer", line)
    return Hello(
        message.get("name", ""),
        message.get("language", ""),
        message.get("release", ""),
        frozenset(message.get("operations", ())),
        message["version"],
    )


def read_answer(line: bytes) -> tuple[int, Answer]:
    """Return the ``seq`` and the answer of a line, or :class:`ProtocolError`."""
    message = read(line)
    cmd = message.get("cmd")
    if cmd not in ("result", "error", "unsupported"):
        raise ProtocolError(f"cmd is none of result, error, unsupported: {shown(line)}")
    _check(message, f"{cmd}_answer", line)
    seq: int = message["seq"]
    if cmd == "unsupported":
        return seq, Unsupported()
    if cmd == "error":
        return seq, Failed(message["kind"], message["message"])
    try:
        return seq, Result(decode(message["value"]))
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"value: {error}") from error


def surplus(message: dict[str, Any]) -> list[str]:
    """Return the members of an answer that the schema does not name: read, but never to be written."""
    definition = protocol_schema()["$defs"].get(f"{message.get('cmd')}_answer", {})
    return [name for name in message if name not in definition.get("properties", {})]


def shown(line: bytes) -> str:
    """Return the beginning of a line for a message."""
    text = line[:120].decode("utf-8", "replace").rstrip("\n")
    return json.dumps(text, ensure_ascii=False) + ("…" if len(line) > 120 else "")


@cache
def _validator(name: str) -> jsonschema_rs.Draft202012Validator:
    schema = {"$ref": f"#/$defs/{name}", "$defs": protocol_schema()["$defs"]}
    return jsonschema_rs.Draft202012Validator(schema)


def _check(message: dict[str, Any], name: str, line: bytes) -> None:
    # The value is any JSON, and may hold what the validator cannot take.
    envelope = {**message, "value": None} if "value" in message else message
    try:
        error = next(iter(_validator(name).iter_errors(envelope)), None)
    except (ValueError, RecursionError) as wrong:
        raise ProtocolError(f"a text that is not Unicode: {shown(line)}") from wrong
    if error is not None:
        place = "".join(f"/{token}" for token in error.instance_path)
        raise ProtocolError(f"{place}{': ' if place else ''}{error.message}: {shown(line)}")


def _no_number(word: str) -> NoReturn:
    raise ProtocolError(f"{word} is no JSON number")


def _finite(digits: str) -> float:
    if not math.isfinite(number := float(digits)):
        raise ProtocolError(f"{digits[:40]} is too large for a number")
    return number
