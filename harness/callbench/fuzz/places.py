"""Where and how two answers differ, so that differences of one cause can be told from those of another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from callbench.conformance.compare import same
from callbench.peer import Answer, Failed, Misbehaved, Result, Unsupported
from callbench.peer.answers import INTERNAL

Kind = Literal["value", "outcome", "misbehaved", "reference"]

# Members that mean something themselves; any other name is somebody's data.
_MEANT = frozenset(
    [
        "type",
        "enum",
        "const",
        "multipleOf",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minLength",
        "maxLength",
        "pattern",
        "minItems",
        "maxItems",
        "uniqueItems",
        "minProperties",
        "maxProperties",
        "required",
        "title",
        "description",
        "default",
        "examples",
        "format",
        "properties",
        "patternProperties",
        "additionalProperties",
        "propertyNames",
        "dependencies",
        "items",
        "additionalItems",
        "contains",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "then",
        "else",
        "$ref",
        "$id",
        "$schema",
        "definitions",
        "$defs",
        "data",
        "filled",
        "rejected",
        "undeclared",
        "object",
        "repairs",
        "event",
        "id",
        "role",
        "content",
        "reasoning",
        "tool_calls",
        "finish_reason",
        "usage",
        "refusal",
        "error",
        "name",
        "arguments",
        "thought",
        "response_format",
        "json_schema",
        "strict",
        "schema",
        "tools",
        "tool_choice",
        "function",
        "parameters",
        "arguments_in_json",
        "extra",
        "response",
        "tool_output",
        "parts",
        "text",
    ]
)


@dataclass(frozen=True, slots=True)
class Place:
    """One way in which two answers differ.

    ``path`` is where, without the names that are data (``*``); ``expected`` and ``got`` say of which
    type the answers are there, ``other …`` of the same type; ``hint`` tells apart errors by the shape
    of their messages. Equal places are one difference.
    """

    kind: Kind
    path: tuple[str, ...] = ()
    expected: str = ""
    got: str = ""
    hint: str = ""

    @property
    def sort(self) -> tuple[str, str, str]:
        """What stays the same while an input is shrunk."""
        return self.kind, self.expected, self.got

    def __str__(self) -> str:
        where = f"at {'/'.join(self.path)}: " if self.path else ""
        match self.kind:
            case "misbehaved":
                return f"the peer misbehaves: {self.got}"
            case "reference":
                return f"the reference itself fails: {self.expected}"
        return f"{where}{self.expected} expected, {self.got} came"


def places(expected: Answer, got: Answer) -> frozenset[Place]:
    """Return how ``got`` differs from what the reference answered; empty when it does not.

    A peer that declines does not differ. Errors differ by their kind, never by their message.
    """
    match expected, got:
        case (Misbehaved(kind), _):
            return frozenset({Place("reference", expected=kind)})
        case (Failed(kind, message), _) if kind == INTERNAL:
            return frozenset({Place("reference", expected=INTERNAL, hint=_shape(message))})
        case (Unsupported(), _) | (_, Unsupported()):
            return frozenset()
        case (_, Misbehaved(kind)):
            return frozenset({Place("misbehaved", got=kind)})
        case (Result(value), Result(other)):
            if repr(value) == repr(other) or same(value, other):
                return frozenset()
            return frozenset(_values(value, other, _Path()))
        case (Failed(kind), Failed(other)) if kind == other:
            return frozenset()
    # A message of the side that failed tells which check it was.
    failed = expected if isinstance(expected, Failed) else got
    hint = _shape(failed.message) if isinstance(failed, Failed) else ""
    return frozenset({Place("outcome", (), _outcome(expected), _outcome(got), hint)})


def _outcome(answer: Answer) -> str:
    match answer:
        case Failed(kind):
            return f"error {kind}"
        case Result(value):
            return _type(value)
    raise AssertionError(answer)


def _shape(message: str) -> str:
    """Return a message without what is data in it."""
    bare = re.sub(r"\"[^\"]*\"|'[^']*'|“[^”]*”|`[^`]*`|[/#\[{]\S*|[^\x00-\x7f]+|\d+", "…", message)
    return " ".join(bare.split()[:6])[:60]


@dataclass(frozen=True, slots=True)
class _Path:
    """A path in which each name stands once: nested schemas are like those around them."""

    names: tuple[str, ...] = field(default=())

    def then(self, name: str) -> _Path:
        known = name if name in _MEANT or name == "#" else "*"
        return self if known in self.names else _Path((*self.names, known))


def _values(expected: Any, got: Any, path: _Path) -> Iterator[Place]:
    if same(expected, got):
        return
    if isinstance(expected, dict) and isinstance(got, dict):
        for name in expected.keys() | got.keys():
            here = path.then(name)
            if name not in got:
                yield Place("value", here.names, _type(expected[name]), "nothing")
            elif name not in expected:
                yield Place("value", here.names, "nothing", _type(got[name]))
            elif name == "required":  # names in any order, see callbench.conformance.compare
                if not same({name: expected[name]}, {name: got[name]}):
                    yield _arrays(expected[name], got[name], here)
            else:
                yield from _values(expected[name], got[name], here)
    elif isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        for left, right in zip(expected, got, strict=True):
            yield from _values(left, right, path.then("#"))
    elif isinstance(expected, list) and isinstance(got, list):
        yield _arrays(expected, got, path)
    else:
        left, right = _type(expected), _type(got)
        yield Place("value", path.names, left, f"other {right}" if left == right else right)


def _arrays(expected: Any, got: Any, path: _Path) -> Place:
    if not (isinstance(expected, list) and isinstance(got, list)):
        return Place("value", path.names, _type(expected), _type(got))
    longer = {1: "longer array", -1: "shorter array", 0: "other array"}
    order = (len(got) > len(expected)) - (len(got) < len(expected))
    return Place("value", path.names, "array", longer[order])


def _type(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case dict():
            return "object"
    return "bytes"
