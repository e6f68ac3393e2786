"""Checks of the TOML tables of the catalogue: which keys there are and what they hold."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from callbench.errors import UsageError

Check = Callable[[Any, str], Any]
"""Takes a value and where it stands; returns the value to keep or raises ``UsageError``."""

_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_SECRETS = {"api_key", "key", "apikey", "token", "password", "secret"}


def read_table(table: Mapping[str, Any], fields: Mapping[str, Check], where: str) -> dict[str, Any]:
    """Return the checked values of ``table``; an unknown key is an error with the nearest name."""
    values = {}
    for key, value in table.items():
        if key not in fields:
            raise UsageError(f"{where}: unknown key {key!r}.", remedy=_remedy(key, fields))
        values[key] = fields[key](value, f"{where}: {key}")
    return values


def _remedy(key: str, fields: Mapping[str, Check]) -> str:
    if key.casefold() in _SECRETS and "api_key_env" in fields:
        return "Keys do not belong in this file: set api_key_env to the variable that holds it."
    near = difflib.get_close_matches(key, fields, n=1, cutoff=0.4)
    return f"Did you mean {near[0]}?" if near else f"Known keys: {', '.join(fields)}."


def _fail(where: str, expected: str, value: Any) -> UsageError:
    return UsageError(f"{where} must be {expected}, not {value!r}.")


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise _fail(where, "a text", value)
    return value


def _flag(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise _fail(where, "true or false", value)
    return value


def _whole(least: int) -> Check:
    def check(value: Any, where: str) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise _fail(where, f"a whole number of at least {least}", value)
        return value

    return check


def _number(*, above: float | None = None) -> Check:
    def check(value: Any, where: str) -> float:
        bad = isinstance(value, bool) or not isinstance(value, (int, float))
        if bad or not value < float("inf") or value < 0 or (above is not None and value <= above):
            kind = "a number of at least 0" if above is None else f"a number above {above:g}"
            raise _fail(where, kind, value)
        return float(value)

    return check


def _choice(*choices: str) -> Check:
    def check(value: Any, where: str) -> str:
        if value not in choices:
            near = difflib.get_close_matches(str(value), choices, n=1, cutoff=0.4)
            raise UsageError(
                f"{where} must be one of {', '.join(choices)}, not {value!r}.",
                remedy=f"Did you mean {near[0]}?" if near else "",
            )
        return str(value)

    return check


def _some(*choices: str) -> Check:
    one = _choice(*choices)

    def check(value: Any, where: str) -> tuple[str, ...]:
        if not isinstance(value, list) or not value:
            raise _fail(where, f"a list of {', '.join(choices)}", value)
        return tuple(one(item, where) for item in value)

    return check


def _url(value: Any, where: str) -> str:
    try:
        url = urlsplit(_text(value, where))
        host = url.hostname
    except ValueError:
        host = None
    if host is None or url.scheme not in ("http", "https"):
        raise UsageError(f"{where} must be an address such as https://llm.example/v1.")
    if url.username is not None or url.query or url.fragment:
        # Not shown: what stands there may be a credential.
        raise UsageError(
            f"{where} must not hold a user, a password, a query or a fragment.",
            remedy="The key is sent as a bearer token from the variable named by api_key_env.",
        )
    return str(value)


def _variable(value: Any, where: str) -> str:
    text = _text(value, where)
    if not _ENV_NAME.fullmatch(text):
        # Not shown: it may be the key itself.
        raise UsageError(
            f"{where} must be the name of an environment variable (letters, digits, '_'), "
            "not the key itself."
        )
    return text


def _extra(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _fail(where, "a table of request parameters", value)
    taken = sorted(_OWN_PARAMS & set(value))
    if taken:
        raise UsageError(f"{where} must not set {', '.join(taken)}: the harness sets it.")
    return MappingProxyType(value)


_OWN_PARAMS = {
    "messages",
    "model",
    "stream",
    "stream_options",
    "response_format",
    "tools",
    "tool_choice",
}


def _sha256(value: Any, where: str) -> str:
    text = _text(value, where)
    if not _SHA256.fullmatch(text):
        raise _fail(where, "a SHA-256 in 64 hexadecimal digits", value)
    return text


def _file_name(value: Any, where: str) -> str:
    text = _text(value, where)
    if not text or text.startswith(".") or set(text) & set("/\\:"):
        raise _fail(where, "a plain file name", value)
    return text


def _tables(fields: Mapping[str, Check]) -> Check:
    def check(value: Any, where: str) -> tuple[dict[str, Any], ...]:
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise _fail(where, "a list of tables", value)
        return tuple(_complete(item, f"{where}[{i}]") for i, item in enumerate(value))

    def _complete(item: dict[str, Any], where: str) -> dict[str, Any]:
        values = read_table(item, fields, where)
        missing = [key for key in fields if key not in values and key not in _OPTIONAL]
        if missing:
            raise UsageError(f"{where}: {missing[0]} is missing.")
        return values

    return check


_OPTIONAL = {"platform"}

_PART_FIELDS: Mapping[str, Check] = {
    "package": _text,
    "version": _text,
    "member": _text,
    "sha256": _sha256,
    "size": _whole(1),
}

_FILE_FIELDS: Mapping[str, Check] = {
    "file": _file_name,
    "platform": _text,
    "sha256": _sha256,
    "size": _whole(1),
    "parts": _tables(_PART_FIELDS),
}

PROFILE_FIELDS: Mapping[str, Check] = {
    "engine": _choice("http", "llama", "needle"),
    "base_url": _url,
    "model": _text,
    "api_key_env": _variable,
    "roles": _some("reasoning", "function"),
    "function_mode": _choice("json_schema", "tools", "json_object", "prompt"),
    "reply_mode": _choice("text", "json_object", "json_schema"),
    "system_first": _flag,
    "max_tokens": _whole(1),
    "temperature": _number(),
    "seed": _whole(0),
    "extra": _extra,
    "timeout": _number(above=0),
    "concurrency": _whole(1),
    "trials": _whole(1),
    "price_input": _number(),
    "price_output": _number(),
    "license": _text,
    "description": _text,
    "path": _text,
    "chat_template": _text,
    "context": _whole(512),
    "threads": _whole(1),
    "weights": _tables(_FILE_FIELDS),
}
"""The keys of a table ``[models.NAME]``, each with its check."""
