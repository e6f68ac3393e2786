"""Replies keyed by pointers or plain names become one plain object, merged onto what is there.

Only the form is looked at: unknown keys and nulls stay, nothing is validated. The schema is asked
one thing, whether a container that has to be made is an array or an object.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

from corecall import pointer
from corecall.slot.compiled import Compiled
from corecall.slot.evaluate import item_schema
from corecall.slot.limits import MAX_DEPTH, copy_json, depth
from corecall.slot.references import Schema

logger = logging.getLogger(__name__)

_ARRAY_KEYWORDS = ("items", "contains", "minItems", "maxItems", "uniqueItems")
_OBJECT_KEYWORDS = ("properties", "patternProperties", "additionalProperties", "required")
_APPEND = "-"


class _Inapplicable(Exception):
    """A pointer leads nowhere in this document; the message says why."""


def convert(compiled: Compiled, data: dict[str, Any], base: dict[str, Any]) -> dict[str, Any]:
    """Apply the members of ``data``, in order, to a copy of ``base``.

    A key that starts with ``/`` is a pointer; every other key, ``""`` too, is the name of a member.
    Objects merge deep; arrays and scalars replace. An object whose keys are all array indexes is
    applied to the elements of an array that is there. A pointer that cannot apply is skipped with a
    warning. Both arguments are plain JSON within the limits, and are not changed.

    Contract: schema.convert.1, schema.convert.2, schema.convert.3, schema.convert.11,
    schema.convert.12.
    """
    result: dict[str, Any] = copy_json(base)
    for key, value in data.items():
        if not key.startswith("/"):
            result[key] = _merged(result.get(key), value)
            continue
        try:
            _apply(compiled, result, pointer.split(key), value)
        except (pointer.PointerError, _Inapplicable) as error:
            logger.warning("Pointer %.200r skipped: %s", key, error)
    return result


def _merged(old: Any, new: Any) -> Any:
    """Return ``new`` laid over ``old``, which is changed in place where both are containers.

    Contract: schema.convert.4, schema.convert.7.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for name, child in new.items():
            old[name] = _merged(old.get(name), child)
        return old
    if isinstance(old, list) and isinstance(new, dict) and new:
        places = {pointer.array_index(name): child for name, child in new.items()}
        if None not in places:
            for place, child in sorted((p, c) for p, c in places.items() if p is not None):
                _put(old, place, child)
            return old
    return copy_json(new)


def _put(array: list[Any], place: int, value: Any) -> None:
    if place < len(array):
        array[place] = _merged(array[place], value)
    elif place == len(array):
        array.append(copy_json(value))
    else:
        logger.warning("Item %d skipped: the array has %d items", place, len(array))


def _apply(compiled: Compiled, root: dict[str, Any], tokens: tuple[str, ...], value: Any) -> None:
    """Put ``value`` at ``tokens``; what cannot be put changes nothing.

    Contract: schema.convert.5, schema.convert.6, schema.convert.9, schema.convert.10.
    """
    if len(tokens) + depth(value) > MAX_DEPTH:
        raise _Inapplicable(f"nested deeper than {MAX_DEPTH}")
    container: Any = root
    for used, token in enumerate(tokens):
        last = used == len(tokens) - 1
        if isinstance(container, dict):
            if token in container and not last:
                container = container[token]
                continue
            old = container.get(token)
            container[token] = (
                _merged(old, value) if last else _made(compiled, tokens, used + 1, value)
            )
            return
        if not isinstance(container, list):
            raise _Inapplicable(f"{pointer.join(tokens[:used])!r} is no container")
        place = len(container) if token == _APPEND else pointer.array_index(token)
        if place is None or place > len(container):
            raise _Inapplicable(f"no item {token!r} in an array of {len(container)}")
        if place < len(container) and not last:
            container = container[place]
            continue
        _put(container, place, value if last else _made(compiled, tokens, used + 1, value))
        return


def _made(compiled: Compiled, tokens: tuple[str, ...], used: int, value: Any) -> Any:
    """Return a new container for ``tokens[:used]`` that holds ``value`` at ``tokens[used:]``."""
    kinds = [_is_array(compiled, tokens[:end]) for end in range(used, len(tokens))]
    made = copy_json(value)
    for token, is_array in zip(reversed(tokens[used:]), reversed(kinds), strict=True):
        if is_array and token not in ("0", _APPEND):
            raise _Inapplicable(f"no item {token!r} in an array of 0")
        made = [made] if is_array else {token: made}
    return made


def _is_array(compiled: Compiled, tokens: tuple[str, ...]) -> bool:
    """Say whether the schema wants an array at ``tokens``; an object when it does not say.

    Contract: schema.convert.8.
    """
    schemas: list[Schema] = [compiled.root]
    for token in tokens:
        schemas = list(_below(compiled, schemas, token))
    types: set[str] = set()
    keywords: set[str] = set()
    for node in _possible(compiled, schemas):
        declared = node.get("type", [])
        types.update([declared] if isinstance(declared, str) else declared)
        keywords.update(node)
    if "array" in types or "object" in types:
        return "object" not in types
    return not keywords.isdisjoint(_ARRAY_KEYWORDS) and keywords.isdisjoint(_OBJECT_KEYWORDS)


def _possible(compiled: Compiled, schemas: list[Schema]) -> Iterator[dict[str, Any]]:
    """Yield every subschema that could apply where ``schemas`` do, whatever the value."""
    seen: set[int] = set()
    stack = list(schemas)
    while stack:
        schema = compiled.resolve(stack.pop())
        if isinstance(schema, bool) or id(schema) in seen:
            continue
        seen.add(id(schema))
        yield schema
        for keyword in ("allOf", "anyOf", "oneOf"):
            stack += schema.get(keyword, [])
        stack += [schema[keyword] for keyword in ("then", "else") if keyword in schema]
        stack += [
            dependency
            for dependency in schema.get("dependencies", {}).values()
            if not isinstance(dependency, list)
        ]


def _below(compiled: Compiled, schemas: list[Schema], token: str) -> Iterator[Schema]:
    for node in _possible(compiled, schemas):
        yield from compiled.member_schemas(node, token)
        place = 0 if token == _APPEND else pointer.array_index(token)
        schema = item_schema(node, place) if place is not None else None
        if schema is not None:
            yield schema
