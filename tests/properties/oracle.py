"""An independent judge of Draft 7: ``jsonschema``, with its known deviations put right.

* ``multipleOf`` is exact on decimals: 0.3 is a multiple of 0.1, 10**40 + 2 of 3.
* Patterns are ECMA-262: ``$`` is the very end (Python also matches before a last line break), ``\\d``,
  ``\\w`` and ``\\s`` are ECMA's sets, not Unicode's.
* ``uniqueItems`` compares every pair: ``[[1], [true], [1]]`` repeats itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

import jsonschema
from jsonschema import Draft7Validator, ValidationError

SPACE = r"\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_SETS = {
    r"\s": f"[{SPACE}]",
    r"\S": f"[^{SPACE}]",
    r"\d": "[0-9]",
    r"\D": "[^0-9]",
    r"\w": "[A-Za-z0-9_]",
    r"\W": "[^A-Za-z0-9_]",
    "$": r"(?!\n)\Z",
}
_SCHEMAS = ("additionalItems", "additionalProperties", "contains", "else", "if", "items", "not")
_MORE_SCHEMAS = (*_SCHEMAS, "propertyNames", "then")
_LISTS = ("allOf", "anyOf", "items", "oneOf")
_MAPS = ("$defs", "definitions", "dependencies", "properties")


def accepts(schema: Any, data: Any) -> bool:
    """Say whether ``data`` satisfies ``schema``."""
    return bool(_Judge(in_python(schema)).is_valid(data))


def errors(schema: Any, data: Any) -> list[ValidationError]:
    """Return what is wrong with ``data``."""
    return list(_Judge(in_python(schema)).iter_errors(data))


def is_schema(schema: Any) -> bool:
    """Say whether ``schema`` is a valid Draft 7 schema."""
    return bool(Draft7Validator(Draft7Validator.META_SCHEMA).is_valid(schema))


def in_python(schema: Any) -> Any:
    """Return a copy of ``schema`` whose patterns mean to Python what they mean to ECMA-262."""
    if not isinstance(schema, dict):
        return schema
    copied = dict(schema)
    for keyword, value in schema.items():
        if keyword in _MORE_SCHEMAS and isinstance(value, dict):
            copied[keyword] = in_python(value)
        elif keyword in _LISTS and isinstance(value, list):
            copied[keyword] = [in_python(child) for child in value]
        elif keyword in _MAPS and isinstance(value, dict):
            # A list of names as a schema: jsonschema fails on one where it looks for anchors.
            copied[keyword] = {
                name: {"required": child} if isinstance(child, list) else in_python(child)
                for name, child in value.items()
            }
        elif keyword == "patternProperties":
            copied[keyword] = {ecma(name): in_python(child) for name, child in value.items()}
        elif keyword == "pattern" and isinstance(value, str):
            copied[keyword] = ecma(value)
    return copied


def ecma(pattern: str) -> str:
    """Return a pattern for Python's ``re`` that finds what ECMA-262 finds with ``pattern``.

    Enough for the patterns in these tests: sets stand outside of character classes, or are put
    into one as a range list.
    """
    written: list[str] = []
    in_class = after_set = False
    for mark in re.findall(r"\\.|.", pattern, re.DOTALL):
        inside = in_class
        in_class = (in_class or mark == "[") and mark != "]"
        known = _SETS.get(mark)
        if mark == "-" and inside and after_set:
            written.append(r"\-")  # no range: ECMA-262 reads it so, Python calls it a bad one
        elif known is None or (inside and (mark == "$" or known.startswith("[^"))):
            written.append(mark)
        else:
            written.append(known[1:-1] if inside else known)
        after_set = known is not None and mark != "$"
    return "".join(written)


def equal(one: Any, other: Any) -> bool:
    """Say whether two JSON values are equal: ``1`` and ``1.0`` are, ``1`` and ``true`` are not."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    return bool(one == other)


def _multiple_of(
    validator: Any, step: int | float, value: Any, schema: Any
) -> Iterator[ValidationError]:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return
    if Fraction(str(value)) % Fraction(str(step)):
        yield ValidationError(f"{value!r} is not a multiple of {step!r}")


def _unique_items(
    validator: Any, unique: bool, value: Any, schema: Any
) -> Iterator[ValidationError]:
    if unique and isinstance(value, list):
        for one, other in combinations(value, 2):
            if equal(one, other):
                yield ValidationError(f"{one!r} stands there twice")
                return


_Judge = jsonschema.validators.extend(
    Draft7Validator, {"multipleOf": _multiple_of, "uniqueItems": _unique_items}
)
