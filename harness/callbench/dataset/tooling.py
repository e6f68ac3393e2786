"""What is derived from a tool's schema, made once for each distinct schema, whoever asks.

Many cases share a tool, and a case is read, run and scored for several systems: building a
validator each time would cost more than all the rest of scoring.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson

from callbench.dataset.declared import Declared
from callbench.dataset.evidence import Written, worded
from corecall.slot.processor import SlotProcessor


@dataclass(frozen=True, slots=True)
class Tooling:
    """A schema's processor, which judges values, its declarations, which describe slots, and what
    it tells a reader in words and numbers."""

    processor: SlotProcessor
    declared: Declared
    written: Written


def tooling(schema: dict[str, Any]) -> Tooling:
    """Return what belongs to a schema. Raises ``corecall``'s ``SchemaError`` for an invalid one.

    The schema is not kept, so changing it afterwards changes nothing.
    """
    try:
        return _tooling(orjson.dumps(schema))
    except TypeError:
        return _tooling(json.dumps(schema).encode())  # integers beyond 64 bits


@lru_cache(maxsize=1024)
def _tooling(text: bytes) -> Tooling:
    schema = json.loads(text)
    return Tooling(SlotProcessor(schema), Declared(schema), Written.of(worded(schema)))
