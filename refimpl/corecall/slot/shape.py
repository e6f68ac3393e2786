"""Is every subschema well formed? Asked of one subschema at a time, so that a fault has its place.

The metaschema itself would blame the whole of ``items`` for a fault deep inside, and does not look into
``$defs``, nor at what a ``$ref`` finds outside the schema positions.
"""

from __future__ import annotations

from typing import Any

import jsonschema_rs

from corecall.pointer import join
from corecall.slot.limits import SchemaError
from corecall.slot.patterns import map_surrogates, mapped
from corecall.slot.references import LISTS, MAPS, METASCHEMA, SINGLE, Index

_ANY_SCHEMA = {"type": ["object", "boolean"]}


def check_shape(index: Index) -> None:
    """Raise :class:`SchemaError` for the first subschema, in document order, that is malformed.

    Contract: schema.valid.19, schema.valid.22, schema.engine.12.
    """
    for node in index.nodes:
        pointer = index.pointers[id(node)]
        if pointer is None:  # the metaschema's own
            continue
        try:
            _FLAT.validate({key: _without_subschemas(key, value) for key, value in node.items()})
        except jsonschema_rs.ValidationError as error:
            raise SchemaError(pointer + join(error.instance_path), error.message) from error


def _without_subschemas(keyword: str, value: Any) -> Any:
    """Return the value of a keyword with ``True`` in the place of each subschema."""
    if keyword in SINGLE and isinstance(value, dict):
        return True
    if keyword in LISTS and isinstance(value, list):
        return [_stub(child) for child in value]
    if keyword in MAPS and isinstance(value, dict):
        return {map_surrogates(name): _stub(child) for name, child in value.items()}
    return mapped(value)


def _stub(child: Any) -> Any:
    return True if isinstance(child, dict) else mapped(child)


def _flattened(value: Any) -> Any:
    """Return a part of the metaschema that asks of subschemas only that they can be some."""
    if value == {"$ref": "#"}:
        return _ANY_SCHEMA
    if isinstance(value, dict):
        return {key: _flattened(child) for key, child in value.items() if key != "$id"}
    if isinstance(value, list):
        return [_flattened(child) for child in value]
    return value


def _flat_metaschema() -> dict[str, Any]:
    properties = {name: _flattened(child) for name, child in METASCHEMA["properties"].items()}
    properties["$defs"] = properties["definitions"]
    return {
        "type": "object",
        "properties": properties,
        "definitions": _flattened(METASCHEMA["definitions"]),
    }


_FLAT = jsonschema_rs.Draft7Validator(_flat_metaschema(), validate_formats=False, offline=True)
