"""JSON text to values and back, without losing a number: orjson, and the standard library where it must.

orjson turns an integer beyond 64 bits into the nearest double, so two different requests would become
the same. Such texts are rare; they are noticed cheaply and read again exactly.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

import orjson

_DIGITS = bytes(ord("0") if chr(code).isdigit() and code < 128 else ord(" ") for code in range(256))
_BEYOND_64_BITS = b"0" * 19


def loads(text: bytes) -> Any:
    """Parse strict JSON (no NaN, no Infinity, no lone surrogates); integers of any size stay exact.

    Raises ``ValueError`` when ``text`` is not JSON.
    """
    value = orjson.loads(text)
    return _loads_exactly(text) if _BEYOND_64_BITS in text.translate(_DIGITS) else value


def dumps(value: Any) -> bytes:
    """Write ``value`` as compact UTF-8 JSON; members keep their order.

    Raises ``TypeError`` for what JSON has no form for, ``RecursionError`` for hopeless nesting.
    """
    try:
        return orjson.dumps(value)
    except TypeError:  # an integer beyond 64 bits, or nesting beyond orjson's 254 levels
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return text.encode()


def canonical(text: bytes) -> bytes | None:
    """The compact form of a JSON text with its top-level members sorted, or ``None`` if it is not JSON.

    Nested members keep their order: in a JSON Schema shown to a model, order is meaning.
    Nesting beyond 254 levels counts as "not JSON".
    """
    try:
        value = orjson.loads(text)
        result = orjson.dumps(_sorted_top(value))
        # A number orjson had to round is at least 1e18 and so written with a positive exponent.
        if b"e+" in result and _BEYOND_64_BITS in text.translate(_DIGITS):
            return dumps(_sorted_top(_loads_exactly(text)))
    except (ValueError, TypeError):
        return None
    return result


def _sorted_top(value: Any) -> Any:
    return dict(sorted(value.items())) if isinstance(value, dict) else value


def _loads_exactly(text: bytes) -> Any:
    return json.loads(text, parse_constant=_refuse)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
