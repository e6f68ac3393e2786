"""Slot processors by schema: built once for each distinct schema, whoever asks.

Many cases share a tool, and building a processor costs more than using one.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from corecall.slot.processor import SlotProcessor


def processor_for(schema: dict[str, Any]) -> SlotProcessor:
    """Return the processor of a schema. Raises ``corecall``'s ``SchemaError`` for an invalid one.

    The schema is not kept, so changing it afterwards changes nothing.
    """
    return _processor(json.dumps(schema))


@lru_cache(maxsize=256)
def _processor(text: str) -> SlotProcessor:
    return SlotProcessor(json.loads(text))
