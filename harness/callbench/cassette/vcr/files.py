"""Cassette files of vcrpy, YAML and JSON: read and written as data, never as objects.

YAML goes through vcrpy's own serializer, whose loader constructs plain values and the few tags that old
cassettes hold (text, tuples, buffers), and refuses any other: a file cannot run code (TRAPS C5).
"""

from __future__ import annotations

import io
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from callbench.errors import CassetteError

VERSION = 1
"""The format version that vcrpy writes."""


@dataclass(frozen=True, slots=True)
class Tape:
    """A vcrpy cassette as it is written: interactions ``{"request": …, "response": …}`` in their order.

    ``more``: further members of the file, such as ``metadata``.
    """

    interactions: tuple[dict[str, Any], ...]
    more: Mapping[str, Any] = field(default_factory=dict)


def is_json(path: Path) -> bool:
    """Whether the file at ``path`` is, by its name, a JSON cassette."""
    return path.suffix.lower() == ".json"


def read_tape(path: Path) -> Tape:
    """Read a cassette of vcrpy. Raises ``CassetteError`` naming the file and what is wrong with it."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise CassetteError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise CassetteError(f"{path} is not UTF-8 text: {error}.") from error
    value = _json(path, text) if is_json(path) else _yaml(path, text)
    if isinstance(value, list):
        raise CassetteError(
            f"{path} is in the format of vcrpy before 1.0.",
            remedy=f"Bring it up to date with vcrpy: python -m vcr.migration {path}",
        )
    if not isinstance(value, dict) or not isinstance(value.get("interactions"), list):
        raise CassetteError(f"{path} is no cassette of vcrpy: it has no list 'interactions'.")
    if value.get("version", VERSION) != VERSION:
        raise CassetteError(
            f"{path} has the format version {value['version']!r}; vcrpy's is {VERSION}."
        )
    entries = tuple(
        _checked(path, number, entry) for number, entry in enumerate(value["interactions"], 1)
    )
    more = {k: v for k, v in value.items() if k not in ("interactions", "version")}
    return Tape(entries, more)


def write_tape(path: Path, tape: Tape) -> None:
    """Write a cassette that vcrpy reads, at once. Raises ``CassetteError`` for what the format cannot hold."""
    data = {"version": VERSION, "interactions": list(tape.interactions), **tape.more}
    text = _json_text(path, data) if is_json(path) else _yaml_text(path, data)
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    draft = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        draft.chmod(0o644)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _json(path: Path, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise CassetteError(f"{path} is not JSON: {error}.") from error


def _yaml(path: Path, text: str) -> Any:
    import yaml
    from vcr.serializers import yamlserializer

    try:
        return yamlserializer.deserialize(text)
    except yaml.constructor.ConstructorError as error:
        raise CassetteError(
            f"{path} holds a YAML tag that stands for an object of Python; only data is read.\n{error}",
            remedy="Record that cassette again with a current vcrpy.",
        ) from error
    except (yaml.YAMLError, ValueError, TypeError) as error:
        raise CassetteError(f"{path} is not YAML: {error}") from error


def _json_text(path: Path, data: Any) -> str:
    try:
        return json.dumps(data, indent=4) + "\n"
    except TypeError:
        number = next(n for n, e in enumerate(data["interactions"], 1) if _holds_bytes(e))
        raise CassetteError(
            f"Interaction {number} has a body that is not text; a JSON cassette of vcrpy cannot hold it.",
            remedy=f"Write YAML: {path.with_suffix('.yaml')}",
        ) from None


def _yaml_text(path: Path, data: Any) -> str:
    from vcr.serializers import yamlserializer

    try:
        return str(yamlserializer.serialize(data))
    except UnicodeEncodeError as error:
        raise CassetteError(f"{path}: YAML cannot hold {error.object[error.start]!r}.") from error


def _holds_bytes(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_bytes, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_holds_bytes, value))
    return isinstance(value, bytes)


def _checked(path: Path, number: int, entry: Any) -> dict[str, Any]:
    place = f"{path}, interaction {number}"
    if not isinstance(entry, dict):
        raise CassetteError(f"{place} must be a mapping.")
    for name in ("request", "response"):
        if not isinstance(entry.get(name), dict):
            raise CassetteError(f"{place}: it must have a mapping {name!r}.")
    request = entry["request"]
    for name in ("method", "uri"):
        if not isinstance(request.get(name), str):
            raise CassetteError(f"{place}: 'request' must have a text {name!r}.")
    return {**entry, "request": {**request, "body": _plain_body(request.get("body"))}}


def _plain_body(body: Any) -> Any:
    """A request body that was a file or an iterator of chunks, as its bytes; any other as it is."""
    if isinstance(body, io.BytesIO):
        return body.getvalue()
    chunks = isinstance(body, list | tuple) and all(isinstance(c, str | bytes) for c in body)
    if chunks or hasattr(body, "__next__"):
        return b"".join(chunk.encode() if isinstance(chunk, str) else chunk for chunk in body)
    return body
